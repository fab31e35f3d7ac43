"""Timing of forward passes, and of the sampling in them, by sampler.

Per scene: synchronize, forward pass, synchronize. Loading, voxels and the copy of the cloud to the
device are excluded; samplers on the CPU include their copies. Samplers alternate, so that other load of the machine
affects all of them, and the median of several rounds is used. Where possible, passes are timed twice: as kernels
launched one by one, and as one CUDA graph.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from .networks import Network, can_capture
from .networks.all_pairs import ball_query
from .records import Key, Option, SceneRecord, Seconds, append
from .samplers import Sampler, parse
from .stopwatch import Replay, device_name, peak_memory, timed

__all__ = ["ALL_PAIRS", "Input", "Measurement", "measure", "run"]

#: Suffix of a sampler's name: ball queries compare all pairs, as in the code of the networks' authors.
ALL_PAIRS = "+all-pairs"


class Input(NamedTuple):
    """Scene as network input."""

    name: str
    #: (N, 3) in meters, and (N, channels), on the CPU or the device.
    points: Tensor
    features: Tensor


class Measurement(NamedTuple):
    """Measurement of one scene with one sampler."""

    scene: str
    sampler: str
    #: True if the pass was one CUDA graph.
    graph: bool
    points: int
    #: Times of the median round.
    seconds: Seconds
    #: Peak memory of PyTorch in a round, in bytes; None on the CPU.
    peak_memory: int | None


def measure(
    network: Network, scenes: Iterable[Input], samplers: Sequence[str | Sampler], *, rounds: int = 3,
    warm_up: int = 1, bfloat16: bool = False, data: str | None = None, graphs: bool = False,
) -> Iterator[Measurement]:
    """Time forward passes.

    Parameters
    ----------
    network : Network
        Network in evaluation mode, on the device to time.
    scenes : iterable of Input
        Clouds to time.
    samplers : sequence of str or Sampler
        Samplers, timed alternately. ``naive@first+all-pairs`` is textbook sampling of each level, and ball queries that
        compare all pairs, as in the code of the networks' authors, which repeats queries that are shared here.
    rounds : int, optional
        Number of measurements of each scene with each sampler.
    warm_up : int, optional
        Number of warm-up rounds, in which kernels are loaded and memory is allocated.
    bfloat16 : bool, optional
        Run layers in bfloat16 (autocast).
    data : str, optional
        As for ``samplers.parse``.
    graphs : bool, optional
        Also time passes as CUDA graphs: on a GPU, with samplers that can be captured. Capturing is
        not timed.

    Yields
    ------
    Measurement
        Measurements by scene, in the order of the samplers, graphs last.

    Raises
    ------
    ValueError
        The network is in training mode, there are no rounds, or a sampler is unknown.
    """
    device = next(network.parameters()).device
    turns = _turns(samplers, data, graphs and device.type == "cuda")
    for scene in scenes:
        yield from _measured(network, scene, turns, rounds, warm_up, bfloat16)


def run(
    network: Network, scenes: Iterable[Input], samplers: Sequence[str | Sampler], output: str | os.PathLike[str],
    *, data: str, name: str, seed: int = 0, options: Mapping[str, Option] | None = None, rounds: int = 3,
    warm_up: int = 1, bfloat16: bool = False, graphs: bool = False,
    existing: Mapping[Key, SceneRecord] | None = None,
) -> Iterator[SceneRecord]:
    """Time forward passes, and write each as a record.

    Parameters
    ----------
    network, scenes, samplers, rounds, warm_up, bfloat16, graphs
        As for ``measure``.
    output : path
        Folder of the records.
    data, name : str
        Names of the dataset and of the network.
    seed : int, optional
        Seed of the parameters or scenes, which identifies runs.
    options : mapping, optional
        Further options that identify runs.
    existing : mapping, optional
        Existing records of the folder by key, which are not measured again.

    Yields
    ------
    SceneRecord
        Records as soon as they are written, or existing ones.

    Raises
    ------
    ValueError
        As for ``measure``.
    OSError
        The file can't be written.
    """
    device = next(network.parameters()).device
    turns = _turns(samplers, data, graphs and device.type == "cuda")
    all_options = {**(options or {}), "bfloat16": bfloat16, "rounds": rounds}
    for scene in scenes:
        blanks = [
            SceneRecord(
                task="time", data=data, network=name, sampler=turn.name, scene=scene.name,
                points=len(scene.points), device=device_name(device), seed=seed, protocol="time",
                # Only if set, so that older records belong to the same run.
                options={**all_options, "graph": True} if turn.graph else all_options,
            )
            for turn in turns
        ]
        missing = [turn for turn, blank in zip(turns, blanks, strict=True) if blank.key not in (existing or {})]
        measured = iter(_measured(network, scene, missing, rounds, warm_up, bfloat16))
        for blank in blanks:
            if existing and blank.key in existing:
                yield existing[blank.key]
                continue
            one = next(measured)
            record = dataclasses.replace(blank, seconds=one.seconds, peak_memory=one.peak_memory)
            append(output, record)
            yield record


def _turns(samplers: Sequence[str | Sampler], data: str | None, graphs: bool) -> list[_Turn]:
    turns = [_turn(sampler, data) for sampler in samplers]
    captured = [one for one in turns if graphs and can_capture(one.sampler) and not one.all_pairs]
    return turns + [one._replace(graph=True) for one in captured]


def _measured(
    network: Network, scene: Input, turns: Sequence[_Turn], rounds: int, warm_up: int, bfloat16: bool
) -> Iterator[Measurement]:
    if network.training or rounds < 1:
        raise ValueError(
            f"only networks in evaluation mode can be timed, once or more often (got training={network.training}, "
            f"{rounds=})"
        )
    device = next(network.parameters()).device
    points, features = scene.points.to(device)[None], scene.features.to(device)[None]
    passes = [_Pass(network, points, features, turn, bfloat16) for turn in turns]
    results_by_turn: list[list[tuple[Seconds, int | None]]] = [[] for _ in turns]
    for number in range(warm_up + rounds):
        for one, times in zip(passes, results_by_turn, strict=True):
            result = one()
            if number >= warm_up:
                times.append(result)
    for turn, times in zip(turns, results_by_turn, strict=True):
        yield Measurement(scene.name, turn.name, turn.graph, points.shape[1], *_median(times))


class _Turn(NamedTuple):
    name: str
    sampler: Sampler
    #: True if ball queries compare all pairs, and if the pass is a graph.
    all_pairs: bool
    graph: bool = False


def _turn(sampler: str | Sampler, data: str | None) -> _Turn:
    if isinstance(sampler, Sampler):
        return _Turn(sampler.name, sampler, False)
    all_pairs = sampler.endswith(ALL_PAIRS)
    return _Turn(sampler, parse(sampler.removesuffix(ALL_PAIRS), data), all_pairs)


class _Pass:
    """Forward pass of one scene with one sampler. A graph is captured at once: this frees memory, which timed passes
    would have to allocate again."""

    def __init__(
        self, network: Network, points: Tensor, features: Tensor, turn: _Turn, bfloat16: bool
    ) -> None:
        self._network, self._given, self._turn, self._bfloat16 = network, (points, features), turn, bfloat16
        self._replay: Replay | None = None
        if turn.graph:
            peak = peak_memory(points.device)
            with self._context():
                self._replay = Replay(network, points, features, turn.sampler)
            self._memory = peak()

    def __call__(self) -> tuple[Seconds, int | None]:
        with self._context():
            if self._replay is not None:
                return self._replay(*self._given)[1], self._memory
            peak = peak_memory(self._given[0].device)
            _, seconds = timed(self._network, *self._given, self._turn.sampler)
            return seconds, peak()

    @contextmanager
    def _context(self) -> Iterator[None]:
        kind = torch.autocast(self._given[0].device.type, torch.bfloat16, enabled=self._bfloat16)
        self._network.ball_query = ball_query if self._turn.all_pairs else None
        try:
            with torch.inference_mode(), kind:
                yield
        finally:
            self._network.ball_query = None


def _median(times: list[tuple[Seconds, int | None]]) -> tuple[Seconds, int | None]:
    """Returns the round with the median time (the lower of two), and the peak memory of all."""
    middle = statistics.median_low([seconds.all or 0.0 for seconds, _ in times])
    chosen = next(seconds for seconds, _ in times if (seconds.all or 0.0) == middle)
    memory = [peak for _, peak in times if peak is not None]
    return chosen, max(memory) if memory else None
