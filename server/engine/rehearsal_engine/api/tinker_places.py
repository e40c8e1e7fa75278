"""Addresses of checkpoints and the folders behind them. Names from outside never become paths unchecked.

`FOLDER/<owner>/checkpoints/<name>` is `tinker://<owner>/weights/<name>` and, as a model of the OpenAI
routes, `<owner>/<name>`. The owner is a run of ours, or the id of a model in training.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import orjson

from rehearsal_engine.api.errors import ApiError
from rehearsal_engine.learning import checkpoints
from rehearsal_engine.models import Registry, Served

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
PATH = re.compile(r"tinker://([^/]+)/(weights|sampler_weights)/([^/]+)")
FOLDERS = {"weights": "checkpoints", "sampler_weights": "sampler"}


class Places:
    """The checkpoints in one folder. Methods throw ApiError."""

    def __init__(self, folder: Path, registry: Registry):
        self.folder, self.registry = folder, registry
        for kind in FOLDERS.values():
            for parent in folder.glob(f"*/{kind}"):
                checkpoints.recover(parent)

    def new(self, owner: str, kind: str, name: str, body: dict) -> tuple[str, Path]:
        """Address and folder of a checkpoint to be written."""
        check_name(name, "path")
        folder = self._folder(owner, kind, name)
        if folder.exists() and not body.get("overwrite"):
            raise ApiError(f"A checkpoint {name!r} is there already. Use another name, or overwrite: true.", "path")
        return f"tinker://{owner}/{kind}/{name}", folder

    def find(self, path: str) -> Path:
        match = PATH.fullmatch(path)
        if not match or not NAME.fullmatch(match[3]) or not NAME.fullmatch(match[1].replace(":", "_")):
            raise ApiError(f"{path!r} is not the address of a checkpoint: tinker://model/weights/name.", "path")
        folder = self._folder(*match.groups())
        if not (folder / checkpoints.NOTE).is_file():
            raise ApiError(f"There is no checkpoint {path}.", "path", code="not_found")
        return folder

    def named(self, model: str) -> Path | None:
        """Folder of the checkpoint `owner/name`, where there is one."""
        owner, _, name = model.partition("/")
        if not NAME.fullmatch(owner) or not NAME.fullmatch(name):
            return None
        folders = (self._folder(owner, kind, name) for kind in FOLDERS)
        return next((f for f in folders if (f / checkpoints.NOTE).is_file()), None)

    def names(self) -> Iterator[str]:
        """Of all checkpoints as models, oldest first."""
        found = [n for kind in FOLDERS.values() for n in self.folder.glob(f"*/{kind}/[!.]*/{checkpoints.NOTE}")]
        for note in sorted(found, key=lambda n: (stamp(n), n)):
            yield self.model(note.parent)

    def model(self, folder: Path) -> str:
        """Name of a checkpoint as a model."""
        return f"{folder.parents[1].name}/{folder.name}"

    def note(self, folder: Path) -> tuple[dict, Served]:
        """What a checkpoint says of itself, and the served model that it was made from."""
        try:
            note = orjson.loads((folder / checkpoints.NOTE).read_bytes())
            note["lora"], base = note["lora"], note["base_model"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"The checkpoint {folder.name} cannot be read: {error}. Use an earlier one."
            raise ApiError(message, "path", code="damaged") from error
        own = list(self.registry.served.values())
        same = [s for s in own if s.source.location == base] or [
            s for s in own if note.get("base_print") and note["base_print"] == checkpoints.fingerprint(s.source.location)
        ]  # the product's own models move with its version
        if same:
            return note, same[0]
        raise ApiError(f"The checkpoint {folder.name} belongs to {base}, which this engine does not serve.", "path")

    def _folder(self, owner: str, kind: str, name: str) -> Path:
        return self.folder / owner.replace(":", "_") / FOLDERS[kind] / name


def check_name(name: str, field: str) -> str:
    if not NAME.fullmatch(name):
        raise ApiError(f"The name {name!r} cannot be used: letters, digits, '.', '_' and '-', at most 128.", field)
    return name


def stamp(file: Path) -> int:
    """When a file was written; 0 where it has gone."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
