"""``sample_approximate`` and ``centroids``: arguments are checked here, the work is done by the
compiled half, on the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import _arguments, _arrays, _farpoint, _numpy, _progress

METHODS = ("random", "grid", "morton", "npdu", "fastpoint")

#: Options that only one method has.
_ONLY = {
    "cell": "grid", "keep": "grid", "bits": "morton", "window": "npdu", "npdu_order": "npdu",
    "estimator": "fastpoint", "first_stage": "fastpoint",
}

#: Methods that start at a point.
_STARTING = ("npdu", "fastpoint")


class Request(NamedTuple):
    """What the compiled half reads: checked arguments."""

    method: str
    count: int | None  # type: ignore[assignment]  # a tuple counts its items by that name
    ratio: float | None
    cell: float | None
    starts: np.ndarray | None = None
    seed: int | None = None
    keep: str | None = None
    bits: int | None = None
    window: int | None = None
    npdu_order: str | None = None
    estimator: str | None = None
    first_stage: str | None = None
    lengths: list[int] | None = None
    threads: int | None = None
    skip_bad: bool = False
    callback: Callable[[int, int], None] | None = None


class Centroids(NamedTuple):
    """What ``centroids`` returns."""

    #: Means of the points of each occupied cell, in the type and unit of the coordinates (float32 for
    #: tensors of float16 and bfloat16): (K, D), or (B, K, D) padded with 0.
    points: Any
    #: How many points each stands for, int64: (K,), or (B, K) padded with 0.
    counts: Any
    #: The cell size, in the unit of the coordinates: a float, or (B,) float64 of NumPy. 0 if every
    #: distinct position is a cell of its own.
    cell: Any


def refuse_as_algorithm(name: str) -> None:
    """Raises ValueError if an exact function was asked for an approximate sampler."""
    if not isinstance(name, str):
        raise TypeError(f'algorithm is {name!r}; it must be the name of one, such as "auto"')
    if name in METHODS:
        raise ValueError(
            f'algorithm "{name}" is approximate, and this function is exact; for an approximate '
            f'sample call farpoint.sample_approximate(points, count, method="{name}")'
        )


@_arrays.untraced
def sample_approximate(
    points: Any,
    count: int | None = None,
    *,
    method: str,
    ratio: float | None = None,
    cell: float | None = None,
    start: Any = None,
    seed: int | None = None,
    keep: str | None = None,
    bits: int | None = None,
    window: int | None = None,
    npdu_order: str | None = None,
    estimator: str | None = None,
    first_stage: str | None = None,
    lengths: Any = None,
    threads: int | None = None,
    out: Any = None,
    on_bad: str = "error",
    progress: bool = False,
) -> Any:
    """Chooses points by a sampler that does not give the farthest point sample; returns indices.

    >>> import numpy, farpoint
    >>> line = numpy.arange(10.0).reshape(10, 1)
    >>> farpoint.sample_approximate(line, method="grid", cell=5.0, keep="first")
    array([0, 5])

    No index comes twice, and the result is the same on every run, machine and number of threads.
    How good it is, ``quality`` tells. ``sample`` is exact, and often as fast.

    Parameters
    ----------
    points:
        (N, D) cloud or (B, N, D) batch of clouds, float32 or float64, D of 1 or more, any unit:
        what ``sample`` takes, but on the CPU.
    count:
        How many points. Give one of count, ratio and cell.
    method:
        "random": drawn without replacement. In random order.
        "grid": a point of each occupied cell of a cubic grid. In rising order.
        "morton": even steps along a Morton curve. In the order of the curve.
        "npdu": farthest point sampling that brings only a window around each sample up to date.
        In order of choice.
        "fastpoint": points at falling distances, which are predicted from the first tenth of an
        exact sample; what is missing by exact steps. In order of choice.
    ratio:
        ``ceil(ratio * N)`` points, of 0 to 1.
    cell:
        "grid": as many points as there are occupied cells of this size, in the unit of the
        coordinates. For a count or a ratio a size is looked for, and exactly so many come back.
    start:
        "npdu" and "fastpoint": index to start from (0); or several, an existing sample to go on
        from. In a batch: one for all clouds, or (B,) one for each, or (B, S) several for each.
    seed:
        "random", and "grid" with ``keep="random"``: another seed (0 to 2**64 - 1), another sample.
        0 unless told. The same one is used for every cloud of a batch. "npdu" and "fastpoint": start
        at a random point instead.
    keep:
        "grid": which point of a cell, "center" (nearest to it, unless told), "first" or "random".
        For centroids, which are no points of the cloud, call ``farpoint.centroids``.
    bits:
        "morton": bits an axis, 1 to 21 (10).
    window:
        "npdu": points of a window (``16 N / M``).
    npdu_order:
        "npdu": where windows lie, in the order of the "input" (unless told; for scans as they are
        recorded), in "morton" order, or among "neighbors" in space.
    estimator:
        "fastpoint": distances are predicted by a "network" (unless told) or a "fit".
    first_stage:
        "fastpoint": the algorithm of its exact sample, as ``sample`` takes them ("auto"). It changes
        the time only.
    lengths:
        (B,) rows of each cloud of a batch that count; the rest is padding. A cloud with fewer rows
        than samples wanted gives all it has, and -1 in the places left over.
    threads:
        How many threads (all cores).
    out:
        Integer array (int64) of the result's shape that the indices are written to: NumPy's, for
        tensors a tensor.
    on_bad:
        "error": rows with NaN or infinity raise ValueError. "skip": such rows are left out.
    progress:
        Show a progress bar (tqdm's, if installed). For one cloud; "npdu" and "fastpoint" move it, the
        others choose all points at the end.

    Returns
    -------
    int64 indices of shape (K,), or (B, K) for a batch, padded with -1 where clouds give fewer; in
    the library of ``points``. JAX without its 64-bit mode gives int32.

    Raises
    ------
    ValueError
        Options that are not for the method, or out of range; more samples than points, a start
        outside the cloud, NaN, shapes that do not fit.
    TypeError
        Neither float32 nor float64, no array at all, or an array on a GPU.

    Notes
    -----
    Sources: "grid" as in PCL's voxel grid; "morton": EdgePC, Ying et al., ISCA 2023; "npdu":
    adjustable FPS, Li et al., 2022; "fastpoint": FastPoint, ICCV 2025. What each promises:
    https://github.com/farpoint/farpoint, docs/samplers.md.
    """
    options = {
        "cell": cell, "keep": keep, "bits": bits, "window": window, "npdu_order": npdu_order,
        "estimator": estimator, "first_stage": first_stage,
    }
    _check_options(method, options, start, seed)
    seed = _arguments.seed(seed)
    bits = None if bits is None else _arguments.integer(bits, "bits", 1, 21)
    window = None if window is None else _arguments.integer(window, "window", 1)
    threads = _arguments.threads(threads)
    count = _checked_amount(count, ratio, cell, on_bad)
    array = readable(points, "sample_approximate runs")
    starts = None if start is None else _numpy.starts_of(start, array.ndim == 3)
    with _progress.bar(progress, "sampling", "points") as callback:
        request = Request(
            method, count, ratio, cell, starts, seed, keep, bits, window, npdu_order, estimator,
            first_stage, lengths_of(lengths), threads, on_bad == "skip", callback,
        )
        found = _farpoint.sample_approximate(array, request)
    if array.ndim == 2:
        indices = found[0]
    else:
        if count is not None:
            width = count
        elif ratio is not None:
            width = math.ceil(ratio * array.shape[1])
        else:
            width = max((len(one) for one in found), default=0)
        indices = _stacked(found, (len(found), width), -1)
    return _given_back(indices, points) if out is None else _to_out(indices, out, points)


@_arrays.untraced
def centroids(
    points: Any,
    count: int | None = None,
    *,
    ratio: float | None = None,
    cell: float | None = None,
    lengths: Any = None,
    threads: int | None = None,
    on_bad: str = "error",
) -> Centroids:
    """Means of the points of each occupied cell of a cubic grid, and how many points each is of.

    >>> import numpy, farpoint
    >>> found = farpoint.centroids(numpy.arange(10.0).reshape(10, 1), cell=5.0)
    >>> found.points.tolist(), found.counts.tolist()
    ([[2.0], [7.0]], [5, 5])

    They are no points of the cloud, and stand in the order of the first points of their cells. The
    cell of a point is ``floor((p - lowest) / cell)`` along each axis.

    Parameters
    ----------
    points:
        (N, D) cloud or (B, N, D) batch of clouds, as for ``sample_approximate``.
    count:
        At most so many: the most for which a cell size is found. Give one of count, ratio and cell.
    ratio:
        At most ``ceil(ratio * N)``, of 0 to 1.
    cell:
        The cell size, in the unit of the coordinates.
    lengths, threads, on_bad:
        As for ``sample_approximate``.

    Returns
    -------
    Centroids
        ``points`` (K, D) and ``counts`` (K,) in the library of ``points``, and ``cell``. Of a batch
        (B, K, D) and (B, K), where places left over have the count 0.

    Raises
    ------
    ValueError, TypeError
        As for ``sample_approximate``.

    Notes
    -----
    Source: voxel grids as in PCL and KPConv.
    """
    threads = _arguments.threads(threads)
    count = _checked_amount(count, ratio, cell, on_bad)
    array = readable(points, "centroids runs")
    request = Request(
        "grid", count, ratio, cell, lengths=lengths_of(lengths), threads=threads,
        skip_bad=on_bad == "skip",
    )
    found = _farpoint.centroids(array, request)
    if array.ndim == 2:
        rows, counts, size = found[0]
        return Centroids(_given_back(rows, points), _given_back(counts, points), size)
    shape = (len(found), max((len(counts) for _, counts, _ in found), default=0))
    rows = _stacked([rows for rows, *_ in found], (*shape, array.shape[2]), 0, array.dtype)
    counts = _stacked([counts for _, counts, _ in found], shape, 0)
    sizes = np.array([size for *_, size in found], np.float64)
    return Centroids(_given_back(rows, points), _given_back(counts, points), sizes)


# ------------------------------------------------------------------------- checks, and results


def _check_options(method: str, options: dict[str, Any], start: Any, seed: int | None) -> None:
    if method not in METHODS:
        exact = "; exact ones are for farpoint.sample" if isinstance(method, str) else ""
        raise ValueError(
            f"method {method!r} is no approximate sampler; choose one of {', '.join(METHODS)}{exact}"
        )
    for option, value in options.items():
        if value is not None and _ONLY[option] != method:
            raise ValueError(
                f'{option} is for method "{_ONLY[option]}", not "{method}"; leave it out '
                f"(got {option}={value!r})"
            )
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


def _checked_amount(
    count: int | None, ratio: float | None, cell: float | None, on_bad: str
) -> int | None:
    """The count as an int; refuses what can be refused without the points."""
    if (count is None) + (ratio is None) + (cell is None) != 2:
        raise ValueError(f"give one of count, ratio and cell (got {count=}, {ratio=}, {cell=})")
    count = _arguments.count(count)
    if ratio is not None and not 0.0 <= ratio <= 1.0:
        raise ValueError(f"ratio {ratio} is outside 0..=1")
    if on_bad not in ("error", "skip"):
        raise ValueError(f'on_bad is {on_bad!r}; it must be "error" or "skip"')
    return count


def lengths_of(lengths: Any) -> list[int] | None:
    if lengths is None:
        return None
    found = _arrays.integers(lengths, "lengths", 1)
    _numpy.refuse_negative(found, "length")
    whole: list[int] = found.tolist()
    return whole


def readable(points: Any, what: str) -> np.ndarray:
    """The points where they lie; refuses those on a GPU."""
    tensor = _arrays.is_torch(points)
    if tensor:
        from . import _torch

        points = _torch.checked(points.detach())
    elsewhere = points.is_cuda if tensor else _arrays.is_on_gpu(points)
    if elsewhere:
        raise TypeError(
            f"{what} on the CPU, and the points are on a GPU ({_arrays.name(points)}); bring them "
            "there, for tensors with points.cpu()"
        )
    array = _arrays.to_numpy(points)
    _farpoint.address(array)  # refuses other types and shapes
    return array


def _stacked(
    found: list[np.ndarray], shape: tuple[int, ...], padding: int, dtype: Any = np.int64
) -> np.ndarray:
    stacked: np.ndarray = np.full(shape, padding, dtype)
    for to, one in zip(stacked, found):
        to[: len(one)] = one
    return stacked


def _given_back(found: np.ndarray, points: Any) -> Any:
    """A result in the library of the points."""
    if _arrays.is_torch(points):
        import torch

        return torch.from_numpy(found)
    return _arrays.like(found, points)


def _to_out(found: np.ndarray, out: Any, points: Any) -> Any:
    if _arrays.is_torch(points):
        from . import _torch

        return _torch._to_out(_given_back(found, points), out)
    if not isinstance(out, np.ndarray) or out.dtype != np.int64:
        raise TypeError(f"out must be an int64 array of NumPy, not {_arrays.name(out)}")
    if out.shape != found.shape:
        raise ValueError(f"out must be of shape {found.shape}, not {out.shape}")
    out[...] = found
    return out
