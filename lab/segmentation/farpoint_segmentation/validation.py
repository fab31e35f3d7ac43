"""Validation during training: scores on held-out scenes, by the protocol "val"."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from . import metrics
from .data import Scene, Source
from .run import Run
from .transforms import cloud_of, prepare_scene
from .voxels import choose, voxels

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Validation"]


class Validation:
    """Validation scores of a network in training.

    Scenes are read and voxelized once, and cached on the CPU within a limit. The training is unaffected:
    neither its random numbers nor statistics of layers change.

    Parameters
    ----------
    run : Run
        Settings of the training, with scenes for validation.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._kept: dict[str, _Scene] = {}
        self._room = run.cache

    def __call__(self) -> dict[str, float]:
        """Compute the current scores, from 0 to 1: "val_miou", by the dataset's own metric, and "val_oa".

        Raises
        ------
        OSError, ValueError
            A scene can't be read or is damaged.
        """
        run = self._run
        source = run.validation
        if source is None:
            return {}
        total = np.zeros((len(run.recipe.classes), len(run.recipe.classes)), np.int64)
        run.module.eval()
        try:
            with torch.inference_mode():
                for scene in self._scenes(source):
                    total += self._confusion(scene)
        finally:
            run.module.train()
        if total.sum() == 0:
            return {}
        result = metrics.scores(total, run.recipe.metric)
        return {"val_miou": result.miou, "val_oa": result.oa}

    def _confusion(self, scene: _Scene) -> NDArray[np.int64]:
        run = self._run
        points, features, labels = (part.to(run.device) for part in scene)
        with torch.autocast(run.device.type, torch.bfloat16, enabled=run.bfloat16):
            logits = run.module(points[None], features[None], sampler=run.sampler)
        predictions = logits[0].float().argmax(dim=1)
        matrix = metrics.confusion(labels, predictions, len(run.recipe.classes))
        counts: NDArray[np.int64] = matrix.cpu().numpy()
        return counts

    def _scenes(self, source: Source) -> Iterator[_Scene]:
        """Yields all scenes in order; several threads read those not in the cache."""
        names, readers = list(source.names), self._run.readers
        with ThreadPoolExecutor(readers) as pool:
            for first in range(0, len(names), readers):
                part = names[first : first + readers]
                coming = {name: pool.submit(source.read, name) for name in part if name not in self._kept}
                for place, name in enumerate(part, first):
                    if name in coming:
                        yield self._made(place, name, coming[name].result())
                    else:
                        yield self._kept[name]

    def _made(self, place: int, name: str, scene: Scene) -> _Scene:
        """Returns the inputs of a scene as in "val", and caches them within the limit."""
        run = self._run
        cloud = cloud_of(scene, run.device)
        occupied = voxels(cloud.points, run.recipe.voxel).compact()
        # One state per scene, so that results do not depend on the cache.
        chosen = choose(occupied, np.random.RandomState(place))
        points, features = prepare_scene(cloud, chosen, run.recipe, run.network)
        made = _Scene(points.cpu(), features.cpu(), cloud.labels[chosen].cpu())
        size = sum(part.nbytes for part in made)
        if size <= self._room:
            self._room -= size
            self._kept[name] = made
        return made


class _Scene(NamedTuple):
    """Inputs and labels of a scene: (N, 3), (N, C), (N,)."""

    points: Tensor
    features: Tensor
    labels: Tensor
