"""All operators: importing this registers them."""

from . import chamfer, interpolation, sampling, several, values

__all__ = ["chamfer", "interpolation", "sampling", "several", "values"]
