"""Records of arrays in device memory, which the compiled module reads by name. Addresses of 0 are those of none."""

from typing import NamedTuple


class Input(NamedTuple):
    """Clouds."""

    device: int
    stream: int
    #: float64 if set, else float32.
    wide: bool
    points: int
    #: Of a row and of an axis, in elements.
    strides: tuple[int, int]
    #: Clouds, rows, coordinates.
    shape: tuple[int, int, int]
    offsets: int = 0
    lengths: int = 0


class Output(NamedTuple):
    """Where the samples go."""

    indices: int
    samples: int = 0
    slots: int = 0
    #: Address, and how many per cloud.
    starts: tuple[int, int] = (0, 1)
    values: int = 0
    covering: int = 0
    chosen: int = 0
    #: Address of radii in double precision, and the length of ``values``: for plain distances.
    #: Without it values and covering are squared.
    radii: tuple[int, int] = (0, 0)
    #: Address and bytes.
    scratch: tuple[int, int] = (0, 0)


class Found(NamedTuple):
    """Where the nearest points of either side go."""

    distances: tuple[int, int]
    indices: tuple[int, int]
    #: Address and bytes.
    scratch: tuple[int, int] = (0, 0)


class Gradients(NamedTuple):
    """What the gradients of either side are computed from, and where they go."""

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
