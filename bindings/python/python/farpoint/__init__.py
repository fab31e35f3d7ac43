"""Exact farthest point sampling of point clouds.

Farthest point sampling (FPS) starts at one point and then repeatedly takes the point farthest
from all those taken: an even subset of which every prefix is an even subset.

>>> import numpy, farpoint
>>> cloud = numpy.random.default_rng(1).random((1000, 3), dtype=numpy.float32)
>>> farpoint.sample(cloud, 4).shape
(4,)

``sample`` and ``order`` choose points, ``nearest`` and ``chamfer`` compare clouds, ``read`` and
``write`` know the usual files. All take NumPy arrays, PyTorch tensors, CuPy and JAX arrays, on the
CPU or a GPU, and give back arrays of the same library on the same device. ``farpoint.compat``
holds drop-in replacements for other libraries.

These are exact: every algorithm, thread count and device gives the indices of the obvious loop, one
by one. Approximate is only what says so: ``sample_approximate`` has the samplers of other papers,
``centroids`` those of a grid, and ``quality`` measures any sample.
"""

from . import _torch_later
from ._approximate import Centroids, centroids, sample_approximate
from ._arrays import check
from ._farpoint import CudaUnavailable, __version__
from ._files import Cloud, read, write
from ._match import Nearest, PlainNearest, chamfer, nearest
from ._quality import Quality, quality
from ._sample import Order, Sample, order, sample
from ._warm_up import warm_up

# Operators are known as soon as there are both, which programs that were exported rely on.
_torch_later.watch()

__all__ = [
    "Centroids",
    "Cloud",
    "CudaUnavailable",
    "Nearest",
    "Order",
    "PlainNearest",
    "Quality",
    "Sample",
    "__version__",
    "centroids",
    "chamfer",
    "check",
    "nearest",
    "order",
    "quality",
    "read",
    "sample",
    "sample_approximate",
    "warm_up",
    "write",
]
