"""Scenes that farpoint generates, with classes: rooms in place of S3DIS and ScanNet, turns of a LiDAR in a town in
place of SemanticKITTI. They are simpler than what sensors record: figures taken on them say nothing about
those data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

import farpoint

from ..recipes import IGNORED, Recipe
from .scene import Scene, checked

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Generated"]

#: Points of a scene as read: a room of S3DIS fills about as many voxels, a turn of an HDL-64E has as many.
POINTS = {"s3dis": 250_000, "scannet": 200_000, "semantickitti": 120_000}

#: Scenes of the splits have seeds from here on, so that they differ.
_FIRST = {"train": 0, "val": 1_000_000, "test": 2_000_000}

#: Classes of ScanNet that are named otherwise in S3DIS.
_NAMES = {"bookcase": "bookshelf", "clutter": "other furniture"}


class Generated:
    """Scenes in place of those of a data set.

    Parameters
    ----------
    recipe : Recipe
        The data set whose classes they have.
    split : {"train", "val", "test"}
        No scene is in two of them.
    scenes : int
        How many.
    points : int, optional
        Points of each; about as many as the data set's have unless set.
    seed : int, optional
        Other scenes for another.
    """

    def __init__(
        self, recipe: Recipe, split: str, scenes: int, points: int | None = None, seed: int = 0
    ) -> None:
        self.recipe = recipe
        self._points = POINTS[recipe.data] if points is None else points
        self._kind: Literal["indoor", "town"] = "town" if recipe.data == "semantickitti" else "indoor"
        first = _FIRST[split] + 10_000_000 * seed
        self._seeds = {f"{self._kind}-{first + number}": first + number for number in range(scenes)}

    @property
    def names(self) -> Sequence[str]:
        return list(self._seeds)

    def read(self, name: str) -> Scene:
        made = farpoint.generate_labeled(self._kind, self._points, seed=self._seeds[name])
        scene = Scene(name, made.points, made.colors, made.intensity, self._labels(made))
        return checked(scene, len(self.recipe.classes), name)

    def _labels(self, made: farpoint.LabeledCloud) -> NDArray[np.int64]:
        """Classes by their names: the generator's are those of S3DIS or SemanticKITTI."""
        names = made.class_names
        wanted = self.recipe.classes
        table = np.full(len(names) + 1, IGNORED, np.int64)  # the last, for -1
        for number, name in enumerate(names):
            name = name if name in wanted else _NAMES.get(name, name)
            if name in wanted:
                table[number] = wanted.index(name)
        labels: NDArray[np.int64] = table[made.labels]
        return labels
