"""Adapters and whole models: gradients accumulate, steps resume to the bit, checkpoints load elsewhere."""

import json
import os
import signal
import time

import numpy as np
import pytest
import torch

from rehearsal_engine import memory
from rehearsal_engine.learning import checkpoints
from rehearsal_engine.learning.trainer import Adam, LearningError, Lora, Row, Trainer

LORA = Lora(rank=4, seed=1)
STEP = Adam(learning_rate=1e-2)


@pytest.fixture
def load(folder):
    from transformers import AutoModelForCausalLM

    return lambda: AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def rows(seed=0, count=6, length=12):
    """Rows that share a prefix; cross-entropy weights on their second half."""
    random = np.random.default_rng(seed)
    start = random.integers(3, 300, length // 2)
    out = []
    for _ in range(count):
        ids = np.concatenate([start, random.integers(3, 300, length - len(start))])
        weights = (np.arange(length) >= length // 2).astype(np.float32)
        out.append(Row(ids, np.append(ids[1:], 5), {"weights": weights}))
    return out


def learn(trainer, id, batch, steps=1, adam=STEP):
    for _ in range(steps):
        trainer.forward_backward(id, batch, "cross_entropy", {})
        trainer.optim_step(id, adam)


def scores(trainer, id, batch):
    return np.concatenate(trainer.forward_backward(id, batch, "cross_entropy", {}, forward_only=True).logprobs)


def gradients(trainer, id):
    found = {n: p.grad.clone() for n, p in trainer.models[id].parameters.items() if p.grad is not None}
    for p in trainer.models[id].parameters.values():
        p.grad = None
    return found


def bits(trainer, id):
    return {n: p.detach().clone() for n, p in trainer.models[id].parameters.items()}


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[n], other[n]) for n in one)


def test_gradients_accumulate_over_requests_and_parts(load, monkeypatch):
    trainer, batch = Trainer(load), rows()
    trainer.create("a", LORA)
    learn(trainer, "a", batch)  # so that no factor is zero
    whole_result = trainer.forward_backward("a", batch, "cross_entropy", {})
    whole = gradients(trainer, "a")
    trainer.forward_backward("a", batch[:2], "cross_entropy", {})
    trainer.forward_backward("a", batch[2:], "cross_entropy", {})
    requests = gradients(trainer, "a")
    trainer.part_tokens = 15
    parts_result = trainer.forward_backward("a", batch, "cross_entropy", {})
    parts = gradients(trainer, "a")
    trainer.part_tokens = None
    monkeypatch.setattr(memory, "tokens_that_fit", lambda *_: (8, 25))  # activations computed again
    trainer.forward_backward("a", batch, "cross_entropy", {})
    again = gradients(trainer, "a")
    size = sum(g.norm() for g in whole.values())
    for other in (requests, parts, again):
        assert sum((whole[n] - other[n]).norm() for n in whole) < 1e-5 * size
    assert whole_result.metrics["nodes:sum"] == 6 + 6 * 6 and whole_result.metrics["tokens:sum"] == 72
    assert parts_result.metrics["nodes:sum"] > whole_result.metrics["nodes:sum"]  # what is computed twice is counted
    assert parts_result.metrics["loss:sum"] == pytest.approx(whole_result.metrics["loss:sum"], rel=1e-5)


def test_a_step_is_adamw_with_clipping(load):
    trainer, batch = Trainer(load), rows()
    trainer.create("a", None)
    before = bits(trainer, "a")
    trainer.forward_backward("a", batch, "cross_entropy", {})
    grads = {n: p.grad.clone() for n, p in trainer.models["a"].parameters.items()}
    metrics = trainer.optim_step("a", Adam(1e-3, 0.9, 0.95, 1e-12, 0.1, grad_clip_norm=0.5))
    norm = torch.cat([g.flatten() for g in grads.values()]).norm().item()
    assert metrics["grad_norm:mean"] == pytest.approx(norm, rel=1e-5) and norm > 0.5
    reference = [torch.nn.Parameter(before[n].clone()) for n in before]
    for p, g in zip(reference, grads.values()):
        p.grad = g * (0.5 / norm)
    torch.optim.AdamW(reference, 1e-3, (0.9, 0.95), 1e-12, 0.1).step()
    for p, found in zip(reference, trainer.models["a"].parameters.values()):
        torch.testing.assert_close(p.detach(), found.detach(), atol=2e-6, rtol=1e-5)


def test_adapters_learn_beside_one_another(load):
    batch, other = rows(0), rows(1)
    alone = Trainer(load, deterministic=True)
    alone.create("a", LORA)
    learn(alone, "a", batch, 2)
    both = Trainer(load, deterministic=True)
    both.create("a", LORA)
    both.create("b", Lora(rank=2, seed=2, train_unembed=False))
    for _ in range(2):
        both.forward_backward("a", batch, "cross_entropy", {})
        both.forward_backward("b", other, "cross_entropy", {})
        both.optim_step("b", STEP)
        both.optim_step("a", STEP)
    values = lambda t: [v.tolist() for v in bits(t, "a").values()]  # noqa: E731
    assert values(alone) == values(both)
    both.drop("b")
    assert scores(both, "a", batch).tolist() == scores(alone, "a", batch).tolist()


