"""A line: the tokens of one sequence with the keys and values computed for them.

A line is one contiguous buffer, so that attention reads it without gathering and one more token
costs one more token. A sequence writes to its line; when it ends, the line stays as cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

GRAIN = 256  # capacities are multiples of this; itself a multiple of the deterministic block


def rounded(tokens: int) -> int:
    """The capacity that a line for so many tokens gets."""
    return max(GRAIN, -(-tokens // GRAIN) * GRAIN)


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
        """Keys lie transposed, [width, position], where `attention.one_token_each` multiplies with them."""
        return self.device.type == "cpu" and self.dtype == torch.float32

    def nbytes(self, capacity: int) -> int:
        return 2 * self.layers * self.heads * self.width * capacity * self.dtype.itemsize


class Line:
    """Keys and values of `length` computed positions, and the tokens they belong to.

    `busy` while a sequence writes to it: such a line is never evicted and never taken over, but
    what is computed may be copied by others.
    """

    __slots__ = ("shape", "tokens", "length", "k", "v", "arrays", "busy", "node", "state")

    def __init__(self, shape: Shape, capacity: int):
        self.shape = shape
        self._allocate(capacity)
        self.length = 0
        self.busy = True
        self.node = None  # where radix.py has filed it
        self.state = None  # what a model without a prefix cache keeps instead

    def _allocate(self, capacity: int) -> None:
        s = self.shape
        options = {"dtype": s.dtype, "device": s.device}
        # Zeros and not empty: masked positions take part in sums with weight 0, so they must be finite.
        flat = (s.width, capacity) if s.on_cpu else (capacity, s.width)
        self.k = torch.zeros(s.layers, s.heads, *flat, **options)
        self.v = torch.zeros(s.layers, s.heads, capacity, s.width, **options)
        self.arrays = [(k.numpy(), v.numpy()) for k, v in zip(self.k, self.v)] if s.on_cpu else None
        self.tokens = np.zeros(capacity, dtype=np.int32)

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
        """Moves into a larger buffer; what is computed stays as it is."""
        k, v, tokens = self.k, self.v, self.tokens
        self._allocate(capacity)
        self._copy(k, v, tokens, self.length)

    def _copy(self, k: torch.Tensor, v: torch.Tensor, tokens: np.ndarray, length: int) -> None:
        if self.shape.on_cpu:
            self.k[..., :length].copy_(k[..., :length])
        else:
            self.k[:, :, :length].copy_(k[:, :, :length])
        self.v[:, :, :length].copy_(v[:, :, :length])
        self.tokens[:length] = tokens[:length]
