"""Groups of points, as in ``mmcv.ops``."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from .. import _batch, _stack
from .._batch import GroupAll
from .._common import with_apply
from .query import ball_query, knn

__all__ = ["GroupAll", "GroupingOperation", "QueryAndGroup", "grouping_operation"]


def grouping_operation(
    features: Tensor, indices: Tensor, features_batch_cnt: Tensor | None = None,
    indices_batch_cnt: Tensor | None = None,
) -> Tensor:
    """Gather (B, C, N) features by (B, npoint, nsample) indices to (B, C, npoint, nsample); or, for stacks (N1 +
    N2 .., C) and (M1 + M2 .., nsample) with their counts, to (M1 + M2 .., C, nsample).

    Differs on purpose: index -1, which a stacked ``ball_query`` returns for empty balls, gives 0, where
    the original reads another row; other indices out of range are an error on the CPU and 0 on a GPU.
    """
    if features_batch_cnt is None or indices_batch_cnt is None:
        return _batch.grouping_operation(features, indices)
    return _stack.grouping_operation(features, features_batch_cnt, indices, indices_batch_cnt)


GroupingOperation = with_apply("GroupingOperation", grouping_operation)


class QueryAndGroup(nn.Module):
    """Groups points around each center.

    Parameters
    ----------
    max_radius, sample_num, min_radius:
        Arguments of the ball query; if max_radius is None, the ``sample_num`` nearest.
    use_xyz:
        Prepend positions relative to the center to the features.
    return_grouped_xyz, return_unique_cnt, return_grouped_idx:
        Return also the absolute positions (B, 3, npoint, sample_num), the number of distinct points of each
        group (B, npoint), and the indices, in this order.
    normalize_xyz:
        Divide relative positions by max_radius.
    uniform_sample:
        Pad with points drawn at random from the group; different from those of mmcv.

    Called with (B, N, 3) points, (B, npoint, 3) centers and (B, C, N) features or None, it returns (B, 3 + C,
    npoint, sample_num), or a tuple with the additional results.
    """

    def __init__(
        self, max_radius: float | None, sample_num: int, min_radius: float = 0.0, use_xyz: bool = True,
        return_grouped_xyz: bool = False, normalize_xyz: bool = False, uniform_sample: bool = False,
        return_unique_cnt: bool = False, return_grouped_idx: bool = False,
    ) -> None:
        super().__init__()
        if return_unique_cnt and not uniform_sample:
            raise ValueError("return_unique_cnt needs uniform_sample")
        if max_radius is None and normalize_xyz:
            raise ValueError("normalize_xyz needs a max_radius")
        self.max_radius, self.min_radius, self.sample_num = max_radius, min_radius, sample_num
        self.use_xyz, self.normalize_xyz, self.uniform_sample = use_xyz, normalize_xyz, uniform_sample
        self.return_grouped_xyz, self.return_unique_cnt = return_grouped_xyz, return_unique_cnt
        self.return_grouped_idx = return_grouped_idx

    def forward(self, points_xyz: Tensor, center_xyz: Tensor, features: Tensor | None = None) -> Any:
        if features is None and not self.use_xyz:
            raise ValueError("without features, use_xyz must be true")
        if self.max_radius is None:
            idx = knn(self.sample_num, points_xyz, center_xyz).transpose(1, 2).contiguous()
        else:
            idx = ball_query(
                self.min_radius, self.max_radius, self.sample_num, points_xyz, center_xyz
            )
        if self.uniform_sample:
            idx, counts = _batch.spread_evenly(idx)
        parts = _batch.grouped(points_xyz, center_xyz, idx, features)
        if self.normalize_xyz and self.max_radius is not None:
            parts[0] = parts[0] / self.max_radius
        result = [_batch.channels_first(parts if self.use_xyz else parts[1:])]
        if self.return_grouped_xyz:
            result.append(_batch.gather_channels(points_xyz.transpose(1, 2), idx))
        if self.return_unique_cnt:
            result.append(counts)
        if self.return_grouped_idx:
            result.append(idx)
        return result[0] if len(result) == 1 else tuple(result)
