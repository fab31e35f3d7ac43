"""Whether PyTorch has been imported. Nothing here imports it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: PyTorch, once it has been seen. torch.compile reads this name where it may fail to go through
#: ``sys.modules``, which grows meanwhile.
_torch: Any = None


def note_torch() -> bool:
    """Whether PyTorch has been imported."""
    global _torch
    if _torch is None and hasattr(sys.modules.get("torch"), "Tensor"):
        _torch = sys.modules["torch"]
    return _torch is not None


def is_tensor(array: Any) -> bool:
    """Whether the array is a PyTorch tensor."""
    return (_torch is not None or note_torch()) and isinstance(array, _torch.Tensor)


def plain_types() -> tuple[type, type]:
    """The types of tensors that are nothing more, once PyTorch was seen."""
    return _torch.Tensor, _torch.nn.Parameter


def seed_of(seed: Any) -> Any:
    """The seed, or 64 bits drawn from a generator of PyTorch."""
    if seed is None or not note_torch() or not isinstance(seed, _torch.Generator):
        return seed
    drawn = _torch.randint(-(2**63), 2**63 - 1, (), generator=seed, device=seed.device)
    return int(drawn) % 2**64


def is_compiling() -> bool:
    """Whether ``torch.compile`` traces what is running."""
    return _torch is not None and _torch.compiler.is_compiling()


def untraced(function: _Function) -> _Function:
    """The function, with a graph break at its calls under ``torch.compile``."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if is_compiling():
            from . import tracing

            return tracing.eagerly(function, *arguments, **options)
        return function(*arguments, **options)

    return call  # type: ignore[return-value]
