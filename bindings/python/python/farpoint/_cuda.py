"""What the compiled half is told of arrays in the memory of a GPU, whoever owns them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from . import _farpoint


class Input(NamedTuple):
    """Clouds: addresses (0 for none), and strides in numbers."""

    device: int
    stream: int
    wide: bool
    points: int
    strides: tuple[int, int]
    #: Clouds, rows, coordinates.
    shape: tuple[int, int, int]
    offsets: int = 0
    lengths: int = 0


class Output(NamedTuple):
    """Where the answer goes: addresses, 0 for none."""

    indices: int
    samples: int = 0
    slots: int = 0
    #: Address, and how many a cloud.
    starts: tuple[int, int] = (0, 1)
    values: int = 0
    covering: int = 0
    chosen: int = 0
    #: Address and bytes.
    scratch: tuple[int, int] = (0, 0)


def batch_strides(
    shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[int, int] | None:
    """Strides of a row and of an axis, if all rows of a (B, N, D) batch are evenly spaced."""
    clouds, rows, _ = shape
    if clouds > 1 and strides[0] != rows * strides[1]:
        return None
    return strides[1], strides[2]


#: Bytes of scratch memory that a sampling needs: device, whether float64, (B, N, D), samples,
#: algorithm. Always the same for the same, and asked for on every call.
scratch_bytes: Callable[[int, bool, tuple[int, int, int], int, str], int]
scratch_bytes = lru_cache(maxsize=1024)(_farpoint.cuda_scratch_bytes)
