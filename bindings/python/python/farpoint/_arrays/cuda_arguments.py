"""Checks of arguments with arrays in GPU memory other than PyTorch's: pairs of clouds, lengths, streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from .._torch.lazy_torch import is_tensor
from . import integer_arrays
from .conversion import is_on_gpu, name
from .device import Array, describe


def fitting(values: Any, what: str, source: Array) -> np.ndarray:
    """Returns lengths clamped to the clouds, as kernels require."""
    lengths = integer_arrays.integers(values, what, 1)
    integer_arrays.refuse_negative(lengths, "length")
    clouds, rows, _ = source.shape
    if len(lengths) != clouds or (lengths > rows).any():
        raise ValueError(f"{what} {lengths.tolist()} do not fit ({name(source.array)})")
    return lengths


def pair_of(x: Any, y: Any, filled: bool = False) -> tuple[Array, Array]:
    """Returns both clouds. Raises unless they are a pair of clouds; if ``filled``, also without queries."""
    for array in (x, y):
        if isinstance(array, np.ndarray) or is_tensor(array) or not is_on_gpu(array):
            raise TypeError(
                f"both clouds must be of the same library on the same GPU ({name(x)}; {name(y)})"
            )
    a, b = describe(x), describe(y)
    about = f"{name(x)}; {name(y)}"
    if a.library != b.library or a.device != b.device or a.dtype != b.dtype:
        raise TypeError(f"both clouds must be of the same library and type on the same GPU ({about})")
    if a.batch != b.batch or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[2]:
        raise ValueError(
            f"both must be clouds (N, D), or batches (B, N, D) of the same B and D ({about})"
        )
    sides = (("first", a), ("second", b))
    for which, cloud in sides if filled or a.shape[1] > 0 else ():
        if cloud.shape[0] > 0 and cloud.shape[1] == 0:
            raise ValueError(f"the {which} cloud: the cloud has no usable point ({about})")
    return a, b


def search_lengths(values: Any, what: str, source: Array, filled: bool) -> np.ndarray | None:
    if values is None:
        return None
    if not source.batch:
        raise ValueError(f"{what} are for a batch of shape (B, N, D)")
    lengths = fitting(values, what, source)
    if filled:
        integer_arrays.refuse_empty(lengths.tolist(), True, name(source.array))
    return lengths


def wait_for(first: Array, other: Array) -> None:
    """Synchronizes the stream of ``other`` if it differs from the stream of ``first``, on which work is queued."""
    if other.stream != first.stream:
        _native.DeviceArray(other.device, other.stream, [1], "i8").wait()
