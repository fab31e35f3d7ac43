"""Drop-in replacement for ``openpoints.models.layers.group``.

All differ on purpose: distances are not fused and CPU and GPU agree bit for bit, gradients
have the same bits on every run, float64, half precision and the CPU are supported; no module computes the
matrix of all distances. Under autocast features keep their dtype, where ``grouping_operation`` of
openpoints casts to float32.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from .. import _batch
from .._batch import gather_operation, grouping_operation
from ..pointnet2_ops.pointnet2_utils import (
    BallQuery, GatherOperation, GroupingOperation, ball_query,
)

__all__ = [
    "KNN", "BallQuery", "DenseDilated", "DilatedKNN", "GatherOperation", "GroupAll",
    "GroupingOperation", "KNNGroup", "QueryAndGroup", "ball_query", "create_grouper",
    "gather_operation", "get_aggregation_feautres", "grouping_operation", "torch_grouping_operation",
]

torch_grouping_operation = grouping_operation


class KNN(nn.Module):
    """Finds the ``neighbors`` nearest points of the support for each query.

    Called with support (B, N, C) and query (B, M, C), it returns plain distances (B, neighbors, M) as in the
    original, and int32 indices (B, M, neighbors). Differs on purpose: ties go to the lowest index;
    with fewer points than neighbors the rest has distance infinity and index 0, where the original
    raises.
    """

    def __init__(self, neighbors: int, transpose_mode: bool = True) -> None:
        super().__init__()
        self.neighbors = neighbors

    def forward(self, support: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        _batch.refuse_shape("support", support, "B, N, C")
        _batch.refuse_shape("query", query, "B, M, C")
        distances, indices = _batch.nearest_k(self.neighbors, support, query)
        return distances.transpose(1, 2), indices


class DenseDilated(nn.Module):
    """Selects every ``dilation``-th of (B, M, k * dilation) neighbors; if ``stochastic``, in training k random ones
    instead, with probability ``epsilon``."""

    def __init__(
        self, k: int = 9, dilation: int = 1, stochastic: bool = False, epsilon: float = 0.0
    ) -> None:
        super().__init__()
        self.k, self.dilation, self.stochastic, self.epsilon = k, dilation, stochastic, epsilon

    def forward(self, edge_index: Tensor) -> Tensor:
        if self.stochastic and torch.rand(1, device="cpu") < self.epsilon and self.training:
            drawn = torch.randperm(self.k * self.dilation, device="cpu")[: self.k]
            return edge_index[:, :, drawn.to(edge_index.device)].contiguous()
        return edge_index[:, :, :: self.dilation].contiguous()


class DilatedKNN(nn.Module):
    """Finds every ``dilation``-th of the k * dilation nearest neighbors in the same cloud (B, N, C): (B,
    N, k), int32."""

    def __init__(
        self, k: int = 9, dilation: int = 1, stochastic: bool = False, epsilon: float = 0.0
    ) -> None:
        super().__init__()
        self.k, self.dilation, self.stochastic, self.epsilon = k, dilation, stochastic, epsilon
        self._dilated = DenseDilated(k, dilation, stochastic, epsilon)
        self.knn = KNN(k * dilation)

    def forward(self, query: Tensor) -> Tensor:
        result: Tensor = self._dilated(self.knn(query, query)[1])
        return result


class QueryAndGroup(nn.Module):
    """Groups the points within a radius of each query.

    Parameters
    ----------
    radius, nsample:
        Radius and number of points of the ball query.
    relative_xyz:
        Return positions relative to the query.
    normalize_dp:
        Divide relative positions by the radius.
    return_only_idx:
        Return the indices (B, npoint, nsample) only.

    Called with query (B, npoint, 3), support (B, N, 3) and features (B, C, N) or None, it returns positions (B, 3,
    npoint, nsample), and features (B, C, npoint, nsample) or None. ``normalize_by_std``,
    ``normalize_by_allstd`` and ``normalize_by_allstd2`` do nothing in the original; here they raise
    ValueError.
    """

    def __init__(
        self, radius: float, nsample: int, relative_xyz: bool = True, normalize_dp: bool = False,
        normalize_by_std: bool = False, normalize_by_allstd: bool = False,
        normalize_by_allstd2: bool = False, return_only_idx: bool = False, **kwargs: Any,
    ) -> None:
        super().__init__()
        if normalize_by_std or normalize_by_allstd or normalize_by_allstd2:
            raise ValueError("to normalize by the standard deviation is not supported; use normalize_dp")
        self.radius, self.nsample = radius, nsample
        self.relative_xyz, self.normalize_dp = relative_xyz, normalize_dp
        self.return_only_idx = return_only_idx

    def forward(self, query_xyz: Tensor, support_xyz: Tensor, features: Tensor | None = None) -> Any:
        idx = ball_query(self.radius, self.nsample, support_xyz, query_xyz)
        if self.return_only_idx:
            return idx
        positions, described = _positions(query_xyz, support_xyz, idx, features, self.relative_xyz)
        if self.relative_xyz and self.normalize_dp:
            positions = positions / self.radius
        return positions, described


class KNNGroup(nn.Module):
    """Groups the ``nsample`` nearest points around each query; otherwise as ``QueryAndGroup``.

    ``normalize_dp`` divides by the largest distance of a neighbor in the cloud. Gradients flow through
    that distance as in the original.
    """

    def __init__(
        self, nsample: int, relative_xyz: bool = True, normalize_dp: bool = False,
        return_only_idx: bool = False, **kwargs: Any,
    ) -> None:
        super().__init__()
        self.nsample = nsample
        self.knn = KNN(nsample)
        self.relative_xyz, self.normalize_dp = relative_xyz, normalize_dp
        self.return_only_idx = return_only_idx

    def forward(self, query_xyz: Tensor, support_xyz: Tensor, features: Tensor | None = None) -> Any:
        idx = self.knn(support_xyz, query_xyz)[1]
        if self.return_only_idx:
            return idx
        positions, described = _positions(query_xyz, support_xyz, idx, features, self.relative_xyz)
        if self.normalize_dp:
            # The square root follows the maximum, since at 0 it has no gradient.
            farthest = (positions**2).sum(dim=1).amax(dim=(1, 2)).sqrt()
            positions = positions / farthest.view(-1, 1, 1, 1)
        return positions, described


def _positions(
    query: Tensor, support: Tensor, idx: Tensor, features: Tensor | None, relative: bool
) -> tuple[Tensor, Tensor | None]:
    """Returns (B, 3, M, k) positions and (B, C, M, k) features."""
    positions = _batch.gather_channels(support.transpose(1, 2), idx)
    if relative:
        positions = positions - query.transpose(1, 2).unsqueeze(-1)
    return positions, None if features is None else grouping_operation(features, idx)


class GroupAll(nn.Module):
    """Groups all points as one: positions (B, 3, 1, N), and features (B, C, 1, N) or None. ``new_xyz``
    is ignored."""

    def forward(
        self, new_xyz: Tensor | None, xyz: Tensor, features: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        _batch.refuse_shape("xyz", xyz, "B, N, 3")
        described = None if features is None else features.unsqueeze(2)
        return xyz.transpose(1, 2).unsqueeze(2), described


def create_grouper(group_args: Any) -> nn.Module:
    """Create a module from a dictionary of ``NAME`` ("ballquery" or "knn"), ``radius`` (0.1), ``nsample`` (20; None:
    all) and other options. Other names raise ValueError."""
    options = dict(copy.deepcopy(group_args))
    name = options.pop("NAME", "ballquery")
    radius, nsample = options.pop("radius", 0.1), options.pop("nsample", 20)
    if nsample is None:
        return GroupAll()
    if name == "ballquery":
        return QueryAndGroup(radius, nsample, **options)
    if name == "knn":
        return KNNGroup(nsample, **options)
    raise ValueError(f"NAME is {name!r}; it must be 'ballquery' or 'knn'")


def get_aggregation_feautres(
    p: Tensor, dp: Tensor, f: Tensor, fj: Tensor, feature_type: str = "dp_fj"
) -> Tensor:
    """Concatenate positions (B, M, 3), relative positions (B, 3, M, k), features (B, C, M) and those of neighbors
    (B, C, M, k) along the channels by type: "dp_fj", "dp_fj_df",
    "pi_dp_fj_df" or "dp_df", where df is the difference to the feature of the center; other types give
    fj."""
    if feature_type == "dp_fj":
        return torch.cat([dp, fj], dim=1)
    if feature_type not in ("dp_fj_df", "pi_dp_fj_df", "dp_df"):
        return fj
    df = fj - f.unsqueeze(-1)
    if feature_type == "dp_df":
        return torch.cat([dp, df], dim=1)
    parts = [dp, fj, df]
    if feature_type == "pi_dp_fj_df":
        parts.insert(0, p.transpose(1, 2).unsqueeze(-1).expand(-1, -1, -1, df.shape[-1]))
    return torch.cat(parts, dim=1)
