"""Copies integers to the device of the clouds, without synchronizing."""

from __future__ import annotations

import torch
from torch import Tensor


def sent(values: Tensor, device: torch.device) -> Tensor:
    """Returns integers as int64 on this device."""
    if values.device == device or not values.is_cpu or device.type == "meta" or torch.compiler.is_compiling():
        return values.to(device, torch.int64)
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "lengths, starts and counts on the CPU can't be captured into a CUDA graph, which would "
            f"read their memory again on every replay; pass a tensor on {device}"
        )
    # Copied to pinned memory first: the source may change before the transfer.
    return _pinned(values).to(device, non_blocking=True)


def _pinned(values: Tensor) -> Tensor:
    room = torch.empty(values.shape, dtype=torch.int64, device="cpu", pin_memory=True)
    return room.copy_(values)


def numbers(values: list[int], device: torch.device) -> Tensor:
    """Returns integers as a tensor on this device. Evenly spaced ones are generated there, so that calls for
    clouds of one size can be captured into a CUDA graph."""
    if device.type != "cpu":
        step = values[1] - values[0] if len(values) > 1 else 0
        if all(after - before == step for before, after in zip(values, values[1:])):
            if step == 0:
                first = values[0] if values else 0
                return torch.full((len(values),), first, dtype=torch.int64, device=device)
            return torch.arange(values[0], values[-1] + step, step, dtype=torch.int64, device=device)
    return sent(torch.tensor(values, dtype=torch.int64, device="cpu"), device)
