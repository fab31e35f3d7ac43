"""What is trained, and how."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from .data import Source
from .networks import can_capture
from .recipes import Recipe, Training

if TYPE_CHECKING:
    from .samplers import Sampler

__all__ = ["Run", "checkpoint_path", "rate_at"]

#: Steps between records, and checkpoints.
EVERY = 100


@dataclass(frozen=True)
class Run:
    """A training.

    Attributes
    ----------
    recipe : Recipe
        The data set's numbers.
    source : Source
        Its scenes for training.
    network : str
        The name of the network.
    module : Module
        The network, on the device on which it is trained, with the parameters it begins with.
    sampler : Sampler
        What chooses the points of its levels.
    training : Training
        Rates, batches, steps.
    output : Path
        The folder of records and checkpoints.
    seed : int
        Decides all random numbers but the first parameters.
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
    bfloat16 : bool
        Whether the network runs under autocast in that type.
    graphs : bool
        Whether steps are recorded as CUDA graphs where they can be.
    progress : bool
        Show a progress bar (tqdm's, if installed).
    """

    recipe: Recipe
    source: Source
    network: str
    module: nn.Module
    sampler: Sampler
    training: Training
    output: Path
    seed: int = 0
    name: str = "authors"
    crop: int | None = None
    cache: int = 16 << 30
    readers: int = 4
    every: int = EVERY
    bfloat16: bool = False
    graphs: bool = True
    progress: bool = False

    @property
    def captured(self) -> bool:
        """Whether steps are recorded as CUDA graphs: what waits for the CPU can't be."""
        return self.graphs and self.device.type == "cuda" and can_capture(self.sampler)

    @property
    def device(self) -> torch.device:
        return next(self.module.parameters()).device

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
        }


def checkpoint_path(run: Run) -> Path:
    """Where the checkpoint of a training is."""
    return run.output / f"{run.network}-{run.recipe.data}-seed{run.seed}.pth"


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
