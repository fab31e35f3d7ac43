"""Tensors of PyTorch, on the CPU and on CUDA devices. The functions are those of ``interface.Library``;
``torch.compile`` traces them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _native
from .._records import Reduction, Search
from .._torch import chamfer as operator
from .._torch import search as searching
from . import whole_numbers
from .conversion import name, to_numpy
from .torch_approximate import sample_approximate
from .torch_arguments import (
    about, check_threads, checked, checked_pair, lengths_of,
)
from .torch_arguments import fill as fill_tensor
from .torch_operators import (
    check_indices, gather, gather_max, interpolate, search, tree_of, weights, within,
)
from .torch_sampling import bad_rows, sample, sample_ragged

__all__ = [
    "bad_rows", "chamfer", "check_indices", "fill", "gather", "gather_max", "interpolate", "like", "nearest",
    "on_host", "sample", "sample_approximate", "sample_ragged", "search", "tree_of", "weights", "within",
]


def nearest(x: Tensor, y: Any, search: Search, both: bool) -> tuple[Any, ...]:
    """Distances and indices of x, and of y if both are wanted."""
    arguments = _arguments(x, y, search)
    found: tuple[Any, ...] = searching.found(*arguments, search.norm, search.threads, both)
    if search.plain:
        found = tuple([part if k % 2 else searching.root(part) for k, part in enumerate(found)])
    return found


def chamfer(x: Tensor, y: Any, search: Search, reduction: str, both: bool) -> Tensor:
    """One value per pair of clouds."""
    how = Reduction(search.norm, search.plain, reduction, both, search.threads)
    return operator.chamfer(*_arguments(x, y, search), how)


def _arguments(
    x: Tensor, y: Any, search: Search
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Clouds and lengths as the operators take them."""
    x, y = checked_pair(x, y)
    check_threads(search.threads)
    x_lengths, y_lengths = search.x_lengths, search.y_lengths
    if x_lengths is not None:
        x_lengths = _lengths(x_lengths, x)
    if y_lengths is not None:
        y_lengths = _lengths(y_lengths, y)
    return x, y, x_lengths, y_lengths


def _lengths(given: Any, cloud: Tensor) -> Tensor:
    """As the operators take them. An empty cloud is refused where that does not wait for a GPU."""
    if cloud.dim() == 2:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({about(cloud)})")
    lengths = lengths_of(given, cloud)
    if cloud.is_cuda and not isinstance(given, Tensor):
        whole = whole_numbers.integers(given, "lengths", 1)
        whole_numbers.refuse_empty(whole.tolist(), True, about(cloud))
    return lengths


def on_host(points: Tensor, what: str) -> np.ndarray:
    """The points as an array of NumPy; refuses those on a GPU."""
    points = checked(points.detach())
    if points.is_cuda:
        raise TypeError(
            f"{what} on the CPU, and the points are on a GPU ({name(points)}); call it with "
            "points.cpu()"
        )
    array = to_numpy(points)
    _native.address(array)  # refuses other types and shapes
    return array


def like(found: np.ndarray, array: Any) -> Any:
    """An array of NumPy as a tensor, on the CPU."""
    return torch.from_numpy(found)


def fill(out: Any, found: Any, points: Any) -> Any:
    """Writes indices to the caller's tensor, which is returned."""
    return fill_tensor(found if isinstance(found, Tensor) else torch.from_numpy(found), out)
