"""Searches in batches whose clouds may be empty, which have no neighbors in PyTorch3D."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .._common import about, any_of, int_list
from .._tensors import require

__all__ = ["beyond", "check_lengths", "refuse_outside", "search"]


def check_lengths(lengths: Any, points: Tensor, name: str) -> Tensor | None:
    """Returns the lengths of the clouds as int64. They are checked unless they, or the clouds, are on a GPU."""
    if lengths is None:
        return None
    require(**{name: lengths})
    if lengths.shape != points.shape[:1]:
        raise ValueError(f"Expected {name} of shape (N,), not {tuple(lengths.shape)} ({about(points)})")
    if lengths.is_cpu and points.is_cpu:
        refuse_outside(lengths, points, name)
    return lengths.to(torch.int64)  # type: ignore[no-any-return]


def refuse_outside(lengths: Tensor, points: Tensor, name: str) -> None:
    """Raises ValueError for lengths out of range; synchronizes if they are on a GPU."""
    if any_of((lengths > points.shape[1]) | (lengths < 0)):
        raise ValueError(
            f"A length value was too long, or negative: {name} {int_list(lengths)} ({about(points)})"
        )


def _linked(*sources: Tensor) -> Tensor:
    """Returns zero, differentiable with respect to these tensors."""
    zero: Tensor = sum(source[..., :0].sum() for source in sources)  # type: ignore[assignment]
    return zero


def beyond(lengths: Tensor, rows: int, device: torch.device) -> Tensor:
    """Returns an (N, rows) mask of rows beyond the length of their cloud."""
    return torch.arange(rows, device=device) >= lengths.to(device).unsqueeze(-1)


def search(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None,
    find: Callable[..., list[Tensor]], shapes: Sequence[tuple[int, ...]],
) -> list[Tensor]:
    """Returns the results of ``find(x, y, x_lengths=, y_lengths=)``: alternating distances and indices, of these
    shapes per cloud. Clouds that are empty on either side are left out, with distance 0 and index
    -1."""
    if x_lengths is None and y_lengths is None and x.numel() and y.shape[1]:
        return find(x, y, x_lengths=None, y_lengths=None)
    full = _full(x, y, x_lengths, y_lengths)
    if full is not None and len(full) == len(x):
        return find(x, y, x_lengths=x_lengths, y_lengths=y_lengths)
    if full is None:  # Lengths on a GPU: nothing is found in empty clouds, infinitely far.
        results = find(x, y, x_lengths=x_lengths, y_lengths=y_lengths)
        for k in range(0, len(results), 2):
            results[k] = results[k].masked_fill(results[k + 1] < 0, 0)
        return results
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    empty = [
        x.new_zeros((len(x), *shape), dtype=kind) + _linked(x, y).to(kind) if k % 2 == 0
        else x.new_full((len(x), *shape), -1, dtype=torch.int64)
        for k, shape in enumerate(shapes)
    ]
    if not full:
        return empty
    rows = torch.tensor(full, device=x.device)
    x_subset, y_subset = [None if part is None else part.to(x.device)[rows] for part in (x_lengths, y_lengths)]
    results = find(x[rows], y[rows], x_lengths=x_subset, y_lengths=y_subset)
    return [padded.index_copy(0, rows, part) for padded, part in zip(empty, results)]


def _full(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None
) -> list[int] | None:
    """Returns the clouds with points on both sides; None if the lengths are on a GPU."""
    if not (len(x) and x.shape[1] and y.shape[1]):
        return []
    counts = []
    for lengths in (x_lengths, y_lengths):
        if lengths is not None:
            if not lengths.is_cpu:
                return None
            counts.append(int_list(lengths))
    return [cloud for cloud in range(len(x)) if all(lengths[cloud] > 0 for lengths in counts)]
