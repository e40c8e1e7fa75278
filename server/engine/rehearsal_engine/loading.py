"""From what a person wrote after `--model` to a model that computes."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path

import torch


# While transformers builds a model it changes settings of the whole process (device, dtype, initialization): two at
# once leave modules without data, and the settings as they should not be for all that are loaded later.
BUILDING = threading.RLock()


class LoadError(Exception):
    """A model that cannot be loaded; the message says why and what to do."""


@dataclass(frozen=True)
class Source:
    """Arguments for transformers' `from_pretrained`: a folder or hub id, and the GGUF file in it."""

    location: str
    gguf: str | None = None

    @property
    def options(self) -> dict:
        return {"gguf_file": self.gguf} if self.gguf else {}


def find(text: str) -> Source:
    """A folder, a `.gguf` file, a folder with one `.gguf` file, or a hub id such as `org/name`."""
    path = Path(text).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return Source(str(path.parent), path.name)
    if path.is_dir():
        if (path / "config.json").is_file():
            return Source(str(path))
        found = sorted(path.glob("*.gguf"))
        if len(found) == 1:
            return Source(str(path), found[0].name)
        if found:
            raise LoadError(f"{text} holds {len(found)} GGUF files. Name one of them, e.g. {found[0]}.")
        raise LoadError(f"{text} holds neither config.json nor a .gguf file. Name a model's own folder.")
    if path.is_absolute() or text.startswith((".", "~")) or text.endswith(".gguf") or text.count("/") > 1:
        raise LoadError(f"{text} does not exist. Check the path given with --model.")
    return Source(text)


def pick_device(name: str) -> torch.device:
    """`auto` takes CUDA, then Apple's GPU, then the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available[name]:
        raise LoadError(f"--device {name} is not available here. Use --device auto or --device cpu.")
    return torch.device(name)


def pick_dtype(name: str, device: torch.device, config) -> torch.dtype:
    """`auto`: float32 on CPUs, which are slow in anything else; the model's own type on a GPU."""
    if name != "auto":
        return getattr(torch, name)
    own = getattr(config, "dtype", None)
    if device.type == "cpu" or own not in (torch.bfloat16, torch.float16):
        return torch.float32
    return own


def read_config(source: Source):
    from transformers import AutoConfig

    def read():
        config = AutoConfig.from_pretrained(source.location, **source.options)
        if source.gguf and Path(source.location).is_dir():
            config.head_dim = gguf_head_width(Path(source.location, source.gguf)) or getattr(config, "head_dim", None)
        return config

    return explained(source, read)


def gguf_head_width(path: Path) -> int | None:
    """What a GGUF file says of the width of a head; transformers reads it for few architectures."""
    from gguf import GGUFReader

    fields = GGUFReader(path).fields
    found = [field.contents() for name, field in fields.items() if name.endswith(".attention.key_length")]
    return int(found[0]) if found else None


def read_weights(source: Source, config, device: torch.device, dtype: torch.dtype):
    """The model, on its device: our own forward where it knows the architecture, else transformers'."""
    from transformers import AutoModelForCausalLM

    from rehearsal_engine.generic import GenericModel
    from rehearsal_engine.model import Model, supports

    def load():
        with BUILDING:
            module = AutoModelForCausalLM.from_pretrained(source.location, config=config, dtype=dtype, **source.options)
        kind = Model if supports(config) else GenericModel
        with torch.inference_mode():
            return kind(module.to(device).eval(), config, device, dtype)

    return explained(source, load)


def explained(source: Source, load):
    """Runs a step of loading; whatever it throws becomes a message with a next step."""
    where = os.path.join(source.location, source.gguf) if source.gguf else source.location
    try:
        return load()
    except LoadError:
        raise
    except torch.cuda.OutOfMemoryError as error:
        raise LoadError(f"{where} does not fit into the GPU's memory. Use a smaller model or --device cpu.") from error
    except Exception as error:  # transformers throws whatever its parts throw
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        local = Path(source.location).is_dir()
        step = (
            "Check that the folder is complete (config.json, tokenizer.json, *.safetensors) or download it again."
            if local
            else "Check the name and the connection, or name a folder on this machine."
        )
        raise LoadError(f"{where} could not be loaded: {reason} ({type(error).__name__}). {step}") from error
