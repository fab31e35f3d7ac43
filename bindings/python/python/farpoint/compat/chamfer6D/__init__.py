"""Drop-in replacement for ChamferDistancePytorch's ``chamfer6D``: see ``farpoint.compat.chamfer_3d``."""

from . import dist_chamfer_6D

__all__ = ["dist_chamfer_6D"]
