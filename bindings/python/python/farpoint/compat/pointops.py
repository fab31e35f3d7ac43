"""Drop-in replacement for Pointcept's ``pointops``: concatenated clouds, channels last.

Clouds are (n, 3) with the end of each, ``offset`` (B,); features (n, c), indices int32 rows of all
clouds, -1 where there is no neighbor. All differ on purpose: distances are not fused and
CPU and GPU agree bit for bit, gradients have the same bits on every run, any number of neighbors, index
dtype, strides, float64 and the CPU are supported; missing neighbors count as 0 everywhere, where
the original reads another row.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional
from torch import Tensor

from .._torch.transfer import sent
from ..neighbors import ball_query_raw, knn
from ..operators import gather, interpolate, inverse_distance_weights
from ..sampling import sample_ragged
from ._batch import detached, refuse_shape
from ._common import int_list, refuse_beyond_int32
from ._stack import on_its_device, search

__all__ = [
    "aggregation", "attention_fusion_step", "attention_relation_step", "ball_query",
    "ball_query_and_group", "batch2offset", "farthest_point_sampling", "grouping", "grouping2",
    "interpolation", "interpolation2", "knn_query", "knn_query_and_group", "offset2batch",
    "query_and_group", "random_ball_query", "subtraction",
]

#: Squared distance up to which a point is in every ball, regardless of the minimum radius.
_NEAR = 1e-5

#: Distance of missing neighbors.
_MISSING = 1e5


def farthest_point_sampling(xyz: Tensor, offset: Tensor, new_offset: Tensor) -> Tensor:
    """Choose int32 rows of xyz (N, 3) by farthest point sampling, from the (B,) end of each cloud and of its
    samples.

    As Pointcept's ``pointops.farthest_point_sampling``. Differs as ``furthest_point_sample`` of
    ``farpoint.compat.pointnet2_ops``, but more samples than points of a cloud raise ValueError. Synchronizes
    a GPU with the offsets, as the original does.
    """
    refuse_shape("xyz", xyz, "N, 3")
    refuse_beyond_int32(xyz)
    new_ends = [0, *int_list(new_offset)]
    counts = [end - begin for begin, end in zip(new_ends, new_ends[1:])]
    return sample_ragged(xyz, [0, *int_list(offset)], counts).to(torch.int32)


def _clouds(
    xyz: Tensor, offset: Any, new_xyz: Tensor | None, new_offset: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Returns points and their offsets, and centers and their offsets; the points themselves unless
    both are set."""
    if new_xyz is None or new_offset is None:
        new_xyz, new_offset = xyz, offset
    refuse_shape("xyz", xyz, "n, 3")
    refuse_shape("new_xyz", new_xyz, "m, 3")
    begins = _begins(offset, xyz, "offset")
    if new_xyz is xyz and new_offset is offset:
        return xyz, begins, xyz, begins
    return xyz, begins, new_xyz, _begins(new_offset, new_xyz, "new_offset")


def _begins(ends: Any, rows: Tensor, name: str) -> Tensor:
    """Returns int64 offsets on the device of the rows. Offsets on a GPU are not checked."""
    ends = on_its_device(ends, name)
    if ends.is_cpu and len(rows) != [0, *int_list(ends)][-1]:
        raise ValueError(f"{name} must end with the {len(rows)} rows, not as {int_list(ends)}")
    return functional.pad(sent(ends, rows.device), (1, 0))


