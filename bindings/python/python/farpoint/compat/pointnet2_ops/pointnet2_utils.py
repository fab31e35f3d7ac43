"""Drop-in replacement for ``pointnet2_ops.pointnet2_utils``: sampling, ball queries, grouping and interpolation.

Shapes and dtypes are the original's: clouds (B, N, 3), features (B, C, N), indices int32. All differ on
purpose: distances are not fused and CPU and GPU agree bit for bit, gradients have the
same bits on every run, tensors may be strided, float64 or on the CPU, and clouds of any extent
are correct.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from .. import _batch
from .._batch import (
    GroupAll, furthest_point_sample, gather_operation, grouping_operation, three_interpolate, three_nn,
)
from .._common import with_apply
from .._stack import stack_farthest_point_sample
from ..pointops import farthest_point_sampling

__all__ = [
    "BallQuery", "FurthestPointSampling", "GatherOperation", "GroupAll", "GroupingOperation",
    "QueryAndGroup", "ThreeInterpolate", "ThreeNN", "ball_query", "farthest_point_sample",
    "farthest_point_sampling", "furthest_point_sample", "gather_operation", "grouping_operation",
    "stack_farthest_point_sample", "three_interpolate", "three_nn",
]

farthest_point_sample = furthest_point_sample


def ball_query(radius: float, nsample: int, xyz: Tensor, new_xyz: Tensor) -> Tensor:
    """Find int32 indices (B, npoint, nsample) of (B, N, 3) points around (B, npoint, 3) centers.

    These are the first ``nsample`` points by index with a distance below the radius, padded with the
    first of them, or with 0 if there is none. Differs on purpose: squares are not fused, so that
    points at the boundary may differ by rounding.
    """
    return _batch.ball_query(radius, nsample, xyz, new_xyz)


BallQuery = with_apply("BallQuery", ball_query)
FurthestPointSampling = with_apply("FurthestPointSampling", furthest_point_sample)
GatherOperation = with_apply("GatherOperation", gather_operation)
GroupingOperation = with_apply("GroupingOperation", grouping_operation)
ThreeInterpolate = with_apply("ThreeInterpolate", three_interpolate)
ThreeNN = with_apply("ThreeNN", three_nn)


class QueryAndGroup(nn.Module):
    """Groups the points within a radius around each center.

    Parameters
    ----------
    radius, nsample:
        Radius and number of points of the ball query.
    use_xyz:
        Prepend positions relative to the center to the features.
    ret_grouped_xyz, normalize_xyz, sample_uniformly, ret_unique_cnt:
        Options of VoteNet's fork: return these positions, too, after the first result; divide them by the radius;
        pad with points drawn at random from the ball; return the number of distinct points of each
        group, (B, npoint), last.

        Differs on purpose as the functions; the random points are different.
    """

    def __init__(
        self, radius: float, nsample: int, use_xyz: bool = True, ret_grouped_xyz: bool = False,
        normalize_xyz: bool = False, sample_uniformly: bool = False, ret_unique_cnt: bool = False,
    ) -> None:
        super().__init__()
        if ret_unique_cnt and not sample_uniformly:
            raise ValueError("ret_unique_cnt needs sample_uniformly")
        self.radius, self.nsample, self.use_xyz = radius, nsample, use_xyz
        self.ret_grouped_xyz, self.normalize_xyz = ret_grouped_xyz, normalize_xyz
        self.sample_uniformly, self.ret_unique_cnt = sample_uniformly, ret_unique_cnt

    def forward(self, xyz: Tensor, new_xyz: Tensor, features: Tensor | None = None) -> Any:
        """Group (B, N, 3) points around (B, npoint, 3) centers, with (B, C, N) features, to (B, 3 + C, npoint,
        nsample)."""
        if features is None and not self.use_xyz:
            raise ValueError("without features, use_xyz must be true")
        idx = ball_query(self.radius, self.nsample, xyz, new_xyz)
        if self.sample_uniformly:
            idx, counts = _batch.spread_evenly(idx)
        parts = _batch.grouped(xyz, new_xyz, idx, features)
        if self.normalize_xyz:
            parts[0] = parts[0] / self.radius
        result = [_batch.channels_first(parts if self.use_xyz else parts[1:])]
        if self.ret_grouped_xyz:
            result.append(_batch.channels_first(parts[:1]))
        if self.ret_unique_cnt:
            result.append(counts)
        return result[0] if len(result) == 1 else tuple(result)
