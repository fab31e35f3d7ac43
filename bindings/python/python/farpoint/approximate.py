"""Approximate samplers and the centroids of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, overload

import numpy as np

from . import _arguments, _native, _progress
from ._arrays import library_of, whole_numbers
from ._records import Approximation
from ._torch.presence import seed_of, untraced
from ._typing import Algorithm, ArrayT, IndexT, Integers, Method, NamedTuple, OnBad, Rows, Seed, subscriptable

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import ApproximateOptions, CentroidOptions, FloatArray, FloatOrArray, Int64Array
    from .files import Cloud
    from .index import Index

    class SearchedOptions(ApproximateOptions, total=False):
        index: Index[Any, Any] | None

__all__ = ["Centroids", "centroids", "sample_approximate"]

#: Options that only one method has.
_ONLY = {
    "cell": "grid", "keep": "grid", "bits": "morton", "window": "npdu", "npdu_order": "npdu",
    "estimator": "fastpoint", "first_stage": "fastpoint", "index": "fastpoint",
}

#: Methods that start at a point.
_STARTING = ("npdu", "fastpoint")

#: Earlier spellings of values.
_RESPELLED = {("keep", "centre"): "center", ("npdu_order", "neighbours"): "neighbors"}


@subscriptable
class Centroids(NamedTuple, Generic[ArrayT, IndexT]):
    """What ``centroids`` returns.

    Attributes
    ----------
    points : array, (K, D) or (B, K, D)
        Means of the points of each occupied cell, in the type and unit of the coordinates (float32 for
        tensors of float16 and bfloat16), padded with 0.
    counts : array of int64, (K,) or (B, K)
        How many points each is the mean of, padded with 0.
    cell : float or array of float64, (B,)
        The cell size, in the unit of the coordinates. 0 if every distinct position is a cell.
    """

    points: ArrayT
    counts: IndexT
    cell: FloatOrArray


# NumPy arrays, and what is no array of a library, give arrays of NumPy.
@overload
def sample_approximate(
    points: Rows | Cloud, count: int | None = ..., *, method: Method,
    out: Int64Array | None = ..., **options: Unpack[SearchedOptions],
) -> Int64Array: ...
@overload
def sample_approximate(
    points: ArrayT, count: int | None = ..., *, method: Method, out: ArrayT | None = ...,
    **options: Unpack[SearchedOptions],
) -> ArrayT: ...
@untraced
def sample_approximate(
    points: Any,
    count: int | None = None,
    *,
    method: Method,
    ratio: float | None = None,
    cell: float | None = None,
    start: Integers | None = None,
    seed: Seed | None = None,
    keep: Literal["center", "first", "random"] | None = None,
    bits: int | None = None,
    window: int | None = None,
    npdu_order: Literal["input", "morton", "neighbors"] | None = None,
    estimator: Literal["network", "fit"] | None = None,
    first_stage: Algorithm | None = None,
    lengths: Integers | None = None,
    index: Index[Any, Any] | None = None,
    threads: int | None = None,
    out: Any = None,
    on_bad: OnBad = "error",
    progress: bool = False,
) -> Any:
    """Choose points by a sampler that does not give the farthest point sample; return their indices.

    No index comes twice, and the result is the same on every run, machine and number of threads.
    ``quality`` measures how good it is. ``sample`` is exact, and often as fast.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        A cloud or a batch of clouds, float32 or float64, D at least 1, in any unit: as for ``sample``.
        On the CPU; for "fastpoint" also tensors of PyTorch on a GPU.
    count : int, optional
        Number of samples per cloud. Give one of count, ratio and cell.
    method : {"random", "grid", "morton", "npdu", "fastpoint"}
        "random": drawn without replacement, in random order.
        "grid": one point of each occupied cell of a cubic grid, in rising order.
        "morton": even steps along a Morton curve, in the order of the curve.
        "npdu": farthest point sampling that updates only a window around each sample, in order of
        choice.
        "fastpoint": points at falling distances, which are predicted from the first tenth of an exact
        sample; exact steps add what is missing. In order of choice.
    ratio : float, optional
        ``ceil(ratio * N)`` samples, from 0 to 1.
    cell : float, optional
        "grid": as many points as there are occupied cells of this size, in the unit of the coordinates.
        For a count or a ratio a size is searched for, and exactly that many come back.
    start : int or array of int, optional
        "npdu" and "fastpoint": index to start from (0); or several, an existing sample to continue. In a
        batch: one for all clouds, (B,) one per cloud, or (B, S) several per cloud.
    seed : int or torch.Generator, optional
        "random", and "grid" with ``keep="random"``: another seed (0 to 2**64 - 1), another sample; 0
        unless set. Every cloud of a batch has the same. "npdu" and "fastpoint": start at a random point
        instead, as in ``sample``. Or a ``torch.Generator``.
    keep : {"center", "first", "random"}, optional
        "grid": which point of a cell; the nearest to its center unless set. For centroids, which are no
        points of the cloud, call ``farpoint.centroids``.
    bits : int, optional
        "morton": bits per axis, 1 to 21; 10 unless set.
    window : int, optional
        "npdu": points of a window; ``16 N / M`` unless set.
    npdu_order : {"input", "morton", "neighbors"}, optional
        "npdu": where windows lie: in the order of the input (unless set; for scans as they are
        recorded), in Morton order, or among neighbors in space.
    estimator : {"network", "fit"}, optional
        "fastpoint": what predicts distances; the network unless set.
    first_stage : str, optional
        "fastpoint": the algorithm of its exact sample, as for ``sample``; "auto" unless set. It changes
        the time only.
    lengths : array of int, (B,), optional
        Rows of each cloud of a batch that count; the rest is padding. A cloud with fewer rows than
        ``count`` gives all it has, and -1 in the remaining places.
    index : Index, optional
        "fastpoint": an ``Index`` of ``points``, with the same lengths. On a GPU it saves the time to build one, as points
        are excluded through it; the result is the same.
    threads : int, optional
        Number of threads; all cores unless set.
    out : array of int64, optional
        Where the indices are written: of the result's shape, a NumPy array, for tensors a tensor.
    on_bad : {"error", "skip"}, optional
        "error": rows with NaN or infinity raise ValueError. "skip": such rows are left out.
    progress : bool, optional
        Show a progress bar (tqdm's, if installed). For one cloud; "npdu" and "fastpoint" move it, the
        others choose all points at the end.

    Returns
    -------
    array of int64, (K,) or (B, K)
        In the library of ``points``, padded with -1 where clouds give fewer. JAX without its 64-bit mode
        gets int32.

    Raises
    ------
    ValueError
        Options that are not for the method, or out of range; more samples than points, a start
        outside the cloud, NaN, shapes that do not fit.
    TypeError
        Neither float32 nor float64, no array at all, or an array on a GPU that does not have the method.
    farpoint.CudaUnavailable
        The points are on a GPU that can't be used.

    Notes
    -----
    On a GPU the work is queued on the current stream, as by ``sample``: rows are not checked for NaN there, and
    ``progress`` is ignored.

    Sources: "grid" as in PCL's voxel grid; "morton": EdgePC, Ying et al., ISCA 2023; "npdu":
    adjustable FPS, Li et al., 2022; "fastpoint": FastPoint, ICCV 2025. What each promises:
    https://github.com/farpoint/farpoint, docs/samplers.md.

    Examples
    --------
    >>> import numpy, farpoint
    >>> line = numpy.arange(10.0).reshape(10, 1)
    >>> farpoint.sample_approximate(line, method="grid", cell=5.0, keep="first")
    array([0, 5])
    """
    options = {
        "cell": cell, "keep": keep, "bits": bits, "window": window, "npdu_order": npdu_order,
        "estimator": estimator, "first_stage": first_stage, "index": index,
    }
    _check_options(method, options, start, seed)
    seed = _arguments.seed(seed_of(seed))
    bits = None if bits is None else _arguments.integer(bits, "bits", 1, 21)
    window = None if window is None else _arguments.integer(window, "window", 1)
    threads = _arguments.threads(threads)
    count = _one_amount(count, ratio, cell, on_bad)
    library = library_of(points)
    request = Approximation(
        method, count, ratio, cell, None, seed, keep, bits, window, npdu_order, estimator, first_stage,
        threads=threads, skip_bad=on_bad == "skip",
    )
    tree = None if index is None else _tree_of(index, points, lengths)
    chosen = library.sample_approximate(points, request, start, lengths, tree)
    if chosen is not None:
        return chosen if out is None else library.fill(out, chosen, points)
    array = library.on_host(points, f'method "{method}" runs')
    starts = None if start is None else whole_numbers.starts_of(start, array.ndim == 3)
    rows = whole_numbers.lengths_of(lengths)
    with _progress.bar(progress, "sampling", "points") as callback:
        found = _native.sample_approximate(
            array, request._replace(starts=starts, lengths=rows, callback=callback)
        )
    if array.ndim == 2:
        indices = found[0]
    else:
        if count is not None:
            width = count
        elif ratio is not None:
            width = _native.limit(array.shape[1], ratio=ratio)
        else:
            width = max((len(one) for one in found), default=0)
        indices = _stacked(found, (len(found), width), -1)
    return library.like(indices, points) if out is None else library.fill(out, indices, points)


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
    on_bad: OnBad = "error",
) -> Centroids[Any, Any]:
    """Compute the mean of the points of each occupied cell of a cubic grid.

    Centroids are no points of the cloud, and come in the order of the first points of their cells. The
    cell of a point is ``floor((p - lowest) / cell)`` along each axis.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        A cloud or a batch of clouds, as for ``sample_approximate``.
    count : int, optional
        At most this many: the most for which a cell size is found. Give one of count, ratio and cell.
    ratio : float, optional
        At most ``ceil(ratio * N)``, from 0 to 1.
    cell : float, optional
        The cell size, in the unit of the coordinates.
    lengths, threads, on_bad : optional
        As for ``sample_approximate``.

    Returns
    -------
    Centroids
        Points (K, D) and counts (K,) in the library of ``points``, and the cell size. For a batch
        (B, K, D) and (B, K), where places left over have the count 0.

    Raises
    ------
    ValueError, TypeError
        As for ``sample_approximate``.

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
    count = _one_amount(count, ratio, cell, on_bad)
    library = library_of(points)
    array = library.on_host(points, "centroids runs")
    request = Approximation(
        "grid", count, ratio, cell, lengths=whole_numbers.lengths_of(lengths), threads=threads,
        skip_bad=on_bad == "skip",
    )
    found = _native.centroids(array, request)
    size: Any
    if array.ndim == 2:
        rows, counts, size = found[0]
    else:
        shape = (len(found), max((len(counts) for _, counts, _ in found), default=0))
        rows = _stacked([rows for rows, *_ in found], (*shape, array.shape[2]), 0, array.dtype)
        counts = _stacked([counts for _, counts, _ in found], shape, 0)
        size = np.array([size for *_, size in found], np.float64)
    return Centroids(library.like(rows, points), library.like(counts, points), size)


# ------------------------------------------------------------------------- checks, and results


def _check_options(method: str, options: dict[str, Any], start: Any, seed: Any) -> None:
    if method not in _native.METHODS:
        exact = "; exact ones are for farpoint.sample" if isinstance(method, str) else ""
        raise ValueError(
            f"method {method!r} is no approximate sampler; choose one of "
            f"{', '.join(_native.METHODS)}{exact}"
        )
    for option, value in options.items():
        if value is not None and _ONLY[option] != method:
            raise ValueError(
                f'{option} is for method "{_ONLY[option]}", not "{method}"; leave it out '
                f"(got {option}={value!r})"
            )
        respelled = _RESPELLED.get((option, value)) if isinstance(value, str) else None
        if respelled is not None:
            raise ValueError(f'{option}="{value}" is spelled {option}="{respelled}"')
    keep = options["keep"]
    if keep == "centroid":
        raise ValueError(
            'keep "centroid" makes new points, which have no indices; call farpoint.centroids'
        )
    if start is not None and method not in _STARTING:
        raise ValueError(
            f'start is for methods "npdu" and "fastpoint", not "{method}", which starts nowhere; '
            f"leave it out (got {start=})"
        )
    if start is not None and seed is not None:
        raise ValueError(f"give start or seed, not both (got {start=}, {seed=})")
    if seed is not None and method not in ("random", *_STARTING) and keep != "random":
        raise ValueError(
            'seed is for method "random", for keep="random" and for a random start of "npdu" and '
            f'"fastpoint"; leave it out (got {seed=})'
        )


def _tree_of(index: Index[Any, Any], points: Any, lengths: Any) -> Any:
    """The tree of an index, if it is one of these points."""
    own, offsets = index._lengths_and_offsets
    if index.y is not points or own is not lengths or offsets is not None:
        raise ValueError(
            "index is of other points or lengths; give farpoint.Index(points, y_lengths=lengths) of the same two objects"
        )
    return index._tree


def _one_amount(
    count: int | None, ratio: float | None, cell: float | None, on_bad: str
) -> int | None:
    """The count as an int, if it is the only amount or another one is."""
    if (count is None) + (ratio is None) + (cell is None) != 2:
        raise ValueError(f"give one of count, ratio and cell (got {count=}, {ratio=}, {cell=})")
    count = _arguments.count(count)
    if on_bad not in ("error", "skip"):
        raise ValueError(f'on_bad is {on_bad!r}; it must be "error" or "skip"')
    return count


def _stacked(
    found: list[np.ndarray], shape: tuple[int, ...], padding: int, dtype: Any = np.int64
) -> np.ndarray:
    stacked: np.ndarray = np.full(shape, padding, dtype)
    for to, one in zip(stacked, found):
        to[: len(one)] = one
    return stacked
