"""A line: the tokens of one sequence with the keys and values computed for them.

A line is one contiguous buffer, so that attention reads it without gathering and one more token
costs one more token. A sequence writes to its line; when it ends, the line stays as cache.
"""

from __future__ import annotations

import numpy as np
import torch

GRAIN = 256  # capacities are multiples of this; itself a multiple of the deterministic block


def rounded(tokens: int) -> int:
    """The capacity that a line for so many tokens gets."""
    return max(GRAIN, -(-tokens // GRAIN) * GRAIN)


class Line:
    """Keys and values [layer, key or value, head, position, width] and the tokens they belong to.

    `length` positions are computed. `busy` while a sequence writes to it: such a line is never
    evicted and never taken over, but what is computed may be copied by others.
    """

    __slots__ = ("tokens", "length", "kv", "layers", "busy", "node", "state")

    def __init__(self, shape: tuple[int, int, int], capacity: int, dtype: torch.dtype, device: torch.device):
        layers, heads, width = shape
        # Zeros and not empty: masked positions take part in sums with weight 0, so they must be finite.
        self.kv = torch.zeros(layers, 2, heads, capacity, width, dtype=dtype, device=device)
        self.tokens = np.zeros(capacity, dtype=np.int32)
        self.length = 0
        self.busy = True
        self.node = None  # where radix.py has filed it
        self.state = None  # what a model without a prefix cache keeps instead
        self._views()

    def _views(self) -> None:
        self.layers = [(layer[0], layer[1]) for layer in self.kv]

    @property
    def capacity(self) -> int:
        return self.tokens.shape[0]

    @property
    def nbytes(self) -> int:
        return self.kv.numel() * self.kv.element_size()

    def copy_from(self, other: Line, length: int) -> None:
        """Takes over the first `length` positions of another line."""
        self.kv[:, :, :, :length].copy_(other.kv[:, :, :, :length])
        self.tokens[:length] = other.tokens[:length]
        self.length = length

    def grow(self, capacity: int) -> None:
        """Moves into a larger buffer; what is computed stays as it is."""
        old = self.kv
        shape = (*old.shape[:3], capacity, old.shape[4])
        self.kv = torch.zeros(shape, dtype=old.dtype, device=old.device)
        self.kv[:, :, :, : self.length].copy_(old[:, :, :, : self.length])
        tokens = np.zeros(capacity, dtype=np.int32)
        tokens[: self.length] = self.tokens[: self.length]
        self.tokens = tokens
        self._views()

    @staticmethod
    def bytes_for(shape: tuple[int, int, int], capacity: int, dtype: torch.dtype) -> int:
        layers, heads, width = shape
        return layers * 2 * heads * capacity * width * dtype.itemsize
