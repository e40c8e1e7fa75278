"""Errors as the OpenAI API writes them."""

from __future__ import annotations

import orjson
from starlette.responses import Response


class ApiError(Exception):
    """A request that is refused: what is wrong, which field, what to do."""

    def __init__(self, message: str, param: str | None = None, status: int = 400, code: str | None = None):
        super().__init__(message)
        self.message, self.param, self.status = message, param, status
        self.code = code or {401: "invalid_api_key", 404: "not_found"}.get(status, "invalid_value")

    def body(self) -> dict:
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> Response:
        return json_response(self.body(), self.status)


def json_response(body: object, status: int = 200) -> Response:
    return Response(dump(body), status, media_type="application/json")


def dump(body: object) -> bytes:
    """JSON; text with lone surrogates cannot get here, since orjson refuses them on the way in."""
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
