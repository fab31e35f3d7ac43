"""Settings of a training."""

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

#: Number of steps between records, and checkpoints.
EVERY = 100

#: Number of threads that read scenes.
READERS = min(16, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)

#: Revision of what a step does, raised when one seed gives other bits: trainings of another are not resumed.
REVISION = 2

#: Keys missing in checkpoints of older releases.
_LATER = ("classes", "folder", "scene_points", "names")


@dataclass(frozen=True, kw_only=True)
class Run(Task):
    """Training: a ``Task`` whose network has the initial parameters, and whose seed determines all other random
    numbers.

    Attributes
    ----------
    sampler : Sampler
        Sampler of the network's levels.
    training : Training
        Learning rates, batches, steps.
    name : str
        Name of the recipe, for the records.
    crop : int
        Number of points per cloud; that of the dataset unless set.
    cache : int
        Size in bytes of the cache of scenes on the device.
    readers : int
        Number of threads that read scenes.
    every : int
        Number of steps between checkpoints.
    validation : Source or None
        Scenes for validation; the checkpoint of the best score is kept beside the last.
    validate : int
        Number of steps between validations; the last step is also followed by one.
    folder : str
        Name of the data folder, which identifies the data of a checkpoint.
        scene_points : int or None
            Number of points of generated scenes, which identifies the data, too.
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
        """Return whether steps are captured as CUDA graphs, which must not synchronize."""
        return self.graphs and self.device.type == "cuda" and can_capture(self.sampler)

    @property
    def points(self) -> int:
        """Return the number of points per cloud."""
        return self.recipe.crop if self.crop is None else self.crop

    @property
    def epoch_steps(self) -> int:
        """Return the number of steps per epoch, without the last incomplete batch."""
        return max(len(self.source.names) * self.training.repeats // self.training.batch, 1)

    @property
    def steps(self) -> int:
        if self.training.steps is not None:
            return self.training.steps
        return self.epoch_steps * self.training.epochs

    def description(self) -> dict[str, Any]:
        """Return the description that identifies the training of a checkpoint."""
        return {
            "network": self.network, "data": self.recipe.data, "sampler": self.sampler.name,
            "recipe": self.name, "revision": REVISION, "seed": self.seed, "steps": self.steps, "crop": self.points,
            "scenes": len(self.source.names), "bfloat16": self.bfloat16,
            **dataclasses.asdict(dataclasses.replace(self.training, milestones=())),
            "milestones": list(self.training.milestones),
            "classes": list(self.recipe.classes), "folder": self.folder, "scene_points": self.scene_points,
            "names": hashlib.sha256("\n".join(self.source.names).encode()).hexdigest()[:12],
        }

    def differs(self, description: Mapping[str, Any]) -> list[str]:
        """Return the differences between a checkpoint's description and this training."""
        expected = {key: value for key, value in self.description().items() if key not in _LATER or key in description}
        return [f"{key} {_short(description.get(key))}, not {_short(value)}" for key, value in expected.items()
                if description.get(key) != value]


def checkpoint_path(run: Run) -> Path:
    """Return the path of the last checkpoint of a training."""
    return run.output / f"{run.network}-{run.recipe.data}-seed{run.seed}.pth"


def best_path(run: Run) -> Path:
    """Return the path of the checkpoint with the best validation score, if there is validation."""
    return checkpoint_path(run).with_suffix(".best.pth")


def check_trained(path: str | os.PathLike[str], description: Mapping[str, Any], network: str, recipe: Recipe) -> None:
    """Check that a trained network can be evaluated by this recipe.

    Parameters
    ----------
    path : path
        Checkpoint, for the error.
    description : mapping
        Description of its training; empty for checkpoints of other projects.
    network : str
        Name of the network.
    recipe : Recipe
        Recipe of the evaluation.

    Raises
    ------
    ValueError
        Another network, dataset or order of classes.
    """
    for key, option, value in (("network", "--network", network), ("data", "--data", recipe.data)):
        if description.get(key, value) != value:
            raise ValueError(f"{os.fspath(path)}: of a training with {option} {description[key]}, not {value}")
    classes = description.get("classes", list(recipe.classes))
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
    """Return the learning rate of a step, counted from 0: by epochs, as in the authors' code, or by steps for a
    training defined in steps."""
    if training.steps is None:
        done, total = step // epoch_steps, training.epochs
    else:
        done, total = step, steps
    if training.schedule == "steps":
        # Milestones are epochs, counted from 1; for a training in steps, the same fractions of it.
        passed = sum(done * training.epochs >= (milestone - 1) * total for milestone in training.milestones)
        return training.rate * 0.1**passed
    share = 0.5 * (1 + math.cos(math.pi * done / total))
    return training.floor + (training.rate - training.floor) * share
