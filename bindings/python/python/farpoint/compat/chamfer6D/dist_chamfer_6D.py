"""Drop-in replacement for ``chamfer6D.dist_chamfer_6D``: see ``farpoint.compat.chamfer_3d``."""

from ..chamfer_3d import chamfer_6DDist, chamfer_6DFunction

__all__ = ["chamfer_6DDist", "chamfer_6DFunction"]
