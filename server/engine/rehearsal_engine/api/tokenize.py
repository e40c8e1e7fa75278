"""POST /tokenize and /detokenize, in vLLM's shapes."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from rehearsal_engine.api.chat import render
from rehearsal_engine.api.errors import ApiError, json_response
from rehearsal_engine.api.generate import Engine, check_ids
from rehearsal_engine.api.schemas import DetokenizeRequest, TokenizeChat, TokenizeText, parse_body, read


async def tokenize(engine: Engine, http: Request):
    body = parse_body(await http.body())
    if "messages" in body and "prompt" in body:
        raise ApiError("Send either prompt or messages.", "prompt")
    if "messages" in body:
        request = read(TokenizeChat, body)
        served = engine.find(request.model)
        ids = await asyncio.to_thread(render, served, request)
    else:
        request = read(TokenizeText, body)
        served = engine.find(request.model)
        ids = await asyncio.to_thread(served.tokens.encode, request.prompt, request.add_special_tokens)
    answer = {"count": len(ids), "max_model_len": served.max_len, "tokens": ids, "token_strs": None}
    if request.return_token_strs:
        answer["token_strs"] = [served.tokens.text_of(token) for token in ids]
    return json_response(answer)


async def detokenize(engine: Engine, http: Request):
    request = read(DetokenizeRequest, parse_body(await http.body()))
    served = engine.find(request.model)
    check_ids(served, request.tokens, "tokens")
    return json_response({"prompt": served.tokens.decode(request.tokens)})
