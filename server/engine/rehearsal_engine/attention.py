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
    if count == 1:
        # The query heads that share keys are rows of one product, so keys are read once.
        q = q.view(groups, heads // groups, width)
        if line.arrays is not None:
            return torch.from_numpy(one_row(q.numpy(), *line.arrays[layer], stop)).view(1, -1)
        out = F.scaled_dot_product_attention(q[None], line.keys(layer, stop)[None], line.v[layer, None, :, :stop])
        return out.reshape(1, -1)
    out = F.scaled_dot_product_attention(
        q.transpose(0, 1)[None],
        line.keys(layer, stop)[None].contiguous(),
        line.v[layer, None, :, :stop],
        attn_mask=mask,
        is_causal=mask is None,
        enable_gqa=heads != groups,
    )
    return out[0].transpose(0, 1).reshape(count, -1)


def one_row(q: np.ndarray, k: np.ndarray, v: np.ndarray, stop: int) -> np.ndarray:
    """One token on a CPU: q [groups, rows, width], k [groups, width, positions], v [groups, positions, width].

    PyTorch's kernels are made for many queries; three matrix products of NumPy's BLAS take a third of
    their time at 4,000 positions, and this is what a step of the debugger waits for.
    """
    scores = np.matmul(q * np.float32(q.shape[-1] ** -0.5), k[:, :, :stop])
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    out = np.matmul(scores, v[:, :stop])
    out /= scores.sum(-1, keepdims=True)
    return out
