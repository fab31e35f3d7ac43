"""Drop-in replacement for the point cloud functions of ``mmcv.ops``.

    from mmcv.ops import ball_query, knn    ->  from farpoint.compat.mmcv import ball_query, knn

Shapes and dtypes are the original's: clouds (B, N, 3), features (B, C, N), indices int32; stacks (N1 +
N2 .., 3) with counts. All differ on purpose: distances are not fused and CPU and GPU agree
bit for bit, gradients have the same bits on every run; strides, float64, any index dtype, the CPU and
more than 2.1 million centers are supported.
"""

from __future__ import annotations

from .boxes import points_in_boxes_all, points_in_boxes_cpu, points_in_boxes_part
from .grouping import GroupAll, GroupingOperation, QueryAndGroup, grouping_operation
from .query import (
    BallQuery, GatherPoints, KNN, ThreeInterpolate, ThreeNN, ball_query, chamfer_distance,
    gather_points, knn, three_interpolate, three_nn,
)
from .sampling import (
    DFPSSampler, FFPSSampler, FSSampler, FurthestPointSampling, FurthestPointSamplingWithDist,
    PointsSampler, calc_square_dist, furthest_point_sample, furthest_point_sample_with_dist,
    get_sampler_cls,
)

__all__ = [
    "KNN", "BallQuery", "DFPSSampler", "FFPSSampler", "FSSampler", "FurthestPointSampling",
    "FurthestPointSamplingWithDist", "GatherPoints", "GroupAll", "GroupingOperation", "PointsSampler",
    "QueryAndGroup", "ThreeInterpolate", "ThreeNN", "ball_query", "calc_square_dist",
    "chamfer_distance", "furthest_point_sample", "furthest_point_sample_with_dist", "gather_points",
    "get_sampler_cls", "grouping_operation", "knn", "points_in_boxes_all", "points_in_boxes_cpu",
    "points_in_boxes_part", "three_interpolate", "three_nn",
]
