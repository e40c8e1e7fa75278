"""What LoRA adapters add to the weights, in one place: sampler, export and checkpoints agree to the bit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import torch

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"
PREFIX = "base_model.model."  # peft's, before the names of the module's own layers

Delta = tuple[str, torch.Tensor]  # name of a linear layer, and what is added to its weight


def delta(a: torch.Tensor, b: torch.Tensor, scaling: float) -> torch.Tensor:
    """Of factors [rank, inputs] and [outputs, rank], in float32."""
    return (b.detach().float() @ a.detach().float()) * scaling


def live_deltas(module, adapter: str) -> Iterable[Delta]:
    """Of an adapter in a module that peft has put it into."""
    for name, layer in module.named_modules():
        if adapter in getattr(layer, "lora_A", ()):
            yield name, delta(layer.lora_A[adapter].weight, layer.lora_B[adapter].weight, layer.scaling[adapter])


def saved_deltas(folder: Path) -> Iterable[Delta]:
    """Of an adapter as peft writes it."""
    from safetensors.torch import load_file

    config = json.loads((folder / CONFIG).read_text())
    scaling = config["lora_alpha"] / config["r"]
    state = load_file(folder / WEIGHTS)
    end = ".lora_A.weight"
    for key in [k for k in state if k.endswith(end)]:
        name = key.removesuffix(end)
        yield name.removeprefix(PREFIX), delta(state[key], state[f"{name}.lora_B.weight"], scaling)


def add_to(module, deltas: Iterable[Delta]) -> None:
    """Adds to the weights of a plain module. Each changed weight is a new tensor: tied embeddings keep theirs."""
    head = module.get_output_embeddings()
    for name, added in deltas:
        layer = module.get_submodule(name)
        weight = layer.weight.detach()
        layer.weight = torch.nn.Parameter((weight.float() + added.to(weight.device)).to(weight.dtype), requires_grad=False)
        if layer is head:
            module.config.tie_word_embeddings = False
