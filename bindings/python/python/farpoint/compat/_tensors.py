"""Argument checks of replacements of PyTorch libraries."""

from __future__ import annotations

from typing import Any

from torch import Tensor

__all__ = ["require"]


def require(**arguments: Any) -> None:
    """Raises TypeError unless each argument is a tensor or None."""
    for name, value in arguments.items():
        if value is not None and not isinstance(value, Tensor):
            kind = type(value)
            raise TypeError(
                f"{name} is a {kind.__module__}.{kind.__qualname__}; this function takes tensors, as "
                f"torch.as_tensor({name}) makes"
            )
