"""Coordinates of arrays and of blocks of Ray datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["points_of"]

#: Default names of the axes.
_AXES = ("x", "y", "z")


def points_of(block: Any, columns: Sequence[str] | None) -> NDArray[Any]:
    """Returns the coordinates (N, D) of an array or a block, float32 or float64.

    Raises
    ------
    TypeError
        The columns do not exist, or are not coordinates.
    """
    if not isinstance(block, np.ndarray):
        from ray.data.block import BlockAccessor

        block = _chosen(BlockAccessor.for_block(block).to_numpy(), columns)
    points = np.asarray(block)
    if points.dtype == object and len(points):
        points = np.stack(list(points))
    if points.ndim != 2 or points.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"points must be an array (N, D) of float32 or float64, not one of shape {points.shape}, {points.dtype}"
        )
    return points


def _chosen(table: Any, columns: Sequence[str] | None) -> NDArray[Any]:
    """Returns the columns with coordinates; a single column is an (N, D) array."""
    if not isinstance(table, dict):
        return np.asarray(table)
    available = list(table)
    names = list(columns) if columns is not None else [name for name in _AXES if name in table]
    if columns is None and not names and len(available) == 1:
        return np.asarray(table[available[0]])
    if not names or any(name not in table for name in names):
        required = "x, y and z, or a single one of arrays (D,)" if columns is None else ", ".join(names)
        raise TypeError(f"the data set must have the columns {required}; it has {', '.join(available)}")
    coordinates = [np.asarray(table[name]) for name in names]
    if len(coordinates) == 1 and coordinates[0].ndim == 2:
        return coordinates[0]
    types = {values.dtype for values in coordinates}
    if any(dtype not in (np.float32, np.float64) for dtype in types):
        listed = ", ".join(f"{name}: {values.dtype}" for name, values in zip(names, coordinates, strict=True))
        raise TypeError(f"coordinates must be float32 or float64, not {listed}")
    return np.stack(coordinates, axis=1)
