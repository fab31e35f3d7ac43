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
    #: Address of radii of double precision, and how many numbers values have: for plain distances.
    #: Else values and covering are squared.
    radii: tuple[int, int] = (0, 0)
    #: Address and bytes.
    scratch: tuple[int, int] = (0, 0)


class Found(NamedTuple):
    """Where nearest points go, of either side: addresses, 0 for what nobody asks for."""

    distances: tuple[int, int]
    indices: tuple[int, int]
    #: Address and bytes.
    scratch: tuple[int, int] = (0, 0)


class Gradients(NamedTuple):
    """What gradients are made of, and where they go, of either side: addresses, 0 for none."""

    indices: tuple[int, int]
    grads: tuple[int, int]
    gradients: tuple[int, int]
    #: Address and bytes.
    scratch: tuple[int, int] = (0, 0)


def batch_strides(
    shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[int, int] | None:
    """Strides of a row and of an axis, if all rows of a (B, N, D) batch are evenly spaced."""
    clouds, rows, _ = shape
    if clouds > 1 and rows > 0 and strides[0] != rows * strides[1]:
        return None
    return strides[1], strides[2]


#: Bytes of scratch memory that a sampling needs: device, whether float64, (B, N, D), samples,
#: algorithm. Always the same for the same, and asked for on every call.
scratch_bytes: Callable[[int, bool, tuple[int, int, int], int, str], int]
scratch_bytes = lru_cache(maxsize=1024)(_farpoint.cuda_scratch_bytes)


def _match_scratch_bytes(
    device: int, wide: bool, pairs: int, rows: tuple[int, int], dims: int, both: bool, norm: int,
    backward: bool,
) -> int:
    return _farpoint.cuda_match_scratch_bytes(
        device, wide, pairs, rows, dims, both, norm, backward
    )


#: The same for a search for nearest points, both ways or one, or for its gradients: device, whether
#: float64, B, both N, D, whether both ways, norm, whether for the gradients.
match_scratch_bytes: Callable[[int, bool, int, tuple[int, int], int, bool, int, bool], int]
match_scratch_bytes = lru_cache(maxsize=1024)(_match_scratch_bytes)
