"""Devices: the number of threads of the CPU, and kernels of a GPU loaded before they are needed."""

from __future__ import annotations

from typing import Any

from . import _arguments, _native

__all__ = ["get_num_threads", "set_num_threads", "warm_up"]


def set_num_threads(threads: int | None) -> None:
    """Set the number of CPU threads of calls without ``threads=``, in this process.

    Unless it is set, calls use all cores (or ``RAYON_NUM_THREADS`` of the environment, read when threads start); in a
    worker of PyTorch's ``DataLoader`` they use ``torch.get_num_threads()``, which is 1 there by default.

    Parameters
    ----------
    threads : int or None
        Number of threads, 1 or more; None for the number without this call.

    Raises
    ------
    ValueError, TypeError
        No integer of at least 1.
    """
    _native.set_num_threads(_arguments.threads(threads))


def get_num_threads() -> int:
    """Return the number of CPU threads of calls without ``threads=``.

    Returns
    -------
    int
        Number of threads. Clouds of fewer than 16,384 points are sampled by one.
    """
    return _native.get_num_threads()


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
    _native.cuda_warm_up(_arguments.gpu_number(device))
