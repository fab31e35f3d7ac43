"""Drop-in replacement for ChamferDistancePytorch's ``fscore``: see ``farpoint.compat.chamfer_3d``."""

from .chamfer_3d import fscore

__all__ = ["fscore"]
