"""A learning step on shared prefixes: `python -m rehearsal_engine.learning.bench [ROW …]`.

The same multi-turn rollouts (two tasks, groups of 8, policy and tools of 1,500 tokens, five turns,
both roles), random weights of nano's shape, forward and backward pass. `learn-vs-outputs` and
`learn-vs-rollouts` lay out one row for each output and for each chain of a rollout; `learn-cost` is a
plain causal batch of transformers with as many tokens as the tree; `tree-mask` and `depth-first` are
the other ways to compute a tree, on a smaller one. Ratios are of CPU seconds of this process, since
other programs run; of many rows alike every tenth is computed. Prints one JSON object a row.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402

from rehearsal_engine import random_model  # noqa: E402
from rehearsal_engine.learning import attention  # noqa: E402
from rehearsal_engine.learning.logprobs import Sample, of_samples  # noqa: E402
from rehearsal_engine.learning.tree import build  # noqa: E402

VOCAB = 300
GOALS = {
    "learn-vs-outputs": (5, "higher"), "learn-vs-rollouts": (2, "higher"), "learn-cost": (1.3, "lower"),
    "tree-mask": (1, "higher"), "depth-first": (1, "higher"),
}  # fmt: skip


def rollouts(tasks: int, group: int, prompt: int, turns: int, output: int = 40, told: int = 50, seed: int = 0):
    """(ids, trained) of each chain: an ACT and a REHEARSE chain for each rollout, all outputs masked in."""
    draw = np.random.default_rng(seed)
    chains = []
    for _ in range(tasks):
        starts = [draw.integers(0, VOCAB, prompt) for _ in ("act", "rehearse")]
        for _ in range(group):
            for start in starts:
                ids, trained = [start], [np.zeros(prompt, bool)]
                for _ in range(turns):
                    ids += [draw.integers(0, VOCAB, output), draw.integers(0, VOCAB, told)]
                    trained += [np.ones(output, bool), np.zeros(told, bool)]
                chains.append((np.concatenate(ids[:-1]), np.concatenate(trained[:-1])))
    return chains


def outputs(chain) -> list[tuple[np.ndarray, np.ndarray]]:
    """The chain as one row for each of its outputs."""
    ids, trained = chain
    ends = np.flatnonzero(trained & ~np.append(trained[1:], False)) + 1
    starts = [0, *ends[:-1]]
    return [(ids[:end], trained[:end] & (np.arange(end) >= start)) for start, end in zip(starts, ends)]


def samples_of(rows) -> list[Sample]:
    return [Sample(ids[:-1], ids[1:], trained[1:]) for ids, trained in rows]


def timed(model, run) -> float:
    model.zero_grad()
    started = time.process_time()
    run().backward()
    return time.process_time() - started


def tree(model, rows):
    """The loss over all rows in one trie, a log-probability for every position, as the engine computes it."""
    samples = samples_of(rows)
    logprobs, _ = of_samples(model, samples)
    return lambda: sum(lp[torch.as_tensor(s.trained)].sum() for lp, s in zip(logprobs, samples))


def learn(model, rows) -> float:
    return timed(model, lambda: tree(model, rows)())


def one_by_one(model, rows, every: int) -> float:
    """Each row by itself, every tenth of them."""
    return every * sum(learn(model, [row]) for row in rows[:: every])


def plain(model, nodes: int, length: int) -> float:
    """Transformers' own causal forward pass over rows of this length, with its fused attention."""
    use(model, "sdpa")
    ids = torch.randint(0, VOCAB, (max(1, round(nodes / length)), length))
    run = lambda: model(input_ids=ids).logits.log_softmax(-1)[:, :-1].gather(2, ids[:, 1:, None]).sum()  # noqa: E731
    return timed(model, run) * nodes / ids.numel()


