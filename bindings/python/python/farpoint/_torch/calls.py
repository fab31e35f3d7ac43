"""Dispatch of operators on values: directly to the kernel where nothing else would see the call, which takes half as
long, else through the operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import fast_path


def is_plain(*tensors: Tensor | None) -> bool:
    """Returns whether only the kernel has to see a call in a backward pass."""
    return not torch.is_grad_enabled() and fast_path.only_kernels_see(*tensors)


def differentiably(kernel: Any, backward: Any, keep: Any, answer: Any = None) -> Any:
    """Returns a kernel with its gradient, bypassing the operator, for calls that only kernels would see. ``keep``
    returns the tensors that ``backward`` reads. The last argument of the call is None, or a plan cached by
    ``shape_cache``, from which ``answer`` computes the result."""

    def forward(ctx: Any, *arguments_and_plan: Any) -> Any:
        *arguments, prepared = arguments_and_plan
        result = kernel(*arguments) if prepared is None or answer is None else answer(prepared, *arguments)
        ctx.save_for_backward(*keep(ctx, arguments, result))
        return result

    def send(ctx: Any, *grads: Any) -> Any:
        return *backward(ctx, *grads), None

    body = {"forward": staticmethod(forward), "backward": staticmethod(send)}
    return fast_path.apply_of(type(kernel.__name__, (torch.autograd.Function,), body))


def wants_gradient(*tensors: Any) -> bool:
    """Returns whether a call has to be differentiable."""
    for tensor in tensors:
        if tensor is not None and tensor.requires_grad:
            return torch.is_grad_enabled()
    return False


def call(
    operator: Any, kernel: Any, with_gradient: Any, tensors: tuple[Any, ...], *rest: Any
) -> Any:
    """Calls the operator, the kernel, or the kernel with its gradient, as needed."""
    if not fast_path.only_kernels_see(*tensors):
        return operator(*tensors, *rest)
    if wants_gradient(*tensors):
        return with_gradient(*tensors, *rest, None)
    return kernel(*tensors, *rest)
