"""The protobuf messages of the Tinker protocol (package tinker_public, SDK 0.38), and arrays in them.

Declared here rather than compiled, and in a pool of their own, so that they stand beside the
SDK's. Enums are int32, which is the same on the wire.
"""

from __future__ import annotations

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

F32, I64, I32 = 1, 2, 3
KINDS = {F32: np.dtype("<f4"), I64: np.dtype("<i8"), I32: np.dtype("<i4")}

MESSAGES = {
    "SparseCsr": "bytes values=1, bytes crow_indices=2, bytes col_indices=3",
    "Tensor": "bytes dense=1, SparseCsr sparse_csr=2, int32 dtype=3, repeated int64 shape=4",
    "EncodedTextChunk": "bytes tokens=1",
    "ImageChunk": "bytes data=1",
    "DmelChunk": "bytes dmel=1",
    "Chunk": "EncodedTextChunk encoded_text=1, ImageChunk image=2, DmelChunk dmel=3",
    "Datum": "repeated Chunk model_input=1, map Tensor loss_fn_inputs=2",
    "LossConfigValue": "double number=1, string text=2",
    "ForwardBackwardRequest": "string model_id=1, int32 seq_id=2, repeated Datum data=3, string loss_fn=4, "
    "map double loss_fn_config=5, bool forward_only=6, map LossConfigValue loss_fn_config_v2=7",
    "BatchedTensor": "bytes data=1, bytes offsets=2, int32 dtype=3, repeated int64 trailing_shape=4",
    "ArrayRecord": "string type_tag=1, map BatchedTensor fields=2, int64 num_datums=3",
    "ForwardBackwardOutput": "string loss_fn_output_type=1, repeated ArrayRecord loss_fn_outputs=2, map double metrics=3",
    "SampledSequence": "int32 stop_reason=1, bytes tokens=2, bytes logprobs=3",
    "SampleResponse": "repeated SampledSequence sequences=1, bytes prompt_logprobs=2, int32 prompt_cache_hit_tokens=4",
}


def declare():
    """Message classes by name."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="rehearsal_tinker.proto", package="tinker_public", syntax="proto3")

    def add(message, kind: str, name: str, number: int, repeated: bool) -> None:
        item = message.field.add(name=name, number=number, label=3 if repeated else 1)
        if kind in MESSAGES or "." in kind:
            item.type, item.type_name = field.TYPE_MESSAGE, f".tinker_public.{kind}"
        else:
            item.type = getattr(field, f"TYPE_{kind.upper()}")

    for name, text in MESSAGES.items():
        message = file.message_type.add(name=name)
        for part in text.split(", "):
            declaration, number = part.split("=")
            *labels, kind, field_name = declaration.split()
            if labels == ["map"]:
                entry = message.nested_type.add(name="".join(w.capitalize() for w in field_name.split("_")) + "Entry")
                entry.options.map_entry = True
                add(entry, "string", "key", 1, False)
                add(entry, kind, "value", 2, False)
                kind = f"{name}.{entry.name}"
            add(message, kind, field_name, int(number), bool(labels))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {n: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tinker_public.{n}")) for n in MESSAGES}


CLASSES = declare()
ForwardBackwardRequest = CLASSES["ForwardBackwardRequest"]


def array(tensor) -> np.ndarray:
    """The values of a Tensor. Throws ValueError with what is not supported."""
    if tensor.HasField("sparse_csr"):
        raise ValueError("sparse tensors are not supported: send it dense")
    kind = KINDS.get(tensor.dtype)
    if kind is None:
        raise ValueError(f"dtype {tensor.dtype} is not supported: send float32 or int64")
    values = np.frombuffer(tensor.dense, kind)
    if list(tensor.shape) not in ([], [len(values)]):
        raise ValueError(f"shape {list(tensor.shape)} is not that of {len(values)} values in a row")
    return values


def forward_backward_output(logprobs: list[np.ndarray], metrics: dict[str, float]) -> bytes:
    out = CLASSES["ForwardBackwardOutput"](loss_fn_output_type="ArrayRecord", metrics=metrics)
    record = out.loss_fn_outputs.add(num_datums=len(logprobs))
    offsets = 4 * np.cumsum([0, *map(len, logprobs)])
    record.fields["logprobs"].MergeFrom(
        CLASSES["BatchedTensor"](
            data=np.concatenate(logprobs).astype("<f4").tobytes(), offsets=offsets.astype("<i8").tobytes(), dtype=F32
        )
    )
    return out.SerializeToString()


def sample_response(sequences: list[tuple[bool, list[int], list[float]]], prompt: list[float] | None, cached: int) -> bytes:
    """Sequences as (reached the token limit, tokens, log-probabilities)."""
    out = CLASSES["SampleResponse"](prompt_cache_hit_tokens=cached)
    for limited, tokens, logprobs in sequences:
        out.sequences.add(
            stop_reason=int(limited),
            tokens=np.array(tokens, "<i4").tobytes(),
            logprobs=np.array(logprobs, "<f4").tobytes(),
        )
    if prompt is not None:
        out.prompt_logprobs = np.array(prompt, "<f4").tobytes()
    return out.SerializeToString()
