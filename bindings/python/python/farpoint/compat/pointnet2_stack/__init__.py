"""Drop-in replacement for OpenPCDet's ``pcdet.ops.pointnet2.pointnet2_stack``.

    from pcdet.ops.pointnet2.pointnet2_stack import pointnet2_utils as pointnet2_stack_utils
        ->  from farpoint.compat.pointnet2_stack import pointnet2_utils as pointnet2_stack_utils

Vector pooling and voxel queries (``voxel_query_utils``) are not included.
"""

from __future__ import annotations

from . import pointnet2_modules, pointnet2_utils
from .pointnet2_modules import (
    StackPointnetFPModule, StackSAModuleMSG, build_local_aggregation_module,
)
from .pointnet2_utils import (
    BallQuery, FarthestPointSampling, GroupingOperation, QueryAndGroup, StackFarthestPointSampling,
    ThreeInterpolate, ThreeNN, ball_query, farthest_point_sample, furthest_point_sample,
    grouping_operation, stack_farthest_point_sample, three_interpolate, three_nn,
)

__all__ = [
    "BallQuery", "FarthestPointSampling", "GroupingOperation", "QueryAndGroup",
    "StackFarthestPointSampling", "StackPointnetFPModule", "StackSAModuleMSG", "ThreeInterpolate",
    "ThreeNN", "ball_query", "build_local_aggregation_module", "farthest_point_sample",
    "furthest_point_sample", "grouping_operation", "pointnet2_modules", "pointnet2_utils",
    "stack_farthest_point_sample", "three_interpolate", "three_nn",
]
