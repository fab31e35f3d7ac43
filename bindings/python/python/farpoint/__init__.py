"""Exact farthest point sampling of point clouds.

Farthest point sampling (FPS) starts at one point and then repeatedly takes the point farthest from all
those taken: an even subset of which every prefix is an even subset.

>>> import numpy, farpoint
>>> cloud = numpy.random.default_rng(1).random((1000, 3), dtype=numpy.float32)
>>> farpoint.sample(cloud, 4).shape
(4,)

``sample`` and ``order`` choose points, ``assign`` finds the sample of each point, ``voxel_downsample`` replaces the points
of each voxel by one, ``nearest`` and ``chamfer`` compare clouds, ``knn``, ``ball_query``, ``within``,
``gather``, ``gather_max`` and ``interpolate`` are building blocks of networks, ``read`` and ``write`` handle
the usual files. All accept NumPy arrays, PyTorch tensors, CuPy and JAX arrays, on the CPU or a GPU,
and return arrays of the same library on the same device. ``farpoint.compat`` has drop-in replacements
for other libraries.

These are exact: every algorithm, thread count and device gives the same indices as the direct loop.
``sample_random`` and ``sample_grid`` are approximate, ``centroids`` computes means of grid cells, and ``quality``
measures any sample.
"""

from typing import TYPE_CHECKING

from ._native import CudaUnavailable, __version__
from ._torch import import_hook
from .approximate import Centroids, centroids, sample_grid, sample_random
from .assignment import assign
from .devices import get_num_threads, set_num_threads, warm_up
from .files import Cloud, read, write
from .index import Index
from .levels import Levels, sample_levels
from .many_files import FileSample, sample_files
from .matching import FScore, Nearest, chamfer, f_score, nearest, nearest_both
from .measures import Quality, check, quality
from .neighbors import BallNeighbors, Neighbors, ball_query, knn, within
from .one_file import sample_file
from .operators import check_indices, gather, gather_max, interpolate, inverse_distance_weights
from .sampling import Order, Sample, order, sample, sample_padded, sample_ragged
from .voxels import Voxels, voxel_downsample

# Operators are registered once both farpoint and PyTorch are imported: exported programs rely on it.
import_hook.watch()

__all__ = [
    "BallNeighbors",
    "Centroids",
    "Cloud",
    "CudaUnavailable",
    "FScore",
    "FileSample",
    "Index",
    "Levels",
    "Nearest",
    "Neighbors",
    "Order",
    "Quality",
    "Sample",
    "Voxels",
    "__version__",
    "assign",
    "ball_query",
    "centroids",
    "chamfer",
    "check",
    "check_indices",
    "f_score",
    "gather",
    "gather_max",
    "get_num_threads",
    "interpolate",
    "inverse_distance_weights",
    "knn",
    "nearest",
    "nearest_both",
    "order",
    "quality",
    "read",
    "sample",
    "sample_file",
    "sample_files",
    "sample_grid",
    "sample_levels",
    "sample_padded",
    "sample_ragged",
    "sample_random",
    "set_num_threads",
    "voxel_downsample",
    "warm_up",
    "within",
    "write",
]

#: Names that were here, and where they are in the repository's laboratory.
_MOVED = {
    "LabeledCloud": "lab/scenes", "generate_labeled": "lab/scenes",
    "sample_fastpoint": "lab/baselines. farpoint.sample is exact",
    "sample_morton": "lab/baselines. farpoint.sample is exact",
    "sample_npdu": "lab/baselines. farpoint.sample is exact",
}

if not TYPE_CHECKING:  # which has to find unknown names

    def __getattr__(name):
        if name in _MOVED:
            raise AttributeError(f"farpoint.{name} is now in the repository's laboratory: {_MOVED[name]}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
