"""Calls that ``torch.compile`` cannot trace. Imported only while tracing: PyTorch's compiler takes a second to
load."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from . import fast_path

_REASON = (
    "farpoint can't be traced here: the call reads the data on the host. These do so: check, quality, "
    'centroids, approximate samplers, Index(y), sample with spacing=, deadline=, non_finite="skip", progress=, '
    "rows= or mask= (except the mask of a batch with count= and no start=), lengths, starts and counts that are no tensors, a "
    "torch.Generator as seed, and checks of a library that farpoint.compat replaces. Compile without "
    "fullgraph=True, or call it outside of what is compiled"
)


def _untraced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function with a graph break at its calls."""
    options = {}
    if "reason" in inspect.signature(torch.compiler.disable).parameters:  # PyTorch 2.7
        options["reason"] = _REASON
    untraced: Callable[..., Any] = torch.compiler.disable(function, **options)
    return untraced


@_untraced
def eagerly(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Calls the function between two graphs."""
    if torch.compiler.is_compiling():  # an export, which has no second graph to continue with
        raise RuntimeError(f"{_REASON} (torch.export of {function.__name__})")
    return function(*arguments, **options)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def is_differentiated() -> bool:
    """Returns ``fast_path.is_differentiated`` while a graph is traced."""
    return fast_path.is_differentiated()
