"""Voxels in the order of the hashes of their cells, as the data sets of OpenPoints and Pointcept sort them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..voxels import voxel_downsample

_OFFSET, _PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)


class HashOrder(NamedTuple):
    """Points sorted by the hash of their cell."""

    #: (N,) rows of the points, by voxel, ascending in each.
    idx_sort: np.ndarray
    #: (N,) voxel of each point, voxels numbered by ascending hash.
    inverse: np.ndarray
    #: (K,) number of points of each voxel.
    counts: np.ndarray
    #: (N, D) cell of each point, from 0 on if cells are counted from the lowest.
    cells: np.ndarray


def hash_order(coord: Any, size: Any, hash_type: str, from_lowest: bool) -> HashOrder:
    """Returns points in the order of "fnv" or, with any other ``hash_type``, "ravel" hashes of their cells, which are
    counted from the lowest cell if requested."""
    coord = np.asarray(coord)
    # As the division of the original: by NumPy's rules, which differ by version for a size alone.
    kind = np.true_divide(coord[:0], np.array(size)).dtype
    voxels = voxel_downsample(coord.astype(kind, copy=False), size)
    cells = voxels.cells.astype(np.int64)
    if from_lowest and len(cells):
        cells -= cells.min(0)
    keys = _fnv(cells) if hash_type == "fnv" else _ravel(cells)
    # Cells of equal hashes are one voxel, as in the original.
    _, rank = np.unique(keys, return_inverse=True)
    inverse = rank.reshape(-1)[voxels.inverse]
    return HashOrder(np.argsort(inverse, kind="stable"), inverse, np.bincount(inverse), cells[voxels.inverse])


def _fnv(cells: np.ndarray) -> np.ndarray:
    """Returns 64-bit FNV-1 hashes of rows."""
    hashes = np.full(len(cells), _OFFSET)
    for axis in cells.astype(np.uint64).T:
        hashes = (hashes * _PRIME) ^ axis
    return hashes


def _ravel(cells: np.ndarray) -> np.ndarray:
    """Returns the places of rows in the box around them, the last axis varying fastest."""
    if not len(cells):
        return np.zeros(0, np.uint64)
    from_zero = (cells - cells.min(0)).astype(np.uint64)
    places = np.zeros(len(cells), np.uint64)
    for axis in from_zero.T:
        places = places * (axis.max() + np.uint64(1)) + axis
    return places


def drawn(order: HashOrder) -> np.ndarray:
    """Returns a row of each voxel, drawn by the global state of NumPy as the original does."""
    if not len(order.counts):
        return order.idx_sort
    starts = np.cumsum(order.counts) - order.counts
    picked: np.ndarray = order.idx_sort[starts + np.random.randint(0, order.counts.max(), order.counts.size) % order.counts]
    return picked
