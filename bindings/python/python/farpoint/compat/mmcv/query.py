"""Searches, gathering and interpolation, as in ``mmcv.ops``."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor

from ...neighbors import ball_query as neighbors_within
from ...matching import nearest_both
from .. import _batch, _stack
from .._batch import gather_operation, three_interpolate
from .._common import refuse_beyond_int32, with_apply

__all__ = [
    "KNN", "BallQuery", "GatherPoints", "ThreeInterpolate", "ThreeNN", "ball_query", "chamfer_distance",
    "gather_points", "knn", "three_interpolate", "three_nn",
]

gather_points = gather_operation


def ball_query(
    min_radius: float, max_radius: float, sample_num: int, xyz: Tensor, center_xyz: Tensor,
    xyz_batch_cnt: Tensor | None = None, center_xyz_batch_cnt: Tensor | None = None,
) -> Tensor:
    """Find int32 indices (B, npoint, sample_num) of (B, N, 3) points around (B, npoint, 3) centers; or, for
    stacks (N1 + N2 .., 3) and (M1 + M2 .., 3) with their counts, (M1 + M2 .., sample_num),
    relative to the cloud.

    These are the first ``sample_num`` points by index at a distance of 0, or from min_radius to below max_radius,
    padded with the first of them. If there is none all are 0; in stacks the first is -1.
    Differs on purpose: stacks respect min_radius.
    """
    if not min_radius < max_radius:
        raise ValueError(f"min_radius is {min_radius}, max_radius {max_radius}; it must be smaller")
    if xyz_batch_cnt is None or center_xyz_batch_cnt is None:
        return _batch.ball_query(max_radius, sample_num, xyz, center_xyz, min_radius)
    find = functools.partial(_within, max_radius, sample_num, min_radius)
    idx, empty = _stack.ball_indices(
        find, sample_num, xyz, xyz_batch_cnt, center_xyz, center_xyz_batch_cnt
    )
    idx[:, 0].masked_fill_(empty, -1)
    return idx


def _within(radius: float, k: int, least: float, x: Tensor, y: Tensor, **options: Any) -> Any:
    return neighbors_within(x, y, radius, k, min_radius=least, **options)


def knn(
    k: int, xyz: Tensor, center_xyz: Tensor | None = None, transposed: bool = False
) -> Tensor:
    """Find int32 indices (B, k, npoint) of the nearest of (B, N, 3) points for (B, npoint, 3) centers (the points
    unless set), or (B, 3, N) and (B, 3, npoint) if transposed; 0 where there are
    fewer.

    Differs on purpose: k may be 100 and more.
    """
    if transposed:
        xyz = xyz.transpose(1, 2).contiguous()
        center_xyz = None if center_xyz is None else center_xyz.transpose(1, 2).contiguous()
    center_xyz = xyz if center_xyz is None else center_xyz
    _batch.refuse_shape("xyz", xyz, "B, N, 3")
    _batch.refuse_shape("center_xyz", center_xyz, "B, npoint, 3")
    return _batch.nearest_k(k, xyz, center_xyz)[1].transpose(1, 2).contiguous()


def three_nn(target: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
    """Find the plain distances (B, N, 3) of the three nearest points of source (B, M, 3) for target (B, N, 3), and
    their int32 indices; with fewer than three the rest is infinity and 0. Distances have no gradient,
    as in the original."""
    return _batch.three_nn(target, source)


def chamfer_distance(xyz1: Tensor, xyz2: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute the differentiable squared distances (B, N) and (B, M) of the points of (B, N, 2) and (B, M, 2) tensors
    to the nearest of the other, and its int32 index. Any number of coordinates is supported."""
    for name, cloud in (("xyz1", xyz1), ("xyz2", xyz2)):
        _batch.refuse_shape(name, cloud, "B, N, 2")
        refuse_beyond_int32(cloud)
    (first, rows), (second, back) = nearest_both(xyz1, xyz2)
    return first, second, rows.to(torch.int32), back.to(torch.int32)


BallQuery = with_apply("BallQuery", ball_query)
KNN = with_apply("KNN", knn)
GatherPoints = with_apply("GatherPoints", gather_operation)
ThreeInterpolate = with_apply("ThreeInterpolate", three_interpolate)
ThreeNN = with_apply("ThreeNN", three_nn)
