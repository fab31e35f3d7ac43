"""Approximate samplers, and centroids of grid cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, overload

import numpy as np

from . import _arguments, _native
from ._arrays import integer_arrays, library_of
from ._records import Approximation
from ._torch.lazy_torch import seed_of, untraced
from ._typing import ArrayT, IndexT, Integers, NamedTuple, NonFinite, Rows, Seed, subscriptable

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import CentroidOptions, FloatArray, FloatOrArray, GridOptions, Int64Array, RandomOptions
    from .files import Cloud

__all__ = ["Centroids", "centroids", "sample_grid", "sample_random"]


@subscriptable
class Centroids(NamedTuple, Generic[ArrayT, IndexT]):
    """Mean of the points of each occupied cell of a grid, as returned by ``centroids``.

    Attributes
    ----------
    points : array, (K, D) or (B, K, D)
        Means of the points of each occupied cell, in the type and unit of the coordinates (float32 for
        tensors of float16 and bfloat16), padded with 0.
    counts : array of int64, (K,) or (B, K)
        Number of points in each cell, padded with 0.
    cell : float or array of float64, (B,)
        The cell size, in the unit of the coordinates. 0 if every distinct position is a cell.
    """

    points: ArrayT
    counts: IndexT
    cell: FloatOrArray


# NumPy arrays and array-likes of no library return NumPy arrays.
@overload
def sample_random(
    points: Rows | Cloud, count: int | None = ..., *, out: Int64Array | None = ..., **options: Unpack[RandomOptions]
) -> Int64Array: ...
@overload
def sample_random(
    points: ArrayT, count: int | None = ..., *, out: ArrayT | None = ..., **options: Unpack[RandomOptions]
) -> ArrayT: ...
@untraced
def sample_random(
    points: Any,
    count: int | None = None,
    *,
    ratio: float | None = None,
    seed: Seed | None = None,
    lengths: Integers | None = None,
    threads: int | None = None,
    out: Any = None,
    non_finite: NonFinite = "error",
) -> Any:
    """Choose points at random without replacement; return their indices in random order.

    No index repeats, and the result is the same for every run, machine and number of threads, as for all samplers.
    ``quality`` measures how good a sample is. ``sample`` is exact, and often as fast.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        A cloud or a batch of clouds, float32 or float64, D at least 1, in any unit: as for ``sample``, on the CPU.
    count : int, optional
        Number of samples per cloud. Give count or ratio.
    ratio : float, optional
        ``ceil(ratio * N)`` samples, from 0 to 1.
    seed : int or torch.Generator, optional
        Seed (0 to 2**64 - 1), 0 unless set; the same for every cloud of a batch.
    lengths : array of int, (B,), optional
        Number of valid rows of each cloud of a batch; the rest is padding. A cloud with fewer rows than
        ``count`` returns all of them, padded with -1.
    threads : int, optional
        Number of threads; all cores unless set.
    out : array of int64, optional
        Output for the indices, of the result's shape: a NumPy array, for tensors a tensor.
    non_finite : {"error", "skip"}, optional
        "error": non-finite rows raise ValueError. "skip": non-finite rows are left out.

    Returns
    -------
    array of int64, (K,) or (B, K)
        In the library of ``points``, padded with -1 for clouds with fewer samples; int32 for JAX without its 64-bit
        mode.

    Raises
    ------
    ValueError
        More samples than points, NaN, an option out of range, or incompatible shapes.
    TypeError
        Neither float32 nor float64, not an array, or an array on a GPU.

    Examples
    --------
    >>> import numpy, farpoint
    >>> farpoint.sample_random(numpy.arange(10.0).reshape(10, 1), 3).shape
    (3,)
    """
    request = _request("random", count, ratio, None, non_finite, threads, seed=seed)
    return _indices(points, request, lengths, out)


@overload
def sample_grid(
    points: Rows | Cloud, count: int | None = ..., *, out: Int64Array | None = ..., **options: Unpack[GridOptions]
) -> Int64Array: ...
@overload
def sample_grid(
    points: ArrayT, count: int | None = ..., *, out: ArrayT | None = ..., **options: Unpack[GridOptions]
) -> ArrayT: ...
@untraced
def sample_grid(
    points: Any,
    count: int | None = None,
    *,
    ratio: float | None = None,
    cell: float | None = None,
    keep: Literal["center", "first", "random"] = "center",
    seed: Seed | None = None,
    lengths: Integers | None = None,
    threads: int | None = None,
    out: Any = None,
    non_finite: NonFinite = "error",
) -> Any:
    """Choose one point of each occupied cell of a cubic grid; return their indices in ascending order.

    Parameters
    ----------
    points, lengths, threads, out, non_finite
        As for ``sample_random``.
    count, ratio : optional
        Number of samples, returned exactly: the cell size is searched for. Give one of count, ratio and cell.
    cell : float, optional
        Cell size in the unit of the coordinates: as many samples as there are occupied cells, which are counted from
        0, so that clouds share them.
    keep : {"center", "first", "random"}, optional
        The point of a cell to keep: the nearest to its center, the first row, or one at random. For centroids, which
        are not points of the cloud, use ``centroids``.
    seed : int or torch.Generator, optional
        Seed for ``keep="random"``, 0 unless set.

    Returns
    -------
    array of int64, (K,) or (B, K)
        As for ``sample_random``.

    Raises
    ------
    ValueError, TypeError
        As for ``sample_random``.

    Notes
    -----
    Source: voxel grids as in PCL.

    Examples
    --------
    >>> import numpy, farpoint
    >>> farpoint.sample_grid(numpy.arange(10.0).reshape(10, 1), cell=5.0, keep="first")
    array([0, 5])
    """
    if str(keep) == "centroid":
        raise ValueError('keep "centroid" makes new points, which have no indices; call farpoint.centroids')
    if seed is not None and keep != "random":
        raise ValueError(f'seed is for keep="random", not keep={keep!r}; remove it (got {seed=})')
    request = _request("grid", count, ratio, cell, non_finite, threads, seed=seed, keep=keep)
    return _indices(points, request, lengths, out)


@overload
def centroids(
    points: Rows | Cloud, count: int | None = ..., **options: Unpack[CentroidOptions]
) -> Centroids[FloatArray, Int64Array]: ...
@overload
def centroids(
    points: ArrayT, count: int | None = ..., **options: Unpack[CentroidOptions]
) -> Centroids[ArrayT, ArrayT]: ...
@untraced
def centroids(
    points: Any,
    count: int | None = None,
    *,
    ratio: float | None = None,
    cell: float | None = None,
    lengths: Integers | None = None,
    threads: int | None = None,
    non_finite: NonFinite = "error",
) -> Centroids[Any, Any]:
    """Compute the mean of the points of each occupied cell of a cubic grid.

    Centroids are not points of the cloud; they are ordered by the first points of their cells. The
    cell of a point is ``floor(p / cell)`` along each axis, as in ``voxel_downsample``; where the cell size is searched
    for, it is ``floor((p - lowest) / cell)``.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        A cloud or a batch of clouds, as for ``sample_grid``.
    count : int, optional
        Maximum number of centroids; the result is the most for which a cell size is found. Give one of count, ratio
        and cell.
    ratio : float, optional
        At most ``ceil(ratio * N)`` centroids, from 0 to 1.
    cell : float, optional
        The cell size, in the unit of the coordinates.
    lengths, threads, non_finite : optional
        As for ``sample_grid``.

    Returns
    -------
    Centroids
        Points (K, D) and counts (K,) in the library of ``points``, and the cell size. For a batch
        (B, K, D) and (B, K), where padding has the count 0.

    Raises
    ------
    ValueError, TypeError
        As for ``sample_grid``.

    Notes
    -----
    Source: voxel grids as in PCL and KPConv.

    Examples
    --------
    >>> import numpy, farpoint
    >>> found = farpoint.centroids(numpy.arange(10.0).reshape(10, 1), cell=5.0)
    >>> found.points.tolist(), found.counts.tolist()
    ([[2.0], [7.0]], [5, 5])
    """
    threads = _arguments.threads(threads)
    count = _one_amount(count, ratio, cell, non_finite)
    library = library_of(points)
    array = library.on_host(points, "centroids runs")
    request = Approximation(
        "grid", count, ratio, cell, lengths=integer_arrays.lengths_of(lengths), threads=threads,
        skip_non_finite=non_finite == "skip",
    )
    results = _native.centroids(array, request)
    size: Any
    if array.ndim == 2:
        rows, counts, size = results[0]
    else:
        shape = (len(results), max((len(counts) for _, counts, _ in results), default=0))
        rows = _stacked([rows for rows, *_ in results], (*shape, array.shape[2]), 0, array.dtype)
        counts = _stacked([counts for _, counts, _ in results], shape, 0)
        size = np.array([size for *_, size in results], np.float64)
    return Centroids(library.like(rows, points), library.like(counts, points), size)


# ------------------------------------------------------------------------- requests and results


def _request(
    method: str, count: Any, ratio: Any, cell: Any, non_finite: str, threads: Any, seed: Any, keep: str | None = None
) -> Approximation:
    """Checks the arguments of all samplers. The compiled module checks names."""
    count = _one_amount(count, ratio, cell, non_finite, "count, ratio and cell" if method == "grid" else "count and ratio")
    return Approximation(
        method, count, ratio, cell, seed=_arguments.seed(seed_of(seed)), threads=_arguments.threads(threads),
        skip_non_finite=non_finite == "skip", keep=keep,
    )


def _indices(points: Any, request: Approximation, lengths: Any, out: Any) -> Any:
    """Samples on the CPU."""
    library = library_of(points)
    array = library.on_host(points, f'method "{request.method}" runs')
    samples = _native.sample_approximate(array, request._replace(lengths=integer_arrays.lengths_of(lengths)))
    chosen = samples[0] if array.ndim == 2 else _stacked(samples, (len(samples), _width(samples, array, request)), -1)
    return library.like(chosen, points) if out is None else library.fill(out, chosen, points)


def _width(samples: list[np.ndarray], batch: np.ndarray, request: Approximation) -> int:
    """Returns the number of columns of a batch's result."""
    if request.count is not None:
        return request.count
    if request.ratio is not None:
        return _native.limit(batch.shape[1], ratio=request.ratio)
    return max((len(indices) for indices in samples), default=0)


def _one_amount(
    count: int | None, ratio: float | None, cell: float | None, non_finite: str, names: str = "count, ratio and cell"
) -> int | None:
    """Returns the count as an int after checking that exactly one amount is set."""
    if (count is None) + (ratio is None) + (cell is None) != 2:
        beside = f", {cell=}" if "cell" in names else ""
        raise ValueError(f"pass one of {names} (got {count=}, {ratio=}{beside})")
    count = _arguments.count(count)
    if non_finite not in ("error", "skip"):
        raise ValueError(f'non_finite is {non_finite!r}; it must be "error" or "skip"')
    return count


def _stacked(
    arrays: list[np.ndarray], shape: tuple[int, ...], padding: int, dtype: Any = np.int64
) -> np.ndarray:
    stacked: np.ndarray = np.full(shape, padding, dtype)
    for target, array in zip(stacked, arrays):
        target[: len(array)] = array
    return stacked
