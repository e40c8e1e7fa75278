"""Trained weights for the sampler: a model of its own, so that learning goes on while it samples."""

from __future__ import annotations

import copy
from pathlib import Path

import torch

from rehearsal_engine import memory
from rehearsal_engine.learning import checkpoints
from rehearsal_engine.learning.adapters import add_to, saved_deltas
from rehearsal_engine.learning.trainer import LearningError, Lora, Trainer
from rehearsal_engine.loading import BUILDING, LoadError, Source, pick_dtype
from rehearsal_engine.model import Model, supports
from rehearsal_engine.models import Served


def module_of(served: Served, source: Source | None = None):
    """A fresh module of a base model, or of trained weights like it: float32 on CPUs. Throws LearningError."""
    from transformers import AutoModelForCausalLM

    if not supports(served.config):
        raise LearningError(
            f"{served.name} ({served.config.model_type}) cannot be trained by this engine, which learns Llama, Mistral, "
            "Qwen2 and Qwen3 with full attention. Train it on SkyRL or Tinker."
        )
    options, source = served.options, source or served.source
    dtype = pick_dtype(options.dtype, options.device, served.config)
    with BUILDING:
        module = AutoModelForCausalLM.from_pretrained(source.location, config=copy.deepcopy(served.config), dtype=dtype, **source.options)
    return module.to(options.device).eval()


def need_of(served: Served, trainer: Trainer, lora: Lora | None) -> tuple[memory.Need, int]:
    """What one more model in training needs, and what is free, in bytes."""
    options = served.options
    itemsize = pick_dtype(options.dtype, options.device, served.config).itemsize
    needed = memory.need(served.config, lora, itemsize, trainer.has_base, served.max_len)
    return needed, memory.free_bytes(options.device)


def check_room(served: Served, trainer: Trainer, lora: Lora | None) -> None:
    """Throws LearningError, with the figures, before anything is loaded that would not fit."""
    needed, free = need_of(served, trainer, lora)
    if needed.total > free:
        parts = {"weights": needed.weights, "what is trained with its optimizer": needed.trained}
        parts |= {"activations": needed.activations, "the sampler's weights": needed.sampler}
        told = ", ".join(f"{name} {memory.in_words(size)}" for name, size in parts.items() if size)
        advice = "Use a smaller model" if lora else "Use LoRA, a smaller model"
        raise LearningError(
            f"Training {served.name} needs about {memory.in_words(needed.total)} ({told}), and {memory.in_words(free)} are free. "
            f"{advice}, a shorter context (--max-model-len), or a machine with more memory.",
            "too_large",
        )


def snapshot(served: Served, trainer: Trainer, id: str, name: str, version: int) -> Served:
    """The weights of model `id` as they are now. Cached keys and values belong to (name, id, version)."""
    dtype = served.model.dtype if served.model is not None else None
    module = trainer.merged(id)
    module = module.to(dtype) if dtype else module
    taken = served.variant(name, id, version)
    taken.take(computed(served, module))
    memory.give_back()
    return taken


def read_saved(served: Served, folder: Path, note: dict) -> Model:
    """The weights of a checkpoint. Throws LoadError."""
    try:
        checkpoints.read_note(folder)
        return computed(served, merged(served, folder, note))
    except LearningError as error:
        raise LoadError(str(error)) from error


def merged(served: Served, folder: Path, note: dict):
    """The plain transformers module of a checkpoint."""
    if note["lora"] is None:
        return module_of(served, Source(str(folder)))
    module = module_of(served)
    add_to(module, saved_deltas(folder))
    return module


def computed(served: Served, module) -> Model:
    with torch.inference_mode():
        return Model(module, served.config, served.options.device, next(module.parameters()).dtype)
