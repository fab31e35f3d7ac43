"""What an evaluation and a training have in common."""

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
    """A network, scenes, and where results go.

    Attributes
    ----------
    recipe : Recipe
        The data set's numbers.
    source : Source
        Its scenes.
    network : str
        The name of the network.
    module : Module
        The network itself, on the device on which it runs; called with points (B, N, 3), features (B, N, C) and
        ``sampler``.
    output : Path
        The folder of results.
    seed : int
        Decides random numbers; the classes below say which.
    bfloat16 : bool
        Whether the network runs under autocast in that type.
    graphs : bool
        Whether passes or steps are recorded as CUDA graphs where they can be. Results have the same bits.
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
