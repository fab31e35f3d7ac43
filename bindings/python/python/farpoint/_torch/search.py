"""Nearest points of tensors, and the Chamfer distance as their reduction, dispatched to kernel,
operator or derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._records import Reduction
from . import derivatives, fast_path, neighbors


def match(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool, indices: bool = True,
) -> Any:
    """Returns distances and indices of x, and with ``both`` of y, from checked clouds and lengths.
    Without ``indices`` these may be None."""
    arguments = (x, y, x_lengths, y_lengths, norm, threads, both)
    if not fast_path.only_kernels_see(x, y, x_lengths, y_lengths):
        search = derivatives.search if derivatives.are_needed() else neighbors.match_clouds
        parts = search(*arguments)
        return parts if both else parts[:2]
    if torch.is_grad_enabled() and (x.requires_grad or y.requires_grad):
        return neighbors.search_differentiably(*arguments)
    return neighbors.kernel(*arguments, indices)


def reduced(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, how: Reduction
) -> Tensor:
    """Returns one value per cloud by PyTorch's operations, with all their derivatives."""
    lengths = (x_lengths, y_lengths)
    padded = x_lengths is not None or y_lengths is not None
    parts = match(x, y, *lengths, how.norm, how.threads, how.both, indices=padded)
    reduced_sides = []
    for distances, indices, length in zip(parts[::2], parts[1::2], lengths):
        values = root(distances) if how.plain else distances
        reduced_sides.append(_reduce(values, None if length is None else indices, how.reduction))
    if len(reduced_sides) == 1:
        return reduced_sides[0]
    return torch.maximum(*reduced_sides) if how.reduction == "max" else reduced_sides[0] + reduced_sides[1]


def _reduce(distances: Tensor, indices: Tensor | None, reduction: str) -> Tensor:
    """Returns one value per cloud; rows with a negative index are padding and ignored."""
    if reduction == "max":
        return distances.amax(dim=-1)
    if reduction == "mean" and indices is None:
        return distances.mean(dim=-1)
    total = distances.sum(dim=-1)
    if reduction == "sum" or indices is None:
        return total
    return total / (indices >= 0).sum(dim=-1)


def root(squares: Tensor) -> Tensor:
    """Returns square roots whose gradient at 0 is 0, not infinite."""
    if fast_path.only_kernels_see(squares):
        if squares.is_cpu:
            result: Tensor = _exact_root(squares)
            return result
        if not squares.requires_grad:
            return squares.sqrt()
    # Not `where` with numbers, which would copy them to a GPU and synchronize.
    zero = squares == 0
    return squares.masked_fill(zero, 1).sqrt().masked_fill(zero, 0)


def rooted(results: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Takes square roots in place of distances, each followed by its indices if there are any: they are not shared,
    and have no gradient."""
    for squares in results[::2]:
        squares.sqrt_()
    return results


class _ExactRoot(torch.autograd.Function):
    """Square roots of NumPy, rounded as on a GPU: PyTorch's on the CPU may be off by an ulp."""

    @staticmethod
    def forward(ctx: Any, squares: Tensor) -> Tensor:
        roots = torch.from_numpy(np.sqrt(squares.detach().numpy()))
        ctx.save_for_backward(roots)
        return roots

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (roots,) = ctx.saved_tensors
        zero = roots == 0
        twice = 2 * roots.masked_fill(zero, 1)
        of_squares: Tensor = (grad / twice).masked_fill(zero, 0)
        return of_squares


_exact_root = fast_path.apply_of(_ExactRoot)
