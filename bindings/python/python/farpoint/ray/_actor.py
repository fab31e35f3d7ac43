"""Worker of a run: a Ray actor that holds one tile."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FilePart", "FilesPart", "Layout", "TileActor", "TileParts", "TileSettings", "stamp"]


class TileParts(NamedTuple):
    """Parts of a tile, as Ray objects, each a ``Part``. The driver owns them for its lifetime."""

    parts: list[Any]


class FilesPart(NamedTuple):
    """Files whose points form a tile."""

    paths: list[str]
    #: Size and modification time of each, to detect changed files.
    stamps: list[tuple[int, int]]
    #: Options of ``farpoint.read``.
    options: dict[str, Any]


class FilePart(NamedTuple):
    """Summary of the points of a file."""

    rows: int
    double: bool
    #: Number of finite rows.
    usable: int
    #: First non-finite row, if any.
    first_non_finite: int | None


class Layout(NamedTuple):
    """Layout of the whole cloud, for a tile of files."""

    double: bool
    #: Row of each file's first point in the whole cloud.
    offsets: list[int]


class TileSettings(NamedTuple):
    """Arguments of an actor: no Ray objects, which may be gone when it is restarted (ray #53727)."""

    tile: int
    #: Files to read; None if the points are sent to it.
    files: FilesPart | None
    #: Location of its log, for ``open_storage``.
    place: str
    #: Token of the driver that owns the run.
    token: bytes
    #: Timeout for waiting for others, in seconds.
    limit: float
    threads: int


class TileActor:
    """Holds a tile and answers requests. Created with paths only: data is read on demand, and so
    again after a restart."""

    def __init__(self, settings: TileSettings) -> None:
        self._settings = settings
        self._tile: Any = None
        self._files: list[NDArray[Any]] | None = None
        # Read by the thread pool that the compiled module starts when it needs one.
        os.environ["RAYON_NUM_THREADS"] = str(settings.threads)

    def ready(self) -> int:
        """Returns the process id, which identifies this incarnation of the actor."""
        return os.getpid()

    def files(self) -> list[FilePart]:
        """Returns summaries of the files."""
        return [_summary(points) for points in self._read()]

    def usable_row(self, layout: Layout, file: int, number: int) -> int:
        """Returns the row, in the whole cloud, of the usable point with this number in a file."""
        rows = np.flatnonzero(np.isfinite(self._read()[file]).all(axis=1))
        return layout.offsets[file] + int(rows[number])

    def point(self, layout: Layout, file: int, row: int) -> list[float]:
        """Returns the coordinates of a row of the whole cloud."""
        return [float(x) for x in self._read()[file][row - layout.offsets[file]]]

    def prepare(self, points: TileParts | Layout) -> None:
        """Creates the tile, unless it exists."""
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
        """Answers a request of the conductor; None if this process is new and must be prepared first."""
        return None if self._tile is None else self._tile.answer(request)

    def _points(self, data: TileParts | Layout) -> tuple[NDArray[Any], NDArray[np.uint64]]:
        if isinstance(data, TileParts):
            import ray

            received = ray.get(data.parts, timeout=self._settings.limit)
            return np.concatenate([part.points for part in received]), np.concatenate([part.rows for part in received])
        parts, numbers = [], []
        for points, offset in zip(self._read(), data.offsets, strict=True):
            usable = np.flatnonzero(np.isfinite(points).all(axis=1))
            parts.append(points[usable].astype(np.float64 if data.double else np.float32))
            numbers.append(usable.astype(np.uint64) + np.uint64(offset))
        return np.concatenate(parts), np.concatenate(numbers)

    def _read(self) -> list[NDArray[Any]]:
        if self._files is None:
            from ..files import read

            files = self._settings.files
            assert files is not None
            self._files = [read(path, **files.options).points for path in files.paths]
            for path, expected in zip(files.paths, files.stamps, strict=True):
                if stamp(path) != expected:
                    raise RuntimeError(f"{path} has changed since the run began; start a new run")
        return self._files


def stamp(path: str) -> tuple[int, int]:
    """Returns the size and modification time of a file."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def _summary(points: NDArray[Any]) -> FilePart:
    finite = np.isfinite(points).all(axis=1)
    usable = int(finite.sum())
    first_non_finite = None if usable == len(points) else int(np.argmin(finite))
    return FilePart(len(points), points.dtype == np.float64, usable, first_non_finite)
