"""Records of arrays in device memory, which the compiled module reads by name. An address of 0 means none."""

from typing import NamedTuple


class Input(NamedTuple):
    """Input clouds."""

    device: int
    stream: int
    #: True for float64, False for float32.
    wide: bool
    points: int
    #: Strides of a row and of an axis, in elements.
    strides: tuple[int, int]
    #: Number of clouds, rows and coordinates.
    shape: tuple[int, int, int]
    offsets: int = 0
    lengths: int = 0


class Output(NamedTuple):
    """Output arrays of a sampler."""

    indices: int
    samples: int = 0
    slots: int = 0
    #: Address, and number per cloud.
    starts: tuple[int, int] = (0, 1)
    values: int = 0
    covering: int = 0
    chosen: int = 0
    #: Address of float64 radii, and the length of ``values``, for plain distances.
    #: Without it values and covering are squared.
    radii: tuple[int, int] = (0, 0)
    #: Address and size in bytes.
    scratch: tuple[int, int] = (0, 0)


class MatchOutput(NamedTuple):
    """Output arrays for nearest points in both directions."""

    distances: tuple[int, int]
    indices: tuple[int, int]
    #: Address and size in bytes.
    scratch: tuple[int, int] = (0, 0)


class Gradients(NamedTuple):
    """Input and output arrays of the gradients for both clouds."""

    indices: tuple[int, int]
    grads: tuple[int, int]
    gradients: tuple[int, int]
    #: Address and size in bytes.
    scratch: tuple[int, int] = (0, 0)


def batch_strides(
    shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[int, int] | None:
    """Returns the strides of a row and of an axis if all rows of a (B, N, D) batch are evenly spaced."""
    clouds, rows, _ = shape
    if clouds > 1 and rows > 0 and strides[0] != rows * strides[1]:
        return None
    return strides[1], strides[2]
