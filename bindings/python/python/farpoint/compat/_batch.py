"""Functions shared by replacements of PointNet++ libraries: clouds (B, N, 3), channels-first features (B, C, N),
int32 indices, and groups padded with the first neighbor."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from ..neighbors import ball_query as neighbors_within
from ..neighbors import knn
from ..operators import gather, interpolate
from ..sampling import sample
from ._common import refuse_beyond_int32


def refuse_shape(name: str, argument: Any, shape: str) -> None:
    """Raises unless the argument is a tensor with as many dimensions as the shape."""
    if not isinstance(argument, Tensor):
        raise TypeError(
            f"{name} must be a torch.Tensor, not {type(argument).__name__}; the functions of farpoint itself "
            "take arrays of other libraries"
        )
    if argument.dim() != shape.count(",") + 1:
        raise ValueError(f"{name} must be of shape ({shape}), not {tuple(argument.shape)}")


def detached(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Returns both without gradients; the same tensor if they are one cloud, to detect searches in itself."""
    x_detached = x.detach() if x.requires_grad else x
    if y is x:
        return x_detached, x_detached
    return x_detached, y.detach() if y.requires_grad else y


def furthest_point_sample(xyz: Tensor, npoint: int, /) -> Tensor:
    """Choose int32 indices (B, npoint) of (B, N, 3) points by farthest point sampling, starting from point 0.

    As the function of that name in pointnet2_ops, OpenPCDet, mmcv and openpoints. Differs on purpose:
    points near the origin are not skipped (pointnet2_ops skips |p|^2 <= 1e-3), coordinates may span
    more than 1e5, ties go to the lowest index and not to the lowest thread, so that a result may diverge
    from theirs after some hundred points of equal distance; no index repeats while there are
    others; float64, other numbers of coordinates, strides and the CPU are supported.

    For ``npoint`` above N: all N points in order, padded with index 0, as in these libraries; networks
    rely on it to pad small clouds (OpenPCDet's PV-RCNN repeats the first N itself).
    ``farpoint.sample`` raises an error.
    """
    refuse_shape("xyz", xyz, "B, N, 3")
    refuse_beyond_int32(xyz)
    points = xyz.shape[1]
    # An empty cloud raises an error.
    rows: Tensor = sample(xyz, min(npoint, points) if points else npoint)
    return functional.pad(rows.to(torch.int32), (0, max(npoint - points, 0)))


def repeat_first(indices: Tensor) -> Tensor:
    """Returns ascending indices (.., k) whose missing ones (-1, the last) are replaced by the first, or by 0 if there
    is none."""
    return torch.maximum(indices, indices[..., :1]).clamp_(min=0)


def ball_query(
    radius: float, nsample: int, xyz: Tensor, new_xyz: Tensor, min_radius: float = 0.0
) -> Tensor:
    """Find indices (B, M, nsample) of the first points of xyz (B, N, 3) around each of new_xyz (B, M, 3)."""
    refuse_shape("xyz", xyz, "B, N, 3")
    refuse_shape("new_xyz", new_xyz, "B, npoint, 3")
    refuse_beyond_int32(xyz)
    centers, points = detached(new_xyz, xyz)
    balls = neighbors_within(
        centers, points, radius, nsample, min_radius=min_radius, index_dtype=torch.int32
    )
    return repeat_first(balls.indices)


def nearest_k(k: int, xyz: Tensor, new_xyz: Tensor) -> tuple[Tensor, Tensor]:
    """Returns plain distances and int32 indices (B, M, k) of the nearest points of xyz; infinity and 0 where
    missing."""
    refuse_beyond_int32(xyz)
    centers, points = detached(new_xyz, xyz)
    neighbors = knn(centers, points, k, squared=False, index_dtype=torch.int32)
    return neighbors.distances, neighbors.indices.clamp(min=0)


