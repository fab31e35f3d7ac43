"""SemanticKITTI: LiDAR scans with a class for each return, and predictions for its server.

``sequences/XX/velodyne/*.bin`` has rows of x, y, z and intensity, ``labels/*.label`` a uint32 for each, whose lower
half is the class. Source: Behley et al., "SemanticKITTI", ICCV 2019.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..recipes import IGNORED, Recipe
from .scene import Scene, checked

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["IDS", "SPLITS", "SemanticKitti", "class_map", "read_scan", "write_labels"]

#: Ids of each class in the files; predictions use the first.
IDS: tuple[tuple[int, ...], ...] = (
    (10, 252), (11,), (15,), (18, 258), (13, 16, 20, 256, 257, 259), (30, 254), (31, 253), (32, 255),
    (40, 60), (44,), (48,), (49,), (50,), (51,), (70,), (71,), (72,), (80,), (81,),
)
SPLITS: dict[str, tuple[int, ...]] = {
    "train": (*range(8), 9, 10), "val": (8,), "test": tuple(range(11, 22)),
}


class SemanticKitti:
    """Scans of a folder.

    Parameters
    ----------
    folder : str or os.PathLike
        Folder with ``sequences``, or with ``dataset/sequences``.
    split : {"train", "val", "test"}
        Split; scans of the test split have no labels.
    recipe : Recipe
        Recipe of the dataset.

    Raises
    ------
    FileNotFoundError
        No scans in the folder.
    """

    def __init__(self, folder: str | os.PathLike[str], split: str, recipe: Recipe) -> None:
        self.recipe = recipe
        root = Path(folder)
        places = [root / "sequences", root / "dataset" / "sequences", root]
        self._root = next((place for place in places if place.is_dir()), root)
        self._labelled = split != "test"
        self._names = [
            f"{sequence:02d}/{path.stem}"
            for sequence in SPLITS[split]
            for path in sorted((self._root / f"{sequence:02d}" / "velodyne").glob("*.bin"))
        ]
        if not self._names:
            listed = ", ".join(f"{one:02d}" for one in SPLITS[split])
            raise FileNotFoundError(
                f"{self._root}: no turns for {split}; there must be XX/velodyne/*.bin of a sequence of {listed}"
            )

    @property
    def names(self) -> Sequence[str]:
        return self._names

    def read(self, name: str) -> Scene:
        sequence, _, number = name.partition("/")
        place = self._root / sequence
        labels = place / "labels" / f"{number}.label" if self._labelled else None
        scene = read_scan(place / "velodyne" / f"{number}.bin", labels, class_map(), name)
        return checked(scene, len(self.recipe.classes), place / "velodyne" / f"{number}.bin")


def class_map() -> dict[int, int]:
    """Return the class of each id that belongs to one."""
    return {number: label for label, numbers in enumerate(IDS) for number in numbers}


def read_scan(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None,
    classes: Mapping[int, int],
    name: str = "",
) -> Scene:
    """Read a scan in the layout of the dataset, which others share.

    Parameters
    ----------
    path : str or os.PathLike
        File with rows of four float32: x, y, z, intensity.
    labels : str or os.PathLike or None
        File with a uint32 for each row, whose lower half is the id.
    classes : mapping of int to int
        Class of each id; other ids belong to none.
    name : str, optional
        Name of the scene; that of the file unless set.

    Raises
    ------
    FileNotFoundError
        No such file.
    ValueError
        A wrong file size.
    """
    path = Path(path)
    rows = _words(path, "<f4", 4).reshape(-1, 4)
    labels_of_points = np.full(len(rows), IGNORED, np.int64)
    if labels is not None:
        labels = Path(labels)
        if not labels.is_file():
            raise FileNotFoundError(f"{labels} is not there: the turn has no labels")
        ids = _words(labels, "<u4", 1) & 0xFFFF
        if len(ids) != len(rows):
            raise ValueError(f"{labels}: {len(ids):,} labels for the {len(rows):,} points of {path.name}")
        table = np.full(0x10000, IGNORED, np.int64)
        table[list(classes.keys())] = list(classes.values())
        labels_of_points = table[ids]
    points = np.ascontiguousarray(rows[:, :3])
    return Scene(name or path.stem, points, None, np.ascontiguousarray(rows[:, 3]), labels_of_points)


def _words(path: Path, kind: str, columns: int) -> NDArray[Any]:
    size = path.stat().st_size
    if size % (4 * columns) != 0:
        raise ValueError(f"{path}: {size:,} bytes, which is no multiple of the {4 * columns} of a row")
    return np.fromfile(path, dtype=kind)


def write_labels(path: str | os.PathLike[str], prediction: NDArray[np.int64]) -> Path:
    """Write a prediction as a ``.label`` file, classes by the first of their ids.

    Parameters
    ----------
    path : str or os.PathLike
        Output file: for the dataset's server ``sequences/XX/predictions/NNNNNN.label``. Missing folders are
        created.
    prediction : array of int64, (N,)
        Class of each point; -1 becomes 0.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        A number that is not a class.
    OSError
        The file can't be written.
    """
    path = Path(path)
    if prediction.size and not IGNORED <= prediction.min() <= prediction.max() < len(IDS):
        raise ValueError(
            f"{path}: predictions from {prediction.min()} to {prediction.max()}; classes are 0 to "
            f"{len(IDS) - 1}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    ids = np.array([*(numbers[0] for numbers in IDS), 0], "<u4")  # the last, for -1
    ids[prediction].tofile(path)
    return path
