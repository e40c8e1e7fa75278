"""Drawing tokens, and what is reported of each draw.

A draw depends on the logits and on (seed, choice index, absolute position), and on nothing else:
a request for n tokens and n requests for one token draw the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np


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


def draw(logits: np.ndarray, settings: Settings, position: int) -> int:
    """The token at `position`: inverse of the cumulative distribution, summed in the order of ids."""
    if settings.temperature == 0:
        return int(logits.argmax())  # the lowest id where several are equal
    weights = logits.astype(np.float64)
    weights -= weights.max()
    weights /= settings.temperature
    np.exp(weights, out=weights)
    narrowed(weights, settings)
    total = np.cumsum(weights)
    at = uniform(settings.seed, settings.choice, position) * total[-1]
    return int(np.searchsorted(total, at, side="right"))


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


def report(logits: np.ndarray, token: int, top: int) -> Report:
    """Log-probability, entropy (nats), rank (from 1) and the `top` likeliest alternatives."""
    x = logits.astype(np.float64)
    x -= x.max()
    p = np.exp(x)
    total = p.sum()
    x -= np.log(total)
    p /= total
    with np.errstate(invalid="ignore"):
        entropy = -float(np.sum(np.where(p > 0, p * x, 0)))
    rank = int((x > x[token]).sum()) + 1
    return Report(token, float(x[token]), entropy, rank, likeliest(x, top))


def likeliest(x: np.ndarray, count: int) -> list[tuple[int, float]]:
    """The `count` largest with their ids, largest first, of equal ones the lower id first."""
    count = min(count, x.shape[0])
    if not count:
        return []
    floor = x[np.argpartition(-x, count - 1)[:count]].min()
    ids = np.flatnonzero(x >= floor)
    ids = ids[np.argsort(-x[ids], kind="stable")][:count]
    return [(int(i), float(x[i])) for i in ids]
