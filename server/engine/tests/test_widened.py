"""A widened model computes what its source computes, in transformers and in the engine."""

import pytest
import torch
from conftest import serving
from transformers import AutoTokenizer, Qwen3ForCausalLM

from rehearsal_engine import random_model, widened

SHAPE = dict(hidden_size=160, num_hidden_layers=4, intermediate_size=144)
HEADS = [
    dict(num_attention_heads=6, num_key_value_heads=2, head_dim=32),  # the source's own
    dict(num_attention_heads=12, num_key_value_heads=4, head_dim=64),
    dict(num_attention_heads=20, num_key_value_heads=5, head_dim=96),  # more heads share keys
]


def trained_looking(folder):
    """Norms are ones in a new model, which would hide a wrong place."""
    model = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32)
    torch.manual_seed(1)
    for name, weight in model.named_parameters():
        if "norm" in name:
            weight.data = 1 + 0.5 * torch.rand_like(weight)
    model.config.rms_norm_eps = 1e-2  # large enough that a wrong epsilon is seen
    for part in model.modules():
        if hasattr(part, "variance_epsilon"):
            part.variance_epsilon = 1e-2
    return model.eval()


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("tied", [True, False])
def test_logits_are_the_sources(folder, tied, heads):
    source = trained_looking(folder)
    if not tied:
        source.config.tie_word_embeddings = False
        source.lm_head.weight = torch.nn.Parameter(torch.randn_like(source.lm_head.weight))
    wide = widened.widened(source, **SHAPE, **heads)
    ids = torch.randint(0, 300, (2, 90), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected, found = source(ids).logits, wide(ids).logits
    assert expected.std() > 0.5
    assert (expected - found).abs().max() < 1e-4


def test_no_weight_is_left_out_of_the_work(folder):
    """Columns that read what is new are not all zero: the model is one that training can go on with."""
    wide = widened.widened(trained_looking(folder), **SHAPE, **HEADS[1])
    for name, weight in wide.named_parameters():
        if name.endswith(("q_proj.weight", "k_proj.weight", "v_proj.weight", "gate_proj.weight", "up_proj.weight")):
            assert weight[:, 64:].any(), name


@pytest.mark.parametrize("wrong", [dict(hidden_size=32), dict(head_dim=48), dict(num_attention_heads=8, num_key_value_heads=8)])
def test_a_shape_that_does_not_hold_the_source_is_refused(folder, wrong):
    with pytest.raises(ValueError):
        widened.widened(trained_looking(folder), **(SHAPE | HEADS[1] | wrong))


def test_engine_gives_the_same_tokens(folder, engine, tmp_path):
    widened.write(folder, tmp_path / "wide", **SHAPE, **HEADS[1])
    prompt = list(range(5, 60))
    asked = dict(max_tokens=24, ignore_eos=True, seed=3, logprobs=2)
    with serving("--model", f"wide={tmp_path / 'wide'}", "--device", "cpu") as wide:
        found, expected = wide.complete(prompt, model="wide", **asked), engine.complete(prompt, **asked)
    assert found["token_ids"] == expected["token_ids"]
    text = "the order <tool_call>"
    own, other = (AutoTokenizer.from_pretrained(at) for at in (tmp_path / "wide", folder))
    assert own.encode(text) == other.encode(text) and own.chat_template == other.chat_template
