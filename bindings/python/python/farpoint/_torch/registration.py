"""Registration of operators: result shapes, kernels for each device, gradients,
and rules for ``torch.vmap`` and ``torch.autocast``.

This does not use libtorch: operators are Python functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from . import fast_path

_library = torch.library.Library("farpoint", "DEF")

#: Dtypes that are converted to float32 without loss.
HALVES = (torch.float16, torch.bfloat16)


def define(
    schema: str, fake: Any, kernel: Any, on_cuda: Any = None, *, folds: bool = True,
    starts: int | None = None, rule: Callable[..., Any] | None = None, widens: bool = True,
    constant: bool = False,
) -> Any:
    """Registers an operator and returns it, which saves a lookup by name on every call.

    ``fake`` returns the shapes, ``kernel`` the result on the CPU, and on a GPU without ``on_cuda``.
    ``folds``: let ``torch.vmap`` make one call with a larger batch, since the first argument is
    clouds (N, D) or batches (B, N, D). ``starts``: position of the argument with starts.
    ``rule`` returns another ``torch.vmap`` rule for the operator. ``widens``: compute in float32
    under autocast. ``constant``: results never have a derivative.
    """
    name = schema.partition("(")[0]
    _library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    _library.impl(name, kernel, "CPU")
    _library.impl(name, on_cuda or kernel, "CUDA")
    if constant:
        _library.impl(name, torch.library.fallthrough_kernel, "Autograd")
    torch.library.register_fake(f"farpoint::{name}", fake, lib=_library)
    call = getattr(torch.ops.farpoint, name).default
    if rule is not None:
        map_by(name, rule(call))
    elif folds:
        map_by(name, vmapped(call, starts))
    if widens:
        _widen(name, call)
    return call


def differentiate(name: str, backward: Any, setup: Any) -> None:
    """Registers the gradient of an operator."""
    torch.library.register_autograd(
        f"farpoint::{name}", backward, setup_context=setup, lib=_library
    )


def differentiate_anywhere(
    name: str, operator: Any, rule: Callable[..., Any], keep: Any, backward: Any, jvp: Any,
    formula: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Registers the gradient of an operator, and returns a function that calls it and supports forward mode and the
    transforms of ``torch.func``, too. ``rule`` returns the ``torch.vmap`` rule of a call; ``keep`` the tensors that
    ``backward`` and ``jvp`` read; ``formula`` a function for transforms that ``torch.compile`` traces."""

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*keep(ctx, inputs, output))

    differentiate(name, backward, setup)

    def setup_both(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        tensors = keep(ctx, inputs, output)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        return rule(apply)(info, in_dims, *arguments)

    def forward(*arguments: Any) -> Any:
        return operator(*arguments)

    parts = {
        "forward": forward, "setup_context": setup_both, "backward": backward, "jvp": jvp, "vmap": vmap,
    }
    body = {part: staticmethod(function) for part, function in parts.items()}
    function: Any = type(name, (torch.autograd.Function,), body)
    apply, traced = function.apply, formula and formula(operator)

    def call(*arguments: Any) -> Any:
        if torch.compiler.is_compiling():
            from . import tracing

            if traced is not None and tracing.is_differentiated():
                return traced(*arguments)
            return operator(*arguments)
        return apply(*arguments) if fast_path.is_transformed() else operator(*arguments)

    return call


def map_by(name: str, rule: Callable[..., Any]) -> None:
    """Registers the ``torch.vmap`` rule of an operator."""
    if hasattr(torch.library, "register_vmap"):  # PyTorch 2.5
        torch.library.register_vmap(f"farpoint::{name}", rule, lib=_library)


# ---------------------------------------------------------------------------------- torch.vmap


def vmapped(call: Callable[..., Any], starts: int | None = None) -> Callable[..., Any]:
    """Returns the rule for an operator whose first argument is clouds (N, D) or batches (B, N, D): calls
    become one call with a larger batch. ``starts`` is the position of another argument whose first axis is
    clouds."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
        size, folded, clouds = info.batch_size, [], None
        for place, (value, dim) in enumerate(zip(arguments, in_dims)):
            if isinstance(value, Tensor):
                value = value.unsqueeze(0) if dim is None else value.movedim(dim, 0)
                if place == 0 and value.dim() == 4:
                    clouds = value.shape[1]
                value = _folded(value, size, 1 if place == starts and clouds is None else clouds)
            folded.append(value)
        result = call(*folded)
        if isinstance(result, Tensor):
            return _unfolded(result, size, clouds), 0
        # Results not requested are empty tensors without the axes of the others.
        none = [part.dim() == 1 and part.numel() == 0 for part in result]
        parts = [part if no else _unfolded(part, size, clouds) for part, no in zip(result, none)]
        return tuple(parts), tuple([None if no else 0 for no in none])

    return rule


def vmapped_by_flag(flag: int, call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the rule for an operator with an argument that says whether tensors are batched."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
        size, folded, clouds = info.batch_size, list(arguments), None
        for place, (value, dim) in enumerate(zip(arguments, in_dims)):
            if isinstance(value, Tensor):
                value = value.unsqueeze(0) if dim is None else value.movedim(dim, 0)
                clouds = value.shape[1] if arguments[flag] else None
                folded[place] = _folded(value, size, clouds)
        folded[flag] = True
        result = call(*folded)
        if isinstance(result, Tensor):
            return _unfolded(result, size, clouds), 0
        # Results not requested are empty tensors.
        parts = [part if part.dim() == 1 else _unfolded(part, size, clouds) for part in result]
        return tuple(parts), tuple([None if part.dim() == 1 else 0 for part in result])

    return rule


def vmapped_along(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the rule for an operator whose tensors may have any axes before the last."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
        moved = []
        for value, dim in zip(arguments, in_dims):
            if isinstance(value, Tensor):
                value = value.unsqueeze(0) if dim is None else value.movedim(dim, 0)
                value = value.expand(info.batch_size, *value.shape[1:])
            moved.append(value)
        return call(*moved), 0

    return rule


def _folded(value: Tensor, size: int, clouds: int | None) -> Tensor:
    """Reshapes (V or 1, B or 1, ...) to (V * B, ...); without clouds (V or 1, ...) to (V, ...)."""
    if clouds is None:
        return value.expand(size, *value.shape[1:])
    return value.expand(size, clouds, *value.shape[2:]).reshape(size * clouds, *value.shape[2:])


def _unfolded(value: Tensor, size: int, clouds: int | None) -> Tensor:
    return value if clouds is None else value.reshape(size, clouds, *value.shape[1:])


# ------------------------------------------------------------------------------ torch.autocast


def _widen(name: str, call: Callable[..., Any]) -> None:
    """Makes an operator compute in float32 under autocast."""

    def widened(*arguments: Any) -> Any:
        device = arguments[0].device.type
        with torch.autocast(device, enabled=False):
            return call(*[_widened(value) for value in arguments])

    for key in ("AutocastCPU", "AutocastCUDA"):
        _library.impl(name, widened, key)


def _widened(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.dtype in HALVES else value
