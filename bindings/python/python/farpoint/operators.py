"""Operators on point features by the indices of ``knn`` and ``ball_query``: ``gather``, ``gather_max``,
``interpolate`` and ``inverse_distance_weights``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from . import _arguments
from ._arrays import library_of_values
from ._typing import ArrayT, OtherT
from .neighbors import Neighbors

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    from ._typing import FloatArray, FloatingT, IntRows, Rows, ScalarT

__all__ = ["check_indices", "gather", "gather_max", "interpolate", "inverse_distance_weights"]


@overload
def gather(
    values: NDArray[ScalarT], indices: IntRows, *, threads: int | None = ...
) -> NDArray[ScalarT]: ...
@overload
def gather(values: Sequence[Any], indices: IntRows, *, threads: int | None = ...) -> NDArray[Any]: ...
@overload
def gather(values: Tensor, indices: Tensor, *, threads: int | None = ...) -> Tensor: ...
@overload
def gather(values: OtherT, indices: OtherT, *, threads: int | None = ...) -> OtherT: ...
def gather(values: Any, indices: Any, *, threads: int | None = None) -> Any:
    """Take rows of values by index.

    Parameters
    ----------
    values : array, (N, C) or (B, N, C), or (N,)
        Rows of C channels, or one number per row: float32, float64, float16, or PyTorch's bfloat16; also integers and
        booleans, which keep their type, except for arrays on a GPU that are not PyTorch's.
    indices : array of int64 or int32, (M,) or (M, k), or (B, M) or (B, M, k)
        Rows, relative to their cloud; -1 gives zeros (False). Of the library and on the device of
        the values.
    threads : int, optional
        Number of threads on the CPU, of gradients, too; all cores unless set.

    Returns
    -------
    array, (..., M, C) or (..., M, k, C), or the shape of the indices
        In the library and dtype of the values. For tensors, differentiable with respect to the
        values; gradients of a row are summed in the order of the indices, so that they have the same
        bits on every run and device.

    Raises
    ------
    IndexError
        On the CPU: an index that is neither -1 nor a row; the message has its position. On a GPU such indices
        give zeros without an out-of-bounds read; ``check_indices`` finds them.
    ValueError
        Incompatible shapes.
    TypeError
        Other dtypes; arrays of different libraries or on different devices.

    Notes
    -----
    Source: ``grouping_operation`` and ``gather_operation`` of PointNet++ (Qi et al., NeurIPS 2017), which
    are channels-first.

    Examples
    --------
    >>> import numpy, farpoint
    >>> values = numpy.array([[1.0, 2.0], [3.0, 4.0]])
    >>> farpoint.gather(values, numpy.array([1, -1]))
    array([[3., 4.],
           [0., 0.]])
    """
    threads = _arguments.threads(threads)
    return library_of_values(values, indices).gather(values, indices, threads)


@overload
def gather_max(
    values: NDArray[FloatingT], indices: IntRows, add: Rows | None = ..., *, threads: int | None = ...
) -> NDArray[FloatingT]: ...
@overload
def gather_max(
    values: Rows, indices: IntRows, add: Rows | None = ..., *, threads: int | None = ...
) -> NDArray[np.float64]: ...
@overload
def gather_max(
    values: Tensor, indices: Tensor, add: Tensor | None = ..., *, threads: int | None = ...
) -> Tensor: ...
@overload
def gather_max(
    values: OtherT, indices: OtherT, add: OtherT | None = ..., *, threads: int | None = ...
) -> OtherT: ...
def gather_max(values: Any, indices: Any, add: Any = None, *, threads: int | None = None) -> Any:
    """Take the maximum over the k indexed rows of values, channel by channel.

    Equivalent to ``(gather(values, indices) + add).max(-2)``, without memory for the gathered rows.

    Parameters
    ----------
    values : array, (N, C) or (B, N, C)
        Rows of C channels: float32, float64, float16, or PyTorch's bfloat16. Integers of NumPy and in lists are
        converted to float64, as those of points.
    indices : array of int64 or int32, (M, k) or (B, M, k)
        As for ``gather``. Indices of -1 are ignored; a point that has no others gets 0.
    add : array, (M, k, C) or (B, M, k, C), optional
        Added to the rows, of the dtype of the values: terms that also depend on the position of a neighbor.
    threads : int, optional
        As for ``gather``.

    Returns
    -------
    array, (..., M, C)
        In the library and dtype of the values; float16 and bfloat16 are summed in float32 and rounded
        once. For tensors, differentiable with respect to values and ``add``. The gradient goes to the
        first of equal sums; NaN is larger than all numbers.

    Raises
    ------
    IndexError, ValueError, TypeError
        As for ``gather``.

    Notes
    -----
    Source: the max-pooling of PointNet++ (Qi et al., NeurIPS 2017), and PointMetaBase (Lin et al., CVPR 2023)
    for ``add``.

    Examples
    --------
    >>> import numpy, farpoint
    >>> values = numpy.array([[1.0, 4.0], [3.0, 2.0]])
    >>> farpoint.gather_max(values, numpy.array([[0, 1], [-1, 0]]))
    array([[3., 4.],
           [1., 4.]])
    """
    threads = _arguments.threads(threads)
    return library_of_values(values, indices, add).gather_max(values, indices, add, threads)


@overload
def interpolate(
    values: NDArray[FloatingT], indices: IntRows, weights: Rows, *, threads: int | None = ...
) -> NDArray[FloatingT]: ...
@overload
def interpolate(
    values: Rows, indices: IntRows, weights: Rows, *, threads: int | None = ...
) -> NDArray[np.float64]: ...
@overload
def interpolate(
    values: Tensor, indices: Tensor, weights: Tensor, *, threads: int | None = ...
) -> Tensor: ...
@overload
def interpolate(
    values: OtherT, indices: OtherT, weights: OtherT, *, threads: int | None = ...
) -> OtherT: ...
def interpolate(values: Any, indices: Any, weights: Any, *, threads: int | None = None) -> Any:
    """Compute weighted sums of k rows of values.

    Parameters
    ----------
    values : array, (N, C) or (B, N, C)
        As for ``gather_max``.
    indices : array of int64 or int32, (M, k) or (B, M, k)
        As for ``gather``; indices of -1 add nothing.
    weights : array, (M, k) or (B, M, k)
        Any weights, such as those of ``inverse_distance_weights``; of the dtype of the values, or float32 for values
        of float16 and bfloat16.
    threads : int, optional
        As for ``gather``.

    Returns
    -------
    array, (..., M, C)
        In the library and dtype of the values, summed in the order of the indices; float16 and bfloat16 are
        summed in float32 and rounded once. For tensors, differentiable with respect to values and
        weights, with the same bits on every run and device.

    Raises
    ------
    IndexError, ValueError, TypeError
        As for ``gather``.

    Notes
    -----
    Source: the feature propagation of PointNet++ (Qi et al., NeurIPS 2017), ``three_interpolate`` for k of 3.

    Examples
    --------
    >>> import numpy, farpoint
    >>> values = numpy.array([[1.0], [3.0]])
    >>> farpoint.interpolate(values, numpy.array([[0, 1]]), numpy.array([[0.25, 0.75]]))
    array([[2.5]])
    """
    threads = _arguments.threads(threads)
    return library_of_values(values, indices, weights).interpolate(values, indices, weights, threads)


@overload
def inverse_distance_weights(
    distances: Neighbors[ArrayT, Any], power: Literal[1, 2] = ..., eps: float = ..., *, squared: bool | None = ...
) -> ArrayT: ...
@overload
def inverse_distance_weights(
    distances: Rows, power: Literal[1, 2] = ..., eps: float = ..., *, squared: bool | None = ...
) -> FloatArray: ...
@overload
def inverse_distance_weights(
    distances: ArrayT, power: Literal[1, 2] = ..., eps: float = ..., *, squared: bool | None = ...
) -> ArrayT: ...
def inverse_distance_weights(
    distances: Any, power: Literal[1, 2] = 2, eps: float = 1e-8, *, squared: bool | None = None
) -> Any:
    """Compute the weights of k neighbors from their distances, for ``interpolate``.

    The weight of a neighbor is ``1 / (distance ** power + eps)``, divided by the sum over all k.

    Parameters
    ----------
    distances : Neighbors, or array, (..., k)
        Result of ``knn``, which states whether its distances are squared; or distances alone, infinite where there is
        no neighbor: float32 or float64. Of NumPy and in lists float16 is converted to float32, integers to float64.
    power : {2, 1}, optional
        Power of the distance: 2 as in the PointNet++ paper, 1 as in ``pointnet2_ops`` and OpenPoints.
    eps : float, optional
        Added to the power of the distance, at least 0.
    squared : bool, optional
        True for squared distances. Required for an array, and only then.

    Returns
    -------
    array, (..., k)
        Weights with sum 1; those of infinite distances are 0, as are all if all distances are infinite.
        For tensors, differentiable.

    Raises
    ------
    ValueError
        Another power, power 1 of squared distances, ``eps`` below 0 or NaN, or no axis.
    TypeError
        Neither float32 nor float64; an array without ``squared``.

    Notes
    -----
    Source: Shepard, "A two-dimensional interpolation function for irregularly-spaced data", ACM National
    Conference 1968; Qi et al., NeurIPS 2017, equation 2.

    Examples
    --------
    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0]]), numpy.array([[1.0], [-3.0]])
    >>> farpoint.inverse_distance_weights(farpoint.knn(x, y, 3), eps=0.0)
    array([[0.9, 0.1, 0. ]])
    >>> farpoint.inverse_distance_weights(numpy.array([1.0, 3.0]), 1, eps=0.0, squared=False)
    array([0.75, 0.25])
    """
    _arguments.integer(power, "power", 1, 2)
    eps = _arguments.number(eps, "eps")
    if not 0 <= eps < float("inf"):
        raise ValueError(f"eps is {eps}; it must be a finite number of at least 0")
    if isinstance(distances, Neighbors):
        if squared is not None and squared != distances.squared:
            raise ValueError(f"squared is {squared}, but the neighbors have squared={distances.squared}; remove it")
        squared, distances = distances.squared, distances.distances
    if squared is None:
        raise TypeError(
            "pass squared=True or squared=False for an array of distances, or the result of knn"
        )
    if squared and power == 1:
        raise ValueError("power=1 needs plain distances; search with squared=False")
    # Squared distances are already the second power.
    return library_of_values(distances).weights(distances, 1 if squared else power, eps)


def check_indices(indices: Any, rows: int) -> None:
    """Check that all indices are -1 or one of ``rows`` rows. Synchronizes a GPU.

    On a GPU the operators silently give zeros for other indices, since they do not synchronize.

    Parameters
    ----------
    indices : array of int64 or int32
        Indices of any shape.
    rows : int
        Number of rows of the values.

    Raises
    ------
    IndexError
        Some are out of range; the message has their number, the first of them, and its position.
    TypeError
        Not integers.

    Examples
    --------
    >>> import numpy, farpoint
    >>> farpoint.check_indices(numpy.array([[0, -1], [1, 2]]), 3)
    """
    rows = _arguments.integer(rows, "rows", 0)
    library_of_values(indices).check_indices(indices, rows)
