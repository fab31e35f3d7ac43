"""Training: crops of random scenes, AdamW, the schedules of ``recipes``, checkpoints to resume from, and the
checkpoint with the best validation score.

Scenes are cached on the device of the network, where crops and augmentation are computed. All random numbers of a
step follow from its number and the seed: two trainings with one seed give the same bits, interrupted or not.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from . import progress, records
from .records import TrainingRecord
from .run import Run, best_path, checkpoint_path, rate_at
from .steps import Batches, Steps
from .stopwatch import device_name, synchronize
from .transforms import Cloud, cloud_of
from .validation import Validation

__all__ = ["Run", "best_path", "checkpoint_path", "rate_at", "train"]


def train(run: Run) -> Path:
    """Train a network, resuming from the checkpoint in the folder if there is one.

    Parameters
    ----------
    run : Run
        Settings of the training.

    Returns
    -------
    Path
        Path of the last checkpoint, in the authors' format; with validation the best is beside it (``best_path``).

    Raises
    ------
    ValueError
        The checkpoint in the folder is of another training; the message has the differences. Or damaged
        scenes.
    OSError
        A scene can't be read, or a file can't be written.
    """
    optimizer = _optimizer(run)
    first, score = _resume(run, optimizer)
    run.module.train()
    best = _Best(run, score)
    batches, steps, piece = Batches(run), Steps(run, optimizer), _Piece(run)
    devices = [run.device] if run.device.type == "cuda" else []
    with (
        _Pool(run) as pool, progress.bar(run.progress, "training", "steps") as report,
        torch.random.fork_rng(devices),
    ):
        for step in range(first, run.steps):
            seed = _seed(run, step)
            batch = batches(pool.clouds(step), seed)
            rate = rate_at(run.training, step, run.epoch_steps, run.steps)
            _set_rate(optimizer, rate)
            piece.add(*steps(batch, seed + 1))
            done = step + 1
            validates = run.validation is not None and (done % run.validate == 0 or done == run.steps)
            if done % run.every == 0 or validates or done == run.steps:
                record = piece.record(done, rate)
                if validates:
                    record = best.compare(record)
                _save(run, optimizer, done, best.score)
                records.append(run.output, record)
                piece = _Piece(run)
            if report is not None:
                report(done, run.steps)
    return checkpoint_path(run)


def _optimizer(run: Run) -> torch.optim.Optimizer:
    """Returns the optimizer; on a GPU the learning rate is in its memory, where graphs read it."""
    cuda = run.device.type == "cuda"
    rate: Any = torch.tensor(run.training.rate, device=run.device) if cuda else run.training.rate
    parameters = list(run.module.parameters())
    groups: list[dict[str, Any]] = [
        {"params": [one for one in parameters if one.dim() > 1], "weight_decay": run.training.weight_decay},
        {"params": [one for one in parameters if one.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, rate, fused=cuda, capturable=cuda)


def _set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def _seed(run: Run, step: int) -> int:
    """Returns the seed of all random numbers of a step."""
    return (run.seed * 1_000_003 + step * 2_654_435_761 + 1) % (1 << 62)


class _Piece:
    """Losses and time of the steps since the last record."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._start = time.perf_counter()
        self._losses: list[Tensor] = []
        self._right: list[Tensor] = []

    def add(self, loss: Tensor, right: Tensor) -> None:
        self._losses.append(loss)
        self._right.append(right)

    def record(self, step: int, rate: float) -> TrainingRecord:
        """Returns the record of the interval; synchronizes."""
        run = self._run
        loss, right = (float(torch.stack(one).mean()) for one in (self._losses, self._right))
        synchronize(run.device)
        if not math.isfinite(loss):
            raise ValueError(
                f"the loss became {loss} before step {step} of {run.steps}; the checkpoint of the step before "
                f"the last {len(self._losses)} is kept: {checkpoint_path(run)}"
            )
        return TrainingRecord(
            data=run.recipe.data, network=run.network, sampler=run.sampler.name, recipe=run.name,
            device=device_name(run.device), seed=run.seed, step=step, steps=run.steps, loss=loss,
            rate=rate, seconds=time.perf_counter() - self._start,
            points=run.points * run.training.batch, metrics={"oa": right},
        )


class _State:
    """Checkpoint entry in place of a scheduler: progress and description of the training."""

    def __init__(self, run: Run, step: int) -> None:
        self._state = {"step": step, **run.description()}

    def state_dict(self) -> dict[str, Any]:
        return self._state


