"""Trained weights for the sampler: a model of its own, so that learning goes on while it samples."""

from __future__ import annotations

import copy

import torch

from rehearsal_engine.learning.trainer import LearningError, Trainer
from rehearsal_engine.models import Served


def module_of(served: Served):
    """A fresh module of a base model for the trainer: float32 on CPUs. Throws LearningError."""
    from transformers import AutoModelForCausalLM

    from rehearsal_engine.loading import pick_dtype
    from rehearsal_engine.model import supports

    if not supports(served.config):
        raise LearningError(
            f"{served.name} ({served.config.model_type}) cannot be trained by this engine, which learns Llama, Mistral, "
            "Qwen2 and Qwen3 with full attention. Train it on SkyRL or Tinker."
        )
    options = served.options
    dtype = pick_dtype(options.dtype, options.device, served.config)
    source = served.source
    module = AutoModelForCausalLM.from_pretrained(source.location, config=copy.deepcopy(served.config), dtype=dtype, **source.options)
    return module.to(options.device).eval()


def snapshot(served: Served, trainer: Trainer, id: str, version: int) -> Served:
    """The weights of model `id` as they are now. Cached keys and values belong to (id, version)."""
    from rehearsal_engine.model import Model

    taken = copy.copy(served)
    taken.adapter, taken.version = id, version
    dtype = served.model.dtype if served.model is not None else None
    module = trainer.merged(id)
    module = module.to(dtype) if dtype else module
    with torch.inference_mode():
        taken.model = Model(module, served.config, served.options.device, next(module.parameters()).dtype)
    taken.model.rowwise_head = served.options.deterministic
    return taken
