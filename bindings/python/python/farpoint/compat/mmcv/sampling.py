"""Farthest point sampling by positions, features or a distance matrix, as in ``mmcv.ops``."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from .._batch import furthest_point_sample, refuse_shape
from .._common import refuse_beyond_int32, with_apply

__all__ = [
    "DFPSSampler", "FFPSSampler", "FSSampler", "FurthestPointSampling", "FurthestPointSamplingWithDist",
    "PointsSampler", "calc_square_dist", "furthest_point_sample", "furthest_point_sample_with_dist",
    "get_sampler_cls",
]


def furthest_point_sample_with_dist(points_dist: Tensor, num_points: int, /) -> Tensor:
    """Choose int32 indices (B, num_points) by (B, N, N) distances between points, starting from
    point 0.

    The next point has the largest minimum distance ``points_dist[b, chosen, point]`` to
    those chosen. Differs on purpose: distances start at infinity and not at 1e10, ties go to the lowest
    index, no index repeats while there are others; then index 0 repeats, as in the original.
    """
    refuse_shape("points_dist", points_dist, "B, N, N")
    refuse_beyond_int32(points_dist)
    clouds, points, others = points_dist.shape
    if points != others or (points == 0 and num_points > 0):
        shape = tuple(points_dist.shape)
        raise ValueError(f"points_dist must be (B, N, N) with N at least 1, not {shape}")
    points_dist = points_dist.detach()
    nearest = torch.full_like(points_dist[:, 0], torch.inf) if points else points_dist[:, :0, 0]
    chosen = torch.zeros((clouds, 1), dtype=torch.int64, device=points_dist.device)
    rows = []
    for _ in range(min(num_points, points)):
        rows.append(chosen)
        new_distances = points_dist.gather(1, chosen.unsqueeze(-1).expand(-1, -1, points)).squeeze(1)
        # Chosen points come last, even if all others are at distance 0.
        nearest = torch.minimum(nearest, new_distances).scatter(1, chosen, -torch.inf)
        chosen = nearest.argmax(dim=1, keepdim=True)
    indices = torch.cat(rows, dim=1).int() if rows else chosen[:, :0].int()
    return functional.pad(indices, (0, num_points - indices.shape[1]))


FurthestPointSampling = with_apply("FurthestPointSampling", furthest_point_sample)
FurthestPointSamplingWithDist = with_apply("FurthestPointSamplingWithDist", furthest_point_sample_with_dist)


def calc_square_dist(point_feat_a: Tensor, point_feat_b: Tensor, norm: bool = True) -> Tensor:
    """Compute the (B, N, M) distances between (B, N, C) and (B, M, C) features divided by C, or squared if not
    ``norm``."""
    refuse_shape("point_feat_a", point_feat_a, "B, N, C")
    refuse_shape("point_feat_b", point_feat_b, "B, M, C")
    # Not by a matrix product, which suffers from cancellation.
    mode = "donot_use_mm_for_euclid_dist"
    distances = torch.cdist(point_feat_a, point_feat_b, compute_mode=mode)
    return distances / point_feat_a.shape[-1] if norm else distances.square()


class DFPSSampler(nn.Module):
    """Samples (B, npoint) int32 indices by the positions of points (B, N, 3); features are
    ignored."""

    def forward(self, points: Tensor, features: Tensor | None, npoint: int) -> Tensor:
        return furthest_point_sample(points, npoint)


class FFPSSampler(nn.Module):
    """Samples (B, npoint) int32 indices by positions (B, N, 3) and features (B, C, N).

    Differs on purpose: distances are exact, and the matrix of all, B * N * N, is not computed.
    """

    def forward(self, points: Tensor, features: Tensor | None, npoint: int) -> Tensor:
        if features is None:
            raise ValueError("F-FPS needs features")
        return furthest_point_sample(torch.cat([points, features.transpose(1, 2)], dim=2), npoint)


class FSSampler(nn.Module):
    """Samples by F-FPS, then D-FPS: (B, 2 * npoint), int32."""

    def forward(self, points: Tensor, features: Tensor | None, npoint: int) -> Tensor:
        by_features = FFPSSampler()(points, features, npoint)
        return torch.cat([by_features, DFPSSampler()(points, features, npoint)], dim=1)


_SAMPLERS: dict[str, type[nn.Module]] = {
    "D-FPS": DFPSSampler, "F-FPS": FFPSSampler, "FS": FSSampler,
}


def get_sampler_cls(sampler_type: str) -> type[nn.Module]:
    """Return the sampler of a name: "D-FPS", "F-FPS" or "FS"."""
    if sampler_type not in _SAMPLERS:
        raise KeyError(f"sampler_type is {sampler_type!r}; it must be one of {', '.join(_SAMPLERS)}")
    return _SAMPLERS[sampler_type]


class PointsSampler(nn.Module):
    """Samples ranges of points, each by its own method.

    Parameters
    ----------
    num_point:
        Number of samples of each range ("FS": twice as many).
    fps_mod_list:
        "D-FPS" (by positions), "F-FPS" (by positions and features) or "FS" (both) for each range.
    fps_sample_range_list:
        End of each range, where the next begins; -1 for the last point.

    Called with (B, N, 3) points and (B, C, N) features or None, it returns int32 indices (B, sum of the samples).
    """

    def __init__(
        self, num_point: Sequence[int], fps_mod_list: Sequence[str] = ("D-FPS",),
        fps_sample_range_list: Sequence[int] = (-1,),
    ) -> None:
        super().__init__()
        if not len(num_point) == len(fps_mod_list) == len(fps_sample_range_list):
            raise ValueError(
                f"{len(num_point)} num_point, {len(fps_mod_list)} fps_mod_list and "
                f"{len(fps_sample_range_list)} fps_sample_range_list; there must be as many of each"
            )
        self.num_point, self.fps_sample_range_list = num_point, fps_sample_range_list
        self.samplers = nn.ModuleList(get_sampler_cls(name)() for name in fps_mod_list)

    def forward(self, points_xyz: Tensor, features: Tensor | None) -> Tensor:
        refuse_shape("points_xyz", points_xyz, "B, N, 3")
        refuse_shape("points_xyz", points_xyz, "B, N, 3")
        indices, begin, points = [], 0, points_xyz.shape[1]
        for end, sampler, count in zip(self.fps_sample_range_list, self.samplers, self.num_point):
            if end >= points:
                raise ValueError(f"a range ends at {end}; there are {points} points")
            end = points if end == -1 else end
            features_of_range = None if features is None else features[:, :, begin:end]
            indices.append(sampler(points_xyz[:, begin:end], features_of_range, count) + begin)
            begin = end
        return torch.cat(indices, dim=1)
