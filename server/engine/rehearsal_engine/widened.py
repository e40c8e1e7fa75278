"""A Qwen3 in the shape of a larger one that computes the same: `python -m rehearsal_engine.widened SOURCE TARGET`.

Nano's token costs as little as what programs around it do with it, so nano says little about how fast people
rehearse with the models they use. A widened nano gives nano's answers, and each token costs the work of a model of
the larger shape: every product is dense, nothing is skipped.

Let d and D be the hidden sizes of the source and the target, w and W = kw the widths of a head.

- Residual stream: x becomes (x, 0). Rows of the embedding end in zeros; what writes to the stream (output and down
  projections) has rows of zeros for the new dimensions; what reads it may have anything in their columns.
- RMSNorm: the mean of squares over D is d/D of that over d. With an epsilon of ε·d/D the quotient is √(D/d) times
  the source's, so weights are multiplied by √(d/D).
- Rotary positions: frequency i of w is θ^(-2i/w), which is frequency ki of W. Dimension i of either half of a query
  or key moves to dimension ki of that half, and the other dimensions are zero.
- Norms of queries and keys: the mean of squares over W is w/W of that over w, and the epsilon is the same ε·d/D. With
  rows of the projections times √(kd/D) the quotient is √k times the source's. The keys' weights are divided by √k;
  the queries' are not, since scores are now divided by √W instead of √w.
- New heads, new dimensions of values and new units of the MLP are random; the columns that would read them are zero.
  A head goes where it reads the keys that it read. New layers are random, but write nothing to the stream.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

# The shape of a small model that people rehearse with: 102 million parameters.
USABLE = dict(
    hidden_size=768, num_hidden_layers=16, intermediate_size=2048,
    num_attention_heads=12, num_key_value_heads=4, head_dim=64,
)  # fmt: skip
NORMS = ("input_layernorm", "post_attention_layernorm")


def widened(source, seed: int = 0, **shape):
    """A `Qwen3ForCausalLM` of this shape (names as in its configuration), float32, whose logits are those of `source`.

    Raises ValueError where the source does not fit into the shape.
    """
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    old = source.config
    check(old, shape)
    fields = old.to_dict() | shape | {"rms_norm_eps": old.rms_norm_eps * old.hidden_size / shape["hidden_size"]}
    for name in ("layer_types", "dtype"):
        fields.pop(name, None)
    config = Qwen3Config(**fields)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        target = Qwen3ForCausalLM(config).float()
        place(target.get_input_embeddings().weight, source.get_input_embeddings().weight, columns=0)
        if not config.tie_word_embeddings:
            place(target.lm_head.weight, source.lm_head.weight)
        shrink = (old.hidden_size / config.hidden_size) ** 0.5
        target.model.norm.weight[: old.hidden_size] = source.model.norm.weight * shrink
        for number, layer in enumerate(target.model.layers):
            if number < old.num_hidden_layers:
                widen_layer(layer, source.model.layers[number], old, config)
            else:
                layer.self_attn.o_proj.weight.zero_()
                layer.mlp.down_proj.weight.zero_()
    target.generation_config = source.generation_config
    return target.eval()


def check(old, shape: dict) -> None:
    if old.model_type != "qwen3" or old.attention_bias:
        raise ValueError(f"Only a Qwen3 without biases can be widened, and this is a {old.model_type}.")
    for name, size in shape.items():
        if size < getattr(old, name):
            raise ValueError(f"{name} is {getattr(old, name)} in the source; {size} is less.")
    if shape["head_dim"] % old.head_dim or shape["num_attention_heads"] % shape["num_key_value_heads"]:
        raise ValueError("head_dim must be a multiple of the source's, and heads one of the heads of keys.")
    if shape["num_attention_heads"] // shape["num_key_value_heads"] < old.num_attention_heads // old.num_key_value_heads:
        raise ValueError("Fewer heads would share a head of keys than in the source.")


def widen_layer(layer, source, old, new) -> None:
    import torch

    factor = new.head_dim // old.head_dim
    shrink = (old.hidden_size / new.hidden_size) ** 0.5
    for name in NORMS:
        getattr(layer, name).weight[: old.hidden_size] = getattr(source, name).weight * shrink

    half = torch.arange(old.head_dim // 2) * factor
    spread = torch.cat([half, half + new.head_dim // 2])  # where the dimensions of a query or key go
    shared, fits = (c.num_attention_heads // c.num_key_value_heads for c in (old, new))
    queries = [head // shared * fits + head % shared for head in range(old.num_attention_heads)]
    keys = list(range(old.num_key_value_heads))

    mine, its = layer.self_attn, source.self_attn
    for projection, norm, heads, rescaled in (("q_proj", "q_norm", queries, 1.0), ("k_proj", "k_norm", keys, factor**-0.5)):
        rows = by_head(getattr(mine, projection).weight, new.head_dim)
        rows[heads] = 0
        rows[torch.tensor(heads)[:, None], spread, : old.hidden_size] = (
            by_head(getattr(its, projection).weight, old.head_dim) * factor**0.5 * shrink
        )
        getattr(mine, norm).weight[spread] = getattr(its, norm).weight * rescaled
    by_head(mine.v_proj.weight, new.head_dim)[: len(keys), : old.head_dim, : old.hidden_size] = by_head(
        its.v_proj.weight, old.head_dim
    )
    mine.o_proj.weight.zero_()
    columns = mine.o_proj.weight.view(new.hidden_size, -1, new.head_dim)
    columns[: old.hidden_size, queries, : old.head_dim] = its.o_proj.weight.view(old.hidden_size, -1, old.head_dim)

    place(layer.mlp.gate_proj.weight, source.mlp.gate_proj.weight)
    place(layer.mlp.up_proj.weight, source.mlp.up_proj.weight)
    layer.mlp.down_proj.weight.zero_()
    place(layer.mlp.down_proj.weight, source.mlp.down_proj.weight)


def by_head(weight, width: int):
    """A projection's weight as [heads, width, inputs]."""
    return weight.view(-1, width, weight.shape[1])


def place(target, source, columns: float | None = None) -> None:
    """Writes a weight into the corner of a larger one, whose other columns become `columns` where it is given."""
    if columns is not None:
        target.fill_(columns)
    target[: source.shape[0], : source.shape[1]] = source


def write(source: Path, target: Path, seed: int = 0, **shape) -> Path:
    """Writes the widened model beside a copy of the source's tokenizer and chat template."""
    import torch
    from transformers import Qwen3ForCausalLM

    model = widened(Qwen3ForCausalLM.from_pretrained(source, dtype=torch.float32), seed, **(USABLE | shape))
    model.save_pretrained(target)
    for file in source.iterdir():
        if file.is_file() and file.suffix != ".safetensors" and not (target / file.name).exists():
            shutil.copy(file, target)
    return target


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("source", type=Path, help="folder of a Qwen3")
    p.add_argument("target", type=Path, help="folder to write")
    p.add_argument("--seed", type=int, default=0, help="of the random weights that change nothing")
    for name, size in USABLE.items():
        p.add_argument(f"--{name.replace('_', '-')}", type=int, default=size)
    options = vars(p.parse_args())
    write(options.pop("source"), options.pop("target"), **options)
