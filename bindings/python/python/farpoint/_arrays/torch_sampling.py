"""Sampling of tensors: by the operators, or without them if the number of samples depends on the data. Apart from
the latter, ``torch.compile`` traces this."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .. import _native
from .._records import Sampling
from .._torch import memory, shape_cache
from .._torch import sampling as operators
from .._torch.lazy_torch import is_compiling, untraced
from .._torch.transfer import numbers
from . import integer_arrays
from .numpy import non_finite as non_finite_rows_of_array
from .numpy import sample_array
from .torch_arguments import (
    about, checked, checked_count, fill, in_range, lengths_of, refuse_meta, starts_of,
)
from .torch_selected import gathered, is_traceable, named, sample_on_cpu, traced


def sample(points: Tensor, request: Sampling) -> tuple[Any, Any, Any]:
    """Returns indices, distances or None, and covering radius."""
    if request.simple:
        lengths = request.lengths
        prepared = shape_cache.lookup(request.cached or request, _prepare_sampling, points, points, lengths)
        if prepared is not None:
            return operators.answer(prepared, points, lengths)
    points = checked(points.detach() if points.requires_grad else points)
    if request.selected is None and (request.seed is not None or request.threads is not None):
        request = in_range(request)
    batch = points.dim() == 3
    if request.lengths is not None and not batch:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({about(points)})")
    can_trace = (points.is_meta or is_compiling()) and is_traceable(points, request)
    if request.selected is None:
        results = _chosen(points, request)
    elif can_trace or points.is_cuda:
        cloud, rows, gathered_request = (traced if can_trace else gathered)(points, in_range(request))
        results = _chosen(cloud, gathered_request)
        results = (named(rows, results[0]), *results[1:])
    else:
        results = sample_on_cpu(points, request)
    if request.out is not None:
        results = (fill(results[0], request.out), *results[1:])
    return results


def _prepare_sampling(
    request: Sampling, points: Tensor, _: Tensor, lengths: Tensor | None, __: None
) -> operators.Prepared | None:
    """Returns the plan of a call; None if a tensor has to be converted, or if clouds differ in samples."""
    if checked(points) is not points or points.dim() == 2 and lengths is not None:
        return None
    in_range(request)
    if lengths is not None:
        lengths_of(lengths, points)
        fewer = request.ratio is not None or (request.count or 0) > points.shape[1]
        if fewer or not memory.are_lengths(lengths):
            return None
    return operators.prepare(points, checked_count(points, request), request.algorithm, request.distances)


def _chosen(points: Tensor, request: Sampling) -> tuple[Any, Any, Any]:
    eager = request.spacing is not None or request.deadline is not None
    if eager or request.progress or request.skip_non_finite:
        return _sample_eagerly(points, request)
    return _sample_by_operator(points, request)


def _sample_by_operator(points: Tensor, request: Sampling) -> tuple[Any, Any, Any]:
    count = checked_count(points, request)
    lengths = starts = counts = None
    if request.lengths is not None:
        lengths = lengths_of(request.lengths, points)
        if request.ratio is not None:
            counts = torch.ceil(lengths.to(torch.float64) * request.ratio).to(torch.int64)
    if request.counts is not None:
        counts = numbers(request.counts, points.device)
        counts = counts if lengths is None else torch.minimum(counts, lengths)
    if request.start is not None:
        clouds = points if points.dim() == 3 else points.unsqueeze(0)
        starts = starts_of(request.start, clouds, points.dim() == 3, lengths)
    arguments = (
        points, count, lengths, counts, starts, request.seed, request.algorithm, request.threads,
    )
    if request.distances:
        indices, distances, radius = operators.sample_distances(*arguments)
        return indices, distances, radius
    return operators.sample(*arguments), None, None


# ----------------------------------------------------------- data-dependent number of samples


@untraced
def _sample_eagerly(points: Tensor, request: Sampling) -> tuple[Any, Any, Any]:
    """Samples to a spacing or without skipped rows, where the number of samples depends on the data, or with a
    progress bar."""
    refuse_meta(points, "spacing, deadline, non_finite and progress need")
    if points.is_cuda and request.deadline is not None:
        raise ValueError(f"deadline is for points in host memory, sampled on the CPU ({about(points)})")
    if request.spacing is None:
        checked_count(points, request)
    if points.is_cuda and request.skip_non_finite:
        return _sample_finite_rows(points, request)
    if points.is_cuda and request.spacing is not None:
        return _sample_to_spacing(points, request)
    if points.is_cuda:
        return _sample_by_operator(points, request._replace(progress=False))
    seed = None if request.seed is None else request.seed % 2**64
    request = request._replace(out=None, seed=seed)
    indices, distances, radius = sample_array(points.numpy(), request)
    return (
        torch.from_numpy(indices),
        None if distances is None else torch.from_numpy(distances),
        torch.as_tensor(radius, dtype=torch.float64, device="cpu"),
    )


def _sample_to_spacing(points: Tensor, request: Sampling) -> tuple[Any, Any, Any]:
    clouds = points if points.dim() == 3 else points.unsqueeze(0)
    spacing = request.spacing
    assert spacing is not None
    if not (spacing >= 0 and math.isfinite(spacing)):
        raise ValueError(f"spacing {spacing} is not a finite number of at least 0")
    lengths = None if request.lengths is None else lengths_of(request.lengths, clouds)
    if clouds.shape[1] == 0:
        integer_arrays.refuse_empty([0] * clouds.shape[0], points.dim() == 3, about(points))
    starts = None if request.start is None else starts_of(request.start, clouds, points.dim() == 3, lengths)
    chosen = clouds.new_zeros(clouds.shape[0], dtype=torch.int64)
    results = operators.enqueue(
        clouds, clouds.shape[1], lengths, None, starts, request.seed, request.algorithm, True,
        spacing, chosen,
    )
    counts = chosen.tolist()
    integer_arrays.refuse_empty(counts, points.dim() == 3, about(points))
    longest = max(counts, default=0)
    indices, distances = results[0][:, :longest], results[1][:, :longest]
    if points.dim() == 3:
        return indices, distances, results[2]
    return indices[0], distances[0], results[2][0]


def _sample_finite_rows(points: Tensor, request: Sampling) -> tuple[Any, Any, Any]:
    """Samples finite rows, one cloud at a time; synchronizes the GPU."""
    if points.dim() == 2:
        return _sample_finite_rows_of_cloud(points, request)
    lengths = [points.shape[1]] * len(points)
    if request.lengths is not None:
        lengths = lengths_of(request.lengths, points).tolist()
    starts: list[Any] = [None] * len(points)
    if request.start is not None:
        starts = starts_of(request.start, points, True, None).expand(len(points), -1).tolist()
    samples = []
    for k, (cloud, length, start) in enumerate(zip(points, lengths, starts)):
        count, seed = request.count, request.seed
        if seed is not None:
            seed = operators.signed(_native.cloud_seed(seed % 2**64, k))
        if count is not None and request.lengths is not None:
            count = min(count, length)
        cloud_request = request._replace(lengths=None, out=None, count=count, start=start, seed=seed)
        samples.append(_sample_finite_rows_of_cloud(cloud[:length], cloud_request))
    if request.spacing is not None:
        width = max((len(indices) for indices, *_ in samples), default=0)
    else:
        width = checked_count(points, request)
    indices = points.new_full((len(points), width), -1, dtype=torch.int64)
    distances = points.new_zeros((len(points), width))
    for k, (chosen, sample_distances, _) in enumerate(samples):
        indices[k, : len(chosen)] = chosen
        if sample_distances is not None:
            distances[k, : len(chosen)] = sample_distances
    if not request.distances:
        return indices, None, None
    return indices, distances, torch.stack([radius for *_, radius in samples])


def _sample_finite_rows_of_cloud(cloud: Tensor, request: Sampling) -> tuple[Any, Any, Any]:
    rows = cloud.isfinite().all(dim=-1).nonzero().squeeze(-1)
    start = request.start
    if start is not None:
        requested = starts_of(start, cloud.unsqueeze(0), False, None).reshape(-1)
        start = torch.searchsorted(rows, requested)
        for row in requested[~torch.isin(requested, rows)][:1].tolist():
            raise ValueError(f"start index {row} names a row with NaN or infinity; choose another ({about(cloud)})")
    finite_request = request._replace(skip_non_finite=False, start=start, out=None)
    indices, distances, radius = _chosen(cloud[rows], finite_request)
    return rows[indices], distances, radius


def non_finite(points: Tensor) -> tuple[list[int], list[int]]:
    """Returns the number of non-finite rows of each cloud, and the first of them."""
    points = checked(points.detach())
    refuse_meta(points, "check reads")
    if points.is_cpu:
        return non_finite_rows_of_array(points.numpy())
    clouds, strides = memory.addressable(points if points.dim() == 3 else points.unsqueeze(0))
    output = torch.empty((2, len(clouds)), dtype=torch.int64, device=clouds.device)
    source = memory.input_of(clouds, strides, None)
    _native.cuda_check(source, *(row.data_ptr() for row in output))
    counts, firsts = output.tolist()
    return counts, firsts


# --------------------------------------------------------------------- concatenated clouds


def sample_ragged(
    points: Tensor, offsets: list[int], counts: list[int], start: Any, algorithm: str
) -> Tensor:
    """Samples ``counts[k]`` of the rows ``offsets[k]:offsets[k + 1]`` of an (N, D) tensor for each k, and returns
    rows of the tensor, concatenated. Starts (B, S) are relative to the cloud's first row."""
    points = checked(points.detach())
    if points.dim() != 2:
        raise ValueError(f"concatenated clouds must be a tensor of shape (N, D) ({about(points)})")
    lengths = [end - begin for begin, end in zip(offsets, offsets[1:])]
    if offsets[:1] != [0] or offsets[-1] != len(points) or min(lengths, default=0) < 0:
        raise ValueError(f"offsets must rise from 0 to {len(points)} ({about(points)})")
    for cloud, (count, length) in enumerate(zip(counts, lengths)):
        if count < 0:
            raise ValueError(f"count {count} of cloud {cloud} is below 0 ({about(points)})")
        if count > length:
            raise ValueError(
                f"cloud {cloud} of the batch: cannot take {count} samples from a cloud of {length} "
                f"points; request at most {length} ({about(points)})"
            )
    device, starts = points.device, start
    if start is not None and not isinstance(start, Tensor):
        start_array = integer_arrays.starts_of(start, True)
        starts = numbers(start_array.reshape(-1).tolist(), device).reshape(start_array.shape)
    elif start is not None and start.dim() == 1:
        starts = start.unsqueeze(-1)
    result: Tensor = operators.sample_ragged(
        points, numbers(offsets, device), numbers(counts, device), starts, sum(counts),
        max(lengths, default=0), algorithm,
    )
    return result


def ranges(firsts: list[int], counts: list[int], points: Tensor) -> Tensor:
    """Returns ``counts[k]`` numbers from ``firsts[k]`` on for each k, concatenated, on the device of the points."""
    ends, shifts = 0, []
    for first, count in zip(firsts, counts):
        shifts.append(first - ends)
        ends += count
    device = points.device
    shift = numbers(shifts, device).repeat_interleave(numbers(counts, device), output_size=ends)
    return torch.arange(ends, device=device) + shift
