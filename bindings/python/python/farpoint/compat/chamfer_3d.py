"""Drop-in replacement for ChamferDistancePytorch, whose modules are also available under their own names:

    import chamfer3D.dist_chamfer_3D, fscore    ->    from farpoint.compat import chamfer3D, fscore
    from chamfer3D import dist_chamfer_3D       ->    from farpoint.compat.chamfer3D import dist_chamfer_3D

and likewise ``chamfer2D``, ``chamfer5D`` and ``chamfer6D``. All differ on purpose: inputs are not made
contiguous or moved to the GPU, gradients have the same bits on every run, ties go to the lowest index;
float64, any number of coordinates and the CPU are supported, and float16 and bfloat16,
with float32 distances. Arrays raise TypeError. NaN and infinity raise ValueError on the CPU; on a GPU
such points are infinitely far from all others, and ``farpoint.check`` finds them. Empty clouds raise
ValueError on the CPU.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..matching import nearest_both
from ._common import refuse_beyond_int32, refuse_single
from ._tensors import require

__all__ = [
    "chamfer_2DDist", "chamfer_2DFunction", "chamfer_3DDist", "chamfer_3DFunction", "chamfer_5DDist",
    "chamfer_5DFunction", "chamfer_6DDist", "chamfer_6DFunction", "fscore",
]


def _distances(xyz1: Tensor, xyz2: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Returns the squared distances (B, N) and (B, M) of the points of (B, N, D) and (B, M, D) tensors to their
    nearest neighbors in the other cloud, and the int32 indices of these."""
    require(xyz1=xyz1, xyz2=xyz2)
    refuse_beyond_int32(xyz1)
    refuse_beyond_int32(xyz2)
    refuse_single(xyz1, xyz2)
    (dist1, idx1), (dist2, idx2) = nearest_both(xyz1, xyz2)
    return dist1, dist2, idx1.to(torch.int32), idx2.to(torch.int32)


class chamfer_3DFunction:
    """Class for code that calls ``chamfer_3DFunction.apply(xyz1, xyz2)``."""

    @staticmethod
    def apply(xyz1: Tensor, xyz2: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return _distances(xyz1, xyz2)


class chamfer_3DDist(nn.Module):
    """Chamfer distances: ``dist1, dist2, idx1, idx2 = chamfer_3DDist()(points1, points2)``.

    From points1 (B, N, 3) and points2 (B, M, 3) it returns squared distances (B, N) and (B, M), which are
    differentiable, and int32 indices of the nearest points. Differs on purpose as stated for the module.
    """

    def forward(self, input1: Tensor, input2: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return _distances(input1, input2)


class chamfer_2DFunction(chamfer_3DFunction):
    """Class for code that calls ``chamfer_2DFunction.apply(xyz1, xyz2)``."""


class chamfer_5DFunction(chamfer_3DFunction):
    """Class for code that calls ``chamfer_5DFunction.apply(xyz1, xyz2)``."""


class chamfer_6DFunction(chamfer_3DFunction):
    """Class for code that calls ``chamfer_6DFunction.apply(xyz1, xyz2)``."""


class chamfer_2DDist(chamfer_3DDist):
    """``chamfer_3DDist`` for (B, N, 2) and (B, M, 2) points."""


class chamfer_5DDist(chamfer_3DDist):
    """``chamfer_3DDist`` for (B, N, 5) and (B, M, 5) points."""


class chamfer_6DDist(chamfer_3DDist):
    """``chamfer_3DDist`` for (B, N, 6) and (B, M, 6) points."""


def fscore(
    dist1: Tensor, dist2: Tensor, threshold: float = 0.001
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the F-score (B,) from squared distances (B, N) and (B, M) of ``chamfer_3DDist``, and the
    fractions of each below the threshold, which is a squared distance, too; float32, without a gradient.

    As ``fscore.fscore``: the score is 0 if no distance is below the threshold. Differs on purpose:
    arrays raise TypeError. NaN, as for points with NaN on a GPU, is not below it, as in the original.
    """
    require(dist1=dist1, dist2=dist2)
    shares = [(distances < threshold).float().mean(dim=1) for distances in (dist1, dist2)]
    score = 2 * shares[0] * shares[1] / (shares[0] + shares[1])
    return score.nan_to_num(nan=0.0), shares[0], shares[1]
