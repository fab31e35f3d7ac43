"""Replacement of ``voxelize`` of ``openpoints.dataset.data_util``."""

from __future__ import annotations

from typing import Any

from .._hash_order import drawn, hash_order

__all__ = ["voxelize"]


def voxelize(coord: Any, voxel_size: Any = 0.05, hash_type: str = "fnv", mode: int = 0) -> Any:
    """Choose a random row of coord (N, D) in each voxel, in the order of the voxels' hashes, with ``mode=0``. With any
    other, return the rows sorted by hash, the voxel of each in that order, and the number of points of each voxel.

    As ``openpoints.dataset.data_util.voxelize``, from NumPy arrays. Differs on purpose: rows of a voxel ascend, where the
    original has an order of NumPy's sort; cells beyond 32 bits raise ValueError, and so do NaN and infinity.
    """
    order = hash_order(coord, voxel_size, hash_type, from_lowest=False)
    if mode == 0:
        return drawn(order)
    return order.idx_sort, order.inverse[order.idx_sort], order.counts
