"""Checkpoints that leave the engine, weights that reach the sampler, and models that do not fit."""

import re

import pytest
import torch
from conftest import serving
from raw import TOKENS, Raw

from rehearsal_engine import linear, model


@pytest.mark.parametrize("lora", [dict(rank=4, seed=1), None], ids=["lora", "full"])
def test_exported_checkpoints_load_in_plain_transformers(learner, folder, tmp_path, lora):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    raw = Raw(learner)
    if lora is None:
        raw.model = raw.result(raw.post("create_model", **raw.creation | {"model_seq_id": 9, "lora_config": None}))["model_id"]
    raw.learn(1), raw.optim(2)
    path = raw.result(raw.post("save_weights", model_id=raw.model, seq_id=3, path="end"))["path"]
    out = lambda form, **more: raw.wait(raw.post("rehearsal/export", path=path, form=form, folder=str(tmp_path / form), **more))  # noqa: E731
    merged = out("merged")
    assert merged["steps"] == 1 and merged["bytes"] == sum(f.stat().st_size for f in (tmp_path / "merged").iterdir())
    found = [AutoModelForCausalLM.from_pretrained(tmp_path / "merged").eval()]
    if lora is None:
        assert "is no adapter" in out("adapter")["error"]
    else:
        assert "vLLM takes no adapter of the output layer" in out("adapter")["note"]
        found.append(PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(folder), tmp_path / "adapter").eval())
    scored = learner.complete(TOKENS, model=f"{raw.model.replace(':', '_')}/end", max_tokens=0, echo=True, logprobs=0)
    wanted = [entry["logprob"] for entry in scored["logprobs"]["content"][1:]]
    for model in found:
        rows = model(input_ids=torch.tensor([TOKENS])).logits[0].log_softmax(-1)
        assert [rows[i, t].item() for i, t in enumerate(TOKENS[1:])] == pytest.approx(wanted, abs=1e-4)
    for form in [p.name for p in tmp_path.iterdir()]:
        tokenizers = [AutoTokenizer.from_pretrained(place) for place in (folder, tmp_path / form)]
        assert tokenizers[0].chat_template == tokenizers[1].chat_template
        assert len({t("a user's order")["input_ids"][0] for t in tokenizers}) == 1
    assert "not empty" in out("merged")["error"]


@pytest.mark.skipif(not linear.can_pack(torch.zeros(1)), reason="this PyTorch has no oneDNN")
@pytest.mark.parametrize("lora", [dict(rank=4, seed=1), None], ids=["lora", "full"])
def test_packed_weights_are_those_of_the_last_step(folder, tmp_path, monkeypatch, lora):
    """A model that is not small is sampled from copies of its weights: none of them may stay what it was."""
    from transformers import AutoModelForCausalLM

    monkeypatch.setattr(model, "SMALL", 0)

    def scored(name):
        return [c["logprob"] for c in client.complete(TOKENS, model=name, max_tokens=0, echo=True, logprobs=0)["logprobs"]["content"][1:]]

    with serving("--model", f"tiny={folder}", "--device", "cpu", "--checkpoints", tmp_path / "checkpoints") as client:
        raw = Raw(client)
        if lora is None:
            raw.model = raw.result(raw.post("create_model", **raw.creation | {"model_seq_id": 9, "lora_config": None}))["model_id"]
        untrained, found = scored("tiny"), []
        for n in range(2):
            raw.result(raw.post("forward_backward", **raw.batch(4 * n + 1)))
            raw.result(raw.post("optim_step", model_id=raw.model, seq_id=4 * n + 2, adam_params={"learning_rate": 1e-2}))
            named = dict(model_id=raw.model, seq_id=4 * n + 3, sampling_session_seq_id=n)
            session = raw.result(raw.post("save_weights_for_sampler", **named))["sampling_session_id"]
            path = raw.result(raw.post("save_weights", model_id=raw.model, seq_id=4 * n + 4, path=f"step-{n}"))["path"]
            out = tmp_path / f"merged-{n}"
            raw.result(raw.post("rehearsal/export", path=path, form="merged", folder=str(out)))
            rows = AutoModelForCausalLM.from_pretrained(out).eval()(input_ids=torch.tensor([TOKENS])).logits[0].log_softmax(-1)
            wanted = [rows[i, t].item() for i, t in enumerate(TOKENS[1:])]
            assert wanted != pytest.approx(found[-1][1] if found else untrained, abs=1e-3)
            assert scored(session) == pytest.approx(wanted, abs=1e-4)
            assert scored(f"{raw.model.replace(':', '_')}/step-{n}") == pytest.approx(wanted, abs=1e-4)
            found.append((session, wanted))
        for session, wanted in found:  # the earlier ones stay what they were
            assert scored(session) == pytest.approx(wanted, abs=1e-4)
        assert scored("tiny") == untrained


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"form": "gguf"}, "form must be one of"),
        ({"folder": "relative"}, "absolute path"),
        ({"dtype": "int4"}, "dtype must be one of"),
        ({"path": "tinker://x/weights/none"}, "no checkpoint"),
    ],
)
def test_exports_that_cannot_be_are_refused(learner, tmp_path, body, words):
    answer = Raw(learner).send("rehearsal/export", **{"path": "tinker://x/weights/y", "form": "merged", "folder": str(tmp_path / "x")} | body)
    assert answer.status_code == 400 and words in answer.json()["error"]["message"]


def test_a_model_too_large_to_train_or_load_is_refused_with_the_figures(learner, folder, monkeypatch):
    from rehearsal_engine import memory
    from rehearsal_engine.loading import LoadError
    from rehearsal_engine.models import Options, Served

    raw = Raw(learner)
    fit = lambda lora: raw.result(raw.post("rehearsal/fit", base_model="tiny", lora_config=lora))  # noqa: E731
    full, small = fit(None), fit({"rank": 4})
    assert full["fits"] and small["fits"] and full["need_bytes"]["trained"] > small["need_bytes"]["trained"] > 0
    monkeypatch.setattr(memory, "free_bytes", lambda _: 1 << 20)
    failed = raw.wait(raw.post("create_model", **raw.creation | {"model_seq_id": 1, "lora_config": None}))
    assert failed["code"] == "too_large"
    assert re.search(r"Training tiny needs about \d+ MiB .*optimizer \d+ MiB.*1 MiB are free", failed["error"])
    monkeypatch.setattr(memory, "free_bytes", lambda _: 1000)
    with pytest.raises(LoadError, match="needs about 1 MiB to be loaded"):
        Served("tiny", str(folder), Options(torch.device("cpu"))).load()


def test_memory_is_counted_as_the_model_has_it(folder):
    from transformers import AutoConfig, AutoModelForCausalLM

    from rehearsal_engine import memory
    from rehearsal_engine.learning.trainer import Lora, Trainer

    module = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert memory.count(AutoConfig.from_pretrained(folder))[0] == sum(p.numel() for p in module.parameters())
    trainer, lora = Trainer(lambda: module), Lora(rank=3)
    trained = trainer.create("a", lora)
    need = memory.need(module.config, lora, 4, True, 128)
    assert need.trained == 16 * sum(p.numel() for p in trained.parameters.values()) and need.weights == 0
