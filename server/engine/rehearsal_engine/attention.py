"""Attention of new tokens over a line."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from rehearsal_engine.kv import Line, Slab
from rehearsal_engine.radix import common

SHARED = 128  # positions in common that are worth reading once for all lines
CALL = 256  # positions that are read in the time in which a product of its own is called

Token = tuple[int, Line, int]  # row of the packed tokens, line, position


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
    Most of the time goes into reading keys and values, and rollouts of one environment begin with
    the same tools: what lines have in common is read from one of them, for the queries of all.
    """

    def __init__(self, tokens: list[Token]):
        self.prefixes: list[Prefix] = []
        self.parts: list[Part | Single] = []
        for length, members in alike(tokens):
            prefix = Prefix(members, length) if length else None
            if prefix:
                self.prefixes.append(prefix)
            slabs: dict[Slab, list[tuple[int, int, int, int]]] = {}
            for place, (row, line, position) in enumerate(members):
                slabs.setdefault(line.slab, []).append((row, line.slot, position, place))
            for slab, group in slabs.items():
                group.sort(key=lambda member: member[1])
                part = Part(slab, prefix, *np.array(group).T) if len(group) > 1 else None
                self.parts += [part] if part and part.dense else [Single(slab, prefix, *member) for member in group]

    def __call__(self, layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        """Writes k and v [N, groups, width]; q and out are [N, groups, rows, width] of all packed tokens.

        The query heads that share keys are the rows of one product, so that keys are read once.
        """
        for prefix in self.prefixes:
            prefix.attend(layer, q)
        for part in self.parts:
            part.attend(layer, q, k, v, out)


def alike(tokens: list[Token]) -> list[tuple[int, list[Token]]]:
    """The tokens in groups whose lines begin with the same positions, and how many those are: 0, or `SHARED` at least."""
    groups: dict[bytes, list[Token]] = {}
    for token in tokens:
        _, line, position = token
        start = line.tokens[:SHARED].tobytes() if position >= SHARED and len(tokens) > 1 else b""
        groups.setdefault(start, []).append(token)
    found, alone = [], groups.pop(b"", [])
    for members in groups.values():
        if len(members) == 1:
            alone += members
            continue
        length = min(position for _, _, position in members)
        first = members[0][1].tokens
        for _, line, _ in members[1:]:
            length = common(first[:length], line.tokens[:length])
        found.append((length, members))
    return [(0, alone), *found] if alone else found


class Prefix:
    """The first `length` positions of several lines, which are the same tokens: read from the first line."""

    def __init__(self, members: list[Token], length: int):
        line = members[0][1]
        self.keys, self.values = line.slab.keys[line.slot], line.slab.values[line.slot]
        self.rows, self.length = [row for row, _, _ in members], length

    def attend(self, layer: int, q: np.ndarray) -> None:
        """Keeps weighted values, the largest score and the sum of weights, for `joined`."""
        count, (groups, rows, width) = len(self.rows), q.shape[1:]
        queries = q[self.rows].swapaxes(0, 1).reshape(groups, count * rows, width) * np.float32(width**-0.5)
        scores = np.matmul(queries, self.keys[layer][:, :, : self.length])
        most = scores.max(-1, keepdims=True)
        scores -= most
        np.exp(scores, out=scores)
        each = (scores.sum(-1, keepdims=True), most, np.matmul(scores, self.values[layer][:, : self.length]))
        self.total, self.most, self.result = (
            x.reshape(groups, count, rows, -1).swapaxes(0, 1) for x in each
        )

    def joined(self, places, most: np.ndarray, total: np.ndarray, result: np.ndarray) -> None:
        """Adds to `total` and `result` of later positions, whose largest scores are `most`, what is here; in place."""
        both = np.maximum(most, self.most[places])
        here, there = np.exp(self.most[places] - both), np.exp(most - both)
        total *= there
        total += self.total[places] * here
        result *= there
        result += self.result[places] * here


class Single:
    """One line: the debugger's step, and lines too different in length for a common product."""

    def __init__(self, slab: Slab, prefix: Prefix | None, row: int, slot: int, at: int, place: int):
        self.keys, self.values, self.row, self.at = slab.keys[slot], slab.values[slot], row, at
        self.prefix, self.place, self.begin = prefix, place, prefix.length if prefix else 0

    def attend(self, layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        keys, values, begin, stop = self.keys[layer], self.values[layer], self.begin, self.at + 1
        keys[:, :, self.at], values[:, self.at] = k[self.row], v[self.row]
        scores = np.matmul(q[self.row] * np.float32(q.shape[-1] ** -0.5), keys[:, :, begin:stop])
        most = scores.max(-1, keepdims=True)
        scores -= most
        np.exp(scores, out=scores)
        total = scores.sum(-1, keepdims=True)
        result = np.matmul(scores, values[:, begin:stop], out=out[self.row])
        if self.prefix:
            self.prefix.joined(self.place, most, total, result)
        result /= total


class Part:
    """Lines of one slab, in the order of slots, as a range. Slots in between get a query of zeros."""

    def __init__(
        self, slab: Slab, prefix: Prefix | None, rows: np.ndarray, slots: np.ndarray, at: np.ndarray, places: np.ndarray
    ):
        self.slab, self.rows, self.slots, self.at = slab, rows, slots, at
        self.prefix, self.places, self.begin = prefix, places, prefix.length if prefix else 0
        self.first, self.stop, self.longest = slots.min(), slots.max() + 1, at.max() + 1
        self.used = slots - self.first if len(slots) < self.stop - self.first else None
        self.mask = None
        if at.min() + 1 < self.longest:
            seen = np.arange(self.begin, self.longest) <= at[:, None]
            self.mask = np.zeros((self.stop - self.first, 1, 1, self.longest - self.begin), dtype=np.float32)
            self.mask[slots - self.first, 0, 0] = np.where(seen, 0, -np.inf)

    @property
    def dense(self) -> bool:
        """Whether one product costs less than one for each line: it reads what lies in between as well."""
        read = (self.stop - self.first) * (self.longest - self.begin)
        return read <= 2 * (self.at + 1 - self.begin).sum() + CALL * len(self.slots)

    def attend(self, layer: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        keys, values = self.slab.keys, self.slab.values
        keys[self.slots, layer, :, :, self.at] = k[self.rows]
        values[self.slots, layer, :, self.at] = v[self.rows]
        queries = q[self.rows] * np.float32(q.shape[-1] ** -0.5)
        if self.used is not None:
            spread = np.zeros((self.stop - self.first, *q.shape[1:]), dtype=np.float32)
            spread[self.used] = queries
            queries = spread
        scores = np.matmul(queries, keys[self.first : self.stop, layer, :, :, self.begin : self.longest])
        if self.mask is not None:
            scores += self.mask
        most = scores.max(-1, keepdims=True)
        scores -= most
        np.exp(scores, out=scores)
        total = scores.sum(-1, keepdims=True)
        result = np.matmul(scores, values[self.first : self.stop, layer, :, self.begin : self.longest])
        if self.used is not None:
            most, total, result = most[self.used], total[self.used], result[self.used]
        if self.prefix:
            self.prefix.joined(self.places, most, total, result)
        result /= total
        out[self.rows] = result
