"""Conversion of arguments with tensors for the operators. ``torch.compile`` traces this."""

from __future__ import annotations

import math
import operator
from typing import Any

import torch
from torch import Tensor

from .._records import Sampling
from .._torch.lazy_torch import is_compiling
from .._torch.registration import HALVES
from .._torch.transfer import numbers, sent
from . import integer_arrays
from .conversion import name, note_transposed


def checked(points: Tensor) -> Tensor:
    """Returns the points for kernels: float16 and bfloat16 are converted to float32, without
    loss. Raises for tensors that are not clouds."""
    if points.is_nested or points.layout is not torch.strided:
        way = (
            "pass its values with offsets=, or torch.nested.to_padded_tensor(points, 0.0) with lengths="
            if points.is_nested else "pass points.to_dense()"
        )
        raise TypeError(f"the points must be a dense tensor, not one of layout {points.layout}; {way}")
    if points.is_cpu and not is_compiling():
        note_transposed(points.shape)
    is_kernel_type = points.dtype in (torch.float32, torch.float64)
    if not is_kernel_type and points.dtype not in HALVES:
        raise TypeError(
            "the points must be float32 or float64, or float16 or bfloat16, which are converted to "
            f"float32 ({about(points)})"
        )
    if points.dim() not in (2, 3) or points.shape[-1] == 0:
        raise ValueError(
            "the points must be a tensor of shape (N, D) or (B, N, D) with D at least 1 "
            f"({about(points)})"
        )
    if not is_supported(points):
        raise TypeError(f"the points must be on the CPU or on a CUDA device ({about(points)})")
    return points if is_kernel_type else points.float()


def is_supported(tensor: Tensor) -> bool:
    """Returns whether operators support the device of the tensor; on the device "meta" they return shapes."""
    return tensor.is_cpu or tensor.is_cuda or tensor.is_meta


def refuse_meta(tensor: Tensor, what: str) -> None:
    """Raises for tensors without data."""
    if tensor.is_meta:
        raise TypeError(f"{what} the data, which tensors on the device meta do not have ({about(tensor)})")


def about(points: Tensor) -> str:
    """Returns a description of the tensor for messages."""
    return f"points of shape {tuple(points.shape)}, {points.dtype}, {points.device}"


def checked_pair(x: Tensor, y: Any, filled: bool) -> tuple[Tensor, Tensor]:
    """Returns both clouds for kernels. Raises unless they are a pair of clouds; if ``filled``, also without queries."""
    if not isinstance(y, Tensor):
        raise TypeError(
            f"x is a tensor and y is not ({about(x)}; {name(y)}); pass a tensor, as "
            "torch.as_tensor(y, device=x.device) makes"
        )
    x, y = checked(x), checked(y)
    if x.dtype != y.dtype or x.device != y.device:
        raise TypeError(f"both clouds must be of the same type on the same device ({about_pair(x, y)})")
    shape, other, batch = x.shape, y.shape, x.dim() == 3
    same = x.dim() == y.dim() and shape[-1] == other[-1]
    if not same or (batch and shape[0] != other[0]):
        raise ValueError(
            "both must be clouds (N, D), or batches (B, N, D) of the same B and D "
            f"({about_pair(x, y)})"
        )
    sides = (("first", x), ("second", y))
    for which, cloud in sides if filled or shape[-2] > 0 else ():
        if cloud.shape[-2] == 0 and not (batch and shape[0] == 0):
            raise ValueError(f"the {which} cloud: the cloud has no usable point ({about_pair(x, y)})")
    return x, y


def about_pair(x: Tensor, y: Tensor) -> str:
    return f"{about(x)}; {about(y)}"


def checked_count(clouds: Tensor, request: Sampling) -> int:
    """Returns the maximum number of samples per cloud; raises for errors that show without reading the data. Padded
    clouds may have fewer rows."""
    rows, count = clouds.shape[-2], request.count
    if request.ratio is not None:
        if not 0.0 <= request.ratio <= 1.0:
            raise ValueError(f"ratio {request.ratio} is not between 0 and 1 ({about(clouds)})")
        return math.ceil(request.ratio * rows)
    assert count is not None
    if count > rows and (request.lengths is None or count * len(clouds) >= 2**60):
        raise ValueError(
            f"cannot take {count} samples from a cloud of {rows} points; request at most {rows} "
            f"({about(clouds)})"
        )
    return count


