"""In place of ``pointnet2_ops.pointnet2_utils`` and its kin in OpenPCDet, mmcv, openpoints and
Pointcept: farthest point sampling, and the gathering that goes with it.

Ball queries, grouping and interpolation are not here: import those from where they were.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..sampling import sample, sample_ragged
from ._common import ends, refuse_beyond_int32, whole

__all__ = [
    "FurthestPointSampling", "farthest_point_sample", "farthest_point_sampling",
    "furthest_point_sample", "gather_operation", "stack_farthest_point_sample",
]


def furthest_point_sample(xyz: Tensor, npoint: int, /) -> Tensor:
    """(B, N, 3) float32 tensor, number of points -> indices (B, npoint), int32, from point 0 on.

    As ``pointnet2_ops.pointnet2_utils.furthest_point_sample``, ``mmcv.ops.furthest_point_sample``,
    OpenPCDet's and openpoints' functions of that name. Differs on purpose: points near the origin
    are not skipped (pointnet2_ops skips |p|^2 <= 1e-3), coordinates may span more than 1e5, ties go
    to the lowest index and not to the lowest thread, so that a result may part from theirs after
    some hundred points of equal distance; float64, other numbers of coordinates, strides and the
    CPU are allowed; npoint above N is a ValueError, where they repeat points.
    """
    refuse_beyond_int32(xyz)
    rows: Tensor = sample(xyz, npoint)
    return rows.to(torch.int32)


farthest_point_sample = furthest_point_sample


class FurthestPointSampling:
    """For code that calls ``FurthestPointSampling.apply(xyz, npoint)``."""

    @staticmethod
    def apply(xyz: Tensor, npoint: int, /) -> Tensor:
        return furthest_point_sample(xyz, npoint)


def stack_farthest_point_sample(xyz: Tensor, xyz_batch_cnt: Tensor, npoint: Any) -> Tensor:
    """(N1 + N2 + .., 3) tensor, (B,) points of each cloud, points wanted of each (an int, a list
    or a tensor) -> rows of xyz, int32, one cloud after another.

    As OpenPCDet's ``pointnet2_stack_utils.stack_farthest_point_sample``. Differs as
    ``furthest_point_sample``. Waits for a GPU that has the counts, as the original does.
    """
    refuse_beyond_int32(xyz)
    counts = whole(xyz_batch_cnt)
    wanted = [int(npoint)] * len(counts) if isinstance(npoint, int) else whole(npoint)
    return sample_ragged(xyz, ends(counts), wanted).to(torch.int32)


def farthest_point_sampling(xyz: Tensor, offset: Tensor, new_offset: Tensor) -> Tensor:
    """(N, 3) tensor, (B,) end of each cloud, (B,) end of each cloud's samples -> rows of xyz,
    int32.

    As Pointcept's ``pointops.farthest_point_sampling``. Differs as ``furthest_point_sample``; waits
    for a GPU that has the offsets, as the original does.
    """
    refuse_beyond_int32(xyz)
    new_ends = [0, *whole(new_offset)]
    counts = [end - begin for begin, end in zip(new_ends, new_ends[1:])]
    return sample_ragged(xyz, [0, *whole(offset)], counts).to(torch.int32)


def gather_operation(features: Tensor, idx: Tensor, /) -> Tensor:
    """(B, C, N) features, (B, M) indices -> (B, C, M). Can be differentiated.

    As ``pointnet2_ops.pointnet2_utils.gather_operation``; any index type and device.
    """
    return features.gather(2, idx.long().unsqueeze(1).expand(-1, features.shape[1], -1))
