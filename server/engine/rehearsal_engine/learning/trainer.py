"""One base model, any number of trained models over it: LoRA adapters, or whole copies.

Everything here runs on one thread (`api/tinker_state.Learner`). Trained weights, gradients and optimizer
state are float32; forward passes are in bfloat16 autocast on GPUs.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from rehearsal_engine import memory
from rehearsal_engine.learning import adapters, attention, losses
from rehearsal_engine.learning.logprobs import Sample, of_samples
from rehearsal_engine.learning.tree import build, split


class LearningError(Exception):
    """What cannot be done, why, and what to do; shown to the user as it is. `code` is for programs."""

    def __init__(self, message: str, code: str = "refused"):
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Lora:
    rank: int = 32
    alpha: int = 32
    seed: int | None = None
    train_attn: bool = True
    train_mlp: bool = True
    train_unembed: bool = True

    @property
    def targets(self) -> list[str]:
        parts = {
            ("q_proj", "k_proj", "v_proj", "o_proj"): self.train_attn,
            ("gate_proj", "up_proj", "down_proj"): self.train_mlp,
            ("lm_head",): self.train_unembed,
        }
        return [name for names, wanted in parts.items() if wanted for name in names]


@dataclass(frozen=True)
class Adam:
    learning_rate: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-12
    weight_decay: float = 0.0
    grad_clip_norm: float = 0.0  # 0: off


@dataclass
class Trained:
    """A model in training. `module` computes it once `activate` has been called."""

    id: str
    lora: Lora | None  # None: every weight is trained
    module: torch.nn.Module
    parameters: dict[str, torch.nn.Parameter]
    optimizer: torch.optim.AdamW
    steps: int = 0
    spoiled: bool = False  # gradients of the step under way were thrown away: the step is not to be made


@dataclass
class Row:
    """A datum: input ids, targets and the loss's other tensors, all [T]."""

    ids: np.ndarray
    targets: np.ndarray
    inputs: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass
class Result:
    logprobs: list[np.ndarray]  # float32 [T] of each row
    metrics: dict[str, float]


