"""Drawing tokens, and what is reported of each draw.

A draw depends on the logits and on (seed, choice index, absolute position), and on nothing else:
a request for n tokens and n requests for one token draw the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

CELLS = 1 << 17  # logits at a time, in float64


@dataclass
class Settings:
    """How one sequence is sampled. The defaults change nothing about the distribution."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0  # 0: off
    min_p: float = 0.0
    seed: int = 0
    choice: int = 0


@dataclass
class Report:
    """A token with its place in the untempered distribution. Logarithms are natural."""

    id: int
    logprob: float | None = None
    entropy: float | None = None
    rank: int | None = None
    top: list[tuple[int, float]] = field(default_factory=list)


def uniform(seed: int, choice: int, position: int) -> float:
    """A number in [0, 1) that belongs to this seed, choice and position."""
    digest = hashlib.blake2b(f"{seed}:{choice}:{position}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 11) * 2.0**-53


def parts(count: int, vocabulary: int) -> list[slice]:
    """Ranges of so many rows of logits, each small enough that its arrays stay in the CPU's cache."""
    size = max(1, CELLS // vocabulary)
    return [slice(at, min(at + size, count)) for at in range(0, count, size)]


class Rows:
    """Logits of several positions, [N, vocabulary], and what is made of them, for all at once.

    Every number of a row depends on that row alone, to the bit.
    """

    def __init__(self, logits: np.ndarray):
        self.logits = logits

    @cached_property
    def shifted(self) -> np.ndarray:
        """The logits in float64, the largest of each row moved to 0."""
        x = self.logits.astype(np.float64)
        x -= x.max(-1, keepdims=True)
        return x

    @cached_property
    def weights(self) -> np.ndarray:
        """Probabilities but for the factor that makes them 1 in all."""
        return np.exp(self.shifted)

    def draw(self, settings: list[Settings], positions: list[int]) -> list[int]:
        """A token a row: inverse of the cumulative distribution, summed in the order of ids."""
        sampled = [row for row, how in enumerate(settings) if how.temperature > 0]
        if not sampled:
            return self.logits.argmax(-1).tolist()  # the lowest id where several are equal
        hows = [settings[row] for row in sampled]
        if all(how.temperature == 1 for how in hows):
            weights = self.weights[sampled]
        else:
            weights = np.exp(self.shifted[sampled] / np.array([[how.temperature] for how in hows]))
        for row, how in zip(weights, hows):
            narrowed(row, how)
        total = np.cumsum(weights, axis=-1)
        uniforms = [uniform(how.seed, how.choice, positions[row]) for row, how in zip(sampled, hows)]
        at = np.minimum(np.array(uniforms) * total[:, -1], np.nextafter(total[:, -1], 0))
        drawn = (total <= at[:, None]).sum(-1)
        if len(sampled) == len(settings):
            return drawn.tolist()
        tokens = self.logits.argmax(-1)
        tokens[sampled] = drawn
        return tokens.tolist()

    def reports(self, tokens: list[int], tops: list[int]) -> list[Report]:
        """Log-probability, entropy (nats), rank (from 1) and the likeliest alternatives of each row's token."""
        rows = np.arange(len(tokens))
        total = self.weights.sum(-1, keepdims=True)
        x = self.shifted - np.log(total)
        p = self.weights / total
        with np.errstate(invalid="ignore"):  # 0 × -∞ where a logit is -∞
            entropies = -np.where(p > 0, p * x, 0).sum(-1)
        own = x[rows, tokens]
        ranks = (x > own[:, None]).sum(-1) + 1
        best = likeliest(x, max(tops))
        return [
            Report(*told, top[:count])
            for *told, top, count in zip(tokens, own.tolist(), entropies.tolist(), ranks.tolist(), best, tops)
        ]


def narrowed(weights: np.ndarray, settings: Settings) -> None:
    """Zeroes what top_k, then top_p, then min_p leave out. Of equal tokens the lower id stays."""
    cut_k = 0 < settings.top_k < weights.shape[0]
    if cut_k or settings.top_p < 1:
        order = np.argsort(-weights, kind="stable")
        keep = settings.top_k if cut_k else order.shape[0]
        if settings.top_p < 1:
            mass = np.cumsum(weights[order[:keep]])
            keep = min(keep, int(np.searchsorted(mass, settings.top_p * mass[-1])) + 1)
        weights[order[keep:]] = 0
    if settings.min_p > 0:
        weights[weights < settings.min_p * weights.max()] = 0


def likeliest(x: np.ndarray, count: int) -> list[list[tuple[int, float]]]:
    """The `count` largest of each row with their ids, largest first, of equal ones the lower id first."""
    count = min(count, x.shape[1])
    if not count:
        return [[] for _ in x]
    floors = np.partition(x, -count, axis=-1)[:, -count]
    out = []
    for row, floor in zip(x, floors):
        ids = np.flatnonzero(row >= floor)
        ids = ids[np.argsort(-row[ids], kind="stable")][:count]
        out.append(list(zip(ids.tolist(), row[ids].tolist())))
    return out
