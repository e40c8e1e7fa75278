"""Addresses of checkpoints and the folders behind them. Names from outside never become paths unchecked."""

from __future__ import annotations

import re
from pathlib import Path

import orjson

from rehearsal_engine.api.errors import ApiError
from rehearsal_engine.learning import checkpoints
from rehearsal_engine.models import Registry, Served

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
PATH = re.compile(r"tinker://([^/]+)/(weights|sampler_weights)/([^/]+)")


class Places:
    """The checkpoints in one folder. Methods throw ApiError."""

    def __init__(self, folder: Path, registry: Registry):
        self.folder, self.registry = folder, registry

    def new(self, id: str, kind: str, name: str, body: dict) -> tuple[str, Path]:
        """Address and folder of a checkpoint to be written."""
        if not NAME.fullmatch(name):
            raise ApiError(f"The name {name!r} cannot be used: letters, digits, '.', '_' and '-', at most 128.", "path")
        folder = self.folder / id.replace(":", "_") / kind / name
        if folder.exists() and not body.get("overwrite"):
            raise ApiError(f"A checkpoint {name!r} is there already. Use another name, or overwrite: true.", "path")
        return f"tinker://{id}/{kind}/{name}", folder

    def find(self, path: str) -> Path:
        match = PATH.fullmatch(path)
        if not match or not NAME.fullmatch(match[3]) or not NAME.fullmatch(match[1].replace(":", "_")):
            raise ApiError(f"{path!r} is not the address of a checkpoint: tinker://model/weights/name.", "path")
        folder = self.folder / match[1].replace(":", "_") / match[2] / match[3]
        if not (folder / checkpoints.NOTE).is_file():
            raise ApiError(f"There is no checkpoint {path}.", "path")
        return folder

    def note(self, folder: Path) -> tuple[dict, Served]:
        try:
            note = orjson.loads((folder / checkpoints.NOTE).read_bytes())
            lora, base = note["lora"], note["base_model"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ApiError(f"The checkpoint {folder.name} cannot be read: {error}. Use an earlier one.", "path") from error
        for served in self.registry.served.values():
            if served.adapter is None and served.source.location == base:
                return note, served
        raise ApiError(f"The checkpoint {folder.name} belongs to {base}, which this engine does not serve.", "path")
