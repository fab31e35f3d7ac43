"""Spatial index of a cloud for repeated searches: ``Index``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from . import _arguments, neighbors
from . import _search_arguments as arguments
from ._arrays import conversion, library_of
from ._records import Sides
from ._typing import ArrayT, IndexT, Integers, Rows, subscriptable
from .matching import Nearest, kind_of
from .neighbors import BallNeighbors, Neighbors

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import FloatArray, IndexBallOptions, IndexType, IntArray

__all__ = ["Index"]

_OfY = TypeVar("_OfY")


@subscriptable
class Index(Generic[ArrayT, IndexT]):
    """A cloud or batch with its search trees, built once.

    Results are those of ``knn``, ``ball_query`` and ``nearest`` with the cloud as y, bit by bit, including
    gradients. The cloud must not be changed while the index is used. An index can be pickled and copied: the cloud
    is copied, and the trees are rebuilt (``copy.copy`` shares both).

    Parameters
    ----------
    y : array, (M, D) or (B, M, D)
        The cloud or batch, of any library and dtype that ``knn`` accepts.
    y_lengths : array of int, (B,), optional
        Number of valid rows of each cloud; the rest is padding.
    y_offsets : array of int, (B + 1,), optional
        Offsets of concatenated clouds in y (M, D). Searches then need ``x_offsets``.
    threads : int, optional
        Number of CPU threads to build it; all cores unless set.

    Attributes
    ----------
    y : array
        The cloud or batch.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``knn``.

    Notes
    -----
    Building takes O(M log M). On a GPU it does not synchronize, and the trees are in memory of the array's library:
    37 to 60 bytes per row for float32, 64 to 100 for float64, from 1,025 rows on. ``torch.compile`` accepts an index
    that was built outside the compiled function.

    Examples
    --------
    >>> import numpy, farpoint
    >>> index = farpoint.Index(numpy.array([[3.0], [1.0], [-1.0]]))
    >>> index.knn(numpy.array([[0.0]]), 2).indices
    array([[1, 2]])
    >>> index.nearest(numpy.array([[2.5]]))
    Nearest(distances=array([0.25]), indices=array([0]), squared=True)
    """

    # NumPy arrays and array-likes of no library return NumPy arrays.
    @overload
    def __init__(
        self: Index[FloatArray, IntArray], y: Rows, *, y_lengths: Integers | None = ...,
        y_offsets: Integers | None = ..., threads: int | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: Index[_OfY, _OfY], y: _OfY, *, y_lengths: Integers | None = ...,
        y_offsets: Integers | None = ..., threads: int | None = ...,
    ) -> None: ...
    def __init__(
        self,
        y: Any,
        *,
        y_lengths: Integers | None = None,
        y_offsets: Integers | None = None,
        threads: int | None = None,
    ) -> None:
        if y_lengths is not None and y_offsets is not None:
            raise ValueError(
                "lengths are for padded batches (B, M, D), offsets for rows (M, D); pass one of them"
            )
        self._threads = _arguments.threads(threads)
        self.y: ArrayT = y
        self._lengths_and_offsets = y_lengths, y_offsets
        self._tree, self._kept = library_of(y).tree_of(y, y_lengths, y_offsets, self._threads)

    def __getstate__(self) -> tuple[Any, ...]:
        # Trees are no arrays of the library, and quickly rebuilt.
        return (self.y, *self._lengths_and_offsets, self._threads)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        y, y_lengths, y_offsets, threads = state
        Index.__init__(self, y, y_lengths=y_lengths, y_offsets=y_offsets, threads=threads)

    def __copy__(self) -> Index[ArrayT, IndexT]:
        new: Index[ArrayT, IndexT] = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def __repr__(self) -> str:
        y_lengths, y_offsets = self._lengths_and_offsets
        beside = "" if y_lengths is None else ", with lengths"
        beside = beside if y_offsets is None else ", with offsets"
        return f"farpoint.Index({conversion.name(self.y)}{beside})"

    def knn(
        self,
        x: ArrayT,
        k: int,
        *,
        x_lengths: Integers | None = None,
        x_offsets: Integers | None = None,
        exclude_self: bool = False,
        squared: bool = True,
        norm: Literal[1, 2] = 2,
        index_dtype: IndexType = None,
        threads: int | None = None,
    ) -> Neighbors[ArrayT, IndexT]:
        """Find the k nearest points of the cloud for each point of x, as ``farpoint.knn``.

        Parameters
        ----------
        x, k, x_lengths, x_offsets, exclude_self, squared, norm, index_dtype, threads
            As for ``farpoint.knn``. x may be the cloud itself.

        Returns
        -------
        Neighbors
            Distances, indices and counts.

        Raises
        ------
        ValueError, TypeError, farpoint.CudaUnavailable
            As for ``farpoint.knn``.
        """
        request = arguments.nearest_request(k, exclude_self, norm, index_dtype, threads)
        sides = self._both(x, x_lengths, x_offsets)
        result: Neighbors[ArrayT, IndexT] = neighbors.search(x, self.y, sides, request, squared)
        return result

    def ball_query(
        self, x: ArrayT, radius: float, k: int, **options: Unpack[IndexBallOptions]
    ) -> Neighbors[ArrayT, IndexT]:
        """Find k points of the cloud in the ball around each point of x, as ``farpoint.ball_query``.

        Parameters
        ----------
        x, radius, k
            As for ``farpoint.ball_query``. x may be the cloud itself.
        **options
            ``x_lengths``, ``x_offsets``, ``min_radius``, ``order``, ``inclusive``, ``exclude_self``, ``squared``,
            ``norm``, ``index_dtype`` and ``threads``, as for ``farpoint.ball_query``.

        Returns
        -------
        Neighbors
            Distances, indices and counts.

        Raises
        ------
        ValueError, TypeError, farpoint.CudaUnavailable
            As for ``farpoint.ball_query``.
        """
        arguments.refuse_all(k)
        result: Neighbors[ArrayT, IndexT] = self._in_ball(x, radius, k, **options)
        return result

    def within(
        self, x: ArrayT, radius: float, **options: Unpack[IndexBallOptions]
    ) -> BallNeighbors[ArrayT, IndexT]:
        """Find all points of the cloud in the ball around each point of x, as ``farpoint.within``.

        Parameters
        ----------
        x, radius
            As for ``farpoint.within``. x may be the cloud itself.
        **options
            As for ``ball_query``.

        Returns
        -------
        BallNeighbors
            Distances and indices of all neighbors, and offsets.

        Raises
        ------
        ValueError, TypeError, farpoint.CudaUnavailable
            As for ``farpoint.within``.
        """
        result: BallNeighbors[ArrayT, IndexT] = self._in_ball(x, radius, None, **options)
        return result

    def _in_ball(
        self, x: Any, radius: float, k: int | None, *, x_lengths: Any = None, x_offsets: Any = None,
        squared: bool = True, **options: Any,
    ) -> Any:
        sides = self._both(x, x_lengths, x_offsets)
        return neighbors.search(x, self.y, sides, arguments.ball_request(radius, k, **options), squared)

    def nearest(
        self,
        x: ArrayT,
        *,
        x_lengths: Integers | None = None,
        x_offsets: Integers | None = None,
        squared: bool = True,
        norm: Literal[1, 2] = 2,
        threads: int | None = None,
    ) -> Nearest[ArrayT, IndexT]:
        """Find the nearest point of the cloud for each point of x, as ``farpoint.nearest``.

        Parameters
        ----------
        x, x_lengths, squared, norm, threads
            As for ``farpoint.nearest``.
        x_offsets
            As for ``farpoint.knn``.

        Returns
        -------
        Nearest
            Distances and indices.

        Raises
        ------
        ValueError, TypeError, farpoint.CudaUnavailable
            As for ``farpoint.nearest``.
        """
        result: Any = self.knn(
            x, 1, x_lengths=x_lengths, x_offsets=x_offsets, squared=squared, norm=norm,
            threads=threads,
        )
        return kind_of(squared, norm)(result.distances[..., 0], result.indices[..., 0])

    def _both(self, x: Any, x_lengths: Any, x_offsets: Any) -> Sides:
        """Returns lengths and offsets of both sides; the cloud in itself has its own."""
        y_lengths, y_offsets = self._lengths_and_offsets
        if x is self.y and x_lengths is None and x_offsets is None:
            x_lengths, x_offsets = y_lengths, y_offsets
        return arguments.sides_of(x_lengths, y_lengths, x_offsets, y_offsets, self._tree)
