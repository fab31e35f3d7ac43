"""Drop-in replacement for ``pyg_lib``: ``pyg_lib.ops`` has its functions on points.

    import pyg_lib    ->    from farpoint.compat import pyg_lib
"""

from . import ops

__all__ = ["ops"]
