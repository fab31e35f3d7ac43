"""Table printed by ``evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import metrics
from .recipes import Recipe
from .records import SceneRecord

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["table", "total"]


def table(results: Sequence[SceneRecord], recipe: Recipe, *, per_class: bool = False) -> str:
    """Format scores and times of each sampler over its scenes as text.

    Parameters
    ----------
    results : sequence of SceneRecord
        Records of one evaluation.
    recipe : Recipe
        Recipe of the dataset.
    per_class : bool, optional
        Also list the IoU of each class, by the dataset's own metric.

    Returns
    -------
    str
        Lines of text. Scores are in percent: "mIoU" is that of OpenPoints, in which an absent class has 100,
        "mIoU (SK)" that of semantic-kitti-api, in which it has 0. Seconds are means over scenes.
    """
    if not results:
        return "no scenes"
    first = results[0]
    samplers = list(dict.fromkeys(_name(one) for one in results))
    groups = {name: [one for one in results if _name(one) == name] for name in samplers}
    wide = max(len("sampler"), *(len(name) for name in samplers))
    scenes = len(groups[samplers[0]])
    lines = [
        f"{recipe.title}, {first.network}, {first.protocol}, {scenes} scenes, {first.device}",
        f"{'sampler':{wide}}   mIoU  mIoU (SK)   mAcc     OA  s/scene  sampling  peak MiB",
    ]
    lines += [f"{name:{wide}} {_row(group)}" for name, group in groups.items()]
    if per_class:
        lines += ["", *_classes(groups, recipe)]
    return "\n".join([*lines, *_notes(results, recipe)])


def total(group: Sequence[SceneRecord]) -> NDArray[np.int64]:
    """Return the confusion matrix of all scenes, (C, C); a single zero if none has one."""
    known = [one.confusion for one in group if one.confusion is not None]
    matrix: NDArray[np.int64] = np.sum(known or [((0,),)], axis=0)
    return matrix


def _name(record: SceneRecord) -> str:
    """Returns the sampler, and in a table of times whether the pass was one CUDA graph."""
    return f"{record.sampler}, graph" if record.task == "time" and "graph" in record.options else record.sampler


def _row(group: Sequence[SceneRecord]) -> str:
    summary = metrics.summary(total(group))
    scores = [summary.get(name) for name in ("miou", "miou_semantic_kitti", "macc", "oa")]
    texts = ["-" if one is None else f"{100 * one:.2f}" for one in scores]
    totals, part = (
        [spent for one in group if (spent := getattr(one.seconds, name)) is not None]
        for name in ("all", "sampling")
    )
    memory = [one.peak_memory for one in group if one.peak_memory is not None]
    peak = f"{max(memory) / (1 << 20):.0f}" if memory else "-"
    return (
        f"{texts[0]:>6}  {texts[1]:>9} {texts[2]:>6} {texts[3]:>6}  {_mean(totals):>7}  {_mean(part):>8}  {peak:>8}"
    )


def _mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.4f}" if values else "-"


def _classes(groups: dict[str, list[SceneRecord]], recipe: Recipe) -> list[str]:
    """Returns the IoU of each class, with a column for each sampler."""
    wide = max(len(name) for name in recipe.classes)
    columns = {name: metrics.iou(total(group), recipe.metric) for name, group in groups.items()}
    head = "  ".join(f"{name:>6}" for name in columns)
    return [
        f"{'IoU':{wide}}  {head}",
        *(
            f"{name:{wide}}  "
            + "  ".join(f"{100 * one[number]:>{max(6, len(by))}.2f}" for by, one in columns.items())
            for number, name in enumerate(recipe.classes)
        ),
    ]


def _notes(results: Sequence[SceneRecord], recipe: Recipe) -> list[str]:
    notes = []
    if any(one.options.get("checkpoint") == "random weights" for one in results):
        notes.append("random weights: times count, scores do not")
    if any(one.options.get("folder") == "generated" for one in results):
        notes.append(f"generated scenes: scores say nothing about {recipe.title}")
    if recipe.data == "s3dis":
        points = [*total(results).sum(axis=1), *[0] * len(recipe.classes)]
        sofa, bookcase = (points[recipe.classes.index(name)] for name in ("sofa", "bookcase"))
        if sofa > bookcase and "generated" not in {one.options.get("folder") for one in results}:
            notes.append(
                "more points of sofa than of bookcase, which in S3DIS has 14 times as many: perhaps "
                "--class-order is the other one"
            )
    return notes
