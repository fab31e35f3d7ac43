"""Voxels: which points share one, and a point of each.

The voxel of a point is ``floor((p - lowest) / size)`` along each axis. Voxels come in the order of a hash of
their coordinates, as in OpenPoints, since some samplers depend on the order of points: from 14695981039346656037
on, for x, y, z in turn, ``h = h * 1099511628211 xor v``, in 64 bits. Points of a voxel keep the order of their
indices; OpenPoints' sort is not stable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Voxels", "choose", "draw", "hashes", "sub_cloud", "voxels"]

#: The first value and the factor of the hash, as signed numbers of 64 bits.
_FIRST = 14695981039346656037 - (1 << 64)
_FACTOR = 1099511628211
_SIGN = -(1 << 63)


class Voxels(NamedTuple):
    """Occupied voxels of a cloud of N points. Nothing here waits for a GPU: places beyond ``total`` are left over.

    Attributes
    ----------
    order : tensor of int64, (N,)
        Indices of the points, those of a voxel after those of the last.
    starts : tensor of int64, (N,)
        Where in ``order`` a voxel begins; N in places left over.
    counts : tensor of int64, (N,)
        Points of a voxel; 0 in places left over.
    total : tensor of int64, ()
        Voxels that have points.
    """

    order: Tensor
    starts: Tensor
    counts: Tensor
    total: Tensor

    def compact(self) -> Voxels:
        """Without places left over. Waits for a GPU."""
        total = int(self.total)
        return Voxels(self.order, self.starts[:total], self.counts[:total], self.total)


def hashes(cells: Tensor) -> Tensor:
    """The hash of each row of whole numbers (N, 3): int64 that stands for the unsigned number of the same bits."""
    found = torch.full_like(cells[:, 0], _FIRST)
    for axis in range(3):
        found = found * _FACTOR ^ cells[:, axis]
    return found


def voxels(points: Tensor, size: float) -> Voxels:
    """Find the voxels of a cloud.

    Parameters
    ----------
    points : tensor of float32, (N, 3)
        Coordinates, in any unit; N at least 1.
    size : float
        Edge of a voxel, in the same unit. The division is that of float32.

    Returns
    -------
    Voxels
        On the device of the points.
    """
    # Divided by a tensor: a GPU would multiply by the inverse of a number.
    edge = points.new_full((), size)
    cells = torch.floor((points - points.amin(dim=0)) / edge).long()
    # Unsigned numbers are in the order of signed ones with the first bit flipped.
    keys, order = torch.sort(hashes(cells) ^ _SIGN, stable=True)
    first = torch.ones_like(keys, dtype=torch.bool)
    first[1:] = keys[1:] != keys[:-1]
    places = torch.arange(len(keys), device=keys.device)
    starts = torch.where(first, places, len(keys)).sort().values
    ends = torch.cat([starts[1:], starts.new_full((1,), len(keys))])
    return Voxels(order, starts, ends - starts, first.sum())


def choose(found: Voxels, state: np.random.RandomState) -> Tensor:
    """A random point of each voxel, as OpenPoints draws it: ``randint(0, largest count) % count``.

    Parameters
    ----------
    found : Voxels
        Compact ones.
    state : numpy.random.RandomState
        ``RandomState(0)`` before the first scene of a set.

    Returns
    -------
    tensor of int64, (V,)
        Indices of points.
    """
    drawn = draw(state, int(found.counts.max()), len(found.counts))
    return found.order[found.starts + drawn.to(found.counts.device) % found.counts]


def draw(state: np.random.RandomState, fullest: int, voxels: int) -> Tensor:
    """The numbers that ``choose`` draws for a scene of so many voxels, of which the fullest has so many points."""
    return torch.from_numpy(state.randint(0, fullest, voxels)).long()


def sub_cloud(found: Voxels, number: int) -> Tensor:
    """A point of each voxel, the one of this number modulo the voxel's count: (V,) indices. Of compact voxels.

    The clouds of the numbers below the largest count have all points together.
    """
    return found.order[found.starts + number % found.counts]
