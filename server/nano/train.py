"""Train nano from the corpus: `python server/nano/train.py CORPUS OUT [--recipe full]`.

Seeded, by steps and not by time, resumable: run the same command again after a stop. One phase reads one file of
the corpus in order: short copying documents first, then everything. Loss on completions only. Muon for matrices,
AdamW for embeddings and norms; constant learning rate, then linear decay to zero in the second half.
Left out on purpose: dropout, weight decay, warm-up; with data that never repeats they gained nothing.
"""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

import tokenizer as tokenizers
from encode import encode_file

LONGEST = 1400
# Qwen3 normalizes queries and keys, so how sharply a head can attend is the scale of those norms. Copying needs
# sharp heads: they start at more than one and learn faster than the rest.
SHARPNESS = 1.5
SHARPNESS_RATE = 5.0


@dataclass(frozen=True)
class Recipe:
    """`phases`: file of the corpus and steps. `tokens`: in one step, padding included. Rates before decay."""

    phases: tuple[tuple[str, int], ...]
    tokens: int
    parts: int = 3
    muon: float = 0.02
    adam: float = 3e-3


RECIPES = {
    "full": Recipe(phases=(("copy", 450), ("any", 800), ("mixed", 2250)), tokens=3072),
    "quick": Recipe(phases=(("copy", 600), ("mixed", 1100)), tokens=2048),
    # What follows starts from a trained model.
    "polish": Recipe(phases=(("polish", 950),), tokens=3072, muon=0.01, adam=1.5e-3),
    "consequences": Recipe(phases=(("consequences", 620),), tokens=3072, muon=0.01, adam=1.5e-3),
    "answers": Recipe(phases=(("answers", 270),), tokens=3072, muon=0.006, adam=9e-4),
    "novice": Recipe(phases=(("novice", 160),), tokens=3072, muon=0.004, adam=6e-4),
}


def config(tokenizer: PreTrainedTokenizerFast) -> Qwen3Config:
    """1.45 M parameters: small enough to train here, large enough to copy, look up and choose."""
    return Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=192,
        num_hidden_layers=4,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=32,
        intermediate_size=384,
        max_position_embeddings=tokenizers.CONTEXT,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def plan_of(documents: list, recipe: Recipe, count: int, seed: int) -> list[list[list[int]]]:
    """`count` steps, each of `recipe.parts` lists of document indices.

    A list holds documents of like length, so that little is padding; a step holds several lists, so that its
    gradient is not that of one kind of document.
    """
    random = np.random.default_rng(seed)
    room = recipe.tokens // recipe.parts
    groups: list[list[int]] = []
    for start in range(0, len(documents), 512):
        window = sorted(range(start, min(start + 512, len(documents))), key=lambda i: len(documents[i][0]))
        made: list[list[int]] = [[]]
        for index in window:
            if made[-1] and (len(made[-1]) + 1) * len(documents[index][0]) > room:
                made.append([])
            made[-1].append(index)
        groups += [made[i] for i in random.permutation(len(made))]
    if len(groups) < count * recipe.parts:
        raise SystemExit(f"the corpus has documents for {len(groups) // recipe.parts} steps only, {count} are wanted")
    return [groups[step * recipe.parts : (step + 1) * recipe.parts] for step in range(count)]


def loss_of(model, documents: list) -> tuple[torch.Tensor, dict[str, list[float]]]:
    """Summed cross-entropy of the learned tokens (nats), and by kind of document [sum, count]."""
    longest = max(len(ids) for ids, _, _ in documents)
    ids = torch.zeros(len(documents), longest, dtype=torch.long)
    learned = torch.zeros(len(documents), longest, dtype=torch.bool)
    for row, (tokens, learn, _) in enumerate(documents):
        ids[row, : len(tokens)] = torch.from_numpy(tokens).long()
        learned[row, : len(tokens)] = torch.from_numpy(learn)
    # Padding stands on the right: a causal model needs no mask for it. Logits only where there is loss.
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = model.model(input_ids=ids, attention_mask=None, use_cache=False).last_hidden_state
        rows, columns = torch.nonzero(learned[:, 1:], as_tuple=True)
        logits = model.lm_head(hidden[rows, columns]).float()
    each = F.cross_entropy(logits, ids[rows, columns + 1], reduction="none")
    kinds: dict[str, list[float]] = {}
    for row, (_, _, kind) in enumerate(documents):
        mine = each.detach()[rows == row]
        total = kinds.setdefault(kind, [0.0, 0])
        total[0] += float(mine.sum())
        total[1] += len(mine)
    return each.sum(), kinds


