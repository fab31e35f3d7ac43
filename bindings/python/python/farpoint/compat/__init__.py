"""Drop-in replacements: the names, argument orders, defaults, shapes and types of other libraries.

Change one import line, for example

    from torch_cluster import fps                  ->  from farpoint.compat.torch_cluster import fps
    from pointnet2_ops import pointnet2_utils      ->  from farpoint.compat import pointnet2_ops as pointnet2_utils

Every docstring says where the result differs on purpose. In common: ties go to the lowest index,
distances are not fused and start at infinity, no point is skipped, bad arguments are ValueError or
TypeError, and tensors may be on the CPU as well as on a GPU.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # each is imported on its own: most need torch
    from . import chamfer_3d, fpsample, kaolin, open3d, pointnet2_ops, pytorch3d, torch_cluster

__all__ = [
    "chamfer_3d", "fpsample", "kaolin", "open3d", "pointnet2_ops", "pytorch3d", "torch_cluster",
]
