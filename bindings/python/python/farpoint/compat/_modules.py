"""Layers of PointNet++ shared by the replacements of pointnet2_ops and OpenPCDet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..operators import inverse_distance_weights
from ._batch import (
    GroupAll, furthest_point_sample, gather_operation, three_interpolate, three_nn,
)


def shared_mlp(channels: Sequence[int], bn: bool, inplace: bool) -> nn.Sequential:
    """Builds a convolution of kernel 1, batch normalization and ReLU for each pair of consecutive channels."""
    layers: list[nn.Module] = []
    for before, after in zip(channels, channels[1:]):
        layers.append(nn.Conv2d(before, after, kernel_size=1, bias=not bn))
        if bn:
            layers.append(nn.BatchNorm2d(after))
        layers.append(nn.ReLU(inplace))
    return nn.Sequential(*layers)


def widened(channels: Sequence[int], use_xyz: bool) -> list[int]:
    """Returns the channels, with 3 coordinates added to the first if ``use_xyz``. The list is not modified."""
    return [channels[0] + 3 * use_xyz, *channels[1:]]


def pooled(features: Tensor, pool_method: str) -> Tensor:
    """Reduces (.., M, k) to (.., M): the maximum or the mean of each group."""
    if pool_method == "max_pool":
        # The gradient goes to the first of equal maxima, not in parts to each.
        return features.max(dim=-1).values
    if pool_method == "avg_pool":
        return features.mean(dim=-1)
    raise NotImplementedError(f"pool_method is {pool_method!r}; it must be 'max_pool' or 'avg_pool'")


class SetAbstraction(nn.Module):
    """Samples centers, groups points around each at one or several scales, and computes features of each group."""

    def __init__(
        self, npoint: int | None, radii: Sequence[Any], nsamples: Sequence[Any],
        mlps: Sequence[Sequence[int]], bn: bool, use_xyz: bool, pool_method: str, inplace: bool,
        grouper: type[nn.Module],
    ) -> None:
        super().__init__()
        if not len(radii) == len(nsamples) == len(mlps):
            raise ValueError(
                f"{len(radii)} radii, {len(nsamples)} nsamples and {len(mlps)} mlps; there must be as "
                "many of each"
            )
        self.npoint, self.pool_method = npoint, pool_method
        self.groupers, self.mlps = nn.ModuleList(), nn.ModuleList()
        for radius, nsample, channels in zip(radii, nsamples, mlps):
            self.groupers.append(
                GroupAll(use_xyz) if npoint is None else grouper(radius, nsample, use_xyz=use_xyz)
            )
            self.mlps.append(shared_mlp(widened(channels, use_xyz), bn, inplace))

    def forward(
        self, xyz: Tensor, features: Tensor | None = None, new_xyz: Tensor | None = None
    ) -> tuple[Tensor | None, Tensor]:
        """Return centers (B, npoint, 3), or None for one group of all, and their features (B, C', npoint), from
        (B, N, 3) points and (B, C, N) features."""
        if new_xyz is None and self.npoint is not None:
            chosen = furthest_point_sample(xyz, self.npoint)
            new_xyz = gather_operation(xyz.transpose(1, 2), chosen).transpose(1, 2).contiguous()
        described = [
            pooled(mlp(grouper(xyz, new_xyz, features)), self.pool_method)
            for grouper, mlp in zip(self.groupers, self.mlps)
        ]
        return new_xyz, torch.cat(described, dim=1)


class FeaturePropagation(nn.Module):
    """Interpolates features from the three nearest known points."""

    def __init__(self, mlp: Sequence[int], bn: bool, inplace: bool) -> None:
        super().__init__()
        self.mlp = shared_mlp(mlp, bn, inplace)

    def forward(
        self, unknown: Tensor, known: Tensor | None, unknow_feats: Tensor | None, known_feats: Tensor
    ) -> Tensor:
        """Return features (B, C', n), from (B, n, 3) and (B, m, 3) points, (B, C1, n) and (B, C2, m) features. Without
        known points the single known feature (B, C2, 1) is broadcast."""
        if known is None:
            spread = known_feats.expand(-1, -1, unknown.shape[1])
        else:
            distances, idx = three_nn(unknown, known)
            spread = three_interpolate(known_feats, idx, inverse_distance_weights(distances, 1, squared=False))
        joined = spread if unknow_feats is None else torch.cat([spread, unknow_feats], dim=1)
        result: Tensor = self.mlp(joined.unsqueeze(-1))
        return result.squeeze(-1)
