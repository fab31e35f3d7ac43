"""Replacement of the arrays that the transform ``GridSample`` of Pointcept computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._hash_order import drawn, hash_order

__all__ = ["grid_sample"]


def grid_sample(
    coord: Any, grid_size: Any = 0.05, hash_type: str = "fnv"
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return ``idx_unique``, ``idx_sort``, ``inverse``, ``count`` and ``grid_coord`` of coord (N, D).

    As the local variables of ``pointcept.datasets.transform.GridSample``: a random row of each voxel, drawn as
    ``mode="train"`` does; all rows, sorted by the hash of their voxel, of which ``mode="test"`` takes one of each voxel
    after another; the voxel of each row, by ascending hash, as in ``data_dict["inverse"]``; the number of points of each
    voxel; and the cell of each row, from the lowest on.

    Differs on purpose: rows of a voxel ascend in ``idx_sort``, where the original has an order of NumPy's sort; cells
    beyond 32 bits raise ValueError, and so do NaN and infinity.
    """
    order = hash_order(coord, grid_size, hash_type, from_lowest=True)
    return drawn(order), order.idx_sort, order.inverse, order.counts, order.cells
