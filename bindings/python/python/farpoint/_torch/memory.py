"""Conversion of tensors for the compiled module: NumPy views on the CPU, addresses and
strides on a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from .. import _native
from .._device_records import Input, batch_strides
from .._records import Batches
from . import fast_path

# ------------------------------------------------------------------------------------ on the CPU


def array_of(tensor: Tensor) -> np.ndarray:
    """Returns a NumPy view of the tensor."""
    array: np.ndarray = (tensor.detach() if tensor.requires_grad else tensor).numpy()
    return array


def batch_of(tensor: Tensor, axes: int = 3) -> np.ndarray:
    """Returns a NumPy view as a batch with this number of axes."""
    array = array_of(tensor)
    return array if array.ndim == axes else array[None]


def batches_of(
    x: Tensor, y: Tensor, x_lengths: Tensor | None = None, y_lengths: Tensor | None = None
) -> Batches:
    """Returns both clouds or batches, and their lengths."""
    return (
        array_of(x), array_of(y), None if x_lengths is None else x_lengths.tolist(),
        None if y_lengths is None else y_lengths.tolist(),
    )


# ------------------------------------------------------------------------------------- on a GPU


def address_of(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()


def addresses_of(x: Tensor | None, y: Tensor | None) -> tuple[int, int]:
    return 0 if x is None else x.data_ptr(), 0 if y is None else y.data_ptr()


def place_of(memory: Tensor | None) -> tuple[int, int]:
    """Returns the address and the size in bytes."""
    return (0, 0) if memory is None else (memory.data_ptr(), memory.numel())


def input_of(clouds: Tensor, strides: tuple[int, int], lengths: Tensor | None) -> Input:
    """Returns the record of clouds, on the current stream of their device."""
    device = clouds.get_device()
    refuse_other_types(clouds)
    return Input(
        device, fast_path.current_stream(device), clouds.dtype == torch.float64,
        clouds.data_ptr(), strides, batch_shape(clouds), 0, address_of(lengths),
    )


def refuse_other_types(clouds: Tensor) -> None:
    """Raises TypeError for dtypes without a kernel: operators can be called with any dtype."""
    if clouds.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"the points must be float32 or float64, not {clouds.dtype}")


def batch_shape(points: Tensor) -> tuple[int, int, int]:
    """Returns the number of clouds, rows and coordinates of a batch, or of one cloud (N, D)."""
    shape = points.shape
    return (1, shape[0], shape[1]) if len(shape) == 2 else (shape[0], shape[1], shape[2])


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the strides of a dense tensor."""
    return tuple([math.prod(shape[axis + 1:]) for axis in range(len(shape))])


def are_lengths(*tensors: Tensor | None) -> bool:
    """Returns whether checked lengths can be read in place, once they are clamped."""
    return all([part is None or (part.dtype == torch.int64 and part.is_contiguous()) for part in tensors])


def within(lengths: Tensor | None, rows: int) -> Tensor | None:
    """Returns lengths clamped to the rows of a cloud."""
    return None if lengths is None else lengths.clamp(0, rows)


def within_both(
    x: Tensor | None, y: Tensor | None, x_rows: int, y_rows: int
) -> tuple[Tensor | None, Tensor | None]:
    """Returns the clamped lengths of both sides."""
    x_clamped = within(x, x_rows)
    return x_clamped, x_clamped if y is x and x_rows == y_rows else within(y, y_rows)


def addressable(clouds: Tensor) -> tuple[Tensor, tuple[int, int]]:
    """Returns clouds and their strides of a row and of an axis, copied if rows are not evenly spaced."""
    if clouds.dim() == 2:
        return clouds, (clouds.stride(0), clouds.stride(1))
    strides = batch_strides(tuple(clouds.shape), clouds.stride())
    if strides is None:
        clouds = clouds.contiguous()
        strides = (clouds.stride(1), clouds.stride(2))
    return clouds, strides


#: Size in bytes of scratch memory for sampling, by device, float64 or not, (B, N, D), samples and
#: algorithm. Cached, since every call needs it.
sample_scratch_bytes: Callable[[int, bool, tuple[int, int, int], int, str], int]
sample_scratch_bytes = lru_cache(maxsize=1024)(_native.cuda_scratch_bytes)

#: Size in bytes of scratch memory for nearest points, or for their gradients, by device, float64 or not, B,
#: both N, D, both directions or one, norm, and gradients or not.
search_scratch_bytes: Callable[[int, bool, int, tuple[int, int], int, bool, int, bool], int]
search_scratch_bytes = lru_cache(maxsize=1024)(_native.cuda_match_scratch_bytes)
