"""Drop-in replacement for OpenPCDet's ``pcdet.ops.pointnet2.pointnet2_batch``.

    from pcdet.ops.pointnet2.pointnet2_batch import pointnet2_modules
        ->  from farpoint.compat.pointnet2_batch import pointnet2_modules
"""

from __future__ import annotations

from . import pointnet2_modules, pointnet2_utils
from .pointnet2_modules import PointnetFPModule, PointnetSAModule, PointnetSAModuleMSG
from .pointnet2_utils import (
    BallQuery, FurthestPointSampling, GatherOperation, GroupAll, GroupingOperation, QueryAndGroup,
    ThreeInterpolate, ThreeNN, ball_query, furthest_point_sample, gather_operation, grouping_operation,
    three_interpolate, three_nn,
)

__all__ = [
    "BallQuery", "FurthestPointSampling", "GatherOperation", "GroupAll", "GroupingOperation",
    "PointnetFPModule", "PointnetSAModule", "PointnetSAModuleMSG", "QueryAndGroup", "ThreeInterpolate",
    "ThreeNN", "ball_query", "furthest_point_sample", "gather_operation", "grouping_operation",
    "pointnet2_modules", "pointnet2_utils", "three_interpolate", "three_nn",
]
