"""Arrays in GPU memory other than PyTorch's: CuPy, JAX, Numba, and everything with DLPack or the
CUDA array interface. Lengths and starts are copied from the host. The functions implement
``interface.Library``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from .._device_records import MatchOutput, Output
from .._records import Sampling, Search
from . import integer_arrays, numpy, selection
from .conversion import name, refuse_narrow
from .cuda_arguments import fitting, pair_of, search_lengths, wait_for
from .cuda_operators import (
    check_indices, gather, gather_max, interpolate, search, tree_of, weights, within,
)
from .device import KINDS, Array, describe

__all__ = [
    "non_finite", "chamfer", "check_indices", "fill", "gather", "gather_max", "interpolate", "like", "nearest",
    "on_host", "ranges", "sample", "sample_ragged", "search", "tree_of", "voxels", "weights",
    "within",
]


def on_host(points: Any, what: str) -> np.ndarray:
    """Raises TypeError: nothing is copied to the CPU implicitly."""
    raise TypeError(
        f"{what} on the CPU, and the points are on a GPU ({name(points)}); copy them to the CPU first"
    )


def voxels(points: Any, request: Any, features: Any, how: str, labels: Any) -> tuple[Any, ...]:
    """Raises TypeError: voxels are only found on the CPU and for PyTorch."""
    raise TypeError(
        "voxel_downsample is for arrays on the CPU and PyTorch tensors; convert the points, by "
        f"torch.from_dlpack(points), or copy them to the CPU first ({name(points)})"
    )


def sample_ragged(points: Any, offsets: list[int], counts: list[int], start: Any, algorithm: str) -> Any:
    """Raises TypeError: concatenated clouds are only supported on the CPU and for PyTorch."""
    raise TypeError(
        "concatenated clouds are sampled on the CPU or as PyTorch tensors; call sample for each "
        f"cloud ({name(points)})"
    )


def ranges(firsts: list[int], counts: list[int], points: Any) -> Any:
    """Returns ``counts[k]`` numbers from ``firsts[k]`` on for each k, concatenated, on the device of the points."""
    return like(numpy.ranges(firsts, counts, None), points)


def like(result: np.ndarray, array: Any) -> Any:
    """Returns a NumPy array in the library and on the device of ``array``."""
    return describe(array).beside(array, result)


def fill(out: Any, result: np.ndarray, points: Any) -> Any:
    """Raises TypeError: results are in new memory."""
    raise TypeError(f"out is for NumPy arrays and PyTorch tensors ({name(points)})")


# ------------------------------------------------------------------------------------- sampling


def sample(points: Any, request: Sampling) -> tuple[Any, Any, Any]:
    """Returns indices, distances or None, and covering radius."""
    if request.selected is not None:
        return _sample_selected(points, request)
    if request.deadline is not None:
        raise ValueError(f"deadline is for points in host memory, sampled on the CPU ({name(points)})")
    if request.skip_non_finite or request.out is not None:
        option = 'non_finite="skip"' if request.skip_non_finite else "out"
        raise ValueError(f"{option} is for NumPy arrays and PyTorch tensors ({name(points)})")
    refuse_narrow(points, points)
    source = describe(points)
    clouds, rows, _ = source.shape
    count = _max_count(points, rows, request)
    lengths = counts = None
    if request.lengths is not None:
        lengths = _sample_lengths(points, source, request)
        if request.ratio is not None:
            counts = np.array([_native.limit(n, ratio=request.ratio) for n in lengths], np.int64)
    if request.counts is not None:
        counts = np.array(request.counts)
        counts = counts if lengths is None else np.minimum(counts, lengths)
    return _enqueue(points, source, request, count, lengths, counts)


def _sample_selected(points: Any, request: Sampling) -> tuple[Any, Any, Any]:
    """Samples selected rows, gathered first by the caller's library."""
    if request.out is not None:
        raise ValueError(f"out is for NumPy arrays and PyTorch tensors ({name(points)})")
    source = describe(points)
    library = source.namespace(points)
    rows, gathered = selection.plan(request, tuple(points.shape), name(points))
    named = source.beside(points, rows)
    if rows.ndim == 1:
        indices, *rest = sample(library.take(points, named, axis=0), gathered)
        return (library.take(named, indices, axis=0), *rest)
    clouds = source.beside(points, np.arange(len(rows))[:, None])
    indices, *rest = sample(points[clouds, named], gathered)
    if rows.size > 0:
        selected = library.take_along_axis(named, library.maximum(indices, 0), axis=1)
        indices = library.where(indices < 0, indices, selected)
    return (indices, *rest)


