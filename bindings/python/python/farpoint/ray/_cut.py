"""Spatial partition of points into tiles, piece by piece in tasks, so that no process needs all points."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from ._blocks import points_of

__all__ = ["Part", "PieceSummary", "Plane", "Planes", "cut", "cut_to_one", "planes_through", "summarize", "tile_of"]

#: Approximate number of points per tile from which planes are computed: tiles then differ by a few percent in size.
_SUBSET_SIZE = 1 << 14


class Plane(NamedTuple):
    """Splits space in two. Equal coordinates are split by their rows, so that any cloud can be split."""

    axis: int
    value: float
    row: int
    low: Planes
    high: Planes


#: Node of the partition: a tile by its number, or a plane with two nodes.
Planes = Union[Plane, int]


class PieceSummary(NamedTuple):
    """Summary of the points of a piece."""

    rows: int
    axes: int
    double: bool
    #: Number of finite rows.
    usable: int
    #: First non-finite row, if any.
    first_non_finite: int | None
    #: Checksum of all coordinates.
    check: int
    #: Subset of the usable points, and their rows in the piece.
    subset: NDArray[Any]
    subset_rows: NDArray[np.int64]


class Part(NamedTuple):
    """Points (N, D) of a piece that belong to one tile, and their rows (N,) in the whole cloud."""

    points: NDArray[Any]
    rows: NDArray[np.uint64]


def summarize(block: Any, columns: Sequence[str] | None, pieces: int, tiles: int) -> PieceSummary:
    """Returns the summary of one of ``pieces`` pieces, to be split into ``tiles`` tiles."""
    points = points_of(block, columns)
    finite = np.isfinite(points).all(axis=1)
    usable = int(finite.sum())
    first_non_finite = None if usable == len(points) else int(np.argmin(finite))
    target = max(1, _SUBSET_SIZE * tiles // pieces)
    rows = np.arange(len(points)) if first_non_finite is None else np.flatnonzero(finite)
    subset = rows[:: max(1, usable // target)]
    check = zlib.crc32(np.ascontiguousarray(points).data.cast("B")) if points.size else 0
    double = points.dtype == np.float64
    return PieceSummary(len(points), points.shape[1], double, usable, first_non_finite, check, points[subset], subset)


def cut(
    block: Any, columns: Sequence[str] | None, first: int, double: bool, planes: Planes, tiles: int
) -> list[Part]:
    """Returns the usable points of a piece whose first row in the whole cloud is ``first``, one part per tile."""
    points = points_of(block, columns)
    points = points.astype(np.float64 if double else np.float32, copy=False)
    rows_of_tiles = [np.empty(0, np.int64)] * tiles

    def split(planes: Planes, rows: NDArray[np.int64]) -> None:
        if not isinstance(planes, Plane):
            rows_of_tiles[planes] = rows
            return
        along = points[rows, planes.axis]
        low = (along < planes.value) | ((along == planes.value) & (rows < planes.row - first))
        split(planes.low, rows[low])
        split(planes.high, rows[~low])

    split(planes, np.flatnonzero(np.isfinite(points).all(axis=1)))
    return [Part(points[rows], rows.astype(np.uint64) + np.uint64(first)) for rows in rows_of_tiles]


def cut_to_one(*arguments: Any) -> Part:
    """Returns the single part of ``cut``, since a task with one result returns it without a list."""
    return cut(*arguments)[0]


def planes_through(points: NDArray[Any], rows: NDArray[np.int64], tiles: int) -> Planes:
    """Returns planes that split points into ``tiles`` tiles of about equal size, across the longest side."""

    def halve(subset: NDArray[np.int64], first: int, count: int) -> Planes:
        if count == 1:
            return first
        low_tiles = count // 2
        if len(subset) == 0:
            return Plane(0, 0.0, 0, halve(subset, first, low_tiles), halve(subset, first + low_tiles, count - low_tiles))
        coordinates = points[subset]
        axis = int(np.argmax(coordinates.max(axis=0) - coordinates.min(axis=0)))
        subset = subset[np.lexsort((rows[subset], coordinates[:, axis]))]
        middle = len(subset) * low_tiles // count
        low, high = halve(subset[:middle], first, low_tiles), halve(subset[middle:], first + low_tiles, count - low_tiles)
        return Plane(axis, float(points[subset[middle], axis]), int(rows[subset[middle]]), low, high)

    # In float64, to avoid overflow of the extents.
    points = points.astype(np.float64)
    with np.errstate(over="ignore"):
        return halve(np.arange(len(points)), 0, tiles)


def tile_of(planes: Planes, at: Sequence[float], row: int) -> int:
    """Returns the tile that contains a point."""
    while isinstance(planes, Plane):
        low = (at[planes.axis], row) < (planes.value, planes.row)
        planes = planes.low if low else planes.high
    return planes
