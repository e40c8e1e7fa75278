"""Weights that clients of the Tinker protocol sample with: what is saved, and what a model in training gave just now."""

from __future__ import annotations

from rehearsal_engine.api.errors import ApiError
from rehearsal_engine.api.generate import Engine
from rehearsal_engine.api.tinker_places import Places
from rehearsal_engine.api.tinker_state import Model
from rehearsal_engine.models import Served

EPHEMERAL = 2  # unnamed weights of a model that stay with the sampler


class Samplers:
    def __init__(self, engine: Engine, places: Places):
        self.engine, self.places = engine, places
        self.held: dict[str, tuple[Served, str | None]] = {}  # sampling session, or a path → weights, path

    def find(self, id: str) -> tuple[Served, str | None]:
        if id not in self.held:
            raise ApiError(f"The sampling session {id!r} does not exist, or newer weights have taken its place.", "sampling_session_id")
        return self.held[id]

    async def load(self, id: str, path: str) -> Served:
        """Saved weights, for the sampler only."""
        if id not in self.held:
            folder = self.places.find(path)
            self.places.note(folder)  # says why it cannot be used
            self.held[id] = await self.engine.loaded(self.places.model(folder)), path
        return self.held[id][0]

    def take(self, model: Model, id: str, taken: Served) -> None:
        """The newest unnamed weights of a model, also offered by name; older ones make room."""
        self.held[id] = taken, None
        self.engine.registry.trained[taken.name] = taken
        model.ephemeral.append(id)
        self.let_go(model, 1 if model.alias else EPHEMERAL)

    def let_go(self, model: Model, keep: int) -> None:
        """Frees unnamed weights of a model but the newest; what is being sampled with them goes on to its end."""
        while len(model.ephemeral) > keep:
            taken, _ = self.held.pop(model.ephemeral.pop(0))
            if self.engine.registry.trained.get(taken.name) is taken:
                del self.engine.registry.trained[taken.name]
            self.engine.scheduler.retire(taken)
