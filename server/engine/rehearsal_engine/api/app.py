"""The routes."""

from __future__ import annotations

import time
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from rehearsal_engine import PROTOCOL, __version__
from rehearsal_engine.api.chat import chat
from rehearsal_engine.api.completions import completions
from rehearsal_engine.api.errors import ApiError, json_response
from rehearsal_engine.api.generate import Engine
from rehearsal_engine.api.http import BearerAuth, ClientGone
from rehearsal_engine.api.tokenize import detokenize, tokenize
from rehearsal_engine.models import Served


def create_app(engine: Engine, token: str | None = None, checkpoints: Path | None = None):
    """The ASGI application; with a token, every route but /health wants it. Learning needs a folder for checkpoints."""
    app = FastAPI(title="Rehearsal engine", version=__version__, docs_url=None, redoc_url=None)
    started = int(time.time())

    @app.get("/health")
    async def health():
        return json_response({"status": "ok", "engine": "rehearsal", "version": __version__, "protocol": PROTOCOL})

    @app.get("/metrics")
    async def metrics():
        return PlainTextResponse(metrics_text(engine))

    @app.get("/v1/models")
    async def models():
        return json_response({"object": "list", "data": [card(engine, *each, started) for each in engine.registry.all()]})

    for path, handler in {
        "/v1/completions": completions,
        "/v1/chat/completions": chat,
        "/tokenize": tokenize,
        "/detokenize": detokenize,
    }.items():
        app.add_route(path, route(engine, handler), methods=["POST"])

    add_learning(app, engine, checkpoints)

    @app.exception_handler(HTTPException)
    async def http_error(_: Request, error: HTTPException):
        message = {404: "There is no such route.", 405: "This route wants another method."}
        return ApiError(message.get(error.status_code, str(error.detail)), status=error.status_code).response()

    return BearerAuth(app, token) if token else app


def add_learning(app: FastAPI, engine: Engine, checkpoints: Path | None) -> None:
    """The Tinker routes, or in their place the reason why they are not there."""
    reason = "Learning is off: start the engine with --checkpoints FOLDER."
    if checkpoints is not None:
        try:
            from rehearsal_engine.api.tinker import add_tinker

            add_tinker(app, engine, checkpoints)
            return
        except ImportError as error:
            reason = f"Learning needs packages that are not installed ({error.name}): pip install 'rehearsal-engine[learning]'."

    async def refused(_: Request) -> Response:
        return ApiError(reason).response()

    app.add_route("/api/v1/{path:path}", refused, methods=["GET", "POST"])


def route(engine: Engine, handler):
    async def endpoint(request: Request) -> Response:
        try:
            return await handler(engine, request)
        except ApiError as error:
            return error.response()
        except ClientGone:
            return Response(status_code=499)  # nobody reads it

    return endpoint


def card(engine: Engine, name: str, served: Served, created: int) -> dict:
    """A model of /v1/models; what is not OpenAI's is our extension."""
    return {
        "id": name,
        "object": "model",
        "created": created,
        "owned_by": "rehearsal",
        "root": served.source.location,
        "parent": engine.registry.base_of(served).name if served.adapter else None,
        "max_model_len": served.max_len,
        "vocab_size": served.vocab_size,
        "eos_token_ids": served.ends,
        "architecture": served.config.model_type,
        "loaded": served.model is not None,
        "prefix_cache": served.full_attention,
        "batching": served.full_attention and not served.options.deterministic,
        "deterministic": served.options.deterministic,
        "chat_template": served.tokens.has_template,
    }


def metrics_text(engine: Engine) -> str:
    scheduler = engine.scheduler
    running, waiting = scheduler.counts()
    return scheduler.metrics.text({
        "sequences_running": ("Sequences being computed", running),
        "sequences_waiting": ("Sequences that wait for their first token", waiting),
        "cache_bytes": ("Bytes of keys and values held", scheduler.cache.bytes),
        "cache_limit_bytes": ("Most bytes of keys and values to hold", scheduler.cache.limit),
    })  # fmt: skip
