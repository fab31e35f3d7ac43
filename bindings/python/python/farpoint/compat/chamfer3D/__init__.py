"""Drop-in replacement for ChamferDistancePytorch's ``chamfer3D``: see ``farpoint.compat.chamfer_3d``."""

from . import dist_chamfer_3D

__all__ = ["dist_chamfer_3D"]
