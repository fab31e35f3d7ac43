"""A worker of a run: an actor of Ray that holds one tile."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FilePart", "FilesPart", "Layout", "TileActor", "TileParts", "TileSettings", "stamp"]


class TileParts(NamedTuple):
    """What a tile is made of: objects of Ray, each a ``Part``. The driver has them as long as it lives."""

    parts: list[Any]


class FilesPart(NamedTuple):
    """Files whose points are a tile."""

    paths: list[str]
    #: Size and time of each, by which a file that was changed is known.
    stamps: list[tuple[int, int]]
    #: As ``farpoint.read`` takes them.
    options: dict[str, Any]


class FilePart(NamedTuple):
    """What a file holds."""

    rows: int
    double: bool
    #: Rows without NaN or infinity.
    usable: int
    #: The first other row, if there is one.
    bad: int | None


class Layout(NamedTuple):
    """What a tile of files needs to know of all others."""

    double: bool
    #: Row of each file's first point in the whole cloud.
    offsets: list[int]


class TileSettings(NamedTuple):
    """What an actor is made with: no objects of Ray, which may be gone when it is restarted (ray #53727)."""

    tile: int
    #: The files that it reads; none if it is told its points.
    files: FilesPart | None
    #: Where its log is, as ``open_storage`` takes it.
    place: str
    #: The driver that has the run.
    token: bytes
    #: Seconds that it waits for others.
    limit: float
    threads: int


class TileActor:
    """Holds a tile and answers requests. Made with paths only: what it needs it reads when it is asked,
    and so after a restart."""

    def __init__(self, settings: TileSettings) -> None:
        self._settings = settings
        self._tile: Any = None
        self._files: list[NDArray[Any]] | None = None
        # Heard by the pool of threads that the compiled module starts when it needs one.
        os.environ["RAYON_NUM_THREADS"] = str(settings.threads)

    def ready(self) -> int:
        """Answers; with the process, so that it can be told from the one before."""
        return os.getpid()

    def files(self) -> list[FilePart]:
        """What the files hold."""
        return [_described(points) for points in self._read()]

    def usable_row(self, layout: Layout, file: int, number: int) -> int:
        """The row, in the whole cloud, of the usable point with this number in a file."""
        rows = np.flatnonzero(np.isfinite(self._read()[file]).all(axis=1))
        return layout.offsets[file] + int(rows[number])

    def point(self, layout: Layout, file: int, row: int) -> list[float]:
        """The coordinates of a row of the whole cloud."""
        return [float(x) for x in self._read()[file][row - layout.offsets[file]]]

    def prepare(self, points: TileParts | Layout) -> None:
        """Makes the tile, unless it is there."""
        if self._tile is not None:
            return
        from .. import _native
        from ._log import Log
        from ._storage import open_storage

        settings = self._settings
        storage = open_storage(settings.place, settings.limit)
        log = Log(storage, f"tile-{settings.tile:05}", settings.token)
        self._tile = _native.Tile(*self._points(points), log, settings.threads > 1)
        self._files = None

    def answer(self, request: bytes) -> bytes | None:
        """Answers a request of the conductor. None: this process is new, and must prepare first."""
        return None if self._tile is None else self._tile.answer(request)

    def _points(self, told: TileParts | Layout) -> tuple[NDArray[Any], NDArray[np.uint64]]:
        if isinstance(told, TileParts):
            import ray

            found = ray.get(told.parts, timeout=self._settings.limit)
            return np.concatenate([part.points for part in found]), np.concatenate([part.rows for part in found])
        parts, numbers = [], []
        for points, offset in zip(self._read(), told.offsets, strict=True):
            usable = np.flatnonzero(np.isfinite(points).all(axis=1))
            parts.append(points[usable].astype(np.float64 if told.double else np.float32))
            numbers.append(usable.astype(np.uint64) + np.uint64(offset))
        return np.concatenate(parts), np.concatenate(numbers)

    def _read(self) -> list[NDArray[Any]]:
        if self._files is None:
            from ..files import read

            files = self._settings.files
            assert files is not None
            self._files = [read(path, **files.options).points for path in files.paths]
            for path, before in zip(files.paths, files.stamps, strict=True):
                if stamp(path) != before:
                    raise RuntimeError(f"{path} has been changed since the run began; begin it anew")
        return self._files


def stamp(path: str) -> tuple[int, int]:
    """Size and time of a file."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def _described(points: NDArray[Any]) -> FilePart:
    good = np.isfinite(points).all(axis=1)
    usable = int(good.sum())
    bad = None if usable == len(points) else int(np.argmin(good))
    return FilePart(len(points), points.dtype == np.float64, usable, bad)