def knn_query(
    nsample: int, xyz: Tensor, offset: Tensor, new_xyz: Tensor | None = None,
    new_offset: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Find the int32 rows (m, nsample) of the nearest of (n, 3) points for (m, 3) centers (the points unless
    set), and plain distances; -1 and 1e5 if a cloud has fewer. Both have the ends of their clouds.

    Differs on purpose: any number (the original overflows above 128), points farther than 1e5 are found.
    Distances have no gradient, as in the original.
    """
    points, begins, centers, new_begins = _clouds(xyz, offset, new_xyz, new_offset)
    find = functools.partial(knn, k=nsample, squared=False)
    distances, rows = search(find, centers, new_begins, points, begins, nsample)
    return rows, distances.masked_fill(rows < 0, _MISSING)


def _limits(points: Tensor, min_radius: float, max_radius: float) -> dict[str, Any]:
    """Returns the limits of a search as squares, in the dtype of the points."""
    if not min_radius < max_radius:
        raise ValueError(f"min_radius is {min_radius}, max_radius {max_radius}; it must be smaller")
    kind = np.float64 if points.dtype == torch.float64 else np.float32
    with np.errstate(over="ignore"):
        minimum, maximum = (float(kind(radius) * kind(radius)) for radius in (min_radius, max_radius))
    return {"maximum": maximum, "minimum": minimum, "near": _NEAR}


def ball_query(
    nsample: int, max_radius: float, min_radius: float, xyz: Tensor, offset: Tensor,
    new_xyz: Tensor | None = None, new_offset: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Find the int32 rows (m, nsample) of points in the ball around each center (the points unless set),
    nearest first, and plain distances; -1 and 1e5 where there are fewer. Both have the ends of their clouds.

    Neighbors have a distance from min_radius to below max_radius, or a squared one of at most 1e-5. If
    there are c > nsample, entry i is the int(c / nsample * i)-th nearest. Differs on purpose: results are
    sorted, and distances are correct (in the released version they are neither, and more than 2,048 points
    overflow). Synchronizes a GPU.
    """
    points, begins, centers, new_begins = _clouds(xyz, offset, new_xyz, new_offset)
    refuse_beyond_int32(points)
    limits = _limits(points, min_radius, max_radius)

    def find(x: Tensor, y: Tensor, **options: Any) -> Any:
        balls = ball_query_raw(x, y, None, order="nearest", squared=False, **limits, **options)
        return _Spread(*_every(nsample, *balls))

    distances, rows = search(find, centers, new_begins, points, begins, nsample)
    return rows, distances.masked_fill(rows < 0, _MISSING)


class _Spread:
    """Result of a search."""

    def __init__(self, distances: Tensor, indices: Tensor) -> None:
        self.distances, self.indices = distances, indices


def _every(k: int, distances: Tensor, indices: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Returns (rows, k) distances and indices: all of each ragged row, or, of c > k, the int(c / k * i)-th."""
    counts = (offsets[1:] - offsets[:-1]).unsqueeze(-1)
    place = torch.arange(k, device=offsets.device)
    # In float32, as in the original.
    spread = (counts.float() / k * place.float()).long()
    place = torch.minimum(torch.where(counts > k, spread, place), counts - 1)
    place = torch.where(torch.arange(k, device=offsets.device) < counts, place, -1)
    rows = torch.where(place < 0, 0, place + offsets[:-1].unsqueeze(-1))
    if len(indices) == 0:
        shape = place.shape
        return distances.new_full(shape, torch.inf), indices.new_full(shape, -1)
    missing = place < 0
    return distances[rows].masked_fill(missing, torch.inf), indices[rows].masked_fill(missing, -1)


def random_ball_query(
    nsample: int, max_radius: float, min_radius: float, xyz: Tensor, offset: Tensor,
    new_xyz: Tensor | None = None, new_offset: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Find the first ``nsample`` points as by ``ball_query``, but in an order drawn by ``torch.randperm`` for
    each cloud, on the device of ``offset`` as in the original. Synchronizes a GPU with the offsets."""
    points, begins, centers, new_begins = _clouds(xyz, offset, new_xyz, new_offset)
    limits = _limits(points, min_radius, max_radius)
    drawn_on = offset.device if isinstance(offset, Tensor) else points.device
    ends = int_list(begins)
    orders = [
        torch.randperm(end - begin, dtype=torch.int32, device=drawn_on) + begin
        for begin, end in zip(ends, ends[1:])
    ]
    order = torch.cat(orders).to(points.device) if orders else begins.new_zeros(0, dtype=torch.int32)
    find = functools.partial(ball_query_raw, k=nsample, squared=False, **limits)
    centers, shuffled = detached(centers, points)
    distances, positions = search(find, centers, new_begins, shuffled[order.long()], begins, nsample)
    missing = positions < 0
    rows = order[positions.clamp(min=0).long()] if len(order) else positions
    return rows.masked_fill(missing, -1), distances.masked_fill(missing, _MISSING)


def grouping2(input: Tensor, idx: Tensor) -> Tensor:
    """Gather (n, c) features by (m, nsample) rows to (m, nsample, c); 0 for -1."""
    refuse_shape("input", input, "n, c")
    refuse_shape("idx", idx, "m, nsample")
    gathered: Tensor = gather(input.contiguous(), idx.contiguous())
    return gathered


def grouping(
    idx: Tensor, feat: Tensor, xyz: Tensor, new_xyz: Tensor | None = None, with_xyz: bool = False
) -> Tensor:
    """Gather (n, c) features by (m, nsample) rows to (m, nsample, c), or, with the positions of (n, 3) points relative
    to (m, 3) centers (the points unless set) before them, to (m, nsample, 3 + c); 0 for
    -1."""
    gathered = grouping2(feat, idx)
    if not with_xyz:
        return gathered
    positions = grouping2(xyz, idx) - (xyz if new_xyz is None else new_xyz).unsqueeze(1)
    return torch.cat([positions.masked_fill((idx < 0).unsqueeze(-1), 0), gathered], dim=-1)


def interpolation(
    xyz: Tensor, new_xyz: Tensor, feat: Tensor, offset: Tensor, new_offset: Tensor, k: int = 3
) -> Tensor:
    """Interpolate (m, c) features of (m, 3) points at (n, 3) new points, with the ends of the clouds of both, to
    (n, c): the features of the k nearest points, weighted by 1 / (distance + 1e-8).

    Differs on purpose: with fewer than k points only those are used (the original adds the last row of
    all), and points of clouds without any get 0.
    """
    points, begins, centers, new_begins = _clouds(xyz, offset, new_xyz, new_offset)
    find = functools.partial(knn, k=k, squared=False)
    distances, rows = search(find, centers, new_begins, points, begins, k)
    weights = inverse_distance_weights(distances, 1, squared=False)
    kind = torch.promote_types(feat.dtype, torch.float32)
    result: Tensor = interpolate(feat.contiguous(), rows, weights.to(kind))
    return result


def interpolation2(
    xyz: Tensor, new_xyz: Tensor, input: Tensor, offset: Tensor, new_offset: Tensor, k: int = 3
) -> Tensor:
    """Interpolate features as ``interpolation``."""
    return interpolation(xyz, new_xyz, input, offset, new_offset, k)


def subtraction(input1: Tensor, input2: Tensor, idx: Tensor) -> Tensor:
    """Subtract (n, c) features by (n, nsample) rows to (n, nsample, c): ``input1[i] - input2[idx[i,
    j]]``; 0 for -1."""
    refuse_shape("input1", input1, "n, c")
    difference = input1.unsqueeze(1) - grouping2(input2, idx)
    return difference.masked_fill((idx < 0).unsqueeze(-1), 0)


def aggregation(input: Tensor, position: Tensor, weight: Tensor, idx: Tensor) -> Tensor:
    """Aggregate (n, c) features with (n, nsample, c) positions, (n, nsample, c') weights and (n, nsample) rows to (n,
    c): the sum over j of ``(input[idx[i, j]] + position[i, j]) * weight[i, j]``, where channel c has
    weight c modulo c'; -1 adds nothing."""
    refuse_shape("position", position, "n, nsample, c")
    refuse_shape("weight", weight, "n, nsample, c'")
    channels, shares = position.shape[-1], weight.shape[-1]
    weights = weight.repeat(1, 1, -(-channels // shares))[..., :channels]
    parts = (grouping2(input, idx) + position) * weights
    return parts.masked_fill((idx < 0).unsqueeze(-1), 0).sum(dim=1)


def attention_relation_step(
    query: Tensor, key: Tensor, weight: Tensor, index_target: Tensor, index_refer: Tensor
) -> Tensor:
    """Compute (m, g) sums over c of ``query[target] * key[refer] * weight``, from (n, g, c) queries and keys,
    (c,) weights, and (m,) rows of queries and of keys. Weights have a gradient, too, unlike in the
    original."""
    parts = _pick(query, index_target) * _pick(key, index_refer) * weight
    return parts.sum(dim=-1)


def attention_fusion_step(
    weight: Tensor, value: Tensor, index_target: Tensor, index_refer: Tensor
) -> Tensor:
    """Compute (n, g, c) sums from (m, g) weights, (n, g, c) values, and (m,) rows of the result and of the values:
    row ``target[i]`` adds ``weight[i] * value[refer[i]]``."""
    parts = weight.unsqueeze(-1) * _pick(value, index_refer)
    result = torch.zeros_like(value, dtype=parts.dtype)
    if value.is_cpu:
        return result.index_add(0, index_target.long(), parts)
    # Sorted on a GPU, not summed by atomics.
    return result.index_put((index_target.long(),), parts, accumulate=True)


def _pick(values: Tensor, rows: Tensor) -> Tensor:
    """Gathers rows (m,) of (n, g, c) to (m, g, c)."""
    refuse_shape("values", values, "n, g, c")
    return gather(values.flatten(1), rows.contiguous()).view(-1, *values.shape[1:])


def knn_query_and_group(
    feat: Tensor, xyz: Tensor, offset: Tensor | None = None, new_xyz: Tensor | None = None,
    new_offset: Tensor | None = None, idx: Tensor | None = None, nsample: int | None = None,
    with_xyz: bool = False,
) -> tuple[Tensor, Tensor]:
    """Group by ``idx``, or by ``knn_query`` if it is None; return the groups and the rows."""
    if idx is None:
        if nsample is None or offset is None:
            raise ValueError("nsample and offset are required if idx is None")
        idx = knn_query(nsample, xyz, offset, new_xyz, new_offset)[0]
    return grouping(idx, feat, xyz, new_xyz, with_xyz), idx


def ball_query_and_group(
    feat: Tensor, xyz: Tensor, offset: Tensor | None = None, new_xyz: Tensor | None = None,
    new_offset: Tensor | None = None, idx: Tensor | None = None, max_radio: float | None = None,
    min_radio: float = 0, nsample: int | None = None, with_xyz: bool = False,
) -> tuple[Tensor, Tensor]:
    """Group by ``idx``, or by ``ball_query`` if it is None; return the groups and the rows."""
    if idx is None:
        if nsample is None or offset is None or max_radio is None:
            raise ValueError("nsample, offset and max_radio are required if idx is None")
        idx = ball_query(nsample, max_radio, min_radio, xyz, offset, new_xyz, new_offset)[0]
    return grouping(idx, feat, xyz, new_xyz, with_xyz), idx


def query_and_group(
    nsample: int, xyz: Tensor, new_xyz: Tensor | None, feat: Tensor, idx: Tensor | None, offset: Tensor,
    new_offset: Tensor, dilation: int = 0, with_feat: bool = True, with_xyz: bool = True,
) -> Any:
    """Group each center with every (dilation + 1)-th of its nearest neighbors to (m, nsample, 3 + c),
    or (m, nsample, c) without positions, and return the rows (m, nsample), too; without features only the rows.

    A cloud with fewer than 1 + (nsample - 1) * (dilation + 1) points uses neighbors evenly spaced over
    all its points, so that some may repeat. Differs on purpose: ``new_xyz`` may be None and nsample 1,
    where the original fails.
    """
    if new_xyz is None:
        new_xyz, new_offset = xyz, offset
    if idx is None:
        total = 1 + (nsample - 1) * (dilation + 1)
        nearest = knn_query(total, xyz, offset, new_xyz, new_offset)[0]
        begins, new_begins = _clouds(xyz, offset, new_xyz, new_offset)[1::2]
        sizes = begins[1:] - begins[:-1]
        places = _dilated(nsample, dilation, total, sizes)
        cloud = torch.searchsorted(
            new_begins[1:], torch.arange(len(nearest), device=xyz.device), right=True
        )
        idx = nearest.gather(1, places[cloud])
    if not with_feat:
        return idx
    return grouping(idx, feat, xyz, new_xyz, with_xyz), idx


def _dilated(nsample: int, dilation: int, total: int, sizes: Tensor) -> Tensor:
    """Returns which of the nearest neighbors each cloud uses, (B, nsample)."""
    place = torch.arange(nsample, device=sizes.device)
    # Rounded as in the original, which subtracts 1 and adds it again.
    spread = ((sizes.unsqueeze(-1) - 1).double() / max(nsample - 1, 1) - 1 + 1) * place
    places = torch.where((sizes < total).unsqueeze(-1), spread.long(), place * (dilation + 1))
    return places.clamp(0, total - 1)


def offset2batch(offset: Tensor) -> Tensor:
    """Convert the (B,) end of each cloud to the int64 cloud index of each row. Synchronizes a GPU."""
    begins = functional.pad(offset.long(), (1, 0))
    return torch.repeat_interleave(
        torch.arange(len(offset), device=offset.device), begins[1:] - begins[:-1]
    )


def batch2offset(batch: Tensor) -> Tensor:
    """Convert the ascending cloud index of each row to the (B,) int32 end of each cloud. Synchronizes a GPU."""
    return batch.bincount().cumsum(0).int()
