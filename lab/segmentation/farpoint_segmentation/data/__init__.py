"""Readers of the data sets' published layouts, and writers of predictions."""

from __future__ import annotations

import os
from typing import Literal, get_args

from ..recipes import Recipe, known
from .generated import Generated
from .s3dis import S3dis
from .scannet import ScanNet
from .scene import Chosen, Kept, Scene, Source, palette, write_prediction
from .semantickitti import SemanticKitti, read_scan, write_labels

__all__ = [
    "GENERATED", "Chosen", "Generated", "Kept", "S3dis", "ScanNet", "Scene", "SemanticKitti", "Source", "Split",
    "open_data", "palette", "read_scan", "write_labels", "write_prediction",
]

Split = Literal["train", "val", "test"]

#: In place of a folder: scenes that are generated.
GENERATED = "generated"


def open_data(
    folder: str | os.PathLike[str], split: str, recipe: Recipe, *, scenes: int | None = None,
    points: int | None = None,
) -> Source:
    """Find the scenes of a split.

    Parameters
    ----------
    folder : str or os.PathLike
        Where the data set was unpacked; its layout is found out. Or "generated".
    split : {"train", "val", "test"}
        Which of its scenes.
    recipe : Recipe
        The data set's numbers.
    scenes : int, optional
        How many are generated: 12 unless set.
    points : int, optional
        Points of a generated scene.

    Returns
    -------
    Source
        Their names, and what reads one.

    Raises
    ------
    FileNotFoundError
        None in the folder; the text says what should be there.
    ValueError
        Another split.
    """
    known(split, get_args(Split), "split")
    if os.fspath(folder) == GENERATED:
        return Generated(recipe, split, 12 if scenes is None else scenes, points)
    if recipe.data == "s3dis":
        return S3dis(folder, split, recipe)
    if recipe.data == "scannet":
        return ScanNet(folder, split, recipe)
    return SemanticKitti(folder, split, recipe)
