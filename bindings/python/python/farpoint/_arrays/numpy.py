"""Arrays in host memory, as NumPy arrays: NumPy's own, lists, and arrays of other libraries by
DLPack or the array protocols. The functions implement ``interface.Library``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native, _progress
from .._records import Reduction, Sampling, Search
from . import selection
from .conversion import like, name, pair_of_points, points_of, refuse_narrow
from .numpy_operators import (
    check_indices, gather, gather_max, interpolate, search, tree_of, weights, within,
)
from .numpy_voxels import voxels
from .integer_arrays import lengths_of, starts_of

__all__ = [
    "non_finite", "chamfer", "check_indices", "fill", "gather", "gather_max", "interpolate", "like", "nearest",
    "on_host", "ranges", "sample", "sample_array", "sample_ragged", "search", "tree_of", "voxels",
    "weights", "within",
]


def sample(points: Any, request: Sampling) -> tuple[Any, Any, Any]:
    """Returns indices, distances or None, and covering radius."""
    if type(points) is np.ndarray:
        return sample_array(points_of(points), request)
    refuse_narrow(points, points)
    indices, distances, radius = sample_array(points_of(points), request)
    if distances is not None:
        distances = like(distances, points)
    return like(indices, points), distances, radius


def sample_array(points: np.ndarray, request: Sampling) -> tuple[Any, Any, Any]:
    """Returns indices, distances or None, and covering radius as NumPy arrays."""
    lengths = starts = selected = None
    if request.lengths is not None:
        lengths = lengths_of(request.lengths)
    if request.selected is not None:
        selected = selection.selected(request.selected)
    if request.start is not None:
        starts = starts_of(request.start, points.ndim == 3)
    if request.progress:
        with _progress.bar(True, "sampling", "points") as callback:
            return _sampled(points, request, lengths, starts, selected, callback)
    return _sampled(points, request, lengths, starts, selected, None)


def _sampled(
    points: np.ndarray, request: Sampling, lengths: Any, starts: Any, selected: Any, callback: Any
) -> tuple[Any, Any, Any]:
    return _native.sample(
        points, request.count, request.ratio, request.spacing, starts, request.seed, lengths,
        request.counts, request.algorithm, request.threads, request.skip_non_finite, request.distances,
        request.out, callback, selected, request.gpu, request.deadline,
    )


def sample_ragged(points: Any, offsets: list[int], counts: list[int], start: Any, algorithm: str) -> Any:
    """Returns rows of concatenated clouds."""
    array = points_of(points)
    starts = None if start is None else starts_of(start, True)
    rows = _native.sample_ragged(
        array, np.array(offsets, np.int64), np.array(counts, np.int64), starts, algorithm
    )
    return like(rows, points)


def ranges(firsts: list[int], counts: list[int], points: Any) -> Any:
    """Returns ``counts[k]`` numbers from ``firsts[k]`` on for each k, concatenated."""
    shifts = np.array(firsts, np.int64) - np.cumsum([0, *counts[:-1]], dtype=np.int64)[: len(counts)]
    return like(np.arange(sum(counts), dtype=np.int64) + shifts.repeat(counts), points)


def nearest(x: Any, y: Any, search: Search) -> tuple[Any, ...]:
    """Returns distances and indices of x, and of y in searches of both directions."""
    refuse_narrow(x, y)
    batches, single = _batches(x, y, search)
    arguments = batches, search.norm, "auto", search.threads, search.both
    if search.progress:
        with _progress.bar(True, "searching", "points") as callback:
            results = list(_native.match_clouds(*arguments, callback))
    else:
        results = list(_native.match_clouds(*arguments))
    if single:
        results = [part[0] for part in results]
    if search.plain:
        results[::2] = [np.sqrt(distances) for distances in results[::2]]
    return tuple([like(part, x) for part in results])


def chamfer(x: Any, y: Any, search: Search) -> Any:
    """Returns one value per pair of clouds."""
    batches, single = _batches(x, y, search)
    how = search.how()
    if search.progress:
        with _progress.bar(True, "searching", "points") as callback:
            (values,) = _native.chamfer_clouds(batches, how, False, callback)
    else:
        (values,) = _native.chamfer_clouds(batches, how, False)
    return float(values[0]) if single else like(values, x)


def _batches(x: Any, y: Any, search: Search) -> tuple[tuple[Any, Any, Any, Any], bool]:
    """Returns both clouds or batches with their lengths, and whether they are a pair of clouds."""
    a, b = pair_of_points(x, y)
    single = a.ndim == 2
    arguments = ((search.x_lengths, "x_lengths"), (search.y_lengths, "y_lengths"))
    if single:
        for (lengths, what), points in zip(arguments, (x, y)):
            if lengths is not None:
                raise ValueError(f"{what} are for a batch of shape (B, N, D) ({name(points)})")
        return (a, b, None, None), True
    x_lengths, y_lengths = (lengths_of(lengths, what) for lengths, what in arguments)
    return (a, b, x_lengths, y_lengths), False


def non_finite(points: Any) -> tuple[list[int], list[int]]:
    """Returns the number of non-finite rows of each cloud, and the first of them."""
    array = points_of(points)
    _native.address(array)  # raises for other dtypes and shapes
    bad = ~np.isfinite(array.reshape(-1, *array.shape[-2:])).all(axis=-1)
    return bad.sum(axis=-1).tolist(), bad.argmax(axis=-1).tolist() if bad.size else []


def on_host(points: Any, what: str) -> np.ndarray:
    """Returns the points as a NumPy array."""
    array = points_of(points)
    _native.address(array)  # raises for other dtypes and shapes
    return array


def fill(out: Any, result: np.ndarray, points: Any) -> Any:
    """Writes indices to the caller's array and returns it."""
    if not isinstance(out, np.ndarray) or out.dtype != np.int64:
        raise TypeError(f"out must be an int64 array of NumPy, not {name(out)}")
    if out.shape != result.shape:
        raise ValueError(f"out must be of shape {result.shape}, not {out.shape}")
    out[...] = result
    return out
