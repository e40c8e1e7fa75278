"""POST /v1/completions."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator

from starlette.requests import Request

from rehearsal_engine.api import logprobs as lp
from rehearsal_engine.api.errors import ApiError, json_response
from rehearsal_engine.api.generate import Engine, Job
from rehearsal_engine.api.http import EventStream, unless_gone
from rehearsal_engine.api.schemas import CompletionRequest, parse_body, read
from rehearsal_engine.models import Served
from rehearsal_engine.sequence import Sequence, Step
from rehearsal_engine.tokens import GrowingText


async def completions(engine: Engine, http: Request):
    request = read(CompletionRequest, parse_body(await http.body()))
    served = await engine.loaded(request.model)
    if request.max_tokens == 0 and not request.echo:
        raise ApiError("max_tokens is 0, which only scores a prompt: send echo: true with it.", "max_tokens")
    if request.echo and request.stream:
        raise ApiError("echo cannot be streamed: send stream: false.", "echo")
    if request.prompt_logprobs is not None and request.stream:
        raise ApiError("prompt_logprobs cannot be streamed: send stream: false.", "prompt_logprobs")
    prompts = await prompt_ids(served, request)
    job = engine.sequences(served, request, prompts, request.max_tokens, request.logprobs)
    head = {"id": f"cmpl-{secrets.token_hex(8)}", "object": "text_completion", "created": int(time.time())}
    head["model"] = served.name
    if request.stream:
        return EventStream(http, stream(head, served, request, job))
    await unless_gone(http, job.finish())
    choices = [choice(served, request, n, s) for n, s in enumerate(job.sequences)]
    return json_response({**head, "choices": choices, "usage": job.usage()})


async def prompt_ids(served: Served, request: CompletionRequest) -> list[list[int]]:
    """The prompts as ids: text, ids, or a list of either."""
    prompt = request.prompt
    if isinstance(prompt, str) or is_ids(prompt):
        prompt = [prompt]
    elif not isinstance(prompt, list) or not prompt or not all(isinstance(p, str) or is_ids(p) for p in prompt):
        raise ApiError("prompt must be text, a list of token ids, or a list of either.", "prompt")
    if len(prompt) > 256:
        raise ApiError(f"{len(prompt)} prompts in one request; at most 256.", "prompt")
    encode, special = served.tokens.encode, request.add_special_tokens
    return [await asyncio.to_thread(encode, p, special) if isinstance(p, str) else p for p in prompt]


def is_ids(prompt: object) -> bool:
    """A list of integers and nothing else (true is no integer here); fast for thousands."""
    return isinstance(prompt, list) and set(map(type, prompt)) == {int}


def choice(served: Served, request: CompletionRequest, number: int, sequence: Sequence) -> dict:
    reports, pieces = lp.told(sequence.steps)
    text = "".join(step.text for step in sequence.steps)
    if request.echo:
        growing = GrowingText()
        before = [growing.add(served.tokens.bytes_of(token)) for token in sequence.prompt]
        text = growing.text + text
        reports, pieces = [*lp.of_prompt(sequence), *reports], [*before, *pieces]
    last = sequence.steps[-1] if sequence.steps else Step(None, "", "length")
    as_ids = request.return_tokens_as_token_ids
    return {
        "index": number,
        "text": text,
        "logprobs": None if request.logprobs is None else lp.legacy(served.tokens, reports, pieces, as_ids),
        "finish_reason": last.finish_reason,
        "stop_reason": last.stop_reason,
        "token_ids": sequence.tokens[len(sequence.prompt) :] if request.return_token_ids else None,
        "prompt_token_ids": sequence.prompt if request.return_token_ids else None,
        "prompt_logprobs": lp.prompt_field(served.tokens, sequence, request.prompt_logprobs),
    }


async def stream(head: dict, served: Served, request: CompletionRequest, job: Job) -> AsyncIterator[dict]:
    """A chunk a token; then, where asked for, one with the usage and no choices."""
    offsets = [0] * len(job.sequences)
    started = [False] * len(job.sequences)
    async for number, sequence, step in job.steps():
        logs = None
        if request.logprobs is not None:
            reports, pieces = lp.told([step])
            logs = lp.legacy(served.tokens, reports, pieces, request.return_tokens_as_token_ids, offsets[number])
        offsets[number] += len(step.text)
        part = {
            "index": number,
            "text": step.text,
            "logprobs": logs,
            "finish_reason": step.finish_reason,
            "stop_reason": step.stop_reason,
        }
        if request.return_token_ids:
            part["token_ids"] = [step.report.id] if step.report else []
            part["prompt_token_ids"] = None if started[number] else sequence.prompt
        started[number] = True
        yield {**head, "choices": [part]}
    if request.stream_options.include_usage:
        yield {**head, "choices": [], "usage": job.usage()}
