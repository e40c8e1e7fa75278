"""A whole GRPO step here and in TRL: `python -m rehearsal_engine.learning.bench_trl [--steps N]`.

Four prompts × eight completions of one turn, random weights of nano's shape, every weight trained, the
same prompts, lengths and settings: sample, reward, advantage, learn, and the new weights to the sampler.
Ours goes through HTTP, as the runner does. CPU seconds of this process, one thread, since other programs
run; a first step of each warms up. Needs `trl` and `datasets` beside the engine. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402

from rehearsal_engine import cli, random_model  # noqa: E402

PROMPTS, GROUP, PROMPT, COMPLETION = 4, 8, 654, 64
RATE = 1e-4


def prompts(tokenizer) -> list[str]:
    words = "the order of the user is in the order book and the tool is called".split()
    found = []
    for number in range(PROMPTS):
        text = ""
        while len(tokenizer(text)["input_ids"]) < PROMPT:
            text += " " + words[(number * 7 + len(text)) % len(words)]
        found.append(text)
    return found


def reward(ids: list[int]) -> float:
    return sum(i % 2 == 0 for i in ids) / len(ids)


def trl(folder: str, texts: list[str], steps: int) -> list[float]:
    from datasets import Dataset
    from transformers import AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    seconds: list[float] = []

    class Clock(TrainerCallback):
        def on_step_begin(self, *_, **__):
            self.at = time.process_time()

        def on_step_end(self, *_, **__):
            seconds.append(time.process_time() - self.at)

    with tempfile.TemporaryDirectory() as out:
        config = GRPOConfig(
            output_dir=out, per_device_train_batch_size=PROMPTS * GROUP, num_generations=GROUP, max_steps=steps,
            max_completion_length=COMPLETION, generation_kwargs={"min_new_tokens": COMPLETION}, temperature=1.0, top_p=1.0,
            top_k=0, beta=0.0, learning_rate=RATE, lr_scheduler_type="constant", max_grad_norm=1.0, use_cpu=True, bf16=False,
            gradient_checkpointing=False, logging_strategy="no", save_strategy="no", report_to=[], shuffle_dataset=False,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=folder, args=config, processing_class=AutoTokenizer.from_pretrained(folder),
            train_dataset=Dataset.from_list([{"prompt": text} for text in texts]),
            reward_funcs=lambda completion_ids, **_: [reward(ids) for ids in completion_ids],
        )  # fmt: skip
        trainer.add_callback(Clock())
        trainer.train()
    return seconds


def ours(folder: str, texts: list[str], steps: int) -> list[float]:
    import httpx
    import uvicorn
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = [tokenizer(text)["input_ids"] for text in texts]
    with tempfile.TemporaryDirectory() as out:
        options = ["--model", f"random={folder}", "--device", "cpu", "--checkpoints", out, "--threads", "1"]
        app, scheduler = cli.build(cli.parser().parse_args(options))
        sock = cli.bind("127.0.0.1", 0)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True).start()
        while not server.started:
            time.sleep(0.01)
        with httpx.Client(base_url=f"http://127.0.0.1:{sock.getsockname()[1]}", timeout=3600) as client:
            seconds = steps_of(Client(client), ids, steps)
        server.should_exit = True
        scheduler.stop()
    return seconds


class Client:
    def __init__(self, http):
        self.http, self.seq = http, 0
        self.session = self.post("create_session", tags=[])["session_id"]
        body = {"session_id": self.session, "model_seq_id": 0, "base_model": "random", "lora_config": None}
        self.model = self.result("create_model", **body, user_metadata={"rehearsal_run": "bench"})["model_id"]

    def post(self, path: str, **body):
        return self.http.post(f"/api/v1/{path}", json=body).raise_for_status().json()

    def result(self, path: str, **body):
        future = self.post(path, **body)
        while True:
            answer = self.http.post("/api/v1/retrieve_future", json=future)
            if "protobuf" in answer.headers["content-type"]:
                return answer.content
            if answer.json().get("type") != "try_again":
                return answer.json()

    def ordered(self, path: str, **body):
        self.seq += 1
        return self.result(path, model_id=self.model, seq_id=self.seq, **body)


def steps_of(client: Client, ids: list[list[int]], steps: int) -> list[float]:
    seconds = []
    name = client.ordered("save_weights_for_sampler", sampling_session_seq_id=1)["model"]
    for step in range(steps):
        started = time.process_time()
        asked = {"model": name, "prompt": ids, "n": GROUP, "max_tokens": COMPLETION, "ignore_eos": True, "seed": step}
        more = {"temperature": 1, "top_p": 1, "top_k": -1, "min_p": 0, "logprobs": 0, "return_token_ids": True}
        choices = client.http.post("/v1/completions", json=asked | more).raise_for_status().json()["choices"]
        rewards = [reward(c["token_ids"]) for c in choices]
        total = len(choices) * COMPLETION
        data = []
        for index, choice in enumerate(choices):
            group = rewards[index // GROUP * GROUP :][:GROUP]
            advantage = (rewards[index] - statistics.mean(group)) / (statistics.stdev(group) + 1e-6) / total
            prompt = ids[index // GROUP]
            whole, before = prompt + choice["token_ids"], [0.0] * (len(prompt) - 1)
            logprobs = before + [entry["logprob"] for entry in choice["logprobs"]["content"]]
            advantages = before + [advantage] * COMPLETION
            inputs = {"target_tokens": (whole[1:], "int64"), "logprobs": (logprobs, "float32"), "advantages": (advantages, "float32")}
            data.append({
                "model_input": {"chunks": [{"type": "encoded_text", "tokens": whole[:-1]}]},
                "loss_fn_inputs": {key: {"data": values, "dtype": kind} for key, (values, kind) in inputs.items()},
            })  # fmt: skip
        client.ordered("forward_backward", forward_backward_input={"data": data, "loss_fn": "ppo"})
        client.ordered("optim_step", adam_params={"learning_rate": RATE, "grad_clip_norm": 1.0})
        client.ordered("save_weights_for_sampler", sampling_session_seq_id=step + 2)
        seconds.append(time.process_time() - started)
    return seconds


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--steps", type=int, default=3, help="of each, after the first")
    options = p.parse_args()
    torch.set_num_threads(1)
    from transformers import AutoTokenizer

    with tempfile.TemporaryDirectory() as folder:
        random_model.write(Path(folder), **random_model.NANO)
        texts = prompts(AutoTokenizer.from_pretrained(folder))
        mine = ours(folder, texts, options.steps + 1)[1:]
        peer = trl(folder, texts, options.steps + 1)[1:]
    ratios = [other / statistics.median(mine) for other in peer]
    print(json.dumps({
        "id": "step-vs-trl", "value": round(statistics.median(peer) / statistics.median(mine), 3), "unit": "x", "goal": 2,
        "better": "higher", "n": len(peer), "min": round(min(ratios), 3), "max": round(max(ratios), 3),
        "cpu_seconds": [[round(a, 2), round(b, 2)] for a, b in zip(mine, peer)],
    }))  # fmt: skip


if __name__ == "__main__":
    main()
