"""Attention of new tokens over a line."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from rehearsal_engine.kv import Line, Slab


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


class OneTokenEach:
    """One new token of each of several lines, on a CPU.

    PyTorch's kernels are made for many queries and cost as much again to call. Matrix products of
    NumPy's BLAS on transposed keys take a third of the time at 4,000 positions, which a step of the
    debugger waits for, and lines that lie in one slab are one product, which rollouts wait for.
    """

    def __init__(self, tokens: list[tuple[int, Line, int]]):
        """Tokens as (row of the packed tokens, line, position)."""
        self.parts: list[Part | Single] = []
        slabs: dict[Slab, list[tuple[int, int, int]]] = {}
        for row, line, position in tokens:
            slabs.setdefault(line.slab, []).append((row, line.slot, position))
        for slab, members in slabs.items():
            members.sort(key=lambda member: member[1])
            part = Part(slab, *np.array(members).T) if len(members) > 1 else None
            self.parts += [part] if part and part.dense else [Single(slab, *member) for member in members]

    def __call__(self, layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        """Writes k and v [N, groups, width]; q and out are [N, groups, rows, width] of all packed tokens.

        The query heads that share keys are the rows of one product, so that keys are read once.
        """
        for part in self.parts:
            part.attend(layer, q, k, v, out)


class Single:
    """One line: the debugger's step, and lines too different in length for a common product."""

    def __init__(self, slab: Slab, row: int, slot: int, at: int):
        self.keys, self.values, self.row, self.at = slab.keys[slot], slab.values[slot], row, at

    def attend(self, layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        keys, values, stop = self.keys[layer], self.values[layer], self.at + 1
        keys[:, :, self.at], values[:, self.at] = k[self.row], v[self.row]
        scores = np.matmul(q[self.row] * np.float32(q.shape[-1] ** -0.5), keys[:, :, :stop])
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        result = np.matmul(scores, values[:, :stop], out=out[self.row])
        result /= scores.sum(-1, keepdims=True)


class Part:
    """Lines of one slab, in the order of slots, as a range. Slots in between get a query of zeros."""

    def __init__(self, slab: Slab, rows: np.ndarray, slots: np.ndarray, at: np.ndarray):
        self.slab, self.rows, self.slots, self.at = slab, rows, slots, at
        self.first, self.stop, self.longest = slots.min(), slots.max() + 1, at.max() + 1
        self.places = slots - self.first if len(slots) < self.stop - self.first else None
        self.mask = None
        if at.min() + 1 < self.longest:
            self.mask = np.zeros((self.stop - self.first, 1, 1, self.longest), dtype=np.float32)
            self.mask[slots - self.first, 0, 0] = np.where(np.arange(self.longest) > at[:, None], -np.inf, 0)

    @property
    def dense(self) -> bool:
        """Whether at least half of what is multiplied is needed."""
        return (self.stop - self.first) * self.longest <= 2 * (self.at + 1).sum()

    def attend(self, layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        keys, values = self.slab.keys, self.slab.values
        keys[self.slots, layer, :, :, self.at] = k[self.rows]
        values[self.slots, layer, :, self.at] = v[self.rows]
        queries = q[self.rows] * np.float32(q.shape[-1] ** -0.5)
        if self.places is not None:
            spread = np.zeros((self.stop - self.first, *q.shape[1:]), dtype=np.float32)
            spread[self.places] = queries
            queries = spread
        scores = np.matmul(queries, keys[self.first : self.stop, layer, :, :, : self.longest])
        if self.mask is not None:
            scores += self.mask
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        sums = scores.sum(-1, keepdims=True)
        result = np.matmul(scores, values[self.first : self.stop, layer, :, : self.longest])
        result /= sums
        out[self.rows] = result if self.places is None else result[self.places]
