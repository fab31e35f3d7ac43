"""Functions shared by OpenPCDet's stacks and mmcv: concatenated clouds (N1 + N2 + .., 3), a count for
each, and int32 indices within a cloud."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor

from .._torch.transfer import sent
from ..operators import gather
from ..sampling import sample_ragged
from ._batch import detached, refuse_shape, repeat_first
from ._common import any_of, ends, int_list, refuse_beyond_int32


def stack_farthest_point_sample(xyz: Tensor, xyz_batch_cnt: Tensor, npoint: Any) -> Tensor:
    """Choose int32 rows of xyz (N1 + N2 + .., 3), concatenated by cloud, from the (B,) points of each cloud and
    the number of samples of each (an int, a list or a tensor).

    As OpenPCDet's ``pointnet2_stack_utils.stack_farthest_point_sample``. Differs as
    ``furthest_point_sample``, but more samples than points of a cloud raise ValueError: nothing in OpenPCDet
    relies on repeats here. Synchronizes a GPU with the counts, as the original does.
    """
    refuse_shape("xyz", xyz, "N1 + N2 .., 3")
    refuse_beyond_int32(xyz)
    counts = int_list(xyz_batch_cnt)
    requested = [int(npoint)] * len(counts) if isinstance(npoint, int) else int_list(npoint)
    return sample_ragged(xyz, ends(counts), requested).to(torch.int32)


def offsets_of(counts: Any, rows: Tensor, name: str) -> Tensor:
    """Returns the offsets of the clouds, (B + 1,) int64 on the device of the rows. Does not synchronize: counts on a
    GPU are not checked."""
    counts = on_its_device(counts, name)
    if counts.is_cpu and any_of((counts < 0).any() | (counts.sum() != len(rows))):
        raise ValueError(f"{name} {counts.tolist()} must add up to the {len(rows)} rows")
    return functional.pad(sent(counts, rows.device).cumsum(0), (1, 0))


def on_its_device(values: Any, name: str) -> Tensor:
    """Returns integers (B,) as a tensor: on their device, or, for a list, on the CPU."""
    if isinstance(values, Tensor):
        refuse_shape(name, values, "B")
        return values
    return torch.tensor(int_list(values), dtype=torch.int64, device="cpu")


def clouds_of(offsets: Tensor, rows: int) -> Tensor:
    """Returns the cloud index of each row, (rows,)."""
    at = torch.arange(rows, device=offsets.device)
    return torch.searchsorted(offsets[1:], at, right=True).clamp(max=max(len(offsets) - 2, 0))


def search(
    find: Callable[..., Any], x: Tensor, x_offsets: Tensor, y: Tensor, y_offsets: Tensor, k: int
) -> tuple[Tensor, Tensor]:
    """Returns distances and int32 rows of y, (N, k), found by ``find(x, y, x_offsets=.., ..)``; infinity and
    -1 where missing, also in clouds where y is empty."""
    refuse_beyond_int32(y)
    if k < 1:
        raise ValueError(f"the number of neighbors is {k}; it must be 1 or more")
    x, y = detached(x, y)
    if len(x_offsets) != len(y_offsets):
        clouds = f"{len(x_offsets) - 1} and {len(y_offsets) - 1} clouds"
        raise ValueError(f"{clouds}; there must be as many of both")
    if len(y) and not (y.is_cpu and any_of(y_offsets[1:] == y_offsets[:-1])):
        neighbors = find(x, y, x_offsets=x_offsets, y_offsets=y_offsets, index_dtype=torch.int32)
        return neighbors.distances, neighbors.indices
    # Searching an empty cloud is an error: its points are left out.
    kind = torch.promote_types(x.dtype, torch.float32)
    distances = torch.full((len(x), k), torch.inf, dtype=kind, device=x.device)
    indices = torch.full((len(x), k), -1, dtype=torch.int32, device=x.device)
    if len(x) and len(y):
        has_points = y_offsets[1:] > y_offsets[:-1]
        searchable = has_points[clouds_of(x_offsets, len(x))]
        sizes = (x_offsets[1:] - x_offsets[:-1])[has_points]
        x_offsets = functional.pad(sizes.cumsum(0), (1, 0))
        y_offsets = functional.pad(y_offsets[1:][has_points], (1, 0))
        neighbors = find(x[searchable], y, x_offsets=x_offsets, y_offsets=y_offsets, index_dtype=torch.int32)
        distances[searchable], indices[searchable] = neighbors.distances, neighbors.indices
    return distances, indices


def ball_indices(
    find: Callable[..., Any], k: int, xyz: Tensor, xyz_batch_cnt: Any, new_xyz: Tensor,
    new_xyz_batch_cnt: Any,
) -> tuple[Tensor, Tensor]:
    """Returns indices (M, k) within the clouds, padded with the first or 0; and which balls
    are empty, (M,)."""
    refuse_shape("xyz", xyz, "N1 + N2 .., 3")
    refuse_shape("new_xyz", new_xyz, "M1 + M2 .., 3")
    offsets = offsets_of(xyz_batch_cnt, xyz, "xyz_batch_cnt")
    new_offsets = offsets_of(new_xyz_batch_cnt, new_xyz, "new_xyz_batch_cnt")
    rows = search(find, new_xyz, new_offsets, xyz, offsets, k)[1]
    empty = rows[:, 0] < 0
    first = offsets[clouds_of(new_offsets, len(rows))].to(torch.int32)
    return (repeat_first(rows) - first.unsqueeze(-1)).masked_fill(empty.unsqueeze(-1), 0), empty


def rows_of(
    features: Tensor, features_batch_cnt: Any, idx: Tensor, idx_batch_cnt: Any
) -> Tensor:
    """Returns int64 rows of all features (M, k) for indices within the clouds; -1 for -1 and in clouds
    without rows."""
    refuse_shape("features", features, "N1 + N2 .., C")
    refuse_shape("idx", idx, "M1 + M2 .., nsample")
    offsets = offsets_of(features_batch_cnt, features, "features_batch_cnt")
    cloud = clouds_of(offsets_of(idx_batch_cnt, idx, "idx_batch_cnt"), len(idx))
    size = (offsets[1:] - offsets[:-1])[cloud].unsqueeze(-1)
    if idx.is_cpu and any_of((idx < -1) | (idx >= size.clamp(min=1))):
        range_of_rows = f"rows from {int(idx.min())} to {int(idx.max())}"
        raise ValueError(f"idx names {range_of_rows}; some are outside of their clouds")
    inside = (idx >= 0) & (idx < size)
    return torch.where(inside, idx + offsets[cloud].unsqueeze(-1), -1)


def grouping_operation(
    features: Tensor, features_batch_cnt: Tensor, idx: Tensor, idx_batch_cnt: Tensor
) -> Tensor:
    """Gather (N1 + N2 .., C) features by (M1 + M2 .., nsample) indices within the clouds, with the number of rows of
    each cloud (B,), to (M1 + M2 .., C, nsample).

    Differs on purpose: gradients have the same bits on every run; any index dtype, device and dtype of
    features; an index outside its cloud raises ValueError on the CPU and gives 0 on a GPU, where the
    original reads another cloud; clouds without rows give 0.
    """
    rows = rows_of(features, features_batch_cnt, idx, idx_batch_cnt)
    gathered: Tensor = gather(features.contiguous(), rows)
    return gathered.transpose(1, 2).contiguous()
