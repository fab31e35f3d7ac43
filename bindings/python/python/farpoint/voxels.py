"""Voxel downsampling: one point for the points of each occupied cell of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, overload

from . import _arguments
from ._arrays import library_of_values
from ._arrays.integer_arrays import lengths_of, listed
from ._records import Voxelization
from ._torch.lazy_torch import seed_of, untraced
from ._typing import ArrayT, IndexT, Integers, NamedTuple, NonFinite, Rows, Seed, subscriptable

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import FloatArray, Int64Array, VoxelOptions
    from .files import Cloud

__all__ = ["Voxels", "voxel_downsample"]


@subscriptable
class Voxels(NamedTuple, Generic[ArrayT, IndexT]):
    """Occupied voxels of a cloud, as returned by ``voxel_downsample``.

    For a padded batch all have an axis (B,) first, and voxels of clouds that have fewer are padded.

    Attributes
    ----------
    points : array, (K, D)
        Point that stands for each voxel: the mean of its points, or one of them. Padded with 0.
    counts : array of int64, (K,)
        Number of points of each voxel. Padded with 0.
    inverse : array of int64, (N,)
        Voxel of each point; -1 for points in none: non-finite rows, and those of voxels with too few points.
    indices : array of int64, (K,)
        Row of the point that stands for each voxel; of its first point, if that is the mean. Padded with -1.
    cells : array of int32, (K, D)
        Cell of each voxel, ``floor((p - origin) / size)``. Padded with 0.
    features : array, (K, C), or None
        Features of each voxel, if there are any.
    labels : array, (K,), or None
        Most frequent label of each voxel, the lowest among equals, if there are any. Padded with -1.
    offsets : array of int64, (B + 1,), or None
        For concatenated clouds, the first voxel of each, then the number of voxels.
    """

    points: ArrayT
    counts: IndexT
    inverse: IndexT
    indices: IndexT
    cells: Any
    features: Any = None
    labels: Any = None
    offsets: Any = None


@overload
def voxel_downsample(
    points: Rows | Cloud, size: float | Any, **options: Unpack[VoxelOptions]
) -> Voxels[FloatArray, Int64Array]: ...
@overload
def voxel_downsample(points: ArrayT, size: float | Any, **options: Unpack[VoxelOptions]) -> Voxels[ArrayT, ArrayT]: ...
@untraced
def voxel_downsample(
    points: Any,
    size: Any,
    *,
    reduce: Literal["mean", "first", "center", "random"] = "mean",
    features: Any = None,
    feature_reduce: Literal["mean", "max"] | None = None,
    labels: Any = None,
    origin: Any = None,
    sort: bool = False,
    min_points: int = 1,
    seed: Seed | None = None,
    lengths: Integers | None = None,
    offsets: Integers | None = None,
    threads: int | None = None,
    non_finite: NonFinite = "error",
) -> Voxels[Any, Any]:
    """Replace the points of each occupied voxel by one.

    The cell of a point is ``floor((p - origin) / size)`` on each axis, in the precision of the points. Voxels are
    numbered in the order of their first points. The result has the same bits for every run, machine and number of
    threads.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        A cloud or a batch of clouds, float32 or float64, D at least 1, in any unit; tensors of PyTorch on the CPU or a
        GPU, other arrays on the CPU.
    size : float or array of float, (D,)
        Edge length of a voxel, or one for each axis, in the unit of the coordinates.
    reduce : {"mean", "first", "center", "random"}, optional
        Point that stands for a voxel: the mean of its points, its first one, the one nearest to its center, or a
        random one. Means are summed in the order of the rows, in double precision, and rounded once.
    features : array, (N, C) or (N,), or (B, N, C), optional
        Features of the points. Those of a voxel are the mean over its points for ``reduce="mean"``, else those of the
        point that stands for it.
    feature_reduce : {"mean", "max"}, optional
        Features of a voxel, regardless of ``reduce``: the mean or the maximum over its points.
    labels : array of int, (N,) or (B, N), optional
        Labels of the points.
    origin : "min" or array of float, (D,), optional
        A corner of a voxel; "min" for the smallest coordinate of each axis. 0 on every axis unless set, so that clouds
        share their voxels.
    sort : bool, optional
        True to order voxels by cell, by the first axis, then the second, and so on.
    min_points : int, optional
        Voxels of fewer points are left out.
    seed : int or torch.Generator, optional
        Seed for ``reduce="random"``, 0 unless set. The point depends on the seed and the cell alone.
    lengths : array of int, (B,), optional
        Number of valid rows of each cloud of a batch (B, N, D); the rest is padding.
    offsets : array of int, (B + 1,), optional
        First row of each of several concatenated clouds (N, D), then N. Voxels are concatenated likewise.
    threads : int, optional
        Number of threads; all cores unless set.
    non_finite : {"error", "skip"}, optional
        "error": non-finite rows raise ValueError. "skip": they are left out.

    Returns
    -------
    Voxels
        In the library and on the device of ``points``. Synchronizes a GPU, since the number of voxels depends on the
        data. For tensors, ``points`` and ``features`` are differentiable.

    Raises
    ------
    ValueError
        NaN, a size that is not above 0, a cell beyond 32 bits, an option out of range, or incompatible shapes.
    TypeError
        Neither float32 nor float64, not an array, or an array on a GPU that is not PyTorch's.

    Notes
    -----
    Source: voxel grids as in PCL, Open3D and ``grid_cluster`` of PyG.

    Examples
    --------
    >>> import numpy, farpoint
    >>> voxels = farpoint.voxel_downsample(numpy.array([[0.25], [5.0], [0.75]]), 1.0, labels=numpy.array([7, 8, 7]))
    >>> voxels.points.tolist(), voxels.counts.tolist(), voxels.inverse.tolist(), voxels.labels.tolist()
    ([[0.5], [5.0]], [2, 1], [0, 1, 0], [7, 8])
    """
    if reduce not in ("mean", "first", "center", "random"):
        raise ValueError(f'reduce is {reduce!r}; it must be "mean", "first", "center" or "random"')
    if feature_reduce not in (None, "mean", "max"):
        raise ValueError(f'feature_reduce is {feature_reduce!r}; it must be "mean" or "max"')
    if non_finite not in ("error", "skip"):
        raise ValueError(f'non_finite is {non_finite!r}; it must be "error" or "skip"')
    request = Voxelization(
        _arguments.numbers(size, "size"), _origin(origin), reduce, _arguments.seed(seed_of(seed)) or 0, bool(sort),
        _arguments.integer(min_points, "min_points", 0, 2**32 - 1), lengths_of(lengths),
        None if offsets is None else listed(offsets, "offsets"), _arguments.threads(threads), non_finite == "skip",
    )
    library = library_of_values(points, features, labels)
    how = feature_reduce or ("mean" if reduce == "mean" else "pick")
    return Voxels(*library.voxels(points, request, features, how, labels))


def _origin(origin: Any) -> list[float] | None:
    """Returns the origin: None for 0, no numbers for the smallest coordinates."""
    if not isinstance(origin, str):
        return None if origin is None else _arguments.numbers(origin, "origin")
    if origin != "min":
        raise ValueError(f'origin is {origin!r}; it must be "min" or a point')
    return []
