"""All operators; importing this module registers them."""

from . import chamfer, interpolation, knn, sampling, values

__all__ = ["chamfer", "interpolation", "knn", "sampling", "values"]
