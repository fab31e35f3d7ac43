"""What is sampled: an array, or files. Each is cut into parts, a tile each."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ._actor import ArrayPart, FilePart, FilesPart, Layout, stamp

__all__ = ["ArraySource", "FileSource", "Source", "Start", "Workers"]


class Start(NamedTuple):
    """A point to start from, as the conductor takes it."""

    row: int
    at: tuple[float, float, float]
    tile: int


class Workers(Protocol):
    """Calls of tiles."""

    def ask(self, calls: list[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        """Calls methods of tiles, each until it is answered: tile, method, arguments."""


class Source(Protocol):
    """A cloud in parts."""

    #: What tells this cloud from others, for a run that goes on.
    identity: list[Any]

    @property
    def files(self) -> Sequence[FilesPart | None]:
        """The files that each tile reads, or None."""

    def open(self, workers: Workers, skip_bad: bool) -> None:
        """Looks at the points."""

    @property
    def double(self) -> bool:
        """Whether distances are float64."""

    @property
    def told(self) -> Sequence[ArrayPart | Layout]:
        """What each tile must be told; once it is open."""

    def starts(self, workers: Workers, rows: list[int] | None, seed: int | None) -> list[Start]:
        """The points to start from: these rows, or a random one. None is asked for: the first usable row."""


class ArraySource:
    """A cloud that this process holds, cut by space."""

    def __init__(self, points: Any, tiles: int) -> None:
        self._points = np.asarray(points)
        if self._points.ndim != 2 or self._points.dtype not in (np.float32, np.float64):
            shape, dtype = self._points.shape, self._points.dtype
            raise TypeError(
                "the source must be files or an array (N, D) of float32 or float64, not one of shape "
                f"{shape}, {dtype}"
            )
        self._usable = np.flatnonzero(np.isfinite(self._points).all(axis=1))
        good = self._points[self._usable]
        own = [self._usable[rows] for rows in _native.cut_tiles(good, tiles)]
        self._tile = np.full(len(self._points), -1, np.int32)
        for tile, rows in enumerate(own):
            self._tile[rows] = tile
        whole = np.ascontiguousarray(self._points).data
        check = zlib.crc32(whole.cast("B")) if self._points.size else 0
        self.identity = ["array", list(self._points.shape), str(self._points.dtype), check]
        self.files: Sequence[FilesPart | None] = [None] * tiles
        self.told: Sequence[ArrayPart | Layout] = self._put(own)
        self.double = bool(self._points.dtype == np.float64)

    def _put(self, own: list[NDArray[Any]]) -> list[ArrayPart]:
        import ray

        def part(rows: NDArray[Any]) -> ArrayPart:
            return ArrayPart(ray.put(self._points[rows]), ray.put(rows.astype(np.uint64)))

        return [part(rows) for rows in own]

    def open(self, workers: Workers, skip_bad: bool) -> None:
        bad = len(self._points) - len(self._usable)
        if bad and not skip_bad:
            first = int(np.flatnonzero(self._tile < 0)[0])
            raise ValueError(_bad_rows(first, bad, len(self._points)))

    def starts(self, workers: Workers, rows: list[int] | None, seed: int | None) -> list[Start]:
        if len(self._usable) == 0:
            return []
        if seed is not None:
            rows = [int(self._usable[_native.random_start(seed, len(self._usable))])]
        elif rows is None:
            rows = [int(self._usable[0])]
        return [self._start(row) for row in rows]

    def _start(self, row: int) -> Start:
        _check_row(row, len(self._points))
        if self._tile[row] < 0:
            raise ValueError(_bad_start(row))
        return Start(row, _three(self._points[row]), int(self._tile[row]))


class FileSource:
    """Files one after another, read by the workers: a tile is several files that follow each other."""

    def __init__(self, paths: list[str], tiles: int, options: dict[str, Any]) -> None:
        paths = [os.path.abspath(path) for path in paths]
        stamps = [stamp(path) for path in paths]
        self.identity = ["files", list(zip(paths, stamps, strict=True)), options]
        groups = _grouped([size for size, _ in stamps], tiles)
        self.files: Sequence[FilesPart | None] = [
            FilesPart([paths[k] for k in group], [stamps[k] for k in group], options) for group in groups
        ]
        self._paths = paths
        self._first = [group[0] for group in groups]
        self._found: list[FilePart] = []
        self._offsets: list[int] = []
        self.told: Sequence[ArrayPart | Layout] = []
        self.double = False

    def open(self, workers: Workers, skip_bad: bool) -> None:
        told = workers.ask([(tile, "files", ()) for tile in range(len(self.files))])
        self._found = [file for files in told for file in files]
        self._offsets = np.cumsum([0] + [file.rows for file in self._found]).tolist()
        bad = [k for k, file in enumerate(self._found) if file.bad is not None]
        if bad and not skip_bad:
            k = bad[0]
            first, rows = self._offsets[k] + (self._found[k].bad or 0), self._offsets[-1]
            count = sum(self._found[k].rows - self._found[k].usable for k in bad)
            raise ValueError(f"{_bad_rows(first, count, rows)}; the first one is in {self._paths[k]}")
        self.double = any(file.double for file in self._found)
        ends = [*self._first[1:], len(self._found)]
        self.told = [
            Layout(self.double, self._offsets[first:end])
            for first, end in zip(self._first, ends, strict=True)
        ]

    def starts(self, workers: Workers, rows: list[int] | None, seed: int | None) -> list[Start]:
        usable = sum(file.usable for file in self._found)
        if usable == 0:
            return []
        if rows is None:
            rows = [self._usable_row(workers, 0 if seed is None else _native.random_start(seed, usable))]
        return [self._start(workers, row) for row in rows]

    def _usable_row(self, workers: Workers, number: int) -> int:
        """The row of the usable point with this number."""
        ends = np.cumsum([file.usable for file in self._found])
        file = int(np.searchsorted(ends, number, side="right"))
        number -= int(ends[file - 1]) if file else 0
        row: int = self._ask(workers, "usable_row", file, number)
        return row

    def _start(self, workers: Workers, row: int) -> Start:
        _check_row(row, self._offsets[-1])
        # The last file that begins there has the row: those before it are empty.
        file = int(np.searchsorted(self._offsets, row, side="right")) - 1
        at = self._ask(workers, "point", file, row)
        if not np.isfinite(at).all():
            raise ValueError(_bad_start(row))
        return Start(row, _three(at), self._tile_of(file))

    def _tile_of(self, file: int) -> int:
        return int(np.searchsorted(self._first, file, side="right")) - 1

    def _ask(self, workers: Workers, method: str, file: int, number: int) -> Any:
        tile = self._tile_of(file)
        arguments = (self.told[tile], file - self._first[tile], number)
        return workers.ask([(tile, method, arguments)])[0]


def _grouped(sizes: list[int], tiles: int) -> list[list[int]]:
    """Files that follow each other, about equally many bytes a group, none of them empty."""
    tiles = min(tiles, len(sizes))
    groups: list[list[int]] = []
    left, taken = sum(sizes), 0
    for group in range(tiles):
        last = len(sizes) - (tiles - group - 1)
        wanted = left / (tiles - group)
        own = [taken]
        size = sizes[taken]
        while taken + len(own) < last and size + sizes[taken + len(own)] / 2 <= wanted:
            size += sizes[taken + len(own)]
            own.append(taken + len(own))
        if group == tiles - 1:
            own = list(range(taken, len(sizes)))
        groups.append(own)
        left, taken = left - size, taken + len(own)
    return groups


def _three(at: Any) -> tuple[float, float, float]:
    x, y, z = [*(float(value) for value in at), 0.0, 0.0][:3]
    return x, y, z


def _check_row(row: int, rows: int) -> None:
    if not 0 <= row < rows:
        raise ValueError(f"start {row} is outside the cloud, which has {rows} points")


def _bad_start(row: int) -> str:
    return f"start {row} has NaN or infinity; start from another point"


def _bad_rows(first: int, bad: int, rows: int) -> str:
    return (
        f"row {first} and {bad - 1} others of {rows} have NaN or infinity; "
        'leave them out with on_bad="skip"'
    )
