"""Drop-in replacement for ``chamfer2D.dist_chamfer_2D``: see ``farpoint.compat.chamfer_3d``."""

from ..chamfer_3d import chamfer_2DDist, chamfer_2DFunction

__all__ = ["chamfer_2DDist", "chamfer_2DFunction"]
