"""Drop-in replacements, with the names, argument orders, defaults, shapes and dtypes of other libraries.

Change one import line, for example

    from torch_cluster import fps                  ->  from farpoint.compat.torch_cluster import fps
    from torch_geometric.nn import radius          ->  from farpoint.compat.torch_geometric.nn import radius
    from pytorch3d.ops import knn_points           ->  from farpoint.compat.pytorch3d.ops import knn_points
    from pointnet2_ops import pointnet2_utils      ->  from farpoint.compat import pointnet2_ops as pointnet2_utils

Every docstring states where the result differs on purpose. In common: ties go to the lowest index,
distances are not fused and start at infinity, no point is skipped, bad arguments raise ValueError or
TypeError, and tensors may be on the CPU or a GPU. NaN and infinity raise ValueError on the
CPU; on a GPU such points are never neighbors, samples of a cloud with them are meaningless, and
``farpoint.check`` finds them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # each is imported separately: most need torch
    from . import (
        chamfer2D, chamfer3D, chamfer5D, chamfer6D, chamfer_3d, fpsample, fscore, kaolin, mmcv, open3d,
        openpoints, pointnet2_batch, pointnet2_ops, pointnet2_stack, pointops, pyg_lib, pytorch3d,
        torch_cluster, torch_fps, torch_geometric, torch_quickfps,
    )

__all__ = [
    "chamfer2D", "chamfer3D", "chamfer5D", "chamfer6D", "chamfer_3d", "fpsample", "fscore", "kaolin", "mmcv",
    "open3d", "openpoints", "pointnet2_batch", "pointnet2_ops", "pointnet2_stack", "pointcept", "pointops",
    "pyg_lib", "pytorch3d", "torch_cluster", "torch_fps", "torch_geometric", "torch_quickfps",
]
