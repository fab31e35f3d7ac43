"""Time and memory of a forward pass: as a whole, and of what chooses points in it."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from .records import Seconds

if TYPE_CHECKING:
    from .samplers import Sampler

__all__ = ["TimedSampler", "device_name", "peak_memory", "synchronize", "timed"]


def synchronize(device: torch.device) -> None:
    """Wait for what is queued."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class TimedSampler:
    """A sampler that notes how long it takes: on a GPU by events, so that nothing waits."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._parts: list[Callable[[], float]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sampler, name)

    def sample(self, points: Tensor, count: int, level: int) -> Tensor:
        """As the sampler itself, copies of CPU samplers included."""
        if points.device.type != "cuda":
            start = time.perf_counter()
            found = self._sampler.sample(points, count, level)
            spent = time.perf_counter() - start
            self._parts.append(lambda: spent)
            return found
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        found = self._sampler.sample(points, count, level)
        last.record()
        self._parts.append(lambda: first.elapsed_time(last) / 1000)
        return found

    def seconds(self) -> float:
        """What all calls took together, once the device is through with them."""
        return sum(part() for part in self._parts)


def timed(
    module: nn.Module, points: Tensor, features: Tensor, sampler: Sampler
) -> tuple[Tensor, Seconds]:
    """Run a forward pass, from an idle device to an idle device.

    Returns
    -------
    tuple of tensor and Seconds
        The logits, and time in all and of the sampler.
    """
    watched: Any = TimedSampler(sampler)
    synchronize(points.device)
    start = time.perf_counter()
    logits: Tensor = module(points, features, sampler=watched)
    synchronize(points.device)
    return logits, Seconds(time.perf_counter() - start, watched.seconds())


def peak_memory(device: torch.device) -> Callable[[], int | None]:
    """From now on: a function that gives the most memory of PyTorch that was in use, in bytes; None on the CPU."""
    if device.type != "cuda":
        return lambda: None
    torch.cuda.reset_peak_memory_stats(device)
    return lambda: int(torch.cuda.max_memory_allocated(device))


def device_name(device: torch.device) -> str:
    """What the maker calls a GPU; for the CPU "cpu" and its architecture."""
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"cpu ({platform.machine()})"
