"""All operators: importing this registers them."""

from . import chamfer, sampling

__all__ = ["chamfer", "sampling"]
