"""What is trained, and how."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .data import Source
from .networks import can_capture
from .recipes import Recipe, Training
from .task import Task

if TYPE_CHECKING:
    from .samplers import Sampler

__all__ = ["Run", "best_path", "check_trained", "checkpoint_path", "rate_at"]

#: Steps between records, and checkpoints.
EVERY = 100

#: Threads that read scenes.
READERS = min(16, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)

#: What checkpoints of older releases do not say of their training.
_LATER = ("classes", "folder", "scene_points", "names")


@dataclass(frozen=True, kw_only=True)
class Run(Task):
    """A training: a ``Task`` whose network has the parameters it begins with, and whose seed decides all other random
    numbers.

    Attributes
    ----------
    sampler : Sampler
        What chooses the points of the network's levels.
    training : Training
        Rates, batches, steps.
    name : str
        Of the recipe, for the records.
    crop : int
        Points of a cloud; the data set's unless set.
    cache : int
        Bytes of scenes that are kept on the device.
    readers : int
        Threads that read scenes.
    every : int
        Steps between checkpoints.
    validation : Source or None
        Scenes on which the network is scored; the checkpoint of the best score is kept beside the last.
    validate : int
        Steps between validations; the last step is followed by one too.
    folder : str
        The name of the data's folder, and
    scene_points : int or None
        the points of each scene that is generated: by which a checkpoint is told from one of other data.
    """

    sampler: Sampler
    training: Training
    name: str = "authors"
    crop: int | None = None
    cache: int = 16 << 30
    readers: int = READERS
    every: int = EVERY
    validation: Source | None = None
    validate: int = 500
    folder: str = ""
    scene_points: int | None = None

    @property
    def captured(self) -> bool:
        """Whether steps are recorded as CUDA graphs: what waits for the CPU can't be."""
        return self.graphs and self.device.type == "cuda" and can_capture(self.sampler)

    @property
    def points(self) -> int:
        """Of a cloud."""
        return self.recipe.crop if self.crop is None else self.crop

    @property
    def epoch_steps(self) -> int:
        """Steps of an epoch, in which the last clouds that fill no batch are left out."""
        return max(len(self.source.names) * self.training.repeats // self.training.batch, 1)

    @property
    def steps(self) -> int:
        if self.training.steps is not None:
            return self.training.steps
        return self.epoch_steps * self.training.epochs

    def description(self) -> dict[str, Any]:
        """By which a checkpoint is told from one of another training."""
        return {
            "network": self.network, "data": self.recipe.data, "sampler": self.sampler.name,
            "recipe": self.name, "seed": self.seed, "steps": self.steps, "crop": self.points,
            "scenes": len(self.source.names), "bfloat16": self.bfloat16,
            **dataclasses.asdict(dataclasses.replace(self.training, milestones=())),
            "milestones": list(self.training.milestones),
            "classes": list(self.recipe.classes), "folder": self.folder, "scene_points": self.scene_points,
            "names": hashlib.sha256("\n".join(self.source.names).encode()).hexdigest()[:12],
        }

    def differs(self, told: Mapping[str, Any]) -> list[str]:
        """In what a checkpoint's description is not that of this training."""
        wanted = {key: value for key, value in self.description().items() if key not in _LATER or key in told}
        return [f"{key} {_short(told.get(key))}, not {_short(value)}" for key, value in wanted.items()
                if told.get(key) != value]


def checkpoint_path(run: Run) -> Path:
    """Where the last checkpoint of a training is."""
    return run.output / f"{run.network}-{run.recipe.data}-seed{run.seed}.pth"


def best_path(run: Run) -> Path:
    """Where the checkpoint is whose score on the scenes for validation is the highest, if there are any."""
    return checkpoint_path(run).with_suffix(".best.pth")


def check_trained(path: str | os.PathLike[str], told: Mapping[str, Any], network: str, recipe: Recipe) -> None:
    """Whether a network that was trained so can be evaluated by this recipe.

    Parameters
    ----------
    path : path
        The checkpoint, for the error.
    told : mapping
        What it says of its training; nothing in those of other projects.
    network : str
        The name of the network.
    recipe : Recipe
        By which it is evaluated.

    Raises
    ------
    ValueError
        Another network or data set, or another order of classes.
    """
    for key, given, value in (("network", "--network", network), ("data", "--data", recipe.data)):
        if told.get(key, value) != value:
            raise ValueError(f"{os.fspath(path)}: of a training with {given} {told[key]}, not {value}")
    classes = told.get("classes", list(recipe.classes))
    moved = [
        f"{number} {before}, not {now}"
        for number, (before, now) in enumerate(zip(classes, recipe.classes)) if before != now
    ]
    if moved or len(classes) != len(recipe.classes):
        raise ValueError(
            f"{os.fspath(path)}: trained with classes of other numbers ({'; '.join(moved)}): give the --class-order "
            "of the training"
        )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def rate_at(training: Training, step: int, epoch_steps: int, steps: int) -> float:
    """The rate of a step, counted from 0. By epochs, as the authors' code sets it; by steps where a training is
    given in steps."""
    if training.steps is None:
        done, total = step // epoch_steps, training.epochs
    else:
        done, total = step, steps
    if training.schedule == "steps":
        # Milestones are epochs; of a training in steps, the same shares of it.
        passed = sum(done * training.epochs >= milestone * total for milestone in training.milestones)
        return training.rate * 0.1**passed
    share = 0.5 * (1 + math.cos(math.pi * done / total))
    return training.floor + (training.rate - training.floor) * share
