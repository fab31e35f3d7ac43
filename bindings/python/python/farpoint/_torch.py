"""Sampling PyTorch's tensors: arguments are checked and brought to the form that the operators of
``_torch_ops`` take. What is written here is traced by torch.compile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import _arrays, _farpoint, _numpy, _torch_ops

if TYPE_CHECKING:
    from ._sample import Request


def sample(points: Tensor, request: Request) -> tuple[Any, Any, Any]:
    """Indices, distances or None, and covering radius."""
    check_points(points)
    if points.requires_grad:
        points = points.detach()
    batch = points.dim() == 3
    if request.lengths is not None and not batch:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({about(points)})")
    if request.spacing is not None or request.progress or request.skip_bad:
        found = _sample_eagerly(points, request)
    else:
        found = _sample_by_operator(points, request)
    if request.out is not None:
        found = (_to_out(found[0], request.out), *found[1:])
    return found


def _sample_by_operator(points: Tensor, request: Request) -> tuple[Any, Any, Any]:
    count = _checked_count(points, request)
    lengths = starts = counts = None
    if request.lengths is not None:
        lengths = lengths_of(request.lengths, points)
        if request.ratio is not None:
            counts = torch.ceil(lengths.to(torch.float64) * request.ratio).to(torch.int64)
    if not (isinstance(request.start, int) and request.start == 0):
        clouds = points if points.dim() == 3 else points.unsqueeze(0)
        starts = starts_of(request.start, clouds, points.dim() == 3, lengths)
    arguments = (
        points, count, lengths, counts, starts, request.seed, request.algorithm, request.threads,
    )
    if request.distances:
        indices, distances, radius = _torch_ops.sample_distances(*arguments)
        return indices, distances, radius
    return _torch_ops.sample(*arguments), None, None


def _checked_count(clouds: Tensor, request: Request) -> int:
    """Samples of a cloud at most; refuses what can be refused without looking at the data."""
    rows, count, ratio = clouds.shape[-2], request.count, request.ratio
    if ratio is not None:
        if not 0.0 <= ratio <= 1.0:
            raise ValueError(f"ratio {ratio} is outside 0..=1 ({about(clouds)})")
        return math.ceil(ratio * rows)
    assert count is not None
    if count > rows and request.lengths is None:
        raise ValueError(
            f"{count} samples were asked of a cloud of {rows} points; ask for at most {rows} "
            f"({about(clouds)})"
        )
    return count


def check_points(points: Tensor) -> None:
    """Refuses tensors that are no clouds."""
    if points.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"the points must be float32 or float64 ({about(points)})")
    if points.dim() not in (2, 3) or points.shape[-1] == 0:
        raise ValueError(
            "the points must be a tensor of shape (N, D) or (B, N, D) with D of 1 or more "
            f"({about(points)})"
        )
    if not (points.is_cpu or points.is_cuda):
        raise TypeError(f"the points must be on the CPU or on a CUDA device ({about(points)})")


def about(points: Tensor) -> str:
    """The tensor for messages."""
    return f"points of shape {tuple(points.shape)}, {points.dtype}, {points.device}"


def lengths_of(lengths: Any, clouds: Tensor) -> Tensor:
    """Lengths as int64 on the device of the clouds, within them: kernels rely on it."""
    rows = clouds.shape[1]
    found: Tensor
    if isinstance(lengths, Tensor):
        found = lengths
    else:
        given = _arrays.integers(lengths, "lengths", 1)
        _numpy.refuse_negative(given, "length")
        if (given > rows).any():
            raise ValueError(f"length {given.max()} is over {rows} ({about(clouds)})")
        found = torch.from_numpy(given)
    if found.dim() != 1 or found.shape[0] != clouds.shape[0]:
        raise ValueError(f"lengths of shape {tuple(found.shape)} ({about(clouds)})")
    if found.is_floating_point():
        raise TypeError(f"lengths must be whole numbers, not {found.dtype}")
    found = found.to(clouds.device, torch.int64)
    return found.clamp(0, rows) if clouds.is_cuda else found


def starts_of(start: Any, clouds: Tensor, batch: bool, lengths: Tensor | None) -> Tensor:
    """Starts as (1, S) or (B, S)."""
    rows = clouds.shape[1]
    if isinstance(start, int):
        if not 0 <= start < rows:
            raise ValueError(
                f"start index {start} is outside the cloud of {rows} points ({about(clouds)})"
            )
        return torch.full((1, 1), start, dtype=torch.int64, device=clouds.device)
    if not isinstance(start, Tensor):
        given = _numpy.starts_of(start, batch)
        if given.size and not (0 <= given.min() and given.max() < rows):
            raise ValueError(
                f"start index {given.min() if given.min() < 0 else given.max()} is outside the "
                f"cloud of {rows} points ({about(clouds)})"
            )
        for several in given:
            if len(set(several.tolist())) < len(several):
                raise ValueError(f"a start index is given twice in {several.tolist()}")
        start = torch.from_numpy(given)
    elif start.dim() < 2:
        column = batch and start.dim() == 1
        start = start.reshape(-1, 1) if column else start.reshape(1, -1)
    if start.dim() != 2 or start.shape[0] not in (1, clouds.shape[0]) or start.shape[1] == 0:
        raise ValueError(f"start of shape {tuple(start.shape)} ({about(clouds)})")
    found: Tensor = start.to(clouds.device, torch.int64)
    return found


def _to_out(found: Tensor, out: Any) -> Tensor:
    if not isinstance(out, Tensor) or out.dtype != torch.int64 or out.device != found.device:
        raise TypeError(f"out must be an int64 tensor on {found.device}, not {_arrays.name(out)}")
    if out.shape != found.shape:
        raise ValueError(f"out must be of shape {tuple(found.shape)}, not {tuple(out.shape)}")
    return out.copy_(found)


# ------------------------------------------------------------- what no operator can stand for


@_arrays.untraced
def _sample_eagerly(points: Tensor, request: Request) -> tuple[Any, Any, Any]:
    """A stop at a spacing and rows left out, where the number of samples is in the data; a
    progress bar."""
    if points.is_cuda and request.skip_bad:
        return _sample_good_rows(points, request)
    if points.is_cuda and request.spacing is not None:
        return _sample_to_spacing(points, request)
    if points.is_cuda:
        return _sample_by_operator(points, request._replace(progress=False))
    indices, distances, radius = _numpy.sample(points.numpy(), request._replace(out=None))
    return (
        torch.from_numpy(indices),
        None if distances is None else torch.from_numpy(distances),
        torch.as_tensor(radius, dtype=torch.float64),
    )


def _sample_to_spacing(points: Tensor, request: Request) -> tuple[Any, Any, Any]:
    clouds = points if points.dim() == 3 else points.unsqueeze(0)
    spacing = request.spacing
    assert spacing is not None
    if not (spacing >= 0 and math.isfinite(spacing)):
        raise ValueError(f"spacing {spacing} is not a finite number of at least 0")
    lengths = None if request.lengths is None else lengths_of(request.lengths, clouds)
    if clouds.shape[1] == 0:
        _numpy.refuse_empty([0] * clouds.shape[0], points.dim() == 3, about(points))
    starts = starts_of(request.start, clouds, points.dim() == 3, lengths)
    chosen = clouds.new_zeros(clouds.shape[0], dtype=torch.int64)
    found = _torch_ops.enqueue(
        clouds, clouds.shape[1], lengths, None, starts, request.seed, request.algorithm, True,
        spacing, chosen,
    )
    taken = chosen.tolist()
    _numpy.refuse_empty(taken, points.dim() == 3, about(points))
    longest = max(taken, default=0)
    indices, distances = found[0][:, :longest], found[1][:, :longest]
    if points.dim() == 3:
        return indices, distances, found[2]
    return indices[0], distances[0], found[2][0]


def _sample_good_rows(points: Tensor, request: Request) -> tuple[Any, Any, Any]:
    """Samples rows that are finite, a cloud at a time; waits for the GPU."""
    if points.dim() == 2:
        return _sample_good_rows_of(points, request)
    lengths = [points.shape[1]] * len(points)
    if request.lengths is not None:
        lengths = lengths_of(request.lengths, points).tolist()
    starts: list[Any] = [0] * len(points)
    if not (isinstance(request.start, int) and request.start == 0):
        starts = starts_of(request.start, points, True, None).expand(len(points), -1).tolist()
    found = []
    for cloud, length, start in zip(points, lengths, starts):
        count = request.count
        if count is not None and request.lengths is not None:
            count = min(count, length)
        alone = request._replace(lengths=None, out=None, count=count, start=start)
        found.append(_sample_good_rows_of(cloud[:length], alone))
    if request.spacing is not None:
        width = max((len(indices) for indices, *_ in found), default=0)
    else:
        width = _checked_count(points, request)
    indices = points.new_full((len(points), width), -1, dtype=torch.int64)
    distances = points.new_zeros((len(points), width))
    for k, (chosen, apart, _) in enumerate(found):
        indices[k, : len(chosen)] = chosen
        if apart is not None:
            distances[k, : len(chosen)] = apart
    if not request.distances:
        return indices, None, None
    return indices, distances, torch.stack([radius for *_, radius in found])


def _sample_good_rows_of(cloud: Tensor, request: Request) -> tuple[Any, Any, Any]:
    rows = cloud.isfinite().all(dim=-1).nonzero().squeeze(-1)
    start = request.start
    if not (isinstance(start, int) and start == 0):
        wanted = torch.as_tensor(start, device=cloud.device).reshape(-1)
        start = torch.searchsorted(rows, wanted).clamp(max=max(len(rows) - 1, 0))
        if len(rows) == 0 or not bool((rows[start] == wanted).all()):
            raise ValueError("a start index names a row with NaN or infinity; choose another")
    good = request._replace(skip_bad=False, start=start, out=None)
    indices, distances, radius = sample(cloud[rows], good)
    return rows[indices], distances, radius


def bad_rows(points: Tensor) -> tuple[list[int], list[int]]:
    """How many rows of each cloud hold NaN or infinity, and which is the first."""
    check_points(points)
    points = points.detach()
    clouds, strides = _torch_ops.addressable(points if points.dim() == 3 else points.unsqueeze(0))
    found = torch.empty((2, len(clouds)), dtype=torch.int64, device=clouds.device)
    source = _torch_ops.input_of(clouds, strides, None)
    _farpoint.cuda_check(source, *(row.data_ptr() for row in found))
    counts, firsts = found.tolist()
    return counts, firsts


# ---------------------------------------------------------------- clouds one after another


def sample_ragged(
    points: Tensor, offsets: list[int], counts: list[int], starts: Tensor | None
) -> Tensor:
    """``counts[k]`` of the rows ``offsets[k]:offsets[k + 1]`` of an (N, D) tensor for each k, as
    rows of the tensor one after another. Starts (B, S) count from the cloud's first row."""
    check_points(points)
    if points.dim() != 2:
        raise ValueError(f"clouds one after another are a tensor of shape (N, D) ({about(points)})")
    lengths = [end - begin for begin, end in zip(offsets, offsets[1:])]
    if offsets[:1] != [0] or offsets[-1] != len(points) or min(lengths, default=0) < 0:
        raise ValueError(f"offsets must rise from 0 to {len(points)} ({about(points)})")
    for cloud, (count, length) in enumerate(zip(counts, lengths)):
        if count > length:
            raise ValueError(
                f"cloud {cloud} of the batch: {count} samples were asked of a cloud of {length} "
                f"points; ask for at most {length} ({about(points)})"
            )
    where = points.device
    found: Tensor = _torch_ops.sample_ragged(
        points.detach(), torch.tensor(offsets, dtype=torch.int64, device=where),
        torch.tensor(counts, dtype=torch.int64, device=where), starts, sum(counts),
        max(lengths, default=0), "auto",
    )
    return found
