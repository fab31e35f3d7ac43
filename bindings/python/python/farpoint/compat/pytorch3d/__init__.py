"""Drop-in replacement for the functions on points of ``pytorch3d.ops`` and ``pytorch3d.loss``:
``farpoint.compat.pytorch3d.ops`` and ``farpoint.compat.pytorch3d.loss``, whose names are also available
here."""

from . import loss, ops
from .loss import chamfer_distance
from .ops import (
    KNN, ball_query, knn_gather, knn_points, masked_gather, sample_farthest_points,
)

__all__ = [
    "KNN", "ball_query", "chamfer_distance", "knn_gather", "knn_points", "loss", "masked_gather", "ops",
    "sample_farthest_points",
]
