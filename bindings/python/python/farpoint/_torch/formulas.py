"""Operators whose derivatives are those of PyTorch's own operations: for transforms of ``torch.func`` that
``torch.compile`` traces, which traces no autograd function inside them. Values are the operators', bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .._records import Neighborhood, Sides
from .knn_kernels import rows_of_pairs


def follow(result: Tensor, formula: Tensor) -> Tensor:
    """Returns the result with the derivatives of a formula of the same value."""
    return result + (formula - formula.detach())


def _detached(*arguments: Any) -> list[Any]:
    return [part.detach() if isinstance(part, Tensor) else part for part in arguments]


def taken(values: Tensor, indices: Tensor, *_: Any) -> Tensor:
    """Returns the indexed rows; zeros for indices that are no rows."""
    rows, channels = values.shape[-2:]
    flat = indices.reshape(*values.shape[:-2], -1).long()
    gathered = values.gather(-2, flat.clamp(0, rows - 1).unsqueeze(-1).expand(*flat.shape, channels))
    none = (indices < 0) | (indices >= rows)
    return gathered.reshape(*indices.shape, channels).masked_fill(none.unsqueeze(-1), 0)


def gather(_: Any) -> Callable[..., Tensor]:
    return taken


def gather_max(operator: Any) -> Callable[..., tuple[Tensor, Tensor]]:
    def call(
        values: Tensor, indices: Tensor, add: Tensor | None, threads: int | None
    ) -> tuple[Tensor, Tensor]:
        largest, chosen = operator(*_detached(values, indices, add), threads)
        return follow(largest, chosen_sums(values, add, indices, chosen)), chosen

    return call


def chosen_sums(values: Tensor, add: Tensor | None, indices: Tensor, chosen: Tensor) -> Tensor:
    """Returns the sums at the chosen positions."""
    place = chosen.clamp(min=0).long()
    rows = indices.gather(-1, place).clamp(min=0).long()
    gathered = values.gather(-2, rows)
    if add is not None:
        gathered = gathered + add.gather(-2, place.unsqueeze(-2)).squeeze(-2)
    return gathered.masked_fill(chosen < 0, 0)


def interpolate(operator: Any) -> Callable[..., Tensor]:
    def call(values: Tensor, indices: Tensor, weights: Tensor, threads: int | None) -> Tensor:
        shares = weights.masked_fill(indices < 0, 0).unsqueeze(-1)
        sums = (taken(values, indices) * shares).sum(-2).to(values.dtype)
        return follow(operator(*_detached(values, indices, weights), threads), sums)

    return call


def terms(distances: Tensor, power: int, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the weights before they are divided by their sum, the sum, and the derivative of the power."""
    is_finite = distances.isfinite()
    finite = distances.masked_fill(~is_finite, 1)
    raised = (1 / (finite.pow(power) + eps)).masked_fill(~is_finite, 0)
    total = raised.sum(-1, keepdim=True)
    slope = finite * 2 if power == 2 else torch.ones_like(finite)
    return raised, total.masked_fill(total == 0, 1), slope


def weights(operator: Any) -> Callable[..., Tensor]:
    def call(distances: Tensor, power: int, eps: float) -> Tensor:
        raised, total, _ = terms(distances, power, eps)
        return follow(operator(distances.detach(), power, eps), raised / total)

    return call


def distance(difference: Tensor, norm: int) -> Tensor:
    """Returns the distances of points with this difference."""
    return (difference * difference if norm == 2 else difference.abs()).sum(-1)


def search(operator: Any) -> Callable[..., tuple[Tensor, ...]]:
    def call(x: Tensor, y: Tensor, *rest: Any) -> tuple[Tensor, ...]:
        result, indices, counts = operator(*_detached(x, y), *rest)
        formula = distance(x.unsqueeze(-2) - taken(y, indices), rest[_NORM])
        return follow(result, formula.masked_fill(indices < 0, 0)), indices, counts

    return call


def within(operator: Any) -> Callable[..., tuple[Tensor, ...]]:
    def call(x: Tensor, y: Tensor, *rest: Any) -> tuple[Tensor, ...]:
        result, indices, offsets = operator(*_detached(x, y), *rest)
        dims, rows = x.shape[-1], rows_of_pairs(x, y, indices, offsets)
        a, b = [taken(part.reshape(-1, dims), of) for part, of in zip((x, y), rows)]
        return follow(result, distance(a - b, rest[_NORM])), indices, offsets

    return call


#: Position of the norm among the arguments of a search behind the clouds.
_NORM = len(Sides._fields) + Neighborhood._fields.index("norm")
