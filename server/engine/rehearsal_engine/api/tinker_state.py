"""What the Tinker routes keep: futures, models in training and the order of their requests, the thread that learns."""

from __future__ import annotations

import asyncio
import queue
import secrets
import threading
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rehearsal_engine.api.errors import ApiError, dump
from rehearsal_engine.learning.trainer import Lora
from rehearsal_engine.models import Served

KEPT = 2048  # requests that are known by their number
KEPT_BYTES = 64 << 20  # results that can be asked for again, the newest always
GONE = {"error": "This result was given long ago and is no longer kept.", "category": "user"}

Reply = dict | bytes  # JSON, or a protobuf message


@dataclass(eq=False)
class Future:
    id: str
    extra: dict = field(default_factory=dict)  # what the immediate answer holds beside the id
    reply: Reply | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Futures:
    """Results by request id. All methods run on the event loop."""

    def __init__(self):
        self.known: OrderedDict[str, Future] = OrderedDict()
        self._large: deque[Future] = deque()
        self._bytes = 0

    def new(self, **extra) -> Future:
        future = Future(secrets.token_hex(12), extra)
        self.known[future.id] = future
        for id in [id for id, f in list(self.known.items())[: max(0, len(self.known) - KEPT)] if f.done.is_set()]:
            del self.known[id]
        return future

    def finish(self, future: Future, reply: Reply) -> None:
        future.reply = reply
        future.done.set()
        if isinstance(reply, bytes):
            self._large.append(future)
            self._bytes += len(reply)
            while self._bytes > KEPT_BYTES and len(self._large) > 1:
                old = self._large.popleft()
                self._bytes -= len(old.reply)
                old.reply = GONE


def failure(error: BaseException) -> dict:
    """A result that the SDK shows at once. Status 500 would make it ask for ever."""
    from rehearsal_engine.learning.trainer import LearningError

    if isinstance(error, (LearningError, ApiError)):
        return {"error": str(error), "category": "user", "code": error.code}
    traceback.print_exception(error)
    message = f"The engine failed at this request: {type(error).__name__}: {error}. Its log has the details."
    return {"error": message, "category": "server", "code": "failed"}


class Learner(threading.Thread):
    """Runs what changes or reads weights, one thing at a time, in the order given."""

    def __init__(self, threads: int | None):
        super().__init__(name="learner", daemon=True)
        self.threads, self._work = threads, queue.SimpleQueue()
        self.loop = asyncio.get_running_loop()

    def submit(self, run: Callable[[], object], done: Callable[[object, BaseException | None], None]) -> None:
        """`done` is called on the event loop with the value or the error."""
        self._work.put((run, done))

    def run(self) -> None:
        import torch

        if self.threads:
            torch.set_num_threads(self.threads)
        while True:
            run, done = self._work.get()
            value, error = None, None
            try:
                value = run()
            except BaseException as caught:  # whatever it was, the client must hear of it
                error = caught
            del run
            try:
                self.loop.call_soon_threadsafe(done, value, error)
            except RuntimeError:  # the event loop is closed: the server is going down
                return
            del value, error, done


class Order:
    """Requests of one model by `seq_id`, whatever order they arrive in, each once."""

    def __init__(self):
        self.next, self._waiting, self._seen = 1, {}, OrderedDict()

    def known(self, seq: int) -> Future | ApiError | None:
        """What an earlier request of this number was answered."""
        return self._seen.get(seq)

    def refuse(self, seq: int, error: ApiError) -> None:
        """A refused request has used up its number, for the client as well."""
        self._take(seq, error, lambda: None)

    def accept(self, seq: int, future: Future, start: Callable[[], None]) -> None:
        """`start` is called as soon as all earlier ones have been."""
        self._take(seq, future, start)

    def _take(self, seq: int, answer: Future | ApiError, start: Callable[[], None]) -> None:
        self._seen[seq] = answer
        while len(self._seen) > KEPT:
            self._seen.popitem(last=False)
        self._waiting[seq] = start
        while self.next in self._waiting:
            self._waiting.pop(self.next)()
            self.next += 1


@dataclass(eq=False)
class Model:
    """A model in training, as the routes see it."""

    id: str
    session: str
    served: Served
    lora: Lora | None
    owner: str  # of its checkpoints: a run of ours, or the model's own id
    alias: str | None  # name of its newest weights as a model of the OpenAI routes
    order: Order = field(default_factory=Order)
    version: int = 0
    ephemeral: list[str] = field(default_factory=list)
