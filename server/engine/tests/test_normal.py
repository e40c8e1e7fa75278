"""Normal mode: numbers of plain transformers, draws, scoring, stopping."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from conftest import serving

PROMPT = random.Random(1).choices(range(3, 300), k=60)


def truth(peer, ids):
    """Log-probabilities of every position, by transformers in float64 from float32 logits."""
    with torch.inference_mode():
        return torch.log_softmax(peer(torch.tensor([ids])).logits[0].double(), -1).numpy()


def check(content, table, at, tolerance=1e-4, ranks=True):
    """Entries of tokens at positions at… against the table."""
    for number, told in enumerate(content):
        row = table[at + number - 1]
        assert told["logprob"] == pytest.approx(row[told["id"]], abs=tolerance)
        assert told["entropy"] == pytest.approx(-(np.exp(row) * row).sum(), abs=10 * tolerance)
        if ranks:
            assert told["rank"] == pytest.approx((row > row[told["id"]]).sum() + 1, abs=1)
        best = np.sort(row)[::-1][: len(told["top_logprobs"])]
        np.testing.assert_allclose([top["logprob"] for top in told["top_logprobs"]], best, atol=tolerance)


def test_logprobs_are_those_of_transformers_alone_and_among_others(engine, peer):
    def one(n):
        prompt = PROMPT[: 5 + 7 * n]
        choice = engine.complete(prompt, max_tokens=12, logprobs=20, seed=n, ignore_eos=True, temperature=0.7)
        return prompt, choice

    with ThreadPoolExecutor(8) as pool:
        for prompt, choice in pool.map(one, range(8)):
            assert len(choice["logprobs"]["content"]) == 12
            check(choice["logprobs"]["content"], truth(peer, prompt + choice["token_ids"]), len(prompt))


def test_lines_that_begin_alike_are_read_once_and_say_the_same(engine, peer):
    draws = random.Random(8)
    shared = draws.choices(range(3, 300), k=200)
    tails = [draws.choices(range(3, 300), k=k) for k in (1, 2, 17, 40, 90, 300)]
    other = draws.choices(range(3, 300), k=150)
    prompts = [*(shared + tail for tail in tails), shared + tails[4] + [7], other, other[:130] + [5, 6], PROMPT]
    fields = {"max_tokens": 10, "seed": 4, "logprobs": 5, "ignore_eos": True, "return_token_ids": True}
    answer = engine.post("/v1/completions", json={"prompt": prompts, **fields}).json()
    for prompt, choice in zip(prompts, answer["choices"]):
        check(choice["logprobs"]["content"], truth(peer, prompt + choice["token_ids"]), len(prompt))


def test_what_lines_have_in_common_is_found():
    from types import SimpleNamespace

    from rehearsal_engine.attention import SHARED, alike

    def token(row, tokens):
        return row, SimpleNamespace(tokens=np.array(tokens)), len(tokens)

    start = list(range(SHARED))
    a, b = token(0, [*start, 1, 2, 3]), token(1, [*start, 1, 2, 9, 9])
    alone, short = token(2, [9, *start]), token(3, start[:-1])
    assert alike([a, b, alone, short]) == [(0, [short, alone]), (SHARED + 2, [a, b])]
    assert alike([a]) == [(0, [a])] and alike([a, alone]) == [(0, [a, alone])]


def test_echo_scores_the_prompt(engine, peer):
    choice = engine.complete(PROMPT, max_tokens=0, echo=True, logprobs=3)
    content = choice["logprobs"]["content"]
    assert [c["id"] for c in content] == PROMPT and content[0]["logprob"] is None
    check(content[1:], truth(peer, PROMPT), 1)
    assert choice["token_ids"] == [] and choice["finish_reason"] == "length"
    assert choice["logprobs"]["token_logprobs"] == [c["logprob"] for c in content]


def test_prompt_logprobs_have_vllms_shape(engine, peer):
    rows = engine.complete(PROMPT[:9], max_tokens=1, prompt_logprobs=2)["prompt_logprobs"]
    table = truth(peer, PROMPT[:9])
    assert rows[0] is None and len(rows) == 9
    for n, row in enumerate(rows[1:]):
        assert row[str(PROMPT[n + 1])]["logprob"] == pytest.approx(table[n][PROMPT[n + 1]], abs=1e-4)
        assert {1, 2} <= {told["rank"] for told in row.values()}


def test_stepping_equals_continuing_and_costs_one_token_a_step(engine):
    whole = engine.complete(PROMPT, max_tokens=20, seed=11, ignore_eos=True)["token_ids"]
    tokens = engine.complete(PROMPT, max_tokens=1, seed=11, ignore_eos=True)["token_ids"]
    while len(tokens) < 20:
        before = engine.metric("computed_tokens_total")
        tokens += engine.complete(PROMPT + tokens, max_tokens=1, seed=11, ignore_eos=True)["token_ids"]
        assert engine.metric("computed_tokens_total") == before + 1
    assert tokens == whole


def test_stepping_where_a_longer_line_went_before_copies_once(engine):
    # A prompt of its own, walked to its end first: a second session with the same seed steps the same path.
    prompt = random.Random(5).choices(range(3, 300), k=50)
    whole = engine.complete(prompt, max_tokens=24, seed=3, ignore_eos=True)["token_ids"]
    tokens = engine.complete(prompt, max_tokens=1, seed=3, ignore_eos=True)["token_ids"]
    held = engine.metric("cache_bytes")
    while len(tokens) < 24:
        tokens += engine.complete(prompt + tokens, max_tokens=1, seed=3, ignore_eos=True)["token_ids"]
    assert tokens == whole
    assert engine.metric("cache_bytes") <= held, "each step goes on in the line of the step before"
    again = engine.complete(prompt, max_tokens=24, seed=3, ignore_eos=True)["token_ids"]
    assert again == whole


def test_choices_share_the_prompt_and_differ(engine):
    prompt = PROMPT[::-1]
    before = engine.metric("prefill_tokens_total")
    fields = {"prompt": prompt, "n": 4, "max_tokens": 8, "seed": 3, "ignore_eos": True, "return_token_ids": True}
    answer = engine.post("/v1/completions", json=fields).json()
    ids = [tuple(choice["token_ids"]) for choice in answer["choices"]]
    assert len(set(ids)) == 4
    assert engine.metric("prefill_tokens_total") == before + len(prompt) + 3
    assert answer["usage"]["prompt_tokens"] == len(prompt) and answer["usage"]["completion_tokens"] == 32


def test_draws_follow_the_distribution(engine, peer):
    fields = {"prompt": PROMPT[:4], "n": 128, "max_tokens": 1, "temperature": 0.3, "return_token_ids": True}
    counts = np.zeros(512)
    for seed in range(8):
        for choice in engine.post("/v1/completions", json={**fields, "seed": seed}).json()["choices"]:
            counts[choice["token_ids"][0]] += 1
    p = np.exp(truth(peer, PROMPT[:4])[-1] / 0.3)
    assert np.abs(counts / 1024 - p / p.sum()).sum() / 2 < 0.15  # total variation; 1,024 draws


@pytest.mark.parametrize("fields, allowed", [({"top_k": 2}, 2), ({"min_p": 1.0}, 1), ({"top_p": 1e-9}, 1), ({"top_k": -1}, 512)])
def test_filters_narrow_what_is_drawn(engine, fields, allowed):
    asked = {"n": 32, "max_tokens": 1, "seed": 1, "logprobs": 1, "temperature": 2.0, "prompt": PROMPT[:5], **fields}
    choices = engine.post("/v1/completions", json=asked).json()["choices"]
    ranks = {choice["logprobs"]["content"][0]["rank"] for choice in choices}
    assert max(ranks) <= allowed and (allowed == 1 or len(ranks) > 1)


def test_end_token_is_told_but_not_written(engine):
    told = engine.complete(PROMPT, max_tokens=40, temperature=0, logprobs=0)
    fourth = told["token_ids"][3]
    first = told["token_ids"].index(fourth)
    ended = engine.complete(PROMPT, max_tokens=40, temperature=0, logprobs=0, stop_token_ids=[fourth])
    assert ended["token_ids"] == told["token_ids"][: first + 1]
    assert ended["finish_reason"] == "stop" and ended["stop_reason"] == fourth
    assert len(ended["logprobs"]["content"]) == first + 1
    assert told["text"].startswith(ended["text"])


def test_stop_string_cuts_the_text_streamed_or_not(engine):
    import orjson

    whole = engine.complete(PROMPT, max_tokens=40, temperature=0)["text"]
    stop = whole[6:9]
    fields = {"prompt": PROMPT, "max_tokens": 40, "temperature": 0, "stop": ["never", stop]}
    cut = engine.complete(**fields)
    assert cut["text"] == whole[: whole.index(stop)] and cut["stop_reason"] == stop
    with engine.stream("POST", "/v1/completions", json={**fields, "stream": True}) as answer:
        lines = [line[6:] for line in answer.iter_lines() if line.startswith("data: {")]
    assert "".join(orjson.loads(line)["choices"][0]["text"] for line in lines) == cut["text"]


def test_text_and_ids_agree_and_pieces_of_characters_add_up(engine):
    text = "order 中文 é 🙂 <|im_end|>"
    ids = engine.post("/tokenize", json={"prompt": text}).json()["tokens"]
    assert engine.post("/detokenize", json={"tokens": ids}).json()["prompt"] == text
    content = engine.complete(text, max_tokens=0, echo=True, logprobs=0)["logprobs"]["content"]
    assert bytes(b for told in content for b in told["bytes"]).decode() == text
    assert [told["id"] for told in content] == ids and any(len(t["bytes"]) == 1 and t["bytes"][0] > 127 for t in content)


def test_bfloat16_takes_the_path_of_gpus_and_stays_close(folder, peer):
    with serving("--model", folder, "--device", "cpu", "--dtype", "bfloat16") as client:
        with ThreadPoolExecutor(4) as pool:
            ask = lambda n: client.complete(PROMPT[:n], max_tokens=6, logprobs=0, temperature=0, ignore_eos=True)  # noqa: E731
            for n, choice in zip((5, 40, 41, 60), pool.map(ask, (5, 40, 41, 60))):
                check(choice["logprobs"]["content"], truth(peer, PROMPT[:n] + choice["token_ids"]), n, 0.2, ranks=False)
        before = client.metric("computed_tokens_total")
        client.complete([*PROMPT, 7], max_tokens=1)
        assert client.metric("computed_tokens_total") <= before + 2
