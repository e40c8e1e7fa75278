"""POST /v1/chat/completions, and messages to ids for it and for /tokenize."""

from __future__ import annotations

import asyncio
import copy
import json
import secrets
import time
from collections.abc import AsyncIterator

from starlette.requests import Request

from rehearsal_engine.api import logprobs as lp
from rehearsal_engine.api.errors import ApiError, json_response
from rehearsal_engine.api.generate import Engine, Job
from rehearsal_engine.api.http import EventStream, unless_gone
from rehearsal_engine.api.schemas import ChatRequest, TokenizeChat, parse_body, read
from rehearsal_engine.api.toolcalls import CallSplitter
from rehearsal_engine.models import Served
from rehearsal_engine.sequence import Sequence

ROLES = {"system", "developer", "user", "assistant", "tool"}
RESERVED = {"messages", "conversation", "tools", "tokenize", "chat_template", "add_generation_prompt", "continue_final_message"}


def render(served: Served, request: ChatRequest | TokenizeChat) -> list[int]:
    """The ids of a conversation in the model's template. Throws ApiError."""
    if not served.tokens.has_template:
        message = f"{served.name} has no chat template. Use /v1/completions, or a model with a template."
        raise ApiError(message, "messages")
    if request.continue_final_message and request.add_generation_prompt:
        # vLLM wants add_generation_prompt: false with it; the default is no contradiction, saying both is.
        if "add_generation_prompt" in request.model_fields_set:
            message = "continue_final_message and add_generation_prompt exclude one another."
            raise ApiError(message, "continue_final_message")
    if reserved := RESERVED & request.chat_template_kwargs.keys():
        raise ApiError(f"chat_template_kwargs must not set {min(reserved)}.", "chat_template_kwargs")
    messages = [plain(message, number) for number, message in enumerate(request.messages)]
    tools = None if getattr(request, "tool_choice", "auto") == "none" else request.tools
    try:
        return served.tokens.chat(
            messages,
            tools,
            add_generation_prompt=request.add_generation_prompt and not request.continue_final_message,
            continue_final_message=request.continue_final_message,
            **request.chat_template_kwargs,
        )
    except Exception as error:  # a template is a program: it throws what it likes
        reason = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        raise ApiError(f"The chat template of {served.name} refuses these messages: {reason}.", "messages") from error


def plain(message: dict, number: int) -> dict:
    """A message as templates expect it: content as text, arguments of calls as objects."""
    where = f"messages.{number}"
    role = message.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise ApiError(f"{where}.role must be one of {', '.join(sorted(ROLES))}.", f"{where}.role")
    message = copy.deepcopy(message)
    content = message.get("content")
    if isinstance(content, list):
        if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
            raise ApiError(f"{where}.content: only text parts are supported.", f"{where}.content")
        message["content"] = "".join(part["text"] for part in content)
    elif content is not None and not isinstance(content, str):
        raise ApiError(f"{where}.content must be text.", f"{where}.content")
    elif content is None:
        message["content"] = ""
    calls = message.get("tool_calls") or []
    for call in calls if isinstance(calls, list) else [calls]:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise ApiError(f"{where}.tool_calls: each call needs function.name.", f"{where}.tool_calls")
        if isinstance(function.get("arguments"), str):
            try:
                function["arguments"] = json.loads(function["arguments"] or "{}")
            except (ValueError, RecursionError):
                pass  # a call that was never valid stays as it was written
    if not calls:
        message.pop("tool_calls", None)
    return message


async def chat(engine: Engine, http: Request):
    request = read(ChatRequest, parse_body(await http.body()))
    served = await engine.loaded(request.model)
    if request.top_logprobs and not request.logprobs:
        raise ApiError("top_logprobs needs logprobs: true.", "top_logprobs")
    if request.prompt_logprobs is not None and request.stream:
        raise ApiError("prompt_logprobs cannot be streamed: send stream: false.", "prompt_logprobs")
    prompt = await asyncio.to_thread(render, served, request)
    most = request.max_completion_tokens if request.max_completion_tokens is not None else request.max_tokens
    if most == 0:
        raise ApiError("At least one token must be generated; /v1/completions with echo scores.", "max_tokens")
    job = engine.sequences(
        served, request, [prompt], most or served.max_len, request.top_logprobs if request.logprobs else None
    )
    head = {"id": f"chatcmpl-{secrets.token_hex(8)}", "object": "chat.completion", "created": int(time.time())}
    head["model"] = served.name
    if request.stream:
        return EventStream(http, stream(head, served, request, job, prompt))
    await unless_gone(http, job.finish())
    answer = {**head, "choices": [choice(served, request, n, s) for n, s in enumerate(job.sequences)]}
    answer["usage"] = job.usage()
    answer["prompt_logprobs"] = lp.prompt_field(served.tokens, job.sequences[0], request.prompt_logprobs)
    answer["prompt_token_ids"] = prompt if request.return_token_ids else None
    return json_response(answer)


def choice(served: Served, request: ChatRequest, number: int, sequence: Sequence) -> dict:
    text = "".join(step.text for step in sequence.steps)
    calls: list[dict] = []
    if request.tools and request.tool_choice != "none":
        splitter = CallSplitter()
        content, calls = splitter.add(text)
        text = (content + splitter.rest()).strip("\n") if calls else text
    last = sequence.steps[-1]
    message = {"role": "assistant", "content": text or (None if calls else ""), "tool_calls": calls}
    return {
        "index": number,
        "message": message,
        "logprobs": contents(served, request, sequence.steps),
        "finish_reason": "tool_calls" if calls and last.finish_reason == "stop" else last.finish_reason,
        "stop_reason": last.stop_reason,
        "token_ids": sequence.tokens[len(sequence.prompt) :] if request.return_token_ids else None,
    }


def contents(served: Served, request: ChatRequest, steps: list) -> dict | None:
    if not request.logprobs:
        return None
    reports, _ = lp.told(steps)
    return {"content": [lp.entry(served.tokens, r, request.return_tokens_as_token_ids) for r in reports]}


async def stream(head: dict, served: Served, request: ChatRequest, job: Job, prompt: list[int]) -> AsyncIterator[dict]:
    """First the role, then a chunk a token; a call is one chunk, when it is complete."""
    head["object"] = "chat.completion.chunk"
    parsing = bool(request.tools) and request.tool_choice != "none"
    splitters = [CallSplitter() for _ in job.sequences]
    for number in range(len(job.sequences)):
        first = {"index": number, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
        yield {**head, "choices": [first], **({"prompt_token_ids": prompt} if request.return_token_ids else {})}
    async for number, _, step in job.steps():
        splitter, delta, finish = splitters[number], {"content": step.text}, step.finish_reason
        if parsing:
            before = splitter.calls
            content, calls = splitter.add(step.text)
            delta = {"content": content + (splitter.rest() if finish else "")}
            if calls:
                delta["tool_calls"] = [{"index": before + n, **call} for n, call in enumerate(calls)]
            finish = "tool_calls" if finish == "stop" and splitter.calls else finish
        part = {"index": number, "delta": delta, "logprobs": contents(served, request, [step])}
        part |= {"finish_reason": finish, "stop_reason": step.stop_reason}
        if request.return_token_ids:
            part["token_ids"] = [step.report.id] if step.report else []
        yield {**head, "choices": [part]}
    if request.stream_options.include_usage:
        yield {**head, "choices": [], "usage": job.usage()}
