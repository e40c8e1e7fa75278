"""Attention of new tokens over a line."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from rehearsal_engine.kv import Line


def attend(q: torch.Tensor, line: Line, layer: int, start: int, mask: torch.Tensor | None) -> torch.Tensor:
    """Queries [T, heads, width] at positions `start`… over the line up to them: [T, heads × width]."""
    count, heads, width = q.shape
    stop, groups = start + count, line.shape.heads
    keys, values = line.keys(layer, stop)[None].contiguous(), line.v[layer, None, :, :stop]
    if count == 1:
        # The query heads that share keys are rows of one product, so keys are read once.
        return F.scaled_dot_product_attention(q.view(1, groups, -1, width), keys, values).reshape(1, -1)
    gqa = heads != groups
    q = q.transpose(0, 1)[None]
    out = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask, is_causal=mask is None, enable_gqa=gqa)
    return out[0].transpose(0, 1).reshape(count, -1)


def one_token_each(q: np.ndarray, k: np.ndarray, v: np.ndarray, lines: list[Line], layer: int, at: list[int]) -> np.ndarray:
    """One new token of each line, at positions `at`, on a CPU: writes k and v, returns [B, heads × width].

    q is [B, groups, rows, width], the query heads that share keys being the rows; k and v are
    [B, groups, width]. PyTorch's kernels are made for many queries and cost as much again to call;
    matrix products of NumPy's BLAS on transposed keys take a third of the time at 4,000 positions, and
    this is what a step of the debugger waits for.
    """
    q = q * np.float32(q.shape[-1] ** -0.5)
    longest = max(at) + 1
    scores = np.empty((*q.shape[:3], longest), dtype=np.float32)
    if min(at) + 1 < longest:
        scores.fill(-np.inf)
    out = np.empty_like(q)
    for n, (line, position) in enumerate(zip(lines, at)):
        keys, values = line.arrays[layer]
        keys[:, :, position], values[:, position] = k[n], v[n]
        np.matmul(q[n], keys[:, :, : position + 1], out=scores[n, :, :, : position + 1])
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    for n, (line, position) in enumerate(zip(lines, at)):
        np.matmul(scores[n, :, :, : position + 1], line.arrays[layer][1][:, : position + 1], out=out[n])
    out /= scores.sum(-1, keepdims=True)
    return out.reshape(q.shape[0], -1)
