"""Records that the floors pass to each other and to the compiled module, which reads their attributes by
name. Addresses are those of device memory, 0 for none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

# ------------------------------------------------------------------- arguments of the public functions


class Sampling(NamedTuple):
    """Checked arguments of ``sample``."""

    count: int | None  # type: ignore[assignment]  # a tuple counts its items by that name
    ratio: float | None
    spacing: float | None
    start: Any
    lengths: Any
    algorithm: str
    seed: int | None
    threads: int | None
    out: Any
    distances: bool
    skip_bad: bool
    progress: bool
    #: Samples of each cloud of a batch, none of which is above ``count``.
    counts: Any = None


class Search(NamedTuple):
    """Checked arguments of ``nearest`` and ``chamfer``."""

    x_lengths: Any
    y_lengths: Any
    norm: int
    #: Whether distances of norm 2 are square roots.
    plain: bool
    threads: int | None


class Reduction(NamedTuple):
    """How the distances of a pair of clouds become one value."""

    norm: int
    #: Whether distances of norm 2 are square roots.
    plain: bool
    reduction: str
    both: bool
    threads: int | None


class Approximation(NamedTuple):
    """Checked arguments of ``sample_approximate`` and ``centroids``."""

    method: str
    count: int | None  # type: ignore[assignment]  # a tuple counts its items by that name
    ratio: float | None
    cell: float | None
    starts: np.ndarray | None = None
    seed: int | None = None
    keep: str | None = None
    bits: int | None = None
    window: int | None = None
    npdu_order: str | None = None
    estimator: str | None = None
    first_stage: str | None = None
    lengths: list[int] | None = None
    threads: int | None = None
    skip_bad: bool = False
    callback: Callable[[int, int], None] | None = None


#: Two batches (B, N, D) and (B, M, D), and rows of each of their clouds that count.
Batches: TypeAlias = "tuple[np.ndarray, np.ndarray, list[int] | None, list[int] | None]"


# ----------------------------------------------------------------------- arrays in device memory


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
