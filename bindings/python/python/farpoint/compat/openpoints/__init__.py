"""Drop-in replacement for the layers of ``openpoints`` (PointNeXt) that search, sample, group and interpolate.

    from openpoints.models.layers import ..         ->  from farpoint.compat.openpoints import ..
    from openpoints.models.layers.group import ..   ->  from farpoint.compat.openpoints.group import ..

``KNN`` here is that of ``group``, called with the support first; ``openpoints.models.layers.KNN``,
called with the query first, is ``farpoint.compat.openpoints.knn.KNN``.
"""

from __future__ import annotations

from . import group, knn, subsample, upsampling
from .group import (
    KNN, BallQuery, DenseDilated, DilatedKNN, GatherOperation, GroupAll, GroupingOperation, KNNGroup,
    QueryAndGroup, ball_query, create_grouper, gather_operation, get_aggregation_feautres,
    grouping_operation, torch_grouping_operation,
)
from .knn import knn_point
from .subsample import FurthestPointSampling, fps, furthest_point_sample, random_sample
from .upsampling import (
    ThreeInterpolate, ThreeNN, three_interpolate, three_interpolation, three_nn,
)

__all__ = [
    "KNN", "BallQuery", "DenseDilated", "DilatedKNN", "FurthestPointSampling", "GatherOperation",
    "GroupAll", "GroupingOperation", "KNNGroup", "QueryAndGroup", "ThreeInterpolate", "ThreeNN",
    "ball_query", "create_grouper", "fps", "furthest_point_sample", "gather_operation",
    "get_aggregation_feautres", "group", "grouping_operation", "knn", "knn_point", "random_sample",
    "subsample", "three_interpolate", "three_interpolation", "three_nn", "torch_grouping_operation",
    "upsampling",
]
