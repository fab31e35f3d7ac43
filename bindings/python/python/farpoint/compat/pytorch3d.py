"""In place of ``pytorch3d.ops.sample_farthest_points`` and ``pytorch3d.loss.chamfer_distance``."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor

from .._torch.transfer import sent
from ..neighbors import nearest, nearest_both
from ..sampling import sample, sample_padded
from ._common import any_of, refuse_single, whole

__all__ = ["chamfer_distance", "sample_farthest_points"]


def sample_farthest_points(
    points: Tensor,
    lengths: Tensor | None = None,
    K: Any = 50,
    random_start_point: bool = False,
) -> tuple[Tensor, Tensor]:
    """(N, P, D) clouds -> chosen points (N, K, D), and indices (N, K), int64.

    Parameters
    ----------
    points:
        (N, P, D) float32 or float64; float16 and bfloat16 are converted to float32 without loss.
    lengths:
        (N,) points of each cloud that count.
    K:
        Points wanted: an int, or one per cloud (a list or an (N,) tensor). A cloud that has fewer
        gives all; K is then the largest, places left over hold index -1 and point 0.
    random_start_point:
        Start at a random point, drawn by PyTorch's generator; else at point 0.

    Gradients go through the chosen points. Differs on purpose: no index comes twice, batches of 2
    to 7 clouds are right on CUDA, coordinates may span more than 1e5, CPU and CUDA agree, ties go to
    the lowest index. Random starts are other ones. A tensor of K waits for a GPU that has it.
    """
    clouds, rows, dims = points.shape
    if lengths is not None and lengths.shape != (clouds,):
        raise ValueError("points and lengths must have same batch dimension.")
    if lengths is None:
        limits = torch.full((clouds,), rows, dtype=torch.int64, device=points.device)
    else:
        limits = sent(lengths, points.device).clamp(0, rows)
    start: Any = 0
    if random_start_point:
        drawn = torch.rand(clouds, device=points.device, dtype=torch.float64) * limits
        start = torch.minimum(drawn.long(), limits - 1).clamp(min=0).unsqueeze(-1)
    if isinstance(K, int):
        indices = sample(points, K, lengths=limits, start=start)
    else:
        each = whole(K)
        if len(each) != clouds:
            raise ValueError("K and points must have the same batch dimension")
        indices = sample_padded(points, each, lengths=limits, start=start)
    chosen = points.gather(1, indices.clamp(min=0).unsqueeze(-1).expand(-1, -1, dims))
    return chosen.masked_fill((indices < 0).unsqueeze(-1), 0), indices


def chamfer_distance(
    x: Any,
    y: Any,
    x_lengths: Tensor | None = None,
    y_lengths: Tensor | None = None,
    x_normals: Tensor | None = None,
    y_normals: Tensor | None = None,
    weights: Tensor | None = None,
    batch_reduction: str | None = "mean",
    point_reduction: str | None = "mean",
    norm: int = 2,
    single_directional: bool = False,
    abs_cosine: bool = True,
) -> tuple[Any, Any]:
    """Chamfer distance of (N, P1, D) and (N, P2, D) clouds, or of ``Pointclouds``: squared distances,
    the mean of each side, added; then the mean over the batch.

    Parameters
    ----------
    x_lengths, y_lengths:
        (N,) points of each cloud that count.
    x_normals, y_normals:
        (N, P, 3) normals, for a second loss: one minus the cosine between a point's normal and its
        nearest point's (``abs_cosine``: its absolute value).
    weights:
        (N,) of each cloud, not negative.
    batch_reduction, point_reduction:
        "mean", "sum" or None; for points "max" too, the larger of both sides' largest distances.
        No point reduction: (N, P) values for each side, and no batch reduction.
    norm:
        2 (squared) or 1.
    single_directional:
        From x to y only.

    Returns
    -------
    ``(loss, loss_normals)``; the second is None without normals.

    Differs on purpose: gradients are the same bits on every run, ties go to the lowest index, NaN is
    a ValueError on the CPU; float16 and bfloat16 are taken, and give float32. Weights and lengths wait
    for a GPU that has them, as in the original, which refuses bad ones, too.
    """
    _check_reductions(batch_reduction, point_reduction, x_normals, y_normals)
    if norm not in (1, 2):
        raise ValueError("Support for 1 or 2 norm.")
    x, x_lengths, x_normals = _unpacked(x, x_lengths, x_normals)
    y, y_lengths, y_normals = _unpacked(y, y_lengths, y_normals)
    if weights is not None and weights.shape[0] != x.shape[0]:
        raise ValueError("weights must be of shape (N,).")
    if weights is not None and any_of(weights < 0):
        raise ValueError("weights cannot be negative.")
    found = _found(x, y, x_lengths, y_lengths, norm, single_directional)
    sides = []
    for k, (lengths, own, other) in enumerate(
        [(x_lengths, x_normals, y_normals), (y_lengths, y_normals, x_normals)][: len(found) // 2]
    ):
        distances, indices = found[2 * k], found[2 * k + 1]
        angles = None
        if own is not None and other is not None:
            angles = _angles(own, other, indices, abs_cosine)
        sides.append([
            _reduced(values, indices, lengths, weights, batch_reduction, point_reduction)
            for values in (distances, angles)
        ])
    if single_directional:
        return sides[0][0], sides[0][1]
    loss, loss_normals = (_both(a, b, point_reduction) for a, b in zip(*sides))
    return loss, loss_normals


def _found(
    x: Tensor, y: Any, x_lengths: Any, y_lengths: Any, norm: Any, single_directional: bool
) -> list[Tensor]:
    """Distances and indices of x, and of y in both directions."""
    refuse_single(x, y)
    if single_directional:
        return list(nearest(x, y, x_lengths=x_lengths, y_lengths=y_lengths, norm=norm))
    sides = nearest_both(x, y, x_lengths=x_lengths, y_lengths=y_lengths, norm=norm)
    return [*sides[0], *sides[1]]


def _check_reductions(batch: str | None, point: str | None, *normals: Tensor | None) -> None:
    if batch not in ("mean", "sum", None):
        raise ValueError('batch_reduction must be one of ["mean", "sum"] or None')
    if point not in ("mean", "sum", "max", None):
        raise ValueError('point_reduction must be one of ["mean", "sum", "max"] or None')
    if point is None and batch is not None:
        raise ValueError("Batch reduction must be None if point_reduction is None")
    if point == "max" and any(given is not None for given in normals):
        raise ValueError('Normals must be None if point_reduction is "max"')


def _unpacked(points: Any, lengths: Any, normals: Any) -> tuple[Tensor, Any, Any]:
    """Tensors of a ``Pointclouds`` object, or the tensor itself."""
    if hasattr(points, "points_padded"):
        return points.points_padded(), points.num_points_per_cloud(), points.normals_padded()
    if not isinstance(points, Tensor) or points.dim() != 3:
        raise ValueError("Expected points to be of shape (N, P, D)")
    if lengths is not None:
        if lengths.dim() != 1 or lengths.shape[0] != points.shape[0]:
            raise ValueError("Expected lengths to be of shape (N,)")
        if any_of(lengths > points.shape[1]):
            raise ValueError("A length value was too long")
    return points, lengths, normals


def _angles(own: Tensor, other: Tensor, indices: Tensor, abs_cosine: bool) -> Tensor:
    rows = indices.clamp(min=0).unsqueeze(-1).expand(-1, -1, other.shape[2])
    cosine = functional.cosine_similarity(own, other.gather(1, rows), dim=2, eps=1e-6)
    return (1 - (cosine.abs() if abs_cosine else cosine)).masked_fill(indices < 0, 0)


def _reduced(
    values: Tensor | None, indices: Tensor, lengths: Tensor | None, weights: Tensor | None,
    batch_reduction: str | None, point_reduction: str | None,
) -> Tensor | None:
    if values is None:
        return None
    if weights is not None:
        values = values * weights.unsqueeze(-1)
    if point_reduction is None:
        return values
    if point_reduction == "max":
        values = values.amax(dim=1)
    else:
        values = values.sum(dim=1)
    if point_reduction == "mean":
        count = indices.shape[1] if lengths is None else lengths.to(values.device).clamp(min=1)
        values = values / count
    if batch_reduction is None:
        return values
    total = values.sum()
    if batch_reduction == "sum":
        return total
    if weights is None:
        return total / max(len(values), 1)
    weight = weights.sum()
    return torch.where(weight > 0, total / weight.clamp(min=torch.finfo(weight.dtype).tiny), total)


def _both(a: Tensor | None, b: Tensor | None, point_reduction: str | None) -> Any:
    if a is None or b is None:
        return None
    if point_reduction is None:
        return a, b
    return torch.maximum(a, b) if point_reduction == "max" else a + b
