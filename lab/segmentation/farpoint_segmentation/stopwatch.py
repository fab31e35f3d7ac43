"""Time and memory of a forward pass, in total and of its samplers."""

from __future__ import annotations

import inspect
import platform
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from .networks import Captured
from .records import Seconds

if TYPE_CHECKING:
    from .samplers import Sampler

__all__ = ["Replay", "TimedSampler", "device_name", "peak_memory", "synchronize", "timed"]


#: True if events in graphs can be read.
_TIMES_GRAPHS = "external" in inspect.signature(torch.cuda.Event.__new__).parameters


def synchronize(device: torch.device) -> None:
    """Synchronize the device."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class TimedSampler:
    """Sampler that measures its time: on a GPU by events, without synchronizing."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._parts: list[Callable[[], float]] = []
        self._captured = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sampler, name)

    def sample(self, points: Tensor, count: int, level: int) -> Tensor:
        """Sample as the wrapped sampler, and measure the time, including copies of CPU samplers."""
        if points.device.type != "cuda":
            start = time.perf_counter()
            result = self._sampler.sample(points, count, level)
            spent = time.perf_counter() - start
            self._parts.append(lambda: spent)
            return result
        capturing = torch.cuda.is_current_stream_capturing()
        if capturing and not self._captured:
            self._parts, self._captured = [], True  # times of a graph are those of its last replay
        first, last = (_event(capturing) for _ in range(2))
        first.record()
        result = self._sampler.sample(points, count, level)
        last.record()
        self._parts.append(lambda: first.elapsed_time(last) / 1000)
        return result

    def seconds(self) -> float:
        """Return the total time of all calls; the device must be synchronized."""
        return sum(part() for part in self._parts)


def _event(capturing: bool) -> torch.cuda.Event:
    """Returns an event whose time can be read; in a graph after each replay."""
    if not capturing:
        return torch.cuda.Event(enable_timing=True)
    return torch.cuda.Event(enable_timing=True, external=True)  # type: ignore[call-arg,unused-ignore]


def timed(
    module: nn.Module, points: Tensor, features: Tensor, sampler: Sampler
) -> tuple[Tensor, Seconds]:
    """Run a forward pass, from an idle device to an idle device.

    Returns
    -------
    tuple of tensor and Seconds
        The logits, and the times of the pass and of the sampler.
    """
    watched: Any = TimedSampler(sampler)
    logits, seconds = _spent(points.device, lambda: module(points, features, sampler=watched))
    return logits, Seconds(seconds, watched.seconds())


class Replay:
    """Forward pass as one CUDA graph, for clouds of one size, timed as by ``timed``.

    Coarse levels are sampled while layers of fine ones run, so that the time of the sampler is not the time that
    the pass would save without it. It is unknown with PyTorch before 2.8.

    Parameters
    ----------
    module, points, features, sampler
        As for ``networks.Captured``.
    """

    def __init__(self, module: nn.Module, points: Tensor, features: Tensor, sampler: Sampler) -> None:
        watched: Any = TimedSampler(sampler)
        self._watched = watched if _TIMES_GRAPHS else None
        self._pass = Captured(module, points, features, watched if _TIMES_GRAPHS else sampler, warm_up=1)

    def __call__(self, points: Tensor, features: Tensor) -> tuple[Tensor, Seconds]:
        """Return logits, in memory overwritten by the next call, and their time."""
        logits, seconds = _spent(points.device, lambda: self._pass(points, features))
        return logits, Seconds(seconds, self._watched.seconds() if self._watched is not None else None)


def _spent(device: torch.device, run: Callable[[], Tensor]) -> tuple[Tensor, float]:
    synchronize(device)
    start = time.perf_counter()
    logits = run()
    synchronize(device)
    return logits, time.perf_counter() - start


def peak_memory(device: torch.device) -> Callable[[], int | None]:
    """Return a function that returns PyTorch's peak memory from now on, in bytes; None on the CPU."""
    if device.type != "cuda":
        return lambda: None
    torch.cuda.reset_peak_memory_stats(device)
    return lambda: int(torch.cuda.max_memory_allocated(device))


def device_name(device: torch.device) -> str:
    """Return the vendor's name of a GPU; for the CPU "cpu" and its architecture."""
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"cpu ({platform.machine()})"
