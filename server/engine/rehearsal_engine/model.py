"""The forward pass of Llama, Qwen2 and Qwen3 over lines of keys and values.

Equal to transformers' own to rounding. Ours because a step of the debugger computes one token, and
what surrounds the arithmetic (cache objects, masks, dispatch) would cost more than the token.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from rehearsal_engine.attention import OneTokenEach, attend
from rehearsal_engine.decode import Decoder
from rehearsal_engine.kv import Line, Pool, Shape
from rehearsal_engine.linear import Packed, Plain, can_pack, fused

FAMILIES = {"llama", "qwen2", "qwen3", "mistral"}
SMALL = 30_000_000  # parameters; below, several threads wait for one another longer than they compute
STATIC_ROPE = {"default", "linear", "llama3", "yarn"}  # the others depend on the length reached


@dataclass
class Segment:
    """Tokens `ids` of one sequence at positions `start`…; logits are wanted for `rows` of them."""

    line: Line
    start: int
    ids: list[int]
    rows: slice | None


def supports(config) -> bool:
    """Whether this file computes the architecture; `generic.py` runs the others."""
    rope = getattr(config, "rope_parameters", None) or {}
    layers = getattr(config, "layer_types", None) or []
    return (
        config.model_type in FAMILIES
        and config.hidden_act == "silu"
        and rope.get("rope_type", "default") in STATIC_ROPE
        and rope.get("partial_rotary_factor", 1.0) == 1.0
        and all(kind == "full_attention" for kind in layers)
        and (config.model_type != "mistral" or config.sliding_window is None)
    )


class Layer:
    def __init__(self, layer, heads: int, kv_heads: int, linear: type[Plain] | type[Packed]):
        attention, mlp = layer.self_attn, layer.mlp
        self.norm1 = layer.input_layernorm.weight.data
        self.norm2 = layer.post_attention_layernorm.weight.data
        self.qkv = linear(*fused(attention.q_proj, attention.k_proj, attention.v_proj))
        self.out = linear(*fused(attention.o_proj))
        self.gate_up = linear(*fused(mlp.gate_proj, mlp.up_proj))
        self.down = linear(*fused(mlp.down_proj))
        self.qk_norm = None
        if hasattr(attention, "q_norm"):
            q, k = attention.q_norm.weight.data, attention.k_norm.weight.data
            self.qk_norm = torch.cat([q.expand(heads, -1), k.expand(kv_heads, -1)])


class Model:
    """Weights of one causal language model, and its forward pass."""

    prefix_cache = True
    batching = True
    rowwise_head = False  # deterministic mode: logits of one row at a time, always the same shape

    def __init__(self, module, config, device: torch.device, dtype: torch.dtype):
        self.config, self.device, self.dtype = config, device, dtype
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.width = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.eps = config.rms_norm_eps
        self.embed = module.model.embed_tokens.weight.data
        self.norm = module.model.norm.weight.data
        small = sum(weight.numel() for weight in module.parameters()) < SMALL
        linear = Plain if small or not can_pack(self.embed) else Packed
        self.layers = [Layer(layer, self.heads, self.kv_heads, linear) for layer in module.model.layers]
        self.head = linear(module.lm_head.weight.data)
        self.vocab_size = module.lm_head.weight.shape[0]
        self.shape = Shape(len(self.layers), self.kv_heads, self.width, dtype, device)
        self.pool = Pool(self.shape)
        self._rope(module.model.rotary_emb)
        self.decoder = Decoder(self) if small and self.shape.on_cpu else None

    def _rope(self, rotary) -> None:
        self.inv_freq = rotary.inv_freq.float().to(self.device)
        self.rope_scale = rotary.attention_scaling
        self.cos = self.sin = torch.empty(0)
        self._extend_rope(1024)

    def _reach(self, length: int) -> None:
        """Cosines and sines of so many positions."""
        if length > self.cos.shape[0]:
            self._extend_rope(2 * length)

    def _extend_rope(self, length: int) -> None:
        angles = torch.arange(length, device=self.device).float()[:, None] * self.inv_freq[None]
        cos, sin = angles.cos() * self.rope_scale, angles.sin() * self.rope_scale
        # rotate_half as one roll: the sign sits in the sine.
        self.cos = torch.cat([cos, cos], -1).to(self.dtype)[:, None]
        self.sin = torch.cat([-sin, sin], -1).to(self.dtype)[:, None]

    def new_line(self, capacity: int) -> Line:
        return Line(self.pool, capacity)

    def capacity(self, tokens: int) -> int:
        return self.shape.capacity(tokens)

    def line_bytes(self, capacity: int) -> int:
        return self.shape.nbytes(capacity)

    @torch.inference_mode()
    def forward(self, segments: list[Segment]) -> list[torch.Tensor | None]:
        """Computes the segments' tokens, writes keys and values; float32 logits of wanted rows."""
        self._reach(max(s.start + len(s.ids) for s in segments))
        if self.decoder is not None and all(len(s.ids) == 1 and s.rows is not None for s in segments):
            return list(torch.from_numpy(self.decoder(segments)).split(1))
        ids = torch.tensor([i for s in segments for i in s.ids], device=self.device)
        cos, sin = self._angles(segments)
        several, singles = self._plan(segments)
        x = F.embedding(ids, self.embed)
        for number, layer in enumerate(self.layers):
            q, k, v = self._heads(layer, x, cos, sin)
            out = q.new_empty(q.shape[0], self.heads * self.width)
            for rows, segment, mask in several:
                segment.line.write(number, segment.start, k[rows], v[rows])
                out[rows] = attend(q[rows], segment.line, number, segment.start, mask)
            if singles is not None:
                grouped = (-1, self.kv_heads, self.heads // self.kv_heads, self.width)
                singles(number, q.numpy().reshape(grouped), k.numpy(), v.numpy(), out.numpy().reshape(grouped))
            x = x + layer.out(out)
            gate, up = layer.gate_up(self._normed(x, layer.norm2)).chunk(2, -1)
            x = x + layer.down(F.silu(gate) * up)
        return self._logits(x, segments)

    def _normed(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, weight.shape, weight, self.eps)

    def _angles(self, segments: list[Segment]) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines of all packed positions."""
        if len(segments) == 1:
            start, stop = segments[0].start, segments[0].start + len(segments[0].ids)
            return self.cos[start:stop], self.sin[start:stop]
        at = torch.tensor([p for s in segments for p in range(s.start, s.start + len(s.ids))], device=self.device)
        return self.cos[at], self.sin[at]

    def _plan(self, segments: list[Segment]) -> tuple[list[tuple], OneTokenEach | None]:
        """What attends by itself, with its rows and mask, and what a CPU computes together."""
        several, alone, at = [], [], 0
        for segment in segments:
            count = len(segment.ids)
            if count == 1 and self.shape.on_cpu:
                alone.append((at, segment.line, segment.start))
            else:
                several.append((slice(at, at + count), segment, self._mask(segment)))
            at += count
        return several, OneTokenEach(alone) if alone else None

    def _mask(self, segment: Segment) -> torch.Tensor | None:
        """Who sees whom where several tokens are computed after earlier ones; [T, start + T]."""
        count = len(segment.ids)
        if count == 1 or segment.start == 0:
            return None
        seen = torch.ones(count, segment.start + count, dtype=torch.bool, device=self.device)
        return seen.tril_(segment.start)

    def _heads(self, layer: Layer, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Queries, keys and values [N, heads, width], the first two normalized and rotated."""
        qkv = layer.qkv(self._normed(x, layer.norm1))
        qkv = qkv.view(-1, self.heads + 2 * self.kv_heads, self.width)
        qk, v = qkv.split_with_sizes([self.heads + self.kv_heads, self.kv_heads], 1)
        if layer.qk_norm is not None:
            qk = F.rms_norm(qk, (self.width,), None, self.eps) * layer.qk_norm
        qk = torch.addcmul(qk * cos, qk.roll(self.width // 2, -1), sin)
        q, k = qk.split_with_sizes([self.heads, self.kv_heads], 1)
        return q, k, v

    def _logits(self, x: torch.Tensor, segments: list[Segment]) -> list[torch.Tensor | None]:
        rows, counts, at = [], [], 0
        for segment in segments:
            length = len(segment.ids)
            wanted = range(at, at + length)[segment.rows] if segment.rows is not None else ()
            rows += wanted
            counts.append(len(wanted))
            at += length
        if not rows:
            return [None] * len(segments)
        if len(rows) < x.shape[0]:
            x = x[torch.tensor(rows, device=self.device)]
        x = self._normed(x, self.norm)
        parts = x.split(1) if self.rowwise_head else [x]
        logits = torch.cat([self.head(part) for part in parts]).float().cpu()
        return [part if part.shape[0] else None for part in logits.split(counts)]
