"""Voxels of a cloud, and one point per voxel.

The voxel of a point is ``floor((p - lowest) / size)`` along each axis. Voxels are ordered by a hash of
their coordinates, as in OpenPoints, since some samplers depend on the order of points: starting from
14695981039346656037, for x, y, z in turn, ``h = h * 1099511628211 xor v``, in 64 bits. Points of a voxel keep the
order of their indices; OpenPoints' sort is not stable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Voxels", "choose", "draw", "hashes", "sub_cloud", "voxels"]

#: Initial value and factor of the hash, as signed 64-bit integers.
_FIRST = 14695981039346656037 - (1 << 64)
_FACTOR = 1099511628211
_SIGN = -(1 << 63)


class Voxels(NamedTuple):
    """Occupied voxels of a cloud of N points, padded beyond ``total`` to avoid synchronizing.

    Attributes
    ----------
    order : tensor of int64, (N,)
        Indices of the points, grouped by voxel.
    starts : tensor of int64, (N,)
        Start of each voxel in ``order``; N for padding.
    counts : tensor of int64, (N,)
        Number of points of each voxel; 0 for padding.
    total : tensor of int64, ()
        Number of occupied voxels.
    """

    order: Tensor
    starts: Tensor
    counts: Tensor
    total: Tensor

    def compact(self) -> Voxels:
        """Return the voxels without padding. Synchronizes a GPU."""
        total = int(self.total)
        return Voxels(self.order, self.starts[:total], self.counts[:total], self.total)


def hashes(cells: Tensor) -> Tensor:
    """Return the hash of each row of integers (N, 3), as int64 with the bits of the unsigned number."""
    result = torch.full_like(cells[:, 0], _FIRST)
    for axis in range(3):
        result = result * _FACTOR ^ cells[:, axis]
    return result


def voxels(points: Tensor, size: float) -> Voxels:
    """Find the voxels of a cloud.

    Parameters
    ----------
    points : tensor of float32, (N, 3)
        Coordinates, in any unit; N at least 1.
    size : float
        Edge length of a voxel, in the same unit. The division is in float32.

    Returns
    -------
    Voxels
        Voxels on the device of the points.
    """
    # Divided by a tensor: a GPU would multiply by the reciprocal of a number.
    edge = points.new_full((), size)
    cells = torch.floor((points - points.amin(dim=0)) / edge).long()
    # Unsigned numbers have the order of signed ones with the top bit flipped.
    keys, order = torch.sort(hashes(cells) ^ _SIGN, stable=True)
    first = torch.ones_like(keys, dtype=torch.bool)
    first[1:] = keys[1:] != keys[:-1]
    places = torch.arange(len(keys), device=keys.device)
    starts = torch.where(first, places, len(keys)).sort().values
    ends = torch.cat([starts[1:], starts.new_full((1,), len(keys))])
    return Voxels(order, starts, ends - starts, first.sum())


def choose(occupied: Voxels, state: np.random.RandomState) -> Tensor:
    """Choose a random point of each voxel, as in OpenPoints: ``randint(0, largest count) % count``.

    Parameters
    ----------
    occupied : Voxels
        Voxels without padding.
    state : numpy.random.RandomState
        Random state, ``RandomState(0)`` before the first scene of a dataset.

    Returns
    -------
    tensor of int64, (V,)
        Indices of points.
    """
    drawn = draw(state, int(occupied.counts.max()), len(occupied.counts))
    return occupied.order[occupied.starts + drawn.to(occupied.counts.device) % occupied.counts]


def draw(state: np.random.RandomState, fullest: int, voxels: int) -> Tensor:
    """Draw the numbers of ``choose`` for a scene with this number of voxels and of points in the fullest."""
    return torch.from_numpy(state.randint(0, fullest, voxels)).long()


def sub_cloud(occupied: Voxels, number: int) -> Tensor:
    """Return (V,) indices of one point per voxel, with this number modulo the voxel's count. Needs compact voxels.

    The clouds of all numbers below the largest count together contain all points.
    """
    return occupied.order[occupied.starts + number % occupied.counts]
