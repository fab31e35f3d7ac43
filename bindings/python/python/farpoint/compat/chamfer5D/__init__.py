"""Drop-in replacement for ChamferDistancePytorch's ``chamfer5D``: see ``farpoint.compat.chamfer_3d``."""

from . import dist_chamfer_5D

__all__ = ["dist_chamfer_5D"]
