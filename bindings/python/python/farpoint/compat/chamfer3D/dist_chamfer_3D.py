"""Drop-in replacement for ``chamfer3D.dist_chamfer_3D``: see ``farpoint.compat.chamfer_3d``."""

from ..chamfer_3d import chamfer_3DDist, chamfer_3DFunction

__all__ = ["chamfer_3DDist", "chamfer_3DFunction"]
