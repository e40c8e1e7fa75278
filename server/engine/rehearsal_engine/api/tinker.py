"""The routes of the Tinker protocol, for clients of the official SDK (0.38) and our runner.

An answer is a future that `retrieve_future` waits for. A request that cannot be carried out is
refused with 400 where that can be known at once, else by `{error, category: "user"}`.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response

from rehearsal_engine.api.errors import ApiError, json_response
from rehearsal_engine.api.generate import Engine
from rehearsal_engine.api.rehearsal import export_checkpoint, fit
from rehearsal_engine.api.tinker_data import json_of
from rehearsal_engine.api.tinker_sampling import asample
from rehearsal_engine.api.tinker_service import Tinker
from rehearsal_engine.api.tinker_state import Future, failure
CONFIG = {
    "pjwt_auth_enabled": False, "credential_default_source": "api_key", "proto_compress_fwdbwd": False,
    "parallel_fwdbwd_chunks": False, "fwdbwd_max_chunk_len": 1024, "fwdbwd_max_chunk_bytes_count": 5_000_000,
    "sample_max_concurrent_requests": 64, "use_pyqwest_transport": False, "create_model_via_load_weights": False,
    "sample_use_retrieve_futures": False, "sample_enable_stuck_detection": False, "join_sampling_session": False,
    "custom_loss_server_side": False, "compression": False, "retrieve_futures": False,
}  # fmt: skip


def answer(value) -> Response:
    if isinstance(value, Future):
        return json_response({"request_id": value.id, **value.extra})
    if isinstance(value, bytes):
        return Response(value, media_type="application/x-protobuf")
    return json_response(value)


def guarded(handler):
    """Never 500 or 409: the SDK would ask again for ever."""

    async def endpoint(request: Request) -> Response:
        try:
            return answer(await handler(request))
        except ApiError as error:
            error.status = 400
            return error.response()
        except Exception as error:
            return json_response(failure(error), 400)

    return endpoint


def add_tinker(app: FastAPI, engine: Engine, folder: Path) -> Tinker:
    """Adds the routes under /api/v1. Checkpoints go into `folder`."""
    tinker = Tinker(engine, folder)

    def post(path: str, handler) -> None:
        async def read(request: Request):
            return await handler(json_of(await request.body()))

        app.add_route(f"/api/v1/{path}", guarded(read), methods=["POST"])

    def route(path: str, handler, method: str) -> None:
        app.add_route(f"/api/v1/{path}", guarded(handler), methods=[method])

    async def constant(value):
        return value

    async def capabilities(_):
        own = engine.registry.served.values()
        return {"supported_models": [{"model_name": s.name, "max_context_length": s.max_len} for s in own]}

    async def sampler_info(request: Request):
        id = request.path_params["id"]
        served, path = tinker.samplers.find(id)
        return {"sampler_id": id, "base_model": engine.registry.base_of(served).name, "model_path": path}

    async def forward_backward(request: Request):
        return tinker.forward_backward(await request.body(), "json" in request.headers.get("content-type", ""))

    async def finish(request: Request):
        tinker.finish(request.path_params["id"])
        return {}

    route("healthz", lambda _: constant({"status": "ok"}), "GET")
    route("get_server_capabilities", capabilities, "GET")
    route("samplers/{id}", sampler_info, "GET")
    route("sessions/{id}/finish", finish, "POST")
    route("forward_backward", forward_backward, "POST")
    post("client/config", lambda _: constant(CONFIG))
    post("telemetry", lambda _: constant({"status": "accepted"}))
    post("session_heartbeat", tinker.heartbeat)
    post("asample", lambda body: asample(tinker, body))
    for name in (
        "create_session", "create_model", "get_info", "unload_model", "optim_step", "save_weights", "load_weights",
        "save_weights_for_sampler", "create_sampling_session", "weights_info", "retrieve_future",
    ):  # fmt: skip
        post(name, getattr(tinker, name))
    post("rehearsal/export", lambda body: export_checkpoint(tinker, body))
    post("rehearsal/fit", lambda body: fit(tinker, body))
    return tinker
