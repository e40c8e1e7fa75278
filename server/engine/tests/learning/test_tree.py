"""A batch as a trie: the gradients of one row a sample, each token computed once."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

from rehearsal_engine.learning import attention, losses
from rehearsal_engine.learning.logprobs import Sample, of_samples
from rehearsal_engine.learning.tree import build, split

VOCAB = 20
attention.register()


def tiny(kind, config, dtype):
    torch.manual_seed(3)
    shape = dict(hidden_size=16, num_hidden_layers=2, intermediate_size=24, vocab_size=VOCAB, initializer_range=0.4)
    heads = dict(num_attention_heads=4, num_key_value_heads=2, head_dim=8, attn_implementation="sdpa")
    model = kind(config(**shape, **heads)).to(dtype).eval()
    for module in [m for m in model.modules() if "RMSNorm" in type(m).__name__]:
        # Transformers' own rounds to float32 whatever the weights are.
        module.forward = lambda x, m=module: torch.nn.functional.rms_norm(x, m.weight.shape, m.weight, m.variance_epsilon)
    return model


MODELS = {
    (name, dtype): tiny(kind, config, dtype)
    for name, kind, config in (("qwen3", Qwen3ForCausalLM, Qwen3Config), ("llama", LlamaForCausalLM, LlamaConfig))
    for dtype in (torch.float64, torch.float32)
}


@st.composite
def batches(draw):
    """Rows that extend one another, branch anywhere, repeat, or have nothing in common."""
    rows = [draw(st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=12))]
    for _ in range(draw(st.integers(0, 7))):
        base = draw(st.sampled_from(rows))
        cut = draw(st.integers(0, len(base)))
        rows.append((base[:cut] + draw(st.lists(st.integers(0, VOCAB - 1), max_size=8))) or [1])
    seed = draw(st.integers(0, 2**31))
    return rows, seed


def figures(rows, seed):
    """Targets, advantages (many of them 0) and the sampler's log-probabilities of each row."""
    random = np.random.default_rng(seed)
    out = []
    for row in rows:
        n = len(row)
        targets = np.array([*row[1:], random.integers(VOCAB)])
        out.append((targets, random.normal(size=n) * random.integers(0, 2, n), -3 * random.random(n)))
    return out


def backward(model, loss, logprobs, rows, dtype):
    """Gradients of the sum over the rows, and the norms of each row's own."""
    term = losses.LOSSES[loss]
    total = 0
    for lp, (_, advantages, old) in zip(logprobs, rows):
        a, q = torch.tensor(advantages, dtype=dtype), torch.tensor(old, dtype=dtype)
        total = total + term.terms(lp, {"advantages": a, "logprobs": q, "weights": a}, term.config).sum()
    model.zero_grad()
    total.backward()
    return torch.cat([torch.zeros(p.numel(), dtype=dtype) if p.grad is None else p.grad.flatten() for p in model.parameters()])


def plain(model, row, targets):
    """Transformers' own forward pass over one row."""
    for config in (model.config, model.model.config):
        config._attn_implementation = "sdpa"  # eager attention rounds to float32
    logits = model(input_ids=torch.tensor([row])).logits[0]
    return logits.log_softmax(-1).gather(1, torch.tensor(targets)[:, None])[:, 0]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", ["qwen3", "llama"])
@pytest.mark.parametrize("written_out", [False, True], ids=["kernel", "written-out"])
@settings(max_examples=25, deadline=None, derandomize=True)
@given(batch=batches(), loss=st.sampled_from(sorted(losses.LOSSES)))
def test_gradients_are_those_of_one_row_a_sample(name, dtype, written_out, batch, loss):
    model, (rows, seed) = MODELS[name, dtype], batch
    numbers = figures(rows, seed)
    each = [backward(model, loss, [plain(model, r, n[0])], [n], dtype) for r, n in zip(rows, numbers)]
    samples = [Sample(np.array(r), n[0], n[1] != 0) for r, n in zip(rows, numbers)]
    chosen, attention.flash = attention.flash, (lambda q: False) if written_out else attention.flash
    try:
        logprobs, tree = of_samples(model, samples)
        expected = torch.cat([plain(model, r, n[0]) for r, n in zip(rows, numbers)])
        torch.testing.assert_close(torch.cat(logprobs), expected, atol=1e-9 if dtype == torch.float64 else 1e-4, rtol=0)
        if any((n[1] != 0).any() for n in numbers):
            found = backward(model, loss, logprobs, numbers, dtype)
            apart, scale = (found - sum(each)).norm().item(), sum(e.norm().item() for e in each)
            assert apart <= (1e-9 if dtype == torch.float64 else 1e-5) * max(scale, 1)
    finally:
        attention.flash = chosen
    prefixes = {tuple(row[: i + 1]) for row in rows for i in range(len(row))}
    assert tree.nodes == len(prefixes)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(batch=batches(), limit=st.integers(1, 30))
def test_parts_hold_every_sample_once_and_keep_the_limit(batch, limit):
    rows = [np.array(row) for row in batch[0]]
    parts = split(rows, limit)
    assert sorted(i for part in parts for i in part) == list(range(len(rows)))
    assert all(len(part) == 1 or build([rows[i] for i in part]).nodes <= limit for part in parts)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(batch=batches())
def test_edges_cover_the_trie_and_paths_spell_the_samples(batch):
    rows = [np.array(row) for row in batch[0]]
    tree = build(rows)
    assert [n for e in tree.edges for n in range(e.first, e.stop)] == list(range(tree.nodes))
    for row, places in zip(rows, tree.places):
        assert tree.ids[places].tolist() == row.tolist()
        assert tree.positions[places].tolist() == list(range(len(row)))


def test_the_last_position_of_a_shared_prompt_supervises_every_branch():
    model = MODELS["qwen3", torch.float64]
    targets = [np.array([2, 3, t]) for t in (4, 5, 6)]
    samples = [Sample(np.array([1, 2, 3]), t, np.array([False, False, True])) for t in targets]
    logprobs, tree = of_samples(model, samples)
    assert tree.nodes == 3
    together = backward(model, "cross_entropy", logprobs, [(t, [0, 0, 1.0], [0, 0, 0]) for t in targets], torch.float64)
    rows = [(t, [0, 0, 1.0], [0, 0, 0]) for t in targets]
    each = [backward(model, "cross_entropy", [plain(model, [1, 2, 3], t)], [r], torch.float64) for t, r in zip(targets, rows)]
    torch.testing.assert_close(together, sum(each), atol=1e-10, rtol=0)
