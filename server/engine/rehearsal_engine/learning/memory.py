"""How many tokens of a trie fit into a forward and backward pass."""

from __future__ import annotations

import os

import torch

SHARE = 0.5  # of what is free: an estimate, and others need some
MOST, LEAST = 65_536, 256


def free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    try:
        with open("/proc/meminfo") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(found.split()[1]) << 10
    except (OSError, StopIteration):
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        except (AttributeError, ValueError, OSError):
            return 4 << 30


def token_bytes(config) -> tuple[int, int]:
    """Bytes of activations a token, kept for the backward pass, and with each layer computed again."""
    hidden, layers = config.hidden_size, config.num_hidden_layers
    width = getattr(config, "head_dim", None) or hidden // config.num_attention_heads
    heads = (config.num_attention_heads + config.num_key_value_heads) * width
    layer = 4 * (10 * hidden + 6 * heads + 4 * config.intermediate_size)
    return layers * layer, layers * 4 * hidden + layer


def tokens_that_fit(module, device: torch.device) -> tuple[int, int]:
    """Most tokens at a time without and with gradient checkpointing."""
    free = int(free_bytes(device) * SHARE)
    return tuple(max(LEAST, min(MOST, free // each)) for each in token_bytes(module.config))
