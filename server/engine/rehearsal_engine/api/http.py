"""HTTP without waste: bodies read once, streams unbuffered, clients that go away noticed."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable

from typing import TypeVar

from starlette.requests import Request

from rehearsal_engine.api.errors import ApiError, dump


T = TypeVar("T")


class ClientGone(Exception):
    """The connection was closed before the answer was complete."""


async def disconnected(request: Request) -> None:
    """Returns when the client closes the connection. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def unless_gone(request: Request, work: Awaitable[T]) -> T:
    """Awaits `work`; throws ClientGone, with `work` cancelled, when the client goes away first."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(disconnected(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        task.cancel()
        gone.cancel()


class EventStream:
    """Server-sent events, each sent as it comes; ends the source when the client goes away.

    Starlette's own response learns of a closed connection from a failed send, which uvicorn does
    not report; Pause must stop the model within one token.
    """

    def __init__(self, request: Request, events: AsyncIterator[object]):
        self.request, self.events = request, events

    async def __call__(self, scope, receive, send) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-cache"),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            await unless_gone(self.request, self._send_all(send))
        except ClientGone:
            return

    async def _send_all(self, send) -> None:
        end = b"data: [DONE]\n\n"
        try:
            async for event in self.events:
                body = b"data: " + dump(event) + b"\n\n"
                await send({"type": "http.response.body", "body": body, "more_body": True})
        except ApiError as error:  # headers are gone: the error is an event, as vLLM does it
            end = b"data: " + dump(error.body()) + b"\n\n" + end
        finally:
            await self.events.aclose()
        await send({"type": "http.response.body", "body": end, "more_body": False})


class BearerAuth:
    """Refuses requests without the token; `/health` is open, so that a supervisor can wait for it."""

    def __init__(self, app, token: str):
        self.app, self.expected = app, b"Bearer " + token.encode()
        self.key = b"tml-" + token.encode()  # the form that clients of the Tinker SDK must give a key

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "http" and scope["path"] != "/health":
            headers = dict(scope["headers"])
            bearer = hmac.compare_digest(headers.get(b"authorization", b""), self.expected)
            if not bearer and not hmac.compare_digest(headers.get(b"x-api-key", b""), self.key):
                message = "A bearer token is needed: send the content of the token file as 'Authorization: Bearer …'."
                await ApiError(message, status=401).response()(scope, receive, send)
                return
        await self.app(scope, receive, send)
