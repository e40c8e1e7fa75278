"""The Tinker protocol as clients see it: the official SDK, and requests that no SDK would send."""

import asyncio
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import numpy as np
import pytest
from raw import TOKENS, Raw

from rehearsal_engine.api.tinker_proto import CLASSES

os.environ.setdefault("TINKER_TELEMETRY", "0")
SHARED = Path(os.environ.get("REHEARSAL_SHARED") or Path(__file__).parents[5] / "shared")


def test_official_sdk_trains_saves_loads_and_samples(learner):
    import tinker
    from tinker import types

    def datum(**inputs):
        fields = {"target_tokens": types.TensorData(data=TOKENS[1:], dtype="int64", shape=[7])}
        fields |= {k: types.TensorData(data=v, dtype="float32", shape=[7]) for k, v in inputs.items()}
        return types.Datum(model_input=types.ModelInput.from_ints(TOKENS[:-1]), loss_fn_inputs=fields)

    service = tinker.ServiceClient(base_url=str(learner.base_url), api_key="tml-local-test")
    trainer = service.create_lora_training_client(base_model="tiny", rank=4, seed=1)
    supervised = [datum(weights=[1.0] * 7)]
    first = trainer.forward_backward(supervised, "cross_entropy").result()
    trainer.optim_step(types.AdamParams(learning_rate=1e-2)).result()
    second = trainer.forward(supervised, "cross_entropy").result()
    assert second.metrics["loss:sum"] < first.metrics["loss:sum"]
    restored = service.create_training_client_from_state_with_optimizer(trainer.save_state("sdk").result().path)
    logprobs = [list(t.forward(supervised, "cross_entropy").result().loss_fn_outputs[0]["logprobs"].data) for t in (trainer, restored)]
    assert logprobs[0] == pytest.approx(logprobs[1], abs=1e-5)
    with pytest.raises(tinker.BadRequestError, match="gspo.*not supported"):
        trainer.forward_backward(supervised, "gspo").result(timeout=30)
    sampler = trainer.save_weights_and_get_sampling_client()
    params = types.SamplingParams(max_tokens=6, seed=1, temperature=1.0)
    drawn = sampler.sample(prompt=types.ModelInput.from_ints(TOKENS[:4]), num_samples=2, sampling_params=params).result()
    assert len(drawn.sequences) == 2 and all(len(s.tokens) == len(s.logprobs) for s in drawn.sequences)
    scored = sampler.compute_logprobs(types.ModelInput.from_ints(TOKENS)).result()
    assert scored[0] is None and scored[1:] == pytest.approx(logprobs[0], abs=1e-4)


def test_published_conformance_script(learner):
    script = SHARED / "tinker" / "sdk_conformance.py"
    if not script.is_file():
        pytest.skip(f"{script} is not there: set REHEARSAL_SHARED")
    out = subprocess.run([sys.executable, script, str(learner.base_url), "tiny"], capture_output=True, text=True, timeout=300)
    assert "\n0 failed" in out.stdout, out.stdout + out.stderr


def test_requests_run_in_the_order_of_their_numbers(learner):
    raw, other = Raw(learner), Raw(learner)
    late = raw.optim(2).json()
    waited = threading.Thread(target=raw.result, args=[late])
    waited.start()
    first = raw.loss(raw.learn(1).json())
    waited.join(timeout=30)
    assert not waited.is_alive()
    assert first == raw.loss(other.learn(1).json())
    second = raw.loss(raw.learn(3, forward=True).json())
    assert second < first


def test_a_request_sent_again_is_done_once(learner):
    raw = Raw(learner)
    again = raw.post("create_model", **raw.creation)
    assert raw.result(again)["model_id"] == raw.model
    one, two = (raw.learn(1).json() for _ in range(2))
    steps = [raw.optim(2).json() for _ in range(3)]
    assert one == two and steps[0] == steps[1] == steps[2]
    assert raw.result(steps[0])["metrics"]["steps:max"] == 1
    once = raw.loss(raw.learn(3, forward=True).json())
    single = Raw(learner)
    single.learn(1), single.optim(2)
    assert once == single.loss(single.learn(3, forward=True).json())


