"""Drop-in replacement for ``pcdet.ops.pointnet2.pointnet2_batch.pointnet2_modules``: layers of PointNet++.

Parameters and names in ``state_dict`` are the original's, so that checkpoints load: ``bn`` is accepted and
ignored, since batches are always normalized there. Differs on purpose: lists of channels are not
modified, where the original adds 3 to their first entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._modules import FeaturePropagation, SetAbstraction
from . import pointnet2_utils

__all__ = ["PointnetFPModule", "PointnetSAModule", "PointnetSAModuleMSG"]


class PointnetSAModuleMSG(SetAbstraction):
    """Set abstraction at several scales, called with (B, N, 3) points, (B, C, N) features or None, and
    optional centers (B, npoint, 3), which are sampled by default. Returns centers, and features (B, sum of the last
    channels, npoint).

    Parameters as for ``farpoint.compat.pointnet2_ops.PointnetSAModuleMSG``, all by name.
    """

    def __init__(
        self, *, npoint: int | None, radii: Sequence[Any], nsamples: Sequence[Any],
        mlps: Sequence[Sequence[int]], bn: bool = True, use_xyz: bool = True,
        pool_method: str = "max_pool",
    ) -> None:
        grouper = pointnet2_utils.QueryAndGroup
        super().__init__(npoint, radii, nsamples, mlps, True, use_xyz, pool_method, False, grouper)


class PointnetSAModule(PointnetSAModuleMSG):
    """Set abstraction at one scale; see ``PointnetSAModuleMSG``."""

    def __init__(
        self, *, mlp: Sequence[int], npoint: int | None = None, radius: float | None = None,
        nsample: int | None = None, bn: bool = True, use_xyz: bool = True,
        pool_method: str = "max_pool",
    ) -> None:
        super().__init__(
            npoint=npoint, radii=[radius], nsamples=[nsample], mlps=[mlp], bn=bn, use_xyz=use_xyz,
            pool_method=pool_method,
        )


class PointnetFPModule(FeaturePropagation):
    """Feature propagation; see ``farpoint.compat.pointnet2_ops.PointnetFPModule``."""

    def __init__(self, *, mlp: Sequence[int], bn: bool = True) -> None:
        super().__init__(mlp, True, False)
