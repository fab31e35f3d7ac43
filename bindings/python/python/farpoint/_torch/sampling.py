"""Sampling as operators. On the CPU tensors become NumPy views; on a GPU the work is
queued on the current stream, in memory of PyTorch's allocator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _native
from .._device_records import Output
from . import fast_path, memory
from .registration import define

# Defaults are for callers of torch.ops.farpoint.sample, as modules that torch.jit.script compiles are.
_ARGUMENTS = (
    "(Tensor points, SymInt count, Tensor? lengths=None, Tensor? counts=None, Tensor? starts=None, "
    "SymInt? seed=None, str algorithm='auto', int? threads=None)"
)


def _fake_sample(points: Tensor, count: int, *_: Any) -> Tensor:
    return points.new_empty((*points.shape[:-2], count), dtype=torch.int64)


def _fake_sample_distances(points: Tensor, count: int, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    shape = (*points.shape[:-2], count)
    radius = points.new_empty(points.shape[:-2], dtype=torch.float64)
    return points.new_empty(shape, dtype=torch.int64), points.new_empty(shape), radius


# PyTorch passes no arguments that equal the default.
def _on_cpu(points: Tensor, count: int, *rest: Any) -> Tensor:
    return torch.from_numpy(_by_numpy(points, count, False, *rest)[0])


def _on_cpu_distances(points: Tensor, count: int, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    indices, distances, radius = _by_numpy(points, count, True, *rest)
    radii = torch.as_tensor(radius, dtype=torch.float64, device="cpu")
    return torch.from_numpy(indices), torch.from_numpy(distances), radii


def _by_numpy(
    points: Tensor, count: int, distances: bool, lengths: Tensor | None = None, counts: Tensor | None = None,
    starts: Tensor | None = None, seed: int | None = None, algorithm: str = "auto", threads: int | None = None,
) -> Any:
    return _native.sample(
        memory.array_of(points), count, None, None,
        None if starts is None else starts.numpy(), None if seed is None else seed % 2**64,
        None if lengths is None else lengths.tolist(),
        None if counts is None else counts.tolist(),
        algorithm, threads, False, distances, None, None,
    )


def _on_cuda(points: Tensor, count: int, *rest: Any) -> Tensor:
    return _enqueue_all(points, count, False, *rest)[0]


def _on_cuda_distances(points: Tensor, count: int, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    return _enqueue_all(points, count, True, *rest)


def _enqueue_all(
    points: Tensor, count: int, distances: bool, lengths: Tensor | None = None, counts: Tensor | None = None,
    starts: Tensor | None = None, seed: int | None = None, algorithm: str = "auto", threads: int | None = None,
) -> tuple[Tensor, Any, Any]:
    return enqueue(points, count, lengths, counts, starts, seed, algorithm, distances)


def enqueue(
    points: Tensor, count: int, lengths: Tensor | None, counts: Tensor | None,
    starts: Tensor | None, seed: int | None, algorithm: str, distances: bool,
    spacing: float | None = None, chosen: Tensor | None = None,
) -> tuple[Tensor, Any, Any]:
    """Queues the sampling of a batch, or of one cloud (N, D), on the current stream. Does not
    synchronize."""
    points, strides = memory.addressable(points)
    clouds, rows, dims = shape = memory.batch_shape(points)
    if count == 0 or clouds == 0:
        return _nothing(points, count)
    if rows == 0:
        return _padding(points, count, True)
    if seed is not None:
        starts = random_starts(seed, points, lengths)
    if starts is not None:
        starts = inside(starts, clouds, rows, lengths)
    # Kernels write at most min(count, rows) samples per cloud.
    max_samples = min(count, rows)
    slots = None
    if max_samples < count:
        slots = torch.arange(0, clouds * count, count, device=points.device)
    overwrites_all = counts is None and slots is None
    indices, values, radii = (_room if overwrites_all else _padding)(points, count, distances)
    # All are named, so that none is freed before it is used. Squared radii, which
    # are not returned, are stored after the scratch memory.
    size = _scratch_bytes(points, shape, max_samples, algorithm)
    room = size + 8 * clouds if distances else size
    try:
        scratch = points.new_empty(room, dtype=torch.uint8)
    except torch.cuda.OutOfMemoryError as error:
        raise _too_large(error, room) from None
    address = scratch.data_ptr()
    output = Output(
        indices.data_ptr(), memory.address_of(counts), memory.address_of(slots),
        (memory.address_of(starts), 1 if starts is None else starts.shape[1]),
        memory.address_of(values), address + size if distances else 0, memory.address_of(chosen),
        (memory.address_of(radii), clouds * count), (address if size else 0, size),
    )
    limit = None if spacing is not None else max_samples
    _native.cuda_sample(memory.input_of(points, strides, lengths), output, limit, spacing, algorithm)
    return indices, values, radii


# ------------------------------------------------------------------------------------ cached plans


class Prepared(NamedTuple):
    """Everything except addresses that sampling needs for given shapes on a GPU."""

    queue: Callable[..., None]
    device: int
    kind: torch.dtype
    #: Shape and strides of indices and distances, and of radii.
    places: tuple[tuple[int, ...], tuple[int, ...]]
    clouds: tuple[tuple[int, ...], tuple[int, ...]]
    distances: bool
    #: Size of scratch memory, in bytes.
    scratch: int


def prepare(points: Tensor, count: int, algorithm: str, distances: bool) -> Prepared | None:
    """Returns the ``Prepared`` of checked clouds; None if a result or a cloud needs more than an address."""
    addressable, strides = memory.addressable(points)
    shape = memory.batch_shape(points)
    if addressable is not points or count == 0 or 0 in shape:
        return None
    device = points.get_device()
    plan = _native.CudaSample(device, points.dtype == torch.float64, shape, strides, count, algorithm)
    batch = points.dim() == 3
    places = ((shape[0], count), (count, 1)) if batch else ((count,), (1,))
    clouds = ((shape[0],), (1,)) if batch else ((), ())
    return Prepared(plan.sample, device, points.dtype, places, clouds, distances, plan.scratch[distances])


def answer(prepared: Prepared, points: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Any, Any]:
    """Returns indices, and distances and radii or None."""
    queue, device, kind, places, clouds, with_distances, size = prepared
    make = fast_path.maker(device)
    indices, distances, radii = make(*places, torch.int64), None, None
    if with_distances:
        distances, radii = make(*places, kind), make(*clouds, torch.float64)
    try:
        scratch = make((size,), (1,), torch.uint8) if size else None
    except torch.cuda.OutOfMemoryError as error:
        raise _too_large(error, size) from None
    queue(None, points, lengths, indices, distances, radii, scratch)
    return indices, distances, radii


def _too_large(error: Exception, scratch: int) -> Exception:
    """Returns the allocator's error with the purpose of the memory and a remedy."""
    return type(error)(
        f"{error}\nfarpoint: sampling takes {scratch:,} bytes of scratch memory on the tensor's GPU beside the points. "
        "A tensor on a GPU is sampled by that GPU in its own memory. Free some, sample in pieces of a batch, or give "
        "the points in host memory (points.cpu()), whose sample has the same indices; the command line "
        "(farpoint sample --gpu all) uses several GPUs and host memory"
    )


