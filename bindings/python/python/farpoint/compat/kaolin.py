"""In place of ``kaolin.metrics.pointcloud``: ``chamfer_distance`` and ``sided_distance``."""

from __future__ import annotations

from torch import Tensor

from ..neighbors import nearest, nearest_both
from ._common import refuse_single

__all__ = ["chamfer_distance", "sided_distance"]


def sided_distance(p1: Tensor, p2: Tensor) -> tuple[Tensor, Tensor]:
    """(B, N, 3) and (B, M, 3) tensors -> for each point of p1 its squared distance to the nearest of
    p2 (B, N), which can be differentiated, and that point's index (B, N), int64.

    As ``kaolin.metrics.pointcloud.sided_distance``. Differs on purpose: gradients are the same bits on
    every run, ties go to the lowest index, the CPU is allowed. float16 and bfloat16 are computed in
    float32, and only the answer is rounded to the type of p1.
    """
    refuse_single(p1, p2)
    distances, indices = nearest(p1, p2)
    return distances.to(p1.dtype), indices


def chamfer_distance(
    p1: Tensor, p2: Tensor, w1: float = 1.0, w2: float = 1.0, squared: bool = True
) -> Tensor:
    """(B, N, 3) and (B, M, 3) tensors -> (B,): ``w1`` times the mean distance from p1 to p2 plus ``w2``
    times that from p2 to p1; squared distances, or plain ones.

    As ``kaolin.metrics.pointcloud.chamfer_distance``. Differs as ``sided_distance``; the gradient of a
    plain distance of 0 is 0.
    """
    refuse_single(p1, p2)
    (dist1, _), (dist2, _) = nearest_both(p1, p2, squared=squared)
    return (w1 * dist1.mean(dim=-1) + w2 * dist2.mean(dim=-1)).to(p1.dtype)
