"""Chat, tools, tokenization and everything that is refused."""

import json
import re

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rehearsal_engine.api.toolcalls import CallSplitter
from rehearsal_engine.sequence import StopText

HI = [{"role": "user", "content": "the order"}]
TOOL = {"type": "function", "function": {"name": "get", "parameters": {"type": "object", "properties": {}}}}


def tokens(engine, **fields):
    answer = engine.post("/tokenize", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()["tokens"]


def text(engine, **fields):
    return engine.post("/detokenize", json={"tokens": tokens(engine, **fields)}).json()["prompt"]


def test_chat_samples_what_completions_samples_after_its_prompt(engine):
    fields = {"max_tokens": 6, "seed": 4, "ignore_eos": True, "return_token_ids": True}
    answer = engine.post("/v1/chat/completions", json={"messages": HI, "logprobs": True, "top_logprobs": 2, **fields}).json()
    prompt = tokens(engine, messages=HI)
    assert answer["prompt_token_ids"] == prompt and answer["usage"]["prompt_tokens"] == len(prompt)
    choice, same = answer["choices"][0], engine.complete(prompt, logprobs=2, **fields)
    assert choice["token_ids"] == same["token_ids"] and choice["message"]["content"] == same["text"]
    assert [told["id"] for told in choice["logprobs"]["content"]] == same["token_ids"]
    [told], [right] = choice["logprobs"]["content"][:1], same["logprobs"]["content"][:1]
    assert [top["id"] for top in told["top_logprobs"]] == [top["id"] for top in right["top_logprobs"]]
    assert told["entropy"] == pytest.approx(right["entropy"], abs=1e-4)


def test_chat_streams(engine):
    fields = {"messages": HI, "max_tokens": 6, "seed": 4, "ignore_eos": True, "logprobs": True}
    whole = engine.post("/v1/chat/completions", json=fields).json()["choices"][0]
    with engine.stream("POST", "/v1/chat/completions", json={**fields, "stream": True}) as answer:
        parts = [orjson.loads(line[6:])["choices"][0] for line in answer.iter_lines() if line.startswith("data: {")]
    assert parts[0]["delta"]["role"] == "assistant"
    assert "".join(part["delta"]["content"] for part in parts) == whole["message"]["content"]
    assert sum((part["logprobs"]["content"] for part in parts[1:]), []) == whole["logprobs"]["content"]
    assert parts[-1]["finish_reason"] == "length"


def test_final_message_is_continued(engine):
    messages = [*HI, {"role": "assistant", "content": "the user"}]
    continued = text(engine, messages=messages, continue_final_message=True, add_generation_prompt=False)
    assert continued.endswith("assistant\nthe user")
    assert text(engine, messages=messages).endswith("<|im_end|>\n<|im_start|>assistant\n")
    refused = engine.post("/tokenize", json={"messages": messages, "continue_final_message": True, "add_generation_prompt": True})
    assert refused.status_code == 400
    answer = engine.post("/v1/chat/completions", json={"messages": messages, "continue_final_message": True, "max_tokens": 1, "return_token_ids": True})
    assert answer.json()["prompt_token_ids"] == tokens(engine, prompt=continued, add_special_tokens=False)


def test_tools_and_earlier_calls_reach_the_template(engine):
    call = {"id": "1", "type": "function", "function": {"name": "get", "arguments": '{"id": "#W1"}'}}
    messages = [*HI, {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "content": "{}"}]
    written = text(engine, messages=messages, tools=[TOOL])
    assert '"name": "get"' in written and '{"id": "#W1"}' in written and "<tool_response>" in written
    none = engine.post("/v1/chat/completions", json={"messages": HI, "tools": [TOOL], "tool_choice": "none", "max_tokens": 1, "return_token_ids": True})
    assert none.json()["prompt_token_ids"] == tokens(engine, messages=HI)


CASES = [
    ('<tool_call>\n{"name": "get", "arguments": {"a": 1}}\n</tool_call>', "", [("get", {"a": 1})]),
    ('well <tool_call>{"name": "a", "arguments": {}}</tool_call><tool_call>{"name": "b"}</tool_call>!', "well !", [("a", {}), ("b", {})]),
    ('<tool_call>{"name": "a", "arguments": {"x": "</tool_call>"}}</tool_call>', "", [("a", {"x": "</tool_call>"})]),
    ('<tool_call>{"name": "a", "arguments": ', '<tool_call>{"name": "a", "arguments": ', []),
    ("<tool_call>no</tool_call>", "<tool_call>no</tool_call>", []),
    ("a < b <tool", "a < b <tool", []),
    ('<tool_call>{"name": "a", "arguments": {"n": 12345678901234567890, "s": "é"}}</tool_call>', "", [("a", {"n": 12345678901234567890, "s": "é"})]),
]


@pytest.mark.parametrize("written, content, calls", CASES)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_calls_are_split_off_however_text_arrives(written, content, calls, size):
    splitter, out, found = CallSplitter(), "", []
    for at in range(0, len(written), size):
        piece, more = splitter.add(written[at : at + size])
        out, found = out + piece, found + more
    assert out + splitter.rest() == content
    assert [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in found] == calls


def test_a_call_that_the_model_writes_is_parsed(engine, monkeypatch):
    """The sampler is told what to draw; everything after it is real."""
    written = 'the <tool_call>{"name": "get", "arguments": {"id": "#W1"}}</tool_call>'
    ids = [*tokens(engine, prompt=written), 2]
    start = len(tokens(engine, messages=HI, tools=[TOOL]))
    monkeypatch.setattr("rehearsal_engine.sampling.Rows.draw", lambda rows, settings, at: [ids[n - start] for n in at])
    fields = {"messages": HI, "tools": [TOOL], "max_tokens": 200}
    choice = engine.post("/v1/chat/completions", json=fields).json()["choices"][0]
    assert choice["finish_reason"] == "tool_calls" and choice["message"]["content"] == "the "
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "get", "arguments": '{"id": "#W1"}'}
    with engine.stream("POST", "/v1/chat/completions", json={**fields, "stream": True}) as answer:
        parts = [orjson.loads(line[6:])["choices"][0] for line in answer.iter_lines() if line.startswith("data: {")]
    assert "".join(part["delta"]["content"] for part in parts) == "the "
    [delta] = [part["delta"]["tool_calls"] for part in parts if "tool_calls" in part["delta"]]
    assert delta[0]["index"] == 0 and delta[0]["function"]["arguments"] == '{"id": "#W1"}'
    assert parts[-1]["finish_reason"] == "tool_calls"


