"""Drop-in replacement for ``torch_fps`` 0.6: farthest point sampling of masked batches (B, N, D), with the neighbors
or the cell of each point.

``valid_mask`` (B, N) is False for padding; points that are not finite count as padding, too. The start of each cloud
is ``start_idx`` (B,), a random valid point, drawn from ``generator``, or the first valid one; a start that is not
valid is replaced by the first. ``precision`` is the dtype of the computation, float32 unless set; float16 and
bfloat16 are computed in float32 of the rounded coordinates. With ``validate`` fewer valid points than k raise
ValueError, which synchronizes a GPU; else the last choice repeats. ``assume_finite`` is ignored. All differ on
purpose: the CPU and a GPU give the same results, ties go to the lowest index, and random starts are different.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..matching import nearest
from ..neighbors import knn
from ._common import about, any_of
from ._masked import sample_valid
from ._tensors import require

__all__ = [
    "farthest_point_sampling", "farthest_point_sampling_with_assign", "farthest_point_sampling_with_knn",
    "nearest_assign",
]


def farthest_point_sampling(
    points: Tensor,
    valid_mask: Tensor,
    k: int,
    *,
    start_idx: Tensor | None = None,
    random_start: bool = True,
    generator: torch.Generator | None = None,
    precision: torch.dtype | None = None,
    validate: bool = True,
    assume_finite: bool = False,
) -> Tensor:
    """Choose int64 rows (B, k) of points (B, N, D).

    As ``torch_fps.farthest_point_sampling``, differing on purpose as all functions here.
    """
    return _sampled(points, valid_mask, k, start_idx, random_start, generator, precision, validate)[2]


def farthest_point_sampling_with_knn(
    points: Tensor,
    valid_mask: Tensor,
    k: int,
    k_neighbors: int,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """Choose rows (B, k), and find the k_neighbors nearest valid rows (B, k, k_neighbors) of each, the nearest first;
    missing ones are the chosen row itself.

    Takes the options of ``farthest_point_sampling``. As ``torch_fps.farthest_point_sampling_with_knn``, differing on
    purpose as all functions here.
    """
    if not 0 < k_neighbors <= points.shape[1]:
        raise ValueError(f"k_neighbors is {k_neighbors}; it must be from 1 to {points.shape[1]} ({about(points)})")
    clouds, valid, rows = _sampled(points, valid_mask, k, **{**_DEFAULTS, **options})
    order = valid.logical_not().to(torch.uint8).argsort(dim=1, stable=True)
    placed = _rows_of(clouds, order)
    found = knn(_rows_of(clouds, rows), placed, k_neighbors, y_lengths=valid.sum(1).clamp(min=1)).indices
    real = order.gather(1, found.clamp(min=0).flatten(1)).view(found.shape)
    return rows, torch.where(found < 0, rows.unsqueeze(-1), real)


def farthest_point_sampling_with_assign(
    points: Tensor,
    valid_mask: Tensor,
    k: int,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """Choose rows (B, k), and for each point (B, N) which of the k is nearest; 0 for padding.

    Takes the options of ``farthest_point_sampling``. As ``torch_fps.farthest_point_sampling_with_assign``, differing on
    purpose as all functions here.
    """
    clouds, valid, rows = _sampled(points, valid_mask, k, **{**_DEFAULTS, **options})
    if k == 0:
        return rows, rows.new_zeros(valid.shape)
    return rows, nearest(clouds, _rows_of(clouds, rows)).indices.masked_fill(~valid, 0)


def nearest_assign(
    p_flat: Tensor, cents: Tensor, starts: Tensor, counts: Tensor, n_max: int, k: int
) -> Tensor:
    """Find for each of (N, D) points, concatenated by cloud, which of its cloud's k centers is nearest: int64 (N,),
    from centers (B * k, D), and the offset and number of points of each cloud (B,).

    As ``torch_fps.nearest_assign``, differing on purpose as all functions here. ``n_max`` is ignored.
    """
    require(p_flat=p_flat, cents=cents, starts=starts, counts=counts)
    points, centers = p_flat.detach().float(), cents.detach().float()
    if points.numel() == 0 or starts.numel() == 0:
        return torch.empty(len(points), dtype=torch.int64, device=points.device)
    first = torch.arange(0, len(centers) + 1, k, device=points.device)
    offsets = torch.cat([starts, (starts[-1:] + counts[-1:])]).to(torch.int64)
    found = knn(points, centers, 1, x_offsets=offsets, y_offsets=first).indices.squeeze(1)
    return found.clamp(min=0) % k


#: Options of ``farthest_point_sampling``.
_DEFAULTS: dict[str, Any] = {
    "start_idx": None, "random_start": True, "generator": None, "precision": None, "validate": True,
    "assume_finite": False,
}


def _sampled(
    points: Tensor, valid_mask: Tensor, k: int, start_idx: Tensor | None, random_start: bool,
    generator: torch.Generator | None, precision: torch.dtype | None, validate: bool, assume_finite: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the points in the dtype of the computation, with zeros for padding, the mask of valid ones, and the
    chosen rows."""
    require(points=points, valid_mask=valid_mask, start_idx=start_idx)
    if points.dim() != 3 or valid_mask.shape != points.shape[:2]:
        raise ValueError(f"valid_mask has shape {tuple(valid_mask.shape)}; it must be (B, N) of {about(points)}")
    if k < 0 or (k > 0 and points.shape[1] == 0):
        raise ValueError(f"k is {k}; it must be from 0 to the number of points ({about(points)})")
    clouds = points.detach().to(precision or torch.float32)
    clouds = clouds if clouds.dtype == torch.float64 else clouds.float()
    valid = valid_mask.to(points.device, torch.bool) & clouds.isfinite().all(-1)
    clouds = clouds.masked_fill(~valid.unsqueeze(-1), 0)
    if k == 0:
        return clouds, valid, valid.new_empty((len(points), 0), dtype=torch.int64)
    if validate and any_of(valid.sum(1) < k):
        raise ValueError(f"k is {k}, and a cloud has fewer valid points ({about(points)})")
    start = _starts(valid, start_idx, random_start, generator, validate)
    return clouds, valid, sample_valid(clouds, valid, k, start)


def _starts(
    valid: Tensor, start_idx: Tensor | None, random_start: bool, generator: torch.Generator | None, validate: bool
) -> Tensor:
    first = valid.to(torch.uint8).argmax(1)
    if start_idx is None:
        if not random_start:
            return first
        drawn = torch.rand(valid.shape, device=valid.device, generator=generator)
        return drawn.masked_fill(~valid, -1).argmax(1)
    rows = valid.shape[1]
    if start_idx.numel() != len(valid) or start_idx.device != valid.device:
        raise ValueError(f"start_idx has shape {tuple(start_idx.shape)}; it must be ({len(valid)},) on {valid.device}")
    start = start_idx.reshape(-1).long()
    if validate and any_of((start < 0) | (start >= rows)):
        raise ValueError(f"start_idx has a row that is none of {rows}")
    safe = start.clamp(0, rows - 1)
    is_valid = valid.gather(1, safe.unsqueeze(1)).squeeze(1) & (safe == start)
    return torch.where(is_valid, start, first)


def _rows_of(clouds: Tensor, rows: Tensor) -> Tensor:
    return clouds.gather(1, rows.unsqueeze(-1).expand(*rows.shape, clouds.shape[-1]))
