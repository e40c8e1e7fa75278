"""Routes beside the Tinker protocol, of this engine alone: /api/v1/rehearsal/…"""

from __future__ import annotations

from pathlib import Path

from rehearsal_engine.api.errors import ApiError
from rehearsal_engine.api.tinker_data import lora_of, of
from rehearsal_engine.api.tinker_state import Future
from rehearsal_engine.learning.export import FORMS, export
from rehearsal_engine.learning.sampler import need_of

DTYPES = ("float32", "bfloat16", "float16")


async def export_checkpoint(tinker, body: dict) -> Future:
    """{path, form, folder, dtype?}: writes a checkpoint for other programs into a new folder."""
    form, dtype = of(body, "form", str, "merged"), of(body, "dtype", str, None)
    if form not in FORMS:
        raise ApiError(f"form must be one of {', '.join(FORMS)}; it is {form!r}.", "form")
    if dtype is not None and dtype not in DTYPES:
        raise ApiError(f"dtype must be one of {', '.join(DTYPES)}; it is {dtype!r}.", "dtype")
    folder = Path(of(body, "folder", str))
    if not folder.is_absolute() or "\0" in str(folder):
        raise ApiError("folder must be an absolute path.", "folder")
    checkpoint = tinker.places.find(of(body, "path", str))
    _, served = tinker.places.note(checkpoint)
    future = tinker.futures.new()
    tinker.learn(future, lambda: export(served, checkpoint, form, folder, dtype))
    return future


async def fit(tinker, body: dict) -> Future:
    """{base_model, lora_config}: what training it would need of the memory, and what is free."""
    served, lora = tinker.base(of(body, "base_model", str)), lora_of(body)
    future = tinker.futures.new()

    def run():
        needed, free = need_of(served, tinker.trainer(served), lora)
        return {"fits": needed.total <= free, "need_bytes": needed.figures(), "free_bytes": free, "device": str(served.options.device)}

    tinker.learn(future, run)
    return future