def _max_count(points: Any, rows: int, request: Sampling) -> int:
    """Returns the maximum number of samples per cloud."""
    if request.count is not None and request.lengths is not None:
        return request.count
    try:
        return _native.limit(rows, request.count, request.ratio)
    except ValueError as error:
        raise ValueError(f"{error} ({name(points)})") from None


def _sample_lengths(points: Any, source: Array, request: Sampling) -> np.ndarray:
    if not source.batch:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({name(points)})")
    return fitting(request.lengths, "lengths", source)


def _starts(points: Any, source: Array, request: Sampling, lengths: Any) -> np.ndarray | None:
    clouds, rows, _ = source.shape
    each = np.full(clouds, rows) if lengths is None else lengths
    if request.seed is not None:
        seeds = [_native.cloud_seed(request.seed, cloud) for cloud in range(clouds)]
        drawn = [_native.random_start(seed, int(n)) if n else 0 for seed, n in zip(seeds, each)]
        return np.array(drawn, np.int64).reshape(-1, 1)
    if request.start is None:
        return None
    starts = integer_arrays.starts_of(request.start, source.batch)
    if len(starts) not in (1, clouds):
        raise ValueError(f"start of shape {starts.shape} ({name(points)})")
    starts = np.broadcast_to(starts, (clouds, starts.shape[1]))
    for cloud, cloud_starts in enumerate(starts):
        outside = (cloud_starts < 0) | (cloud_starts >= each[cloud])
        if outside.any():
            raise ValueError(
                f"start index {cloud_starts[outside][0]} is outside the cloud of {each[cloud]} points "
                f"({name(points)})"
            )
        if len(np.unique(cloud_starts)) < len(cloud_starts):
            raise ValueError(f"a start index is given twice in {cloud_starts.tolist()}")
    return starts


def _enqueue(
    points: Any, source: Array, request: Sampling, count: int, lengths: Any, counts: Any
) -> tuple[Any, Any, Any]:
    clouds, rows, _ = source.shape
    starts = _starts(points, source, request, lengths)
    if request.spacing is not None and rows == 0:
        integer_arrays.refuse_empty([0] * clouds, source.batch, name(points))
    # Kernels write at most min(count, rows) samples per cloud.
    length = min(count, rows)
    slots = None if length == count else np.arange(clouds) * count
    padding = counts is not None or slots is not None
    # All are named, so that none is freed before it is used.
    sent = [None if p is None else source.upload(p) for p in (lengths, counts, slots, starts)]
    kind = KINDS[source.dtype]
    one = (clouds,) if source.batch else ()
    indices, values, covering, chosen = (
        source.room(shape, of, padding) if wanted else None
        for shape, of, wanted in (
            ((*one, count), "i8", True), ((*one, count), kind, request.distances),
            (one, kind, request.distances), ((clouds,), "i8", request.spacing is not None),
        )
    )
    output = Output(
        source.pointer(indices), source.pointer(sent[1]), source.pointer(sent[2]),
        (source.pointer(sent[3]), 1 if starts is None else starts.shape[1]),
        source.pointer(values), source.pointer(covering), source.pointer(chosen),
    )
    if clouds > 0 and length > 0:
        wanted = None if request.spacing is not None else length
        device_input = source.input(sent[0])
        _native.cuda_sample(device_input, output, wanted, request.spacing, request.algorithm)
        if chosen is not None:
            taken = source.numbers(chosen)
            integer_arrays.refuse_empty(taken, source.batch, name(points))
            count = max(taken)
    return _answer(source, request, (indices, values, covering), count)


