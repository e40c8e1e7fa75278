"""Streams, clients that go away, priorities, the memory bound, several models, tokens, GGUF."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import orjson
import pytest
import torch
from conftest import serving

from rehearsal_engine import cli, loading, random_model
from rehearsal_engine.model import Model

PROMPT = list(range(20, 60))


def events(answer):
    lines = [line[6:] for line in answer.iter_lines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    return [orjson.loads(line) for line in lines[:-1]]


def eventually(holds):
    for _ in range(500):
        if holds():
            return
        time.sleep(0.01)
    assert holds()


def test_stream_is_a_chunk_a_token_and_adds_up(exact):
    fields = {"prompt": PROMPT, "max_tokens": 9, "seed": 2, "logprobs": 3, "return_token_ids": True, "ignore_eos": True}
    whole = exact.post("/v1/completions", json=fields).json()["choices"][0]
    streamed = {**fields, "stream": True, "stream_options": {"include_usage": True}}
    with exact.stream("POST", "/v1/completions", json=streamed) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        *chunks, usage = events(answer)
    parts = [chunk["choices"][0] for chunk in chunks]
    assert [part["token_ids"] for part in parts] == [[token] for token in whole["token_ids"]]
    assert "".join(part["text"] for part in parts) == whole["text"]
    for name in ("content", "token_logprobs", "top_logprobs", "text_offset"):
        assert sum((part["logprobs"][name] for part in parts), []) == whole["logprobs"][name]
    assert [part["finish_reason"] for part in parts] == [None] * 8 + ["length"]
    assert parts[0]["prompt_token_ids"] == PROMPT and usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == 9


@pytest.mark.parametrize("stream", [True, False])
def test_a_closed_connection_frees_its_slot(engine, stream, monkeypatch):
    """The forward pass waits for us, so that the moment of closing is certain."""
    gate, original = threading.Semaphore(3), Model.forward

    def gated(self, segments):
        gate.acquire()
        return original(self, segments)

    monkeypatch.setattr(Model, "forward", gated)
    computed, aborted = engine.metric("computed_tokens_total"), engine.metric("requests_aborted_total")
    fields = {"prompt": [9 + stream] * 4, "max_tokens": 400, "stream": stream, "ignore_eos": True}
    try:
        with engine.stream("POST", "/v1/completions", json=fields) if stream else raw(engine, fields):
            eventually(lambda: engine.metric("computed_tokens_total") == computed + 6)  # prompt and two
        # Closed, with one pass under way: after it nothing more is computed.
        eventually(lambda: any(s.cancelled for s in engine.scheduler.alive))
    finally:
        gate.release(500)
    eventually(lambda: engine.metric("sequences_running") == 0)
    assert engine.metric("computed_tokens_total") == computed + 7
    assert engine.metric("requests_aborted_total") == aborted + 1


class raw:
    """A request whose answer nobody waits for."""

    def __init__(self, client, fields):
        import socket

        body = orjson.dumps(fields)
        head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        self.socket = socket.create_connection((client.base_url.host, client.base_url.port))
        self.socket.sendall(head.encode() + body)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def test_urgent_requests_go_first(folder):
    with serving("--model", folder, "--device", "cpu", "--max-batch", "1") as client:
        order = []

        def ask(name, priority, count):
            client.complete(PROMPT, max_tokens=count, ignore_eos=True, priority=priority)
            order.append(name)

        long = threading.Thread(target=ask, args=("rollout", 1, 450))
        long.start()
        eventually(lambda: client.metric("decode_tokens_total") > 3)
        ask("interactive", 0, 3)
        long.join()
        assert order == ["interactive", "rollout"]


def test_cache_keeps_within_its_bound_and_drops_the_oldest(folder):
    with serving("--model", folder, "--device", "cpu", "--cache-mib", "1") as client:
        for first in range(3, 40):
            client.complete([first] * 200, max_tokens=2)
            assert client.metric("cache_bytes") <= client.metric("cache_limit_bytes")
        before = client.metric("cached_tokens_total")
        client.complete([39] * 200, max_tokens=2)
        assert client.metric("cached_tokens_total") == before + 199
        client.complete([3] * 200, max_tokens=2)
        assert client.metric("cached_tokens_total") == before + 199


def test_a_long_prompt_is_computed_beside_the_tokens_of_others(engine, monkeypatch):
    passes, gate, original = [], threading.Semaphore(3), Model.forward

    def watched(self, segments):
        gate.acquire()
        passes.append(sorted(len(segment.ids) for segment in segments))
        return original(self, segments)

    monkeypatch.setattr(Model, "forward", watched)
    fields = {"prompt": [8], "max_tokens": 60, "stream": True, "ignore_eos": True}
    with engine.stream("POST", "/v1/completions", json=fields) as answer:
        eventually(lambda: len(passes) == 3)
        long = threading.Thread(target=engine.complete, args=([n % 290 + 5 for n in range(500)],), kwargs={"max_tokens": 1})
        long.start()
        eventually(lambda: engine.metric("sequences_waiting") == 1)
        gate.release(500)
        assert len(events(answer)) == 60
        long.join()
    assert [sizes for sizes in passes if sizes[-1] > 1] == [[1, 256], [1, 244]]


def test_several_models_load_when_first_used(folder, tmp_path):
    other = random_model.write(tmp_path / "other", seed=1, context=128, **random_model.TINY)
    with serving("--model", f"one={folder}", "--model", f"two={other}", "--device", "cpu") as client:
        cards = {card["id"]: card for card in client.get("/v1/models").json()["data"]}
        assert cards["one"]["loaded"] and not cards["two"]["loaded"]
        assert cards["two"]["max_model_len"] == 128 and cards["two"]["vocab_size"] == 512
        assert cards["two"]["owned_by"] == "rehearsal" and cards["two"]["eos_token_ids"] == [2]
        fields = {"max_tokens": 5, "temperature": 0, "ignore_eos": True}
        texts = {name: client.complete(PROMPT, model=name, **fields)["token_ids"] for name in ("one", "two", "one")}
        assert texts["one"] != texts["two"]
        refused = client.post("/v1/completions", json={"prompt": "x", "model": "three"})
        assert refused.status_code == 404 and "one, two" in refused.json()["error"]["message"]
        too_long = client.post("/v1/completions", json={"prompt": [5] * 128, "model": "two"})
        assert too_long.status_code == 400 and too_long.json()["error"]["code"] == "context_length_exceeded"
        assert "128" in too_long.json()["error"]["message"]


def test_token_is_asked_for(folder, tmp_path):
    (tmp_path / "token").write_text("secret\n")
    app, scheduler = cli.build(cli.parser().parse_args(["--model", str(folder), "--device", "cpu"]), cli.read_token(tmp_path / "token"))
    from fastapi.testclient import TestClient

    client = TestClient(app)
    assert client.get("/health").status_code == 200
    assert client.get("/v1/models").status_code == 401
    assert client.get("/v1/models", headers={"Authorization": "Bearer wrong"}).json()["error"]["code"] == "invalid_api_key"
    assert client.get("/v1/models", headers={"Authorization": "Bearer secret"}).status_code == 200
    scheduler.stop()


def test_other_architectures_run_without_cache_and_say_so(tmp_path):
    from transformers import GPT2Config, GPT2LMHeadModel

    tok = random_model.tokenizer()
    torch.manual_seed(0)
    config = GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=64, vocab_size=320, bos_token_id=2, eos_token_id=2)
    peer = GPT2LMHeadModel(config).eval()
    peer.save_pretrained(tmp_path)
    tok.save_pretrained(tmp_path)
    with serving("--model", f"gpt={tmp_path}", "--device", "cpu") as client:
        assert client.get("/v1/models").json()["data"][0]["prefix_cache"] is False
        told = [client.complete([5, 6, 7], max_tokens=8, temperature=0, ignore_eos=True)["token_ids"] for _ in range(2)]
        with torch.inference_mode():
            right = peer.generate(torch.tensor([[5, 6, 7]]), max_new_tokens=8, do_sample=False, eos_token_id=None)
        assert told[0] == told[1] == right[0, 3:].tolist()


def test_gguf_gives_the_ids_of_the_folder_it_was_made_from(folder, peer, engine, tmp_path):
    write_gguf(peer, tmp_path / "tiny.gguf")
    fields = {"max_tokens": 8, "temperature": 0, "ignore_eos": True}
    with serving("--model", f"g={tmp_path / 'tiny.gguf'}", "--device", "cpu") as client:
        assert client.complete(PROMPT, **fields)["token_ids"] == engine.complete(PROMPT, **fields)["token_ids"]
        assert client.get("/v1/models").json()["data"][0]["eos_token_ids"] == [2]
        text = "the order of é"
        assert client.post("/tokenize", json={"prompt": text}).json()["tokens"] == engine.post("/tokenize", json={"prompt": text}).json()["tokens"]


def write_gguf(model, path):
    import json

    import gguf

    config, tok = model.config, random_model.tokenizer()
    w = gguf.GGUFWriter(path, "qwen3")
    w.add_context_length(config.max_position_embeddings)
    w.add_embedding_length(config.hidden_size)
    w.add_block_count(config.num_hidden_layers)
    w.add_feed_forward_length(config.intermediate_size)
    w.add_head_count(config.num_attention_heads)
    w.add_head_count_kv(config.num_key_value_heads)
    w.add_key_length(config.head_dim)
    w.add_value_length(config.head_dim)
    w.add_layer_norm_rms_eps(config.rms_norm_eps)
    w.add_rope_freq_base(config.rope_parameters["rope_theta"])
    vocab = sorted(tok.get_vocab().items(), key=lambda item: item[1])
    names = [name for name, _ in vocab] + [f"<unused{n}>" for n in range(config.vocab_size - len(vocab))]
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(names)
    kinds = [gguf.TokenType.CONTROL if n in tok.all_special_ids else gguf.TokenType.NORMAL for n in range(len(names))]
    w.add_token_types(kinds)
    w.add_token_merges([" ".join(pair) for pair in json.loads(tok.backend_tokenizer.to_str())["model"]["merges"]])
    w.add_eos_token_id(tok.eos_token_id)
    names_map = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN3, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        if name != "lm_head.weight":
            stem, suffix = name.rsplit(".", 1)
            w.add_tensor(f"{names_map.get_name(stem)}.{suffix}", tensor.numpy())
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


@pytest.mark.parametrize("path, part", [("/no/such/folder", "does not exist"), ("empty", "config.json"), ("broken", "download it again")])
def test_a_model_that_does_not_load_says_what_to_do(path, part, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text('{"model_type": "qwen3"')
    with pytest.raises(loading.LoadError, match=part):
        cli.build(cli.parser().parse_args(["--model", path if path[0] == "/" else str(tmp_path / path), "--device", "cpu"]))


def test_starts_as_a_program_and_leaves_with_its_parent(folder):
    command = [sys.executable, "-m", "rehearsal_engine", "--model", f"tiny={folder}", "--device", "cpu", "--exit-with-parent"]
    home = Path(cli.__file__).parents[1]
    process = subprocess.Popen(command, cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    told = []
    while not told or told[-1]["event"] == "loading":
        told.append(orjson.loads(process.stdout.readline()))
    assert told[0]["event"] == "loading" and told[-1]["event"] == "ready" and told[-1]["port"] > 0
    process.stdin.close()
    assert process.wait(timeout=20) == 0


def test_models_that_are_loaded_at_once_are_whole(folder, peer):
    """transformers' settings are the process's: without a lock the modules have no data, and all later ones neither."""
    source = loading.Source(str(folder))
    failed = []

    def load():
        for _ in range(4):
            try:
                model = loading.read_weights(source, peer.config, torch.device("cpu"), torch.float32)
                assert model.embed.device.type == "cpu"
            except Exception as error:  # noqa: BLE001 in a thread, and told below
                failed.append(error)

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]