def _room(points: Tensor, count: int, distances: bool) -> tuple[Tensor, Any, Any]:
    """Allocates indices, and distances and radii if requested."""
    clouds = points.shape[:-2]
    indices = points.new_empty((*clouds, count), dtype=torch.int64)
    if not distances:
        return indices, None, None
    radii = points.new_empty(clouds, dtype=torch.float64)
    return indices, points.new_empty((*clouds, count)), radii


def _padding(points: Tensor, count: int, distances: bool) -> tuple[Tensor, Any, Any]:
    """Returns the result for clouds without rows."""
    results = _room(points, count, distances)
    for part, value in zip(results, (-1, 0, 0)):
        if part is not None:
            part.fill_(value)
    return results


def _nothing(points: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the result for no samples, which cover no point."""
    shape = (*points.shape[:-2], count)
    radius = points.new_full(points.shape[:-2], torch.inf, dtype=torch.float64)
    return points.new_empty(shape, dtype=torch.int64), points.new_empty(shape), radius


def _scratch_bytes(
    points: Tensor, shape: tuple[int, int, int], count: int, algorithm: str
) -> int:
    """Returns the size in bytes of scratch memory, a multiple of 256. PyTorch's allocator aligns to 512."""
    device, wide = points.get_device(), points.dtype == torch.float64
    return -(-memory.sample_scratch_bytes(device, wide, shape, count, algorithm) // 256) * 256


def inside(starts: Tensor, clouds: int, rows: int, lengths: Tensor | None) -> Tensor:
    """Returns starts as a dense (B, S) array, clamped to each cloud as kernels require."""
    if lengths is not None:
        starts = torch.minimum(starts, lengths.unsqueeze(-1) - 1)
    return starts.clamp(0, max(rows - 1, 0)).expand(clouds, -1).contiguous()


def random_starts(seed: int, points: Tensor, lengths: Tensor | None) -> Tensor:
    """Returns the random start rows of a seed, one per cloud, as drawn on the CPU, without synchronizing for the
    lengths. Operators take signed integers: seeds from 2^63 on arrive as negative numbers."""
    seed %= 2**64
    clouds, rows, _ = memory.batch_shape(points)
    if lengths is None and clouds == 1:
        start = _native.random_start(seed, rows) if rows else 0
        return torch.full((1, 1), start, dtype=torch.int64, device=points.device)
    # Multiply and shift on 32-bit halves. (A draw that the CPU would repeat, one in 2^32 at
    # most, is not repeated here.)
    word = _words(seed, clouds, points.device)
    of, high, low = rows if lengths is None else lengths, _shifted(word, 32), word & 0xFFFFFFFF
    return _shifted(high * of + _shifted(low * of, 32), 32).unsqueeze(-1)


def _words(seed: int, clouds: int, device: torch.device) -> Tensor:
    """Returns the first 64 bits that each cloud of a batch draws (SplitMix64), computed on the device, so that CUDA
    graphs can capture it."""
    word = torch.arange(1, clouds + 1, device=device) * signed(0x9E3779B97F4A7C15) + signed(seed)
    word = (word ^ _shifted(word, 30)) * signed(0xBF58476D1CE4E5B9)
    word = (word ^ _shifted(word, 27)) * signed(0x94D049BB133111EB)
    return word ^ _shifted(word, 31)


def signed(word: int) -> int:
    """Returns 64 bits as a signed integer, as PyTorch has them."""
    return word - 2**64 if word >= 2**63 else word


def _shifted(words: Tensor, bits: int) -> Tensor:
    """Returns a logical right shift."""
    return (words >> bits) & ((1 << (64 - bits)) - 1)


sample = define(
    f"sample{_ARGUMENTS} -> Tensor", _fake_sample, _on_cpu, _on_cuda, starts=4, constant=True
)
sample_distances = define(
    f"sample_distances{_ARGUMENTS} -> (Tensor, Tensor, Tensor)",
    _fake_sample_distances, _on_cpu_distances, _on_cuda_distances, starts=4, constant=True,
)


def _fake_ragged(
    points: Tensor, offsets: Tensor, counts: Tensor, starts: Tensor | None, total: int, *_: Any
) -> Tensor:
    return points.new_empty(total, dtype=torch.int64)


def _ragged_on_cpu(
    points: Tensor, offsets: Tensor, counts: Tensor, starts: Tensor | None, total: int,
    longest: int, algorithm: str,
) -> Tensor:
    rows = None if starts is None else starts.numpy()
    return torch.from_numpy(
        _native.sample_ragged(memory.array_of(points), offsets.numpy(), counts.numpy(), rows, algorithm)
    )


def _ragged_on_cuda(
    points: Tensor, offsets: Tensor, counts: Tensor, starts: Tensor | None, total: int,
    longest: int, algorithm: str,
) -> Tensor:
    clouds = counts.shape[0]
    indices = points.new_empty(total, dtype=torch.int64)
    if total == 0:
        return indices
    lengths = offsets[1:] - offsets[:-1]
    if starts is not None:
        starts = inside(starts, clouds, longest, lengths)
    slots = counts.cumsum(0) - counts
    max_samples = min(longest, total)
    size = _scratch_bytes(points, (clouds, longest, points.shape[1]), max_samples, algorithm)
    scratch = points.new_empty(size, dtype=torch.uint8)
    output = Output(
        indices.data_ptr(), counts.data_ptr(), slots.data_ptr(),
        (memory.address_of(starts), 1 if starts is None else starts.shape[1]),
        scratch=(scratch.data_ptr(), size),
    )
    source = memory.input_of(points, (points.stride(0), points.stride(1)), None)
    source = source._replace(
        shape=(clouds, longest, points.shape[1]), offsets=offsets.data_ptr()
    )
    _native.cuda_sample(source, output, max_samples, None, algorithm)
    return indices + offsets[:-1].repeat_interleave(counts, output_size=total)


sample_ragged = define(
    "sample_ragged(Tensor points, Tensor offsets, Tensor counts, Tensor? starts, SymInt total, "
    "SymInt longest, str algorithm) -> Tensor",
    _fake_ragged, _ragged_on_cpu, _ragged_on_cuda, folds=False, constant=True,
)
