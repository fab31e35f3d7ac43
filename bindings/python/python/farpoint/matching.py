"""Nearest points between clouds, and the Chamfer distance: ``nearest``, ``nearest_both`` and ``chamfer``."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal, overload

import numpy as np

from . import _arguments
from ._arrays import conversion, integer_arrays, library_of, library_of_pair, numpy
from ._records import Search, repr_of
from ._search_arguments import sides_of
from ._torch import lazy_torch
from ._typing import ArrayT, IndexT, Integers, NamedTuple, OtherT, Rows, subscriptable
from .neighbors import knn
from .operators import gather

if TYPE_CHECKING:
    from torch import Tensor
    from typing_extensions import Unpack

    from ._typing import ChamferOptions, FloatArray, FloatOrArray, Int64Array, NearestOptions, SearchOptions
    from .files import Cloud

__all__ = ["FScore", "Nearest", "chamfer", "f_score", "nearest", "nearest_both"]


@subscriptable
class Nearest(NamedTuple, Generic[ArrayT, IndexT]):
    """Nearest point of y for each point of x, and its distance.

    Attributes
    ----------
    distances : array, (N,) or (B, N)
        Distance of each point of x to its nearest of y, in the dtype of the coordinates, squared unless set
        otherwise; 0 for padding.
    indices : array of int64, (N,) or (B, N)
        Nearest point, the lowest index among equals; -1 for padding.
    """

    distances: ArrayT
    indices: IndexT

    @property
    def squared(self) -> bool:
        """True for squared distances, False for plain ones."""
        return True

    def __repr__(self) -> str:
        return repr_of(self)


class _PlainNearest(Nearest[ArrayT, IndexT]):
    """``Nearest`` with plain distances: a tuple has no other attributes."""

    __slots__ = ()

    @property
    def squared(self) -> Literal[False]:
        return False


@subscriptable
class FScore(NamedTuple, Generic[ArrayT]):
    """F-score, precision and recall: scalars for a pair of clouds, (B,) for batches.

    Attributes
    ----------
    f_score : float or array
        Harmonic mean of precision and recall, 0 if both are 0.
    precision : float or array
        Fraction of the points of x within the threshold of y.
    recall : float or array
        Fraction of the points of y within the threshold of x.
    """

    f_score: ArrayT
    precision: ArrayT
    recall: ArrayT


# NumPy arrays and array-likes of no library return NumPy arrays.
@overload
def nearest(
    x: Rows | Cloud, y: Rows | Cloud, **options: Unpack[NearestOptions]
) -> Nearest[FloatArray, Int64Array]: ...
@overload
def nearest(x: Tensor, y: Tensor, **options: Unpack[NearestOptions]) -> Nearest[Tensor, Tensor]: ...
@overload
def nearest(x: OtherT, y: OtherT, **options: Unpack[NearestOptions]) -> Nearest[OtherT, OtherT]: ...
def nearest(
    x: Any,
    y: Any,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    x_offsets: Integers | None = None,
    y_offsets: Integers | None = None,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    threads: int | None = None,
    progress: bool = False,
) -> Nearest[Any, Any]:
    """Find the nearest point of y for each point of x, and its distance.

    Parameters
    ----------
    x, y : array, (N, D) and (M, D), or (B, N, D) and (B, M, D)
        Clouds or batches of clouds, both float32 or both float64, in any unit. Arrays as for ``sample``,
        on a GPU both of one library. float16, and bfloat16 of tensors, is converted to float32 without
        loss: distances and their means are float32, which does not overflow where float16 would;
        gradients have the dtype of the tensor.
    x_lengths, y_lengths : array of int, (B,), optional
        Number of valid rows of each cloud, at least 1; the rest is padding.
    x_offsets, y_offsets : array of int, (B + 1,), optional
        Offsets of B clouds concatenated in x and y, (N, D) and (M, D), given together: cloud c is the rows
        ``offsets[c]:offsets[c + 1]``. Indices are then rows of the whole y.
    squared : bool, optional
        Return squared distances, or plain ones in the unit of the coordinates.
    norm : {2, 1}, optional
        Euclidean norm, or 1 for the sum of absolute differences, which is never squared.
    threads : int, optional
        Number of threads on the CPU; all cores unless set.
    progress : bool, optional
        Show a progress bar (tqdm's, if installed). On the CPU.

    Returns
    -------
    Nearest
        Distances and indices, in the library and on the device of x. For tensors, the distances are differentiable with
        respect to x and y, including second derivatives, forward mode and ``torch.func``; gradients have the same bits
        on every run.

    Raises
    ------
    ValueError
        NaN or infinity (on the CPU), a search in an empty cloud, or incompatible shapes. Lengths on a GPU are not
        checked: distances to a cloud of length 0 are infinite, with index -1.
    TypeError
        Neither float32 nor float64, different dtypes, or arrays of different libraries.
    farpoint.CudaUnavailable
        Arrays on a GPU without a usable driver.

    Examples
    --------
    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0, 0.0], [3.0, 4.0]]), numpy.array([[0.0, 1.0]])
    >>> farpoint.nearest(x, y)
    Nearest(distances=array([ 1., 18.]), indices=array([0, 0]), squared=True)
    """
    if not (x_offsets is y_offsets is None):
        one = knn(
            x, y, 1, x_lengths=x_lengths, y_lengths=y_lengths, x_offsets=x_offsets, y_offsets=y_offsets, squared=squared,
            norm=norm, threads=threads,
        )
        return kind_of(squared, norm)(one.distances[..., 0], one.indices[..., 0])
    search = _search(x_lengths, y_lengths, squared, norm, threads, progress, False)
    result = library_of_pair(x, y).nearest(x, y, search)
    return kind_of(squared, norm)(*result)


@overload
def nearest_both(
    x: Rows | Cloud, y: Rows | Cloud, **options: Unpack[NearestOptions]
) -> tuple[Nearest[FloatArray, Int64Array], Nearest[FloatArray, Int64Array]]: ...
@overload
def nearest_both(
    x: Tensor, y: Tensor, **options: Unpack[NearestOptions]
) -> tuple[Nearest[Tensor, Tensor], Nearest[Tensor, Tensor]]: ...
@overload
def nearest_both(
    x: OtherT, y: OtherT, **options: Unpack[NearestOptions]
) -> tuple[Nearest[OtherT, OtherT], Nearest[OtherT, OtherT]]: ...
def nearest_both(
    x: Any,
    y: Any,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    x_offsets: Integers | None = None,
    y_offsets: Integers | None = None,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    threads: int | None = None,
    progress: bool = False,
) -> tuple[Nearest[Any, Any], Nearest[Any, Any]]:
    """Find the nearest points in both directions in one search, faster than two searches.

    Parameters
    ----------
    x, y, x_lengths, y_lengths, x_offsets, y_offsets, squared, norm, threads, progress
        As for ``nearest``.

    Returns
    -------
    pair of Nearest
        Nearest points of y for x, and of x for y.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``nearest``.

    Examples
    --------
    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0, 0.0], [3.0, 4.0]]), numpy.array([[0.0, 1.0]])
    >>> forward, backward = farpoint.nearest_both(x, y)
    >>> forward.indices, backward.indices
    (array([0, 0]), array([0]))
    """
    if not (x_offsets is y_offsets is None):
        options: Any = {"squared": squared, "norm": norm, "threads": threads}
        sides = sides_of(x_lengths, y_lengths, x_offsets, y_offsets)
        forward: Any = nearest(x, y, x_offsets=sides.x_offsets, y_offsets=sides.y_offsets, **options)
        backward: Any = nearest(y, x, x_offsets=sides.y_offsets, y_offsets=sides.x_offsets, **options)
        return forward, backward
    search = _search(x_lengths, y_lengths, squared, norm, threads, progress, True)
    result = library_of_pair(x, y).nearest(x, y, search)
    kind = kind_of(squared, norm)
    return kind(*result[:2]), kind(*result[2:])


def kind_of(squared: bool, norm: int) -> type[Nearest[Any, Any]]:
    """Returns the class of a result: distances of norm 1 are never squared."""
    return Nearest if norm == 2 and squared else _PlainNearest


# A number for a pair of clouds, an array for batches; for other libraries on a GPU also numbers.
@overload
def chamfer(x: Rows | Cloud, y: Rows | Cloud, **options: Unpack[ChamferOptions]) -> FloatOrArray: ...
@overload
def chamfer(x: Tensor, y: Tensor, **options: Unpack[ChamferOptions]) -> Tensor: ...
@overload
def chamfer(x: OtherT, y: OtherT, **options: Unpack[ChamferOptions]) -> OtherT | float: ...
def chamfer(
    x: Any,
    y: Any,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    x_offsets: Integers | None = None,
    y_offsets: Integers | None = None,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    reduction: Literal["mean", "sum", "max"] = "mean",
    one_sided: bool = False,
    weights: tuple[float, float] | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> Any:
    """Compute the Chamfer distance between two clouds, from nearest-neighbor distances in both directions.

    Parameters
    ----------
    x, y, x_lengths, y_lengths, x_offsets, y_offsets, threads, progress
        As for ``nearest``. Concatenated clouds are computed as a padded batch; offsets on a GPU synchronize it.
    squared : bool, optional
        Use squared distances (as PyTorch3D, Kaolin and ChamferDistancePytorch), or plain ones (as Open3D
        and point-cloud-utils).
    norm : {2, 1}, optional
        Euclidean norm, or 1 for the sum of absolute differences, which is never squared.
    reduction : {"mean", "sum", "max"}, optional
        "mean" or "sum" over the points of each side; the sides are added. "max": the maximum over
        both sides, which with ``squared=False`` is the Hausdorff distance.
    one_sided : bool, optional
        Use the direction from x to y only.
    weights : pair of float, optional
        Factors of the directions, x to y and y to x, applied before they are added.

    Returns
    -------
    float, or array or tensor
        A number for a pair of clouds, (B,) for batches. For tensors: tensors () or (B,) of the dtype of x
        (at least float32), differentiable as the distances of ``nearest``. For others:
        float64 (JAX without its 64-bit mode: float32). A number synchronizes a GPU. Distances are summed in
        double precision, in the same order for arrays and tensors on the CPU and tensors on a
        GPU; CuPy and JAX arrays on a GPU are summed by these libraries.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``nearest``.

    Notes
    -----
    Source: Fan, Su, Guibas, "A point set generation network for 3D object reconstruction from a single
    image", CVPR 2017.

    Examples
    --------
    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0, 0.0], [3.0, 4.0]]), numpy.array([[0.0, 1.0]])
    >>> farpoint.chamfer(x, y)
    10.5
    """
    if reduction not in ("mean", "sum", "max"):
        raise ValueError(f'reduction is {reduction!r}; it must be "mean", "sum" or "max"')
    x, y, x_lengths, y_lengths = _as_batches(x, y, x_lengths, y_lengths, x_offsets, y_offsets)
    if weights is not None:
        if one_sided or reduction == "max":
            raise ValueError("weights are for a sum of both directions; leave out one_sided and reduction='max'")
        options: Any = {
            "squared": squared, "norm": norm, "reduction": reduction, "threads": threads, "progress": progress,
        }
        forward = chamfer(x, y, x_lengths=x_lengths, y_lengths=y_lengths, one_sided=True, **options)
        backward = chamfer(y, x, x_lengths=y_lengths, y_lengths=x_lengths, one_sided=True, **options)
        return weights[0] * forward + weights[1] * backward
    search = _search(
        x_lengths, y_lengths, squared, norm, threads, progress, not one_sided, reduction
    )
    return library_of_pair(x, y).chamfer(x, y, search)


@overload
def f_score(
    x: Rows | Cloud, y: Rows | Cloud, threshold: float, **options: Unpack[SearchOptions]
) -> FScore[FloatOrArray]: ...
@overload
def f_score(x: Tensor, y: Tensor, threshold: float, **options: Unpack[SearchOptions]) -> FScore[Tensor]: ...
@overload
def f_score(x: OtherT, y: OtherT, threshold: float, **options: Unpack[SearchOptions]) -> FScore[OtherT]: ...
def f_score(
    x: Any,
    y: Any,
    threshold: float,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    x_offsets: Integers | None = None,
    y_offsets: Integers | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> FScore[Any]:
    """Compute the F-score of a cloud against the ground truth.

    Parameters
    ----------
    x, y, x_lengths, y_lengths, x_offsets, y_offsets, threads, progress
        As for ``chamfer``. x is the prediction, y the ground truth.
    threshold : float
        Largest distance of matching points, in the unit of the coordinates, not squared.

    Returns
    -------
    FScore
        F-score, precision and recall, without gradients: scalars for clouds, (B,) for batches, in the library of x.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``nearest``.

    Notes
    -----
    Source: Knapitsch, Park, Zhou, Koltun, "Tanks and Temples", ACM Transactions on Graphics, 2017.

    Examples
    --------
    >>> import numpy, farpoint
    >>> found = farpoint.f_score(numpy.array([[0.0], [3.0]]), numpy.array([[0.5], [9.0]]), 1.0)
    >>> float(found.f_score), float(found.precision), float(found.recall)
    (0.5, 0.5, 0.5)
    """
    threshold = _arguments.number(threshold, "threshold")
    x, y, x_lengths, y_lengths = _as_batches(x, y, x_lengths, y_lengths, x_offsets, y_offsets)
    results = nearest_both(
        x, y, x_lengths=x_lengths, y_lengths=y_lengths, squared=False, threads=threads, progress=progress
    )
    precision, recall = [
        # Padding has no index.
        ((side.distances <= threshold) & (side.indices >= 0)).sum(-1) / (side.indices >= 0).sum(-1) for side in results
    ]
    total = precision + recall
    return FScore(2 * precision * recall / (total + (total == 0)), precision, recall)


def _as_batches(
    x: Any, y: Any, x_lengths: Any, y_lengths: Any, x_offsets: Any, y_offsets: Any
) -> tuple[Any, Any, Any, Any]:
    """Returns concatenated clouds as padded batches with lengths, others unchanged."""
    if x_offsets is y_offsets is None:
        return x, y, x_lengths, y_lengths
    sides_of(x_lengths, y_lengths, x_offsets, y_offsets)  # raises for one without the other, and for additional lengths
    batches = _padded(x, x_offsets, "x"), _padded(y, y_offsets, "y")
    return batches[0][0], batches[1][0], batches[0][1], batches[1][1]


def _padded(points: Any, offsets: Any, side: str) -> tuple[Any, list[int]]:
    """Returns concatenated clouds as a padded batch, and their lengths."""
    shape = tuple(points.shape) if hasattr(points, "shape") else np.shape(points)
    if len(shape) != 2:
        raise ValueError(f"{side}_offsets are for points of shape (N, D), not {shape}")
    ends = integer_arrays.listed(offsets, f"{side}_offsets")
    lengths = [end - begin for begin, end in zip(ends, ends[1:])]
    if not lengths or ends[0] != 0 or ends[-1] != len(points) or min(lengths) < 0:
        raise ValueError(f"{side}_offsets must rise from 0 to the {len(points)} rows of {side}, not {ends}")
    if 0 in lengths:
        cloud = lengths.index(0)
        raise ValueError(
            f"cloud {cloud} of {side} is empty: {side}_offsets has {ends[cloud]} twice ({conversion.name(points)})"
        )
    _refuse_non_finite_rows(points, side)
    places = np.full((len(lengths), max(lengths)), -1)
    for row, begin, length in zip(places, ends, lengths):
        row[:length] = np.arange(begin, begin + length)
    indices = library_of(points).like(places, points)
    return gather(points, indices.to(points.device) if lazy_torch.is_tensor(points) else indices), lengths


def _refuse_non_finite_rows(points: Any, side: str) -> None:
    """Raises for NaN and infinity in host memory, with rows of the caller's array: a search would name those of padded
    clouds."""
    library = library_of(points)
    on_host = points.is_cpu if lazy_torch.is_tensor(points) else library is numpy
    if lazy_torch.is_compiling() or not on_host:
        return
    (count,), (first,) = library.non_finite(points)
    if count:
        raise ValueError(
            f"{side}: {count} of {len(points)} rows hold NaN or infinity, the first is row {first}; remove them "
            f"({conversion.name(points)})"
        )


def _search(
    x_lengths: Any, y_lengths: Any, squared: bool, norm: int, threads: int | None, progress: bool, both: bool,
    reduction: str = "mean",
) -> Search:
    """Returns checked arguments: the same record for equal ones, lengths aside. Nothing is cached under
    ``torch.compile``."""
    constants = squared, norm, threads, progress, both, reduction
    if lazy_torch.is_compiling() or not _arguments.are_constant(*constants):
        return _new_search(*constants, x_lengths, y_lengths)
    cached = _cached_search(*constants)
    if x_lengths is y_lengths is None:
        return cached
    return cached._replace(x_lengths=x_lengths, y_lengths=y_lengths, cached=cached)


def _new_search(
    squared: bool, norm: int, threads: int | None, progress: bool, both: bool, reduction: str,
    x_lengths: Any = None, y_lengths: Any = None,
) -> Search:
    if norm not in (1, 2):
        raise ValueError(f"norm is {norm!r}; it must be 1 or 2")
    norm = _arguments.integer(norm, "norm", 1)
    if threads is not None:
        threads = _arguments.threads(threads)
    plain = norm == 2 and not squared
    return Search(x_lengths, y_lengths, norm, plain, threads, _arguments.flag(progress, "progress"), both, reduction)


_cached_search = lru_cache(maxsize=1024, typed=True)(_new_search)