def _answer(
    source: Array, request: Sampling, arrays: tuple[Any, Any, Any], length: int
) -> tuple[Any, Any, Any]:
    indices = _first(source.give(arrays[0]), length)
    if not request.distances:
        return indices, None, None
    distances = source.root(_first(source.give(arrays[1]), length))
    return indices, distances, source.root(source.give(arrays[2]))


def _first(result: Any, length: int) -> Any:
    """Returns a result without the unused entries after a stop at a spacing."""
    return result if result.shape[-1] == length else result[..., :length]


def non_finite(points: Any) -> tuple[list[int], list[int]]:
    """Returns the number of non-finite rows of each cloud, and the first of them."""
    source = describe(points)
    counts, firsts = (source.room((source.shape[0],), "i8") for _ in range(2))
    _native.cuda_check(source.input(), source.pointer(counts), source.pointer(firsts))
    return source.numbers(counts), source.numbers(firsts)


# ------------------------------------------------------------------------------- nearest points


def nearest(x: Any, y: Any, search: Search) -> tuple[Any, ...]:
    """Returns distances and indices of x, and of y in searches of both directions, as arrays of the library."""
    refuse_narrow(x, y)
    source, results = _search(x, y, search, search.both)
    results = [source.give(part) for part in results]
    if search.plain:
        results[::2] = [source.root(distances) for distances in results[::2]]
    return tuple(results)


def chamfer(x: Any, y: Any, search: Search) -> Any:
    """Returns a number for a pair of clouds, or for batches an array of the library of x."""
    source, results = _search(x, y, search, True)
    lengths = (search.x_lengths, search.y_lengths)
    totals = []
    for distances, rows in zip(results[::2], lengths):
        distances = source.give(distances)
        distances = source.root(distances) if search.plain else distances
        totals.append(_reduce(source, distances, rows, search.reduction))
    total = totals[0]
    if len(totals) == 2:
        both_largest = search.reduction == "max"
        total = source.namespace(total).maximum(*totals) if both_largest else totals[0] + totals[1]
    return total if source.batch else float(total)


def _reduce(source: Array, distances: Any, lengths: Any, reduction: str) -> Any:
    """Returns one value per cloud, in double precision if the library has it; padding is 0."""
    library = source.namespace(distances)
    if reduction == "max":
        return library.max(distances, axis=-1)
    total = library.sum(distances, axis=-1, dtype=source.double(library))
    if reduction == "sum":
        return total
    if lengths is None:
        return total / distances.shape[-1]
    counts = integer_arrays.integers(lengths, "lengths", 1).astype(np.float64)
    return total / source.beside(total, counts)


def _search(x: Any, y: Any, search: Search, filled: bool) -> tuple[Array, list[Any]]:
    """Returns the source of x, and distances and indices of x, and of y in searches of both directions. Raises for
    clouds without points if both must be ``filled``."""
    a, b = pair_of(x, y, filled)
    arguments = ((search.x_lengths, "x_lengths", a, filled), (search.y_lengths, "y_lengths", b, True))
    lengths = [search_lengths(*side) for side in arguments]
    results = []
    for source in (a, b) if search.both else (a,):
        shape = source.shape[:2] if source.batch else source.shape[1:2]
        results += [a.room(shape, KINDS[a.dtype]), a.room(shape, "i8")]
    if a.shape[0] > 0 and a.shape[1] > 0:
        # Uploads are named, so that none is freed before it is used.
        sent = [None if values is None else a.upload(values) for values in lengths]
        # Everything is queued on the stream of x, after the work on the stream of y.
        wait_for(a, b)
        inputs = a.input(sent[0]), b.input(sent[1])._replace(stream=a.stream)
        addresses = [a.pointer(part) for part in results] + [0] * (4 - len(results))
        output = MatchOutput((addresses[0], addresses[2]), (addresses[1], addresses[3]))
        _native.cuda_match(*inputs, output, search.norm)
    return a, results
