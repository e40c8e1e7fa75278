"""Starting the engine. One JSON object a line on stdout; everything else goes to stderr."""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import threading
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    options = parser().parse_args(argv)
    if options.deterministic:
        # Before torch is imported: one thread, and products that do not depend on alignment.
        os.environ.update(OMP_NUM_THREADS="1", MKL_CBWR="AUTO,STRICT", CUBLAS_WORKSPACE_CONFIG=":4096:8")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # a waiting thread must not burn a core
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # attention.OneTokenEach: too small to share
    from rehearsal_engine.loading import LoadError

    try:
        serve(options)
    except LoadError as error:
        say(event="error", message=str(error))
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="rehearsal_engine", description="Samples and scores tokens behind the OpenAI API.")
    p.add_argument(
        "--model", action="append", required=True, metavar="[NAME=]PATH",
        help="folder, hub id or .gguf file; again for further models, whose weights load when first used",
    )  # fmt: skip
    p.add_argument("--served-model-name", metavar="NAME", help="name of the first --model")
    p.add_argument("--host", default="127.0.0.1")
    p.add_argument("--port", type=int, default=0, help="0: a free one, told in the ready line")
    p.add_argument("--device", choices=["auto", "cpu", "cuda", "mps"], default="auto")
    p.add_argument("--dtype", choices=["auto", "float32", "bfloat16", "float16"], default="auto")
    p.add_argument("--threads", type=int, help="CPU threads of a forward pass (default: 1 for small models, else all cores)")
    p.add_argument("--deterministic", action="store_true", help="bit-equal whatever else runs or is cached; slower")
    p.add_argument("--cache-mib", type=int, default=1024, help="bound on keys and values (default 1024)")
    p.add_argument("--max-batch", type=int, default=32, help="most sequences in a forward pass (default 32)")
    p.add_argument("--max-model-len", type=int, help="a context shorter than the model's own")
    p.add_argument("--checkpoints", type=Path, metavar="FOLDER", help="switches learning on; where its checkpoints go")
    p.add_argument("--token-file", type=Path, help="bearer token that clients must send")
    p.add_argument("--exit-with-parent", action="store_true", help="exit when stdin closes")
    return p


def say(**event: object) -> None:
    """A line for the program that started us; it may be gone."""
    try:
        print(json.dumps(event), flush=True)
    except OSError:
        pass


def serve(options: argparse.Namespace) -> None:
    """Loads the first model, binds the port, says that it is ready, and serves until told to stop."""
    if options.exit_with_parent:
        threading.Thread(target=exit_at_end_of_input, daemon=True).start()
    say(event="loading", message="starting PyTorch")
    token = read_token(options.token_file)
    sock = bind(options.host, options.port)
    app, scheduler = build(options, token)
    run_http(app, sock)
    scheduler.stop()


def build(options: argparse.Namespace, token: str | None = None):
    """The application with its first model loaded and its scheduler running."""
    from rehearsal_engine.api.app import create_app
    from rehearsal_engine.api.generate import Engine
    from rehearsal_engine.model import SMALL
    from rehearsal_engine.radix import PrefixCache
    from rehearsal_engine.scheduler import Scheduler

    registry = open_models(options)
    next(iter(registry.served.values())).load()
    largest = max(served.parameters for served in registry.served.values())
    threads = 1 if options.deterministic else options.threads or (1 if largest < SMALL else None)
    scheduler = Scheduler(PrefixCache(options.cache_mib << 20), options.max_batch, options.deterministic, threads)
    scheduler.start()
    return create_app(Engine(registry, scheduler), token, options.checkpoints), scheduler


def open_models(options: argparse.Namespace):
    import torch
    import transformers

    from rehearsal_engine.loading import pick_device
    from rehearsal_engine.models import Options, Registry, Served

    transformers.utils.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    if options.deterministic:
        torch.use_deterministic_algorithms(True)
    shared = Options(pick_device(options.device), options.dtype, options.deterministic, options.max_model_len)
    named = [split_name(text) for text in options.model]
    if options.served_model_name:
        named[0] = (options.served_model_name, named[0][1])
    return Registry([Served(name, path, shared, say) for name, path in named])


def split_name(text: str) -> tuple[str, str]:
    """`name=path`, or a path whose last part is the name."""
    name, sign, path = text.partition("=")
    if sign and name and "/" not in name and "\\" not in name:
        return name, path
    return (text if not Path(text).exists() else Path(text).resolve().name), text


def read_token(path: Path | None) -> str | None:
    from rehearsal_engine.loading import LoadError

    if path is None:
        return None
    try:
        token = path.read_text().strip()
    except OSError as error:
        raise LoadError(f"The token file {path} cannot be read: {error.strerror}. Check --token-file.") from error
    if not token:
        raise LoadError(f"The token file {path} is empty. Write a token into it or leave --token-file out.")
    return token


def bind(host: str, port: int) -> socket.socket:
    from rehearsal_engine.loading import LoadError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        raise LoadError(f"Port {port} on {host} cannot be used: {error.strerror}. Use --port 0 for a free one.") from error
    return sock


def run_http(app, sock: socket.socket) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets=None):
            await super().startup(sockets)
            say(event="ready", port=sock.getsockname()[1])

    # Engine and HTTP share one interpreter: hand over quickly, or a token waits 5 ms for its turn.
    sys.setswitchinterval(0.0005)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2, lifespan="off")
    Server(config).run(sockets=[sock])


def exit_at_end_of_input() -> None:
    """The parent holds the other end of stdin; when it dies, so do we."""
    while os.read(0, 4096):  # not sys.stdin: its lock would abort an interpreter that ends while we wait
        pass
    os._exit(0)
