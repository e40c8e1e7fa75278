"""Aligned blocks of tokens: what deterministic mode computes in one forward pass.

A block is computed from its first token on, even where that is known already, and is filled up with
padding that nothing sees. So the numbers of a token depend on its position and on the tokens before
it, and not on what was cached or how it came to be computed.
"""

from __future__ import annotations

from rehearsal_engine.model import Segment
from rehearsal_engine.sequence import Sequence

BLOCK = 16  # tokens of a forward pass in deterministic mode; divides kv.GRAIN


def block(sequence: Sequence, until: int, size: int) -> tuple[Segment, int]:
    """The block that holds the next token, always of one shape for one position, and how many tokens are new in it.

    `until`: position behind the last token that is to be computed.
    """
    first = sequence.computed - sequence.computed % size
    ids = sequence.tokens[first : min(first + size, until)]
    number = first + len(ids) - sequence.computed
    rows = sequence.rows(number)
    if rows is not None:
        shift = sequence.computed - first
        rows = slice(rows.start + shift, rows.stop + shift)
    return Segment(sequence.line, first, ids + [0] * (size - len(ids)), rows), number
