"""Approximate samplers on a GPU, queued on the current stream, in memory of PyTorch's allocator."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from .. import _native
from .._device_records import Output
from .._records import Approximation
from . import memory
from .sampling import inside, random_starts

#: Size of scratch memory by device, float64 or not, (B, N, D), samples, method and options, with or without an index.
_scratch_bytes = lru_cache(maxsize=1024)(_native.cuda_approximate_scratch_bytes)


def enqueue(
    points: Tensor, count: int, lengths: Tensor | None, counts: Tensor | None, starts: Tensor | None,
    seed: int | None, request: Approximation, tree: Tensor | None,
) -> Tensor:
    """Queues the sampling of a batch, or of one cloud (N, D), and returns the indices, padded with -1. Only the method
    of the request and its options are used; the tree must be one of the clouds. Does not synchronize."""
    points, strides = memory.addressable(points)
    clouds, rows, _ = shape = memory.batch_shape(points)
    max_samples = min(count, rows)
    shape_of_indices = (*points.shape[:-2], count)
    if max_samples == 0 or clouds == 0:
        return points.new_full(shape_of_indices, -1, dtype=torch.int64)
    if seed is not None:
        starts = random_starts(seed, points, lengths)
    if starts is not None:
        starts = inside(starts, clouds, rows, lengths)
    # Kernels write at most min(count, rows) samples per cloud.
    slots = torch.arange(0, clouds * count, count, device=points.device) if max_samples < count else None
    overwrites_all = counts is None and slots is None
    indices = points.new_empty(shape_of_indices, dtype=torch.int64) if overwrites_all else points.new_full(shape_of_indices, -1, dtype=torch.int64)
    size = _scratch_bytes(
        points.get_device(), points.dtype == torch.float64, shape, max_samples, request, tree is not None
    )
    # All are named, so that none is freed before it is used.
    scratch = points.new_empty(size, dtype=torch.uint8)
    output = Output(
        indices.data_ptr(), memory.address_of(counts), memory.address_of(slots),
        (memory.address_of(starts), 1 if starts is None else starts.shape[1]),
        scratch=memory.place_of(scratch),
    )
    source = memory.input_of(points, strides, lengths)
    _native.cuda_sample_approximate(source, output, max_samples, request, memory.place_of(tree))
    return indices