def test_a_refused_request_has_used_its_number(learner):
    raw = Raw(learner)
    refused = raw.learn(1, loss="dro")
    assert refused.status_code == 400 and raw.learn(1, loss="dro").json() == refused.json()
    assert raw.loss(raw.learn(2).json()) > 0


LOGPROBS = dict(logprobs=[-1.0] * 7, advantages=[1.0] * 7)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (dict(loss="dro"), "loss 'dro' is not supported"),
        (dict(loss="ppo"), "advantages is missing"),
        (dict(weights=[1.0] * 3), "weights has 3 values for 7"),
        (dict(mask=[1.0] * 7), "mask is not an input"),
        (dict(weights=[1e300] * 7), "not a finite number"),
        (dict(loss="ppo", config={"beta": 1.0}, **LOGPROBS), "beta.*not supported"),
        (dict(ids=[5, 99999]), "not in the vocabulary"),
        (dict(ids=[5] * 600), "599 input tokens; from 1 to 512"),
    ],
)
def test_what_cannot_be_learned_is_refused_in_words(learner, options, words):
    answer = Raw(learner).learn(1, **options)
    assert answer.status_code == 400
    assert re.search(words, answer.json()["error"]["message"])


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("create_model", {"base_model": "other", "lora_config": {"rank": 4}}, "does not exist. Offered: tiny"),
        ("create_model", {"base_model": "tiny", "lora_config": {"rank": 0}}, "between 1 and 1024"),
        ("create_model", {"base_model": "tiny", "lora_config": {"rank": 4, "dora": True}}, "dora is not supported"),
        ("create_model", {"base_model": "tiny", "lora_config": {}, "optimizer_config": {"type": "dimuon"}}, "AdamW only"),
        ("load_weights", {"path": "tinker://x/weights/../../etc"}, "not the address"),
        ("load_weights", {"path": "tinker://x/weights/none"}, "no checkpoint"),
        ("asample", {"base_model": "tiny", "prompt": {"chunks": [{"tokens": [5]}]}, "topk_prompt_logprobs": 3}, "topk_prompt_logprobs is not"),
        ("asample", {"base_model": "tiny", "prompt": {"chunks": [{"tokens": []}]}}, "prompt is empty"),
        ("asample", {"base_model": "tiny", "prompt": {"chunks": [{"tokens": [5]}]}, "sampling_params": {"min_p": 0.1}}, "min_p is not"),
        ("optim_step", {"seq_id": 1, "adam_params": {"learning_rate": -1}}, "0 or more"),
        ("optim_step", {"seq_id": 1, "adam_params": {"momentum": 1}}, "momentum is not supported"),
        ("save_weights", {"seq_id": 1, "path": "../x"}, "cannot be used"),
        ("save_weights", {"seq_id": 1, "path": "x", "ttl_seconds": 60}, "ttl_seconds is not"),
        ("get_info", {"model_id": "none"}, "does not exist"),
    ],
)
def test_what_is_not_supported_is_refused_in_words(learner, path, body, words):
    raw = Raw(learner)
    common = {"session_id": raw.session, "model_seq_id": 7}
    if path != "load_weights":
        common["model_id"] = raw.model
    answer = raw.send(path, **common | body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


def sample(raw, count=1, **where):
    body = {"prompt": {"chunks": [{"tokens": TOKENS[:5]}]}, "num_samples": count, "sampling_params": {"max_tokens": 8, "seed": 3}, **where}
    out = CLASSES["SampleResponse"].FromString(raw.result(raw.post("asample", **body)))
    return [(np.frombuffer(s.tokens, "<i4").tolist(), np.frombuffer(s.logprobs, "<f4")) for s in out.sequences]


def same(one, other):
    """Rounding depends on what is computed beside."""
    return all(a[0] == b[0] and np.allclose(a[1], b[1], atol=1e-5) for a, b in zip(one, other, strict=True))


def test_new_weights_reach_the_sampler_and_old_ones_stay_what_they_were(learner):
    raw = Raw(learner)
    take = lambda seq: raw.result(raw.post("save_weights_for_sampler", model_id=raw.model, seq_id=seq, sampling_session_seq_id=seq))["sampling_session_id"]  # noqa: E731
    old = take(1)
    before = sample(raw, sampling_session_id=old)
    assert same(before, sample(raw, base_model="tiny"))  # an adapter begins as nothing
    raw.learn(2), raw.optim(3)
    new = take(4)
    after = sample(raw, sampling_session_id=new)
    assert not same(after, before)
    assert same(before, sample(raw, sampling_session_id=old))  # though its prompt is cached under other weights too
    named = raw.result(raw.post("save_weights_for_sampler", model_id=raw.model, seq_id=5, path="five"))["path"]
    assert same(after, sample(raw, model_path=named))
    openai = learner.complete(TOKENS[:5], model=new, max_tokens=8, seed=3)["token_ids"]
    assert openai == after[0][0]  # the OpenAI routes know them as well


def test_a_token_is_sampled_while_learning_goes_on(learner):
    raw = Raw(learner)
    futures = [raw.learn(seq, ids=list(range(3, 300))).json() for seq in range(1, 12)]
    done = []
    waiting = threading.Thread(target=lambda: done.append(raw.result(futures[-1])))
    waiting.start()
    learner.complete(TOKENS, max_tokens=1)
    assert not done
    waiting.join()


def test_a_session_that_ends_frees_its_models(learner):
    raw = Raw(learner)
    assert raw.post(f"sessions/{raw.session}/finish") == {}
    assert "session ended" in raw.learn(1).json()["error"]["message"]


def test_a_damaged_checkpoint_is_refused_and_the_one_before_loads(learner):
    raw = Raw(learner)
    one, two = (raw.result(raw.post("save_weights", model_id=raw.model, seq_id=n, path=f"step-{n}"))["path"] for n in (1, 2))
    file = learner.checkpoints / raw.model.replace(":", "_") / "checkpoints" / "step-2" / "optimizer.pt"
    file.write_bytes(file.read_bytes()[:-1])
    load = lambda seq, path: raw.wait(raw.post("load_weights", session_id=raw.session, model_seq_id=seq, path=path, optimizer=True))  # noqa: E731
    failed = load(1, two)
    assert failed["category"] == "user" and "step-2 is damaged" in failed["error"]
    assert "does not exist" in raw.send("get_info", model_id=f"{raw.session}:train:1").json()["error"]["message"]
    assert load(2, one)["model_id"] == f"{raw.session}:train:2"


def test_results_are_kept_for_a_while(monkeypatch):
    from rehearsal_engine.api import tinker_state

    monkeypatch.setattr(tinker_state, "KEPT_BYTES", 100)
    futures = tinker_state.Futures()
    three = [futures.new() for _ in range(3)]
    for future in three:
        futures.finish(future, bytes(60))
    assert [type(future.reply) for future in three] == [dict, dict, bytes]


def test_a_token_opens_the_routes_to_the_sdk(folder, tmp_path):
    from rehearsal_engine.api.http import BearerAuth

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask(headers):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(BearerAuth(app, "secret")), base_url="http://x") as client:
            return (await client.get("/api/v1/healthz", headers=headers)).status_code

    given = [{"x-api-key": "tml-secret"}, {"authorization": "Bearer secret"}, {"x-api-key": "secret"}, {}]
    assert [asyncio.run(ask(h)) for h in given] == [204, 204, 401, 401]
