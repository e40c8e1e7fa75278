"""Hermes tool calls in generated text: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`."""

from __future__ import annotations

import json
import re
import secrets

OPEN, CLOSE = "<tool_call>", "</tool_call>"
CALL = re.compile(rf"{OPEN}(.*?){CLOSE}", re.DOTALL)


def parse_call(inner: str) -> dict | None:
    """The call between the tags in OpenAI's form, or None where it is not one."""
    try:
        call = json.loads(inner)
    except (ValueError, RecursionError):
        return None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return None
    arguments = call.get("arguments", {})
    # Text stays as it is; an object is written again, with long integers and non-ASCII text kept.
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    function = {"name": call["name"], "arguments": written}
    return {"id": f"call_{secrets.token_hex(8)}", "type": "function", "function": function}


class CallSplitter:
    """Splits text that grows into content and calls. What is no call after all stays content.

    A call ends at the first closing tag after which it is JSON, since a tag may stand in a string.
    """

    def __init__(self) -> None:
        self._pending = ""
        self.calls = 0

    def add(self, piece: str) -> tuple[str, list[dict]]:
        """Returns the content to release and the calls that are complete."""
        self._pending += piece
        content, calls = "", []
        while True:
            at = self._pending.find(OPEN)
            if at < 0:
                held = max((n for n in range(1, len(OPEN)) if self._pending.endswith(OPEN[:n])), default=0)
                content += self._pending[: len(self._pending) - held]
                self._pending = self._pending[len(self._pending) - held :]
                return content, calls
            content, self._pending = content + self._pending[:at], self._pending[at:]
            call, end = self._first_call()
            if call is None:
                return content, calls
            self._pending = self._pending[end:]
            self.calls += 1
            calls.append(call)

    def _first_call(self) -> tuple[dict | None, int]:
        end = self._pending.find(CLOSE)
        while end >= 0:
            call = parse_call(self._pending[len(OPEN) : end])
            if call is not None:
                return call, end + len(CLOSE)
            end = self._pending.find(CLOSE, end + 1)
        return None, 0

    def rest(self) -> str:
        """At the end: what was held back and is no call."""
        out, self._pending = self._pending, ""
        return out
