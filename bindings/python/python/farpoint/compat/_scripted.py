"""Operators for ``torch.jit.script``, which compiles neither these functions nor those that they call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

__all__ = ["define", "edges", "rows"]

_library = torch.library.Library("farpoint", "FRAGMENT")


def define(
    schema: str, function: Callable[..., Any], fake: Callable[..., Tensor], library: Any = _library
) -> None:
    """Registers a function whose result has no gradient as ``torch.ops.farpoint.NAME``; ``fake`` returns its shape."""
    name = schema.partition("(")[0]
    library.define(schema)
    for device in ("CPU", "CUDA"):
        library.impl(name, function, device)
    torch.library.register_fake(f"{library.ns}::{name}", fake, lib=library)


def edges(x: Tensor, *_: Any) -> Tensor:
    """Returns the shape of edges, whose number depends on the data."""
    return x.new_empty((2, torch.library.get_ctx().new_dynamic_size()), dtype=torch.int64)


def rows(x: Tensor, *_: Any) -> Tensor:
    """Returns the shape of rows, whose number depends on the data."""
    return x.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64)