class _Best:
    """Checkpoint with the best validation score."""

    def __init__(self, run: Run, score: float) -> None:
        self._run, self._validation = run, Validation(run)
        self.score = score

    def compare(self, record: TrainingRecord) -> TrainingRecord:
        """Saves the current parameters if they are better; returns the record with the scores."""
        scores = self._validation()
        score = scores.get("val_miou", 0.0)
        if score > self.score or not best_path(self._run).exists():
            self.score = score
            _write(self._run, best_path(self._run), None, record.step, score)
        return dataclasses.replace(record, metrics={**record.metrics, **scores})


def _save(run: Run, optimizer: torch.optim.Optimizer, step: int, best: float) -> None:
    _write(run, checkpoint_path(run), optimizer, step, best)


def _write(run: Run, path: Path, optimizer: torch.optim.Optimizer | None, step: int, best: float) -> None:
    from .networks import save_checkpoint

    run.output.mkdir(parents=True, exist_ok=True)
    save_checkpoint(
        run.module, path, optimizer=optimizer, scheduler=_State(run, step), epoch=step // run.epoch_steps,
        best_val=best,
    )


def _resume(run: Run, optimizer: torch.optim.Optimizer) -> tuple[int, float]:
    """Loads the checkpoint of the folder, if there is one; returns the number of steps done, and the best score."""
    from .networks import load_checkpoint

    path = checkpoint_path(run)
    if not path.exists():
        return 0, 0.0
    rest = load_checkpoint(run.module, path)
    state = dict(rest.get("scheduler") or {})
    step = int(state.pop("step", 0))
    if differ := run.differs(state):
        raise ValueError(
            f"{path}: of another training: {'; '.join(differ)}; move it away, or choose another folder"
        )
    rates = [group["lr"] for group in optimizer.param_groups]
    optimizer.load_state_dict(rest["optimizer"])
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate  # in place
    return step, float(rest.get("best_val") or 0.0)


class _Pool:
    """Scenes of the steps, prefetched by threads, and cached on the device within a limit."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._kept: collections.OrderedDict[str, Cloud] = collections.OrderedDict()
        self._coming: dict[str, Future[Cloud]] = {}
        self._orders: dict[int, list[str]] = {}
        self._readers = ThreadPoolExecutor(run.readers)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._readers.shutdown(cancel_futures=True)

    def clouds(self, step: int) -> list[Cloud]:
        """Returns the scenes of a step, and prefetches the next, as many as there are readers."""
        names, later = self._names(step), self._later(step)
        for name in (*names, *later):
            if name not in self._kept and name not in self._coming:
                self._coming[name] = self._readers.submit(self._read, name)
        found = [self._get(name) for name in names]
        self._drop(set(later))
        return found

    def _later(self, step: int) -> list[str]:
        """Returns the scenes of the following steps, until every reader has one to read."""
        later: list[str] = []
        while step + 1 < self._run.steps and (not later or len(later) < self._run.readers):
            step += 1
            later += self._names(step)
        return later

    def _get(self, name: str) -> Cloud:
        if name not in self._kept:
            # Not in a thread: nothing else may use the GPU during a capture.
            self._kept[name] = self._coming.pop(name).result().to(self._run.device)
        self._kept.move_to_end(name)
        return self._kept[name]

    def _read(self, name: str) -> Cloud:
        return cloud_of(self._run.source.read(name), torch.device("cpu"))

    def _drop(self, needed: set[str]) -> None:
        """Evicts the least recently used scenes beyond the limit, except those needed next."""
        sizes = {
            name: sum(part.nbytes for part in cloud if part is not None)
            for name, cloud in self._kept.items()
        }
        total = sum(sizes.values())
        for name, size in sizes.items():
            if total <= self._run.cache:
                break
            if name not in needed:
                del self._kept[name]
                total -= size

    def _names(self, step: int) -> list[str]:
        """Returns the scenes of a batch: each epoch has all scenes in another order."""
        epoch, place = divmod(step, self._run.epoch_steps)
        for old in [one for one in self._orders if one < epoch - 1]:
            del self._orders[old]
        if epoch not in self._orders:
            self._orders[epoch] = self._order(epoch)
        order = self._orders[epoch]
        batch = self._run.training.batch
        return [order[(place * batch + one) % len(order)] for one in range(batch)]

    def _order(self, epoch: int) -> list[str]:
        generator = torch.Generator().manual_seed(self._run.seed * 1_000_003 + epoch)
        names = list(self._run.source.names) * self._run.training.repeats
        return [names[place] for place in torch.randperm(len(names), generator=generator).tolist()]
