"""Evaluation of the accuracy and speed of a network on the scenes of a dataset, for several samplers.

``val`` is the protocol of the paper's times: a scene's occupied voxels as one cloud, metrics on voxels. ``test``:
clouds of one point per voxel until every point was in one, logits averaged per point, metrics on all points. The paper
does not say which its scores are of. Every result is written at once, and existing results are not recomputed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from . import metrics, progress, records, timing
from .data import Scene, Source, write_labels, write_prediction
from .networks import can_capture
from .recipes import Recipe, known
from .records import Option, SceneRecord, Seconds
from .stopwatch import Replay, device_name, peak_memory, timed
from .task import Task
from .transforms import Cloud, cloud_of, height_axis, prepare_scene, prepare_validation
from .voxels import Voxels, choose, draw, sub_cloud, voxels

if TYPE_CHECKING:
    from .samplers import Sampler

__all__ = ["Evaluation", "clouds", "evaluate", "fingerprint"]

PROTOCOLS = ("val", "test")

#: Clouds of a scene that run without a graph before the rest uses one: scenes of one or two clouds need none.
_LAUNCHED = 2


@dataclass(frozen=True, kw_only=True)
class Evaluation(Task):
    """Settings of an evaluation: a ``Task``, whose seed orders points in "test". In "val" the seed only names the run,
    and the points of voxels are those of OpenPoints. In "test" the clouds of a scene, all of one size, use one CUDA
    graph, if the sampler can be captured; capturing is not timed.

    Attributes
    ----------
    protocol : {"val", "test"}
        Protocol, see the module.
    options : mapping
        Further options of the records, which identify runs.
    predictions : bool
        Write predictions, as PLY and for SemanticKITTI as ``.label`` files.
    """

    protocol: Literal["val", "test"] = "val"
    options: dict[str, Option] = field(default_factory=dict)
    predictions: bool = False

    def __post_init__(self) -> None:
        known(self.protocol, PROTOCOLS, "protocol")

    def uses_graph(self, sampler: Sampler) -> bool:
        """Return whether the clouds of a scene use a graph."""
        on_gpu = self.graphs and self.device.type == "cuda"
        return on_gpu and self.protocol == "test" and can_capture(sampler)

    def record(self, sampler: Sampler, scene: str, **results: Any) -> SceneRecord:
        """Return the record of a scene; without results, one with its key."""
        graph: dict[str, Option] = {"graph": True} if self.uses_graph(sampler) else {}
        return SceneRecord(
            task="evaluate", data=self.recipe.data, network=self.network, sampler=sampler.name, scene=scene,
            device=device_name(self.device), seed=self.seed, protocol=self.protocol,
            options={**self.options, **graph}, **{"points": 0, **results},
        )


@dataclass(frozen=True)
class _Prepared:
    """Scene on the device of the network, with its voxels."""

    scene: Scene
    cloud: Cloud
    voxels: Voxels
    #: Point of each voxel that "val" uses.
    chosen: Tensor

    @property
    def fullest(self) -> int:
        return int(self.voxels.counts.max())


def evaluate(
    task: Evaluation, samplers: Sequence[Sampler], scenes: Iterable[str] | None = None
) -> list[SceneRecord]:
    """Evaluate a network with each of these samplers on each scene.

    Parameters
    ----------
    task : Evaluation
        Settings of the evaluation.
    samplers : sequence of Sampler
        Samplers of the network's levels.
    scenes : iterable of str, optional
        Names of scenes, in order of evaluation; all of the source unless set. The random
        points of voxels depend on the previous scenes.

    Returns
    -------
    list of SceneRecord
        One for each scene and sampler, in an outer loop over scenes. Existing records are returned unchanged.

    Raises
    ------
    OSError, ValueError
        A scene can't be read or is damaged; the message has the file and the line. Earlier results are
        in the folder.
    """
    names = list(task.source.names if scenes is None else scenes)
    existing = {record.key: record for record in records.read_scenes(task.output)}
    state = np.random.RandomState(0)
    results: list[SceneRecord] = []
    warm = task.device.type == "cpu"
    task.module.eval()
    with progress.bar(task.progress, "evaluating", "scenes") as report, torch.inference_mode():
        for number, name in enumerate(names):
            known_records = [existing.get(task.record(one, name).key) for one in samplers]
            if None not in known_records and not _lacks_predictions(task, samplers, name):
                done = [one for one in known_records if one is not None]
                draw(state, done[0].fullest or 1, done[0].points)  # as if it had been read
                results += done
            else:
                prepared = _prepare(task, name, state)
                if not warm:
                    _warm_up(task, samplers, prepared)
                    warm = True
                for sampler, record in zip(samplers, known_records, strict=True):
                    if record is None or _lacks_predictions(task, [sampler], name):
                        record = _evaluate_scene(task, sampler, prepared, record)
                    results.append(record)
            if report is not None:
                report(number + 1, len(names))
    return results


def _prepare(task: Evaluation, name: str, state: np.random.RandomState) -> _Prepared:
    scene = task.source.read(name)
    cloud = cloud_of(scene, task.device)
    occupied = voxels(cloud.points, task.recipe.voxel).compact()
    return _Prepared(scene, cloud, occupied, choose(occupied, state))


def clouds(
    source: Source, names: Sequence[str], recipe: Recipe, network: str, module: nn.Module
) -> Iterator[timing.Input]:
    """Yield scenes prepared as in "val", for ``timing``.

    Parameters
    ----------
    source : Source
        Source of the scenes.
    names : sequence of str
        Names of the scenes, in order.
    recipe, network, module
        As for ``Evaluation``.

    Yields
    ------
    Input
        Input on the device of the network.
    """
    state, device = np.random.RandomState(0), next(module.parameters()).device
    for name in names:
        cloud = cloud_of(source.read(name), device)
        chosen = choose(voxels(cloud.points, recipe.voxel).compact(), state)
        yield timing.Input(name, *prepare_scene(cloud, chosen, recipe, network))


def _warm_up(task: Evaluation, samplers: Iterable[Sampler], prepared: _Prepared) -> None:
    """Runs a forward pass per sampler, so that one-time work of a GPU is not timed."""
    for sampler in samplers:
        _forward(task, sampler, _whole(task, prepared))


def _evaluate_scene(
    task: Evaluation, sampler: Sampler, prepared: _Prepared, existing: SceneRecord | None
) -> SceneRecord:
    """Returns the record of a scene and writes it unless it exists; also writes the prediction, if requested."""
    run = _validated if task.protocol == "val" else _tested
    memory = peak_memory(task.device)
    predictions, labels, seconds = run(task, sampler, prepared)
    matrix = metrics.confusion(labels, predictions, len(task.recipe.classes)).cpu()
    record = task.record(
        sampler, prepared.scene.name, points=len(prepared.chosen), seconds=seconds,
        peak_memory=memory(), confusion=tuple(map(tuple, matrix.tolist())),
        metrics=metrics.summary(matrix), raw_points=len(prepared.scene.points), fullest=prepared.fullest,
    )
    if task.predictions:
        if task.protocol == "val":  # of voxels
            predictions = _spread(predictions, prepared.voxels)
        _write(task, sampler.name, prepared.scene, predictions.cpu().numpy())
    if existing is not None:
        return existing
    records.append(task.output, record)
    return record


def _validated(
    task: Evaluation, sampler: Sampler, prepared: _Prepared
) -> tuple[Tensor, Tensor, Seconds]:
    """Returns predictions and labels of voxels."""
    logits, seconds = _forward(task, sampler, _whole(task, prepared))
    return logits.argmax(dim=1), prepared.cloud.labels[prepared.chosen], seconds


def _tested(
    task: Evaluation, sampler: Sampler, prepared: _Prepared
) -> tuple[Tensor, Tensor, Seconds]:
    """Returns predictions and labels of all points."""
    cloud, device = prepared.cloud, task.device
    sums = torch.zeros(len(cloud.labels), len(task.recipe.classes), device=device)
    visits = torch.zeros(len(cloud.labels), 1, device=device)
    generator = torch.Generator().manual_seed(task.seed)
    spent = []
    replay: Replay | None = None
    for number in range(prepared.fullest):
        rows = sub_cloud(prepared.voxels, number)
        rows = rows[torch.randperm(len(rows), generator=generator).to(device)]
        inputs = _part(task, cloud.rows(rows))
        if number == _LAUNCHED and task.uses_graph(sampler):
            replay = _captured(task, sampler, inputs)
        logits, seconds = _forward(task, sampler, inputs, replay)
        # No row repeats within a cloud.
        sums[rows] += logits
        visits[rows] += 1
        spent.append(seconds)
    total = Seconds(
        sum(one.all or 0.0 for one in spent), sum(one.sampling or 0.0 for one in spent)
    )
    return (sums / visits).argmax(dim=1), cloud.labels, total


def _forward(
    task: Evaluation, sampler: Sampler, inputs: tuple[Tensor, Tensor], replay: Replay | None = None
) -> tuple[Tensor, Seconds]:
    """Returns logits (N, C) of a cloud, and their time."""
    points, features = (one[None] for one in inputs)
    if replay is not None:
        logits, seconds = replay(points, features)
    else:
        with _autocast(task):
            logits, seconds = timed(task.module, points, features, sampler)
    return logits[0].float(), seconds


def _captured(task: Evaluation, sampler: Sampler, inputs: tuple[Tensor, Tensor]) -> Replay:
    points, features = inputs
    with _autocast(task):
        return Replay(task.module, points[None], features[None], sampler)


def _whole(task: Evaluation, prepared: _Prepared) -> tuple[Tensor, Tensor]:
    """Returns the inputs of the network for a scene in "val"."""
    return prepare_scene(prepared.cloud, prepared.chosen, task.recipe, task.network)


def _part(task: Evaluation, cloud: Cloud) -> tuple[Tensor, Tensor]:
    """Returns the inputs of the network for a cloud of a scene in "test"."""
    return prepare_validation(cloud, task.recipe, height_axis(task.recipe, task.network, "test"))


def _autocast(task: Evaluation) -> AbstractContextManager[object]:
    return torch.autocast(task.device.type, torch.bfloat16) if task.bfloat16 else nullcontext()


def _spread(predictions: Tensor, occupied: Voxels) -> Tensor:
    """Returns the predictions of all points from those of voxels."""
    everywhere = torch.empty_like(occupied.order)
    everywhere[occupied.order] = predictions.repeat_interleave(occupied.counts)
    return everywhere


def _prediction(task: Evaluation, sampler: str, scene: str) -> Path:
    """Returns the path of the PLY file of a prediction."""
    short = "".join(one if one.isalnum() or one in "+-=,.@" else "-" for one in sampler)
    return task.output / "predictions" / f"{task.network}-{task.protocol}-{short}" / f"{scene}.ply"


def _lacks_predictions(task: Evaluation, samplers: Iterable[Sampler], scene: str) -> bool:
    return task.predictions and not all(
        _prediction(task, one.name, scene).exists() for one in samplers
    )


def _write(task: Evaluation, sampler: str, scene: Scene, predictions: Any) -> None:
    path = _prediction(task, sampler, scene.name)
    if task.recipe.data == "semantickitti":
        sequence, _, number = scene.name.rpartition("/")
        root = path.parents[len(Path(scene.name).parts) - 1]
        write_labels(root / "sequences" / sequence / "predictions" / f"{number}.label", predictions)
    write_prediction(path, scene, predictions, task.recipe)


def fingerprint(path: str | os.PathLike[str]) -> str:
    """Return name and hash of a checkpoint, which identify runs in records."""
    path = Path(path)
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
