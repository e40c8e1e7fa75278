"""Packed weights, as models that are not small compute on a CPU: the same numbers as transformers and as plain weights."""

import pytest
import torch
from conftest import serving

from rehearsal_engine import linear, model
from rehearsal_engine.model import Segment
from rehearsal_engine.models import Options, Served

PROMPT = list(range(5, 60))
pytestmark = pytest.mark.skipif(not linear.can_pack(torch.zeros(1)), reason="this PyTorch has no oneDNN")


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(model, "SMALL", 0)


@pytest.fixture
def packed(folder):
    served = Served("tiny", str(folder), Options(torch.device("cpu")))
    served.load()
    assert isinstance(served.model.head, linear.Packed)
    return served.model


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 16, 40])
@pytest.mark.parametrize("biased", [True, False])
def test_products_are_those_of_pytorch(rows, biased):
    draw = torch.Generator().manual_seed(rows)
    x, weight = torch.randn(rows, 70, generator=draw), torch.randn(33, 70, generator=draw)
    bias = torch.randn(33, generator=draw) if biased else None
    expected = torch.nn.functional.linear(x, weight, bias)
    torch.testing.assert_close(linear.Packed(weight, bias)(x), expected, rtol=1e-4, atol=1e-4)


def test_logits_are_those_of_transformers(packed, peer):
    with torch.no_grad():
        expected = peer(torch.tensor([PROMPT])).logits[0]
    line = packed.new_line(packed.capacity(len(PROMPT)))
    [found] = packed.forward([Segment(line, 0, PROMPT, slice(0, len(PROMPT)))])
    assert (found - expected).abs().max() < 1e-4


def test_a_token_costs_no_digits_in_a_batch(packed):
    """One step at a time, among others and with a prompt beside it: the same logits to rounding."""
    lines = [packed.new_line(packed.capacity(80)) for _ in range(6)]
    for i, line in enumerate(lines):
        ids = [9 + i, *PROMPT]
        packed.forward([Segment(line, 0, ids, None)])
        line.tokens[: len(ids)], line.length = ids, len(ids)
    at = len(PROMPT) + 1
    segments = [Segment(line, at, [70], slice(0, 1)) for line in lines]
    alone = [packed.forward([segment])[0] for segment in segments]
    other = Segment(packed.new_line(packed.capacity(80)), 0, PROMPT, None)
    together = packed.forward([*segments, other])[:-1]
    for one, among in zip(alone, together):
        torch.testing.assert_close(one, among, rtol=1e-4, atol=1e-4)


def test_deterministic_mode_gives_the_same_bits_however_it_is_computed(folder):
    def bits(choice):
        return choice["token_ids"], [(c["logprob"], c["top_logprobs"]) for c in choice["logprobs"]["content"]]

    asked = dict(logprobs=3, ignore_eos=True, seed=4)
    with serving("--model", f"tiny={folder}", "--device", "cpu", "--deterministic") as client:
        whole = bits(client.complete(PROMPT, max_tokens=20, **asked))
        ids, content = [], []
        for _ in range(20):
            step = bits(client.complete(PROMPT + ids, max_tokens=1, **asked))
            ids, content = ids + step[0], content + step[1]
    torch.use_deterministic_algorithms(False)
    assert (ids, content) == whole
