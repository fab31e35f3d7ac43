"""Inputs of a run: an array, a Ray dataset, or files. Each is split into parts, one per tile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ._actor import FilePart, FilesPart, Layout, TileParts, stamp
from ._blocks import points_of
from ._cut import PieceSummary, Planes, cut, cut_to_one, planes_through, summarize, tile_of
from .result import Files

__all__ = ["CutSource", "FileSource", "Source", "Start", "Workers", "array_source", "dataset_source"]

#: Maximum number of rows of a piece of an array.
_MAX_PIECE_ROWS = 1 << 23
#: Maximum number of rows that the driver's process splits itself.
_MAX_LOCAL_ROWS = 1 << 20


class Start(NamedTuple):
    """Start point, for the conductor."""

    row: int
    at: tuple[float, float, float]
    tile: int


class Workers(Protocol):
    """Protocol for calls of tiles."""

    def wait(self, objects: Sequence[Any], count: int) -> None:
        """Waits until ``count`` of these Ray objects are ready; raises if none is within the time limit."""

    def get(self, objects: Sequence[Any]) -> list[Any]:
        """Returns the values of these Ray objects; raises if none arrives within the time limit."""

    def ask(self, calls: list[tuple[int, str, tuple[Any, ...]]]) -> list[Any]:
        """Calls methods of tiles, retried until answered: tile, method, arguments."""


class Source(Protocol):
    """Protocol of a cloud in parts."""

    @property
    def identity(self) -> list[Any]:
        """Returns the identity of this cloud, for resuming a run; available once it is open."""

    @property
    def files(self) -> Sequence[FilesPart | None]:
        """Returns the files that each tile reads, or None."""

    #: Files of the source, if any: their rows can be written.
    read_again: Files | None

    def open(self, workers: Workers, skip_non_finite: bool) -> None:
        """Reads summaries of the points."""

    @property
    def double(self) -> bool:
        """Returns whether distances are float64."""

    @property
    def tile_data(self) -> Sequence[TileParts | Layout]:
        """Returns the data to send to each tile; available once it is open."""

    def starts(self, workers: Workers, rows: list[int] | None, seed: int | None) -> list[Start]:
        """Returns the start points: these rows, or a random one with a seed; by default the first usable row."""


class CutSource:
    """Spatially partitioned pieces of a cloud: Ray objects with consecutive rows. Tasks split them; Ray recomputes
    objects lost with a machine."""

    read_again: Files | None = None

    def __init__(
        self, kind: str, pieces: Sequence[Any], columns: Sequence[str] | None, tiles: int, rows: int,
        owner: Any = None,
    ) -> None:
        import ray

        self._ray = ray
        #: True to split in this process: starting others would take longer.
        self._is_local = rows <= _MAX_LOCAL_ROWS
        #: Object that keeps the pieces alive.
        self._owner = owner
        self._kind = kind
        self._pieces = pieces
        self._columns = columns
        self._summaries: list[PieceSummary] = []
        self._offsets: list[int] = [0]
        self._planes: Planes = 0
        self.files: Sequence[FilesPart | None] = [None] * tiles
        self.tile_data: Sequence[TileParts | Layout] = []
        self.double = False

    @property
    def identity(self) -> list[Any]:
        """Returns the identity; available once it is open."""
        pieces = [(piece.rows, piece.axes, piece.double, piece.check) for piece in self._summaries]
        return [self._kind, self._columns, pieces]

    def open(self, workers: Workers, skip_non_finite: bool) -> None:
        tiles = len(self.files)
        shared = (self._columns, len(self._pieces), tiles)
        self._summaries = workers.get(self._tasks(workers, summarize, 1, [(piece, *shared) for piece in self._pieces]))
        self._offsets = np.cumsum([0] + [piece.rows for piece in self._summaries]).tolist()
        self._check(skip_non_finite)
        self.double = any(piece.double for piece in self._summaries)
        subsets = [piece.subset for piece in self._summaries if piece.rows]
        if tiles > 1 and subsets:
            offsets = zip(self._summaries, self._offsets, strict=False)
            rows = [piece.subset_rows + offset for piece, offset in offsets if piece.rows]
            self._planes = planes_through(np.concatenate(subsets), np.concatenate(rows), tiles)
        calls = [
            (piece, self._columns, offset, self.double, self._planes, tiles)
            for piece, offset in zip(self._pieces, self._offsets, strict=False)
        ]
        parts = self._tasks(workers, cut if tiles > 1 else cut_to_one, tiles, calls)
        parts = parts if tiles > 1 else [[part] for part in parts]
        self.tile_data = [TileParts([piece[tile] for piece in parts]) for tile in range(tiles)]

    def _check(self, skip_non_finite: bool) -> None:
        axes = sorted({piece.axes for piece in self._summaries if piece.rows})
        if len(axes) > 1:
            raise ValueError(f"the points have {axes[0]} coordinates in one block and {axes[-1]} in another")
        non_finite = [k for k, piece in enumerate(self._summaries) if piece.first_non_finite is not None]
        if non_finite and not skip_non_finite:
            first = self._offsets[non_finite[0]] + (self._summaries[non_finite[0]].first_non_finite or 0)
            count = sum(self._summaries[k].rows - self._summaries[k].usable for k in non_finite)
            raise ValueError(_non_finite_rows(first, count, self._offsets[-1]))

    def _tasks(self, workers: Workers, work: Any, num_returns: int, calls: list[tuple[Any, ...]]) -> list[Any]:
        """Runs tasks, a limited number at a time: they reserve no cores, which the actors hold. Each has one result or
        several, as Ray objects."""
        if self._is_local:
            results = [work(workers.get([piece])[0], *arguments) for piece, *arguments in calls]
            return [[self._ray.put(part) for part in parts] if num_returns > 1 else self._ray.put(parts) for parts in results]
        remote = self._ray.remote(num_cpus=0, num_returns=num_returns, scheduling_strategy="SPREAD")(work)
        room = max(len(self.files), int(self._ray.cluster_resources().get("CPU", 1)))
        started: list[Any] = []
        for call in calls:
            if len(started) >= room:
                first = [task[0] if num_returns > 1 else task for task in started]
                workers.wait(first, len(started) - room + 1)
            started.append(remote.remote(*call))
        return started

    def starts(self, workers: Workers, rows: list[int] | None, seed: int | None) -> list[Start]:
        usable = sum(piece.usable for piece in self._summaries)
        if usable == 0:
            return []
        if rows is None:
            rows = [self._usable_row(workers, 0 if seed is None else _native.random_start(seed, usable))]
        return [self._start(workers, row) for row in rows]

    def _points(self, workers: Workers, piece: int) -> NDArray[Any]:
        return points_of(workers.get([self._pieces[piece]])[0], self._columns)

    def _usable_row(self, workers: Workers, number: int) -> int:
        """Returns the row of the usable point with this number."""
        piece, number = _place([piece.usable for piece in self._summaries], number)
        if self._summaries[piece].first_non_finite is not None:
            number = int(np.flatnonzero(np.isfinite(self._points(workers, piece)).all(axis=1))[number])
        return self._offsets[piece] + number

    def _start(self, workers: Workers, row: int) -> Start:
        _check_row(row, self._offsets[-1])
        piece, number = _place([piece.rows for piece in self._summaries], row)
        at = self._points(workers, piece)[number]
        if not np.isfinite(at).all():
            raise ValueError(_non_finite_start(row))
        place = _three(at)
        return Start(row, place, tile_of(self._planes, place, row))


def array_source(points: Any, tiles: int) -> CutSource:
    """Returns the source of a cloud in this process."""
    import ray

    points = np.asarray(points)
    if points.ndim != 2 or points.dtype not in (np.float32, np.float64):
        raise TypeError(
            "the source must be files, a data set of Ray, or an array (N, D) of float32 or float64, not one of "
            f"shape {points.shape}, {points.dtype}"
        )
    pieces = 1 if len(points) <= _MAX_LOCAL_ROWS else max(tiles, -(-len(points) // _MAX_PIECE_ROWS))
    step = max(1, -(-len(points) // pieces))
    objects = [ray.put(points[first : first + step]) for first in range(0, max(len(points), 1), step)]
    return CutSource("array", objects, None, tiles, len(points))


def dataset_source(dataset: Any, columns: Sequence[str] | None, tiles: int) -> CutSource:
    """Returns the source of a dataset, with rows in the order of its blocks."""
    if columns is not None and not all(isinstance(name, str) for name in columns):
        raise TypeError(f"xyz is {columns!r}; columns of a data set must be names")
    options = dataset.context.execution_options
    previous, options.preserve_order = options.preserve_order, True
    try:
        blocks = dataset.materialize()
    finally:
        options.preserve_order = previous
    pieces = [block for bundle in blocks.iter_internal_ref_bundles() for block in bundle.block_refs]
    if not pieces:
        raise ValueError("the data set has no rows")
    return CutSource("dataset", pieces, None if columns is None else list(columns), tiles, blocks.count(), blocks)


class FileSource:
    """Concatenated files, read by the workers: a tile is a sequence of consecutive files."""

    def __init__(self, paths: list[str], tiles: int, options: dict[str, Any]) -> None:
        paths = [os.path.abspath(path) for path in paths]
        stamps = [stamp(path) for path in paths]
        self.read_again: Files | None = Files(paths, stamps, **options)
        self.identity: list[Any] = ["files", list(zip(paths, stamps, strict=True)), options]
        groups = _grouped([size for size, _ in stamps], tiles)
        self.files: Sequence[FilesPart | None] = [
            FilesPart([paths[k] for k in group], [stamps[k] for k in group], options) for group in groups
        ]
        self._paths = paths
        self._first = [group[0] for group in groups]
        self._summaries: list[FilePart] = []
        self._offsets: list[int] = []
        self.tile_data: Sequence[TileParts | Layout] = []
        self.double = False

    def open(self, workers: Workers, skip_non_finite: bool) -> None:
        summaries = workers.ask([(tile, "files", ()) for tile in range(len(self.files))])
        self._summaries = [file for files in summaries for file in files]
        self._offsets = np.cumsum([0] + [file.rows for file in self._summaries]).tolist()
        non_finite = [k for k, file in enumerate(self._summaries) if file.first_non_finite is not None]
        if non_finite and not skip_non_finite:
            k = non_finite[0]
            first, rows = self._offsets[k] + (self._summaries[k].first_non_finite or 0), self._offsets[-1]
            count = sum(self._summaries[k].rows - self._summaries[k].usable for k in non_finite)
            raise ValueError(f"{_non_finite_rows(first, count, rows)}; the first one is in {self._paths[k]}")
        self.double = any(file.double for file in self._summaries)
        ends = [*self._first[1:], len(self._summaries)]
        self.tile_data = [
            Layout(self.double, self._offsets[first:end])
            for first, end in zip(self._first, ends, strict=True)
        ]

    def starts(self, workers: Workers, rows: list[int] | None, seed: int | None) -> list[Start]:
        usable = sum(file.usable for file in self._summaries)
        if usable == 0:
            return []
        if rows is None:
            rows = [self._usable_row(workers, 0 if seed is None else _native.random_start(seed, usable))]
        return [self._start(workers, row) for row in rows]

    def _usable_row(self, workers: Workers, number: int) -> int:
        """Returns the row of the usable point with this number."""
        file, number = _place([file.usable for file in self._summaries], number)
        row: int = self._ask(workers, "usable_row", file, number)
        return row

    def _start(self, workers: Workers, row: int) -> Start:
        _check_row(row, self._offsets[-1])
        file, _ = _place([file.rows for file in self._summaries], row)
        at = self._ask(workers, "point", file, row)
        if not np.isfinite(at).all():
            raise ValueError(_non_finite_start(row))
        return Start(row, _three(at), self._tile_of(file))

    def _tile_of(self, file: int) -> int:
        return int(np.searchsorted(self._first, file, side="right")) - 1

    def _ask(self, workers: Workers, method: str, file: int, number: int) -> Any:
        tile = self._tile_of(file)
        arguments = (self.tile_data[tile], file - self._first[tile], number)
        return workers.ask([(tile, method, arguments)])[0]


def _grouped(sizes: list[int], tiles: int) -> list[list[int]]:
    """Returns groups of consecutive files of about equal size in bytes, none of them empty."""
    tiles = min(tiles, len(sizes))
    groups: list[list[int]] = []
    remaining, first = sum(sizes), 0
    for group in range(tiles):
        last = len(sizes) - (tiles - group - 1)
        target = remaining / (tiles - group)
        members = [first]
        size = sizes[first]
        while first + len(members) < last and size + sizes[first + len(members)] / 2 <= target:
            size += sizes[first + len(members)]
            members.append(first + len(members))
        if group == tiles - 1:
            members = list(range(first, len(sizes)))
        groups.append(members)
        remaining, first = remaining - size, first + len(members)
    return groups


def _place(counts: list[int], number: int) -> tuple[int, int]:
    """Returns which of several concatenated lists contains this number, and its position in it."""
    ends = np.cumsum(counts)
    which = int(np.searchsorted(ends, number, side="right"))
    return which, number - (int(ends[which - 1]) if which else 0)


def _three(at: Any) -> tuple[float, float, float]:
    x, y, z = [*(float(value) for value in at), 0.0, 0.0][:3]
    return x, y, z


def _check_row(row: int, rows: int) -> None:
    if not 0 <= row < rows:
        raise ValueError(f"start {row} is outside the cloud, which has {rows} points")


def _non_finite_start(row: int) -> str:
    return f"start index {row} names a row with NaN or infinity; choose another"


def _non_finite_rows(first: int, count: int, rows: int) -> str:
    return (
        f"row {first} and {count - 1} others of {rows} have NaN or infinity; "
        'remove them or pass non_finite="skip"'
    )
