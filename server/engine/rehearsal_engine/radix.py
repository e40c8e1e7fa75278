"""The prefix cache: which line holds the keys and values of the longest prefix of a prompt.

One radix tree over token ids for each model (and adapter and weight version: the key), whose
leaves are lines. A bound on the bytes of all lines; the line unused for longest goes first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

import numpy as np

from rehearsal_engine.kv import Line


class Node:
    """An edge of the tree: the tokens that lead here, and the lines that end here."""

    __slots__ = ("edge", "parent", "children", "lines")

    def __init__(self, edge: np.ndarray, parent: Node | None):
        self.edge, self.parent = edge, parent
        self.children: dict[int, Node] = {}
        self.lines: set[Line] = set()

    def any_line(self) -> Line:
        """A line that has this node's tokens as prefix; idle ones first."""
        node, busy = self, None
        while True:
            for line in node.lines:
                if not line.busy:
                    return line
                busy = busy or line
            if not node.children:
                assert busy is not None, "a leaf without a line"
                return busy
            node = next(iter(node.children.values()))


def common(a: np.ndarray, b: np.ndarray) -> int:
    """Length of the common prefix of two id arrays."""
    n = min(a.shape[0], b.shape[0])
    differs = a[:n] != b[:n]
    at = int(differs.argmax()) if n else 0
    return at if n and differs[at] else n


class PrefixCache:
    """Lines of all models under one memory bound. Used from the engine's thread alone."""

    def __init__(self, limit_bytes: int):
        self.limit = limit_bytes
        self.bytes = 0
        self.roots: dict[Hashable, Node] = {}
        self.idle: OrderedDict[Line, None] = OrderedDict()  # least recently used first

    def ending(self, key: Hashable, tokens: np.ndarray) -> Line | None:
        """An idle line of exactly these tokens: it can be continued in place, whatever longer ones there are."""
        node, at = self.roots.get(key), 0
        while node is not None and at < tokens.shape[0]:
            node = node.children.get(int(tokens[at]))
            if node is None or common(node.edge, tokens[at:]) < node.edge.shape[0]:
                return None
            at += node.edge.shape[0]
        return None if node is None else next((line for line in node.lines if not line.busy), None)

    def match(self, key: Hashable, tokens: np.ndarray) -> tuple[int, Line | None]:
        """The length of the longest cached prefix, and a line that has it.

        A line that ends there and is idle comes before one that goes on, since it can be
        continued in place.
        """
        node, at = self.roots.get(key), 0
        if node is None:
            return 0, None
        while at < tokens.shape[0]:
            child = node.children.get(int(tokens[at]))
            if child is None:
                break
            same = common(child.edge, tokens[at:])
            at += same
            node = child
            if same < child.edge.shape[0]:
                break
        if node.parent is None:
            return 0, None
        return at, node.any_line()

    def file(self, key: Hashable, line: Line) -> None:
        """Makes what is computed of a line findable (again, after it grew)."""
        tokens = line.tokens[: line.length]
        if not tokens.shape[0]:
            return
        old = line.node
        node = self.roots.setdefault(key, Node(tokens[:0], None))
        at = 0
        if old is not None:
            at = self._depth(old)
            node = old
            if not old.children and old.lines == {line} and old.parent is not None:
                # The usual step: a leaf of one line gets longer, in place.
                start = at - old.edge.shape[0]
                old.edge = tokens[start:]
                return
            old.lines.discard(line)
        while at < tokens.shape[0]:
            child = node.children.get(int(tokens[at]))
            if child is None:
                child = Node(tokens[at:], node)
                node.children[int(tokens[at])] = child
                node, at = child, tokens.shape[0]
                break
            same = common(child.edge, tokens[at:])
            if same < child.edge.shape[0]:
                child = self._split(child, same)
            node, at = child, at + same
        node.lines.add(line)
        line.node = node
        if old is not None and old is not node:
            self._join(old)

    def adopt(self, line: Line) -> None:
        """Counts a new line, which is busy; older idle lines make room for it."""
        self.make_room(line.nbytes)
        self.bytes += line.nbytes

    def resize(self, line: Line, capacity: int) -> None:
        before = line.nbytes
        self.make_room(before // line.capacity * capacity)  # both exist while one is copied
        line.grow(capacity)
        self.bytes += line.nbytes - before

    def take(self, line: Line) -> None:
        """An idle line becomes busy: a sequence goes on writing to it."""
        self.idle.pop(line)
        line.busy = True

    def release(self, key: Hashable, line: Line) -> None:
        """The sequence is done: the line stays as cache, unless another says the same."""
        self.file(key, line)
        line.busy = False
        if line.node is None or any(not other.busy for other in line.node.lines if other is not line):
            self.drop(line)
            return
        self.idle[line] = None
        self.make_room(0)

    def touch(self, line: Line) -> None:
        if line in self.idle:
            self.idle.move_to_end(line)

    def make_room(self, needed: int) -> None:
        """Drops idle lines, least recently used first, until `needed` more bytes fit."""
        while self.idle and self.bytes + needed > self.limit:
            self.drop(next(iter(self.idle)))

    def drop(self, line: Line) -> None:
        self.idle.pop(line, None)
        self.bytes -= line.nbytes
        node, line.node = line.node, None
        if node is not None:
            node.lines.discard(line)
            self._prune(node)

    def forget(self, key: Hashable) -> None:
        """Drops all idle lines of a model whose weights changed."""
        root = self.roots.pop(key, None)
        stack = [root] if root else []
        while stack:
            node = stack.pop()
            stack.extend(node.children.values())
            for line in node.lines:
                line.node = None
                if not line.busy:
                    self.idle.pop(line, None)
                    self.bytes -= line.nbytes
            node.lines, node.children = set(), {}  # no circle of references: memory is free at once

    def _split(self, node: Node, at: int) -> Node:
        upper = Node(node.edge[:at], node.parent)
        node.parent.children[int(node.edge[0])] = upper
        upper.children[int(node.edge[at])] = node
        node.edge, node.parent = node.edge[at:], upper
        return upper

    def _join(self, node: Node) -> None:
        """A node that only passes on is none: a line that grows step by step would leave one at each."""
        if node.parent is None or node.lines or len(node.children) != 1:
            return
        (child,) = node.children.values()
        child.edge, child.parent = np.concatenate((node.edge, child.edge)), node.parent
        node.parent.children[int(child.edge[0])] = child

    def _prune(self, node: Node) -> None:
        while node.parent is not None and not node.lines and not node.children:
            del node.parent.children[int(node.edge[0])]
            node = node.parent

    @staticmethod
    def _depth(node: Node) -> int:
        depth = 0
        while node is not None:
            depth, node = depth + node.edge.shape[0], node.parent
        return depth
