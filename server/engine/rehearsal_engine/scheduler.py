"""Who is computed when: one thread, one loop, continuous batching.

Each round takes the most urgent sequences (lower `priority` first, then the earlier), one token of
each that is being continued and a bounded number of prompt tokens, in one forward pass. A long
prompt therefore delays others by a chunk and not by its length, and a client that is gone is
noticed within one token.
"""

from __future__ import annotations

import itertools
import threading
import time
import traceback

import numpy as np
import torch

from rehearsal_engine.blocks import BLOCK, block
from rehearsal_engine.metrics import Metrics
from rehearsal_engine.model import Segment
from rehearsal_engine.radix import PrefixCache, common
from rehearsal_engine.sampling import Report, Rows, parts
from rehearsal_engine.sequence import Sequence, Step

CHUNK_ALONE, CHUNK_SHARED = 1024, 256  # prompt tokens a round, without and with others waiting
SHARED_PREFIX = 16  # worth waiting for when another sequence is computing the same prefix
LOGIT_CELLS = 1 << 25  # most logits at a time when a prompt is scored


class Scheduler(threading.Thread):
    """Runs sequences of all models until `stop`."""

    def __init__(
        self, cache: PrefixCache, max_batch: int = 32, deterministic: bool = False, threads: int | None = None
    ):
        super().__init__(name="engine", daemon=True)
        self.threads = threads  # of a forward pass on a CPU; None: PyTorch's own choice
        self.cache, self.max_batch, self.deterministic = cache, max_batch, deterministic
        self.metrics = Metrics()
        self.alive: list[Sequence] = []
        self._inbox: list[Sequence] = []
        self._outbox: list[tuple[Sequence, Step]] = []
        self._retired: list[object] = []
        self._wake = threading.Condition()
        self._count = itertools.count()
        self._stopping = False

    # Called from other threads.

    def submit(self, sequences: list[Sequence]) -> None:
        with self._wake:
            for sequence in sequences:
                sequence.arrival = next(self._count)
            self._inbox += sequences
            self._wake.notify()

    def cancel(self, sequences: list[Sequence]) -> None:
        """The client is gone: no further token is computed after the one under way."""
        with self._wake:
            for sequence in sequences:
                sequence.cancelled = True
            self._wake.notify()

    def retire(self, served) -> None:
        """Frees what is cached of a model whose place was taken; sequences under way go on to their end."""
        with self._wake:
            served.retired = True
            self._retired.append(served.key)
            self._wake.notify()

    def stop(self) -> None:
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self.join(timeout=10)

    def counts(self) -> tuple[int, int]:
        """Sequences running and waiting."""
        alive = [*self.alive, *self._inbox]
        running = sum(s.line is not None for s in alive)
        return running, len(alive) - running

    # The engine's own thread.

    def run(self) -> None:
        if self.threads:
            torch.set_num_threads(self.threads)
        while True:
            with self._wake:
                while not (self._inbox or self.alive or self._stopping or self._retired):
                    self._wake.wait()
                if self._stopping:
                    return
                if self._inbox:
                    self.alive = sorted([*self.alive, *self._inbox], key=lambda s: (s.priority, s.arrival))
                    self._inbox = []
                retired, self._retired = self._retired, []
            for key in retired:
                self.cache.forget(key)
            self._drop_cancelled()
            self._round()

    def _drop_cancelled(self) -> None:
        for sequence in [s for s in self.alive if s.cancelled]:
            self.metrics.requests_aborted += 1
            self._leave(sequence)

    def _round(self) -> None:
        picked = self.alive[: self.max_batch]
        for served in {s.model: None for s in picked}:
            group = [s for s in picked if s.model is served]
            work: list[tuple[Sequence, int]] = []
            budget = CHUNK_ALONE if len(group) == 1 else CHUNK_SHARED
            for sequence in group:
                if sequence.line is None and not self._admit(sequence, group):
                    continue
                count = min(sequence.remaining, max(budget, 0)) if sequence.remaining > 1 else 1
                if sequence.prompt_logprobs is not None and sequence.prefilling:
                    count = min(count, max(BLOCK, LOGIT_CELLS // served.model.vocab_size))
                if count:
                    budget -= count if count > 1 else 0
                    work.append((sequence, count))
            self._compute(served, work)

    def _admit(self, sequence: Sequence, group: list[Sequence]) -> bool:
        """Gives a sequence its line, with the longest cached prefix; False: it waits."""
        model, key, prompt = sequence.model.model, sequence.model.key, sequence.array
        matched, source = 0, None
        if model.prefix_cache and sequence.prompt_logprobs is None:
            matched, source = self.cache.match(key, prompt)
            for other in group:
                ahead = other.line is not None and other.prefilling
                if ahead and common(other.array, prompt) >= matched + SHARED_PREFIX:
                    return False
        use = min(matched, len(prompt) - 1)  # the last token is computed for its logits
        if source is not None and source.length > use:
            # A step along a path that a longer line knows already: the line of the step before, not a copy.
            source = self.cache.ending(key, prompt[:use]) or source
        if source is not None and not source.busy and source.length in (matched, use):
            self.cache.take(source)  # nothing in it goes beyond the prompt: it is continued in place
            sequence.line = source
        else:
            capacity = model.capacity(min(len(prompt) + min(sequence.max_tokens, 256) + 1, sequence.limit))
            active = [s.line.nbytes for s in self.alive[: self.max_batch] if s.line is not None]
            if active and sum(active) + model.line_bytes(capacity) > self.cache.limit:
                return False
            sequence.line = self._fresh(model, capacity, source, use)
        sequence.computed = sequence.cached = use
        self.metrics.cached_tokens += use
        return True

    def _fresh(self, model, capacity: int, source, use: int):
        line = model.new_line(capacity)
        idle = source is not None and not source.busy
        if idle:
            self.cache.take(source)  # so that making room does not evict it
        self.cache.adopt(line)
        if use:
            line.copy_from(source, use)
        if idle:
            source.busy = False
            self.cache.idle[source] = None
            self.cache.make_room(0)
        return line

    def _compute(self, served, work: list[tuple[Sequence, int]]) -> None:
        batches = [work] if served.model.batching and not self.deterministic else [[item] for item in work]
        for batch in filter(None, batches):
            started = time.perf_counter()
            try:
                for sequence, count in batch:
                    self._ensure_capacity(sequence, count)
                self._forward(served, batch)
            except Exception as error:  # e.g. out of memory: these sequences end, the engine goes on
                traceback.print_exc()
                for sequence in [s for s, _ in batch if s in self.alive]:
                    self._tell(sequence, sequence.end(error=f"{type(error).__name__}: {error}"))
                    self._leave(sequence, keep=False)
            self.metrics.busy_seconds += time.perf_counter() - started
            self._send()

    def _ensure_capacity(self, sequence: Sequence, count: int) -> None:
        line = sequence.line
        if sequence.computed + count > line.capacity:
            self.cache.resize(line, sequence.model.model.capacity(max(len(sequence.tokens), line.capacity * 3 // 2)))

    def _forward(self, served, batch: list[tuple[Sequence, int]]) -> None:
        if self.deterministic:
            sequence, count = batch[0]
            for logits, start, number in self._blocks(served, sequence, count):
                self._draw([(sequence, self._after(sequence, number, logits, start))])
                if sequence.finished:
                    return
            return
        segments = []
        for sequence, count in batch:
            ids = sequence.tokens[sequence.computed : sequence.computed + count]
            segments.append(Segment(sequence.line, sequence.computed, ids, sequence.rows(count)))
        self.metrics.forward_passes += 1
        self.metrics.batched_sequences += len(segments)
        logits = served.model.forward(segments)
        self._draw([
            (sequence, self._after(sequence, count, values, sequence.computed))
            for (sequence, count), values in zip(batch, logits)
        ])  # fmt: skip

    def _blocks(self, served, sequence: Sequence, count: int):
        """The same tokens a block at a time, each a forward pass: see `blocks.py`."""
        size = BLOCK if served.model.batching else 1  # other architectures cannot go back: one by one
        until = sequence.computed + count
        while sequence.computed < until:
            segment, number = block(sequence, until, size)
            self.metrics.forward_passes += 1
            self.metrics.batched_sequences += 1
            [logits] = served.model.forward([segment])
            yield logits, sequence.computed, number

    def _after(self, sequence: Sequence, count: int, logits: torch.Tensor | None, start: int) -> np.ndarray | None:
        """Books `count` computed tokens and reports scored ones; the logits to draw from where the end is reached."""
        line, stop = sequence.line, start + count
        line.tokens[start:stop] = sequence.tokens[start:stop] if count > 1 else sequence.tokens[start]
        line.length = max(line.length, stop)
        if sequence.prefilling:
            self.metrics.prefill_tokens += count
        else:
            self.metrics.decode_tokens += count
        scoring = sequence.prompt_logprobs is not None and sequence.prefilling
        sequence.computed = stop
        values = logits.numpy() if logits is not None else None
        if scoring:
            self._score(sequence, values, sequence.prompt[start + 1 : stop + 1])
        if sequence.remaining:
            return None
        if len(sequence.tokens) == len(sequence.prompt) and sequence.model.model.prefix_cache and sequence.max_tokens > 1:
            self.cache.file(sequence.model.key, line)  # others may share the prompt from now on
        if sequence.max_tokens == 0:
            self._finish(sequence, sequence.end())
            return None
        return values[-1]

    def _score(self, sequence: Sequence, values: np.ndarray, tokens: list[int]) -> None:
        for part in parts(len(tokens), values.shape[1]):
            tops = [sequence.prompt_logprobs] * len(tokens[part])
            sequence.prompt_reports += Rows(values[part]).reports(tokens[part], tops)

    def _draw(self, reached: list[tuple[Sequence, np.ndarray | None]]) -> None:
        """The next token of each sequence that comes with logits."""
        due = [(sequence, row) for sequence, row in reached if row is not None]
        for part in parts(len(due), due[0][1].shape[0]) if due else ():
            sequences = [sequence for sequence, _ in due[part]]
            rows = Rows(np.stack([row for _, row in due[part]]))
            tokens = rows.draw([s.settings for s in sequences], [len(s.tokens) for s in sequences])
            if all(s.logprobs is None for s in sequences):
                told = map(Report, tokens)
            else:
                told = rows.reports(tokens, [s.logprobs or 0 for s in sequences])
            for sequence, report in zip(sequences, told):
                self._accept(sequence, report)

    def _accept(self, sequence: Sequence, report: Report) -> None:
        self.metrics.generated_tokens += 1
        step = sequence.accept(report)
        if sequence.finished:
            self._finish(sequence, step)
        elif sequence.stream:
            self._tell(sequence, step)

    def _finish(self, sequence: Sequence, step: Step) -> None:
        self.metrics.requests_finished += 1
        self._leave(sequence)
        self._tell(sequence, step)

    def _tell(self, sequence: Sequence, step: Step) -> None:
        self._outbox.append((sequence, step))

    def _send(self) -> None:
        """Steps go out when the pass is booked, so that /metrics never lags behind an answer."""
        for sequence, step in self._outbox:
            try:
                sequence.emit(sequence, step)
            except RuntimeError:  # the event loop is closed: the server is going down
                sequence.cancelled = True
        self._outbox.clear()

    def _leave(self, sequence: Sequence, keep: bool = True) -> None:
        self.alive.remove(sequence)
        line, sequence.line = sequence.line, None
        if line is None:
            return
        if keep and sequence.model.model.prefix_cache and not sequence.model.retired:
            self.cache.release(sequence.model.key, line)
        else:
            self.cache.drop(line)
