"""Sampling what the CPU reads as a NumPy array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _farpoint, _progress

if TYPE_CHECKING:
    from ._sample import Request


def sample(points: np.ndarray, request: Request) -> tuple[Any, Any, Any]:
    """Indices, distances or None, and covering radius."""
    lengths = starts = None
    if request.lengths is not None:
        lengths = _arrays.integers(request.lengths, "lengths", 1)
        refuse_negative(lengths, "length")
    if not (isinstance(request.start, int) and request.start == 0):
        starts = starts_of(request.start, points.ndim == 3)
    with _progress.bar(request.progress, "sampling", "points") as callback:
        return _farpoint.sample(
            points, request.count, request.ratio, request.spacing, starts, request.seed,
            None if lengths is None else lengths.tolist(), None, request.algorithm,
            request.threads, request.skip_bad, request.distances, request.out, callback,
        )


def starts_of(start: Any, batch: bool) -> np.ndarray:
    """Starts as an array with a row for all clouds, or a row for each."""
    starts = _arrays.integers(start, "start")
    if starts.ndim == 0:
        return starts.reshape(1, 1)
    if starts.ndim == 1:
        return starts.reshape(-1, 1) if batch else starts.reshape(1, -1)
    if starts.ndim == 2 and batch:
        return starts
    shapes = "(), (B,) or (B, S)" if batch else "() or (S,)"
    raise ValueError(f"start must be of shape {shapes}, not {starts.shape}")


def refuse_negative(values: np.ndarray, what: str) -> None:
    """Raises ValueError if a value is below 0."""
    if (values < 0).any():
        cloud = int((values < 0).argmax())
        raise ValueError(f"{what} {values[cloud]} of cloud {cloud} is below 0")


def refuse_empty(taken: list[int], batch: bool, about: str) -> None:
    """Refuses clouds that are empty, or gave no sample though one at least was wanted, in the words
    of the CPU."""
    if 0 in taken:
        which = f"cloud {taken.index(0)} of the batch: " if batch else ""
        raise ValueError(f"{which}the cloud has no usable point ({about})")
