"""Any other architecture, through transformers' own forward pass and cache.

Recurrent or sliding caches cannot be cut to a prefix, so there is no prefix cache here and no
batching: every request computes its whole prompt. `/v1/models` says so.
"""

from __future__ import annotations

import numpy as np
import torch


class StateLine:
    """What `kv.Line` is for our own forward; the cache is transformers' and grows by itself."""

    def __init__(self, capacity: int):
        self.tokens = np.zeros(capacity, dtype=np.int32)
        self.length, self.nbytes = 0, 0
        self.busy, self.node, self.state = True, None, None

    @property
    def capacity(self) -> int:
        return self.tokens.shape[0]

    def grow(self, capacity: int) -> None:
        self.tokens = np.concatenate([self.tokens, np.zeros(capacity - self.capacity, dtype=np.int32)])


class GenericModel:
    """One transformers model; takes one segment after the other."""

    prefix_cache = False
    batching = False

    def __init__(self, module, config, device: torch.device, dtype: torch.dtype):
        self.module, self.config, self.device, self.dtype = module, config, device, dtype
        self.vocab_size = module.get_output_embeddings().weight.shape[0]

    def new_line(self, capacity: int) -> StateLine:
        return StateLine(capacity)

    def capacity(self, tokens: int) -> int:
        return tokens

    def line_bytes(self, capacity: int) -> int:
        return 0  # unknown before it is computed, and freed with the sequence

    @torch.inference_mode()
    def forward(self, segments) -> list[torch.Tensor | None]:
        """As `model.Model.forward`."""
        return [self._one(segment) for segment in segments]

    def _one(self, segment) -> torch.Tensor | None:
        out = self.module(
            input_ids=torch.tensor([segment.ids], device=self.device),
            past_key_values=segment.line.state,
            use_cache=True,
        )
        segment.line.state = out.past_key_values
        return out.logits[0][segment.rows].float().cpu() if segment.rows is not None else None
