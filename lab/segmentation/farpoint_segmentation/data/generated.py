"""Generated scenes with classes: rooms in place of S3DIS and ScanNet, LiDAR scans of a town in
place of SemanticKITTI. They are simpler than sensor data: results on them say nothing about
those datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..recipes import IGNORED, Recipe
from ..scenes import Kind, LabeledCloud, generate_labeled
from .scene import Scene, checked

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Generated"]

#: Points of a scene as read: about the occupied voxels of an S3DIS room, or the points of an HDL-64E scan.
POINTS = {"s3dis": 250_000, "scannet": 200_000, "semantickitti": 120_000}

#: First seed of each split, so that their scenes differ.
_FIRST = {"train": 0, "val": 1_000_000, "test": 2_000_000}

#: Classes with different names in S3DIS and ScanNet.
_NAMES = {"bookcase": "bookshelf", "clutter": "other furniture"}


class Generated:
    """Generated scenes in place of a dataset.

    Parameters
    ----------
    recipe : Recipe
        Recipe of the dataset whose classes they have.
    split : {"train", "val", "test"}
        Split; splits are disjoint.
    scenes : int
        Number of scenes.
    points : int, optional
        Number of points of each; about as many as in the dataset unless set.
    seed : int, optional
        Seed; each value gives other scenes.
    """

    def __init__(
        self, recipe: Recipe, split: str, scenes: int, points: int | None = None, seed: int = 0
    ) -> None:
        self.recipe = recipe
        self._points = POINTS[recipe.data] if points is None else points
        self._kind: Kind = "town" if recipe.data == "semantickitti" else "indoor"
        first = _FIRST[split] + 10_000_000 * seed
        self._seeds = {f"{self._kind}-{first + number}": first + number for number in range(scenes)}

    @property
    def names(self) -> Sequence[str]:
        return list(self._seeds)

    def read(self, name: str) -> Scene:
        made = generate_labeled(self._kind, self._points, seed=self._seeds[name])
        scene = Scene(name, made.points, made.colors, made.intensity, self._labels(made))
        return checked(scene, len(self.recipe.classes), name)

    def _labels(self, made: LabeledCloud) -> NDArray[np.int64]:
        """Maps classes by name: the generator's are those of S3DIS or SemanticKITTI."""
        names = made.class_names
        classes = self.recipe.classes
        table = np.full(len(names) + 1, IGNORED, np.int64)  # the last, for -1
        for number, name in enumerate(names):
            name = name if name in classes else _NAMES.get(name, name)
            if name in classes:
                table[number] = classes.index(name)
        labels: NDArray[np.int64] = table[made.labels]
        return labels
