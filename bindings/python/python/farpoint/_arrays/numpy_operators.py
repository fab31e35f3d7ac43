"""Point operators on arrays in host memory. The functions implement ``interface.Library``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import _native
from .._records import Clouds, Neighborhood, Sides
from .conversion import like, name, native, pair_of_points, points_of, refuse_narrow, to_numpy, values_of
from .value_shapes import Sizes, check_beside, check_shapes, sizes_of, wrong_index
from .integer_arrays import integers, lengths_of, listed

# ------------------------------------------------------------------------------------- searches


def search(
    x: Any, y: Any, sides: Sides, request: Neighborhood, plain: bool
) -> tuple[Any, Any, Any]:
    """Returns distances, indices and counts of the neighbors of each point."""
    return _answer(x, _native.search(*_clouds(x, y, sides), request), plain)


def within(
    x: Any, y: Any, sides: Sides, request: Neighborhood, plain: bool
) -> tuple[Any, Any, Any]:
    """Returns distances and indices of all neighbors, and the offsets of each point."""
    return _answer(x, _native.within(*_clouds(x, y, sides), request), plain)


def _answer(x: Any, results: tuple[Any, Any, Any], plain: bool) -> tuple[Any, Any, Any]:
    distances, indices, counts = results
    if plain:
        distances = np.sqrt(distances)
    return like(distances, x), like(indices, x), like(counts, x)


def _clouds(x: Any, y: Any, sides: Sides) -> tuple[Clouds, Clouds]:
    """Returns both sides for the compiled module."""
    refuse_narrow(x, y)
    a, b = pair_of_points(x, y)
    same = x is y and sides.x_lengths is sides.y_lengths and sides.x_offsets is sides.y_offsets
    lengths = _lengths(sides.y_lengths, b, "y_lengths")
    searched = Clouds(b, lengths, _offsets(sides.y_offsets, "y_offsets"), sides.tree)
    if same:
        return searched, searched
    lengths = _lengths(sides.x_lengths, a, "x_lengths")
    return Clouds(a, lengths, _offsets(sides.x_offsets, "x_offsets")), searched


def tree_of(y: Any, lengths: Any, offsets: Any, threads: int | None) -> tuple[Any, Any]:
    """Returns the tree of clouds for repeated searches, and the object to keep alive with it."""
    points = points_of(y)
    extents = _lengths(lengths, points, "y_lengths"), _offsets(offsets, "y_offsets")
    return _native.Index(Clouds(points, *extents), threads), None


def _lengths(lengths: Any, points: np.ndarray, what: str) -> list[int] | None:
    if lengths is not None and points.ndim == 2:
        raise ValueError(f"{what} are for a batch of shape (B, N, D) ({name(points)})")
    return lengths_of(lengths, what)


def _offsets(offsets: Any, what: str) -> list[int] | None:
    return None if offsets is None else listed(offsets, what)


# --------------------------------------------------------------------------------------- values


def gather(values: Any, indices: Any, threads: int | None) -> Any:
    """Returns the indexed rows."""
    of = native(to_numpy(values))
    if of.ndim == 1:
        return like(gather(of.reshape(-1, 1), indices, threads)[..., 0], values)
    if of.dtype.kind in "iub":
        return like(_gather_integers(of, indices), values)
    of, rows, sizes = _values(of, indices, False)
    result = _native.values_gather(sizes, _working(of), rows, threads)
    return _like(result, of, (*rows.shape, sizes[-1]), values)


def _gather_integers(of: np.ndarray, indices: Any) -> np.ndarray:
    """Returns the indexed rows of integers and booleans."""
    rows = integers(indices, "indices")
    check_shapes(of, rows, False, partial(_about, of, rows))
    check_indices(rows, of.shape[-2])
    if of.shape[-2] == 0:  # all indices are -1
        return np.zeros((*rows.shape, of.shape[-1]), of.dtype)
    clouds = np.arange(of.shape[0]).reshape(-1, *[1] * (rows.ndim - 1))
    result: np.ndarray = of[rows] if of.ndim == 2 else of[clouds, rows]
    result[rows < 0] = 0
    return result


def gather_max(values: Any, indices: Any, add: Any, threads: int | None) -> Any:
    """Returns the maximum over the indexed rows."""
    of, rows, sizes = _values(values, indices, True)
    more = None
    if add is not None:
        more = values_of(add, "terms to add")
        _refuse_other_type("add", more, of)
        check_beside("add", more, (*rows.shape, sizes[-1]), partial(_about, of, rows))
        more = _working(more)
    result, _ = _native.values_gather_max(sizes, _working(of), rows, more, threads)
    return _like(result, of, (*rows.shape[:-1], sizes[-1]), values)


def interpolate(values: Any, indices: Any, weights: Any, threads: int | None) -> Any:
    """Returns weighted sums of the indexed rows."""
    of, rows, sizes = _values(values, indices, True)
    shares = values_of(weights, "weights")
    if not (of.dtype == np.float16 and shares.dtype == np.float32):
        _refuse_other_type("weights", shares, of)
    check_beside("weights", shares, rows.shape, partial(_about, of, rows))
    result = _native.values_interpolate(sizes, _working(of), rows, _working(shares), threads)
    return _like(result, of, (*rows.shape[:-1], sizes[-1]), values)


def weights(distances: Any, power: int, eps: float) -> Any:
    """Returns the weights of neighbors at these distances."""
    array = values_of(distances, "distances")
    array = array.astype(np.float32) if array.dtype == np.float16 else array
    if array.dtype not in (np.float32, np.float64):
        raise TypeError(f"distances must be float32, float64, float16 or integers, not {name(distances)}")
    if array.ndim == 0:
        raise ValueError("distances must be of shape (..., k), not a number")
    result = _native.values_weights(array.shape[-1], np.ascontiguousarray(array), power, eps)
    return like(result.reshape(array.shape), distances)


def check_indices(indices: Any, rows: int) -> None:
    """Raises IndexError if an index is neither -1 nor a row."""
    array = integers(indices, "indices")
    wrong = ((array < -1) | (array >= rows)).reshape(-1)
    if wrong.any():
        place = int(wrong.argmax())
        raise wrong_index(int(wrong.sum()), place, int(array.reshape(-1)[place]), rows)


def _values(values: Any, indices: Any, has_k_axis: bool) -> tuple[np.ndarray, np.ndarray, Sizes]:
    """Returns values, indices for the compiled module, and sizes."""
    of = values_of(values, "values")
    rows = np.asarray(indices)
    if rows.dtype not in (np.int64, np.int32):
        rows = integers(indices, "indices")
    if of.dtype not in (np.float32, np.float64, np.float16):
        raise TypeError(f"values must be float16, float32 or float64, or integers ({_about(of, rows)})")
    check_shapes(of, rows, has_k_axis, partial(_about, of, rows))
    return of, np.ascontiguousarray(rows), sizes_of(of, rows)


def _working(array: np.ndarray) -> np.ndarray:
    """Returns a contiguous array in the dtype of the computation."""
    kind = np.float32 if array.dtype == np.float16 else array.dtype
    return np.ascontiguousarray(array, kind)


def _like(result: np.ndarray, of: np.ndarray, shape: tuple[int, ...], values: Any) -> Any:
    return like(result.reshape(shape).astype(of.dtype, copy=False), values)


def _about(of: np.ndarray, rows: np.ndarray) -> str:
    return f"values {of.shape}, {of.dtype}; indices {rows.shape}, {rows.dtype}"


def _refuse_other_type(what: str, array: np.ndarray, of: np.ndarray) -> None:
    if array.dtype != of.dtype:
        raise TypeError(f"{what} must be of the type of the values, {of.dtype}, not {array.dtype}")
