"""Calls on a GPU with arguments that were met before: what was checked and planned once for some shapes,
strides and types is not again. The compiled module keeps it, and reads the tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.autograd import forward_ad
from torch.compiler import is_compiling
from torch.nn import Parameter

from .. import _native
from . import fast_path

#: How many are kept at most.
_MOST = 1024

#: The type of device that DLPack gives those of CUDA.
_CUDA = 2


def table(device_type: int = _CUDA, most: int = _MOST) -> _native.Met:
    """What is kept of calls with tensors on such devices."""
    keys = fast_path.keys_of_thread if fast_path.TELLS_KEYS else None
    return _native.Met(device_type, (Tensor, Parameter), forward_ad, keys, fast_path.UNUSUAL_OF_THREADS, most)


_met = table()


def ready(
    request: Any, make: Callable[..., Any], first: Tensor, second: Tensor, third: Any = None, fourth: Any = None
) -> Any:
    """What ``make`` has made for this request and such tensors, called with all of them: it checks them, and
    gives None for what can't be done this way. None also where more than a kernel on a GPU and autograd have
    to see the call. The same object is found sooner than an equal request."""
    if is_compiling():
        return None
    found = _met.find(make, request, first, second, third, fourth)
    if found is None:
        found = make(request, first, second, third, fourth) or False
        _met.keep(found, make, request, first, second, third, fourth)
    return found or None
