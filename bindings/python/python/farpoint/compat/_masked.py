"""Farthest point sampling of the valid rows of a batch, wherever they are."""

from __future__ import annotations

import torch
from torch import Tensor

from ..sampling import sample

__all__ = ["sample_valid"]


def sample_valid(points: Tensor, valid: Tensor, count: int, start: Tensor) -> Tensor:
    """Returns (B, count) int64 rows of (B, N, D) points. The start of each cloud must be a valid row; clouds with fewer
    valid rows repeat the last choice, and those without any the start. Does not synchronize a GPU."""
    order = valid.logical_not().to(torch.uint8).argsort(dim=1, stable=True)
    lengths = valid.sum(1)
    places = (valid.cumsum(1) - 1).clamp(min=0)
    first = places.gather(1, start.unsqueeze(1)).squeeze(1)
    placed = points.gather(1, order.unsqueeze(-1).expand(points.shape))
    # Padding is never read; a cloud without valid rows counts as its first, which must be finite.
    chosen = sample(placed, count, start=first, lengths=lengths.clamp(min=1))
    last = (chosen >= 0).sum(1, keepdim=True) - 1
    chosen = torch.where(chosen < 0, chosen.gather(1, last), chosen)
    rows = order.gather(1, chosen)
    return torch.where(lengths.unsqueeze(1) == 0, start.unsqueeze(1), rows)
