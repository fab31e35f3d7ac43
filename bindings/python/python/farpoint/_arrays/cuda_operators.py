"""Point operators on arrays in GPU memory other than PyTorch's. Lengths and offsets are copied from the host.
The functions implement ``interface.Library``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .. import _native
from .._records import Neighborhood, Sides
from . import integer_arrays
from .conversion import is_on_gpu, name, refuse_narrow
from .cuda_arguments import fitting, pair_of, wait_for
from .device import KINDS, Array, describe, describe_numbers
from .value_shapes import Sizes, check_beside, check_shapes, sizes_of, wrong_index

_search_plan = lru_cache(maxsize=256)(_native.CudaSearch)
_values_plan = lru_cache(maxsize=256)(_native.CudaValues)


# ------------------------------------------------------------------------------------- searches


class _Step:
    """Search: the plan, the addresses of a step, and the objects to keep alive until it is queued."""

    def __init__(self, a: Array, b: Array, sides: Sides, request: Neighborhood) -> None:
        itself = a.address == b.address and a.shape == b.shape and a.even == b.even
        itself = itself and sides.x_lengths is sides.y_lengths
        itself = itself and sides.x_offsets is sides.y_offsets
        lengths = _lengths(sides.x_lengths, a), _lengths(sides.y_lengths, b)
        offsets = _offsets(sides.x_offsets, a), _offsets(sides.y_offsets, b)
        ragged = offsets[0] is not None
        clouds = a.shape[0]
        if ragged:
            clouds, others = (len(part) - 1 for part in offsets if part is not None)
            if clouds != others:
                raise ValueError(f"{clouds} clouds cannot be searched in {others} ({name(a.array)})")
        self.plan = _search_plan(
            a.device, a.dtype == np.float64, (clouds, a.shape[1], b.shape[1], a.shape[2]),
            (a.even, b.even), ragged, request,
        )
        wait_for(a, b)
        self.sent = [None if part is None else a.upload(part) for part in (*lengths, *offsets)]
        places = [a.pointer(part) for part in self.sent]
        tree = a.pointer(sides.tree)
        self.step = (
            a.stream, (a.address, b.address), (places[0], places[1]), (places[2], places[3]), tree,
            bool(tree and itself),
        )
        self.scratch = _memory(a, self.plan.scratch[tree != 0])


def _memory(source: Array, size: int) -> Any:
    """Allocates ``size`` bytes on the device of an array; None for 0."""
    return source.room((-(-size // 8),), "i8") if size else None


def _lengths(lengths: Any, source: Array) -> np.ndarray | None:
    if lengths is None:
        return None
    if not source.batch:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({name(source.array)})")
    return fitting(lengths, "lengths", source)


def _offsets(given: Any, source: Array) -> np.ndarray | None:
    if given is None:
        return None
    if source.batch:
        raise ValueError(f"offsets are for an array of shape (N, D) ({name(source.array)})")
    offsets, rows = integer_arrays.integers(given, "offsets", 1), source.shape[1]
    ascend = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == rows
    if not ascend or (np.diff(offsets) < 0).any():
        raise ValueError(f"offsets {offsets.tolist()} must ascend from 0 to {rows} ({name(source.array)})")
    return offsets


def _pair(x: Any, y: Any, request: Neighborhood) -> tuple[Array, Array]:
    refuse_narrow(x, y)
    a, b = pair_of(x, y)
    if request.narrow and b.shape[1] >= 2**31:
        raise ValueError(f"indices of 32 bits do not reach all {b.shape[1]} rows ({name(y)})")
    return a, b


def search(
    x: Any, y: Any, sides: Sides, request: Neighborhood, plain: bool
) -> tuple[Any, ...]:
    """Returns distances, indices and counts of the neighbors of each point."""
    a, b = _pair(x, y, request)
    call, rows = _Step(a, b, sides, request), a.shape[:2] if a.batch else a.shape[1:2]
    kind, places = "i4" if request.narrow else "i8", (*rows, request.k or 0)
    results = a.room(places, KINDS[a.dtype]), a.room(places, kind), a.room(rows, kind)
    if 0 not in rows:
        distances_at, indices_at, counts_at = (a.pointer(part) for part in results)
        scratch = a.pointer(call.scratch)
        call.plan.search(call.step, distances_at, indices_at, counts_at, scratch)
    distances, *rest = (a.give(part) for part in results)
    return (a.root(distances) if plain else distances, *rest)


def within(
    x: Any, y: Any, sides: Sides, request: Neighborhood, plain: bool
) -> tuple[Any, ...]:
    """Returns distances and indices of all neighbors, and the offsets of each point. Synchronizes the GPU."""
    a, b = _pair(x, y, request)
    call, rows = _Step(a, b, sides, request), a.shape[0] * a.shape[1]
    ends = np.zeros(rows + 1, np.int64)
    if rows:
        counts = a.room((rows,), "i8")
        call.plan.count(call.step, a.pointer(counts), a.pointer(call.scratch))
        np.cumsum(a.numbers(counts), out=ends[1:])
    total = int(ends[-1])
    offsets = a.upload(ends)
    results = a.room((total,), KINDS[a.dtype]), a.room((total,), "i4" if request.narrow else "i8")
    if total:
        begins, distances_at, indices_at = (a.pointer(part) for part in (offsets, *results))
        scratch = a.pointer(call.scratch)
        call.plan.fill(call.step, begins, distances_at, indices_at, scratch)
    distances, *rest = (a.give(part) for part in (*results, offsets))
    return (a.root(distances) if plain else distances, *rest)


def tree_of(y: Any, lengths: Any, offsets: Any, threads: int | None) -> tuple[Any, Any]:
    """Returns the trees of clouds for repeated searches."""
    source = describe(y)
    request = Neighborhood(
        1, "nearest", (0.0, 0.0, 0.0), False, False, False, 2, False, None
    )
    call = _Step(source, source, Sides(lengths, lengths, offsets, offsets), request)
    size, scratch = call.plan.index_bytes
    tree, room = source.room((-(-size // 8),), "i8"), _memory(source, scratch)
    if size:
        call.plan.index((*call.step[:4], source.pointer(tree), False), source.pointer(room))
    return tree, None


# --------------------------------------------------------------------------------------- values

_VALUES = {**KINDS, np.dtype(np.float16): "f2"}


def _described(values: Any, *others: Any) -> list[Array]:
    """Returns descriptions of arrays on one GPU."""
    for other in (values, *others):
        if isinstance(other, np.ndarray) or not is_on_gpu(other):
            raise TypeError(
                f"values and indices must be of the same library on the same GPU ({name(values)}; {name(other)})"
            )
    parts = [describe_numbers(part) for part in (values, *others)]
    first = parts[0]
    if first.dtype not in _VALUES:
        raise TypeError(f"values must be float16, float32 or float64 ({name(values)})")
    for part in parts[1:]:
        if part.library != first.library or part.device != first.device:
            raise TypeError(
                "values and indices must be of the same library on the same GPU "
                f"({name(values)}; {name(part.array)})"
            )
        wait_for(first, part)
    return parts


def _checked(values: Any, indices: Any, has_k_axis: bool, *others: Any) -> tuple[Any, Sizes, list[Array]]:
    """Returns the plan, sizes and arrays of an operator."""
    parts = _described(values, indices, *others)
    of, rows = parts[:2]
    if rows.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise TypeError(f"indices must be int64 or int32 ({name(indices)})")
    check_shapes(of, rows, has_k_axis, lambda: f"{name(values)}; {name(indices)}")
    sizes = sizes_of(of, rows)
    return _values_plan(of.device, sizes, _VALUES[of.dtype], rows.dtype == np.int64), sizes, parts


def _answer(of: Array, shape: tuple[int, ...], queue: Any) -> Any:
    """Allocates a result of this shape, queues the work, and returns the result."""
    result = of.room(shape, _VALUES[of.dtype])
    if 0 not in shape:
        queue(of.pointer(result))
    return of.give(result)


def gather(values: Any, indices: Any, threads: int | None) -> Any:
    """Returns the indexed rows."""
    if len(getattr(values, "shape", ())) == 1:
        return gather(values.reshape(-1, 1), indices, threads).reshape(indices.shape)
    plan, sizes, (of, rows) = _checked(values, indices, False)
    return _answer(
        of, (*rows.shape, sizes[-1]),
        lambda to: plan.gather(of.stream, of.address, rows.address, to),
    )


def gather_max(values: Any, indices: Any, add: Any, threads: int | None) -> Any:
    """Returns the maximum over the indexed rows."""
    beside = () if add is None else (add,)
    plan, sizes, (of, rows, *more) = _checked(values, indices, True, *beside)
    for part in more:
        _refuse_other_type("add", part, of.dtype)
        check_beside("add", part, (*rows.shape, sizes[-1]), lambda: name(values))
    added = more[0].address if more else 0
    return _answer(
        of, (*rows.shape[:-1], sizes[-1]),
        lambda to: plan.gather_max(of.stream, of.address, rows.address, added, to, 0),
    )


def interpolate(values: Any, indices: Any, weights: Any, threads: int | None) -> Any:
    """Returns weighted sums of the indexed rows."""
    plan, sizes, (of, rows, shares) = _checked(values, indices, True, weights)
    _refuse_other_type("weights", shares, np.float32 if of.dtype == np.float16 else of.dtype)
    check_beside("weights", shares, tuple(rows.shape), lambda: name(values))
    return _answer(
        of, (*rows.shape[:-1], sizes[-1]),
        lambda to: plan.interpolate(of.stream, of.address, rows.address, shares.address, to),
    )


def _refuse_other_type(what: str, part: Array, expected: Any) -> None:
    if part.dtype != expected:
        raise TypeError(f"{what} must be of type {np.dtype(expected)}, not {part.dtype} ({name(part.array)})")


def weights(distances: Any, power: int, eps: float) -> Any:
    """Returns the weights of neighbors at these distances."""
    (of,) = _described(distances)
    if of.dtype not in KINDS:
        raise TypeError(f"distances must be float32 or float64 ({name(distances)})")
    if not of.shape:
        raise ValueError("distances must be of shape (..., k), not a number")
    k = of.shape[-1]
    places = int(np.prod(of.shape[:-1], dtype=np.int64))
    return _answer(
        of, of.shape,
        lambda to: _native.cuda_weights(
            of.device, of.stream, of.dtype == np.float64, (places, k), power, eps, of.address, 0, to
        ),
    )


def check_indices(indices: Any, rows: int) -> None:
    """Raises IndexError if an index is neither -1 nor a row."""
    part = describe_numbers(indices)
    if part.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise TypeError(f"indices must be int64 or int32 ({name(indices)})")
    places = int(np.prod(part.shape, dtype=np.int64))
    counts = part.room((2,), "i8")
    plan = _values_plan(part.device, (1, rows, places, 1, 1), "f4", part.dtype == np.int64)
    plan.check_indices(part.stream, part.address, part.pointer(counts))
    count, place = part.numbers(counts)
    if count:
        first = integer_arrays.integers(indices, "indices").reshape(-1)[place]
        raise wrong_index(count, place, int(first), rows)
