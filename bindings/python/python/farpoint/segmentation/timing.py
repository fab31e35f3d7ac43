"""How long a forward pass takes, and what choosing points takes of it, by sampler.

Per scene: wait for the device, forward pass, wait for the device. Loading, voxels and the copy of the cloud to the
device are left out; samplers on the CPU include their copies. Samplers take turns, so that what else the machine
does hits all of them, and the median of several rounds counts.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch
from torch import Tensor

from .networks import Network
from .networks.all_pairs import ball_query
from .records import Option, SceneRecord, Seconds, append
from .samplers import Sampler, parse
from .stopwatch import device_name, peak_memory, timed

__all__ = ["ALL_PAIRS", "Input", "Measurement", "measure", "run"]

#: Put behind the name of a sampler: ball queries compare all pairs, as in the code of the networks' authors.
ALL_PAIRS = "+all-pairs"


class Input(NamedTuple):
    """A scene as a network is given it."""

    name: str
    #: (N, 3) in meters, and (N, channels), on the CPU or the device.
    points: Tensor
    features: Tensor


class Measurement(NamedTuple):
    """One scene with one sampler."""

    scene: str
    sampler: str
    points: int
    #: The median round.
    seconds: Seconds
    #: The most memory of PyTorch that was in use in a round, in bytes; None on the CPU.
    peak_memory: int | None


def measure(
    network: Network, scenes: Iterable[Input], samplers: Sequence[str | Sampler], *, rounds: int = 3,
    warm_up: int = 1, bfloat16: bool = False, data: str | None = None,
) -> Iterator[Measurement]:
    """Time forward passes.

    Parameters
    ----------
    network : Network
        In evaluation mode, on the device that is timed.
    scenes : iterable of Input
        Clouds.
    samplers : sequence of str or Sampler
        What takes turns. ``naive+all-pairs`` is textbook sampling, and ball queries that compare all pairs, as in the
        code of the networks' authors, which repeats queries that are asked once here.
    rounds : int, optional
        How often each scene is timed with each sampler.
    warm_up : int, optional
        Rounds before these that do not count: kernels are loaded and memory is asked for.
    bfloat16 : bool, optional
        Layers in bfloat16 (autocast).
    data : str, optional
        As for ``samplers.parse``.

    Yields
    ------
    Measurement
        Scene by scene, in the order of the samplers.

    Raises
    ------
    ValueError
        The network is in training mode; no rounds; a sampler that there is not.
    """
    if network.training or rounds < 1:
        raise ValueError(
            f"timed are networks in evaluation mode, once or more often (got training={network.training}, "
            f"{rounds=})"
        )
    turns = [_turn(sampler, data) for sampler in samplers]
    device = next(network.parameters()).device
    for scene in scenes:
        points, features = scene.points.to(device)[None], scene.features.to(device)[None]
        found: dict[str, list[tuple[Seconds, int | None]]] = {name: [] for name, *_ in turns}
        for number in range(warm_up + rounds):
            for name, sampler, all_pairs in turns:
                one = _once(network, points, features, sampler, all_pairs, bfloat16)
                if number >= warm_up:
                    found[name].append(one)
        for name, times in found.items():
            yield Measurement(scene.name, name, points.shape[1], *_median(times))


def run(
    network: Network, scenes: Iterable[Input], samplers: Sequence[str | Sampler], output: str | os.PathLike[str],
    *, data: str, name: str, seed: int = 0, options: Mapping[str, Option] | None = None, rounds: int = 3,
    warm_up: int = 1, bfloat16: bool = False,
) -> Iterator[SceneRecord]:
    """Time forward passes, and write each as a record.

    Parameters
    ----------
    network, scenes, samplers, rounds, warm_up, bfloat16
        As for ``measure``.
    output : path
        The folder of the records.
    data, name : str
        The data set and the name of the network.
    seed : int, optional
        Of the parameters or scenes: what tells runs apart.
    options : mapping, optional
        What else tells runs apart.

    Yields
    ------
    SceneRecord
        Each as soon as it is written.

    Raises
    ------
    ValueError
        As for ``measure``.
    OSError
        The system refuses to write.
    """
    device = device_name(next(network.parameters()).device)
    told = {**(options or {}), "bfloat16": bfloat16, "rounds": rounds}
    for one in measure(
        network, scenes, samplers, rounds=rounds, warm_up=warm_up, bfloat16=bfloat16, data=data
    ):
        record = SceneRecord(
            task="time", data=data, network=name, sampler=one.sampler, scene=one.scene, points=one.points,
            device=device, seed=seed, protocol="time", options=told, seconds=one.seconds,
            peak_memory=one.peak_memory,
        )
        append(output, record)
        yield record


def _turn(sampler: str | Sampler, data: str | None) -> tuple[str, Sampler, bool]:
    """Its name, itself, and whether ball queries compare all pairs."""
    if isinstance(sampler, Sampler):
        return sampler.name, sampler, False
    all_pairs = sampler.endswith(ALL_PAIRS)
    return sampler, parse(sampler.removesuffix(ALL_PAIRS), data), all_pairs


def _once(
    network: Network, points: Tensor, features: Tensor, sampler: Sampler, all_pairs: bool, bfloat16: bool
) -> tuple[Seconds, int | None]:
    most = peak_memory(points.device)
    kind: AbstractContextManager[object] = nullcontext()
    if bfloat16:
        kind = torch.autocast(points.device.type, torch.bfloat16)
    network.ball_query = ball_query if all_pairs else None
    try:
        with torch.inference_mode(), kind:
            _, seconds = timed(network, points, features, sampler)
    finally:
        network.ball_query = None
    return seconds, most()


def _median(times: list[tuple[Seconds, int | None]]) -> tuple[Seconds, int | None]:
    """The round whose time is the median (the lower of two), and the most memory of all."""
    middle = statistics.median_low([seconds.all or 0.0 for seconds, _ in times])
    chosen = next(seconds for seconds, _ in times if (seconds.all or 0.0) == middle)
    memory = [most for _, most in times if most is not None]
    return chosen, max(memory) if memory else None
