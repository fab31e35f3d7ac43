"""Checks for PyTorch that do not import it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: PyTorch, once it has been imported. torch.compile reads this name, since it may fail to iterate
#: ``sys.modules``, which grows meanwhile.
_torch: Any = None


def note_torch() -> bool:
    """Returns whether PyTorch has been imported."""
    global _torch
    if _torch is None and hasattr(sys.modules.get("torch"), "Tensor"):
        _torch = sys.modules["torch"]
    return _torch is not None


def is_tensor(array: Any) -> bool:
    """Returns whether the array is a PyTorch tensor."""
    return (_torch is not None or note_torch()) and isinstance(array, _torch.Tensor)


def module() -> Any:
    """Returns PyTorch, which must have been imported."""
    return _torch


def plain_types() -> tuple[type, type]:
    """Returns the tensor types without subclasses; PyTorch must have been imported."""
    return _torch.Tensor, _torch.nn.Parameter


def seed_of(seed: Any) -> Any:
    """Returns the seed, or 64 bits drawn from a ``torch.Generator``."""
    if seed is None or not note_torch() or not isinstance(seed, _torch.Generator):
        return seed
    return _drawn(seed)


def is_compiling() -> bool:
    """Returns whether ``torch.compile`` is tracing."""
    return _torch is not None and _torch.compiler.is_compiling()


def untraced(function: _Function) -> _Function:
    """Returns the function with a graph break at its calls under ``torch.compile``."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if is_compiling():
            from . import tracing

            return tracing.eagerly(function, *arguments, **options)
        return function(*arguments, **options)

    return call  # type: ignore[return-value]


@untraced
def _drawn(generator: Any) -> int:
    drawn = _torch.randint(-(2**63), 2**63 - 1, (), generator=generator, device=generator.device)
    return int(drawn) % 2**64
