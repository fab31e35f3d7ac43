"""Scenes as returned by all readers, and labelled PLY files of predictions."""

from __future__ import annotations

import colorsys
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

import farpoint

from ..recipes import IGNORED, Recipe

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Chosen", "Kept", "Scene", "Source", "colors_of", "palette", "write_prediction"]


class Scene(NamedTuple):
    """A room, or a LiDAR scan.

    Attributes
    ----------
    name : str
        Name in the dataset, such as "Area_5/office_1" or "08/000123".
    points : array of float32, (N, 3)
        Coordinates in meters, as read.
    colors : array of uint8, (N, 3), or None
        Red, green and blue.
    intensity : array of float32, (N,), or None
        Intensity of the LiDAR.
    labels : array of int64, (N,)
        Class indices; -1 for points of no class, or without labels.
    """

    name: str
    points: NDArray[np.float32]
    colors: NDArray[np.uint8] | None
    intensity: NDArray[np.float32] | None
    labels: NDArray[np.int64]


class Source(Protocol):
    """Protocol for the scenes of one split of a dataset."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names of the scenes, in order of evaluation."""

    def read(self, name: str) -> Scene:
        """Read a scene.

        Raises
        ------
        OSError
            A file can't be read.
        ValueError
            A file is damaged; the message has the file and the line or row.
        """


class Chosen:
    """Subset of the scenes of a source, spread evenly.

    Parameters
    ----------
    source : Source
        Source of the scenes.
    count : int
        Number of scenes, at most all.
    """

    def __init__(self, source: Source, count: int) -> None:
        self._source = source
        names = source.names
        count = min(count, len(names))
        self._names = [names[place * len(names) // count] for place in range(count)]

    @property
    def names(self) -> Sequence[str]:
        return self._names

    def read(self, name: str) -> Scene:
        return self._source.read(name)


class Kept:
    """Scenes of a source, cached in memory once read.

    Parameters
    ----------
    source : Source
        Source of the scenes.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._scenes: dict[str, Scene] = {}

    @property
    def names(self) -> Sequence[str]:
        return self._source.names

    def read(self, name: str) -> Scene:
        if name not in self._scenes:
            self._scenes[name] = self._source.read(name)
        return self._scenes[name]


def checked(scene: Scene, classes: int, where: str | os.PathLike[str]) -> Scene:
    """Return the scene after checking it.

    Raises
    ------
    ValueError
        No points, non-finite coordinates, or labels that are not classes; with the row.
    """
    if len(scene.points) == 0:
        raise ValueError(f"{where}: the scene has no points")
    if len(scene.labels) != len(scene.points):
        raise ValueError(f"{where}: {len(scene.points):,} points, but {len(scene.labels):,} labels")
    bad = ~np.isfinite(scene.points).all(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"{where}: row {row} has coordinates {scene.points[row].tolist()}; they must be finite "
            f"({int(bad.sum()):,} such rows)"
        )
    wrong = (scene.labels < IGNORED) | (scene.labels >= classes)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{where}: row {row} has label {scene.labels[row]}; there are classes 0 to {classes - 1}, and "
            f"{IGNORED} for none ({int(wrong.sum()):,} such rows)"
        )
    return scene


def colors_of(values: NDArray[Any], where: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """Convert colors from 0 to 255 to uint8.

    Raises
    ------
    ValueError
        A value out of range, with its row.
    """
    wrong = ~((values >= -0.5) & (values <= 255.5)).all(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{where}: row {row} has color {values[row].tolist()}, outside 0 to 255")
    rounded: NDArray[np.uint8] = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return rounded


def palette(classes: int) -> NDArray[np.uint8]:
    """Return colors of the classes, and light gray (the last row, index -1) for points of no class."""
    shades = [
        colorsys.hsv_to_rgb(number * 0.618034 % 1.0, (0.55, 0.85)[number % 2], (0.95, 0.8)[number // 2 % 2])
        for number in range(classes)
    ]
    colors: NDArray[np.uint8] = np.rint(255 * np.array([*shades, (0.8, 0.8, 0.8)])).astype(np.uint8)
    return colors


def write_prediction(
    path: str | os.PathLike[str], scene: Scene, prediction: NDArray[np.int64], recipe: Recipe
) -> Path:
    """Write a PLY file with points in the colors of the predicted classes.

    Its columns are x, y, z, red, green, blue (of the predicted class), label and prediction (numbers of
    classes, -1 for none), and the scene's own colors as scene_red, scene_green, scene_blue, or intensity.

    Parameters
    ----------
    path : str or os.PathLike
        Output file; missing folders are created.
    scene : Scene
        Segmented scene.
    prediction : array of int64, (N,)
        Class of each point.
    recipe : Recipe
        Recipe of the dataset.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        Not one class per point.
    OSError
        The file can't be written.
    """
    path = Path(path)
    if prediction.shape != (len(scene.points),):
        raise ValueError(
            f"{path}: predictions {prediction.shape} for {len(scene.points):,} points of {scene.name}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    cloud = farpoint.Cloud.from_points(scene.points)
    shown = palette(len(recipe.classes))[prediction]
    for channel, name in enumerate(("red", "green", "blue")):
        cloud = cloud.with_column(name, shown[:, channel])
    cloud = cloud.with_column("label", scene.labels.astype(np.int16))
    cloud = cloud.with_column("prediction", prediction.astype(np.int16))
    if scene.colors is not None:
        for channel, name in enumerate(("scene_red", "scene_green", "scene_blue")):
            cloud = cloud.with_column(name, scene.colors[:, channel])
    if scene.intensity is not None:
        cloud = cloud.with_column("intensity", scene.intensity)
    farpoint.write(path, cloud)
    return path
