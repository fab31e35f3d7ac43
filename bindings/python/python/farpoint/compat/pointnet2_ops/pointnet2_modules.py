"""In place of ``pointnet2_ops.pointnet2_modules``: layers of PointNet++.

Parameters and names in ``state_dict`` are the original's, so that checkpoints load. Differs on purpose:
the lists of channels that are given are not changed (the original adds 3 to their first entry, again
for each layer that they are given to), and ``PointnetFPModule`` works without known points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from .._modules import FeaturePropagation, SetAbstraction, shared_mlp
from . import pointnet2_utils

__all__ = ["PointnetFPModule", "PointnetSAModule", "PointnetSAModuleMSG", "build_shared_mlp"]


def build_shared_mlp(mlp_spec: list[int], bn: bool = True) -> nn.Sequential:
    """Channels, whether to normalize batches -> layers of Conv2d, BatchNorm2d and ReLU."""
    return shared_mlp(mlp_spec, bn, True)


class PointnetSAModuleMSG(SetAbstraction):
    """Set abstraction at several scales.

    Parameters
    ----------
    npoint:
        Number of centers; None for one group of all points.
    radii, nsamples, mlps:
        Radius, points and channels of each scale; the first channel is that of the features.
    bn:
        Normalize batches; else convolutions have a bias.
    use_xyz:
        Put relative positions before the features.
    pool_method:
        "max_pool", or "avg_pool" as OpenPCDet has it.

    Called with (B, N, 3) points and (B, C, N) features or None: centers (B, npoint, 3), or None for one
    group of all; and features (B, sum of the last channels, npoint). Centers can be given as
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
    """Feature propagation: channels ``mlp``, and whether to normalize batches.

    Called with (B, n, 3) unknown and (B, m, 3) known points, (B, C1, n) features or None, and (B, C2,
    m):
    (B, mlp[-1], n). The sums of weights are added in the order of the neighbors.
    """

    def __init__(self, mlp: Sequence[int], bn: bool = True) -> None:
        super().__init__(mlp, bn, True)
