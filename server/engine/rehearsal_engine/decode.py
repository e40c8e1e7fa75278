"""The forward pass of one new token each of several sequences, by a small model on a CPU, in NumPy.

The same arithmetic as `model.Model.forward`. At this size calling one of PyTorch's kernels costs as
much as what it computes, and OpenBLAS multiplies few rows with stored columns faster than MKL.
"""

from __future__ import annotations

import weakref

import numpy as np

from rehearsal_engine.attention import OneTokenEach


class Decoder:
    """The weights of a `model.Model` as NumPy sees them; nothing is copied."""

    def __init__(self, model):
        self.model = weakref.proxy(model)  # which holds us: no circle, so that old weights are freed at once
        self.layers = [Layer(layer) for layer in model.layers]
        self.embed, self.norm = model.embed.numpy(), model.norm.numpy()
        self.head = columns(model.head.weight)
        self.eps = np.float32(model.eps)

    def __call__(self, segments) -> np.ndarray:
        """Logits [N, vocabulary] of the tokens, one a segment; writes their keys and values."""
        model, count = self.model, len(segments)
        heads, groups, width = model.heads, model.kv_heads, model.width
        x = self.embed[[segment.ids[0] for segment in segments]]
        at = [segment.start for segment in segments]
        cos, sin = model.cos.numpy()[at], model.sin.numpy()[at]
        attend = OneTokenEach([(row, segment.line, segment.start) for row, segment in enumerate(segments)])
        out = np.empty((count, groups, heads // groups, width), dtype=np.float32)
        for number, layer in enumerate(self.layers):
            qkv = times(self._normed(x, layer.norm1), layer.qkv).reshape(count, -1, width)
            qk, v = qkv[:, : heads + groups], qkv[:, heads + groups :]
            if layer.qk_norm is not None:
                qk = self._normed(qk, layer.qk_norm)
            qk = rotated(qk, cos, sin)
            attend(number, qk[:, :heads].reshape(out.shape), qk[:, heads:], v, out)
            x += times(out.reshape(count, -1), layer.out)
            gate_up = times(self._normed(x, layer.norm2), layer.gate_up)
            x += times(gated(gate_up), layer.down)
        return self._normed(x, self.norm) @ self.head

    def _normed(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Root mean square normalization of the last axis."""
        size = np.vecdot(x, x)
        size /= np.float32(x.shape[-1])
        size += self.eps
        np.sqrt(size, out=size)
        y = x / size[..., None]
        y *= weight
        return y


class Layer:
    def __init__(self, layer):
        self.norm1, self.norm2 = layer.norm1.numpy(), layer.norm2.numpy()
        self.qk_norm = None if layer.qk_norm is None else layer.qk_norm.numpy()
        linears = [layer.qkv, layer.out, layer.gate_up, layer.down]
        self.qkv, self.out, self.gate_up, self.down = (
            (columns(each.weight), None if each.bias is None else each.bias.numpy()) for each in linears
        )


def columns(weight) -> np.ndarray:
    """A linear layer's weight as [inputs, outputs]; contiguous as `linear.Plain` has it."""
    return weight.t().numpy()


def times(x: np.ndarray, linear: tuple[np.ndarray, np.ndarray | None]) -> np.ndarray:
    weight, bias = linear
    y = x @ weight
    if bias is not None:
        y += bias
    return y


def rotated(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Rotary position embedding; the sign of the rotated half sits in the sine."""
    half = x.shape[-1] // 2
    y = x * cos
    y[..., :half] += x[..., half:] * sin[..., :half]
    y[..., half:] += x[..., :half] * sin[..., half:]
    return y


def gated(gate_up: np.ndarray) -> np.ndarray:
    """SiLU of the first half times the second. By the tangent, since that never overflows."""
    inner = gate_up.shape[-1] // 2
    gate, up = gate_up[:, :inner], gate_up[:, inner:]
    y = np.tanh(gate * np.float32(0.5))
    y += np.float32(1)
    y *= gate
    y *= up
    y *= np.float32(0.5)
    return y
