"""Log-probabilities of the targets of samples, each node of their trie computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

from rehearsal_engine.learning.attention import NAME
from rehearsal_engine.learning.tree import Tree, build

CELLS = 1 << 25  # most logits at a time; further ones are computed again for their gradient


@dataclass(frozen=True)
class Sample:
    """Inputs and targets of one row, both [T]: target t is what is to follow input t."""

    ids: np.ndarray
    targets: np.ndarray
    trained: np.ndarray  # [T] bool: whether a gradient is asked for this position


def of_samples(model, samples: Sequence[Sample], grad: bool = True) -> tuple[list[torch.Tensor], Tree]:
    """Log-probabilities [T] of each sample (float32 at least, connected to the weights), and the trie.

    A node with several targets, such as the last token of a prompt that a group shares, has one row
    of logits and one log-probability for each target; samples with the same target share it.
    """
    tree = build([s.ids for s in samples])
    device = next(model.parameters()).device
    with torch.set_grad_enabled(grad):
        hidden = hidden_states(model, tree, device)
        places = np.concatenate(tree.places)
        targets = np.concatenate([s.targets for s in samples])
        trained = np.concatenate([s.trained for s in samples]) & grad
        values = targeted(model, hidden, places, targets, trained)
    return list(values.split([len(s.ids) for s in samples])), tree


def hidden_states(model, tree: Tree, device) -> torch.Tensor:
    """Last hidden states [nodes, hidden]."""
    ids = torch.as_tensor(tree.ids, device=device)[None]
    positions = torch.as_tensor(tree.positions, device=device)[None]
    body = model.get_decoder()
    body.config._attn_implementation = NAME
    return body(input_ids=ids, position_ids=positions, use_cache=False, tree=tree).last_hidden_state[0]


def targeted(model, hidden: torch.Tensor, places: np.ndarray, targets: np.ndarray, trained: np.ndarray):
    """[positions] log-probability of targets after places. Those not trained on cost no backward pass."""
    kind = torch.promote_types(hidden.dtype, torch.float32)
    values = torch.empty(len(places), dtype=kind, device=hidden.device)
    head = model.get_output_embeddings()
    for chosen, grad in ((~trained, False), (trained, True)):
        at = np.flatnonzero(chosen)
        if not len(at):
            continue
        # Pairs, not positions: what ten samples share is computed once.
        pairs, which = np.unique(np.stack([places[at], targets[at]]), axis=1, return_inverse=True)
        nodes, rows = np.unique(pairs[0], return_inverse=True)
        with torch.set_grad_enabled(grad and torch.is_grad_enabled()):
            found = by_chunks(head, hidden, nodes, rows, pairs[1])
            index = torch.as_tensor(at, device=hidden.device)
            values = values.index_put((index,), found[torch.as_tensor(which.reshape(-1), device=hidden.device)])
    return values


def by_chunks(head, hidden: torch.Tensor, nodes: np.ndarray, rows: np.ndarray, targets: np.ndarray) -> torch.Tensor:
    """Log-probabilities of (nodes[rows[i]], targets[i]), for bounded memory some nodes at a time."""
    step = max(1, CELLS // head.weight.shape[0])
    found = []
    for first in range(0, len(nodes), step):
        inside = np.flatnonzero((rows >= first) & (rows < first + step))  # ascending, as `rows` is
        at = [torch.as_tensor(x, device=hidden.device) for x in (nodes[first : first + step], rows[inside] - first, targets[inside])]
        part = hidden[at[0]]
        several = len(nodes) > step and part.requires_grad
        found.append(checkpoint(chunk, head, part, *at[1:], use_reentrant=False) if several else chunk(head, part, *at[1:]))
    return torch.cat(found)


def chunk(head, hidden: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    logits = head(hidden)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return logits[rows, targets] - logits.logsumexp(-1)[rows]
