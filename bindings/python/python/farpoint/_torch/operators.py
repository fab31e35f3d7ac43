"""All operators; importing this module registers them."""

from . import chamfer, interpolation, sampling, several, values

__all__ = ["chamfer", "interpolation", "sampling", "several", "values"]
