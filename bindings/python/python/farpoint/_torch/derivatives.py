"""Higher and forward-mode derivatives of nearest distances, and derivatives inside transforms of
``torch.func``.

Ordinary training needs none of this: there the operator has its gradient. This module has an autograd
function that supports transforms, and the derivative of the gradient. Both are composed of the
operators, so that sums have the same bits on every run, and of saved indices.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import fast_path
from .formulas import distance, follow
from .knn_kernels import tangents
from .neighbors import match_clouds, match_clouds_backward
from .registration import differentiate, vmapped


def are_needed() -> bool:
    """Returns whether a call has to go through ``search``, since dual numbers or a transform may see it."""
    if fast_path.is_dual():
        return True
    if torch.compiler.is_compiling():
        from . import tracing

        differentiated: bool = tracing.is_differentiated()
        return differentiated
    return fast_path.is_differentiated()


def _taken(clouds: Tensor, indices: Tensor) -> Tensor:
    """Returns the indexed points; arbitrary points for -1."""
    rows = indices.clamp(min=0).unsqueeze(-1).expand(*indices.shape, clouds.shape[-1])
    return clouds.gather(-2, rows)


def _growth(
    x: Tensor, y: Tensor, indices: Tensor, of_x: Tensor, of_y: Tensor, norm: int
) -> Tensor:
    """Returns the tangents of the distances of x from the tangents of the clouds."""
    difference, moved = x - _taken(y, indices), of_x - _taken(of_y, indices)
    return tangents(difference, moved, norm).masked_fill(indices < 0, 0)


class _Search(torch.autograd.Function):
    """Autograd function of ``match_clouds``."""

    @staticmethod
    def forward(*arguments: Any) -> tuple[Tensor, ...]:
        outputs: tuple[Tensor, ...] = match_clouds(*arguments)
        return outputs

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        x, y, _, _, norm, _, both = inputs
        ctx.mark_non_differentiable(*output[1::2])
        ctx.norm, ctx.both = norm, both
        ctx.save_for_backward(x, y, output[1], output[3])
        ctx.save_for_forward(x, y, output[1], output[3])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        x, y, ix, iy = ctx.saved_tensors
        gx, gy = grads[0], grads[2]
        if not ctx.both:
            iy = gy = None
        sent = _gradients(x, y, ix, iy, gx, gy, ctx.norm)
        return (*sent, None, None, None, None, None)

    @staticmethod
    def jvp(ctx: Any, of_x: Tensor, of_y: Tensor, *_: Any) -> tuple[Any, ...]:
        x, y, ix, iy = ctx.saved_tensors
        tangent_x = _growth(x, y, ix, of_x, of_y, ctx.norm)
        if not ctx.both:
            return tangent_x, None, y.new_zeros((*y.shape[:-2], 0)), None
        return tangent_x, None, _growth(y, x, iy, of_y, of_x, ctx.norm), None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        return vmapped(_search)(info, in_dims, *arguments)


class _Gradients(torch.autograd.Function):
    """Autograd function of ``match_clouds_backward``, which is linear in the gradients of the distances and, for norm
    2, in the clouds."""

    @staticmethod
    def forward(*arguments: Any) -> tuple[Tensor, ...]:
        outputs: tuple[Tensor, ...] = match_clouds_backward(*arguments)
        return outputs

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _keep(ctx, inputs, output)
        ctx.save_for_forward(*inputs[:6])

    @staticmethod
    def backward(ctx: Any, of_x: Any, of_y: Any) -> tuple[Any, ...]:
        return _backward(ctx, of_x, of_y, _gradients)

    @staticmethod
    def jvp(ctx: Any, of_x: Any, of_y: Any, _: Any, __: Any, of_gx: Any, of_gy: Any, ___: Any) -> Any:
        x, y, ix, iy, gx, gy = ctx.saved_tensors
        results = _gradients(x, y, ix, iy, of_gx, of_gy, ctx.norm)
        if ctx.norm == 2:
            moved = _gradients(of_x, of_y, ix, iy, gx, gy, ctx.norm)
            results = results[0] + moved[0], results[1] + moved[1]
        return results

    @staticmethod
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        return vmapped(_gradients)(info, in_dims, *arguments)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Saves the inputs for the derivative of the gradient."""
    ctx.save_for_backward(*inputs[:6])
    ctx.norm = inputs[6]


def _backward_of_gradients(ctx: Any, of_x: Tensor, of_y: Tensor) -> tuple[Any, ...]:
    """Returns the derivative of the operator ``match_clouds_backward``."""
    return _backward(ctx, of_x, of_y, match_clouds_backward)


def _backward(ctx: Any, of_x: Tensor, of_y: Tensor, send: Any) -> tuple[Any, ...]:
    """Returns the derivative of the gradients. A point and its nearest at difference a have gradients 2 g a and
    - 2 g a: linear in the points, and the derivative with respect to g is the tangent of the distances."""
    x, y, ix, iy, gx, gy = ctx.saved_tensors
    moved = None, None
    if ctx.norm == 2:
        moved = send(of_x.contiguous(), of_y.contiguous(), ix, iy, gx, gy, 2)
    back = None if iy is None else _growth(y, x, iy, of_y, of_x, ctx.norm)
    return (*moved, None, None, _growth(x, y, ix, of_x, of_y, ctx.norm), back, None)


differentiate("match_clouds_backward", _backward_of_gradients, _keep)


_search: Any = _Search.apply
_gradients: Any = _Gradients.apply


def search(x: Tensor, y: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    """Runs ``match_clouds`` for dual numbers and transforms."""
    if not torch.compiler.is_compiling():
        outputs: tuple[Tensor, ...] = _search(x, y, *rest)
        return outputs
    # torch.compile traces no autograd function inside transforms, only plain operations.
    dx, ix, dy, iy = match_clouds(x.detach(), y.detach(), *rest)
    norm, both = rest[2], rest[4]
    dx = _followed(dx, x, y, ix, norm)
    return dx, ix, _followed(dy, y, x, iy, norm) if both else dy, iy


def _followed(distances: Tensor, x: Tensor, y: Tensor, indices: Tensor, norm: int) -> Tensor:
    """Returns these distances with derivatives attached."""
    formula = distance(x - _taken(y, indices), norm)
    return follow(distances, formula.masked_fill(indices < 0, 0))
