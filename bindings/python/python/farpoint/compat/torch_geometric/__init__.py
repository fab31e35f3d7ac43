"""Drop-in replacement for ``torch_geometric.nn``'s functions on points: see
``farpoint.compat.torch_geometric.nn``."""

from . import nn
from .nn import (
    fps, knn, knn_graph, knn_interpolate, nearest, radius, radius_graph, voxel_grid,
)

__all__ = [
    "fps", "knn", "knn_graph", "knn_interpolate", "nearest", "nn", "radius", "radius_graph",
    "voxel_grid",
]
