"""Operators for ``torch.jit.script``, which compiles neither these functions nor those that they call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["define"]

_library = torch.library.Library("farpoint", "FRAGMENT")


def define(schema: str, function: Callable[..., Any]) -> None:
    """Registers a function whose result has no gradient as ``torch.ops.farpoint.NAME``."""
    name = schema.partition("(")[0]
    _library.define(schema)
    for device in ("CPU", "CUDA"):
        _library.impl(name, function, device)
