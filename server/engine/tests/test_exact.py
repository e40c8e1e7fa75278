"""Deterministic mode: exact ids of plain transformers, and the same bits whatever is cached or runs."""

import random
from concurrent.futures import ThreadPoolExecutor

import torch
from conftest import serving

PROMPTS = [random.Random(length).choices(range(3, 300), k=length) for length in (3, 17, 40, 130)]


def greedy(peer, prompt, count):
    with torch.inference_mode():
        out = peer.generate(torch.tensor([prompt]), max_new_tokens=count, do_sample=False, eos_token_id=None)
    return out[0, len(prompt) :].tolist()


def bits(choice):
    return choice["token_ids"], [(c["logprob"], c["entropy"], c["top_logprobs"]) for c in choice["logprobs"]["content"]]


def ask(client, prompt, **fields):
    return client.complete(prompt, **{"max_tokens": 24, "logprobs": 5, "ignore_eos": True, "seed": 5, **fields})


def test_greedy_ids_are_those_of_transformers(exact, peer):
    for prompt in PROMPTS:
        assert ask(exact, prompt, temperature=0)["token_ids"] == greedy(peer, prompt, 24)


def test_same_bits_cached_or_not_alone_or_among_others(exact, folder):
    with serving("--model", f"tiny={folder}", "--device", "cpu", "--deterministic") as fresh:
        alone = []
        for prompt in PROMPTS:
            fresh.scheduler.cache.forget(("tiny", None, 0))
            alone.append(bits(ask(fresh, prompt)))
    for prompt in PROMPTS:  # fill the cache with prefixes that end anywhere
        for cut in (1, len(prompt) // 2, len(prompt) - 1):
            ask(exact, prompt[: max(cut, 1)], max_tokens=3)
    cached_before = exact.metric("cached_tokens_total")
    with ThreadPoolExecutor(8) as pool:
        among = list(pool.map(lambda prompt: bits(ask(exact, prompt)), PROMPTS * 3))
    assert exact.metric("cached_tokens_total") > cached_before
    assert among == alone * 3


def test_stepping_gives_the_bits_of_continuing(exact):
    prompt = PROMPTS[1]
    whole = ask(exact, prompt, max_tokens=30)
    tokens, numbers = [], []
    for _ in range(30):
        ids, content = bits(ask(exact, prompt + tokens, max_tokens=1))
        tokens, numbers = tokens + ids, numbers + content
    assert (tokens, numbers) == bits(whole)


def test_scoring_gives_the_bits_of_sampling(exact):
    prompt = PROMPTS[2]
    sampled = ask(exact, prompt)
    scored = exact.complete(prompt + sampled["token_ids"], echo=True, max_tokens=0, logprobs=5)
    assert bits(scored)[1][len(prompt) :] == bits(sampled)[1]
