"""ScanNet: meshes of the original ``scans``, or the files prepared by OpenPoints.

``S/S_vh_clean_2.ply`` has x y z and colors, ``S_vh_clean_2.labels.ply`` the NYU40 class of each vertex; splits
are listed in ``scannetv2_{train,val,test}.txt``. OpenPoints: ``{train,val,test}/*.pth``, a
tuple of coordinates, colors from -1 to 1, classes. Source: Dai et al., "ScanNet", CVPR 2017.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.serialization import safe_globals

import farpoint

from ..recipes import IGNORED, Recipe
from .scene import Scene, checked, colors_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NYU40", "ScanNet", "read_pth"]

#: NYU40 ids of classes 0 to 19.
NYU40 = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 24, 28, 33, 34, 36, 39)
_LIST = "scannetv2_{}.txt"
_MESH, _LABELS = "_vh_clean_2.ply", "_vh_clean_2.labels.ply"


class ScanNet:
    """Scenes of a folder in either layout.

    Parameters
    ----------
    folder : str or os.PathLike
        Folder with ``scans`` (and ``scans_test``), or with ``train``, ``val`` and ``test`` of OpenPoints.
    split : {"train", "val", "test"}
        Split; scenes of the test split have no labels.
    recipe : Recipe
        Recipe of the dataset.

    Raises
    ------
    FileNotFoundError
        No scenes in the folder, or no list of the split.
    """

    def __init__(self, folder: str | os.PathLike[str], split: str, recipe: Recipe) -> None:
        self.recipe = recipe
        root = Path(folder)
        if not root.is_dir():
            raise FileNotFoundError(f"{root}: no such folder")
        self._labelled = split != "test"
        prepared = sorted((root / split).glob("*.pth"))
        self._paths = {path.stem.removesuffix("_vh_clean_2"): path for path in prepared}
        if not self._paths:
            self._paths = _scans(root, split)

    @property
    def names(self) -> Sequence[str]:
        return list(self._paths)

    def read(self, name: str) -> Scene:
        path = self._paths[name]
        scene = read_pth(path, name) if path.suffix == ".pth" else self._mesh(name, path)
        return checked(scene, len(self.recipe.classes), path)

    def _mesh(self, name: str, path: Path) -> Scene:
        cloud = farpoint.read(path)
        missing = {"red", "green", "blue"} - set(cloud.fields)
        if missing:
            raise ValueError(f"{path}: no {', '.join(sorted(missing))}; there are {', '.join(cloud.fields)}")
        colors = np.stack([cloud[one] for one in ("red", "green", "blue")], axis=1)
        labels = np.full(len(cloud), IGNORED, np.int64)
        if self._labelled:
            labels = _nyu40(path.with_name(f"{name}{_LABELS}"), len(cloud))
        return Scene(
            name, cloud.points.astype(np.float32), colors_of(colors, path), None, labels
        )


def _scans(root: Path, split: str) -> dict[str, Path]:
    """Returns the meshes of the split, in the order of its list."""
    lists = [
        place / _LIST.format(split)
        for place in (root, root.parent, root / "Tasks" / "Benchmark", root / "meta_data", root / "splits")
    ]
    list_path = next((path for path in lists if path.is_file()), None)
    if list_path is None:
        raise FileNotFoundError(
            f"{root}: neither {split}/*.pth nor {_LIST.format(split)}; put the list of the split, which is in "
            "ScanNet's repository under Tasks/Benchmark, beside the folder scans"
        )
    paths = {}
    for number, line in enumerate(list_path.read_text().splitlines(), 1):
        name = line.strip()
        if not name:
            continue
        places = [root / part / name / f"{name}{_MESH}" for part in ("scans", "scans_test", ".")]
        path = next((one for one in places if one.is_file()), None)
        if path is None:
            raise FileNotFoundError(f"{list_path}:{number}: {places[0]} is not there")
        paths[name] = path
    if not paths:
        raise ValueError(f"{list_path}: the list is empty")
    return paths


def _nyu40(path: Path, points: int) -> NDArray[np.int64]:
    """Returns classes from the ids of a label file."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: the scene has no labels")
    cloud = farpoint.read(path)
    if "label" not in cloud.fields:
        raise ValueError(f"{path}: no label; there are {', '.join(cloud.fields)}")
    ids = np.asarray(cloud["label"]).astype(np.int64)
    if len(ids) != points:
        raise ValueError(f"{path}: {len(ids):,} labels for {points:,} points")
    table = np.full(max(int(ids.max(initial=0)), 40) + 1, IGNORED, np.int64)
    table[list(NYU40)] = np.arange(len(NYU40))
    if ids.min(initial=0) < 0:
        row = int((ids < 0).argmax())
        raise ValueError(f"{path}: row {row} has label {ids[row]}; NYU40 ids are 0 to 40")
    return table[ids]


def _numpy_globals() -> list[Any]:
    """Returns the globals in pickles of NumPy arrays, under the names of NumPy 1 and 2."""
    reconstruct = np.empty(0).__reduce__()[0]
    # Types of which unpickling arrays and dtypes creates instances.
    kinds = [type(np.dtype(name)) for name in ("f2", "f4", "f8", "u1", "u2", "i2", "i4", "i8")]
    return [
        np.ndarray, np.dtype, *kinds, (reconstruct, "numpy.core.multiarray._reconstruct"),
        (reconstruct, "numpy._core.multiarray._reconstruct"),
    ]


def read_pth(path: Path, name: str) -> Scene:
    """Read a scene prepared by OpenPoints. Only NumPy arrays are allowed in the pickle.

    Raises
    ------
    ValueError
        Anything else in it, or incompatible arrays.
    """
    try:
        with safe_globals(_numpy_globals()):
            parts = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise ValueError(f"{path}: not a tuple of arrays: {str(error).splitlines()[0]}") from None
    if not isinstance(parts, tuple) or len(parts) < 2:
        raise ValueError(f"{path}: {type(parts).__name__}; it must be a tuple: coordinates, colors, classes, ..")
    arrays = [np.asarray(part) for part in parts[:3]]
    for array, what in zip(arrays[:2], ("coordinates", "colors"), strict=True):
        if array.shape != (arrays[0].size // 3, 3) or array.dtype.kind not in "fiu":
            raise ValueError(f"{path}: {what} {array.dtype} {array.shape}; both must be numbers (N, 3)")
    labels = np.full(len(arrays[0]), IGNORED, np.int64)
    if len(arrays) == 3:
        if arrays[2].dtype.kind not in "fiu":
            raise ValueError(f"{path}: classes {arrays[2].dtype}; they must be numbers")
        classes = arrays[2].astype(np.int64).reshape(-1)
        labels = np.where(classes == -100, IGNORED, classes)
    colors = colors_of((arrays[1].astype(np.float64) + 1) * 127.5, path)
    return Scene(name, arrays[0].astype(np.float32), colors, None, labels)
