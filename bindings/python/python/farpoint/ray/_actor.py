"""A worker of a run: an actor of Ray that holds one tile."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArrayPart", "FilePart", "FilesPart", "Layout", "TileActor"]


class ArrayPart(NamedTuple):
    """Points and their rows, as objects of Ray: the driver has them as long as it lives."""

    points: Any
    rows: Any


class FilesPart(NamedTuple):
    """Files whose points are a tile."""

    paths: list[str]
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


class TileActor:
    """Holds a tile and answers requests. Made with paths only: what it needs it reads when it is asked,
    and so after a restart."""

    def __init__(
        self, part: ArrayPart | FilesPart, place: Any, tile: int, token: bytes, settings: dict[str, Any]
    ) -> None:
        self._part = part
        self._place = place[0]
        self._number = tile
        self._token = token
        self._settings = settings
        self._tile: Any = None
        self._files: list[NDArray[Any]] | None = None
        # Heard by the pool of threads that the compiled module starts when it needs one.
        os.environ["RAYON_NUM_THREADS"] = str(settings["threads"])

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

    def answer(self, layout: Layout | None, request: bytes) -> bytes:
        """Answers a request of the conductor."""
        if self._tile is None:
            self._tile = self._made(layout)
        answer: bytes = self._tile.answer(request)
        return answer

    def _made(self, layout: Layout | None) -> Any:
        from .. import _native
        from ._log import Log
        from ._storage import open_storage

        storage = open_storage(self._place, self._settings["limit"])
        log = Log(storage, f"tile-{self._number:05}", self._token)
        points, rows = self._points(layout)
        tile = _native.Tile(points, rows, log, self._settings["threads"] > 1)
        self._files = None
        return tile

    def _points(self, layout: Layout | None) -> tuple[NDArray[Any], NDArray[np.uint64]]:
        if isinstance(self._part, ArrayPart):
            import ray

            points, rows = ray.get(list(self._part), timeout=self._settings["limit"])
            return points, rows
        if layout is None:
            raise RuntimeError("a tile of files needs to know where their rows begin")
        parts, numbers = [], []
        for points, offset in zip(self._read(), layout.offsets, strict=True):
            usable = np.flatnonzero(np.isfinite(points).all(axis=1))
            parts.append(points[usable].astype(np.float64 if layout.double else np.float32))
            numbers.append(usable.astype(np.uint64) + np.uint64(offset))
        return np.concatenate(parts), np.concatenate(numbers)

    def _read(self) -> list[NDArray[Any]]:
        if self._files is None:
            from ..files import read

            assert isinstance(self._part, FilesPart)
            self._files = [read(path, **self._part.options).points for path in self._part.paths]
        return self._files


def _described(points: NDArray[Any]) -> FilePart:
    good = np.isfinite(points).all(axis=1)
    usable = int(good.sum())
    bad = None if usable == len(points) else int(np.argmin(good))
    return FilePart(len(points), points.dtype == np.float64, usable, bad)
