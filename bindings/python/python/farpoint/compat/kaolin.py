"""Drop-in replacement for ``kaolin.metrics.pointcloud`` (``chamfer_distance``, ``f_score``, ``sided_distance``) and
``kaolin.ops.pointcloud`` (``center_points``, ``farthest_point_sampling``).

All accept batches (B, N, D) of float32, float64, float16 and bfloat16 with any D, also on the CPU;
float16 and bfloat16 are computed in float32, and only the result is rounded to their dtype. All differ
on purpose: CPU and GPU give the same indices and distances, ties go to the lowest index, arrays raise
TypeError and other bad arguments ValueError. NaN, infinity and an empty other cloud raise
ValueError on the CPU; on a GPU their distances are infinite, and ``farpoint.check`` finds such points.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..matching import nearest, nearest_both
from ..sampling import sample
from ._common import about, any_of, refuse_single
from ._tensors import require

__all__ = [
    "center_points", "chamfer_distance", "f_score", "farthest_point_sampling", "sided_distance",
]


def sided_distance(p1: Tensor, p2: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the squared distance (B, N) of each point of p1 (B, N, 3) to the nearest of p2 (B, M, 3),
    which is differentiable, and that point's int64 index (B, N).

    As ``kaolin.metrics.pointcloud.sided_distance``. Differs on purpose as all functions here;
    gradients have the same bits on every run.
    """
    require(p1=p1, p2=p2)
    refuse_single(p1, p2)
    distances, indices = nearest(p1, p2)
    return distances.to(p1.dtype), indices


def chamfer_distance(
    p1: Tensor, p2: Tensor, w1: float = 1.0, w2: float = 1.0, squared: bool = True
) -> Tensor:
    """Compute the Chamfer distance (B,) of (B, N, 3) and (B, M, 3) tensors: ``w1`` times the mean distance from p1
    to p2 plus ``w2`` times that from p2 to p1; squared distances, or plain ones.

    As ``kaolin.metrics.pointcloud.chamfer_distance``. Differs on purpose as ``sided_distance``; the
    gradient of a plain distance of 0 is 0.
    """
    require(p1=p1, p2=p2)
    refuse_single(p1, p2)
    (dist1, _), (dist2, _) = nearest_both(p1, p2, squared=squared)
    value: Tensor = w1 * dist1.mean(dim=-1) + w2 * dist2.mean(dim=-1)
    return value.to(p1.dtype)


def f_score(
    gt_points: Tensor, pred_points: Tensor, radius: float = 0.01, eps: float = 1e-8
) -> Tensor:
    """Compute the F-score (B,) of (B, M, 3) predicted points against (B, N, 3) true ones, in the dtype of gt_points
    and without a gradient.

    A predicted point is a true positive if a true point is no farther than the radius, and a false
    positive otherwise; a true point without such a predicted point is a false negative. With precision
    tp / (tp + fp) and recall tp / (tp + fn) it is
    ``2 * precision * recall / (precision + recall + eps)``. As ``kaolin.metrics.pointcloud.f_score``.
    Differs on purpose as all functions here; points of float16 are counted in float32.
    """
    require(gt_points=gt_points, pred_points=pred_points)
    refuse_single(gt_points, pred_points)
    true, predicted = nearest_both(gt_points.detach(), pred_points.detach(), squared=False)
    kind, inside = true.distances.dtype, predicted.distances <= radius
    missed = (true.distances > radius).sum(dim=1).to(kind)
    hits, wrong = [mask.sum(dim=1).to(kind) for mask in (inside, ~inside)]
    precision, recall = hits / (hits + wrong), hits / (hits + missed)
    score: Tensor = 2 * (precision * recall) / (precision + recall + eps)
    return score.to(gt_points.dtype)


def center_points(points: Tensor, normalize: bool = False, eps: float = 1e-6) -> Tensor:
    """Center the bounding box of each cloud of (B, N, D) points at the origin; with ``normalize`` also
    divide by its longest edge, or eps, if that is longer, so that coordinates are in -0.5..0.5.

    As ``kaolin.ops.pointcloud.center_points``. Differs on purpose: clouds may be empty. NaN makes its
    cloud NaN, as in the original.
    """
    require(points=points)
    _refuse_no_batch(points)
    if points.shape[1] == 0:
        return points.clone()
    low, high = points.amin(1, keepdim=True), points.amax(1, keepdim=True)
    centered = points - (low + high) / 2
    if not normalize:
        return centered
    return centered / (high - low).amax(-1, keepdim=True).clamp(min=eps)


def farthest_point_sampling(points: Tensor, k: int) -> Tensor:
    """Choose (B, k) int64 indices of (B, N, 3) points by farthest point sampling, starting from the point
    farthest from the mean of its cloud. Non-finite points come last, by ascending index.

    As ``kaolin.ops.pointcloud.farthest_point_sampling``. Differs on purpose: indices are on the device
    of the points (the original's are on the CPU), the mean is computed in float64 and rounded to the dtype of
    the points, the same on every run, and the order of points with NaN does not depend on the order of threads.
    Synchronizes a GPU.
    """
    require(points=points)
    _refuse_no_batch(points)
    cloud = points.detach()
    cloud = cloud.float() if cloud.dtype in (torch.float16, torch.bfloat16) else cloud
    clouds, rows, _ = cloud.shape
    usable = cloud.isfinite().all(-1)
    if not any_of(~usable):
        return sample(cloud, k, start=_starts(cloud, None)) if rows else sample(cloud, k)
    # Usable rows first, each kind by ascending index.
    order = torch.argsort((~usable).long(), dim=1, stable=True)
    lengths = usable.sum(1)
    cloud = cloud.masked_fill(~usable.unsqueeze(-1), 0).gather(1, order.unsqueeze(-1).expand_as(cloud))
    if k > rows:
        raise ValueError(f"{k} samples of {rows} points ({about(points)})")
    # A cloud without a usable row samples an unusable row instead.
    chosen = sample(cloud, k, lengths=lengths.clamp(min=1), start=_starts(cloud, lengths))
    places = torch.arange(k, device=cloud.device).expand(clouds, -1)
    return order.gather(1, torch.where(places < lengths.unsqueeze(-1), chosen, places))


def _starts(cloud: Tensor, lengths: Tensor | None) -> Tensor:
    """Returns (B, 1): the first of the rows farthest from the mean of their cloud, whose padding is
    0."""
    rows = cloud.shape[1]
    count = rows if lengths is None else lengths.clamp(min=1).view(-1, 1, 1)
    mean = (cloud.double().sum(1, keepdim=True) / count).to(cloud.dtype)
    distances = (cloud - mean).square().sum(-1)
    if lengths is not None:
        beyond = torch.arange(rows, device=cloud.device) >= lengths.unsqueeze(-1)
        distances = distances.masked_fill(beyond, -1)
    return distances.argmax(1, keepdim=True)


def _refuse_no_batch(points: Tensor) -> None:
    if points.dim() != 3:
        raise ValueError(f"Points have unexpected shape {tuple(points.shape)}; they must be (B, N, D)")
