"""Training step: a batch from scenes, and a parameter update from the batch.

On a GPU both are captured as CUDA graphs once, and replayed: a step is some thousands of kernels, which take longer
to launch than to run. Replays give the same bits as eager execution.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from .recipes import IGNORED
from .run import Run
from .transforms import Cloud, height_axis, prepare_training

__all__ = ["Batches", "Steps", "make_batch", "make_step"]

#: Points (B, N, 3), features (B, N, C) and labels (B, N).
Batch = tuple[Tensor, Tensor, Tensor]

#: Warm-up passes before capturing.
_WARM_UP = 3


def make_batch(run: Run, clouds: list[Cloud], generator: torch.Generator) -> Batch:
    """Return random crops of these scenes."""
    axis = height_axis(run.recipe, run.network, "train")
    with torch.no_grad():
        made = [prepare_training(cloud, run.recipe, run.points, axis, generator) for cloud in clouds]
        points, features, labels = (torch.stack(parts) for parts in zip(*made, strict=True))
    return points, features, labels


def make_step(run: Run, optimizer: torch.optim.Optimizer, batch: Batch) -> tuple[Tensor, Tensor]:
    """Update the parameters; return the loss before the update and the accuracy, without synchronizing."""
    points, features, labels = batch
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(run.device.type, torch.bfloat16, enabled=run.bfloat16):
        logits = run.module(points, features, sampler=run.sampler)
    logits, labels = logits.float().flatten(0, 1), labels.flatten()
    counted = (labels != IGNORED).sum().clamp(min=1)
    loss = nn.functional.cross_entropy(
        logits, labels, ignore_index=IGNORED, label_smoothing=run.training.smoothing, reduction="sum"
    ) / counted
    loss.backward()
    nn.utils.clip_grad_norm_(run.module.parameters(), run.training.clip)
    optimizer.step()
    right = (logits.detach().argmax(dim=1) == labels).sum() / counted
    return loss.detach(), right


class Batches:
    """Makes batches; on a GPU by a graph for scenes with as many points as the first ones."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._generator = torch.Generator(run.device)
        self._recorded: tuple[torch.cuda.CUDAGraph, list[Cloud], Batch] | None = None

    def __call__(self, clouds: list[Cloud], seed: int) -> Batch:
        """Return a batch of crops, which the next call may overwrite."""
        if self._run.captured and self._recorded is None:
            self._recorded = self._record(clouds)
        self._generator.manual_seed(seed)
        if self._recorded is None or _sizes(clouds) != _sizes(self._recorded[1]):
            return make_batch(self._run, clouds, self._generator)
        graph, slots, made = self._recorded
        for slot, cloud in zip(slots, clouds, strict=True):
            for place, part in zip(slot, cloud, strict=True):
                if place is not None and part is not None:
                    place.copy_(part)
        graph.replay()
        return made

    def _record(self, clouds: list[Cloud]) -> tuple[torch.cuda.CUDAGraph, list[Cloud], Batch]:
        slots = [cloud.copy() for cloud in clouds]
        with _aside():
            for _ in range(_WARM_UP):
                make_batch(self._run, slots, self._generator)
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self._generator)
        with torch.cuda.graph(graph):
            made = make_batch(self._run, slots, self._generator)
        return graph, slots, made


class Steps:
    """Runs steps, on a GPU by a graph."""

    def __init__(self, run: Run, optimizer: torch.optim.Optimizer) -> None:
        self._run, self._optimizer = run, optimizer
        self._recorded: tuple[torch.cuda.CUDAGraph, Batch, tuple[Tensor, Tensor]] | None = None

    def __call__(self, batch: Batch, seed: int) -> tuple[Tensor, Tensor]:
        """Run a step, as ``make_step``."""
        if self._run.captured and self._recorded is None:
            self._recorded = self._record(batch)
        torch.manual_seed(seed)  # dropout
        if self._recorded is None:
            return make_step(self._run, self._optimizer, batch)
        graph, places, (loss, right) = self._recorded
        for place, part in zip(places, batch, strict=True):
            place.copy_(part)
        graph.replay()
        return loss.clone(), right.clone()

    def _record(self, given: Batch) -> tuple[torch.cuda.CUDAGraph, Batch, tuple[Tensor, Tensor]]:
        points, features, labels = (part.clone() for part in given)
        batch = points, features, labels
        parameters = [one.clone() for one in self._run.module.state_dict().values()]
        moments = {key: one.clone() for key, one in self._moments().items()}
        with _aside():
            for _ in range(_WARM_UP):
                make_step(self._run, self._optimizer, batch)
        # Restore the initial state, in the same memory.
        for value, before in zip(self._run.module.state_dict().values(), parameters, strict=True):
            value.copy_(before)
        for key, value in self._moments().items():
            value.copy_(moments[key]) if key in moments else value.zero_()
        graph = torch.cuda.CUDAGraph()
        self._optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            results = make_step(self._run, self._optimizer, batch)
        return graph, batch, results

    def _moments(self) -> dict[tuple[int, str], Tensor]:
        """Returns the optimizer's state of each parameter."""
        return {
            (place, name): value
            for place, group in enumerate(self._optimizer.state.values())
            for name, value in group.items()
        }


@contextmanager
def _aside() -> Iterator[None]:
    """Runs on a side stream, as PyTorch requires before a capture."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        yield
    torch.cuda.current_stream().wait_stream(stream)


def _sizes(clouds: list[Cloud]) -> list[int]:
    return [len(cloud.points) for cloud in clouds]
