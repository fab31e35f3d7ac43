"""Approximate samplers of tensors on a GPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _native
from .._records import Approximation
from .._torch.approximate import enqueue
from .torch_arguments import checked, in_count, lengths_of, starts_of


def sample_approximate(points: Tensor, request: Approximation, start: Any, lengths: Any, tree: Any) -> Any:
    """Returns indices of the samples; None to fall back to the CPU."""
    points = checked(points.detach() if points.requires_grad else points)
    if not points.is_cuda or request.method not in _native.CUDA_METHODS:
        return None
    batch = points.dim() == 3
    if lengths is not None and not batch:
        raise ValueError(f"lengths are for a batch of shape (B, N, D), not {tuple(points.shape)}")
    if request.skip_non_finite:
        return _sample_finite_rows(points, request, start, lengths)
    return _chosen(points, request, start, lengths, tree)


def _chosen(points: Tensor, request: Approximation, start: Any, lengths: Any, tree: Any) -> Tensor:
    count = in_count(points, request.count, request.ratio, lengths is not None)
    clouds = points if points.dim() == 3 else points.unsqueeze(0)
    valid_rows = None if lengths is None else lengths_of(lengths, clouds)
    counts = starts = None
    if valid_rows is not None and request.ratio is not None:
        counts = torch.ceil(valid_rows.to(torch.float64) * request.ratio).to(torch.int64)
    if start is not None:
        starts = starts_of(start, clouds, points.dim() == 3, valid_rows)
        if starts.shape[1] > max(count, 1):
            raise ValueError(f"{starts.shape[1]} start indices for {count} samples")
    # Arguments passed separately are cleared, so that the scratch size is cached by options alone.
    options = request._replace(count=None, ratio=None, seed=None, threads=None, callback=None)
    return enqueue(points, count, valid_rows, counts, starts, request.seed, options, tree)


def _sample_finite_rows(points: Tensor, request: Approximation, start: Any, lengths: Any) -> Tensor:
    """Samples finite rows, one cloud at a time; synchronizes the GPU."""
    if points.dim() == 2:
        return _sample_finite_rows_of_cloud(points, request, start)
    width = in_count(points, request.count, request.ratio, lengths is not None)
    rows = [points.shape[1]] * len(points) if lengths is None else lengths_of(lengths, points).tolist()
    starts: list[Any] = [None] * len(points)
    if start is not None:
        starts = starts_of(start, points, True, None).expand(len(points), -1).tolist()
    results = points.new_full((len(points), width), -1, dtype=torch.int64)
    for cloud, length, cloud_start, result in zip(points, rows, starts, results):
        cloud_request = request
        if lengths is not None and request.count is not None:
            cloud_request = request._replace(count=min(request.count, length))
        chosen = _sample_finite_rows_of_cloud(cloud[:length], cloud_request, cloud_start)
        result[: len(chosen)] = chosen
    return results


def _sample_finite_rows_of_cloud(cloud: Tensor, request: Approximation, start: Any) -> Tensor:
    rows = cloud.isfinite().all(dim=-1).nonzero().squeeze(-1)
    if start is not None:
        requested = torch.as_tensor(start, device=cloud.device).reshape(-1)
        start = torch.searchsorted(rows, requested).clamp(max=max(len(rows) - 1, 0))
        if len(rows) == 0 or not bool((rows[start] == requested).all()):
            raise ValueError("a start row has NaN or infinity; choose another")
    return rows[_chosen(cloud[rows], request, start, None, None)]
