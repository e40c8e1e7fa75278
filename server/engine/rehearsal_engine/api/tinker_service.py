"""What stands behind the Tinker routes: sessions, models in training, weights for the sampler.

Everything that changes weights runs on one thread, each model's requests in the order of their
`seq_id`. Methods take the body of a request and give its answer, or a future for it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path

from google.protobuf.message import DecodeError

from rehearsal_engine.api.errors import ApiError
from rehearsal_engine.api.generate import Engine
from rehearsal_engine.api.tinker_data import Batch, adam_of, from_json, json_of, lora_of, of, refuse, run_of
from rehearsal_engine.api.tinker_places import Places
from rehearsal_engine.api.tinker_proto import ForwardBackwardRequest, forward_backward_output
from rehearsal_engine.api.tinker_samplers import Samplers
from rehearsal_engine.api.tinker_saved import Saved
from rehearsal_engine.api.tinker_state import Future, Futures, Learner, Model, failure
from rehearsal_engine.learning import checkpoints
from rehearsal_engine.learning.sampler import check_room, module_of, snapshot
from rehearsal_engine.learning.trainer import Lora, Trainer
from rehearsal_engine.models import Served

LONG_POLL = 25.0  # seconds; the SDK gives up after 45 and asks again at once
SILENT = 900.0  # seconds without a heartbeat after which a session's models make room for another's


class Tinker:
    def __init__(self, engine: Engine, folder: Path):
        self.engine, self.places = engine, Places(folder, engine.registry)
        engine.registry.saved = Saved(self.places, engine.scheduler)
        self.futures = Futures()
        self.sessions: dict[str, float] = {}
        self.models: dict[str, Model] = {}
        self.creating: dict[str, Future] = {}
        self.trainers: dict[str, Trainer] = {}
        self.samplers = Samplers(engine, self.places)
        self.sampled: dict[tuple, Future] = {}
        self._learner: Learner | None = None

    # Futures

    def learn(self, future: Future, run, reply=lambda value: value, failed=lambda: None) -> None:
        """Runs on the learner's thread; `reply` makes the answer of the value, on the event loop, as is `failed`."""
        if self._learner is None:
            self._learner = Learner(self.engine.scheduler.threads)
            self._learner.start()

        def done(value, error):
            if error:
                failed()
            try:
                self.futures.finish(future, failure(error) if error else reply(value))
            except Exception as late:
                self.futures.finish(future, failure(late))

        self._learner.submit(run, done)

    async def retrieve_future(self, body: dict):
        future = self.futures.known.get(of(body, "request_id", str))
        if future is None:
            error = "This request is not known: the engine was started again. Load the last checkpoint."
            return {"error": error, "category": "user", "code": "lost"}
        try:
            await asyncio.wait_for(future.done.wait(), LONG_POLL)
        except TimeoutError:
            return {"type": "try_again", "request_id": future.id, "queue_state": "active"}
        return future.reply

    # Sessions and models

    async def create_session(self, body: dict):
        id = secrets.token_hex(8)
        self.sessions[id] = time.monotonic()
        return {"type": "create_session", "session_id": id}

    async def heartbeat(self, body: dict):
        self.touch(of(body, "session_id", str))
        return {"type": "session_heartbeat"}

    def touch(self, session: str) -> None:
        if session not in self.sessions:
            raise ApiError(f"The session {session!r} does not exist: it ended or the engine was started again.", "session_id", code="lost")
        self.sessions[session] = time.monotonic()

    def finish(self, session: str) -> None:
        """Lets go of a session's models; what was saved stays."""
        self.sessions.pop(session, None)
        for model in [m for m in self.models.values() if m.session == session]:
            self.forget(model)

    def forget(self, model: Model) -> None:
        self.models.pop(model.id, None)
        self.creating.pop(model.id, None)
        self.samplers.let_go(model, 0)
        trainer = self.trainers.get(model.served.name)
        if trainer is not None and self._learner is not None:
            self._learner.submit(lambda: trainer.drop(model.id), lambda *_: None)

    def trainer(self, served: Served) -> Trainer:
        if served.name not in self.trainers:
            deterministic = served.options.deterministic
            self.trainers[served.name] = Trainer(lambda: module_of(served), deterministic)
        return self.trainers[served.name]

    def base(self, name: str | None) -> Served:
        own = self.engine.registry.served
        if name not in own:  # 404 would be final for the SDK, without words
            raise ApiError(f"The model {name!r} does not exist. Offered: {', '.join(own)}.", "base_model")
        return own[name]

    async def create_model(self, body: dict):
        return self._create(body, lora_of(body), self.base(of(body, "base_model", str)), None)

    def _create(self, body: dict, lora: Lora | None, served: Served, load) -> Future:
        session = of(body, "session_id", str)
        self.touch(session)
        id = f"{session}:train:{of(body, 'model_seq_id', int)}"
        if id in self.creating:
            return self.creating[id]
        for silent in [s for s, at in self.sessions.items() if time.monotonic() - at > SILENT]:
            self.finish(silent)
        owner, adapter = run_of(body)
        alias = owner and f"{owner}/now{adapter}"
        model = self.models[id] = Model(id, session, served, lora, owner or id, alias)
        trainer = self.trainer(served)
        future = self.creating[id] = self.futures.new(model_id=id)
        kind = "load_weights" if load else "create_model"

        def run() -> None:
            check_room(served, trainer, lora)
            load(trainer, id) if load else trainer.create(id, lora)

        reply = {"type": kind, "model_id": id, "path": body.get("path")}
        self.learn(future, run, lambda _: reply, lambda: self.models.pop(id, None))
        return future

    def model(self, body: dict) -> Model:
        id = of(body, "model_id", str)
        if id not in self.models:
            raise ApiError(f"The model {id!r} does not exist: its session ended or the engine was started again.", "model_id", code="lost")
        model = self.models[id]
        if model.session in self.sessions:
            self.touch(model.session)
        return model

    async def get_info(self, body: dict):
        model = self.model(body)
        name = model.served.name
        data = {"arch": model.served.config.model_type, "model_name": name, "tokenizer_id": model.served.source.location}
        lora = model.lora
        return {"type": "get_info", "model_id": model.id, "model_data": data, "is_lora": lora is not None, "lora_rank": lora and lora.rank, "model_name": name}

    async def unload_model(self, body: dict):
        model = self.model(body)
        future = self.futures.new()
        self.forget(model)
        self.futures.finish(future, {"type": "unload_model", "model_id": model.id})
        return future

    # What is ordered by seq_id

    def ordered(self, model: Model, seq: int, prepare) -> Future:
        """`prepare(future)` checks the request and gives what is to be started when its turn comes."""
        known = model.order.known(seq)
        if isinstance(known, ApiError):
            raise known
        if known is not None:
            return known
        if seq < model.order.next:
            raise ApiError(f"seq_id {seq} of {model.id} is over: the next is {model.order.next}.", "seq_id")
        future = self.futures.new(model_id=model.id)
        try:
            start = prepare(future)
        except ApiError as error:
            model.order.refuse(seq, error)
            raise
        model.order.accept(seq, future, start)
        return future

    def forward_backward(self, body: bytes, is_json: bool) -> Future:
        if is_json:
            message = from_json(json_of(body))
        else:
            try:
                message = ForwardBackwardRequest.FromString(body)
            except DecodeError as error:
                raise ApiError("The body is not a ForwardBackwardRequest of tinker_public 0.38.", "data") from error
        batch = Batch(message)
        model = self.model({"model_id": batch.model_id})
        served = model.served

        def prepare(future: Future):
            batch.check(served.vocab_size, served.max_len)
            return lambda: self.learn(
                future,
                lambda: self.trainer(served).forward_backward(model.id, batch.rows, batch.loss, batch.config, batch.forward_only),
                lambda result: forward_backward_output(result.logprobs, result.metrics),
            )

        return self.ordered(model, batch.seq_id, prepare)

    async def optim_step(self, body: dict):
        model = self.model(body)

        def prepare(future: Future):
            adam = adam_of(body)
            run = lambda: self.trainer(model.served).optim_step(model.id, adam)  # noqa: E731
            return lambda: self.learn(future, run, lambda metrics: {"type": "optim_step", "metrics": metrics})

        return self.ordered(model, of(body, "seq_id", int), prepare)

    async def save_weights(self, body: dict):
        model = self.model(body)

        def prepare(future: Future):
            refuse(body, "ttl_seconds")
            path, folder = self.places.new(model.owner, "weights", of(body, "path", str, None) or secrets.token_hex(6), body)
            return lambda: self.learn(future, lambda: self._save(model, folder, True), lambda _: {"type": "save_weights", "path": path})

        return self.ordered(model, of(body, "seq_id", int), prepare)

    def _save(self, model: Model, folder: Path, optimizer: bool) -> None:
        served = model.served
        trained = self.trainer(served).models[model.id]
        checkpoints.save(trained, folder, served.source.location, optimizer, served.tokens.hf)

    async def load_weights(self, body: dict):
        refuse(body, "weights_access_token")
        folder = self.places.find(of(body, "path", str))
        optimizer = of(body, "optimizer", bool, False)
        if body.get("model_id") is None:
            note, served = self.places.note(folder)
            lora = Lora(**note["lora"]) if note["lora"] else None
            return self._create(body, lora, served, lambda trainer, id: checkpoints.load(trainer, id, folder, optimizer))
        model = self.model(body)

        def prepare(future: Future):
            run = lambda: checkpoints.load(self.trainer(model.served), model.id, folder, optimizer)  # noqa: E731
            reply = {"type": "load_weights", "path": body["path"], "model_id": model.id}
            return lambda: self.learn(future, run, lambda _: reply)

        return self.ordered(model, of(body, "seq_id", int), prepare)

    async def weights_info(self, body: dict):
        note, served = self.places.note(self.places.find(of(body, "tinker_path", str)))
        lora = note["lora"]
        return {"base_model": served.name, "is_lora": lora is not None, "lora_rank": lora and lora["rank"], **{f"train_{p}": lora is None or lora[f"train_{p}"] for p in ("attn", "mlp", "unembed")}}

    # Weights for the sampler

    async def save_weights_for_sampler(self, body: dict):
        model = self.model(body)

        def prepare(future: Future):
            refuse(body, "ttl_seconds")
            name = of(body, "path", str, None)
            if name is not None:
                path, folder = self.places.new(model.owner, "sampler_weights", name, body)
                reply = {"type": "save_weights_for_sampler", "path": path, "sampling_session_id": None, "folder": str(folder.resolve())}
                return lambda: self.learn(future, lambda: self._save(model, folder, False), lambda _: reply)
            return lambda: self._take(future, model)

        return self.ordered(model, of(body, "seq_id", int), prepare)

    def _take(self, future: Future, model: Model) -> None:
        model.version += 1
        version = model.version
        id = f"{model.id}:sample:{version}"
        name = model.alias or id

        def reply(taken: Served):
            self.samplers.take(model, id, taken)
            return {"type": "save_weights_for_sampler", "path": None, "sampling_session_id": id, "model": name}

        self.learn(future, lambda: snapshot(model.served, self.trainer(model.served), model.id, name, version), reply)

    async def create_sampling_session(self, body: dict):
        session = of(body, "session_id", str)
        self.touch(session)
        id = f"{session}:sampler:{of(body, 'sampling_session_seq_id', int)}"
        if id not in self.samplers.held:
            path = of(body, "model_path", str, None)
            if path is None:
                self.samplers.held[id] = await self.engine.loaded(self.base(of(body, "base_model", str)).name), None
            else:
                await self.samplers.load(id, path)
        return {"type": "create_sampling_session", "sampling_session_id": id}