REFUSED = [
    ({"prompt": "x", "best_of": 2}, "best_of"),
    ({"prompt": "x", "logit_bias": {"5": 1}}, "logit_bias"),
    ({"prompt": "x", "presence_penalty": 0.5}, "presence_penalty"),
    ({"prompt": "x", "repetition_penalty": 1.1}, "repetition_penalty"),
    ({"prompt": "x", "suffix": "y"}, "suffix"),
    ({"prompt": "x", "guided_json": {}}, "guided_json"),
    ({"prompt": "x", "response_format": {"type": "json_object"}}, "response_format"),
    ({"prompt": "x", "temprature": 0}, "temprature"),
    ({"prompt": "x", "logprobs": 21}, "logprobs"),
    ({"prompt": "x", "logprobs": True}, "logprobs"),
    ({"prompt": "x", "temperature": -1}, "temperature"),
    ({"prompt": "x", "top_p": 0}, "top_p"),
    ({"prompt": "x", "n": 0}, "n"),
    ({"prompt": "x", "max_tokens": 0}, "max_tokens"),
    ({"prompt": "x", "echo": True, "stream": True}, "echo"),
    ({"prompt": "x", "stream_options": {"x": 1}}, "stream_options.x"),
    ({"prompt": ""}, "prompt"),
    ({"prompt": []}, "prompt"),
    ({"prompt": [1, -1]}, "prompt"),
    ({"prompt": [512]}, "prompt"),
    ({"prompt": [2**70]}, "prompt"),
    ({"prompt": [True]}, "prompt"),
    ({"prompt": [1.5]}, "prompt"),
    ({"prompt": {"a": 1}}, "prompt"),
    ({}, "prompt"),
    ({"prompt": [5] * 512}, "prompt"),
    ({"prompt": "x", "model": "other"}, "model"),
]


@pytest.mark.parametrize("fields, param", REFUSED, ids=[f"{n}-{param}" for n, (_, param) in enumerate(REFUSED)])
def test_what_cannot_be_done_is_refused_by_name(engine, fields, param):
    answer = engine.post("/v1/completions", content=json.dumps(fields))
    error = answer.json()["error"]
    assert answer.status_code == (404 if param == "model" else 400)
    assert error["param"] == param and error["type"] == "invalid_request_error" and error["message"]


def test_values_that_ask_for_nothing_pass(engine):
    neutral = {"best_of": 1, "logit_bias": {}, "presence_penalty": 0, "frequency_penalty": 0.0, "suffix": None, "seed": None}
    assert engine.post("/v1/completions", json={"prompt": "x", "max_tokens": 1, "repetition_penalty": 1.0, **neutral}).status_code == 200


