"""Sampling and scoring in the Tinker protocol, by the same scheduler as the OpenAI routes."""

from __future__ import annotations

import asyncio
import math
import secrets

from rehearsal_engine.api.errors import ApiError
from rehearsal_engine.api.generate import Engine, Job
from rehearsal_engine.api.tinker_data import of, refuse
from rehearsal_engine.api.tinker_proto import sample_response
from rehearsal_engine.api.tinker_state import Future, failure
from rehearsal_engine.models import Served
from rehearsal_engine.sampling import Settings
from rehearsal_engine.sequence import Sequence

UNSUPPORTED = (
    "topk_prompt_logprobs", "topk_sample_logprobs", "target_prompt_logprobs", "prompt_alt_tokens_k",
    "prompt_logprobs_last_n", "record_stability_info",
)  # fmt: skip
REMEMBERED = 4096  # answers kept for a client that sends a request again
ROLLOUT = 1  # priority: after a person who steps


async def asample(tinker, body: dict) -> Future:
    session = of(body, "sampling_session_id", str, None)
    key = (session, body.get("seq_id")) if session and body.get("seq_id") is not None else None
    if key in tinker.sampled:
        return tinker.sampled[key]
    refuse(body, *UNSUPPORTED)
    served = await weights(tinker, body, session)
    if key in tinker.sampled:  # the same request came while the weights were loaded
        return tinker.sampled[key]
    job = sequences(tinker.engine, served, body)
    ids = [secrets.token_hex(8) for _ in job.sequences]
    future = tinker.futures.new(sample_sequence_ids=ids)
    if key:
        tinker.sampled[key] = future
        while len(tinker.sampled) > REMEMBERED:
            del tinker.sampled[next(iter(tinker.sampled))]
    future.task = asyncio.create_task(run(tinker, future, job))  # kept: a task without reference may vanish
    return future


async def weights(tinker, body: dict, session: str | None) -> Served:
    if session is not None:
        return tinker.samplers.find(session)[0]
    path = of(body, "model_path", str, None)
    if path is None:
        return await tinker.engine.loaded(tinker.base(of(body, "base_model", str)).name)
    return await tinker.samplers.load(path, path)


def sequences(engine: Engine, served: Served, body: dict) -> Job:
    prompt = prompt_of(of(body, "prompt", dict))
    params = of(body, "sampling_params", dict, {})
    count = of(body, "num_samples", int, 1)
    if not 1 <= count <= 1024:
        raise ApiError(f"num_samples must be between 1 and 1024; it is {count}.", "num_samples")
    settings = dict(
        temperature=number(params, "temperature", 1.0, 0, 100), top_p=number(params, "top_p", 1.0, 0, 1),
        top_k=max(of(params, "top_k", int, -1), 0),
    )  # fmt: skip
    unknown = [n for n, v in params.items() if v is not None and n not in (*settings, "max_tokens", "seed", "stop")]
    if unknown:
        raise ApiError(f"sampling_params.{unknown[0]} is not supported by this engine.", "sampling_params")
    room = served.max_len - len(prompt)
    most = of(params, "max_tokens", int, None)
    array = engine._check(served, prompt, 1)
    if most is not None and most < 1:
        raise ApiError("max_tokens must be at least 1.", "sampling_params")
    most = min(room, most) if most is not None else room
    ends, stops = stop_of(params.get("stop"), served)
    seed = of(params, "seed", int, None)
    seed = secrets.randbits(63) if seed is None else seed
    scored = 0 if of(body, "prompt_logprobs", bool, False) else None
    job = Job(engine.scheduler)
    for choice in range(count):
        own = Settings(seed=seed, choice=choice, **settings)
        job.sequences.append(
            Sequence(
                served, prompt, array, own, most, served.max_len, ends, stops, False, 0,
                scored if choice == 0 else None, job.emit, False, ROLLOUT,
            )  # fmt: skip
        )
    return job


def prompt_of(prompt: dict) -> list[int]:
    ids: list[int] = []
    for chunk in of(prompt, "chunks", list):
        if not isinstance(chunk, dict) or chunk.get("type", "encoded_text") != "encoded_text":
            raise ApiError("Only text tokens are supported in a prompt.", "prompt")
        ids += of(chunk, "tokens", list)
    if not all(type(i) is int for i in ids):
        raise ApiError("Tokens of a prompt must be integers.", "prompt")
    return ids


def number(params: dict, name: str, default: float, low: float, high: float) -> float:
    value = float(of(params, name, (int, float), default))
    if not low <= value <= high or not math.isfinite(value):
        raise ApiError(f"{name} must be between {low} and {high}; it is {value}.", "sampling_params")
    return value


def stop_of(stop, served: Served) -> tuple[frozenset[int], list[str]]:
    """End tokens and stop strings. None keeps the model's own ends; a list replaces them, so [] is no stop at all."""
    if stop is None:
        return frozenset(served.ends), []
    stops = stop if isinstance(stop, list) else [stop]
    if all(isinstance(s, str) and s for s in stops):
        return frozenset(), list(stops)
    if all(type(s) is int for s in stops):
        return frozenset(stops), []
    raise ApiError("stop must be a string, a list of strings, or a list of token ids.", "sampling_params")


async def run(tinker, future: Future, job: Job) -> None:
    try:
        await job.finish()
        done = [sequence_of(s) for s in job.sequences]
        first = job.sequences[0]
        prompt = None
        if first.prompt_logprobs is not None:
            prompt = [math.nan, *(r.logprob for r in first.prompt_reports)]
        tinker.futures.finish(future, sample_response(done, prompt, first.cached))
    except Exception as error:
        tinker.futures.finish(future, failure(error))


def sequence_of(sequence: Sequence) -> tuple[bool, list[int], list[float]]:
    """Whether the limit ended it, the tokens with the end token, and their log-probabilities."""
    reports = [step.report for step in sequence.steps if step.report is not None]
    limited = sequence.steps[-1].finish_reason == "length"
    return limited, [r.id for r in reports], [r.logprob for r in reports]
