"""Drop-in replacement for ``pcdet.ops.pointnet2.pointnet2_batch.pointnet2_utils``: the functions of pointnet2_ops,
with the same shapes. Differs on purpose as these."""

from __future__ import annotations

from ..pointnet2_ops.pointnet2_utils import (
    BallQuery, FurthestPointSampling, GatherOperation, GroupAll, GroupingOperation, QueryAndGroup,
    ThreeInterpolate, ThreeNN, ball_query, furthest_point_sample, gather_operation, grouping_operation,
    three_interpolate, three_nn,
)

__all__ = [
    "BallQuery", "FurthestPointSampling", "GatherOperation", "GroupAll", "GroupingOperation",
    "QueryAndGroup", "ThreeInterpolate", "ThreeNN", "ball_query", "furthest_point_sample",
    "gather_operation", "grouping_operation", "three_interpolate", "three_nn",
]
