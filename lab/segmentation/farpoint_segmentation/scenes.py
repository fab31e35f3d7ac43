"""Generated scenes with a class for every point, by ``lab/scenes``, called through ctypes.

The library is ``target/release/libfarpoint_scenes.so`` of the repository (``cargo build --release -p farpoint-scenes``), or
what ``FARPOINT_SCENES`` names.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KINDS", "Kind", "LabeledCloud", "generate_labeled"]

Kind = Literal["indoor", "town"]
#: In the order of the library.
KINDS: tuple[Kind, ...] = ("indoor", "town")

_ROOT = pathlib.Path(__file__).resolve().parents[3]


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


@functools.cache
def _library() -> ctypes.CDLL:
    file = os.environ.get("FARPOINT_SCENES", str(_ROOT / "target/release/libfarpoint_scenes.so"))
    try:
        library = ctypes.CDLL(file)
    except OSError as error:
        raise ImportError(
            f"{error}; run `cargo build --release -p farpoint-scenes` in the repository, or set FARPOINT_SCENES"
        ) from None
    library.farpoint_scenes_generate.argtypes = [
        ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
    ]
    library.farpoint_scenes_classes.argtypes = [ctypes.c_size_t]
    library.farpoint_scenes_classes.restype = ctypes.c_char_p
    return library


def generate_labeled(kind: Kind, count: int, *, seed: int = 0) -> LabeledCloud:
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

    Raises
    ------
    ValueError
        An unknown kind, or a negative count or seed.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind of scene '{kind}'; choose {' or '.join(KINDS)}")
    for name, value, end in (("count", count, 2**63), ("seed", seed, 2**64)):
        if not 0 <= value < end:
            raise ValueError(f"{name} is {value}; it must be 0 or more, and less than {end}")
    number = KINDS.index(kind)
    points, classes = np.empty((count, 3), np.float32), np.empty(count, np.uint8)
    colors = np.empty((count, 3), np.uint8) if kind == "indoor" else None
    intensity = np.empty(count, np.float32) if colors is None else None
    arrays = (array.ctypes.data for array in (points, colors, intensity, classes) if array is not None)
    if _library().farpoint_scenes_generate(number, count, seed, *arrays):
        raise RuntimeError(f"no scene '{kind}': the library is of another version, or panicked")
    labels = np.where(classes == 255, -1, classes.astype(np.int64))
    names = tuple(_library().farpoint_scenes_classes(number).decode().split(","))
    return LabeledCloud(points, labels, names, colors, intensity)
