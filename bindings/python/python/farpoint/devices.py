"""GPUs: loading kernels before they are needed."""

from __future__ import annotations

import re
import sys
from typing import Any

from . import _native

__all__ = ["warm_up"]


def warm_up(device: Any = None) -> None:
    """Load all kernels on a GPU now, so that the first call finds them loaded.

    This is optional: each call loads what it uses and is not loaded yet. That takes some hundredths of a
    second once per process, and seconds, for all kernels up to a minute, where the driver has to compile:
    on cards newer than this release. Calls of other threads continue meanwhile.

    Parameters
    ----------
    device : int, str or torch.device, optional
        A number, ``"cuda"`` or ``"cuda:1"``. Unless set, the current device of PyTorch, else the first.

    Raises
    ------
    ValueError
        No name of a device.
    farpoint.CudaUnavailable
        There is no such GPU.
    """
    _native.cuda_warm_up(_ordinal(device))


def _ordinal(device: Any) -> int:
    """The number of a device."""
    if isinstance(device, int) and not isinstance(device, bool):
        if not 0 <= device < 1 << 31:
            raise ValueError(f"there is no device of number {device}; they count from 0")
        return device
    found = None if device is None else re.fullmatch(r"cuda(?::(\d{1,9}))?", str(device))
    if device is not None and found is None:
        raise ValueError(f"device must be a number, 'cuda' or 'cuda:N', not {device!r}")
    if found is not None and found[1] is not None:
        return int(found[1])
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return 0