def optimizers(model, recipe: Recipe) -> list[torch.optim.Optimizer]:
    named = list(model.named_parameters())
    matrices = [p for name, p in named if p.ndim == 2 and "embed" not in name]
    sharpness = [p for name, p in named if "q_norm" in name or "k_norm" in name]
    others = [p for name, p in named if (p.ndim != 2 or "embed" in name) and not any(p is one for one in sharpness)]
    groups = [{"params": others, "scale": 1.0}, {"params": sharpness, "scale": SHARPNESS_RATE}]
    return [
        torch.optim.Muon([{"params": matrices, "scale": 1.0}], lr=recipe.muon, weight_decay=0.0, momentum=0.95),
        torch.optim.AdamW(groups, lr=recipe.adam, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def save(model, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    """bf16 safetensors, configuration and tokenizer: what `AutoModelForCausalLM.from_pretrained` reads."""
    half = AutoModelForCausalLM.from_config(model.config)
    half.load_state_dict(model.state_dict())
    half.to(torch.bfloat16).save_pretrained(out)
    for trace in ("is_local", "local_files_only"):  # of having been read from a folder
        tokenizer.init_kwargs.pop(trace, None)
    tokenizer.save_pretrained(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--recipe", choices=RECIPES, default="full")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--init", type=Path, help="a checkpoint to go on from, with its tokenizer")
    options = parser.parse_args()
    recipe = RECIPES[options.recipe]
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)

    if options.init:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(options.init)
        model = AutoModelForCausalLM.from_pretrained(options.init, dtype=torch.float32)
    else:
        tokenizer = tokenizers.build(options.corpus, options.out)
        model = Qwen3ForCausalLM(config(tokenizer))
        for name, parameter in model.named_parameters():
            if "q_norm" in name or "k_norm" in name:
                torch.nn.init.constant_(parameter, SHARPNESS)
    steps = optimizers(model, recipe)
    plan: list[tuple[list, list[list[int]]]] = []
    for number, (file, count) in enumerate(recipe.phases):
        documents = encode_file(options.corpus / f"{file}.jsonl", tokenizer, LONGEST)
        plan += [(documents, parts) for parts in plan_of(documents, recipe, count, options.seed + number)]

    state_file = options.out / "state.pt"
    begin = 0
    if state_file.exists():
        state = torch.load(state_file)
        begin = state["step"]
        model.load_state_dict(state["model"])
        for optimizer, saved in zip(steps, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)

    model.train()
    window: dict[str, list[float]] = {}
    for step in range(begin, len(plan)):
        documents, parts = plan[step]
        decay = min(1.0, 2 * (len(plan) - step) / len(plan))
        learned = sum(int(documents[i][1].sum()) for group in parts for i in group)
        for group in parts:
            loss, kinds = loss_of(model, [documents[i] for i in group])
            (loss / learned).backward()
            for kind, (total, count) in kinds.items():
                sums = window.setdefault(kind, [0.0, 0])
                sums[0] += total
                sums[1] += count
        for optimizer, rate in zip(steps, (recipe.muon, recipe.adam), strict=True):
            for settings in optimizer.param_groups:
                settings["lr"] = rate * decay * settings["scale"]
            optimizer.step()
            optimizer.zero_grad()
        if (step + 1) % 50 == 0:
            means = {kind: round(total / count, 4) for kind, (total, count) in sorted(window.items()) if count}
            line = {"step": step + 1, "of": len(plan), "cpu_s": round(time.process_time()), "loss": means}
            with (options.out / "train.jsonl").open("a") as log:
                log.write(json.dumps(line) + "\n")
            window = {}
        if (step + 1) % 250 == 0:
            saved = [optimizer.state_dict() for optimizer in steps]
            partial = state_file.with_suffix(".partial")
            torch.save({"step": step + 1, "model": model.state_dict(), "optimizers": saved}, partial)
            partial.replace(state_file)
    save(model, tokenizer, options.out)


if __name__ == "__main__":
    main()
