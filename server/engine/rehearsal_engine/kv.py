"""A line: the tokens of one sequence with the keys and values computed for them.

A line is one contiguous buffer, so that attention reads it without gathering and one more token
costs one more token. A sequence writes to its line; when it ends, the line stays as cache.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

GRAIN = 256  # capacities are multiples of this; itself a multiple of the deterministic block
SLOTS = 16  # lines side by side in a slab


@dataclass(frozen=True)
class Shape:
    """What a model keeps of a token: `layers` × `heads` × `width` keys and as many values."""

    layers: int
    heads: int
    width: int
    dtype: torch.dtype
    device: torch.device

    @cached_property
    def on_cpu(self) -> bool:
        """Keys lie transposed, [width, position], where `attention.OneTokenEach` multiplies with them."""
        return self.device.type == "cpu" and self.dtype == torch.float32

    def nbytes(self, capacity: int) -> int:
        return 2 * self.layers * self.heads * self.width * capacity * self.dtype.itemsize

    def capacity(self, tokens: int) -> int:
        """Of a line for so many tokens. Few sizes on CPUs, so that lines of a batch are in one slab."""
        steps = max(1, -(-tokens // GRAIN))
        return GRAIN * (1 << (steps - 1).bit_length() if self.on_cpu else steps)


class Slab:
    """Room for several lines of one capacity, [slot, layer, head, …]: a batch of them is one product.

    On a CPU a page is taken by the system when it is first written to, so free slots cost nothing.
    On a GPU they would, so a slab is one line there.
    """

    def __init__(self, shape: Shape, capacity: int):
        self.slots = SLOTS if shape.on_cpu else 1
        flat = (shape.width, capacity) if shape.on_cpu else (capacity, shape.width)
        # Zeros and not empty: masked positions take part in sums with weight 0, so they must be finite.
        sizes = [(self.slots, shape.layers, shape.heads, *rest) for rest in (flat, (capacity, shape.width))]
        if shape.on_cpu:
            self.keys, self.values = map(lazy_zeros, sizes)
            self.k, self.v = torch.from_numpy(self.keys), torch.from_numpy(self.values)
        else:
            self.k, self.v = (torch.zeros(size, dtype=shape.dtype, device=shape.device) for size in sizes)
        self.free = list(range(self.slots))[::-1]


def lazy_zeros(size: tuple[int, ...]) -> np.ndarray:
    """Zeros from the system, untouched, and aligned as vector instructions like it."""
    count = int(np.prod(size))
    raw = np.zeros(count + 16, dtype=np.float32)
    start = -raw.ctypes.data % 64 // 4
    return raw[start : start + count].reshape(size)


class Pool:
    """The slabs of one model."""

    def __init__(self, shape: Shape):
        self.shape, self.slabs = shape, defaultdict(list)

    def take(self, capacity: int) -> tuple[Slab, int]:
        slab = next((slab for slab in self.slabs[capacity] if slab.free), None)
        if slab is None:
            slab = Slab(self.shape, capacity)
            self.slabs[capacity].append(slab)
        return slab, slab.free.pop()

    def give(self, capacity: int, slab: Slab, slot: int) -> None:
        slab.free.append(slot)
        slab.free.sort(reverse=True)
        if len(slab.free) == slab.slots:
            self.slabs[capacity].remove(slab)


class Line:
    """Keys and values of `length` computed positions, and the tokens they belong to.

    `busy` while a sequence writes to it: such a line is never evicted and never taken over, but
    what is computed may be copied by others.
    """

    __slots__ = ("pool", "shape", "slab", "slot", "k", "v", "tokens", "length", "busy", "node", "state")

    def __init__(self, pool: Pool, capacity: int):
        self.pool, self.shape = pool, pool.shape
        self._place(capacity)
        self.length = 0
        self.busy = True
        self.node = None  # where radix.py has filed it
        self.state = None  # what a model without a prefix cache keeps instead

    def _place(self, capacity: int) -> None:
        self.slab, self.slot = self.pool.take(capacity)
        self.k, self.v = self.slab.k[self.slot], self.slab.v[self.slot]
        self.tokens = np.zeros(capacity, dtype=np.int32)

    def __del__(self) -> None:
        self.pool.give(self.capacity, self.slab, self.slot)

    @property
    def capacity(self) -> int:
        return self.tokens.shape[0]

    @property
    def nbytes(self) -> int:
        return self.shape.nbytes(self.capacity)

    def keys(self, layer: int, stop: int) -> torch.Tensor:
        """[heads, stop, width] of the first `stop` positions."""
        return self.k[layer, :, :, :stop].transpose(1, 2) if self.shape.on_cpu else self.k[layer, :, :stop]

    def write(self, layer: int, start: int, k: torch.Tensor, v: torch.Tensor) -> None:
        """Keys and values [positions, heads, width] from position `start` on."""
        stop = start + k.shape[0]
        if self.shape.on_cpu:
            self.k[layer, :, :, start:stop] = k.permute(1, 2, 0)
        else:
            self.k[layer, :, start:stop] = k.transpose(0, 1)
        self.v[layer, :, start:stop] = v.transpose(0, 1)

    def copy_from(self, other: Line, length: int) -> None:
        """Takes over the first `length` positions of another line."""
        self._copy(other.k, other.v, other.tokens, length)
        self.length = length

    def grow(self, capacity: int) -> None:
        """Moves to a larger place; what is computed stays as it is."""
        before = self.capacity, self.slab, self.slot
        k, v, tokens = self.k, self.v, self.tokens
        self._place(capacity)
        self._copy(k, v, tokens, self.length)
        self.pool.give(*before)

    def _copy(self, k: torch.Tensor, v: torch.Tensor, tokens: np.ndarray, length: int) -> None:
        if self.shape.on_cpu:
            self.k[..., :length].copy_(k[..., :length])
        else:
            self.k[:, :, :length].copy_(k[:, :, :length])
        self.v[:, :, :length].copy_(v[:, :, :length])
        self.tokens[:length] = tokens[:length]
