"""PyTorch tensors, on the CPU and on CUDA devices. The functions implement ``interface.Library``;
``torch.compile`` traces them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _native, _progress
from .._records import Reduction, Search
from .._torch import chamfer as operator
from .._torch import chamfer_cached, memory, neighbors, shape_cache
from .._torch import search as searching
from .._torch.calls import wants_gradient
from .._torch.lazy_torch import is_compiling
from .._torch.transfer import numbers
from . import integer_arrays
from .conversion import name, to_numpy
from .torch_arguments import (
    about, check_threads, checked, checked_pair, lengths_of, refuse_meta,
)
from .torch_arguments import fill as fill_tensor
from .torch_operators import (
    check_indices, gather, gather_max, interpolate, search, tree_of, weights, within,
)
from .torch_sampling import non_finite, ranges, sample, sample_ragged
from .torch_voxels import voxels

__all__ = [
    "non_finite", "chamfer", "check_indices", "fill", "gather", "gather_max", "interpolate", "like", "nearest",
    "on_host", "ranges", "sample", "sample_ragged", "search", "tree_of", "voxels", "weights",
    "within",
]


def nearest(x: Tensor, y: Any, search: Search) -> tuple[Any, ...]:
    """Returns distances and indices of x, and of y in searches of both directions."""
    x_lengths, y_lengths = search.x_lengths, search.y_lengths
    prepared = shape_cache.lookup(search.cached or search, _prepare_nearest, x, y, x_lengths, y_lengths)
    results: tuple[Any, ...]
    if prepared is None:
        arguments = _arguments(x, y, search, search.both)
        with _bar(x, search):
            results = searching.match(*arguments, search.norm, search.threads, search.both)
    elif wants_gradient(x, y):
        results = neighbors.answer_differentiably(x, y, x_lengths, y_lengths, prepared)
    else:
        results = neighbors.answer(prepared, x, y, x_lengths, y_lengths)
        return searching.rooted(results) if search.plain else results
    if search.plain:
        results = tuple([part if k % 2 else searching.root(part) for k, part in enumerate(results)])
    return results


def _prepare_nearest(search: Search, x: Tensor, y: Tensor, *lengths: Any) -> Any:
    """Returns the plan of a search in these tensors; None if one has to be converted."""
    if not _need_no_conversion(x, y, search, search.both, *lengths):
        return None
    return neighbors.prepare(x, y, search.norm, search.both)


def _need_no_conversion(
    x: Tensor, y: Tensor, search: Search, filled: bool, *lengths: Tensor | None
) -> bool:
    """Returns whether no tensor has to be converted. Raises unless they are a pair of clouds with lengths."""
    arguments = _arguments(x, y, search._replace(x_lengths=lengths[0], y_lengths=lengths[1]), filled)
    return arguments[0] is x and arguments[1] is y and memory.are_lengths(*lengths)


def chamfer(x: Tensor, y: Any, search: Search) -> Tensor:
    """Returns one value per pair of clouds."""
    x_lengths, y_lengths = search.x_lengths, search.y_lengths
    prepared = shape_cache.lookup(search.cached or search, _prepare_chamfer, x, y, x_lengths, y_lengths)
    if prepared is not None:
        if wants_gradient(x, y):
            value: Tensor = chamfer_cached.answer_differentiably(x, y, x_lengths, y_lengths, prepared)
            return value
        return chamfer_cached.answer(prepared, x, y, x_lengths, y_lengths)
    arguments = _arguments(x, y, search, True)
    with _bar(x, search):
        return operator.chamfer(*arguments, search.how())


def _bar(x: Tensor, search: Search) -> AbstractContextManager[None]:
    """Returns a progress bar over a search on the CPU, if requested."""
    if search.progress and x.is_cpu and not is_compiling():
        return _progress.over_calls("searching", "points")
    return nullcontext()


def _prepare_chamfer(search: Search, x: Tensor, y: Tensor, *lengths: Any) -> Any:
    return chamfer_cached.prepare(x, y, search.how()) if _need_no_conversion(x, y, search, True, *lengths) else None


def _arguments(
    x: Tensor, y: Any, search: Search, filled: bool
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Returns clouds and lengths for the operators; raises for clouds without points if both must be ``filled``."""
    x, y = checked_pair(x, y, filled)
    check_threads(search.threads)
    x_lengths, y_lengths = search.x_lengths, search.y_lengths
    if x_lengths is not None:
        x_lengths = _lengths(x_lengths, x, filled)
    if y_lengths is not None:
        y_lengths = _lengths(y_lengths, y, True)
    return x, y, x_lengths, y_lengths


def _lengths(values: Any, cloud: Tensor, filled: bool) -> Tensor:
    """Returns lengths for the operators. If ``filled``, raises for empty clouds unless that would synchronize a GPU."""
    if cloud.dim() == 2:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({about(cloud)})")
    lengths = lengths_of(values, cloud)
    if filled and cloud.is_cuda and not isinstance(values, Tensor):
        checked_lengths = integer_arrays.integers(values, "lengths", 1)
        integer_arrays.refuse_empty(checked_lengths.tolist(), True, about(cloud))
    return lengths


def offsets_of_rows(rows: Tensor, offsets: Any) -> Tensor:
    """Returns the offsets of each cloud in ``rows`` of concatenated clouds, which follow one another; does not read
    them."""
    if not isinstance(offsets, Tensor):
        offsets = numbers(integer_arrays.listed(offsets, "offsets"), rows.device)
    clouds = torch.searchsorted(offsets, rows, right=True) - 1
    return torch.searchsorted(clouds, torch.arange(offsets.shape[0], device=rows.device))


def on_host(points: Tensor, what: str) -> np.ndarray:
    """Returns the points as a NumPy array; raises for points on a GPU."""
    points = checked(points.detach())
    refuse_meta(points, f"{what} on")
    if points.is_cuda:
        raise TypeError(
            f"{what} on the CPU, and the points are on a GPU ({name(points)}); call it with "
            "points.cpu()"
        )
    array = to_numpy(points)
    _native.address(array)  # raises for other dtypes and shapes
    return array


def like(result: np.ndarray, array: Any) -> Any:
    """Returns a NumPy array as a tensor on the CPU."""
    return torch.from_numpy(result)


def fill(out: Any, result: np.ndarray, points: Any) -> Any:
    """Writes indices to the caller's tensor and returns it."""
    return fill_tensor(torch.from_numpy(result), out)
