"""From a request to sequences of the scheduler, and from their steps back."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator

import numpy as np

from rehearsal_engine.api.errors import ApiError
from rehearsal_engine.api.schemas import Generation
from rehearsal_engine.loading import LoadError
from rehearsal_engine.models import Registry, Served
from rehearsal_engine.sampling import Settings
from rehearsal_engine.scheduler import Scheduler
from rehearsal_engine.sequence import Sequence, Step


class Engine:
    """What the routes share."""

    def __init__(self, registry: Registry, scheduler: Scheduler):
        self.registry, self.scheduler = registry, scheduler

    def find(self, name: str | None) -> Served:
        """The model of that name, its weights not necessarily loaded."""
        served = self.registry.find(name)
        if served is None:
            offered = ", ".join(self.registry.served)
            message = f"The model {name!r} does not exist. Offered: {offered}."
            raise ApiError(message, "model", 404, "model_not_found")
        return served

    async def loaded(self, name: str | None) -> Served:
        served = self.find(name)
        if served.model is None:
            try:
                await asyncio.to_thread(served.load)
            except LoadError as error:
                raise ApiError(str(error), "model", 503, "model_not_loaded") from error
        return served

    def sequences(
        self, served: Served, request: Generation, prompts: list[list[int]], max_tokens: int, logprobs: int | None
    ) -> Job:
        """One sequence for each prompt and choice, in the order of the answer."""
        prompt_logprobs = request.prompt_logprobs
        if getattr(request, "echo", False) and request.logprobs is not None:
            prompt_logprobs = max(request.logprobs, prompt_logprobs or 0)
        seed = request.seed if request.seed is not None else secrets.randbits(63)
        job = Job(self.scheduler)
        ends = frozenset(request.stop_token_ids) | frozenset([] if request.ignore_eos else served.ends)
        for prompt in prompts:
            array = self._check(served, prompt, max_tokens)
            for choice in range(request.n):
                settings = Settings(
                    request.temperature, request.top_p, max(request.top_k, 0), request.min_p, seed, choice
                )
                sequence = Sequence(
                    served, prompt, array, settings, max_tokens, served.max_len, ends, request.stops,
                    request.skip_special_tokens, logprobs, prompt_logprobs, job.emit, request.stream, request.priority,
                )  # fmt: skip
                job.sequences.append(sequence)
        return job

    def _check(self, served: Served, prompt: list[int], max_tokens: int) -> np.ndarray:
        if not prompt:
            raise ApiError("The prompt is empty: at least one token is needed.", "prompt")
        array = check_ids(served, prompt, "prompt")
        room = served.max_len - (1 if max_tokens else 0)
        if len(prompt) > room:
            message = (
                f"The prompt has {len(prompt)} tokens, and the context of {served.name} is {served.max_len} tokens"
                f"{', one of them to generate' if max_tokens else ''}. Shorten the prompt."
            )
            raise ApiError(message, "prompt", code="context_length_exceeded")
        needed = served.model.line_bytes(len(prompt) + 1)
        if needed > self.scheduler.cache.limit:
            message = f"The prompt needs {needed >> 20} MiB of keys and values. Start the engine with a larger --cache-mib."
            raise ApiError(message, "prompt", code="context_length_exceeded")
        return array


def check_ids(served: Served, ids: list[int], param: str) -> np.ndarray:
    """The ids as an array; throws ApiError where one is not in the vocabulary."""
    try:
        array = np.array(ids, dtype=np.int32)
    except OverflowError:
        array = None
    if array is None or (len(ids) and not 0 <= array.min() <= array.max() < served.vocab_size):
        wrong = next(i for i in ids if not 0 <= i < served.vocab_size)
        raise ApiError(f"Token id {wrong} is not in the vocabulary of {served.vocab_size} tokens.", param)
    return array


class Job:
    """The sequences of one request; their steps arrive from the engine's thread."""

    def __init__(self, scheduler: Scheduler):
        self.scheduler, self.sequences = scheduler, []
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[tuple[Sequence, Step]] = asyncio.Queue()

    def emit(self, sequence: Sequence, step: Step) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, (sequence, step))

    async def steps(self) -> AsyncIterator[tuple[int, Sequence, Step]]:
        """(index, sequence, step), as they come; without streaming only the last of each."""
        numbers = {sequence: number for number, sequence in enumerate(self.sequences)}
        left = len(self.sequences)
        self.scheduler.submit(self.sequences)
        try:
            while left:
                sequence, step = await self._queue.get()
                if step.error:
                    message = f"The engine failed at this request: {step.error}. Its log has the details."
                    raise ApiError(message, status=500, code="engine_error")
                left -= step.finish_reason is not None
                yield numbers[sequence], sequence, step
        finally:
            if left:
                self.scheduler.cancel(self.sequences)

    async def finish(self) -> None:
        async for _ in self.steps():
            pass

    def usage(self) -> dict:
        """Prompts count once, whatever `n` is."""
        prompts = {id(s.prompt): len(s.prompt) for s in self.sequences}
        prompt, completion = sum(prompts.values()), sum(len(s.tokens) - len(s.prompt) for s in self.sequences)
        cached = {id(s.prompt): s.cached for s in reversed(self.sequences)}
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": sum(cached.values())},
        }
