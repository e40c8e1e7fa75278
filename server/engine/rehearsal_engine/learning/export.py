"""A checkpoint for other programs: a PEFT adapter, or a Hugging Face folder that needs neither peft nor this engine."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch

from rehearsal_engine.learning import adapters, checkpoints
from rehearsal_engine.learning.sampler import merged
from rehearsal_engine.learning.trainer import LearningError
from rehearsal_engine.models import Served

FORMS = ("adapter", "merged")


def export(served: Served, checkpoint: Path, form: str, folder: Path, dtype: str | None = None) -> dict:
    """Writes `folder`, whole or not at all, with tokenizer and chat template. Throws LearningError."""
    note = checkpoints.read_note(checkpoint)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LearningError(f"{folder} is there already and not empty. Choose a new folder.")
    if form == "adapter" and note["lora"] is None:
        raise LearningError(f"The checkpoint {checkpoint.name} has every weight trained and is no adapter. Export it as merged.")

    def write(place: Path) -> None:
        if form == "adapter":
            for name in (adapters.WEIGHTS, adapters.CONFIG):
                shutil.copyfile(checkpoint / name, place / name)
        else:
            module = merged(served, checkpoint, note)
            (module.to(getattr(torch, dtype)) if dtype else module).save_pretrained(place)
        served.tokens.hf.save_pretrained(place)

    checkpoints.whole(folder, write)
    head = form == "adapter" and note["lora"]["train_unembed"]
    return {
        "folder": str(folder), "form": form, "steps": note["steps"], "bytes": sum(p.stat().st_size for p in folder.iterdir()),
        "note": "vLLM takes no adapter of the output layer: export this one as merged for it." if head else None,
    }  # fmt: skip
