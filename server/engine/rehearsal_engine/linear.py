"""Linear layers of the forward pass, with their weights as the device multiplies few rows with them soonest.

A debugger computes one row at a time, rollouts a few. PyTorch's product of a few rows copies the whole weight into
the order that its kernel reads, again at each call. oneDNN takes it in that order once: on a CPU with AVX-512, 100
million parameters and one thread, 16 rows take 42 ms instead of 73, and 256 rows 476 instead of 570.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

# Rows that weights are packed for, and the fewest that are multiplied: fewer take longer, at any packing.
ROWS = 4


def fused(*linears) -> tuple[torch.Tensor, torch.Tensor | None]:
    """One weight and bias for linear layers that read the same input."""
    weight = torch.cat([linear.weight.data for linear in linears])
    if all(linear.bias is None for linear in linears):
        return weight, None
    zero = [weight.new_zeros(linear.weight.shape[0]) for linear in linears]
    return weight, torch.cat([z if li.bias is None else li.bias.data for li, z in zip(linears, zero)])


def can_pack(weight: torch.Tensor) -> bool:
    """Whether oneDNN is there for it. The operators are those of PyTorch's own compiler for CPUs."""
    onednn = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    return onednn and weight.device.type == "cpu" and weight.dtype == torch.float32


class Plain:
    """A weight [outputs, inputs] and a bias as PyTorch and NumPy see them; by inputs on a CPU, which is sooner there."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None):
        self.weight = weight.t().contiguous().t() if weight.device.type == "cpu" else weight
        self.bias = bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight, self.bias)


class Packed:
    """A weight in oneDNN's own order, which nothing else can read."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None):
        self.weight, self.bias = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), ROWS), bias

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        count = x.shape[0]
        if count < ROWS:
            x = F.pad(x, (0, 0, 0, ROWS - count))
        y = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return y[:count] if count < ROWS else y
