"""All levels of a network from one sample: ``sample_levels``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arguments
from ._arrays import conversion, integer_arrays, library_of
from ._torch import lazy_torch
from ._typing import Algorithm, Booleans, Device, Integers, NamedTuple, NonFinite, Seed
from .sampling import sample

__all__ = ["Levels", "sample_levels"]


class Levels(NamedTuple):
    """Samples of the levels of a network, each the beginning of the one before: result of ``sample_levels``.

    Attributes
    ----------
    indices : tuple of arrays of int64, (n,) or (B, n) each
        Rows of the input, padded with -1.
    relative : tuple of arrays of int64, (n,) or (B, n) each
        Rows of the level before: 0, 1, 2, ... but for the first level, padded with -1.
    covering_radius : tuple of floats or arrays, (B,) each, or None
        Largest distance of any point of the cloud to its nearest point of the level, in the unit of the coordinates, if
        requested.
    offsets : tuple of lists of int, (B + 1,) each, or None
        For concatenated clouds: first row of each cloud in the level, and the number of rows at the end, as
        ``Index(y_offsets=)`` takes them.
    """

    indices: tuple[Any, ...]
    relative: tuple[Any, ...]
    covering_radius: tuple[Any, ...] | None = None
    offsets: tuple[list[int], ...] | None = None


def sample_levels(
    points: Any,
    counts: Integers | None = None,
    *,
    ratios: Sequence[float] | None = None,
    start: Integers | None = None,
    lengths: Integers | None = None,
    offsets: Integers | None = None,
    rows: Integers | None = None,
    mask: Booleans | None = None,
    algorithm: Algorithm = "auto",
    seed: Seed | None = None,
    threads: int | None = None,
    device: Device = None,
    return_covering_radius: bool = False,
    non_finite: NonFinite = "error",
    progress: bool = False,
) -> Levels:
    """Choose the points of all levels of a network in one run.

    Sampling the points of a level again, from its first one, gives its beginning. So all levels but the first cost
    nothing: they are views of it wherever the library has views.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        As for ``sample``.
    counts : sequence of int, (L,)
        Points of each level, at least 1, none more than of the level before. With ``offsets`` a level may have an
        array (B,), a number per cloud. Pass counts or ratios.
    ratios : sequence of float, (L,)
        ``ceil(ratio * n)`` points of the n of the level before, or of the cloud; above 0, up to 1.
    start : int or array of int, (B,), optional
        As for ``sample``, one for each cloud; relative to the first row of the cloud with ``offsets``.
    lengths : array of int, (B,), optional
        Number of valid rows of each cloud of a batch; the rest is padding. A level has all points of a cloud with
        fewer rows than its count, padded with -1.
    offsets : array of int, (B + 1,), optional
        First row of each of several concatenated clouds (N, D), and N at the end. A level has all points of a
        cloud with fewer rows than a count for all clouds. The levels are concatenated, too. Not together with options
        other than ``start``.
    rows, mask : optional
        As for ``sample``.
    algorithm, seed, threads, device, non_finite, progress : optional
        As for ``sample``; exact algorithms only.
    return_covering_radius : bool, optional
        Return the covering radius of each level, too.

    Returns
    -------
    Levels
        For each level rows of ``points``, and rows of the level before, in the library and on the device of ``points``.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``sample`` and ``sample_ragged``; levels that grow, several starts for a cloud. A TypeError also for
        ratios of clouds of different lengths that are neither NumPy arrays nor tensors.

    Notes
    -----
    The proof, and what it needs: https://github.com/farpoint/farpoint/blob/main/docs/development/proofs.md.

    Source of levels: Qi, Yi, Su, Guibas, "PointNet++: deep hierarchical feature learning on point sets in a metric
    space", NeurIPS 2017.

    Examples
    --------
    >>> import numpy, farpoint
    >>> levels = farpoint.sample_levels(numpy.array([[0.0], [1.0], [5.0], [5.5], [7.0]]), [4, 2])
    >>> levels.indices
    (array([0, 4, 2, 1]), array([0, 4]))
    >>> levels.relative
    (array([0, 4, 2, 1]), array([0, 1]))
    """
    if (counts is None) == (ratios is None):
        raise ValueError(f"pass one of counts and ratios (got {counts=}, {ratios=})")
    shares = None if ratios is None else _shares(ratios)
    batch = offsets is not None or _ndim(points) == 3
    if start is not None and _ndim(start) > batch:
        raise ValueError("start must be one row of each cloud: levels begin at the first point chosen")
    if offsets is not None:
        usual = lengths is rows is mask is seed is threads is device is None
        if not usual or algorithm != "auto" or non_finite != "error" or return_covering_radius or progress:
            raise ValueError("offsets go with counts or ratios and start only; leave out other options")
        return _ragged(points, integer_arrays.listed(offsets, "offsets"), counts, shares, start)
    sizes = [] if counts is None else _sizes(counts)
    options: dict[str, Any] = dict(
        count=None if counts is None else sizes[0], ratio=None if shares is None else shares[0], start=start,
        lengths=lengths, rows=rows, mask=mask, algorithm=algorithm, seed=seed, threads=threads, device=device,
        non_finite=non_finite, progress=progress,
    )
    chosen, distances, radius = _sampled(points, options, return_covering_radius)
    if shares is not None:
        sizes = _limits(chosen.shape[-1], shares[1:])
        if batch and not (lengths is mask is None and non_finite == "error"):
            return _by_shares(chosen, distances, radius, sizes, shares)
    indices = tuple([chosen[..., :size] for size in sizes])
    relative = [chosen]
    if len(sizes) > 1:
        places = _places(indices[1])
        relative += [places[..., :size] for size in sizes[1:]]
    radii = tuple([_covering_radius(distances, radius, size) for size in sizes]) if return_covering_radius else None
    return Levels(indices, tuple(relative), radii)


def _sampled(points: Any, options: dict[str, Any], distances: bool) -> tuple[Any, Any, Any]:
    """Returns indices, and distances and covering radius if requested."""
    return sample(points, return_distances=True, **options) if distances else (sample(points, **options), None, None)


def _sizes(counts: Any) -> list[int]:
    """Returns the number of points of each level after checking that none grows."""
    sizes = integer_arrays.listed(list(counts) if isinstance(counts, tuple) else counts, "counts")
    _refuse_none(sizes, "counts")
    for level, size in enumerate(sizes):
        if size < 1:
            raise ValueError(f"level {level} of {sizes} has {size} points; a level has at least 1")
        if level and size > sizes[level - 1]:
            raise ValueError(_growth(level, size, sizes[level - 1]))
    return sizes


def _shares(ratios: Any) -> list[float]:
    """Returns the ratio of each level after checking its range."""
    shares = [_arguments.number(ratio, "ratio") for ratio in ratios]
    _refuse_none(shares, "ratios")
    for level, share in enumerate(shares):
        if not 0.0 < share <= 1.0:
            raise ValueError(f"ratio {share} of level {level} must be above 0, and at most 1")
    return shares


def _refuse_none(levels: list[Any], name: str) -> None:
    if not levels:
        raise ValueError(f"{name} is empty; pass one for each level")


def _growth(level: int, size: int, before: int) -> str:
    return f"level {level} has {size} points, and the level before it {before}; levels must not grow"


def _ndim(array: Any) -> int:
    """Returns the number of axes of an array, a number or lists. ``torch.compile`` traces it."""
    if isinstance(array, (int, list, tuple)):
        return 0 if isinstance(array, int) else 1 + (_ndim(array[0]) if array else 0)
    ndim: int = array.ndim if hasattr(array, "ndim") else np.ndim(array)
    return ndim


def _limits(size: int, shares: list[float]) -> list[int]:
    """Returns this number of points, and those of the levels behind it."""
    sizes = [size]
    for share in shares:
        sizes.append(math.ceil(share * sizes[-1]))
    return sizes


def _places(rows: Any) -> Any:
    """Returns 0, 1, 2, ... for each cloud, and -1 for padding, which comes last."""
    chosen = rows >= 0
    return chosen.cumsum(-1) * chosen - 1


def _covering_radius(distances: Any, radius: Any, size: int) -> Any:
    """Returns the covering radius of the first points chosen: the distance of the next one."""
    if size == distances.shape[-1]:
        return radius
    next_one = distances[..., size]
    if isinstance(radius, float):
        return float(next_one)
    if isinstance(radius, np.ndarray):
        return np.asarray(next_one).astype(radius.dtype)
    return next_one.to(radius.dtype) if lazy_torch.is_tensor(radius) else next_one


def _by_shares(chosen: Any, distances: Any, radius: Any, sizes: list[int], shares: list[float]) -> Levels:
    """Returns levels whose number of points differs from cloud to cloud."""
    is_tensor = lazy_torch.is_tensor(chosen)
    if not (is_tensor or isinstance(chosen, np.ndarray)):
        raise TypeError(
            "ratios of clouds of different lengths are for NumPy arrays and PyTorch tensors; pass counts "
            f"({conversion.name(chosen)})"
        )
    library = lazy_torch.module() if is_tensor else np
    places = _places(chosen)
    left = (chosen >= 0).sum(-1)[:, None]
    left = left.double() if is_tensor else left
    indices, relative, radii = [chosen], [chosen], [radius]
    for size, share in zip(sizes[1:], shares[1:]):
        left = library.ceil(left * share)
        kept = ((places >= 0) & (places < left))[:, :size]
        indices.append(library.where(kept, chosen[:, :size], -1))
        relative.append(library.where(kept, places[:, :size], -1))
        if distances is None or sizes[0] == 0:
            radii.append(radius)
            continue
        # Distances do not grow: that of the next point is the largest behind the level, and above the last radius.
        largest = library.amax(library.where(places >= left, distances, 0.0), -1)
        radii.append(library.maximum(largest, radius))
    return Levels(tuple(indices), tuple(relative), None if distances is None else tuple(radii))


def _ragged(points: Any, ends: list[int], counts: Any, shares: list[float] | None, start: Any) -> Levels:
    """Returns levels of concatenated clouds."""
    lengths = [max(end - begin, 0) for begin, end in zip(ends, ends[1:])]
    sizes = _sizes_of_clouds(counts, lengths) if shares is None else []
    for share in shares or []:
        lengths = [math.ceil(share * length) for length in lengths]
        sizes.append(lengths)
    library = library_of(points)
    first = library.sample_ragged(points, ends, sizes[0], start, "auto")
    offsets = [[sum(size[:cloud]) for cloud in range(len(size) + 1)] for size in sizes]
    indices, relative = [first], [first]
    for level, size in enumerate(sizes[1:], 1):
        indices.append(first[library.ranges(offsets[0][:-1], size, points)])
        relative.append(library.ranges(offsets[level - 1][:-1], size, points))
    return Levels(tuple(indices), tuple(relative), None, tuple(offsets))


def _sizes_of_clouds(counts: Any, lengths: list[int]) -> list[list[int]]:
    """Returns the number of points of each cloud in each level after checking that none grows."""
    sizes: list[list[int]] = []
    for level, count in enumerate(counts):
        before = sizes[-1] if sizes else lengths
        if _ndim(count) == 0:
            size = _arguments.integer(count, f"count of level {level}", 1)
            sizes.append([min(size, length) for length in before])
            continue
        each = integer_arrays.listed(count, "counts")
        if len(each) != len(lengths):
            raise ValueError(f"level {level} has {len(each)} counts for {len(lengths)} clouds; pass one for each")
        for cloud, (size, limit) in enumerate(zip(each, before)):
            if level and size > limit:
                raise ValueError(f"cloud {cloud} of the batch: {_growth(level, size, limit)}")
        sizes.append(each)
    _refuse_none(sizes, "counts")
    return sizes
