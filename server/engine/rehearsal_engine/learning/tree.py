"""The samples of a batch laid out as a trie of their shared prefixes, each token once.

Rollouts of a group share their prompt, and the outputs of a rollout share its history. Nodes are
numbered depth-first, so the tokens after an edge (a chain without branches) are one range: what
attends to the keys of an edge is a slice, and nothing needs a mask or a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Edge:
    """Nodes first … stop - 1, a chain without branches; stop … end - 1 are all that continue it."""

    first: int
    stop: int
    end: int


@dataclass(frozen=True)
class Tree:
    ids: np.ndarray  # [nodes] token of each node
    positions: np.ndarray  # [nodes] number of tokens before it on its path
    edges: list[Edge]
    places: list[np.ndarray]  # for each sample, in the order given, the node of each of its tokens

    @property
    def nodes(self) -> int:
        return len(self.ids)


def common(a: np.ndarray, b: np.ndarray) -> int:
    """Length of the common prefix."""
    length = min(len(a), len(b))
    different = a[:length] != b[:length]
    at = int(different.argmax()) if length else 0
    return at if length and different[at] else length


def in_order(samples: Sequence[np.ndarray]) -> list[int]:
    """Indices of the samples such that neighbours share the most: the order of words in a dictionary."""
    return sorted(range(len(samples)), key=lambda i: samples[i].tolist())


def build(samples: Sequence[np.ndarray]) -> Tree:
    """The trie of samples, each an array of token ids with at least one token."""
    places: list[np.ndarray] = [np.empty(0, np.int64)] * len(samples)
    ids, positions, parents = [], [], []
    total = sum(map(len, samples))
    end = np.zeros(total, np.int64)  # node after the last descendant
    count, path, before = 0, np.empty(0, np.int64), np.empty(0, np.int64)
    for index in in_order(samples):
        sample = samples[index]
        shared = common(before, sample)
        fresh = np.arange(count, count + len(sample) - shared)
        if len(fresh):
            end[path[shared:]] = count
            ids.append(sample[shared:])
            positions.append(np.arange(shared, len(sample)))
            parents.append(np.concatenate([path[shared - 1 : shared] if shared else [-1], fresh[:-1]]))
            count += len(fresh)
            path, before = np.concatenate([path[:shared], fresh]), sample
        places[index] = path[: len(sample)]
    end[path] = count
    return Tree(np.concatenate(ids), np.concatenate(positions), chains(np.concatenate(parents), end[:count]), places)


def chains(parents: np.ndarray, end: np.ndarray) -> list[Edge]:
    """Maximal chains: a node continues the one before where it is the only child."""
    count = len(parents)
    same = np.zeros(count, bool)
    same[1:] = (parents[1:] == np.arange(count - 1)) & (end[1:] == end[:-1])
    starts = np.flatnonzero(~same)
    stops = np.append(starts[1:], count)
    return [Edge(int(a), int(b), int(end[a])) for a, b in zip(starts, stops)]


def split(samples: Sequence[np.ndarray], limit: int) -> list[list[int]]:
    """Indices of samples in parts whose tries have at most `limit` nodes, one sample at least.

    Neighbours stay together, so that little is computed twice: only the prefix that a part shares
    with the one before.
    """
    parts: list[list[int]] = []
    before, nodes = np.empty(0, np.int64), 0
    for index in in_order(samples):
        sample = samples[index]
        added = len(sample) - common(before, sample)
        if not parts or nodes + added > limit:
            parts.append([])
            nodes, added = 0, len(sample)
        parts[-1].append(index)
        nodes += added
        before = sample
    return parts
