"""Calls on a GPU with arguments that were met before: what was checked and planned once for some shapes,
strides and types is not again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import Parameter

from . import fast_path

#: By what checks and plans depend on, False for what can't be done this way; and how many are kept at most.
_met: dict[Any, Any] = {}
_MOST = 1024

#: The part of a tensor that is not given.
_NOT_GIVEN = ()


def ready(
    request: Any, make: Callable[..., Any], first: Tensor, second: Tensor, third: Any = None, fourth: Any = None
) -> Any:
    """What ``make`` has made for this request and such tensors, called with all of them: it checks them, and
    gives None for what can't be done this way. None also where more than a kernel on a GPU and autograd have
    to see the call."""
    if not _is_on_gpu(first) or fast_path.is_watched():
        return None
    a = _part_of(first)
    b = a if second is first else _part_of(second)
    if a is None or b is None:
        return None
    key: Any = request, a, b
    if third is not None or fourth is not None:
        c = _NOT_GIVEN if third is None else _part_of(third)
        d = _NOT_GIVEN if fourth is None else _part_of(fourth)
        if c is None or d is None:
            return None
        key = *key, c, d
    found = _met.get(key)
    if found is None:
        found = make(request, first, second, third, fourth) or False
        if len(_met) >= _MOST:
            _met.clear()
        _met[key] = found
    return found or None


def _is_on_gpu(tensor: Tensor) -> bool:
    return tensor.is_cuda


def _part_of(tensor: Tensor) -> Any:
    """The part of a tensor in it; None unless it is memory of a GPU and nothing more."""
    kind = type(tensor)
    if kind is not Tensor and kind is not Parameter or tensor.is_neg() or not tensor.is_cuda:
        return None
    try:
        return tensor.shape, tensor.stride(), tensor.dtype, tensor.get_device()
    except RuntimeError:  # sparse or nested
        return None
