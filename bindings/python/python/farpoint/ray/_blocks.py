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
    names = list(table)
    wanted = list(columns) if columns is not None else [name for name in _AXES if name in table]
    if columns is None and not wanted and len(names) == 1:
        return np.asarray(table[names[0]])
    if not wanted or any(name not in table for name in wanted):
        named = "x, y and z, or a single one of arrays (D,)" if columns is None else ", ".join(wanted)
        raise TypeError(f"the data set must have the columns {named}; it has {', '.join(names)}")
    several = [np.asarray(table[name]) for name in wanted]
    if len(several) == 1 and several[0].ndim == 2:
        return several[0]
    types = {values.dtype for values in several}
    if any(dtype not in (np.float32, np.float64) for dtype in types):
        found = ", ".join(f"{name}: {values.dtype}" for name, values in zip(wanted, several, strict=True))
        raise TypeError(f"coordinates must be float32 or float64, not {found}")
    return np.stack(several, axis=1)
