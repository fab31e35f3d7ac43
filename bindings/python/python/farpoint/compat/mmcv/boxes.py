"""Tests of points in boxes, as ``mmcv.ops.points_in_boxes_part``, ``_all`` and ``_cpu``.

A box is its *bottom* center x, y, z, its sizes, and its rotation about z in radians; points on the top
and bottom are inside, points on the sides are not.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from .._batch import refuse_shape

__all__ = ["points_in_boxes_all", "points_in_boxes_cpu", "points_in_boxes_part"]

#: Number of pairs of points and boxes per chunk.
_PAIRS = 1 << 22


def points_in_boxes_part(points: Tensor, boxes: Tensor) -> Tensor:
    """Find the first of (B, T, 7) boxes that contains each of (B, M, 3) points: (B, M) int32, or -1."""
    _check(points, boxes)
    first_boxes = torch.full(points.shape[:2], -1, dtype=torch.int32, device=points.device)
    for first, inside in _inside(points, boxes):
        box = inside.to(torch.uint8).argmax(dim=-1).int() + first
        first_boxes = torch.where((first_boxes < 0) & inside.any(dim=-1), box, first_boxes)
    return first_boxes


def points_in_boxes_all(points: Tensor, boxes: Tensor) -> Tensor:
    """Test which of (B, T, 7) boxes contain (B, M, 3) points: (B, M, T) int32, 1 if a point is in a box, else 0."""
    _check(points, boxes)
    shape = (*points.shape[:2], boxes.shape[1])
    contains = torch.zeros(shape, dtype=torch.int32, device=points.device)
    for first, inside in _inside(points, boxes):
        contains[:, :, first : first + inside.shape[-1]] = inside
    return contains


def points_in_boxes_cpu(points: Tensor, boxes: Tensor) -> Tensor:
    """Test points as ``points_in_boxes_all``, in float32 as the original; on any device."""
    return points_in_boxes_all(points.float(), boxes.float())


def _inside(points: Tensor, boxes: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Yields chunks of boxes: the first of them, and whether the points are inside (B, M, chunk)."""
    together = max(_PAIRS // max(points.shape[0] * points.shape[1], 1), 1)
    for first in range(0, boxes.shape[1], together):
        x, y, z, dx, dy, dz, turn = boxes[:, first : first + together].unsqueeze(1).unbind(-1)
        height = (points[..., 2:] - (z + dz / 2)).abs()
        away_x, away_y = points[..., :1] - x, points[..., 1:2] - y
        cos, sin = (-turn).cos(), (-turn).sin()
        along = (away_x * cos - away_y * sin).abs()
        across = (away_x * sin + away_y * cos).abs()
        yield first, (height <= dz / 2) & (along < dx / 2) & (across < dy / 2)


def _check(points: Tensor, boxes: Tensor) -> None:
    refuse_shape("points", points, "B, M, 3")
    refuse_shape("boxes", boxes, "B, T, 7")
    if points.shape[2] != 3 or boxes.shape[2] != 7 or len(points) != len(boxes):
        raise ValueError(
            "points (B, M, 3) and boxes (B, T, 7) must have the same B, not "
            f"{tuple(points.shape)} and {tuple(boxes.shape)}"
        )
    if points.device != boxes.device:
        raise ValueError(f"points on {points.device}, but boxes on {boxes.device}")
