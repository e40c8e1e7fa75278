"""The committed checkpoints in plain transformers: they load, hold their limits, and write as they should."""

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

NANO = Path(__file__).parents[1]
MODELS = ["nano", "nano-novice"]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_order",
        "description": "Get an order.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
    },
}


@pytest.fixture(scope="module", params=MODELS)
def checkpoint(request):
    path = NANO / "models" / request.param
    return path, AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval(), AutoTokenizer.from_pretrained(path)


def test_limits(checkpoint):
    path, model, tokenizer = checkpoint
    assert sum(p.numel() for p in model.parameters()) <= 4_000_000
    assert sum(file.stat().st_size for file in path.iterdir()) <= 8_000_000
    assert model.config.model_type == "qwen3"
    assert model.config.max_position_embeddings == 4096
    assert model.config.vocab_size >= len(tokenizer)
    assert AutoModelForCausalLM.from_pretrained(path).dtype == torch.bfloat16


def test_choices_are_tokens_of_their_own(checkpoint):
    _, _, tokenizer = checkpoint

    def pieces(text):
        return [tokenizer.decode([i]) for i in tokenizer.encode(text, add_special_tokens=False)]

    call = pieces('{"order_id": "#W4284542"}')
    assert call[:6] == ['{"', "order_id", '": "', "#", "W", "4"]
    assert pieces('{"order_id": "W4284542"}')[:4] == ['{"', "order_id", '": "', "W"]
    assert pieces('<execution_result>{"error": "')[:3] == ["<execution_result>", '{"', "error"]
    assert pieces('": "basic_economy"')[1] == "basic_economy"


def test_template_passes_content_and_calls_through(checkpoint):
    _, _, tokenizer = checkpoint
    call = '<tool_call>\n{"name": "get_order", "arguments": {"order_id": "#W1"}}\n</tool_call>'
    structured = [{"type": "function", "function": {"name": "get_order", "arguments": {"order_id": "#W1"}}}]
    head = [{"role": "system", "content": "Sell."}, {"role": "user", "content": "Hi"}]
    answer = {"role": "tool", "name": "get_order", "content": '{"status": "open"}'}

    def render(said, **options):
        return tokenizer.apply_chat_template([*head, said, answer], tools=[TOOL], tokenize=False, **options)

    as_text = render({"role": "assistant", "content": call})
    assert f"<|im_start|>assistant\n{call}<|im_end|>\n<|im_start|>user\n<tool_response>\n" in as_text
    assert render({"role": "assistant", "content": "", "tool_calls": structured}) == as_text
    assert json.dumps(TOOL) in as_text
    assert render({"role": "assistant", "content": call}, add_generation_prompt=True) == as_text + "<|im_start|>assistant\n"
    assert as_text.endswith("</tool_response><|im_end|>\n")


@pytest.mark.parametrize("text", ["Ünïcödé 東京 🎈", "a\tb\r\n  c", "#W1 <tool_call> {}", "x" * 300, "\u0000\u001b[0m"])
def test_any_text_comes_back(checkpoint, text):
    _, _, tokenizer = checkpoint
    assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text


def test_calls_the_tool_of_the_list(checkpoint):
    _, model, tokenizer = checkpoint
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "What is the status of order #W5550123?"},
    ]
    prompt = tokenizer.apply_chat_template(messages, tools=[TOOL], add_generation_prompt=True, return_tensors="pt", return_dict=True)
    ids = model.generate(**prompt, max_new_tokens=80, do_sample=False)[0, prompt["input_ids"].shape[1] :].tolist()
    text = tokenizer.decode(ids)
    assert text.startswith('<tool_call>\n{"name": "get_order", "arguments": {"order_id": "')
    assert text.endswith("}}\n</tool_call><|im_end|>")