def in_range(request: Sampling) -> Sampling:
    """Returns seed and threads for operators, as signed 64-bit integers."""
    seed = request.seed
    if seed is not None:
        if not isinstance(seed, int):  # torch.compile replaces some ints by symbols
            seed = operator.index(seed)
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed {seed} is outside 0..={2**64 - 1}")
        seed = seed if seed < 2**63 else seed - 2**64
    check_threads(request.threads)
    return request._replace(seed=seed)


def check_threads(threads: int | None) -> None:
    """Raises ValueError for an invalid number of threads."""
    if threads is not None and not 1 <= threads < 2**63:
        raise ValueError(f"threads is {threads}; it must be at least 1 and below 2**63")


def lengths_of(lengths: Any, clouds: Tensor) -> Tensor:
    """Returns lengths as int64 on the device of the clouds, clamped to them, as kernels require."""
    rows = clouds.shape[1]
    tensor: Tensor
    if isinstance(lengths, Tensor):
        refuse_fractions(lengths, "lengths", 1)
        tensor = sent(lengths, clouds.device)
    else:
        array = integer_arrays.integers(lengths, "lengths", 1)
        integer_arrays.refuse_negative(array, "length")
        if (array > rows).any():
            raise ValueError(f"length {array.max()} is over {rows} ({about(clouds)})")
        tensor = numbers(array.tolist(), clouds.device)
    if tensor.dim() != 1 or tensor.shape[0] != clouds.shape[0]:
        raise ValueError(
            f"lengths must be (B,), a number for each of {clouds.shape[0]} clouds, not of shape {tuple(tensor.shape)} "
            f"({about(clouds)})"
        )
    return tensor.clamp(0, rows) if clouds.is_cuda else tensor


def starts_of(start: Any, clouds: Tensor, batch: bool, lengths: Tensor | None) -> Tensor:
    """Returns starts as (1, S) or (B, S)."""
    rows = clouds.shape[1]
    if isinstance(start, int) and not isinstance(start, bool):
        if not 0 <= start < rows:
            raise ValueError(
                f"start index {start} is outside the cloud of {rows} points ({about(clouds)})"
            )
        return torch.full((1, 1), start, dtype=torch.int64, device=clouds.device)
    if not isinstance(start, Tensor):
        array = integer_arrays.starts_of(start, batch)
        if array.size and not (0 <= array.min() and array.max() < rows):
            raise ValueError(
                f"start index {array.min() if array.min() < 0 else array.max()} is outside the "
                f"cloud of {rows} points ({about(clouds)})"
            )
        for cloud_starts in array:
            if len(set(cloud_starts.tolist())) < len(cloud_starts):
                raise ValueError(f"a start index is given twice in {cloud_starts.tolist()}")
        start = numbers(array.reshape(-1).tolist(), clouds.device).reshape(array.shape)
    else:
        refuse_fractions(start, "start")
        if start.dim() < 2:
            start = start.reshape(-1, 1) if batch and start.dim() == 1 else start.reshape(1, -1)
    if start.dim() != 2 or start.shape[0] not in (1, clouds.shape[0]) or start.shape[1] == 0:
        raise ValueError(f"start of shape {tuple(start.shape)} ({about(clouds)})")
    return sent(start, clouds.device)


def refuse_fractions(values: Tensor, what: str, ndim: int | None = None) -> None:
    if values.dtype == torch.bool or values.is_floating_point() or values.is_complex():
        raise integer_arrays.not_integers(values, what, ndim)


def fill(result: Tensor, out: Any) -> Tensor:
    if not isinstance(out, Tensor) or out.dtype != torch.int64 or out.device != result.device:
        raise TypeError(f"out must be an int64 tensor on {result.device}, not {name(out)}")
    if out.shape != result.shape:
        raise ValueError(f"out must be of shape {tuple(result.shape)}, not {tuple(out.shape)}")
    return out.copy_(result)