@pytest.mark.parametrize("lora", [LORA, None], ids=["lora", "full"])
def test_resuming_from_a_checkpoint_ends_in_the_same_bits(load, folder, tmp_path, lora):
    batch = rows()
    straight = Trainer(load, deterministic=True)
    trained = straight.create("a", lora)
    learn(straight, "a", batch, 2)
    checkpoints.save(trained, tmp_path / "two", str(folder), optimizer=True)
    learn(straight, "a", batch, 2)
    resumed = Trainer(load, deterministic=True)
    checkpoints.load(resumed, "a", tmp_path / "two", optimizer=True)
    learn(resumed, "a", batch, 2)
    assert same(bits(straight, "a"), bits(resumed, "a"))
    checkpoints.load(straight, "a", tmp_path / "two", optimizer=True)  # back to it, in place
    learn(straight, "a", batch, 2)
    assert same(bits(straight, "a"), bits(resumed, "a"))
    fresh = Trainer(load, deterministic=True)
    checkpoints.load(fresh, "a", tmp_path / "two", optimizer=False)
    learn(fresh, "a", batch, 2)
    assert not same(bits(fresh, "a"), bits(resumed, "a"))


def test_checkpoints_load_in_plain_peft_and_transformers(load, folder, tmp_path):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    trainer, batch = Trainer(load), rows()
    trained = trainer.create("s:train:1", LORA)
    learn(trainer, trained.id, batch, 2)
    checkpoints.save(trained, tmp_path / "adapter", str(folder), optimizer=False)
    trainer.merged(trained.id).save_pretrained(tmp_path / "merged")
    whole = trainer.create("full", None)
    learn(trainer, "full", batch, 2)
    checkpoints.save(whole, tmp_path / "whole", str(folder), optimizer=False)
    plain = {
        trained.id: [PeftModel.from_pretrained(load(), tmp_path / "adapter"), AutoModelForCausalLM.from_pretrained(tmp_path / "merged")],
        "full": [AutoModelForCausalLM.from_pretrained(tmp_path / "whole")],
    }
    for id, models in plain.items():
        wanted = scores(trainer, id, batch)
        for model in models:
            logits = model.eval()(input_ids=torch.tensor(np.stack([r.ids for r in batch]))).logits.log_softmax(-1)
            found = logits.gather(2, torch.tensor(np.stack([r.targets for r in batch]))[..., None]).detach().flatten()
            np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_damaged_and_unwritable_checkpoints_are_told(load, folder, tmp_path):
    trainer = Trainer(load)
    trained = trainer.create("a", LORA)
    checkpoints.save(trained, tmp_path / "one", str(folder), optimizer=True)
    file = tmp_path / "one" / "adapter_model.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(LearningError, match="damaged .*adapter_model.* earlier"):
        checkpoints.load(trainer, "a", tmp_path / "one", optimizer=True)
    with pytest.raises(LearningError, match="no complete checkpoint"):
        checkpoints.load(trainer, "a", tmp_path / "two", optimizer=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(LearningError, match="could not be written"):
        checkpoints.save(trained, tmp_path / "file" / "three", str(folder), optimizer=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "one"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no file that is always full")
def test_a_full_disk_is_told_where_torch_names_no_reason(tmp_path):
    with pytest.raises(LearningError, match="could not be written") as caught:
        checkpoints.whole(tmp_path / "one", lambda place: torch.save({"a": torch.zeros(1_000_000)}, "/dev/full"))
    assert caught.value.code == "unwritable"
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writer is a forked process")
def test_a_checkpoint_survives_its_writer_being_killed_at_any_instant(tmp_path):
    """The newest is whole, whether it replaces one or not, and nothing else is left."""

    def write(place):
        for name in "abc":
            (place / name).write_bytes(os.urandom(200_000))
        note = {"sha256": {p.name: checkpoints.digest(p) for p in place.iterdir()}}
        (place / checkpoints.NOTE).write_text(json.dumps(note))

    random, folder = np.random.default_rng(1), tmp_path / "step-1"
    checkpoints.whole(folder, write)
    for _ in range(30):
        child = os.fork()
        if not child:
            while True:
                checkpoints.whole(folder, write)
        time.sleep(random.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        checkpoints.recover(tmp_path)
        checkpoints.read_note(folder)
        assert [p.name for p in tmp_path.iterdir()] == ["step-1"]


def test_an_infinite_loss_leaves_the_weights(load):
    trainer, batch = Trainer(load), rows()
    trainer.create("a", LORA)
    policy = [Row(r.ids, r.targets, {"advantages": r.inputs["weights"], "logprobs": np.full(12, -1e4, np.float32)}) for r in batch]
    learn(trainer, "a", batch)  # so that there is momentum
    before = bits(trainer, "a")
    with pytest.raises(LearningError, match="loss is -inf.*thrown away"):
        trainer.forward_backward("a", policy, "importance_sampling", {})
    with pytest.raises(LearningError, match="not made.*weights are as they were"):
        trainer.optim_step("a", STEP)
    assert same(before, bits(trainer, "a"))
    loss = trainer.forward_backward("a", batch, "cross_entropy", {}).metrics["loss:sum"]
    trainer.optim_step("a", STEP)
    assert trainer.forward_backward("a", batch, "cross_entropy", {}).metrics["loss:sum"] < loss
