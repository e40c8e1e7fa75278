"""Decoding against transformers' `generate`: `python -m rehearsal_engine.bench [decode-b1] [decode-b16]`.

Same weights (random, nano's shape), same prompts, greedy, float32 on a CPU, same threads (one, as the
engine takes for models of this size, unless told otherwise); prompts are new each time, so that nothing
is cached. Both sides of a repetition run one after the other, and the value is the median of the
ratios. Prints one JSON object a row.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy, as cli.main does
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np  # noqa: E402

ROWS = {"decode-b1": 1, "decode-b16": 16}


def now() -> np.ndarray:
    """Seconds of the clock, and of the CPU in all threads: the second says more on a busy machine."""
    return np.array([time.perf_counter(), time.process_time()])


def ours(served, scheduler, prompts: list[list[int]], new: int) -> np.ndarray:
    """Seconds until all prompts are continued by `new` tokens."""
    from rehearsal_engine.sampling import Settings
    from rehearsal_engine.sequence import Sequence

    left, done = len(prompts), threading.Event()

    def emit(_, step) -> None:
        nonlocal left
        assert step.error is None, step.error
        left -= 1
        if not left:
            done.set()

    greedy = Settings(temperature=0)
    sequences = [
        Sequence(
            served, p, np.array(p, dtype=np.int32), greedy, new, served.max_len, frozenset(), [], True, None, None, emit
        )
        for p in prompts
    ]
    started = now()
    scheduler.submit(sequences)
    done.wait()
    return now() - started


def theirs(module, prompts: list[list[int]], new: int, device) -> np.ndarray:
    import torch

    ids = torch.tensor(prompts, device=device)
    started = now()
    with torch.inference_mode():
        out = module.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=new, min_new_tokens=new, do_sample=False
        )
    seconds = now() - started
    assert out.shape[1] == len(prompts[0]) + new
    return seconds


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("rows", nargs="*", default=list(ROWS), metavar="ROW", help=" ".join(ROWS))
    p.add_argument("--model", type=Path, help="a folder instead of random weights of nano's shape")
    p.add_argument("--prompt", type=int, default=64, help="tokens of a prompt")
    p.add_argument("--new", type=int, default=96, help="tokens to generate")
    p.add_argument("--repetitions", type=int, default=5)
    p.add_argument("--threads", type=int, help="of both sides (default: the engine's own choice)")
    p.add_argument("--device", default="cpu")
    options = p.parse_args()
    unknown = set(options.rows) - set(ROWS)
    if unknown:
        p.error(f"no such row: {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as folder:
        run(options, options.model or Path(folder))
    return 0


def run(options: argparse.Namespace, folder: Path) -> None:
    import torch
    import transformers

    from rehearsal_engine import random_model
    from rehearsal_engine.model import SMALL
    from rehearsal_engine.models import Options, Served
    from rehearsal_engine.radix import PrefixCache
    from rehearsal_engine.scheduler import Scheduler

    transformers.utils.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    if options.model is None:
        random_model.write(folder, **random_model.NANO)
    served = Served("model", str(folder), Options(torch.device(options.device)))
    served.load()
    dtype = served.model.dtype
    module = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).to(options.device).eval()
    threads = options.threads or (1 if served.parameters < SMALL else torch.get_num_threads())
    torch.set_num_threads(threads)
    scheduler = Scheduler(PrefixCache(1 << 30), threads=threads)
    scheduler.start()
    draw = random.Random(0)
    for row in options.rows:
        batch, speeds = ROWS[row], []
        for repetition in range(options.repetitions + 1):
            prompts = [draw.choices(range(served.vocab_size), k=options.prompt) for _ in range(batch)]
            mine = ours(served, scheduler, prompts, options.new)
            peer = theirs(module, prompts, options.new, options.device)
            if repetition:  # the first warms both up
                speeds.append((batch * options.new / mine, batch * options.new / peer))
            print(f"{row} {repetition}: clock, CPU {mine.round(3)} s, transformers {peer.round(3)} s", file=sys.stderr)
        ratios, on_cpu = zip(*((mine / peer).tolist() for mine, peer in speeds))
        print(json.dumps({
            "id": row, "value": round(statistics.median(ratios), 3), "unit": "x", "goal": 1.5, "better": "higher",
            "peer": f"transformers {transformers.__version__} generate", "n": len(ratios),
            "min": round(min(ratios), 3), "max": round(max(ratios), 3),
            "tokens_per_second": round(statistics.median(mine[0] for mine, _ in speeds), 1),
            "peer_tokens_per_second": round(statistics.median(peer[0] for _, peer in speeds), 1),
            "value_in_cpu_seconds": round(statistics.median(on_cpu), 3),
        }), flush=True)  # fmt: skip
    scheduler.stop()


if __name__ == "__main__":
    raise SystemExit(main())
