"""Voxels of arrays in host memory, and reductions of values by voxel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _native
from .._records import Voxelization
from .conversion import like, name, native, points_of, to_numpy
from .integer_arrays import integers
from .numpy_operators import gather

#: Dtypes that can be averaged.
_FLOATS = (np.float32, np.float64, np.float16)


class Found(NamedTuple):
    """Voxels of a cloud, of a padded batch, or of concatenated clouds."""

    points: np.ndarray
    counts: np.ndarray
    inverse: np.ndarray
    indices: np.ndarray
    cells: np.ndarray
    #: First voxel of each of several concatenated clouds, then the number of voxels.
    offsets: np.ndarray | None = None


def voxels(points: Any, request: Voxelization, features: Any, how: str, labels: Any) -> tuple[Any, ...]:
    """Returns the fields of ``Voxels``."""
    found = find(points_of(points), request)
    of_features = of_labels = None
    if features is not None:
        values = native(to_numpy(features))
        of_features = like(reduced(values, found, how, request.threads), features)
    if labels is not None:
        of_labels = like(most_frequent(labels, found, request.threads), labels)
    arrays = [like(array, points) for array in found[:5]]
    offsets = None if found.offsets is None else like(found.offsets, points)
    return (*arrays, of_features, of_labels, offsets)


def find(points: np.ndarray, request: Voxelization) -> Found:
    """Returns the voxels of points (N, D) or (B, N, D)."""
    clouds = [Found(coordinates, counts, inverse, rows, cells) for inverse, counts, rows, coordinates, cells in
              _native.voxels(points, request)]
    if request.offsets is not None:
        return _concatenated(clouds, request.offsets, points)
    if points.ndim == 2:
        return clouds[0]
    size = max((len(cloud.counts) for cloud in clouds), default=0)
    of_voxels, axes = (len(clouds), size), points.shape[2]
    padded = Found(
        np.zeros((*of_voxels, axes), points.dtype), np.zeros(of_voxels, np.int64),
        np.full(points.shape[:2], -1, np.int64), np.full(of_voxels, -1, np.int64),
        np.zeros((*of_voxels, axes), np.int32),
    )
    for k, cloud in enumerate(clouds):
        for target, array in zip(padded[:5], cloud[:5]):
            target[k, : len(array)] = array
    return padded


def _concatenated(clouds: list[Found], offsets: list[int], points: np.ndarray) -> Found:
    """Returns the voxels of all clouds, numbered one cloud after another."""
    ends = np.cumsum([0, *[len(cloud.counts) for cloud in clouds]], dtype=np.int64)
    shifted = [
        cloud._replace(
            inverse=np.where(cloud.inverse < 0, -1, cloud.inverse + first_voxel), indices=cloud.indices + first_row
        )
        for cloud, first_voxel, first_row in zip(clouds, ends, offsets)
    ]
    if not shifted:
        none = np.zeros(0, np.int64)
        axes = (0, points.shape[1])
        return Found(np.zeros(axes, points.dtype), none, none, none, np.zeros(axes, np.int32), ends)
    joined = [np.concatenate(arrays) for arrays in zip(*[cloud[:5] for cloud in shifted])]
    return Found(*joined)._replace(offsets=ends)


def reduced(values: np.ndarray, found: Found, how: str, threads: int | None) -> np.ndarray:
    """Returns the values of each voxel: their "mean" or "max", or those of the chosen rows by "pick"."""
    if values.ndim == found.inverse.ndim:
        alone: np.ndarray = reduced(values[..., np.newaxis], found, how, threads)[..., 0]
        return alone
    check_values(values, found.inverse)
    if how == "pick":
        picked: np.ndarray = gather(values, found.indices, threads)
        return picked
    if values.dtype not in _FLOATS:
        raise TypeError(
            f"features must be float16, float32 or float64 for a mean or maximum, not {values.dtype}; convert them"
        )
    # Halves are rounded once, from double precision.
    wide = values.astype(np.float64) if values.dtype == np.float16 else values
    sizes = sizes_of(wide, found)
    rows, wide = np.ascontiguousarray(found.inverse), np.ascontiguousarray(wide)
    if how == "mean":
        result = _native.values_scatter_mean(sizes, wide, rows, threads)
    else:
        result, _ = _native.values_scatter_max(sizes, wide, rows, threads)
    return result.reshape(*found.counts.shape, wide.shape[-1]).astype(values.dtype, copy=False)


def most_frequent(labels: Any, found: Found, threads: int | None) -> np.ndarray:
    """Returns the most frequent label of each voxel, -1 for padding."""
    of = integers(labels, "labels")
    if of.shape != found.inverse.shape:
        raise ValueError(f"labels must be of shape {found.inverse.shape}, as the points, not {of.shape}")
    sizes, rows = sizes_of(of[..., np.newaxis], found), np.ascontiguousarray(found.inverse)
    result = _native.values_scatter_mode(sizes, np.ascontiguousarray(of), rows, -1, threads)
    return result.reshape(found.counts.shape)


def sizes_of(values: Any, found: Any) -> tuple[int, int, int, int, int]:
    """Returns the number of clouds, voxels, points, 1 and channels, for the compiled module."""
    clouds = values.shape[0] if len(values.shape) == 3 else 1
    return (clouds, found.counts.shape[-1], values.shape[-2], 1, values.shape[-1])


def check_values(values: Any, inverse: Any) -> None:
    """Raises unless there is a row of values for each point."""
    if tuple(values.shape[:-1]) != tuple(inverse.shape):
        raise ValueError(
            f"features must have a row for each point, {tuple(inverse.shape)}, and be not of shape "
            f"{tuple(values.shape)} ({name(values)})"
        )
