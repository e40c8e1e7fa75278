"""Trained weights for the sampler: a model of its own, so that learning goes on while it samples."""

from __future__ import annotations

import copy
from pathlib import Path

import torch

from rehearsal_engine.learning import checkpoints
from rehearsal_engine.learning.adapters import add_to, saved_deltas
from rehearsal_engine.learning.trainer import LearningError, Trainer
from rehearsal_engine.loading import LoadError, Source, pick_dtype
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
    module = AutoModelForCausalLM.from_pretrained(source.location, config=copy.deepcopy(served.config), dtype=dtype, **source.options)
    return module.to(options.device).eval()


def snapshot(served: Served, trainer: Trainer, id: str, name: str, version: int) -> Served:
    """The weights of model `id` as they are now. Cached keys and values belong to (name, id, version)."""
    dtype = served.model.dtype if served.model is not None else None
    module = trainer.merged(id)
    module = module.to(dtype) if dtype else module
    taken = served.variant(name, id, version, lambda: computed(served, module))
    taken.load()
    return taken


def read_saved(served: Served, folder: Path, note: dict) -> Model:
    """The weights of a checkpoint. Throws LoadError."""
    try:
        checkpoints.read_note(folder)
        module = module_of(served, Source(str(folder)) if note["lora"] is None else None)
        if note["lora"] is not None:
            add_to(module, saved_deltas(folder))
        return computed(served, module)
    except LearningError as error:
        raise LoadError(str(error)) from error


def computed(served: Served, module) -> Model:
    with torch.inference_mode():
        return Model(module, served.config, served.options.device, next(module.parameters()).dtype)
