"""Checkpoints: a PEFT adapter or a Hugging Face folder, with the optimizer beside it.

A checkpoint appears whole or not at all, whenever the process or the machine dies: it is written
beside its place, reaches the disk, and is renamed. Digests tell a damaged one when it is loaded.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors import SafetensorError

from rehearsal_engine.learning import adapters
from rehearsal_engine.learning.trainer import LearningError, Lora, Trained, Trainer, name_of
from rehearsal_engine.loading import BUILDING

NOTE, OPTIMIZER = "training.json", "optimizer.pt"
UNFINISHED = re.compile(r"\.(.+)\.[0-9a-f]{8}(\.old)?")
TORCH_WRITES = re.compile("inline_container|PytorchStreamWriter|Parent directory")
ENDS = 1 << 20  # bytes of each end of a weight file that tell models apart


def save(trained: Trained, folder: Path, base: str, optimizer: bool, tokenizer=None) -> None:
    """Writes weights that peft, transformers and vLLM load; replaces what is there. Throws LearningError."""

    def write(place: Path) -> None:
        if trained.lora is None:
            trained.module.save_pretrained(place)
            if tokenizer is not None:
                tokenizer.save_pretrained(place)
        else:
            save_adapter(trained, place, base)
        if optimizer:
            torch.save(trained.optimizer.state_dict(), place / OPTIMIZER)
        note = {
            "base_model": base,
            "base_print": fingerprint(base),
            "lora": dataclasses.asdict(trained.lora) if trained.lora else None,
            "steps": trained.steps,
            "sha256": {path.name: digest(path) for path in sorted(place.iterdir())},
        }
        (place / NOTE).write_text(json.dumps(note, indent=1))

    whole(folder, write)


def save_adapter(trained: Trained, place: Path, base: str) -> None:
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    name = name_of(trained.id)
    state = get_peft_model_state_dict(trained.module, adapter_name=name, save_embedding_layers=False)
    save_file({k: v.detach().cpu().contiguous() for k, v in state.items()}, place / adapters.WEIGHTS, {"format": "pt"})
    config = dataclasses.replace(trained.module.peft_config[name], inference_mode=True, base_model_name_or_path=base)
    config.save_pretrained(place)


def whole(folder: Path, write: Callable[[Path], None]) -> None:
    """Lets `write` fill a folder, which then takes its place in one step."""
    place = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        place.mkdir(parents=True)
        write(place)
        for path in [*place.rglob("*"), place]:
            flush(path)
        old = folder.with_name(f"{place.name}.old")
        if folder.exists():
            os.replace(folder, old)
        os.replace(place, folder)
        flush(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        if isinstance(error, RuntimeError):  # torch.save on a full disk, which names no reason
            if not TORCH_WRITES.search(str(error)):
                raise
            reason = "No space left on device" if shutil.disk_usage(folder.parent).free < ENDS else error
        raise LearningError(
            f"{folder.name} could not be written to {folder.parent}: {reason}. Nothing of it is kept and the weights in "
            "memory are unharmed. Make room, or choose a folder that can be written to.",
            "unwritable",
        ) from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def recover(parent: Path) -> None:
    """Clears away what a process left that was killed while it wrote; puts back what it was about to replace."""
    for left in parent.glob(".*"):
        match = UNFINISHED.fullmatch(left.name)
        if match and match[2] and not (parent / match[1]).exists():
            os.replace(left, parent / match[1])
        elif match:
            shutil.rmtree(left, ignore_errors=True)


def flush(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows opens no folders
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def fingerprint(location: str) -> str | None:
    """Of a model's folder, to know it again where it was moved to; None for what is no folder."""
    found = hashlib.sha256()
    files = [Path(location, "config.json"), *sorted(Path(location).glob("*.safetensors")), *sorted(Path(location).glob("*.gguf"))]
    try:
        for path in files:
            size = path.stat().st_size
            found.update(f"{path.name} {size} ".encode())
            with path.open("rb") as file:
                found.update(file.read(ENDS))
                file.seek(max(0, size - ENDS))
                found.update(file.read(ENDS))
    except OSError:
        return None
    return found.hexdigest()


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_note(folder: Path) -> dict:
    """What a checkpoint says of itself, its files checked. Throws LearningError."""
    try:
        note = json.loads((folder / NOTE).read_text())
        damaged = [name for name, wanted in note["sha256"].items() if digest(folder / name) != wanted]
    except FileNotFoundError as error:
        raise LearningError(f"There is no complete checkpoint {folder.name}: {error.filename} is missing.", "not_found") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LearningError(f"The checkpoint {folder.name} cannot be read: {error}. Use an earlier one.", "damaged") from error
    if damaged:
        raise LearningError(f"The checkpoint {folder.name} is damaged ({', '.join(damaged)}). Use an earlier one.", "damaged")
    return note


def load(trainer: Trainer, id: str, folder: Path, optimizer: bool) -> Trained:
    """Puts a checkpoint's weights into model `id`, which is created where it does not exist."""
    note = read_note(folder)
    lora = Lora(**note["lora"]) if note["lora"] else None
    if optimizer and OPTIMIZER not in note["sha256"]:
        raise LearningError(f"The checkpoint {folder.name} holds no optimizer state. Load it without.")
    trained = trainer.models.get(id)
    if trained is None:
        trained = trainer.create(id, lora)
    elif trained.lora != lora and (trained.lora is None or lora is None or trained.lora.targets != lora.targets or trained.lora.rank != lora.rank):
        raise LearningError(f"The checkpoint {folder.name} was made with {lora or 'all weights'}, this model has {trained.lora or 'all weights'}.")
    if lora is None:
        from transformers import AutoModelForCausalLM

        with BUILDING:
            state = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).state_dict()
        trained.module.load_state_dict(state)
    else:
        from peft import set_peft_model_state_dict
        from safetensors.torch import load_file

        set_peft_model_state_dict(trained.module, load_file(folder / adapters.WEIGHTS), adapter_name=name_of(id))
    if optimizer:
        trained.optimizer.load_state_dict(torch.load(folder / OPTIMIZER, weights_only=True))
        trained.steps = note["steps"]
    else:
        trained.optimizer = torch.optim.AdamW(trained.parameters.values(), foreach=False)
        trained.steps = 0
    trained.spoiled = False
    for parameter in trained.parameters.values():
        parameter.grad = None
    return trained
