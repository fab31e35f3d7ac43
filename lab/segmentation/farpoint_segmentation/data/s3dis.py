"""S3DIS: rooms as the original text files, or as the NPY files of OpenPoints.

Text: ``Area_a/room_n/Annotations/class_i.txt``, rows of x y z r g b. NPY: ``Area_a_room_n.npy``, (N, 7), x y z
r g b and the class. Area 5 is for validation. Source: Armeni et al., "3D semantic parsing of large-scale
indoor spaces", CVPR 2016.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..recipes import Recipe
from .scene import Scene, checked, colors_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["S3dis", "read_rows"]

#: Control characters other than white space.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_NPY = re.compile(r"(Area_[^_]+)_(.+)")


class S3dis:
    """Rooms of a folder in either layout.

    Parameters
    ----------
    folder : str or os.PathLike
        Folder of ``Area_1`` and so on or of the NPY files, or its parent.
    split : {"train", "val", "test"}
        Split; test and val are the same rooms.
    recipe : Recipe
        Recipe, with the order of classes.
    area : int, optional
        Area for validation.

    Raises
    ------
    FileNotFoundError
        No such rooms in the folder.
    """

    def __init__(self, folder: str | os.PathLike[str], split: str, recipe: Recipe, area: int = 5) -> None:
        self.recipe = recipe
        self._paths: dict[str, Path] = {}
        root = Path(folder)
        for place in _places(root):
            self._paths = {name: path for name, path in _rooms(place)}
            if self._paths:
                break
        else:
            raise FileNotFoundError(
                f"{root}: no S3DIS here; there must be Area_*/room/Annotations/*.txt or Area_*_room.npy"
            )
        held_out_area = f"Area_{area}/"
        names = [name for name in self._paths if name.startswith(held_out_area) == (split != "train")]
        if not names:
            areas = ", ".join(sorted({name.partition("/")[0] for name in self._paths}))
            raise FileNotFoundError(f"{root}: no rooms for {split} with {held_out_area[:-1]} held out; there are {areas}")
        self._names = sorted(names)

    @property
    def names(self) -> Sequence[str]:
        return self._names

    def read(self, name: str) -> Scene:
        path = self._paths[name]
        scene = self._room(name, path) if path.is_dir() else self._npy(name, path)
        return checked(scene, len(self.recipe.classes), path)

    def _room(self, name: str, path: Path) -> Scene:
        parts, colors, labels = [], [], []
        for file in sorted((path / "Annotations").glob("[!.]*.txt")):
            kind = file.stem.rpartition("_")[0]
            classes = self.recipe.classes
            label = classes.index(kind if kind in classes else "clutter")  # stairs, too
            rows = read_rows(file)
            parts.append(rows[:, :3].astype(np.float32))
            colors.append(colors_of(rows[:, 3:], file))
            labels.append(np.full(len(rows), label, np.int64))
        if not parts:
            raise ValueError(f"{path / 'Annotations'}: no files of classes, such as chair_1.txt")
        return Scene(name, np.concatenate(parts), np.concatenate(colors), None, np.concatenate(labels))

    def _npy(self, name: str, path: Path) -> Scene:
        try:
            rows = np.load(path, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(f"{path}: {error}") from None
        if rows.ndim != 2 or rows.shape[1] != 7:
            raise ValueError(f"{path}: {rows.dtype} {rows.shape}; it must be (N, 7): x y z r g b class")
        labels = _whole(rows[:, 6], path)
        return Scene(
            name, rows[:, :3].astype(np.float32), colors_of(rows[:, 3:6], path), None, labels
        )


def read_rows(path: Path) -> NDArray[np.float64]:
    """Read rows of six numbers of an original text file: (N, 6).

    Two of the files have a control character inside a row. It is dropped if six numbers remain, else
    replaced by a blank.

    Raises
    ------
    ValueError
        A row does not have six finite numbers, with the file and the line; or the file has no rows.
    """
    if not path.read_bytes().strip():
        raise ValueError(f"{path}: the file is empty")
    try:
        rows = np.loadtxt(path, dtype=np.float64, ndmin=2, comments=None)
    except ValueError:
        rows = np.empty((0, 0))  # re-read by line, which is slower
    if rows.shape[1] != 6 or not np.isfinite(rows).all():
        rows = np.array(list(_lines(path)))
    return rows


def _lines(path: Path) -> Iterator[list[float]]:
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        for repaired in (_CONTROL.sub(b"", line), _CONTROL.sub(b" ", line)):
            row = _numbers(repaired)
            if row is not None:
                yield row
                break
        else:
            raise ValueError(f"{path}:{number}: {line[:60]!r}; a row must be six numbers, x y z r g b")


def _numbers(line: bytes) -> list[float] | None:
    """Returns six finite numbers, or None."""
    words = line.split()
    if len(words) != 6:
        return None
    try:
        row = [float(word) for word in words]
    except ValueError:
        return None
    return row if all(map(math.isfinite, row)) else None


def _whole(values: NDArray[Any], path: Path) -> NDArray[np.int64]:
    labels: NDArray[np.int64] = np.nan_to_num(values, nan=-9.0).astype(np.int64)
    wrong = labels != values
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{path}: row {row} has class {values[row]}; it must be a whole number")
    return labels


def _places(root: Path) -> Iterator[Path]:
    """Yields possible folders of rooms: this one, and its subfolders."""
    if not root.is_dir():
        raise FileNotFoundError(f"{root}: no such folder")
    yield root
    children = sorted(one for one in root.iterdir() if one.is_dir())
    yield from children
    for child in children:
        yield from sorted(one for one in child.iterdir() if one.is_dir() and one.name == "raw")


def _rooms(place: Path) -> Iterator[tuple[str, Path]]:
    """Yields the rooms of a folder, with their names."""
    for folder in place.glob("Area_*/*/Annotations"):
        yield f"{folder.parts[-3]}/{folder.parts[-2]}", folder.parent
    for file in place.glob("Area_*_*.npy"):
        match = _NPY.fullmatch(file.stem)
        if match:
            yield f"{match[1]}/{match[2]}", file
