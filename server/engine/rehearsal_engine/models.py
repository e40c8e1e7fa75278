"""The models on offer, by name. Tokenizers at the start, weights when first needed."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from rehearsal_engine import memory
from rehearsal_engine.loading import LoadError, Source, find, pick_dtype, read_config, read_weights
from rehearsal_engine.tokens import Tokens, end_ids


@dataclass(frozen=True)
class Options:
    """What all models of a process share."""

    device: torch.device
    dtype: str = "auto"
    deterministic: bool = False
    max_model_len: int | None = None


class Served:
    """One model: its files, its tokenizer, and its weights once somebody asked for them."""

    def __init__(self, name: str, text: str, options: Options, announce: Callable[..., None] = lambda **_: None):
        self.name, self.options, self.announce = name, options, announce
        self.source: Source = find(text)
        self.config = read_config(self.source)
        self.tokens = Tokens(self.source)
        self.ends = end_ids(self.source, self.config, self.tokens)
        own = getattr(self.config, "max_position_embeddings", None) or 2048
        self.max_len = min(own, options.max_model_len or own)
        self.vocab_size = self.config.vocab_size
        self.model = None
        self.adapter, self.version = None, 0
        self.retired = False  # other weights took its place: nothing of it is kept in the cache
        self._read = self._from_source
        self._loading = threading.Lock()

    def variant(self, name: str, adapter: str, version: object, read: Callable[[], object] | None = None) -> Served:
        """Other weights of the same architecture and tokenizer; `read` gives them as a `model.Model` when they are first needed."""
        other = copy.copy(self)
        other.name, other.adapter, other.version, other._read = name, adapter, version, read
        other.model, other._loading = None, threading.Lock()
        return other

    @property
    def key(self) -> tuple:
        """What keys and values belong to: other weights never see them."""
        return self.name, self.adapter, self.version

    @property
    def parameters(self) -> int:
        """About how many there are, from the config: known before the weights are read."""
        c = self.config
        hidden, layers = getattr(c, "hidden_size", 0), getattr(c, "num_hidden_layers", 0)
        inner = getattr(c, "intermediate_size", None) or 4 * hidden
        return layers * (4 * hidden * hidden + 3 * hidden * inner) + c.vocab_size * hidden

    @property
    def full_attention(self) -> bool:
        from rehearsal_engine.model import supports

        return supports(self.config)

    def load(self) -> None:
        """Loads the weights; a second caller waits for the first. Throws LoadError."""
        with self._loading:
            if self.model is not None:
                return
            self._check_room()
            self.announce(event="loading", model=self.name, device=str(self.options.device))
            self.take(self._read())

    def take(self, model) -> None:
        """Computes with these weights from now on."""
        model.rowwise_head = self.options.deterministic
        self.model = model

    def _check_room(self) -> None:
        """Refuses what cannot fit before it takes the machine's memory. Twice: as read, and as computed with."""
        dtype = pick_dtype(self.options.dtype, self.options.device, self.config)
        try:
            parameters, _ = memory.count(self.config)
        except Exception:  # whatever transformers throws; reading it will say what is wrong
            return
        needed, free = 2 * parameters * dtype.itemsize, memory.free_bytes(self.options.device)
        if needed > free:
            raise LoadError(
                f"{self.name} needs about {memory.in_words(needed)} to be loaded, and {memory.in_words(free)} are free. "
                "Use a smaller model, --dtype bfloat16, or a machine with more memory."
            )

    def _from_source(self):
        dtype = pick_dtype(self.options.dtype, self.options.device, self.config)
        return read_weights(self.source, self.config, self.options.device, dtype)


class Registry:
    """Models by name; the first is the one for requests that name none."""

    def __init__(self, served: list[Served]):
        self.served = {s.name: s for s in served}
        if len(self.served) < len(served):
            raise LoadError("Two models have one name. Give each its own: --model NAME=PATH.")
        self.trained: dict[str, Served] = {}  # weights in training, as a sampler has them now
        self.saved = None  # api.tinker_saved.Saved: checkpoints, where there is learning

    def find(self, name: str | None) -> Served | None:
        if name is None:
            return next(iter(self.served.values()))
        found = self.served.get(name) or self.trained.get(name)
        return found or (self.saved.find(name) if self.saved else None)

    def all(self) -> Iterator[tuple[str, Served]]:
        """Names and models, the served ones first, checkpoints last."""
        yield from self.served.items()
        yield from self.trained.items()
        if self.saved:
            yield from self.saved.all()

    def base_of(self, served: Served) -> Served:
        """The served model whose weights these were before training."""
        return next(s for s in self.served.values() if s.source == served.source)
