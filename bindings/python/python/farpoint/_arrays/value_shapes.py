"""Shapes of values, of indices, and of further arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Returns a description of the arrays for messages.
About = Callable[[], str]

#: Number of clouds, rows, queries, k and channels, for the compiled module.
Sizes = tuple[int, int, int, int, int]


def sizes_of(values: Any, indices: Any) -> Sizes:
    """Returns the sizes of values (N, C) or (B, N, C) and indices (M,) or (M, k), or (B, M) or (B, M, k)."""
    shape, of_indices = values.shape, indices.shape
    batch = len(shape) == 3
    rest = of_indices[1:] if batch else of_indices
    k = rest[1] if len(rest) == 2 else 1
    return (shape[0] if batch else 1, shape[-2], rest[0], k, shape[-1])


def check_shapes(values: Any, indices: Any, has_k_axis: bool, about: About) -> None:
    """Raises for incompatible shapes. ``has_k_axis``: indices have an axis of k."""
    shape, of_indices = values.shape, indices.shape
    axes, missing_axes = len(shape), len(shape) - len(of_indices)
    if axes not in (2, 3):
        raise ValueError(f"values must be of shape (N, C) or (B, N, C) ({about()})")
    if missing_axes != 0 and (has_k_axis or missing_axes != 1):
        before = "B, " if axes == 3 else ""
        shapes = f"({before}M, k)" if has_k_axis else f"({before}M) or ({before}M, k)"
        raise ValueError(f"indices must be of shape {shapes} for these values ({about()})")
    if axes == 3 and of_indices[0] != shape[0]:
        raise ValueError(f"indices of {of_indices[0]} clouds for values of {shape[0]} ({about()})")


def check_beside(what: str, argument: Any, expected: tuple[Any, ...], about: About) -> None:
    """Raises if an argument does not match the shape of the indices."""
    if tuple(argument.shape) != expected:
        raise ValueError(f"{what} must be of shape {expected}, not {tuple(argument.shape)} ({about()})")


def wrong_index(count: int, place: int, index: int, rows: int) -> IndexError:
    """Returns the error for indices out of range."""
    return IndexError(
        f"{count} of the indices are neither -1 nor one of {rows} rows, the first is {index} at place "
        f"{place} of all"
    )
