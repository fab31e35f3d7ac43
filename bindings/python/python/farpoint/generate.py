"""Generated scenes with a class for every point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _arguments, _native

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LabeledCloud", "generate_labeled"]


class LabeledCloud(NamedTuple):
    """A generated scene.

    Attributes
    ----------
    points : array of float32, (N, 3)
        Coordinates in meters.
    labels : array of int64, (N,)
        Class of each point, an index into ``class_names``; -1 for points without a class.
    class_names : tuple of str
        Names of the classes, by number.
    colors : array of uint8, (N, 3), or None
        Red, green and blue; only for "indoor".
    intensity : array of float32, (N,), or None
        LiDAR intensity; only for "town".
    """

    points: NDArray[np.float32]
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    colors: NDArray[np.uint8] | None
    intensity: NDArray[np.float32] | None


def generate_labeled(kind: Literal["indoor", "town"], count: int, *, seed: int = 0) -> LabeledCloud:
    """Generate a scene for semantic segmentation, the same on every machine.

    Parameters
    ----------
    kind : {"indoor", "town"}
        A furnished room with the 13 classes of S3DIS and colors, or a LiDAR scan of a town with the 19 classes of
        SemanticKITTI and intensities.
    count : int
        Number of points.
    seed : int, optional
        Seed; each value gives another scene.

    Returns
    -------
    LabeledCloud
        Points, classes, and colors or intensities.

    Raises
    ------
    ValueError
        An unknown kind, or a negative count or seed.
    """
    total, start = _arguments.integer(count, "count", 0), _arguments.integer(seed, "seed", 0, 2**64 - 1)
    made: dict[str, Any] = _native.generate_labelled(kind, total, start)
    names = tuple(_native.labelled_classes(kind))
    return LabeledCloud(made["points"], made["classes"], names, made.get("colors"), made.get("intensity"))
