"""From requests of the Tinker protocol to rows and settings. What is not supported is refused in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields

import numpy as np
import orjson

from rehearsal_engine.api.errors import ApiError
from rehearsal_engine.api.tinker_places import check_name
from rehearsal_engine.api.tinker_proto import ForwardBackwardRequest, array
from rehearsal_engine.learning.losses import LOSSES
from rehearsal_engine.learning.trainer import Adam, Lora, Row


def json_of(body: bytes) -> dict:
    try:
        value = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError as error:
        raise ApiError(f"The body is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise ApiError("The body must be a JSON object.")
    return value


def of(body: Mapping, name: str, kind: type | tuple, default=...):
    """A field of a request; throws ApiError where it is missing or of another type."""
    value = body.get(name)
    if value is None and default is not ...:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        wanted = kind.__name__ if isinstance(kind, type) else " or ".join(k.__name__ for k in kind)
        raise ApiError(f"{name} must be of type {wanted}.", name)
    return value


def refuse(body: Mapping, *names: str) -> None:
    """Fields that would change the result and that this engine does not carry out."""
    for name in names:
        if body.get(name):
            raise ApiError(f"{name} is not supported by this engine. Leave it out.", name)


def lora_of(body: Mapping) -> Lora | None:
    """`lora_config: null` trains every weight."""
    config = body.get("lora_config")
    refuse(body.get("optimizer_config") or {}, "version")
    if (body.get("optimizer_config") or {}).get("type", "adamw") != "adamw":
        raise ApiError("optimizer_config.type: this engine has AdamW only.", "optimizer_config")
    if config is None:
        return None
    if not isinstance(config, dict):
        raise ApiError("lora_config must be an object, or null to train every weight.", "lora_config")
    known = {f.name for f in fields(Lora)} - {"alpha"}
    unknown = [name for name in config if name not in known and config[name] is not None]
    if unknown:
        raise ApiError(f"lora_config.{unknown[0]} is not supported by this engine.", "lora_config")
    rank = of(config, "rank", int, 32)
    if not 1 <= rank <= 1024:
        raise ApiError(f"lora_config.rank must be between 1 and 1024; it is {rank}.", "lora_config")
    lora = Lora(rank, 32, of(config, "seed", int, None), *(of(config, f"train_{p}", bool, True) for p in ("attn", "mlp", "unembed")))
    if not lora.targets:
        raise ApiError("Nothing would be trained: switch on train_attn, train_mlp or train_unembed.", "lora_config")
    return lora


def run_of(body: Mapping) -> tuple[str | None, str]:
    """`user_metadata: {rehearsal_run, rehearsal_adapter?}` of our client: the run, and the end of names that its adapter has."""
    given = body.get("user_metadata") or {}
    run, adapter = of(given, "rehearsal_run", str, None), of(given, "rehearsal_adapter", str, None)
    for name in filter(None, (run, adapter)):
        check_name(name, "user_metadata")
    return run, f".{adapter}" if adapter else ""


def adam_of(body: Mapping) -> Adam:
    given = body.get("adam_params") or {}
    refuse(body, "optimizer_params")
    known = {f.name for f in fields(Adam)}
    for name, value in given.items():
        if name not in known and value is not None:
            raise ApiError(f"adam_params.{name} is not supported by this engine.", "adam_params")
        if value is not None and (not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0):
            raise ApiError(f"adam_params.{name} must be a number, 0 or more.", "adam_params")
    return Adam(**{name: float(value) for name, value in given.items() if value is not None})


class Batch:
    """A forward_backward request: rows, loss, settings. Throws ApiError; `model_id` and `seq_id` are read first."""

    def __init__(self, message):
        self.message = message
        self.model_id, self.seq_id = message.model_id, message.seq_id
        self.loss, self.forward_only = message.loss_fn, message.forward_only

    def check(self, vocab: int, context: int) -> None:
        loss = LOSSES.get(self.loss)
        if loss is None:
            raise ApiError(f"The loss {self.loss!r} is not supported. Offered: {', '.join(LOSSES)}.", "loss_fn")
        self.config = {n: float(v) for n, v in self.message.loss_fn_config.items()}
        for name, value in self.message.loss_fn_config_v2.items():
            if value.text:
                raise ApiError(f"loss_fn_config.{name} must be a number.", "loss_fn_config")
            self.config[name] = value.number
        for name, value in self.config.items():
            if name not in loss.config or not math.isfinite(value):
                offered = ", ".join(loss.config) or "none"
                raise ApiError(f"loss_fn_config.{name}={value} is not supported by {self.loss}. Settings: {offered}.", "loss_fn_config")
        if not self.message.data:
            raise ApiError("data holds no sample.", "data")
        self.rows = [row(datum, number, loss, vocab, context) for number, datum in enumerate(self.message.data)]
        self.message = None


def row(datum, number: int, loss, vocab: int, context: int) -> Row:
    def wrong(what: str) -> ApiError:
        return ApiError(f"Sample {number}: {what}.", "data")

    if any(not chunk.HasField("encoded_text") for chunk in datum.model_input):
        raise wrong("only text tokens are supported, neither images nor audio")
    ids = np.frombuffer(b"".join(c.encoded_text.tokens for c in datum.model_input), "<i4").astype(np.int64)
    if not 1 <= len(ids) <= context:
        raise wrong(f"{len(ids)} input tokens; from 1 to {context} are possible")
    inputs = {}
    for name, tensor in datum.loss_fn_inputs.items():
        try:
            inputs[name] = array(tensor)
        except ValueError as error:
            raise wrong(f"{name}: {error}") from error
        if len(inputs[name]) != len(ids):
            raise wrong(f"{name} has {len(inputs[name])} values for {len(ids)} input tokens")
    targets = inputs.pop("target_tokens", None)
    if targets is None:
        raise wrong("target_tokens is missing")
    for name, values in (("the input", ids), ("target_tokens", targets)):
        if values.min() < 0 or values.max() >= vocab:
            raise wrong(f"{name} holds a token that is not in the vocabulary of {vocab} tokens")
    unknown = set(inputs) - {*loss.inputs, *loss.optional}
    missing = set(loss.inputs) - set(inputs)
    if unknown or missing:
        raise wrong(f"{sorted(unknown or missing)[0]} is {'not an input of this loss' if unknown else 'missing'}")
    for name in loss.optional:
        inputs.setdefault(name, np.ones(len(ids), np.float32))
    with np.errstate(over="ignore"):  # told below
        inputs = {name: values.astype(np.float32) for name, values in inputs.items()}
    if not all(np.isfinite(values).all() for values in inputs.values()):
        raise wrong("a value is not a finite number")
    return Row(ids, targets.astype(np.int64), inputs)


def from_json(body: Mapping):
    """The JSON form of older SDKs as the message. Throws ApiError."""
    message = ForwardBackwardRequest(model_id=of(body, "model_id", str), seq_id=of(body, "seq_id", int))
    try:
        given = body.get("forward_backward_input") or body["forward_input"]
        message.forward_only = "forward_backward_input" not in body
        message.loss_fn = given["loss_fn"]
        for name, value in (given.get("loss_fn_config") or {}).items():
            message.loss_fn_config[name] = value
        for item in given["data"]:
            datum = message.data.add()
            for piece in item["model_input"]["chunks"]:
                datum.model_input.add().encoded_text.tokens = np.array(piece["tokens"], "<i4").tobytes()
            for name, tensor in item["loss_fn_inputs"].items():
                whole = tensor["dtype"] == "int64"
                with np.errstate(over="ignore"):
                    datum.loss_fn_inputs[name].dense = np.array(tensor["data"], "<i8" if whole else "<f4").tobytes()
                datum.loss_fn_inputs[name].dtype = 2 if whole else 1
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise ApiError(f"The body is not a forward_backward request: {type(error).__name__}: {error}.", "data") from error
    return message
