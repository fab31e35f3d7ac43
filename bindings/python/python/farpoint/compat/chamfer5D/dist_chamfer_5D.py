"""Drop-in replacement for ``chamfer5D.dist_chamfer_5D``: see ``farpoint.compat.chamfer_3d``."""

from ..chamfer_3d import chamfer_5DDist, chamfer_5DFunction

__all__ = ["chamfer_5DDist", "chamfer_5DFunction"]
