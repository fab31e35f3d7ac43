"""Common settings of evaluations and trainings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from .data import Source
from .recipes import Recipe

__all__ = ["Task"]


@dataclass(frozen=True)
class Task:
    """Network, scenes, and output folder.

    Attributes
    ----------
    recipe : Recipe
        Recipe of the dataset.
    source : Source
        Source of the scenes.
    network : str
        Name of the network.
    module : Module
        The network, on its device; called with points (B, N, 3), features (B, N, C) and
        ``sampler``.
    output : Path
        Folder of results.
    seed : int
        Seed of random numbers; see the subclasses.
    bfloat16 : bool
        Run the network under autocast in bfloat16.
    graphs : bool
        Capture passes or steps as CUDA graphs where possible. Results have the same bits.
    progress : bool
        Show a progress bar (tqdm's, if installed).
    """

    recipe: Recipe
    source: Source
    network: str
    module: nn.Module
    output: Path
    seed: int = 0
    bfloat16: bool = False
    graphs: bool = True
    progress: bool = False

    @property
    def device(self) -> torch.device:
        return next(self.module.parameters()).device
