"""Checked arguments of neighbor searches, cached where possible."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from . import _arguments
from ._records import WHOLE, Neighborhood, Sides
from ._torch import lazy_torch
from ._typing import IndexType

def nearest_request(
    k: int, exclude_self: bool = False, norm: int = 2, index_dtype: IndexType = None,
    threads: int | None = None,
) -> Neighborhood:
    """Returns the request of ``knn``."""
    usual = type(k) is int and exclude_self is False and norm == 2 and index_dtype is threads is None
    if usual and type(norm) is int and not lazy_torch.is_compiling():
        return _cached_request(_nearest_request, None, k, False, 2, None)
    return _build_request(_nearest_request, index_dtype, k, exclude_self, norm, threads)


def _nearest_request(
    index_dtype: IndexType, k: Any, exclude_self: bool, norm: int, threads: int | None
) -> Neighborhood:
    refuse_all(k)
    limits = 0.0, 0.0, 0.0
    return _request(
        _places(k), "nearest", limits, False, "nearest", exclude_self, norm, index_dtype, threads
    )


def ball_request(
    radius: float, k: int | None, min_radius: float = 0.0, order: str = "index", inclusive: bool = False,
    exclude_self: bool = False, norm: int = 2, index_dtype: IndexType = None, threads: int | None = None,
) -> Neighborhood:
    """Returns the request of ``ball_query``."""
    return _build_request(
        _ball_request, index_dtype, radius, k, min_radius, order, inclusive, exclude_self, norm, threads
    )


def _ball_request(
    index_dtype: IndexType, radius: float, k: int | None, min_radius: float, order: str, inclusive: bool,
    exclude_self: bool, norm: int, threads: int | None,
) -> Neighborhood:
    limits = _radius(radius, "radius"), _radius(min_radius, "min_radius"), 0.0
    return _request(
        _places(k), "ball", limits, inclusive, order, exclude_self, norm, index_dtype, threads
    )


def raw_request(
    k: int | None, maximum: float, minimum: float, near: float, inclusive: bool, order: str, exclude_self: bool,
    norm: int, index_dtype: IndexType, threads: int | None,
) -> Neighborhood:
    """Returns the request of ``ball_query_raw``."""
    bounds = ((maximum, "maximum"), (minimum, "minimum"), (near, "near"))
    limits = tuple([_arguments.number(value, name) for value, name in bounds])
    return _request(
        _places(k), "raw", limits, inclusive, order, exclude_self, norm, index_dtype, threads
    )


def refuse_all(k: Any) -> None:
    """Raises for ``k=None``."""
    if k is None:
        raise TypeError("k must be an integer, not None; for all neighbors in a ball call farpoint.within")


def _places(k: Any) -> int | None:
    return None if k is None else _arguments.integer(k, "k", 1)


def _radius(value: Any, name: str) -> float:
    radius = _arguments.number(value, name)
    if not radius >= 0:
        raise ValueError(f"{name} is {radius}; it must be a number of at least 0")
    return radius


def sides_of(
    x_lengths: Any, y_lengths: Any, x_offsets: Any, y_offsets: Any, tree: Any = None
) -> Sides:
    """Returns lengths or offsets of both sides, and the tree of y if there is one."""
    if x_lengths is None and y_lengths is None and x_offsets is None and y_offsets is None:
        return WHOLE if tree is None else Sides(tree=tree)
    if (x_offsets is None) != (y_offsets is None):
        present, missing = ("x", "y") if y_offsets is None else ("y", "x")
        raise ValueError(f"{present}_offsets are given without {missing}_offsets; pass both or none")
    if x_offsets is not None and not (x_lengths is None and y_lengths is None):
        raise ValueError("lengths are for padded batches (B, N, D), offsets for rows (N, D); pass one of them")
    return Sides(x_lengths, y_lengths, x_offsets, y_offsets, tree)


def _request(
    k: int | None, kind: str, limits: Any, inclusive: bool, order: str, exclude_self: bool, norm: int,
    index_dtype: Any, threads: int | None,
) -> Neighborhood:
    threads = None if threads is None else _arguments.threads(threads)
    if order not in ("index", "nearest"):
        raise ValueError(f'order is {order!r}; it must be "index" or "nearest"')
    if norm not in (1, 2):
        raise ValueError(f"norm is {norm!r}; it must be 1 or 2")
    norm = _arguments.integer(norm, "norm", 1)
    narrow = _arguments.is_narrow(index_dtype)
    inclusive, exclude_self = bool(inclusive), bool(exclude_self)
    return Neighborhood(
        k, kind, limits, inclusive, order == "index", exclude_self, norm, narrow, threads
    )


def _build_request(make: Callable[..., Neighborhood], index_dtype: Any, *arguments: Any) -> Neighborhood:
    """Returns the record of these arguments, cached except under ``torch.compile``."""
    if not lazy_torch.is_compiling() and _arguments.are_constant(*arguments):
        try:
            return _cached_request(make, index_dtype, *arguments)
        except TypeError:  # an unhashable index dtype, or an invalid argument
            pass
    return make(index_dtype, *arguments)


@lru_cache(maxsize=1024, typed=True)
def _cached_request(make: Callable[..., Neighborhood], *arguments: Any) -> Neighborhood:
    return make(*arguments)
