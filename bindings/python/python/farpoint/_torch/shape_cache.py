"""Cache of checks and plans for repeated calls on a GPU, by the shapes, strides and dtypes of the
arguments. The compiled module holds it, and reads the tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.autograd import forward_ad
from torch.compiler import is_compiling
from torch.nn import Parameter

from .. import _native
from . import fast_path

#: Maximum number of entries.
_MAX_ENTRIES = 1024

#: DLPack device type of CUDA.
_CUDA = 2


def table(device_type: int = _CUDA, max_entries: int = _MAX_ENTRIES) -> _native.ShapeCache:
    """Returns a new cache for calls with tensors on devices of this type."""
    keys = fast_path.keys_of_thread if fast_path.TELLS_KEYS else None
    return _native.ShapeCache(device_type, (Tensor, Parameter), forward_ad, keys, fast_path.UNUSUAL_OF_THREADS, max_entries)


_cache = table()


def lookup(
    request: Any, make: Callable[..., Any], first: Tensor, second: Tensor, third: Any = None, fourth: Any = None
) -> Any:
    """Returns the cached result of ``make`` for this request and these tensors, which ``make`` checks; it returns None
    for calls that it can't handle. None also where more than a GPU kernel and autograd have
    to see the call. Identical requests are found faster than equal ones."""
    if is_compiling():
        return None
    cached = _cache.find(make, request, first, second, third, fourth)
    if cached is None:
        cached = make(request, first, second, third, fourth) or False
        _cache.keep(cached, make, request, first, second, third, fourth)
    return cached or None
