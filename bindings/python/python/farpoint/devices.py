"""Devices: the number of CPU threads, and loading GPU kernels ahead of use."""

from __future__ import annotations

from typing import Any

from . import _arguments, _native

__all__ = ["get_num_threads", "set_num_threads", "warm_up"]


def set_num_threads(threads: int | None) -> None:
    """Set the number of CPU threads for calls without ``threads=`` in this process.

    Unless it is set, calls use all cores (or ``RAYON_NUM_THREADS`` of the environment, read when threads start); in a
    worker of PyTorch's ``DataLoader`` they use ``torch.get_num_threads()``, which is 1 there by default.

    Parameters
    ----------
    threads : int or None
        Number of threads, at least 1; None restores the default.

    Raises
    ------
    ValueError, TypeError
        Not an integer of at least 1.
    """
    _native.set_num_threads(_arguments.threads(threads))


def get_num_threads() -> int:
    """Return the number of CPU threads for calls without ``threads=``.

    Returns
    -------
    int
        Number of threads. Clouds of fewer than 16,384 points are sampled by one thread.
    """
    return _native.get_num_threads()


def warm_up(device: Any = None) -> None:
    """Load all kernels on a GPU ahead of the first call.

    This is optional: each call loads the kernels that it uses. Loading takes some hundredths of a
    second once per process; on cards newer than this release, where the driver has to compile, it takes seconds,
    and up to a minute for all kernels. Calls of other threads continue meanwhile.

    Parameters
    ----------
    device : int, str or torch.device, optional
        A number, ``"cuda"`` or ``"cuda:1"``. Unless set, the current device of PyTorch, else the first GPU.

    Raises
    ------
    ValueError
        Not the name of a device.
    farpoint.CudaUnavailable
        There is no such GPU.
    """
    _native.cuda_warm_up(_arguments.gpu_number(device))
