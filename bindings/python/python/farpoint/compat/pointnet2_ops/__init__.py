"""Drop-in replacement for ``pointnet2_ops`` (erikwijmans/Pointnet2_PyTorch) and its forks.

    from pointnet2_ops import pointnet2_utils
        ->  from farpoint.compat.pointnet2_ops import pointnet2_utils
    from pointnet2_ops.pointnet2_modules import PointnetSAModule
        ->  from farpoint.compat.pointnet2_ops.pointnet2_modules import PointnetSAModule

All names are also available here: ``from farpoint.compat import pointnet2_ops as pointnet2_utils``.
"""

from __future__ import annotations

from . import pointnet2_modules, pointnet2_utils
from .pointnet2_modules import (
    PointnetFPModule, PointnetSAModule, PointnetSAModuleMSG, build_shared_mlp,
)
from .pointnet2_utils import (
    BallQuery, FurthestPointSampling, GatherOperation, GroupAll, GroupingOperation, QueryAndGroup,
    ThreeInterpolate, ThreeNN, ball_query, farthest_point_sample, farthest_point_sampling,
    furthest_point_sample, gather_operation, grouping_operation, stack_farthest_point_sample,
    three_interpolate, three_nn,
)

__all__ = [
    "BallQuery", "FurthestPointSampling", "GatherOperation", "GroupAll", "GroupingOperation",
    "PointnetFPModule", "PointnetSAModule", "PointnetSAModuleMSG", "QueryAndGroup", "ThreeInterpolate",
    "ThreeNN", "ball_query", "build_shared_mlp", "farthest_point_sample", "farthest_point_sampling",
    "furthest_point_sample", "gather_operation", "grouping_operation", "pointnet2_modules",
    "pointnet2_utils", "stack_farthest_point_sample", "three_interpolate", "three_nn",
]
