"""Readers of the published dataset layouts, and writers of predictions."""

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

#: Name in place of a folder, for generated scenes.
GENERATED = "generated"


def open_data(
    folder: str | os.PathLike[str], split: str, recipe: Recipe, *, scenes: int | None = None,
    points: int | None = None,
) -> Source:
    """Find the scenes of a split.

    Parameters
    ----------
    folder : str or os.PathLike
        Folder of the unpacked dataset, whose layout is detected, or "generated".
    split : {"train", "val", "test"}
        Split of the dataset.
    recipe : Recipe
        Recipe of the dataset.
    scenes : int, optional
        Number of generated scenes, 12 unless set.
    points : int, optional
        Number of points of a generated scene.

    Returns
    -------
    Source
        Names of the scenes, and their reader.

    Raises
    ------
    FileNotFoundError
        No scenes in the folder; the message names the expected files.
    ValueError
        Unknown split.
    """
    known(split, get_args(Split), "split")
    if os.fspath(folder) == GENERATED:
        return Generated(recipe, split, 12 if scenes is None else scenes, points)
    if recipe.data == "s3dis":
        return S3dis(folder, split, recipe)
    if recipe.data == "scannet":
        return ScanNet(folder, split, recipe)
    return SemanticKitti(folder, split, recipe)
