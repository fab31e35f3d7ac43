"""Drop-in replacement for ``pointnet2_ops.pointnet2_modules``: layers of PointNet++.

Parameters and names in ``state_dict`` are the original's, so that checkpoints load. Differs on purpose:
lists of channels are not modified (the original adds 3 to their first entry, again
for each layer), and ``PointnetFPModule`` works without known points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from .._modules import FeaturePropagation, SetAbstraction, shared_mlp
from . import pointnet2_utils

__all__ = ["PointnetFPModule", "PointnetSAModule", "PointnetSAModuleMSG", "build_shared_mlp"]


def build_shared_mlp(mlp_spec: list[int], bn: bool = True) -> nn.Sequential:
    """Build layers of Conv2d, BatchNorm2d (if ``bn``) and ReLU from a list of channels."""
    return shared_mlp(mlp_spec, bn, True)


class PointnetSAModuleMSG(SetAbstraction):
    """Set abstraction at several scales.

    Parameters
    ----------
    npoint:
        Number of centers; None for one group of all points.
    radii, nsamples, mlps:
        Radius, number of points and channels of each scale; the first channel is that of the features.
    bn:
        Use batch normalization; else convolutions have a bias.
    use_xyz:
        Prepend relative positions to the features.
    pool_method:
        "max_pool", or "avg_pool" as in OpenPCDet.

    Called with (B, N, 3) points and (B, C, N) features or None, it returns centers (B, npoint, 3), or None for one
    group of all points, and features (B, sum of the last channels, npoint). Centers can be passed as
    ``new_xyz``.
    """

    def __init__(
        self, npoint: int | None, radii: Sequence[Any], nsamples: Sequence[Any],
        mlps: Sequence[Sequence[int]], bn: bool = True, use_xyz: bool = True,
        pool_method: str = "max_pool",
    ) -> None:
        super().__init__(
            npoint, radii, nsamples, mlps, bn, use_xyz, pool_method, True, pointnet2_utils.QueryAndGroup
        )


class PointnetSAModule(PointnetSAModuleMSG):
    """Set abstraction at one scale; see ``PointnetSAModuleMSG``."""

    def __init__(
        self, mlp: Sequence[int], npoint: int | None = None, radius: float | None = None,
        nsample: int | None = None, bn: bool = True, use_xyz: bool = True,
        pool_method: str = "max_pool",
    ) -> None:
        super().__init__(npoint, [radius], [nsample], [mlp], bn, use_xyz, pool_method)


class PointnetFPModule(FeaturePropagation):
    """Feature propagation with channels ``mlp`` and optional batch normalization.

    Called with (B, n, 3) unknown and (B, m, 3) known points, (B, C1, n) features or None, and (B, C2,
    m) features, it returns (B, mlp[-1], n). Weights are summed in the order of the neighbors.
    """

    def __init__(self, mlp: Sequence[int], bn: bool = True) -> None:
        super().__init__(mlp, bn, True)
