"""Drop-in replacement for ``openpoints.models.layers.upsampling``. Differs on purpose as the functions of
``farpoint.compat.pointnet2_ops``."""

from __future__ import annotations

from torch import Tensor

from ...operators import inverse_distance_weights
from .._batch import three_interpolate, three_nn
from ..pointnet2_ops.pointnet2_utils import ThreeInterpolate, ThreeNN

__all__ = ["ThreeInterpolate", "ThreeNN", "three_interpolate", "three_interpolation", "three_nn"]


def three_interpolation(unknown_xyz: Tensor, known_xyz: Tensor, know_feat: Tensor) -> Tensor:
    """Interpolate (B, C, m) features of (B, m, 3) points at (B, n, 3) points to (B, C, n): the features of the three
    nearest known points, weighted by 1 / (distance + 1e-8)."""
    distances, idx = three_nn(unknown_xyz, known_xyz)
    return three_interpolate(know_feat, idx, inverse_distance_weights(distances, 1, squared=False))
