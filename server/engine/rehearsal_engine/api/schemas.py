"""What may be asked. Whatever is not here is refused by name: nothing is ignored silently."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rehearsal_engine.api.errors import ApiError

# Fields of the OpenAI API and of vLLM that this engine does not do, with the values that ask for nothing.
NEUTRAL: dict[str, tuple] = {
    "best_of": (1,),
    "logit_bias": ({},),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "repetition_penalty": (1,),
    "length_penalty": (1,),
    "min_tokens": (0,),
    "suffix": ("",),
    "bad_words": ([],),
    "use_beam_search": (False,),
    "include_stop_str_in_output": (False,),
    "response_format": ({"type": "text"},),
    "parallel_tool_calls": (True,),
    "tool_choice": ("auto",),
    "functions": ([],),
    "documents": ([],),
    "store": (False,),
    "modalities": (["text"],),
}
TOKENS = Annotated[int, Field(ge=0, lt=2**31)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


T = TypeVar("T", bound=Strict)


class StreamOptions(Strict):
    include_usage: bool = False


class Generation(Strict):
    """What completions and chat share."""

    model: str | None = None
    temperature: float = Field(1.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=-1)
    min_p: float = Field(0.0, ge=0, le=1)
    n: int = Field(1, ge=1, le=128)
    seed: int | None = None
    stop: str | list[str] = Field(default_factory=list)
    stop_token_ids: list[int] = Field(default_factory=list)
    ignore_eos: bool = False
    skip_special_tokens: bool = True
    stream: bool = False
    stream_options: StreamOptions = Field(default_factory=StreamOptions)
    prompt_logprobs: int | None = Field(None, ge=0, le=20)
    return_token_ids: bool = False
    return_tokens_as_token_ids: bool = False
    priority: int = Field(0, ge=-(2**31), lt=2**31)
    user: str | None = None  # OpenAI's label of the end user; changes nothing

    @property
    def stops(self) -> list[str]:
        stops = [self.stop] if isinstance(self.stop, str) else self.stop
        return [stop for stop in stops if stop]


class CompletionRequest(Generation):
    prompt: Any = None  # checked by hand: a list of 4,000 ids is the usual case and must be fast
    max_tokens: TOKENS = 16
    logprobs: int | None = Field(None, ge=0, le=20)
    echo: bool = False
    add_special_tokens: bool = True


class ChatRequest(Generation):
    messages: list[dict[str, Any]] = Field(min_length=1)
    tools: list[dict[str, Any]] = Field(default_factory=list)
    tool_choice: Literal["auto", "none"] = "auto"
    max_tokens: TOKENS | None = None
    max_completion_tokens: TOKENS | None = None
    logprobs: bool = False
    top_logprobs: int = Field(0, ge=0, le=20)
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)


class TokenizeText(Strict):
    model: str | None = None
    prompt: str
    add_special_tokens: bool = True
    return_token_strs: bool = False


class TokenizeChat(Strict):
    model: str | None = None
    messages: list[dict[str, Any]] = Field(min_length=1)
    tools: list[dict[str, Any]] = Field(default_factory=list)
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    return_token_strs: bool = False


class DetokenizeRequest(Strict):
    model: str | None = None
    tokens: list[int]


# Deeper than any tool's schema; templates and messages about values are recursive and end at some depth.
MOST_DEPTH = 200


def parse_body(raw: bytes) -> dict:
    """The JSON object of a request, without fields that are null."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise ApiError(f"The body is not JSON: {error}.", code="invalid_json") from error
    if not isinstance(body, dict):
        raise ApiError("The body must be a JSON object.", code="invalid_json")
    # Counting brackets is quick, and most bodies have too few of them to be deep.
    if raw.count(b"[") + raw.count(b"{") > MOST_DEPTH and is_deep(body):
        raise ApiError(f"The body is nested deeper than {MOST_DEPTH} levels.", code="invalid_json")
    return {name: value for name, value in body.items() if value is not None}


def is_deep(body: object) -> bool:
    """Whether a value is nested deeper than we take; level by level, since recursion would end first."""
    level = [body]
    for _ in range(MOST_DEPTH):
        inner = [value.values() if isinstance(value, dict) else value for value in level]
        level = [value for values in inner for value in values if isinstance(value, (dict, list))]
        if not level:
            return False
    return True


def read(kind: type[T], body: dict) -> T:
    """A request of this kind, or an ApiError that names the field."""
    for name in [name for name in body if name not in kind.model_fields]:
        value = body.pop(name)
        if name not in NEUTRAL:
            known = ", ".join(sorted(kind.model_fields))
            raise ApiError(f"{name!r} is not known or not supported here. Fields: {known}.", name, code="unknown_parameter")
        if not any(value == neutral and type(value) in (type(neutral), int, float) for neutral in NEUTRAL[name]):
            allowed = " or ".join(map(repr, NEUTRAL[name]))
            message = f"{name!r} is not supported: leave it out or send {allowed}."
            raise ApiError(message, name, code="unsupported_parameter")
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        param = ".".join(str(part) for part in first["loc"]) or None
        shown = repr(first.get("input"))[:80]
        raise ApiError(f"{param}: {first['msg']}, got {shown}.", param) from error
