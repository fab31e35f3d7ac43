"""What operators do under ``torch.vmap`` and ``torch.autocast``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

#: Types that are converted to float32 without loss.
HALVES = (torch.float16, torch.bfloat16)


def vmapped(call: Callable[..., Any], starts: int | None = None) -> Callable[..., Any]:
    """The rule for ``torch.vmap`` of an operator of clouds (N, D) or batches (B, N, D), which are the
    first argument: calls become one call with a larger batch. ``starts`` is the place of the argument
    that has a first axis for clouds, too."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
        size, folded, clouds = info.batch_size, [], None
        for place, (value, dim) in enumerate(zip(arguments, in_dims)):
            if isinstance(value, Tensor):
                value = value.unsqueeze(0) if dim is None else value.movedim(dim, 0)
                if place == 0 and value.dim() == 4:
                    clouds = value.shape[1]
                value = _folded(value, size, 1 if place == starts and clouds is None else clouds)
            folded.append(value)
        found = call(*folded)
        if isinstance(found, Tensor):
            return _unfolded(found, size, clouds), 0
        return tuple([_unfolded(part, size, clouds) for part in found]), (0,) * len(found)

    return rule


def _folded(value: Tensor, size: int, clouds: int | None) -> Tensor:
    """(V or 1, B or 1, ...) as (V * B, ...); without clouds (V or 1, ...) as (V, ...)."""
    if clouds is None:
        return value.expand(size, *value.shape[1:])
    return value.expand(size, clouds, *value.shape[2:]).reshape(size * clouds, *value.shape[2:])


def _unfolded(value: Tensor, size: int, clouds: int | None) -> Tensor:
    return value if clouds is None else value.reshape(size, clouds, *value.shape[1:])


def register(
    library: torch.library.Library, name: str, call: Callable[..., Any], vmap: Any | None
) -> None:
    """Both rules for an operator."""
    if vmap is not None and hasattr(torch.library, "register_vmap"):  # PyTorch 2.5
        torch.library.register_vmap(f"farpoint::{name}", vmap, lib=library)

    def widened(*arguments: Any) -> Any:
        device = arguments[0].device.type
        with torch.autocast(device, enabled=False):
            return call(*[_widened(value) for value in arguments])

    for key in ("AutocastCPU", "AutocastCUDA"):
        library.impl(name, widened, key)


def _widened(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.dtype in HALVES else value