def masked(model, rows) -> float:
    """The same trie with a mask over all pairs of nodes."""
    use(model, "sdpa")
    layout = build([s.ids for s in samples_of(rows)])
    seen = torch.zeros(layout.nodes, layout.nodes, dtype=torch.bool)
    for edge in layout.edges:
        seen[edge.first : edge.end, edge.first : edge.stop] = True
    seen = seen.tril()[None, None]
    ids, positions = torch.as_tensor(layout.ids)[None], torch.as_tensor(layout.positions)[None]
    places, targets = pairs(layout, rows)

    def run():
        hidden = model.model(input_ids=ids, position_ids=positions, attention_mask=seen, use_cache=False)
        return model.lm_head(hidden.last_hidden_state[0]).log_softmax(-1)[places, targets].sum()

    return timed(model, run)


def depth_first(model, rows) -> float:
    """The same trie one edge at a time, with the keys and values of the path behind it."""
    from transformers import DynamicCache

    use(model, "sdpa")
    layout = build([s.ids for s in samples_of(rows)])
    places, targets = pairs(layout, rows)

    def run():
        hidden, stack = torch.empty(layout.nodes, model.config.hidden_size), []
        parts = []
        for edge in layout.edges:
            while stack and stack[-1][0] <= edge.first:
                stack.pop()
            cache = copy.copy(stack[-1][1]) if stack else DynamicCache(config=model.config)
            cache.layers = [copy.copy(layer) for layer in cache.layers]
            at = slice(edge.first, edge.stop)
            ids, positions = torch.as_tensor(layout.ids[at])[None], torch.as_tensor(layout.positions[at])[None]
            parts.append(model.model(input_ids=ids, position_ids=positions, past_key_values=cache).last_hidden_state[0])
            stack.append((edge.end, cache))
        hidden = torch.cat(parts)
        return model.lm_head(hidden).log_softmax(-1)[places, targets].sum()

    return timed(model, run)


def pairs(layout, rows):
    samples = samples_of(rows)
    return (torch.as_tensor(np.concatenate([p[s.trained] for p, s in zip(layout.places, samples)])),
            torch.as_tensor(np.concatenate([s.targets[s.trained] for s in samples])))  # fmt: skip


def use(model, kind: str) -> None:
    model.model.config._attn_implementation = model.config._attn_implementation = kind


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("rows", nargs="*", default=list(GOALS), metavar="ROW", help=" ".join(GOALS))
    p.add_argument("--prompt", type=int, default=1500)
    p.add_argument("--group", type=int, default=8)
    p.add_argument("--repetitions", type=int, default=3)
    options = p.parse_args()
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    attention.register()
    with tempfile.TemporaryDirectory() as folder:
        random_model.write(Path(folder), **random_model.NANO)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    chains = rollouts(2, options.group, options.prompt, 5)
    small = rollouts(1, 4, options.prompt // 2, 4)
    nodes = build([ids[:-1] for ids, _ in chains]).nodes
    length = round(statistics.mean(len(ids) for ids, _ in chains))
    peers = {
        "learn-vs-outputs": lambda: one_by_one(model, [row for chain in chains for row in outputs(chain)], 10),
        "learn-vs-rollouts": lambda: one_by_one(model, chains, 4),
        "learn-cost": lambda: plain(model, nodes, length),
        "tree-mask": lambda: masked(model, small),
        "depth-first": lambda: depth_first(model, small),
    }
    learn(model, small)  # warms up
    for row in options.rows:
        ratios, seconds = [], []
        for _ in range(options.repetitions):
            mine = learn(model, chains if row.startswith("learn") else small)
            peer = peers[row]()
            ratios.append(mine / peer if row == "learn-cost" else peer / mine)
            seconds.append((mine, peer))
        goal, better = GOALS[row]
        print(json.dumps({
            "id": row, "value": round(statistics.median(ratios), 3), "unit": "x", "goal": goal, "better": better,
            "n": len(ratios), "min": round(min(ratios), 3), "max": round(max(ratios), 3), "nodes": nodes,
            "tokens_in_rows": sum(len(ids) - 1 for ids, _ in chains), "cpu_seconds": [[round(s, 2) for s in pair] for pair in seconds],
        }), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
