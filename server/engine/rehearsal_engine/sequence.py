"""One sequence: what was asked for, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rehearsal_engine.sampling import Report, Settings
from rehearsal_engine.tokens import GrowingText


@dataclass
class Step:
    """One generated token as it is told to the client, or the end without a token."""

    report: Report | None
    text: str
    finish_reason: str | None = None
    stop_reason: int | str | None = None
    error: str | None = None


class StopText:
    """Text that grows until a stop string; what could be the start of one is held back."""

    def __init__(self, stops: list[str]):
        self.stops, self._pending = stops, ""

    def add(self, piece: str) -> tuple[str, str | None]:
        """Returns the text to release and the stop string found."""
        if not self.stops:
            return piece, None
        self._pending += piece
        found = [(at, stop) for stop in self.stops if (at := self._pending.find(stop)) >= 0]
        if found:
            at, stop = min(found)
            return self._pending[:at], stop
        held = max((n for stop in self.stops for n in range(1, len(stop)) if self._pending.endswith(stop[:n])), default=0)
        out, self._pending = self._pending[: len(self._pending) - held], self._pending[len(self._pending) - held :]
        return out, None

    def rest(self) -> str:
        out, self._pending = self._pending, ""
        return out


@dataclass(eq=False)
class Sequence:
    """A prompt that is continued by `max_tokens` tokens, 0 to score it only."""

    model: object  # models.Served
    prompt: list[int]
    array: np.ndarray  # the prompt again, int32
    settings: Settings
    max_tokens: int
    limit: int  # most tokens in all
    ends: frozenset[int]
    stops: list[str]
    skip_special: bool
    logprobs: int | None  # alternatives reported for each token; None: nothing is reported
    prompt_logprobs: int | None  # the same for the prompt
    emit: Callable[[Sequence, Step], None]
    stream: bool = False
    priority: int = 0

    line: object = None
    computed: int = 0
    cached: int = 0
    arrival: int = 0
    cancelled: bool = False
    finished: bool = False
    prompt_reports: list[Report] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokens = list(self.prompt)
        self._text = GrowingText()
        self._stop = StopText(self.stops)

    @property
    def remaining(self) -> int:
        return len(self.tokens) - self.computed

    @property
    def prefilling(self) -> bool:
        return self.computed < len(self.prompt)

    def rows(self, count: int) -> slice | None:
        """The rows whose logits are needed of the next `count` tokens."""
        if self.prompt_logprobs is not None and self.prefilling:
            return slice(0, count)
        return slice(count - 1, count) if self.remaining == count else None

    def accept(self, report: Report) -> Step:
        """Takes the next token and decides whether the sequence ends."""
        token = report.id
        self.tokens.append(token)
        step = Step(report, "")
        if token in self.ends:
            step.finish_reason, step.stop_reason = "stop", token
            step.text = self._stop.rest()
        else:
            hidden = self.skip_special and token in self.model.tokens.special
            piece = "" if hidden else self._text.add(self.model.tokens.bytes_of(token))
            step.text, stop = self._stop.add(piece)
            if stop is not None:
                step.finish_reason, step.stop_reason = "stop", stop
            elif len(self.tokens) - len(self.prompt) >= self.max_tokens or len(self.tokens) >= self.limit:
                step.finish_reason = "length"
                step.text += self._stop.rest()
        self.finished = step.finish_reason is not None
        self.steps.append(step)
        return step

    def end(self, error: str | None = None) -> Step:
        """Ends without a token: scored, cancelled or failed."""
        self.finished = True
        step = Step(None, "", finish_reason="length", error=error)
        return step
