"""Drop-in replacement for ``openpoints.models.layers.subsample``. Differs on purpose as
``furthest_point_sample``."""

from __future__ import annotations

import torch
from torch import Tensor

from .._batch import furthest_point_sample, gather_operation, refuse_shape
from ..pointnet2_ops.pointnet2_utils import FurthestPointSampling, GatherOperation

__all__ = [
    "FurthestPointSampling", "GatherOperation", "fps", "furthest_point_sample", "gather_operation",
    "random_sample",
]


def random_sample(xyz: Tensor, npoint: int) -> Tensor:
    """Draw int64 indices (B, npoint) of (B, N, 3) points from PyTorch's generator, with
    replacement."""
    refuse_shape("xyz", xyz, "B, N, 3")
    return torch.randint(0, xyz.shape[1], (len(xyz), npoint), device=xyz.device)


def fps(data: Tensor, number: int) -> Tensor:
    """Choose rows (B, number, C) of a (B, N, C) tensor whose first three channels are positions."""
    refuse_shape("data", data, "B, N, C")
    rows = furthest_point_sample(data[:, :, :3], number).long()
    return data.gather(1, rows.unsqueeze(-1).expand(-1, -1, data.shape[-1]))