class Trainer:
    """`load` gives a fresh float32 module of the base model (transformers' own)."""

    def __init__(self, load: Callable[[], torch.nn.Module], deterministic: bool = False, part_tokens: int | None = None):
        attention.register()
        self._load, self.deterministic = load, deterministic
        self.part_tokens = part_tokens  # most tokens in a forward pass; None: from the memory that is free
        self._base = None  # a PeftModel, once there is an adapter
        self.models: dict[str, Trained] = {}

    @property
    def has_base(self) -> bool:
        """Whether the base that adapters share is loaded."""
        return self._base is not None

    def create(self, id: str, lora: Lora | None) -> Trained:
        if lora is None:
            module = self._load().float()
            module.requires_grad_(True)
        else:
            module = self._with_adapter(id, lora)
        named = {n: p for n, p in module.named_parameters() if lora is None or f".{name_of(id)}." in n}
        self.models[id] = Trained(id, lora, module, named, torch.optim.AdamW(named.values(), foreach=False))
        return self.models[id]

    def _with_adapter(self, id: str, lora: Lora):
        from peft import LoraConfig, PeftModel

        if not lora.targets:
            raise LearningError("Nothing would be trained: switch on train_attn, train_mlp or train_unembed.")
        base = self._base.base_model.model if self._base else self._load()
        config = LoraConfig(
            r=lora.rank, lora_alpha=lora.alpha, lora_dropout=0.0, target_modules=lora.targets, task_type="CAUSAL_LM",
            ensure_weight_tying=False,
        )  # fmt: skip
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of tied weights, which `merged` and `save` deal with
            torch.manual_seed(lora.seed if lora.seed is not None else torch.seed() & (2**63 - 1))
            if self._base is None:
                base.requires_grad_(False)
                self._base = PeftModel(base, config, adapter_name=name_of(id))
            else:
                self._base.add_adapter(name_of(id), config)
        return self._base

    def drop(self, id: str) -> None:
        trained = self.models.pop(id, None)
        if trained is not None and trained.lora is not None and len(self._base.peft_config) > 1:
            self._base.delete_adapter(name_of(id))
        elif trained is not None and trained.lora is not None:
            self._base = None  # the last one: peft cannot be without an adapter

    def activate(self, trained: Trained) -> torch.nn.Module:
        """The transformers module that computes it."""
        if trained.lora is None:
            return trained.module
        self._base.set_adapter(name_of(trained.id))
        return self._base.base_model.model

    def forward_backward(
        self, id: str, rows: Sequence[Row], loss: str, config: dict[str, float], forward_only: bool = False
    ) -> Result:
        """Adds the gradients of the sum over rows to what has been accumulated."""
        trained, term = self.models[id], losses.LOSSES[loss]
        module = self.activate(trained).train(False)  # dropout stays off
        device = next(module.parameters()).device
        config = {**term.config, **config}
        found: list[np.ndarray] = [np.empty(0, np.float32)] * len(rows)
        metrics: dict[str, float] = {"nodes:sum": 0.0, "tokens:sum": float(sum(len(r.ids) for r in rows))}
        limit, checkpointing = self._plan(module, rows, device)
        with using(module, checkpointing and not forward_only), autocast(device):
            for part in split([r.ids for r in rows], limit):
                chosen = [rows[i] for i in part]
                inputs = flat_inputs(chosen, device)
                trained_at = term.trained(inputs).cpu().numpy()
                samples = samples_of(chosen, trained_at)
                logprobs, tree = of_samples(module, samples, grad=not forward_only)
                flat = torch.cat(logprobs)
                terms = term.terms(flat, inputs, config)
                values = losses.metrics(loss, terms, flat, inputs, config) | {"nodes:sum": float(tree.nodes)}
                if not math.isfinite(values["loss:sum"]):
                    self._forget_gradients(trained)
                    trained.spoiled = True
                    raise LearningError(
                        f"The loss is {values['loss:sum']}: the weights are left as they are and the gradients of this step "
                        "are thrown away. Look at the batch, lower the learning rate, or go back to a checkpoint.",
                        "not_finite",
                    )
                metrics = losses.together(metrics, values)
                if not forward_only and trained_at.any():
                    terms.sum().backward()
                for index, values_of in zip(part, logprobs):
                    found[index] = values_of.detach().float().cpu().numpy()
        return Result(found, metrics)

    def _plan(self, module, rows: Sequence[Row], device) -> tuple[int, bool]:
        """Most tokens in a forward pass, and whether activations are computed again for the backward pass."""
        if self.part_tokens or self.deterministic:  # always the same parts, whatever else needs memory
            return self.part_tokens or 8192, False
        fits, fits_again = memory.tokens_that_fit(module, device)
        return (fits, False) if sum(len(r.ids) for r in rows) <= fits or build([r.ids for r in rows]).nodes <= fits else (fits_again, True)

    def _forget_gradients(self, trained: Trained) -> None:
        for parameter in trained.parameters.values():
            parameter.grad = None

    def optim_step(self, id: str, adam: Adam) -> dict[str, float]:
        """One AdamW step with what has been accumulated, and none of it afterwards."""
        trained = self.models[id]
        if trained.spoiled:  # zero gradients would still move the weights, by their momentum
            trained.spoiled = False
            self._forget_gradients(trained)
            raise LearningError("The step was not made: a loss of it was not finite. The weights are as they were.", "not_finite")
        parameters = list(trained.parameters.values())
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        norm = float(torch.nn.utils.clip_grad_norm_(parameters, adam.grad_clip_norm or math.inf, foreach=False))
        if not math.isfinite(norm):
            self._forget_gradients(trained)
            raise LearningError(
                f"The gradient norm is {norm}: the step was not made and its gradients are thrown away. "
                "Look at the batch, lower the learning rate, or go back to a checkpoint.",
                "not_finite",
            )
        for group in trained.optimizer.param_groups:
            group |= dict(
                lr=adam.learning_rate, betas=(adam.beta1, adam.beta2), eps=adam.eps, weight_decay=adam.weight_decay
            )
        trained.optimizer.step()
        self._forget_gradients(trained)
        trained.steps += 1
        return {"grad_norm:mean": norm, "steps:max": float(trained.steps)}

    def merged(self, id: str) -> torch.nn.Module:
        """A module of its own with the adapter added to the weights, as plain transformers computes it."""
        trained = self.models[id]
        if trained.lora is None:
            return copy.deepcopy(trained.module)
        found = self._base.base_model.model
        # The structure is copied and the tensors of the base, which never change, are shared.
        module = copy.deepcopy(found, {builtins.id(t): t for t in [*found.parameters(), *found.buffers()]})
        for name, layer in list(module.named_modules()):
            if hasattr(layer, "base_layer"):
                parent, _, last = name.rpartition(".")
                setattr(module.get_submodule(parent) if parent else module, last, layer.base_layer)
        adapters.add_to(module, adapters.live_deltas(found, name_of(id)))
        return module


def name_of(id: str) -> str:
    """A model id as a name of an adapter, which is part of a module's path."""
    return id.replace(":", "_").replace(".", "_")


def flat_inputs(rows: Sequence[Row], device) -> dict[str, torch.Tensor]:
    names = rows[0].inputs
    return {n: torch.as_tensor(np.concatenate([r.inputs[n] for r in rows]), device=device) for n in names}


def samples_of(rows: Sequence[Row], trained: np.ndarray) -> list[Sample]:
    ends = np.cumsum([len(r.ids) for r in rows])[:-1]
    return [Sample(r.ids, r.targets, on) for r, on in zip(rows, np.split(trained, ends))]


@contextlib.contextmanager
def using(module, checkpointing: bool):
    """Gradient checkpointing for as long as it is needed; it is off unless the module trains."""
    if not checkpointing:
        yield
        return
    module.gradient_checkpointing_enable({"use_reentrant": False})
    module.train()
    try:
        yield
    finally:
        module.gradient_checkpointing_disable()
        module.eval()


def autocast(device: torch.device):
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else contextlib.nullcontext()
