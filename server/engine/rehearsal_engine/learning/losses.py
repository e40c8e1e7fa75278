"""The losses of the Tinker protocol. Each is a sum over tokens and samples: nothing is averaged here.

Inputs are flat over the samples' positions: `logprobs` of the learner, connected to its weights, and
what the client sent. A position with advantage or weight 0 adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Loss:
    """Names of a loss's tensors, its settings with their defaults, and its value at each position."""

    inputs: tuple[str, ...]
    config: dict[str, float]
    optional: tuple[str, ...]
    terms: Callable[[torch.Tensor, Tensors, dict[str, float]], torch.Tensor]

    def trained(self, inputs: Tensors) -> torch.Tensor:
        """Positions that ask for a gradient."""
        name = "weights" if "weights" in self.inputs + self.optional else "advantages"
        return inputs[name] != 0


def cross_entropy(logprobs, inputs, config):
    return -logprobs * inputs["weights"]


def importance_sampling(logprobs, inputs, config):
    return -ratio(logprobs, inputs) * inputs["advantages"]


def ppo(logprobs, inputs, config):
    r, a = ratio(logprobs, inputs), inputs["advantages"]
    return -torch.minimum(r * a, clipped(r, config) * a)


def cispo(logprobs, inputs, config):
    return -clipped(ratio(logprobs, inputs), config).detach() * inputs["advantages"] * logprobs


def ratio(logprobs: torch.Tensor, inputs: Tensors) -> torch.Tensor:
    """Learner's probability over sampler's. Where nothing is learned it is 1, so that a prompt cannot overflow it."""
    return torch.where(inputs["advantages"] != 0, logprobs - inputs["logprobs"], 0).exp()


def clipped(r: torch.Tensor, config: dict[str, float]) -> torch.Tensor:
    return r.clamp(config["clip_low_threshold"], config["clip_high_threshold"])


POLICY = ("logprobs", "advantages")
LOSSES = {
    "cross_entropy": Loss((), {}, ("weights",), cross_entropy),
    "importance_sampling": Loss(POLICY, {}, (), importance_sampling),
    "ppo": Loss(POLICY, {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}, (), ppo),
    "cispo": Loss(POLICY, {"clip_low_threshold": 0.0, "clip_high_threshold": 4.0}, (), cispo),
}


def metrics(name: str, terms: torch.Tensor, logprobs: torch.Tensor, inputs: Tensors, config: dict) -> dict[str, float]:
    """Figures of a part of a batch, named `name:reduction` so that parts can be put together."""
    found = {"loss:sum": terms}
    if "advantages" in inputs:
        on = (inputs["advantages"] != 0) | (inputs["logprobs"] != 0)
        apart = torch.where(on, logprobs - inputs["logprobs"], 0)
        r = apart.exp()
        found |= {"trained_tokens:sum": on, "logprob_difference:sum": apart.abs(), "kl_sampler_learner:sum": -apart}
        found["ratio:max"] = r
        found["ratio:min"] = r
        if config:
            outside = (r < config["clip_low_threshold"]) | (r > config["clip_high_threshold"])
            found["clipped_tokens:sum"] = outside & on
    reduce = {"sum": torch.sum, "max": torch.max, "min": torch.min}
    return {key: float(reduce[key.split(":")[1]](value.detach().double())) for key, value in found.items()}


def together(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """Metrics of two parts as those of both."""
    merge = {"sum": lambda a, b: a + b, "max": max, "min": min}
    both = {k: merge[k.split(":")[1]](one[k], other[k]) for k in one.keys() & other.keys()}
    return one | other | both