def three_nn(unknown: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
    """Find the plain distances (B, n, 3) of the three nearest known points (B, m, 3) for unknown points (B, n, 3),
    and their int32 indices.

    With fewer than three known points the rest has distance infinity and index 0, so that its weight
    1 / distance is 0. Distances have no gradient, as in the original. Differs on purpose: they are not
    fused, ties go to the lowest index, float64, other numbers of coordinates and the CPU are supported;
    no known points raise ValueError on the CPU.
    """
    refuse_shape("unknown", unknown, "B, n, 3")
    refuse_shape("known", known, "B, m, 3")
    return nearest_k(3, known, unknown)


def three_interpolate(features: Tensor, idx: Tensor, weight: Tensor) -> Tensor:
    """Compute (B, C, n) weighted sums of (B, C, m) features by (B, n, 3) indices and weights.

    Differs on purpose: gradients have the same bits on every run, and weights have one, too; any index
    dtype, number of neighbors and device, float64, and half precision, which is summed in float32, are supported; an
    index out of range is an IndexError or ValueError on the CPU, and counts as 0 on a GPU.
    """
    refuse_shape("features", features, "B, C, m")
    refuse_shape("idx", idx, "B, n, 3")
    refuse_shape("weight", weight, "B, n, 3")
    kind = torch.promote_types(features.dtype, torch.float32)
    rows = features.transpose(1, 2).contiguous()
    result: Tensor = interpolate(rows, idx.contiguous(), weight.to(kind).contiguous())
    return result.transpose(1, 2).contiguous()


def gather_operation(features: Tensor, idx: Tensor) -> Tensor:
    """Gather (B, C, N) features by (B, npoint) indices to (B, C, npoint).

    Differs on purpose: gradients have the same bits on every run; any index dtype (int64 is not read as
    int32), device and dtype of features; an index out of range is an error on the CPU and 0 on a GPU.
    """
    refuse_shape("features", features, "B, C, N")
    refuse_shape("idx", idx, "B, npoint")
    return gather_channels(features, idx)


def grouping_operation(features: Tensor, idx: Tensor) -> Tensor:
    """Gather (B, C, N) features by (B, npoint, nsample) indices to (B, C, npoint, nsample).

    Differs as ``gather_operation``.
    """
    refuse_shape("features", features, "B, C, N")
    refuse_shape("idx", idx, "B, npoint, nsample")
    return gather_channels(features, idx)


def gather_channels(features: Tensor, idx: Tensor) -> Tensor:
    """Gathers (B, C, N) features by (B, ..) indices to (B, C, ..), by contiguous rows."""
    rows: Tensor = gather(features.transpose(1, 2).contiguous(), idx.contiguous())
    return rows.movedim(-1, 1).contiguous()


def grouped(xyz: Tensor, new_xyz: Tensor, idx: Tensor, features: Tensor | None) -> list[Tensor]:
    """Returns positions around each center (B, M, k, 3), and features (B, M, k, C) if there are any."""
    idx = idx.contiguous()
    offsets = gather(xyz.contiguous(), idx) - new_xyz.unsqueeze(2)
    if features is None:
        return [offsets]
    refuse_shape("features", features, "B, C, N")
    return [offsets, gather(features.transpose(1, 2).contiguous(), idx)]


def channels_first(parts: list[Tensor]) -> Tensor:
    """Concatenates (B, M, k, C) tensors to (B, C, M, k)."""
    joined = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
    return joined.movedim(-1, 1).contiguous()


def spread_evenly(idx: Tensor) -> tuple[Tensor, Tensor]:
    """Returns indices (B, M, k) with the distinct ones of each group, ascending, padded with random ones of them; and
    the number of distinct ones, (B, M)."""
    ascending = idx.sort(dim=-1).values
    is_repeat = functional.pad(ascending[..., 1:] == ascending[..., :-1], (1, 0))
    distinct_first = ascending.gather(-1, is_repeat.to(torch.uint8).sort(dim=-1, stable=True).indices)
    counts = (~is_repeat).sum(dim=-1)
    drawn = (torch.rand(idx.shape, device=idx.device) * counts.unsqueeze(-1)).long()
    drawn = torch.minimum(drawn, counts.unsqueeze(-1) - 1)
    places = torch.arange(idx.shape[-1], device=idx.device)
    return distinct_first.gather(-1, torch.where(places < counts.unsqueeze(-1), places, drawn)), counts


class GroupAll(nn.Module):
    """Groups all points as one: (B, 3 + C, 1, N), or (B, C, 1, N) without ``use_xyz``.

    ``new_xyz`` is ignored. Without features the result is the positions.
    """

    def __init__(self, use_xyz: bool = True) -> None:
        super().__init__()
        self.use_xyz = use_xyz

    def forward(self, xyz: Tensor, new_xyz: Tensor | None, features: Tensor | None = None) -> Tensor:
        refuse_shape("xyz", xyz, "B, N, 3")
        positions = xyz.transpose(1, 2).unsqueeze(2)
        if features is None:
            return positions
        columns = features.unsqueeze(2)
        return torch.cat([positions, columns], dim=1) if self.use_xyz else columns
