"""Drop-in replacement for ``pcdet.ops.pointnet2.pointnet2_stack.pointnet2_modules``: layers for concatenated
clouds.

Parameters, their initialization and their names in ``state_dict`` are the original's, so that checkpoints
load. Differs on purpose: lists of channels are not modified.
``VectorPoolAggregationModule`` and ``VectorPoolAggregationModuleMSG`` are not included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ...operators import inverse_distance_weights
from .._modules import pooled, shared_mlp, widened
from .pointnet2_utils import QueryAndGroup, three_interpolate, three_nn

__all__ = ["StackPointnetFPModule", "StackSAModuleMSG", "build_local_aggregation_module"]


def build_local_aggregation_module(input_channels: int, config: Any) -> tuple[nn.Module, int]:
    """Build the layer for input channels and a configuration (``NAME``, ``MLPS``, ``POOL_RADIUS``, ``NSAMPLE``); return
    it and its number of output channels. ``NAME`` must be "StackSAModuleMSG"; MLPS of the configuration
    is not modified."""
    name = config.get("NAME", "StackSAModuleMSG")
    if name != "StackSAModuleMSG":
        raise NotImplementedError(f"{name} is not here; import it from OpenPCDet")
    mlps = [[input_channels, *channels] for channels in config["MLPS"]]
    layer = StackSAModuleMSG(
        radii=config["POOL_RADIUS"], nsamples=config["NSAMPLE"], mlps=mlps, use_xyz=True,
        pool_method="max_pool",
    )
    return layer, sum(channels[-1] for channels in mlps)


class StackSAModuleMSG(nn.Module):
    """Set abstraction at several scales around centers passed by the caller.

    Parameters
    ----------
    radii, nsamples, mlps:
        Radius, number of points and channels of each scale; the first channel is that of the features.
    use_xyz:
        Prepend relative positions to the features.
    pool_method:
        "max_pool" or "avg_pool".
    """

    def __init__(
        self, *, radii: Sequence[float], nsamples: Sequence[int], mlps: Sequence[Sequence[int]],
        use_xyz: bool = True, pool_method: str = "max_pool",
    ) -> None:
        super().__init__()
        if not len(radii) == len(nsamples) == len(mlps):
            raise ValueError(
                f"{len(radii)} radii, {len(nsamples)} nsamples and {len(mlps)} mlps; there must be as "
                "many of each"
            )
        self.groupers, self.mlps = nn.ModuleList(), nn.ModuleList()
        for radius, nsample, channels in zip(radii, nsamples, mlps):
            self.groupers.append(QueryAndGroup(radius, nsample, use_xyz=use_xyz))
            self.mlps.append(shared_mlp(widened(channels, use_xyz), True, False))
        self.pool_method = pool_method
        self.init_weights()

    def init_weights(self) -> None:
        """Initialize convolutions with Kaiming weights and normalization as the identity."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)

    def forward(
        self, xyz: Tensor, xyz_batch_cnt: Tensor, new_xyz: Tensor, new_xyz_batch_cnt: Tensor,
        features: Tensor | None = None, empty_voxel_set_zeros: bool = True,
    ) -> tuple[Tensor, Tensor]:
        """Return the centers and their features (M1 + M2 .., sum of the last channels), from points, centers,
        their counts, and (N1 + N2 .., C) features."""
        described = []
        for grouper, mlp in zip(self.groupers, self.mlps):
            groups, _ = grouper(xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt, features)
            groups = mlp(groups.permute(1, 0, 2).unsqueeze(0))
            described.append(pooled(groups, self.pool_method).squeeze(0).t())
        return new_xyz, torch.cat(described, dim=1)


class StackPointnetFPModule(nn.Module):
    """Feature propagation from the three nearest known points of the same cloud; channels ``mlp``.
    Points of clouds without known points get 0."""

    def __init__(self, *, mlp: Sequence[int]) -> None:
        super().__init__()
        self.mlp = shared_mlp(mlp, True, False)

    def forward(
        self, unknown: Tensor, unknown_batch_cnt: Tensor, known: Tensor, known_batch_cnt: Tensor,
        unknown_feats: Tensor | None = None, known_feats: Tensor | None = None,
    ) -> Tensor:
        """Return (N1 + N2 .., mlp[-1]) features, from points and their counts, (N1 + N2 .., C1) features or None, and
        (M1 + M2 .., C2) features."""
        if known_feats is None:
            raise ValueError("known_feats is required")
        distances, idx = three_nn(unknown, unknown_batch_cnt, known, known_batch_cnt)
        joined = three_interpolate(known_feats, idx, inverse_distance_weights(distances, 1, squared=False))
        if unknown_feats is not None:
            joined = torch.cat([joined, unknown_feats], dim=1)
        result: Tensor = self.mlp(joined.t()[None, :, :, None])
        return result[0, :, :, 0].t()
