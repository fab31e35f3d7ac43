"""Drop-in replacement for ``pytorch3d.loss``: the Chamfer distance.

    from pytorch3d.loss import chamfer_distance    ->    from farpoint.compat.pytorch3d.loss import ..
"""

from __future__ import annotations

from typing import Any, Literal, cast

import torch
import torch.nn.functional as functional
from torch import Tensor

from ...matching import nearest, nearest_both
from ...operators import gather
from .._common import about, any_of
from .._tensors import require
from ._padding import beyond, check_lengths, refuse_outside, search

__all__ = ["chamfer_distance"]


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
    """Compute the Chamfer distance of (N, P1, D) and (N, P2, D) clouds, or of ``Pointclouds``: the sum of the mean
    squared distances of both sides, averaged over the batch.

    Parameters
    ----------
    x_lengths, y_lengths:
        (N,) number of valid points of each cloud, which may be 0.
    x_normals, y_normals:
        (N, P, 3) normals, for a second loss: one minus the cosine between a point's normal and its
        nearest point's (``abs_cosine``: its absolute value).
    weights:
        (N,) non-negative weights of the clouds, of any numeric dtype.
    batch_reduction, point_reduction:
        "mean", "sum" or None; for points also "max", the maximum over both sides.
        Without point reduction: (N, P) values for each side, and no batch reduction.
    norm:
        2 (squared) or 1.
    single_directional:
        Use the direction from x to y only.

    Returns
    -------
    ``(loss, loss_normals)``; the second is None without normals.

    An empty cloud counts as 0, and so do distances to it; normals without a nearest point count
    as orthogonal, 1, as in the original.

    Differs on purpose: gradients have the same bits on every run, ties go to the lowest index, NaN and
    infinity raise ValueError on the CPU (on a GPU the loss is inf or NaN); float16 and bfloat16 are
    supported, and give float32; the gradient of norm 1 is 0 where two coordinates are equal, not -1.
    Weights of 0 give 0 in the usual shapes, and no second loss without normals. Weights and lengths on a
    GPU synchronize, as in the original, which also checks them.
    """
    _check_reductions(batch_reduction, point_reduction, x_normals, y_normals)
    if norm not in (1, 2):
        raise ValueError("Support for 1 or 2 norm.")
    x, x_lengths, x_normals = _unpacked(x, x_lengths, x_normals)
    y, y_lengths, y_normals = _unpacked(y, y_lengths, y_normals)
    if y.shape[0] != x.shape[0] or y.shape[2] != x.shape[2]:
        raise ValueError(f"y does not have the correct shape. ({about(x)}; {about(y)})")
    weights = _checked_weights(weights, x)
    neighbors = _search(x, y, x_lengths, y_lengths, norm, single_directional)
    losses = []
    for k, (lengths, normals, other_normals) in enumerate(
        [(x_lengths, x_normals, y_normals), (y_lengths, y_normals, x_normals)][: len(neighbors) // 2]
    ):
        distances, indices = neighbors[2 * k], neighbors[2 * k + 1]
        angles = None
        if normals is not None and other_normals is not None:
            angles = _angles(normals, other_normals, indices, lengths, abs_cosine)
        losses.append([
            _reduced(values, lengths, weights, batch_reduction, point_reduction)
            for values in (distances, angles)
        ])
    if single_directional:
        return losses[0][0], losses[0][1]
    loss, loss_normals = (_both(a, b, point_reduction) for a, b in zip(*losses))
    return loss, loss_normals


def _search(
    x: Tensor, y: Tensor, x_lengths: Any, y_lengths: Any, norm: int, single_directional: bool
) -> list[Tensor]:
    """Returns distances and indices of x, and of y in searches of both directions."""
    which = cast(Literal[1, 2], norm)

    def find(a: Tensor, b: Tensor, **lengths: Any) -> list[Tensor]:
        if single_directional:
            return list(nearest(a, b, norm=which, **lengths))
        forward, backward = nearest_both(a, b, norm=which, **lengths)
        return [*forward, *backward]

    shapes = [(x.shape[1],)] * 2 + [(y.shape[1],)] * (0 if single_directional else 2)
    return search(x, y, x_lengths, y_lengths, find, shapes)


def _check_reductions(batch: str | None, point: str | None, *normals: Tensor | None) -> None:
    if batch not in ("mean", "sum", None):
        raise ValueError('batch_reduction must be one of ["mean", "sum"] or None')
    if point not in ("mean", "sum", "max", None):
        raise ValueError('point_reduction must be one of ["mean", "sum", "max"] or None')
    if point is None and batch is not None:
        raise ValueError("Batch reduction must be None if point_reduction is None")
    if point == "max" and any(normal is not None for normal in normals):
        raise ValueError('Normals must be None if point_reduction is "max"')


def _checked_weights(weights: Any, x: Tensor) -> Tensor | None:
    require(weights=weights)
    if weights is None:
        return None
    if weights.dim() != 1 or weights.shape[0] != x.shape[0]:
        raise ValueError(f"weights must be of shape (N,). ({tuple(weights.shape)}; {about(x)})")
    if any_of(weights < 0):
        raise ValueError("weights cannot be negative.")
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    checked: Tensor = weights if weights.is_floating_point() else weights.to(wide)
    return checked


def _unpacked(points: Any, lengths: Any, normals: Any) -> tuple[Tensor, Any, Any]:
    """Returns the tensors of a ``Pointclouds`` object, or the tensor itself."""
    if hasattr(points, "points_padded"):
        return points.points_padded(), points.num_points_per_cloud(), points.normals_padded()
    if not isinstance(points, Tensor):
        raise ValueError(
            "The input pointclouds should be either Pointclouds objects or torch.Tensor of shape "
            f"(minibatch, num_points, 3), not {type(points).__qualname__}"
        )
    if points.dim() != 3:
        raise ValueError(f"Expected points to be of shape (N, P, D) ({about(points)})")
    if lengths is not None:
        require(lengths=lengths)
        if lengths.shape != points.shape[:1]:
            raise ValueError(
                f"Expected lengths to be of shape (N,) ({tuple(lengths.shape)}; {about(points)})"
            )
        refuse_outside(lengths, points, "lengths")
    if normals is not None:
        require(normals=normals)
        if normals.dim() != 3 or normals.shape[:2] != points.shape[:2]:
            raise ValueError(
                f"Expected normals to be of shape (N, P, 3) ({tuple(normals.shape)}; {about(points)})"
            )
    return points, check_lengths(lengths, points, "lengths"), normals


def _angles(
    normals: Tensor, other_normals: Tensor, indices: Tensor, lengths: Tensor | None, abs_cosine: bool
) -> Tensor:
    nearest_normals = gather(other_normals, indices) if other_normals.shape[1] else torch.zeros_like(normals)
    cosine = functional.cosine_similarity(normals, nearest_normals, dim=2, eps=1e-6)
    angles = 1 - (cosine.abs() if abs_cosine else cosine)
    if lengths is None:
        return angles
    return angles.masked_fill(beyond(lengths, normals.shape[1], normals.device), 0)


def _reduced(
    values: Tensor | None, lengths: Tensor | None, weights: Tensor | None, batch_reduction: str | None,
    point_reduction: str | None,
) -> Tensor | None:
    if values is None:
        return None
    rows = values.shape[1]
    if weights is not None:
        values = values * weights.unsqueeze(-1)
    if point_reduction is None:
        return values
    # An empty cloud has no maximum either.
    values = values.amax(dim=1) if point_reduction == "max" and rows else values.sum(dim=1)
    if point_reduction == "mean":
        values = values / (max(rows, 1) if lengths is None else lengths.to(values.device).clamp(min=1))
    if batch_reduction is None:
        return values
    total = values.sum()
    if batch_reduction == "sum":
        return total
    if weights is None:
        return total / max(len(values), 1)
    weight = weights.sum()
    return total / weight.masked_fill(weight == 0, 1)


def _both(a: Tensor | None, b: Tensor | None, point_reduction: str | None) -> Any:
    if a is None or b is None:
        return None
    if point_reduction is None:
        return a, b
    return torch.maximum(a, b) if point_reduction == "max" else a + b
