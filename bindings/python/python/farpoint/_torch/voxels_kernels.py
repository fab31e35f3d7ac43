"""Voxels of tensors on a GPU: kernels queued on the current stream, in memory of PyTorch's allocator, and reductions of
values by voxel, whose results do not depend on an order either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _native
from .._records import Voxelization
from . import fast_path, memory
from .transfer import numbers
from .values_kernels import gather_backward

#: Cached plans by shape and grid, and their maximum number.
_plans: dict[Any, Any] = {}
_MAX_PLANS = 1024


class Found(NamedTuple):
    """Voxels of a cloud, of a padded batch, or of concatenated clouds, with the shapes of ``Voxels``."""

    points: Tensor
    counts: Tensor
    inverse: Tensor
    indices: Tensor
    cells: Tensor
    offsets: Tensor | None = None


def find(points: Tensor, request: Voxelization) -> Found:
    """Returns the voxels of checked points. Synchronizes, since their number depends on the data."""
    lengths, offsets = request.lengths, request.offsets
    _check_extents(points, lengths, offsets)
    held, strides = memory.addressable(points)
    ragged, (clouds, _, dims) = offsets is not None, memory.batch_shape(points)
    if offsets is not None:
        clouds = len(offsets) - 1
    plan, make = _plan_of(held, strides, clouds, ragged, request), points.new_empty
    summary, scratch = make(plan.summary, dtype=torch.int64), make(plan.scratch, dtype=torch.uint8)
    origins = make((clouds, dims)) if request.origin == [] else None
    lists = [None if part is None else numbers(part, points.device) for part in (lengths, offsets)]
    step = (
        fast_path.current_stream(points.get_device()), held.data_ptr(),
        *map(memory.address_of, lists), summary.data_ptr(), memory.address_of(origins), scratch.data_ptr(),
    )
    plan.find(step)
    room, ranges = plan.read(summary.tolist(), _locator(points, origins, request))
    inverse, counts, rows = [make(shape, dtype=torch.int64) for shape in (points.shape[:-1], room, room)]
    coordinates, cells = make((room, dims)), make((room, dims), dtype=torch.int32)
    starts = make(clouds + 1, dtype=torch.int64)
    more = make(max(plan.points_scratch(room), 1), dtype=torch.uint8)
    outputs = inverse, counts, rows, coordinates, cells, starts, more
    plan.points(step, room, ranges, tuple([part.data_ptr() for part in outputs]))
    if points.dim() == 3:
        return _padded(Found(coordinates, counts, inverse, rows, cells), starts)
    return Found(coordinates, counts, inverse, rows, cells, starts if ragged else None)


def _check_extents(points: Tensor, lengths: list[int] | None, offsets: list[int] | None) -> None:
    """Raises unless lengths or offsets fit the points, as the compiled module does on the CPU."""
    rows = points.shape[-2]
    if lengths is not None:
        if points.dim() == 2 or len(lengths) != points.shape[0]:
            raise ValueError(f"{len(lengths)} lengths do not fit points of shape {tuple(points.shape)}")
        if any(length > rows for length in lengths):
            raise ValueError(f"length {max(lengths)} is over {rows}, the rows of each cloud")
    if offsets is not None:
        if points.dim() == 3:
            raise ValueError(f"offsets are for points (N, D), not of shape {tuple(points.shape)}")
        rises = all(first <= last for first, last in zip(offsets, offsets[1:]))
        if not rises or offsets[:1] != [0] or offsets[-1:] != [rows]:
            raise ValueError(f"offsets must rise from 0 to {rows}, not {offsets}")


def _plan_of(
    held: Tensor, strides: tuple[int, int], clouds: int, ragged: bool, request: Voxelization
) -> Any:
    """Returns the cached plan for this grid and clouds of this shape."""
    memory.refuse_other_types(held)
    grid = request._replace(lengths=None, offsets=None)
    fields = [tuple(part) if isinstance(part, list) else part for part in grid]
    key = held.get_device(), held.dtype, held.shape, strides, clouds, ragged, tuple(fields)
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        shape = (clouds, held.shape[-2], held.shape[-1])
        plan = _plans[key] = _native.CudaVoxels(
            held.get_device(), held.dtype == torch.float64, shape, strides, ragged, grid
        )
    return plan


def _locator(
    points: Tensor, origins: Tensor | None, request: Voxelization
) -> Callable[[int, int], tuple[float, float]]:
    """Returns a function that finds the coordinate of a row and the origin of its cloud, for an error message."""

    def locate(row: int, axis: int) -> tuple[float, float]:
        coordinate = float(points.reshape(-1, points.shape[-1])[row, axis])
        if origins is None:
            corner = request.origin or [0.0]
            return coordinate, corner[axis if axis < len(corner) else 0]
        cloud = row // points.shape[-2] if points.dim() == 3 else 0
        if request.offsets is not None:
            cloud = sum(end <= row for end in request.offsets[1:])
        return coordinate, float(origins[cloud, axis])

    return locate


def _padded(found: Found, starts: Tensor) -> Found:
    """Returns concatenated voxels as a padded batch. Synchronizes to find the largest number of voxels."""
    sizes = starts.diff()
    most, total = int(sizes.max()) if len(sizes) else 0, found.counts.shape[0]
    place = torch.arange(most, device=starts.device)
    none = place >= sizes.unsqueeze(-1)
    at = (starts[:-1].unsqueeze(-1) + place).clamp(max=max(total - 1, 0))

    def padded(values: Tensor, fill: int) -> Tensor:
        mask = none if values.dim() == 1 else none.unsqueeze(-1)
        return values[at].masked_fill(mask, fill)

    return Found(
        padded(found.points, 0), padded(found.counts, 0), found.inverse, padded(found.indices, -1),
        padded(found.cells, 0),
    )


# ------------------------------------------------------------------------------------ reductions


def mean(values: Tensor, found: Found) -> Tensor:
    """Returns the mean of the values of each voxel: sums by ascending row, in double precision, rounded once."""
    batch = values.dim() == 3
    sums = gather_backward(found.inverse, values.double(), found.counts.shape[-1], batch)
    return (sums / found.counts.clamp(min=1).unsqueeze(-1)).to(values.dtype)


def largest(values: Tensor, found: Found) -> Tensor:
    """Returns the row of the maximum of each channel of each voxel; -1 where there is none. NaN is larger than any
    number; among equals the first row counts."""
    rows, channels, voxels = values.shape[-2], values.shape[-1], found.counts.shape[-1]
    # Rows in no voxel go to one more.
    inside = found.inverse.masked_fill(found.inverse < 0, voxels)
    at, shape = inside.unsqueeze(-1).expand(values.shape), (*found.counts.shape[:-1], voxels + 1, channels)

    def reduced(parts: Tensor, how: str, first: float) -> Tensor:
        return parts.new_full(shape, first).scatter_reduce(-2, at, parts, how)

    nan = values.isnan()
    plain = values.masked_fill(nan, -torch.inf)
    best = reduced(plain, "amax", -torch.inf).gather(-2, at)
    has_nan = reduced(nan.int(), "amax", 0).gather(-2, at) > 0
    is_best = torch.where(has_nan, nan, plain == best)
    row = torch.arange(rows, device=values.device).unsqueeze(-1).expand(values.shape)
    chosen = reduced(row.masked_fill(~is_best, rows), "amin", rows)[..., :voxels, :]
    return chosen.masked_fill(chosen == rows, -1)


def most_frequent(labels: Tensor, found: Found) -> Tensor:
    """Returns the most frequent label of each voxel, the lowest among equals; -1 for padding. Synchronizes."""
    voxel, voxels = found.inverse, found.counts.shape[-1]
    if voxel.dim() == 2:
        first = torch.arange(voxel.shape[0], device=voxel.device).unsqueeze(-1) * voxels
        voxel = torch.where(voxel < 0, voxel, voxel + first)
    pairs = torch.stack([voxel.reshape(-1), labels.long().reshape(-1)], 1)
    pairs, counts = torch.unique(pairs[pairs[:, 0] >= 0], dim=0, return_counts=True)
    of, label = pairs.unbind(1)
    most = counts.new_zeros(found.counts.numel()).scatter_reduce(0, of, counts, "amax")
    top = torch.iinfo(torch.int64).max
    lowest = label.masked_fill(counts < most[of], top)
    result = label.new_full((found.counts.numel(),), top).scatter_reduce(0, of, lowest, "amin")
    labels_of: Tensor = result.masked_fill(most == 0, -1).view(found.counts.shape)
    return labels_of