def test_chat_refuses_with_the_place(engine):
    for messages, part in [([], "messages"), ([{"role": "god", "content": ""}], "messages.0.role"), ([*HI, {"role": "user", "content": 5}], "messages.1.content")]:
        error = engine.post("/v1/chat/completions", json={"messages": messages}).json()["error"]
        assert error["param"] == part
    bad = engine.post("/v1/chat/completions", json={"messages": HI, "tool_choice": "required", "tools": [TOOL]})
    assert bad.status_code == 400 and bad.json()["error"]["param"] == "tool_choice"


NAMES = ["model", "prompt", "max_tokens", "logprobs", "echo", "stream", "n", "seed", "stop", "stop_token_ids", "temperature",
         "top_p", "top_k", "min_p", "messages", "tools", "tokens", "logit_bias", "best_of", "priority", "stream_options",
         "add_special_tokens", "chat_template_kwargs", "tool_choice", "continue_final_message", "prompt_logprobs"]  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["tiny", "user", "text"])
KEYS = st.sampled_from(["role", "content", "tool_calls", "function", "name", "type", "include_usage"]) | st.text(max_size=3)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6)
SMALL = st.fixed_dictionaries({}, optional={"max_tokens": st.integers(-1, 3), "prompt": st.text(max_size=4) | st.lists(st.integers(-1, 520), max_size=4),
                                            "messages": st.just(HI), "tokens": st.lists(st.integers(-1, 600), max_size=3)})  # fmt: skip
BODIES = st.tuples(SMALL, st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3)).map(lambda pair: {**pair[0], **pair[1]})


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(["/v1/completions", "/v1/chat/completions", "/tokenize", "/detokenize"]), BODIES | VALUES)
def test_no_body_is_answered_with_a_server_error(engine, route, body):
    raw = json.dumps(body)
    if isinstance(body, dict) and "chat" in route:
        raw = json.dumps({"max_tokens": 2, **body})
    answer = engine.post(route, content=raw)
    assert answer.status_code in (200, 400, 404), (raw, answer.text)
    if answer.status_code != 200:
        assert answer.json()["error"]["message"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=40))
def test_bytes_that_are_no_json_are_refused(engine, raw):
    assert engine.post("/v1/completions", content=raw).status_code == 400


MESSAGES = st.lists(st.dictionaries(st.sampled_from(["role", "content", "tool_calls", "name"]), VALUES, max_size=4), max_size=3)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(MESSAGES)
def test_no_message_is_answered_with_a_server_error(engine, messages):
    answer = engine.post("/tokenize", content=json.dumps({"messages": messages}))
    assert answer.status_code in (200, 400), (messages, answer.text)


@pytest.mark.parametrize("depth", [300, 990, 1020])
@pytest.mark.parametrize("field", ["stop", "user", "prompt", "messages", "content", "arguments", "unknown"])
def test_deep_values_are_refused_wherever_they_stand(engine, field, depth):
    deep = "[" * depth + "]" * depth
    if field == "content":
        field, deep = "messages", f'[{{"role": "user", "content": "x", "extra": {deep}}}]'
    elif field == "arguments":
        field, deep = "messages", f'[{{"role": "assistant", "tool_calls": [{{"function": {{"name": "get", "arguments": {deep}}}}}]}}]'
    answer = engine.post("/v1/chat/completions" if field == "messages" else "/v1/completions", content=f'{{"{field}": {deep}}}')
    assert answer.status_code == 400 and answer.json()["error"]["message"], answer.text


def test_shallow_bodies_with_many_brackets_pass(engine):
    tools = [{"type": "function", "function": {"name": f"tool{n}", "parameters": {}}} for n in range(100)]
    assert engine.post("/tokenize", json={"messages": HI, "tools": tools}).status_code == 200


def test_deep_and_broken_bodies_are_refused(engine):
    for raw in ["[" * 100_000, '{"prompt": "\ud800"}'.encode("utf-8", "surrogatepass"), '{"prompt": "\\ud800"}', '{"prompt": NaN}', ""]:
        assert engine.post("/tokenize", content=raw).status_code == 400
    assert engine.get("/version").status_code == 404


@given(st.text("ab", max_size=30), st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=3), st.integers(1, 4))
def test_stop_strings_are_found_however_text_arrives(whole, stops, size):
    """Against the plain search in the whole text: cut before the stop string that ends first."""
    cutter, out, found = StopText(stops), "", None
    for at in range(0, len(whole), size):
        piece, found = cutter.add(whole[at : at + size])
        out += piece
        if found:
            break
    out += "" if found else cutter.rest()
    first = re.search("|".join(map(re.escape, stops)), whole)
    assert bool(found) == bool(first)
    assert whole.startswith(out) and (whole[len(out) :].startswith(found) if found else out == whole)
