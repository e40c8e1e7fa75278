"""Attention over a trie: the keys of an edge are read once by all tokens that continue it.

An edge attends to itself causally, and its descendants, which are one range of rows, attend to it
without a mask; parts are combined by their log-sum-exp, as flash attention combines blocks. The
backward pass is the same walk with the combined output. Nothing is gathered, masked or copied, and
keys and values are held once. Chosen by measurement (`bench.py`, one core, a tree of some 4,000
nodes): a mask over all pairs of nodes, whose cost grows with nodes², took 2.9 times as long, and
depth-first passes over one edge at a time 1.1 times, since they lose the large matrix products that
all branches make together.
"""

from __future__ import annotations

import torch

from rehearsal_engine.learning.tree import Edge, Tree

NAME = "rehearsal_tree"
ROWS = 1024  # most queries at a time where scores are written out


def register() -> None:
    """Makes the attention known to transformers under NAME."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, tree_attention)


def tree_attention(module, query, key, value, attention_mask=None, scaling=None, tree: Tree | None = None, **_):
    """What transformers calls. Queries [1, heads, nodes, width]; out [1, nodes, heads, width]."""
    if tree is None:
        raise ValueError("Attention over a trie needs the trie: pass tree= to the model.")
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    out = TreeAttention.apply(query, key.to(query.dtype), value.to(query.dtype), tree.edges, scale)
    return out.transpose(1, 2), None


class TreeAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, edges: list[Edge], scale: float):
        out = torch.zeros_like(q)
        lse = q.new_full(q.shape[:3], -torch.inf, dtype=torch.float64 if q.dtype == torch.float64 else torch.float32)
        for rows, causal, keys in parts(edges):
            add(out, lse, rows, *forward(fold(q, rows, k), k[:, :, keys], v[:, :, keys], causal, scale))
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.edges, ctx.scale = edges, scale
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, lse = ctx.saved_tensors
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for rows, causal, keys in parts(ctx.edges):
            folded = [fold(t, rows, k) for t in (grad, q, out, lse)]
            a, b, c = backward(*folded, k[:, :, keys], v[:, :, keys], causal, ctx.scale)
            dq[:, :, rows] += unfold(a, rows, q)
            dk[:, :, keys] += b
            dv[:, :, keys] += c
        return dq, dk, dv, None, None


def parts(edges: list[Edge]):
    """(rows of the queries, length of the causal block or 0, rows of the keys), in a fixed order."""
    for edge in edges:
        keys = slice(edge.first, edge.stop)
        yield keys, edge.stop - edge.first, keys
        if edge.end > edge.stop:
            yield slice(edge.stop, edge.end), 0, keys


def fold(t: torch.Tensor, rows: slice, k: torch.Tensor) -> torch.Tensor:
    """Rows of [1, heads, nodes, …] as [1, key heads, queries per key head, rows, …]."""
    groups = k.shape[1]
    return t[:, :, rows].unflatten(1, (groups, -1))


def unfold(t: torch.Tensor, rows: slice, q: torch.Tensor) -> torch.Tensor:
    return t.reshape(1, q.shape[1], rows.stop - rows.start, *t.shape[4:])


def add(out: torch.Tensor, lse: torch.Tensor, rows: slice, part: torch.Tensor, part_lse: torch.Tensor) -> None:
    """Combines what has been attended to so far with one more part."""
    part, part_lse = unfold(part, rows, out), part_lse.reshape(1, out.shape[1], -1)
    old = lse[:, :, rows]
    new = torch.logaddexp(old, part_lse)
    seen, fresh = (old - new).exp()[..., None], (part_lse - new).exp()[..., None]
    out[:, :, rows] = (out[:, :, rows] * seen + part * fresh).to(out.dtype)
    lse[:, :, rows] = new


def flash(q: torch.Tensor) -> bool:
    """Whether PyTorch's CPU kernel computes it; elsewhere scores are written out in blocks of ROWS."""
    return q.device.type == "cpu"


def flat(q: torch.Tensor, k: torch.Tensor, causal: int) -> tuple[torch.Tensor, ...]:
    """Query heads that share keys as more rows; in a causal block, as more heads with keys repeated."""
    if not causal:
        return q.flatten(2, 3), k
    return q.flatten(1, 2), k.repeat_interleave(q.shape[2], 1)


def forward(q, k, v, causal: int, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of q [1, groups, heads, rows, width] over one edge: output and log-sum-exp."""
    if flash(q):
        rows, keys = flat(q, k, causal)
        values = flat(q, v, causal)[1]
        out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            rows, keys, values, 0.0, bool(causal), scale=scale
        )
        return out.reshape(q.shape), lse.reshape(q.shape[:4])
    outs, sums = [], []
    for at in range(0, q.shape[3], ROWS):
        s = scores(q[:, :, :, at : at + ROWS], k, causal, scale, at)
        sums.append(s.logsumexp(-1))
        outs.append(((s - sums[-1][..., None]).exp() @ v[:, :, None].to(s.dtype)).to(q.dtype))
    return torch.cat(outs, 3), torch.cat(sums, 3)


def backward(grad, q, out, lse, k, v, causal: int, scale: float) -> tuple[torch.Tensor, ...]:
    """Gradients of q, k and v for one edge, given the combined output and log-sum-exp."""
    if flash(q):
        rows, keys = flat(q, k, causal)
        values = flat(q, v, causal)[1]
        grads, outs = flat(grad, k, causal)[0], flat(out, k, causal)[0]
        sums = lse.flatten(1, 2) if causal else lse.flatten(2, 3)
        dq, dk, dv = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
            grads, rows, keys, values, outs, sums, 0.0, bool(causal), scale=scale
        )
        if causal:
            dk, dv = (t.unflatten(1, (k.shape[1], -1)).sum(2) for t in (dk, dv))
        return dq.reshape(q.shape), dk, dv
    dqs, dk, dv = [], 0, 0
    for at in range(0, q.shape[3], ROWS):
        take = [t[:, :, :, at : at + ROWS] for t in (grad, q, out, lse)]
        g, qs, o, sums = take
        p = (scores(qs, k, causal, scale, at) - sums[..., None]).exp()
        g = g.to(p.dtype)
        ds = p * (g @ v[:, :, None].to(p.dtype).mT - (g * o.to(p.dtype)).sum(-1, keepdim=True)) * scale
        dqs.append((ds @ k[:, :, None].to(p.dtype)).to(q.dtype))
        dk = dk + (ds.mT @ qs.to(p.dtype)).sum(2)
        dv = dv + (p.mT @ g).sum(2)
    return torch.cat(dqs, 3), dk.to(k.dtype), dv.to(v.dtype)


def scores(q, k, causal: int, scale: float, at: int) -> torch.Tensor:
    """Scaled products in float32 at least; in a causal block later keys are −∞."""
    kind = torch.promote_types(q.dtype, torch.float32)
    s = q.to(kind) @ k[:, :, None].to(kind).mT * scale
    if causal:
        later = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(at + 1)
        s = s.masked_fill(later, -torch.inf)
    return s
