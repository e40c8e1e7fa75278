"""Checkpoints as models of the OpenAI routes, under `run/name`; loaded when first asked, few kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from rehearsal_engine.api.errors import ApiError
from rehearsal_engine.api.tinker_places import Places, stamp
from rehearsal_engine.learning import checkpoints
from rehearsal_engine.learning.sampler import read_saved
from rehearsal_engine.models import Served
from rehearsal_engine.scheduler import Scheduler

LOADED = 4  # checkpoints that stay in memory, the last asked for


class Saved:
    """What `models.Registry` asks for names that it does not know. Runs on the event loop."""

    def __init__(self, places: Places, scheduler: Scheduler):
        self.places, self.scheduler = places, scheduler
        self._known: OrderedDict[str, Served] = OrderedDict()  # last asked for at the end

    def find(self, name: str) -> Served | None:
        found = self._of(name)
        if found is not None:
            self._known.move_to_end(name)
            self._make_room(found)
        return found

    def all(self) -> Iterator[tuple[str, Served]]:
        for name in self.places.names():
            found = self._of(name)
            if found is not None:
                yield name, found

    def _of(self, name: str) -> Served | None:
        folder = self.places.named(name)
        known = self._known.get(name)
        if folder is None:
            self._forget(name)
            return None
        written = stamp(folder / checkpoints.NOTE)
        if known is not None and known.version == written:
            return known
        self._forget(name)  # another one took its place
        try:
            note, base = self.places.note(folder)
        except ApiError:
            return None
        made = base.variant(name, "checkpoint", written, lambda: read_saved(base, folder, note))
        self._known[name] = made
        self._known.move_to_end(name, last=False)
        return made

    def _make_room(self, wanted: Served) -> None:
        loaded = [name for name, s in self._known.items() if s.model is not None and s is not wanted]
        for name in loaded[: max(0, len(loaded) - LOADED + 1)]:
            self._forget(name)

    def _forget(self, name: str) -> None:
        known = self._known.pop(name, None)
        if known is not None and known.model is not None:
            self.scheduler.retire(known)
