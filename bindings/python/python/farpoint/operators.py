"""Operators on the values of points, by the indices of ``knn`` and ``ball_query``: ``gather``, ``gather_max``,
``interpolate`` and ``inverse_distance_weights``."""

from __future__ import annotations

from typing import Any, Literal, overload

from . import _arguments
from ._arrays import library_of_values
from ._typing import ArrayT
from .neighbors import Neighbors

__all__ = ["check_indices", "gather", "gather_max", "interpolate", "inverse_distance_weights"]


def gather(values: ArrayT, indices: Any) -> ArrayT:
    """Take the rows of values that indices name.

    Parameters
    ----------
    values : array, (N, C) or (B, N, C), or (N,)
        Rows of C channels, or a number for each row: float32, float64, float16, or bfloat16 of PyTorch; integers and
        truth values, too, except for arrays on a GPU that are not PyTorch's.
    indices : array of int64 or int32, (M,) or (M, k), or (B, M) or (B, M, k)
        Rows, counted from the first of their cloud; -1 names none, and gives zeros (False). Of the library of the
        values, on their device.

    Returns
    -------
    array, (..., M, C) or (..., M, k, C), or the shape of the indices
        In the library and type of the values. For tensors it can be differentiated with respect to the
        values; a row adds up what it is sent in the order of the indices, so that gradients have the same
        bits on every run and device.

    Raises
    ------
    IndexError
        On the CPU: an index that is neither -1 nor a row, with its place. A GPU reads nothing outside the
        values and gives zeros; ``check_indices`` finds such indices.
    ValueError
        Shapes that do not fit.
    TypeError
        Other types; arrays of different libraries or on different devices.

    Notes
    -----
    Source: ``grouping_operation`` and ``gather_operation`` of PointNet++ (Qi et al., NeurIPS 2017), whose
    tensors have channels first.

    Examples
    --------
    >>> import numpy, farpoint
    >>> values = numpy.array([[1.0, 2.0], [3.0, 4.0]])
    >>> farpoint.gather(values, numpy.array([1, -1]))
    array([[3., 4.],
           [0., 0.]])
    """
    found: ArrayT = library_of_values(values, indices).gather(values, indices)
    return found


def gather_max(values: ArrayT, indices: Any, add: ArrayT | None = None) -> ArrayT:
    """Take the largest of the k rows of values that indices name, channel by channel.

    The same as ``(gather(values, indices) + add).max(-2)``, without the memory of what is gathered.

    Parameters
    ----------
    values : array, (N, C) or (B, N, C)
        As for ``gather``.
    indices : array of int64 or int32, (M, k) or (B, M, k)
        As for ``gather``. Those of -1 take no part; a point that has no others gets 0.
    add : array, (M, k, C) or (B, M, k, C), optional
        Added to the rows, of the type of the values: what depends on the place of a neighbor, too.

    Returns
    -------
    array, (..., M, C)
        In the library and type of the values; sums of float16 and bfloat16 are made in float32 and rounded
        once. For tensors it can be differentiated with respect to values and ``add``. A gradient goes to the
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
    found: ArrayT = library_of_values(values, indices, add).gather_max(values, indices, add)
    return found


def interpolate(values: ArrayT, indices: Any, weights: ArrayT) -> ArrayT:
    """Add up k rows of values, each by its weight.

    Parameters
    ----------
    values : array, (N, C) or (B, N, C)
        As for ``gather``.
    indices : array of int64 or int32, (M, k) or (B, M, k)
        As for ``gather``; those of -1 add nothing.
    weights : array, (M, k) or (B, M, k)
        Of the type of the values, or float32 for values of float16 and bfloat16. Not only those of
        ``inverse_distance_weights``.

    Returns
    -------
    array, (..., M, C)
        In the library and type of the values, added in the order of the indices; float16 and bfloat16 are
        added in float32 and rounded once. For tensors it can be differentiated with respect to values and
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
    found: ArrayT
    found = library_of_values(values, indices, weights).interpolate(values, indices, weights)
    return found


@overload
def inverse_distance_weights(
    distances: Neighbors[ArrayT, Any], power: Literal[1, 2] = ..., eps: float = ..., *, squared: bool | None = ...
) -> ArrayT: ...
@overload
def inverse_distance_weights(
    distances: ArrayT, power: Literal[1, 2] = ..., eps: float = ..., *, squared: bool | None = ...
) -> ArrayT: ...
def inverse_distance_weights(
    distances: Any, power: Literal[1, 2] = 2, eps: float = 1e-8, *, squared: bool | None = None
) -> Any:
    """Compute the weights of k neighbors from their distances, for ``interpolate``.

    The weight of a neighbor is ``1 / (distance ** power + eps)``, divided by the sum of all k.

    Parameters
    ----------
    distances : Neighbors, or array, (..., k)
        What ``knn`` returns, which says whether its distances are squared; or distances alone, float32 or float64,
        infinite in places without a neighbor.
    power : {2, 1}, optional
        Power of the plain distance: 2 as in the paper of PointNet++, 1 as in ``pointnet2_ops`` and OpenPoints.
    eps : float, optional
        Added to the power of the distance, 0 or more.
    squared : bool, optional
        Whether the distances are squared. Needed for an array, and only for that.

    Returns
    -------
    array, (..., k)
        Weights whose sum is 1; those of infinite distances are 0, and all of them where there is no other.
        For tensors they can be differentiated.

    Raises
    ------
    ValueError
        Another power, power 1 of squared distances, ``eps`` below 0 or NaN, no axis.
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
            raise ValueError(f"squared is {squared}, but the neighbors have squared={distances.squared}; leave it out")
        squared, distances = distances.squared, distances.distances
    if squared is None:
        raise TypeError(
            "whether an array of distances is squared can't be seen; give squared=True or squared=False, or what knn returned"
        )
    if squared and power == 1:
        raise ValueError("power is 1, of squared distances; search with squared=False")
    # Squares are the second power already.
    return library_of_values(distances).weights(distances, 1 if squared else power, eps)


def check_indices(indices: Any, rows: int) -> None:
    """Look for indices that are neither -1 nor one of so many rows. Waits for a GPU.

    On a GPU the operators give zeros for those and say nothing, since nothing there waits for the data.

    Parameters
    ----------
    indices : array of int64 or int32
        Of any shape.
    rows : int
        Rows of the values.

    Raises
    ------
    IndexError
        There are some; the text has how many, the first of them, and its place.
    TypeError
        Not whole numbers.

    Examples
    --------
    >>> import numpy, farpoint
    >>> farpoint.check_indices(numpy.array([[0, -1], [1, 2]]), 3)
    """
    rows = _arguments.integer(rows, "rows", 0)
    library_of_values(indices).check_indices(indices, rows)
