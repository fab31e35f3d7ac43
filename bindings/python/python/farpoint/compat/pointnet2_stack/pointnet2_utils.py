"""Drop-in replacement for ``pcdet.ops.pointnet2.pointnet2_stack.pointnet2_utils``: concatenated clouds.

Clouds are (N1 + N2 + .., 3) with a count of each (B,), features (N1 + N2 + .., C), indices int32.
All differ on purpose: distances are not fused and CPU and GPU agree bit for bit, gradients
have the same bits on every run; empty clouds (OpenPCDet #947), strides, float64 and the CPU are
supported. Counts that do not sum to the number of rows raise ValueError on the CPU; only
``stack_farthest_point_sample`` synchronizes a GPU.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn

from ...neighbors import ball_query as neighbors_within
from ...neighbors import knn
from ...operators import gather, interpolate
from .. import _stack
from .._batch import furthest_point_sample, refuse_shape
from .._common import with_apply
from .._stack import grouping_operation, stack_farthest_point_sample

__all__ = [
    "BallQuery", "FarthestPointSampling", "GroupingOperation", "QueryAndGroup",
    "StackFarthestPointSampling", "ThreeInterpolate", "ThreeNN", "ball_query", "farthest_point_sample",
    "furthest_point_sample", "grouping_operation", "stack_farthest_point_sample", "three_interpolate",
    "three_nn",
]

farthest_point_sample = furthest_point_sample


def ball_query(
    radius: float, nsample: int, xyz: Tensor, xyz_batch_cnt: Tensor, new_xyz: Tensor,
    new_xyz_batch_cnt: Tensor,
) -> tuple[Tensor, Tensor]:
    """Find int32 indices (M1 + M2 .., nsample), relative to the cloud, of points around centers, with
    their counts, and which balls are empty, (M1 + M2 ..), with indices 0.

    These are the first ``nsample`` points by index with a distance below the radius, padded with the
    first of them.
    """
    find = functools.partial(_within, radius=radius, k=nsample)
    return _stack.ball_indices(find, nsample, xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt)


def _within(x: Tensor, y: Tensor, *, radius: float, k: int, **options: object) -> object:
    return neighbors_within(x, y, radius, k, **options)  # type: ignore[call-overload]


def three_nn(
    unknown: Tensor, unknown_batch_cnt: Tensor, known: Tensor, known_batch_cnt: Tensor
) -> tuple[Tensor, Tensor]:
    """Find the plain distances (N1 + N2 .., 3) of the three nearest known points (M1 + M2 .., 3) of the cloud for each
    unknown point (N1 + N2 .., 3), and their int32 rows among all known points.

    With fewer than three known points the rest has distance infinity and the first row of the cloud; in
    a cloud without any the row is -1, which ``three_interpolate`` counts as 0. Distances have no
    gradient, as in the original.
    """
    refuse_shape("unknown", unknown, "N1 + N2 .., 3")
    refuse_shape("known", known, "M1 + M2 .., 3")
    offsets = _stack.offsets_of(unknown_batch_cnt, unknown, "unknown_batch_cnt")
    known_offsets = _stack.offsets_of(known_batch_cnt, known, "known_batch_cnt")
    find = functools.partial(knn, k=3, squared=False)
    distances, rows = _stack.search(find, unknown, offsets, known, known_offsets, 3)
    first = known_offsets[_stack.clouds_of(offsets, len(rows))].to(torch.int32)
    first = torch.where(rows[:, 0] < 0, -1, first).unsqueeze(-1)
    return distances, torch.where(rows < 0, first, rows)


def three_interpolate(features: Tensor, idx: Tensor, weight: Tensor) -> Tensor:
    """Compute (N1 + N2 .., C) weighted sums of (M1 + M2 .., C) features by (N1 + N2 .., 3) rows of all of them and
    weights. Weights have a gradient, too, unlike in the original."""
    refuse_shape("features", features, "M1 + M2 .., C")
    refuse_shape("idx", idx, "N1 + N2 .., 3")
    refuse_shape("weight", weight, "N1 + N2 .., 3")
    kind = torch.promote_types(features.dtype, torch.float32)
    result: Tensor = interpolate(features.contiguous(), idx.contiguous(), weight.to(kind).contiguous())
    return result


BallQuery = with_apply("BallQuery", ball_query)
FarthestPointSampling = with_apply("FarthestPointSampling", furthest_point_sample)
GroupingOperation = with_apply("GroupingOperation", grouping_operation)
StackFarthestPointSampling = with_apply("StackFarthestPointSampling", stack_farthest_point_sample)
ThreeInterpolate = with_apply("ThreeInterpolate", three_interpolate)
ThreeNN = with_apply("ThreeNN", three_nn)


class QueryAndGroup(nn.Module):
    """Groups the points within a radius of each center; empty balls give 0.

    Parameters
    ----------
    radius, nsample:
        Radius and number of points of the ball query.
    use_xyz:
        Prepend positions relative to the center to the features.
    """

    def __init__(self, radius: float, nsample: int, use_xyz: bool = True) -> None:
        super().__init__()
        self.radius, self.nsample, self.use_xyz = radius, nsample, use_xyz

    def forward(
        self, xyz: Tensor, xyz_batch_cnt: Tensor, new_xyz: Tensor, new_xyz_batch_cnt: Tensor,
        features: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Group points around centers, with their counts and (N1 + N2 .., C) features, to
        (M1 + M2 .., 3 + C, nsample); also return the indices within the clouds."""
        if features is None and not self.use_xyz:
            raise ValueError("without features, use_xyz must be true")
        idx, empty = ball_query(
            self.radius, self.nsample, xyz, xyz_batch_cnt, new_xyz, new_xyz_batch_cnt
        )
        rows = _stack.rows_of(xyz, xyz_batch_cnt, idx, new_xyz_batch_cnt)
        rows = rows.masked_fill(empty.unsqueeze(-1), -1)
        parts = []
        if self.use_xyz:
            positions = gather(xyz.contiguous(), rows) - new_xyz.unsqueeze(1)
            parts.append(positions.masked_fill(empty.view(-1, 1, 1), 0))
        if features is not None:
            parts.append(gather(features.contiguous(), rows))
        return torch.cat(parts, dim=-1).transpose(1, 2).contiguous(), idx
