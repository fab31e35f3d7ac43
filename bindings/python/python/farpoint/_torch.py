"""Sampling PyTorch's tensors: arguments are checked and brought to the form that the operators of
``_torch_ops`` take. What is written here is traced by torch.compile."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import _arrays, _farpoint, _numpy, _torch_ops, _torch_rules

if TYPE_CHECKING:
    from ._sample import Request


def sample(points: Tensor, request: Request) -> tuple[Any, Any, Any]:
    """Indices, distances or None, and covering radius."""
    points = checked(points.detach() if points.requires_grad else points)
    if request.seed is not None or request.threads is not None:
        request = _in_range(request)
    batch = points.dim() == 3
    if request.lengths is not None and not batch:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({about(points)})")
    found = _chosen(points, request)
    if request.out is not None:
        found = (_to_out(found[0], request.out), *found[1:])
    return found


def _chosen(points: Tensor, request: Request) -> tuple[Any, Any, Any]:
    if request.spacing is not None or request.progress or request.skip_bad:
        return _sample_eagerly(points, request)
    return _sample_by_operator(points, request)


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
    if count > rows and (request.lengths is None or count * len(clouds) >= 2**60):
        raise ValueError(
            f"{count} samples were asked of a cloud of {rows} points; ask for at most {rows} "
            f"({about(clouds)})"
        )
    return count


def _in_range(request: Request) -> Request:
    """Seed and threads as operators take them: whole numbers of 64 bits with a sign."""
    seed = request.seed
    if seed is not None:
        seed = operator.index(seed)
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed {seed} is outside 0..={2**64 - 1}")
        seed = seed if seed < 2**63 else seed - 2**64
    check_threads(request.threads)
    return request._replace(seed=seed)


def check_threads(threads: int | None) -> None:
    """Refuses what is no number of threads."""
    if threads is not None and not 1 <= threads < 2**63:
        raise ValueError(f"threads is {threads}; it must be 1 or more, and below 2**63")


def checked(points: Tensor) -> Tensor:
    """The points as kernels take them: float16 and bfloat16 as float32, which holds them without
    loss. Refuses tensors that are no clouds."""
    whole = points.dtype in (torch.float32, torch.float64)
    if not whole and points.dtype not in _torch_rules.HALVES:
        raise TypeError(
            "the points must be float32 or float64, or float16 or bfloat16, which are converted to "
            f"float32 ({about(points)})"
        )
    if points.dim() not in (2, 3) or points.shape[-1] == 0:
        raise ValueError(
            "the points must be a tensor of shape (N, D) or (B, N, D) with D of 1 or more "
            f"({about(points)})"
        )
    if not (points.is_cpu or points.is_cuda):
        raise TypeError(f"the points must be on the CPU or on a CUDA device ({about(points)})")
    return points if whole else points.float()


def about(points: Tensor) -> str:
    """The tensor for messages."""
    return f"points of shape {tuple(points.shape)}, {points.dtype}, {points.device}"


def lengths_of(lengths: Any, clouds: Tensor) -> Tensor:
    """Lengths as int64 on the device of the clouds, within them: kernels rely on it."""
    rows = clouds.shape[1]
    found: Tensor
    if isinstance(lengths, Tensor):
        _refuse_fractions(lengths, "lengths", 1)
        found = sent(lengths, clouds.device)
    else:
        given = _arrays.integers(lengths, "lengths", 1)
        _numpy.refuse_negative(given, "length")
        if (given > rows).any():
            raise ValueError(f"length {given.max()} is over {rows} ({about(clouds)})")
        found = numbers(given.tolist(), clouds.device)
    if found.dim() != 1 or found.shape[0] != clouds.shape[0]:
        raise ValueError(f"lengths of shape {tuple(found.shape)} ({about(clouds)})")
    return found.clamp(0, rows) if clouds.is_cuda else found


def starts_of(start: Any, clouds: Tensor, batch: bool, lengths: Tensor | None) -> Tensor:
    """Starts as (1, S) or (B, S)."""
    rows = clouds.shape[1]
    if isinstance(start, int) and not isinstance(start, bool):
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
        start = numbers(given.reshape(-1).tolist(), clouds.device).reshape(given.shape)
    else:
        _refuse_fractions(start, "start")
        if start.dim() < 2:
            start = start.reshape(-1, 1) if batch and start.dim() == 1 else start.reshape(1, -1)
    if start.dim() != 2 or start.shape[0] not in (1, clouds.shape[0]) or start.shape[1] == 0:
        raise ValueError(f"start of shape {tuple(start.shape)} ({about(clouds)})")
    return sent(start, clouds.device)


def _refuse_fractions(values: Tensor, what: str, ndim: int | None = None) -> None:
    if values.dtype == torch.bool or values.is_floating_point() or values.is_complex():
        raise _arrays.not_whole(values, what, ndim)


def sent(values: Tensor, device: torch.device) -> Tensor:
    """Whole numbers as int64 on this device. Nothing waits for a GPU."""
    if values.device == device or not values.is_cpu or torch.compiler.is_compiling():
        return values.to(device, torch.int64)
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "lengths, starts and counts on the CPU can't be captured into a CUDA graph, which would "
            f"read their memory again on every replay; give a tensor on {device}"
        )
    # A copy of our own in pinned memory: what it was made of may be changed before it is sent.
    return _pinned(values).to(device, non_blocking=True)


def _pinned(values: Tensor) -> Tensor:
    room = torch.empty(values.shape, dtype=torch.int64, device="cpu", pin_memory=True)
    return room.copy_(values)


def numbers(values: list[int], device: torch.device) -> Tensor:
    """Whole numbers as a tensor on this device. Even steps are counted there, so that calls for
    clouds of one size can be captured into a CUDA graph."""
    if device.type != "cpu":
        step = values[1] - values[0] if len(values) > 1 else 0
        if all(after - before == step for before, after in zip(values, values[1:])):
            if step == 0:
                first = values[0] if values else 0
                return torch.full((len(values),), first, dtype=torch.int64, device=device)
            return torch.arange(values[0], values[-1] + step, step, dtype=torch.int64, device=device)
    return sent(torch.tensor(values, dtype=torch.int64, device="cpu"), device)


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
    if request.spacing is None:
        _checked_count(points, request)
    if points.is_cuda and request.skip_bad:
        return _sample_good_rows(points, request)
    if points.is_cuda and request.spacing is not None:
        return _sample_to_spacing(points, request)
    if points.is_cuda:
        return _sample_by_operator(points, request._replace(progress=False))
    seed = None if request.seed is None else request.seed % 2**64
    request = request._replace(out=None, seed=seed)
    indices, distances, radius = _numpy.sample(points.numpy(), request)
    return (
        torch.from_numpy(indices),
        None if distances is None else torch.from_numpy(distances),
        torch.as_tensor(radius, dtype=torch.float64, device="cpu"),
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
    indices, distances, radius = _chosen(cloud[rows], good)
    return rows[indices], distances, radius


def bad_rows(points: Tensor) -> tuple[list[int], list[int]]:
    """How many rows of each cloud hold NaN or infinity, and which is the first."""
    points = checked(points.detach())
    if points.is_cpu:
        return _arrays.bad_rows(points.numpy())
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
    points = checked(points.detach())
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
        points, numbers(offsets, where), numbers(counts, where), starts, sum(counts),
        max(lengths, default=0), "auto",
    )
    return found
