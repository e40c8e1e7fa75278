"""What training needs of the memory, and how many tokens of a trie fit into a forward and backward pass."""

from __future__ import annotations

import copy
import ctypes
import os
import sys
from dataclasses import asdict, dataclass

import torch

SHARE = 0.5  # of what is free: an estimate, and others need some
MOST, LEAST = 65_536, 256
FLOAT = 4
LOGITS = 3 * (1 << 25) * FLOAT  # of a chunk, with their gradient (`logprobs.CELLS`)


def free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    try:
        with open("/proc/meminfo") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable:"))
        return min(int(found.split()[1]) << 10, left_in_container())
    except (OSError, StopIteration):
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        except (AttributeError, ValueError, OSError):
            return 4 << 30


def left_in_container() -> int:
    """What the process's control group still allows; huge where nothing is limited."""
    try:
        limit, used = (open(f"/sys/fs/cgroup/memory.{name}").read().strip() for name in ("max", "current"))
        return int(limit) - int(used) if limit != "max" else 1 << 62
    except (OSError, ValueError):
        return 1 << 62


def give_back() -> None:
    """Returns freed memory to the system; glibc would keep it, and the process seem to grow."""
    if sys.platform == "linux":
        try:
            ctypes.CDLL(None).malloc_trim(0)
        except (OSError, AttributeError):  # another C library
            pass


@dataclass(frozen=True)
class Need:
    """Bytes. `trained` is parameters, gradients and both moments, in float32."""

    weights: int
    trained: int
    activations: int
    sampler: int

    @property
    def total(self) -> int:
        return self.weights + self.trained + self.activations + self.sampler

    def figures(self) -> dict[str, int]:
        return {**asdict(self), "total": self.total}


def count(config) -> tuple[int, dict[str, int]]:
    """Parameters of a model, and of the linear layers inputs + outputs by name, without any memory."""
    from transformers import AutoModelForCausalLM

    from rehearsal_engine.loading import BUILDING

    with BUILDING, torch.device("meta"):
        module = AutoModelForCausalLM.from_config(copy.deepcopy(config))
    sides: dict[str, int] = {}
    for name, layer in module.named_modules():
        if isinstance(layer, torch.nn.Linear):
            last = name.rpartition(".")[2]
            sides[last] = sides.get(last, 0) + layer.in_features + layer.out_features
    return sum(p.numel() for p in module.parameters()), sides


def need(config, lora, itemsize: int, base_is_there: bool, context: int) -> Need:
    """Of a model in training, beside what is loaded already; a sequence of the whole context fits with its layers computed again."""
    parameters, sides = count(config)
    own = parameters if lora is None else lora.rank * sum(sides.get(name, 0) for name in lora.targets)
    weights = 0 if lora is None or base_is_there else parameters * itemsize
    layers = context * token_bytes(config)[1]
    vocabulary = min(LOGITS, 3 * FLOAT * context * config.vocab_size)
    return Need(weights, own * 4 * FLOAT, layers + vocabulary, parameters * itemsize)


def token_bytes(config) -> tuple[int, int]:
    """Bytes of activations a token, kept for the backward pass, and with each layer computed again."""
    hidden, layers = config.hidden_size, config.num_hidden_layers
    width = getattr(config, "head_dim", None) or hidden // config.num_attention_heads
    heads = (config.num_attention_heads + config.num_key_value_heads) * width
    layer = FLOAT * (10 * hidden + 6 * heads + 4 * config.intermediate_size)
    return layers * layer, layers * FLOAT * hidden + layer


def tokens_that_fit(module, device: torch.device) -> tuple[int, int]:
    """Most tokens at a time without and with gradient checkpointing."""
    free = int(free_bytes(device) * SHARE)
    return tuple(max(LEAST, min(MOST, free // each)) for each in token_bytes(module.config))


def in_words(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB" if size >= 1 << 30 else f"{max(1, size >> 20)} MiB"
