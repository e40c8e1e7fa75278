"""A tiny random Qwen3 and engines that serve it over real HTTP in this process."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"

import threading
import time
from contextlib import contextmanager

import httpx
import pytest
import torch
import uvicorn

from rehearsal_engine import cli, random_model

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A model whose vocabulary is its tokenizer's, so that every id has text."""
    return random_model.write(tmp_path_factory.mktemp("models") / "tiny", context=512, **random_model.TINY)


@pytest.fixture(scope="session")
def peer(folder):
    """The same model in plain transformers, float32."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


class Client(httpx.Client):
    """An engine's client; `scheduler` for what no route tells."""

    scheduler = None

    def complete(self, prompt, **fields):
        answer = self.post("/v1/completions", json={"prompt": prompt, "return_token_ids": True, **fields})
        assert answer.status_code == 200, answer.text
        return answer.json()["choices"][0]

    def metric(self, name):
        rows = dict(line.split() for line in self.get("/metrics").text.splitlines() if line[0] != "#")
        return float(rows[f"rehearsal_{name}"])


@contextmanager
def serving(*arguments):
    app, scheduler = cli.build(cli.parser().parse_args([*map(str, arguments)]))
    sock = cli.bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    with Client(base_url=f"http://127.0.0.1:{sock.getsockname()[1]}", timeout=60) as client:
        client.scheduler = scheduler
        yield client
    server.should_exit = True
    thread.join()
    scheduler.stop()


@pytest.fixture(scope="session")
def engine(folder):
    """Normal mode."""
    with serving("--model", f"tiny={folder}", "--device", "cpu") as client:
        yield client


@pytest.fixture(scope="session")
def exact(folder):
    """Deterministic mode."""
    with serving("--model", f"tiny={folder}", "--device", "cpu", "--deterministic") as client:
        yield client
    torch.use_deterministic_algorithms(False)


@pytest.fixture(scope="module")
def learner(folder, tmp_path_factory):
    """An engine that learns, one for the tests of a file."""
    folder_of_checkpoints = tmp_path_factory.mktemp("checkpoints")
    with serving("--model", f"tiny={folder}", "--device", "cpu", "--checkpoints", folder_of_checkpoints) as client:
        client.checkpoints = folder_of_checkpoints
        yield client
