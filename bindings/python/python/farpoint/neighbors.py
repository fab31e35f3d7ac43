"""Nearest points between clouds, and the Chamfer distance: ``nearest``, ``nearest_both`` and ``chamfer``. Several
neighbors of each point: ``knn``, ``ball_query`` and ``ball_query_raw``."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal, overload

from . import _arguments
from ._arrays import library_of_pair
from ._records import Search
from ._torch import presence
from ._typing import ArrayT, IndexT, Integers, NamedTuple, Rows, subscriptable
from .several import BallNeighbors, Neighbors, ball_query, ball_query_raw, knn

if TYPE_CHECKING:
    from torch import Tensor
    from typing_extensions import Unpack

    from ._typing import ChamferOptions, FloatArray, FloatOrArray, Int64Array, SearchOptions
    from .files import Cloud

__all__ = [
    "BallNeighbors", "Nearest", "Neighbors", "PlainNearest", "ball_query", "ball_query_raw", "chamfer", "knn",
    "nearest", "nearest_both",
]


@subscriptable
class Nearest(NamedTuple, Generic[ArrayT, IndexT]):
    """What ``nearest`` returns unless set otherwise: squared distances, and indices.

    Attributes
    ----------
    distances : array, (N,) or (B, N)
        Squared distance of each point of x to its nearest of y, in the type of the coordinates; 0 for
        padding.
    indices : array of int64, (N,) or (B, N)
        That point, the lowest index among those equally near; -1 for padding.
    """

    distances: ArrayT
    indices: IndexT

    @property
    def squared(self) -> Literal[True]:
        """Whether the distances are squared: here they are."""
        return True

    def __repr__(self) -> str:
        return f"Nearest(distances={self.distances!r}, indices={self.indices!r}, squared=True)"


@subscriptable
class PlainNearest(NamedTuple, Generic[ArrayT, IndexT]):
    """What ``nearest`` returns with ``squared=False`` or ``norm=1``: plain distances, and indices.

    Attributes
    ----------
    distances : array, (N,) or (B, N)
        Distance of each point of x to its nearest of y, in the unit and type of the coordinates; 0 for
        padding.
    indices : array of int64, (N,) or (B, N)
        That point, the lowest index among those equally near; -1 for padding.
    """

    distances: ArrayT
    indices: IndexT

    @property
    def squared(self) -> Literal[False]:
        """Whether the distances are squared: here they are not."""
        return False

    def __repr__(self) -> str:
        return f"PlainNearest(distances={self.distances!r}, indices={self.indices!r}, squared=False)"


# NumPy arrays, and what is no array of a library, give arrays of NumPy.
@overload
def nearest(
    x: Rows | Cloud, y: Rows | Cloud, *, squared: Literal[True] = ..., norm: Literal[2] = ...,
    **options: Unpack[SearchOptions],
) -> Nearest[FloatArray, Int64Array]: ...
@overload
def nearest(
    x: Rows | Cloud, y: Rows | Cloud, *, squared: Literal[False], norm: Literal[1, 2] = ...,
    **options: Unpack[SearchOptions],
) -> PlainNearest[FloatArray, Int64Array]: ...
@overload
def nearest(
    x: Rows | Cloud, y: Rows | Cloud, *, squared: bool = ..., norm: Literal[1],
    **options: Unpack[SearchOptions],
) -> PlainNearest[FloatArray, Int64Array]: ...
@overload
def nearest(  # type: ignore[overload-overlap]  # those before it take what those behind it would
    x: Rows | Cloud, y: Rows | Cloud, *, squared: bool = ..., norm: Literal[1, 2] = ...,
    **options: Unpack[SearchOptions],
) -> Nearest[FloatArray, Int64Array] | PlainNearest[FloatArray, Int64Array]: ...
@overload
def nearest(
    x: ArrayT, y: ArrayT, *, squared: Literal[True] = ..., norm: Literal[2] = ...,
    **options: Unpack[SearchOptions],
) -> Nearest[ArrayT, ArrayT]: ...
@overload
def nearest(
    x: ArrayT, y: ArrayT, *, squared: Literal[False], norm: Literal[1, 2] = ...,
    **options: Unpack[SearchOptions],
) -> PlainNearest[ArrayT, ArrayT]: ...
@overload
def nearest(
    x: ArrayT, y: ArrayT, *, squared: bool = ..., norm: Literal[1],
    **options: Unpack[SearchOptions],
) -> PlainNearest[ArrayT, ArrayT]: ...
@overload
def nearest(
    x: ArrayT, y: ArrayT, *, squared: bool = ..., norm: Literal[1, 2] = ...,
    **options: Unpack[SearchOptions],
) -> Nearest[ArrayT, ArrayT] | PlainNearest[ArrayT, ArrayT]: ...
def nearest(
    x: Any,
    y: Any,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    threads: int | None = None,
    progress: bool = False,
) -> Nearest[Any, Any] | PlainNearest[Any, Any]:
    """Find the nearest point of y for each point of x, and its distance.

    Parameters
    ----------
    x, y : array, (N, D) and (M, D), or (B, N, D) and (B, M, D)
        Clouds or batches of clouds, both float32 or both float64, in any unit. Arrays as for ``sample``,
        on a GPU both of one library. float16, and bfloat16 of tensors, is converted to float32 without
        loss: distances, and means of them, are float32, which does not overflow where float16 would;
        gradients have the type of the tensor.
    x_lengths, y_lengths : array of int, (B,), optional
        Rows of each cloud that count, at least 1; the rest is padding.
    squared : bool, optional
        Squared distances, or plain ones in the unit of the coordinates.
    norm : {2, 1}, optional
        The Euclidean norm, or 1 for sums of absolute differences, which are never squared.
    threads : int, optional
        Number of threads on the CPU; all cores unless set.
    progress : bool, optional
        Show a progress bar (tqdm's, if installed). On the CPU.

    Returns
    -------
    Nearest or PlainNearest
        Distances and indices, in the library of x and on its device; ``squared`` says which of the two
        it is. For tensors the distances can be differentiated with respect to x and y, twice and in
        forward mode too, and by ``torch.func``; gradients have the same bits on every run.

    Raises
    ------
    ValueError
        NaN or infinity (on the CPU), empty clouds, shapes that do not fit. Lengths that lie on a GPU
        are not checked: from a cloud of length 0 all others are infinitely far, with index -1.
    TypeError
        Neither float32 nor float64, or not both the same; arrays of different libraries.
    farpoint.CudaUnavailable
        Arrays on a GPU, and no driver that can be used.

    Examples
    --------
    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0, 0.0], [3.0, 4.0]]), numpy.array([[0.0, 1.0]])
    >>> farpoint.nearest(x, y)
    Nearest(distances=array([ 1., 18.]), indices=array([0, 0]), squared=True)
    """
    search = _search(x_lengths, y_lengths, squared, norm, threads, progress, False)
    found = library_of_pair(x, y).nearest(x, y, search)
    # Norm 1 is never squared.
    return Nearest(*found) if norm == 2 and squared else PlainNearest(*found)


@overload
def nearest_both(
    x: Rows | Cloud, y: Rows | Cloud, *, squared: Literal[True] = ..., norm: Literal[2] = ...,
    **options: Unpack[SearchOptions],
) -> tuple[Nearest[FloatArray, Int64Array], Nearest[FloatArray, Int64Array]]: ...
@overload
def nearest_both(  # type: ignore[overload-overlap]  # those before it take what those behind it would
    x: Rows | Cloud, y: Rows | Cloud, *, squared: bool = ..., norm: Literal[1, 2] = ...,
    **options: Unpack[SearchOptions],
) -> (
    tuple[Nearest[FloatArray, Int64Array], Nearest[FloatArray, Int64Array]]
    | tuple[PlainNearest[FloatArray, Int64Array], PlainNearest[FloatArray, Int64Array]]
): ...
@overload
def nearest_both(
    x: ArrayT, y: ArrayT, *, squared: Literal[True] = ..., norm: Literal[2] = ...,
    **options: Unpack[SearchOptions],
) -> tuple[Nearest[ArrayT, ArrayT], Nearest[ArrayT, ArrayT]]: ...
@overload
def nearest_both(
    x: ArrayT, y: ArrayT, *, squared: bool = ..., norm: Literal[1, 2] = ...,
    **options: Unpack[SearchOptions],
) -> (
    tuple[Nearest[ArrayT, ArrayT], Nearest[ArrayT, ArrayT]]
    | tuple[PlainNearest[ArrayT, ArrayT], PlainNearest[ArrayT, ArrayT]]
): ...
def nearest_both(
    x: Any,
    y: Any,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    threads: int | None = None,
    progress: bool = False,
) -> tuple[Nearest[Any, Any], Nearest[Any, Any]] | tuple[PlainNearest[Any, Any], PlainNearest[Any, Any]]:
    """Find the nearest points in both directions in one search, which is faster than two.

    Parameters
    ----------
    x, y, x_lengths, y_lengths, squared, norm, threads, progress
        As for ``nearest``.

    Returns
    -------
    pair of Nearest or pair of PlainNearest
        For each point of x its nearest of y, and for each point of y its nearest of x.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``nearest``.

    Examples
    --------
    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0, 0.0], [3.0, 4.0]]), numpy.array([[0.0, 1.0]])
    >>> there, back = farpoint.nearest_both(x, y)
    >>> there.indices, back.indices
    (array([0, 0]), array([0]))
    """
    search = _search(x_lengths, y_lengths, squared, norm, threads, progress, True)
    found = library_of_pair(x, y).nearest(x, y, search)
    if norm == 2 and squared:
        return Nearest(*found[:2]), Nearest(*found[2:])
    return PlainNearest(*found[:2]), PlainNearest(*found[2:])


# A number for a pair of clouds, an array for batches; of other libraries on a GPU numbers, too.
@overload
def chamfer(x: Rows | Cloud, y: Rows | Cloud, **options: Unpack[ChamferOptions]) -> FloatOrArray: ...
@overload
def chamfer(x: Tensor, y: Tensor, **options: Unpack[ChamferOptions]) -> Tensor: ...
@overload
def chamfer(x: ArrayT, y: ArrayT, **options: Unpack[ChamferOptions]) -> ArrayT | float: ...
def chamfer(
    x: Any,
    y: Any,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    reduction: Literal["mean", "sum", "max"] = "mean",
    one_sided: bool = False,
    threads: int | None = None,
    progress: bool = False,
) -> Any:
    """Compute the Chamfer distance of two clouds: how far their points are from each other's, both ways.

    Parameters
    ----------
    x, y, x_lengths, y_lengths, threads, progress
        As for ``nearest``.
    squared : bool, optional
        Squared distances (as PyTorch3D, Kaolin and ChamferDistancePytorch), or plain ones (as Open3D
        and point-cloud-utils).
    norm : {2, 1}, optional
        The Euclidean norm, or 1 for sums of absolute differences, which are never squared.
    reduction : {"mean", "sum", "max"}, optional
        "mean" or "sum" over the points of each side; the sides are added. "max": the larger of the
        sides' largest distances, which with ``squared=False`` is the Hausdorff distance.
    one_sided : bool, optional
        From x to y only.

    Returns
    -------
    float, or array or tensor
        A number for a pair of clouds, (B,) for batches. For tensors: tensors () or (B,) of the type of x
        (at least float32) that can be differentiated as the distances of ``nearest``. For others:
        float64 (JAX without its 64-bit mode: float32). A number waits for a GPU. Distances are summed in
        double precision, in an order that is the same for arrays and tensors on the CPU and tensors on a
        GPU; arrays of CuPy and JAX on a GPU are summed by these libraries.

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
    search = _search(
        x_lengths, y_lengths, squared, norm, threads, progress, not one_sided, reduction
    )
    return library_of_pair(x, y).chamfer(x, y, search)


def _search(
    x_lengths: Any, y_lengths: Any, squared: bool, norm: int, threads: int | None, progress: bool, both: bool,
    reduction: str = "mean",
) -> Search:
    """Checked arguments: the same record for the same ones, lengths aside. None is kept where
    ``torch.compile`` traces this."""
    given = squared, norm, threads, progress, both, reduction
    if presence.is_compiling() or not _arguments.are_constant(*given):
        return _new_search(*given, x_lengths, y_lengths)
    kept = _kept_search(*given)
    if x_lengths is y_lengths is None:
        return kept
    return kept._replace(x_lengths=x_lengths, y_lengths=y_lengths, kept=kept)


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
    return Search(x_lengths, y_lengths, norm, plain, threads, bool(progress), both, reduction)


_kept_search = lru_cache(maxsize=1024, typed=True)(_new_search)
