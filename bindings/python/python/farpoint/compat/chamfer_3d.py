"""In place of ChamferDistancePytorch (``chamfer3D.dist_chamfer_3D``, ``chamfer_3DDist``)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..neighbors import nearest_both
from ._common import refuse_beyond_int32, refuse_single

__all__ = ["chamfer_3DDist", "chamfer_3DFunction"]


def _distances(xyz1: Tensor, xyz2: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(B, N, 3) and (B, M, 3) tensors -> squared distances (B, N) and (B, M) of each point to its
    nearest of the other cloud, and that point's index, int32."""
    refuse_beyond_int32(xyz1)
    refuse_beyond_int32(xyz2)
    refuse_single(xyz1, xyz2)
    (dist1, idx1), (dist2, idx2) = nearest_both(xyz1, xyz2)
    return dist1, dist2, idx1.to(torch.int32), idx2.to(torch.int32)


class chamfer_3DFunction:
    """For code that calls ``chamfer_3DFunction.apply(xyz1, xyz2)``."""

    @staticmethod
    def apply(xyz1: Tensor, xyz2: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return _distances(xyz1, xyz2)


class chamfer_3DDist(nn.Module):
    """``dist1, dist2, idx1, idx2 = chamfer_3DDist()(points1, points2)``.

    points1 (B, N, 3) and points2 (B, M, 3), float32 -> squared distances (B, N) and (B, M), which can be
    differentiated, and indices of the nearest points, int32. Differs on purpose: inputs are not
    made contiguous or moved to the GPU, gradients are the same bits on every run, ties go to the
    lowest index; float64, any number of coordinates and the CPU are allowed, and float16 and
    bfloat16, whose distances are float32.
    """

    def forward(self, input1: Tensor, input2: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return _distances(input1, input2)
