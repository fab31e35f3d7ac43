"""Neighbors of each point: the k nearest (``knn``), k in a ball (``ball_query``), or all in it (``within``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, overload

from . import _search_arguments as arguments
from ._arrays import library_of_pair
from ._records import Neighborhood, Sides, repr_of
from ._typing import ArrayT, IndexT, Integers, NamedTuple, OtherT, Rows, subscriptable

if TYPE_CHECKING:
    from torch import Tensor
    from typing_extensions import Unpack

    from ._typing import BallOptions, FloatArray, IndexType, IntArray, SeveralOptions
    from .files import Cloud

__all__ = ["BallNeighbors", "Neighbors", "ball_query", "ball_query_raw", "knn", "within"]


@subscriptable
class Neighbors(NamedTuple, Generic[ArrayT, IndexT]):
    """Up to k neighbors of each point of x, padded to k at the end.

    Attributes
    ----------
    distances : array, (N, k) or (B, N, k)
        Distance of each neighbor, in the dtype of the coordinates, squared unless set otherwise; infinity
        where there is no neighbor, 0 in padding rows.
    indices : array of int64 or int32, (N, k) or (B, N, k)
        Rows of y, relative to its cloud, or with offsets to the whole y; -1 where there is no
        neighbor.
    counts : array of the dtype of the indices, (N,) or (B, N)
        Number of neighbors of each point.
    """

    distances: ArrayT
    indices: IndexT
    counts: IndexT

    @property
    def squared(self) -> bool:
        """True for squared distances, False for plain ones."""
        return True

    def __repr__(self) -> str:
        return repr_of(self)


class _PlainNeighbors(Neighbors[ArrayT, IndexT]):
    """``Neighbors`` with plain distances: a tuple has no other attributes."""

    __slots__ = ()

    @property
    def squared(self) -> Literal[False]:
        return False


@subscriptable
class BallNeighbors(NamedTuple, Generic[ArrayT, IndexT]):
    """All neighbors of each point of x in a ball, concatenated, one point after another.

    Attributes
    ----------
    distances : array, (E,)
        Distance of each neighbor, in the dtype of the coordinates, squared unless set otherwise.
    indices : array of int64 or int32, (E,)
        Rows of y, relative to its cloud, or with offsets to the whole y.
    offsets : array of int64, (N + 1,) or (B * N + 1,)
        Neighbors of point i are ``offsets[i]:offsets[i + 1]``; points of a batch are numbered across its clouds, and
        padding has none.
    """

    distances: ArrayT
    indices: IndexT
    offsets: IndexT

    @property
    def squared(self) -> bool:
        """True for squared distances, False for plain ones."""
        return True

    def __repr__(self) -> str:
        return repr_of(self)


class _PlainBallNeighbors(BallNeighbors[ArrayT, IndexT]):
    """``BallNeighbors`` with plain distances."""

    __slots__ = ()

    @property
    def squared(self) -> Literal[False]:
        return False


# NumPy arrays and array-likes of no library return NumPy arrays.
@overload
def knn(
    x: Rows | Cloud, y: Rows | Cloud, k: int, **options: Unpack[SeveralOptions]
) -> Neighbors[FloatArray, IntArray]: ...
@overload
def knn(x: Tensor, y: Tensor, k: int, **options: Unpack[SeveralOptions]) -> Neighbors[Tensor, Tensor]: ...
@overload
def knn(x: OtherT, y: OtherT, k: int, **options: Unpack[SeveralOptions]) -> Neighbors[OtherT, OtherT]: ...
def knn(
    x: Any,
    y: Any,
    k: int,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    x_offsets: Integers | None = None,
    y_offsets: Integers | None = None,
    exclude_self: bool = False,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    index_dtype: IndexType = None,
    threads: int | None = None,
) -> Neighbors[Any, Any]:
    """Find the k nearest points of y for each point of x, the nearest first.

    Points at equal distances are ordered by index. All devices, methods and numbers of threads
    give the same bits.

    Parameters
    ----------
    x, y : array, (N, D) and (M, D), or (B, N, D) and (B, M, D)
        Clouds or batches of clouds, of any library and dtype that ``nearest`` accepts. They may be the same
        array.
    k : int
        Number of neighbors of each point, at least 1. If y has fewer points, the rest is padding.
    x_lengths, y_lengths : array of int, (B,), optional
        Number of valid rows of each cloud; the rest is padding.
    x_offsets, y_offsets : array of int, (B + 1,), optional
        Offsets of B clouds concatenated in x and y, (N, D) and (M, D), given together: cloud c is the rows
        ``offsets[c]:offsets[c + 1]``. Indices are then rows of the whole y.
    exclude_self : bool, optional
        Exclude row i of y from the neighbors of point i of x, for the neighbors of a cloud in itself.
    squared : bool, optional
        Return squared distances, or plain ones in the unit of the coordinates.
    norm : {2, 1}, optional
        Euclidean norm, or 1 for the sum of absolute differences, which is never squared.
    index_dtype : {"int64", "int32"}, optional
        Dtype of indices and counts, as a name or the dtype of a library; int64 unless set.
    threads : int, optional
        Number of threads on the CPU; all cores unless set.

    Returns
    -------
    Neighbors
        Distances, indices and counts, in the library and on the device of x. For tensors, the distances are
        differentiable with respect to x and y; gradients have the same bits on every run.

    Raises
    ------
    ValueError
        k of 0, NaN or infinity (on the CPU), a search in an empty cloud (on the CPU; on a
        GPU if the shape is empty), offsets that do not ascend from 0 to the number of rows, or incompatible
        shapes. Offsets and lengths on a GPU are not checked.
    TypeError
        Neither float32 nor float64, different dtypes, or arrays of different libraries.
    farpoint.CudaUnavailable
        Arrays on a GPU without a usable driver.

    Notes
    -----
    Time on the CPU: O((N + M) log M + N k) by a tree for large clouds, O(N M) for small ones. Source: Friedman,
    Bentley, Finkel, "An algorithm for finding best matches in logarithmic expected time", ACM Transactions
    on Mathematical Software, 1977.

    Examples
    --------
    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0]]), numpy.array([[3.0], [1.0], [-1.0]])
    >>> farpoint.knn(x, y, 2)
    Neighbors(distances=array([[1., 1.]]), indices=array([[1, 2]]), counts=array([2]), squared=True)
    """
    sides = arguments.sides_of(x_lengths, y_lengths, x_offsets, y_offsets)
    request = arguments.nearest_request(k, exclude_self, norm, index_dtype, threads)
    result: Neighbors[Any, Any] = search(x, y, sides, request, squared)
    return result


@overload
def ball_query(
    x: Rows | Cloud, y: Rows | Cloud, radius: float, k: int, **options: Unpack[BallOptions]
) -> Neighbors[FloatArray, IntArray]: ...
@overload
def ball_query(
    x: Tensor, y: Tensor, radius: float, k: int, **options: Unpack[BallOptions]
) -> Neighbors[Tensor, Tensor]: ...
@overload
def ball_query(
    x: OtherT, y: OtherT, radius: float, k: int, **options: Unpack[BallOptions]
) -> Neighbors[OtherT, OtherT]: ...
def ball_query(
    x: Any,
    y: Any,
    radius: float,
    k: int,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    x_offsets: Integers | None = None,
    y_offsets: Integers | None = None,
    min_radius: float = 0.0,
    order: Literal["index", "nearest"] = "index",
    inclusive: bool = False,
    exclude_self: bool = False,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    index_dtype: IndexType = None,
    threads: int | None = None,
) -> Neighbors[Any, Any]:
    """Find up to k points of y within a radius of each point of x.

    Parameters
    ----------
    x, y, x_lengths, y_lengths, x_offsets, y_offsets, exclude_self, squared, norm, index_dtype, threads
        As for ``knn``.
    radius : float
        Radius in the unit of the coordinates, at least 0. Points nearer than this are neighbors: with norm 2 those of
        ``d * d < r * r``, with r, and then its square, rounded to the dtype of the coordinates.
    k : int
        Maximum number of neighbors of each point, at least 1. For all neighbors use ``within``.
    min_radius : float, optional
        Points nearer than this are excluded, except those at distance 0.
    order : {"index", "nearest"}, optional
        Order of the neighbors, of which the first k are kept: by index, as in PointNet++, or the nearest first as
        by ``knn``.
    inclusive : bool, optional
        Include points exactly at the radius.

    Returns
    -------
    Neighbors
        As for ``knn``.

    Raises
    ------
    ValueError
        As for ``knn``; or a radius that is negative or NaN.
    TypeError, farpoint.CudaUnavailable
        As for ``knn``.

    Notes
    -----
    Source: Qi, Yi, Su, Guibas, "PointNet++: deep hierarchical feature learning on point sets in a metric
    space", NeurIPS 2017.

    Examples
    --------
    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0]]), numpy.array([[3.0], [1.0], [-1.0], [0.5]])
    >>> farpoint.ball_query(x, y, 2.0, 2).indices
    array([[1, 2]])
    >>> farpoint.ball_query(x, y, 2.0, 2, order="nearest").indices
    array([[3, 1]])
    """
    arguments.refuse_all(k)
    sides = arguments.sides_of(x_lengths, y_lengths, x_offsets, y_offsets)
    request = arguments.ball_request(
        radius, k, min_radius, order, inclusive, exclude_self, norm, index_dtype, threads
    )
    result: Neighbors[Any, Any] = search(x, y, sides, request, squared)
    return result


@overload
def within(
    x: Rows | Cloud, y: Rows | Cloud, radius: float, **options: Unpack[BallOptions]
) -> BallNeighbors[FloatArray, IntArray]: ...
@overload
def within(x: Tensor, y: Tensor, radius: float, **options: Unpack[BallOptions]) -> BallNeighbors[Tensor, Tensor]: ...
@overload
def within(x: OtherT, y: OtherT, radius: float, **options: Unpack[BallOptions]) -> BallNeighbors[OtherT, OtherT]: ...
def within(
    x: Any,
    y: Any,
    radius: float,
    *,
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    x_offsets: Integers | None = None,
    y_offsets: Integers | None = None,
    min_radius: float = 0.0,
    order: Literal["index", "nearest"] = "index",
    inclusive: bool = False,
    exclude_self: bool = False,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    index_dtype: IndexType = None,
    threads: int | None = None,
) -> BallNeighbors[Any, Any]:
    """Find all points of y within a radius of each point of x.

    Parameters
    ----------
    x, y, radius, min_radius, inclusive
        As for ``ball_query``.
    x_lengths, y_lengths, x_offsets, y_offsets, exclude_self, squared, norm, index_dtype, threads
        As for ``knn``.
    order : {"index", "nearest"}, optional
        Order of the neighbors of a point: by index, or the nearest first as by ``knn``.

    Returns
    -------
    BallNeighbors
        Distances and indices of all neighbors, concatenated, and offsets. Synchronizes a GPU, since the
        size of the result depends on the data.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``ball_query``.

    Examples
    --------
    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0], [9.0]]), numpy.array([[3.0], [1.0], [-1.0], [0.5]])
    >>> found = farpoint.within(x, y, 2.0)
    >>> found.indices, found.offsets
    (array([1, 2, 3]), array([0, 3, 3]))
    """
    sides = arguments.sides_of(x_lengths, y_lengths, x_offsets, y_offsets)
    request = arguments.ball_request(
        radius, None, min_radius, order, inclusive, exclude_self, norm, index_dtype, threads
    )
    result: BallNeighbors[Any, Any] = search(x, y, sides, request, squared)
    return result


def ball_query_raw(
    x: Any,
    y: Any,
    k: int | None,
    *,
    maximum: float,
    minimum: float = 0.0,
    near: float = 0.0,
    inclusive: bool = False,
    order: Literal["index", "nearest"] = "index",
    x_lengths: Integers | None = None,
    y_lengths: Integers | None = None,
    x_offsets: Integers | None = None,
    y_offsets: Integers | None = None,
    exclude_self: bool = False,
    squared: bool = True,
    norm: Literal[1, 2] = 2,
    index_dtype: IndexType = None,
    threads: int | None = None,
) -> Neighbors[Any, Any] | BallNeighbors[Any, Any]:
    """Find points of y by limits on distances as computed: squared for norm 2.

    For replacements of libraries that round squares differently from ``ball_query``. A point at
    distance d is a neighbor if ``d < maximum`` (``inclusive``: ``<=``), and ``d >= minimum`` or ``d <= near``.

    Parameters
    ----------
    x, y, k, inclusive, order
        As for ``ball_query``.
    x_lengths, y_lengths, x_offsets, y_offsets, exclude_self, squared, norm, index_dtype, threads
        As for ``knn``.
    maximum, minimum, near : float
        Limits, squared for norm 2, rounded to the dtype of the coordinates.

    Returns
    -------
    Neighbors or BallNeighbors
        As for ``ball_query``.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``ball_query``.

    Examples
    --------
    >>> import numpy, farpoint.neighbors
    >>> x, y = numpy.array([[0.0]]), numpy.array([[3.0], [2.0], [-1.0]])
    >>> farpoint.neighbors.ball_query_raw(x, y, 2, maximum=4.0, inclusive=True).indices
    array([[1, 2]])
    """
    sides = arguments.sides_of(x_lengths, y_lengths, x_offsets, y_offsets)
    request = arguments.raw_request(
        k, maximum, minimum, near, inclusive, order, exclude_self, norm, index_dtype, threads
    )
    result: Neighbors[Any, Any] | BallNeighbors[Any, Any] = search(x, y, sides, request, squared)
    return result


def search(x: Any, y: Any, sides: Sides, request: Neighborhood, squared: bool) -> Any:
    """Returns ``Neighbors``, or ``BallNeighbors`` if k is None."""
    library, plain = library_of_pair(x, y), request.norm == 2 and not squared
    squared = request.norm == 2 and not plain  # norm 1 is never squared
    if request.k is None:
        all_of = BallNeighbors if squared else _PlainBallNeighbors
        return all_of(*library.within(x, y, sides, request, plain))
    kind = Neighbors if squared else _PlainNeighbors
    return kind(*library.search(x, y, sides, request, plain))
