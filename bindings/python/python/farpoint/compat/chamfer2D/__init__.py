"""Drop-in replacement for ChamferDistancePytorch's ``chamfer2D``: see ``farpoint.compat.chamfer_3d``."""

from . import dist_chamfer_2D

__all__ = ["dist_chamfer_2D"]
