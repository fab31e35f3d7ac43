"""``interpolate`` and ``inverse_distance_weights`` with their gradients, which are differentiable operators, too."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import values_kernels as kernels
from .calls import call, differentiably, is_plain
from .registration import define, differentiate_anywhere, vmapped, vmapped_along

# ------------------------------------------------------------------------------- interpolate


def _fake_interpolate(values: Tensor, indices: Tensor, weights: Tensor) -> Tensor:
    return values.new_empty((*indices.shape[:-1], values.shape[-1]))


def _fake_interpolate_backward(
    values: Tensor, indices: Tensor, weights: Tensor, grad: Tensor, of_values: bool,
    of_weights: bool,
) -> tuple[Tensor, Tensor]:
    return (
        values.new_empty(values.shape if of_values else 0),
        weights.new_empty(weights.shape if of_weights else 0),
    )


interpolate_operator = define(
    "interpolate(Tensor values, Tensor indices, Tensor weights) -> Tensor",
    _fake_interpolate, kernels.interpolate, widens=False,
)
interpolate_backward_operator = define(
    "interpolate_backward(Tensor values, Tensor indices, Tensor weights, Tensor grad, "
    "bool of_values, bool of_weights) -> (Tensor, Tensor)",
    _fake_interpolate_backward, kernels.interpolate_backward, widens=False,
)


def _keep_interpolate(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _send_interpolate(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    values, indices, weights = ctx.saved_tensors
    needed = ctx.needs_input_grad[0], ctx.needs_input_grad[2]
    plain = is_plain(values, indices, weights, grad)
    run = kernels.interpolate_backward if plain else interpolate_backward_call
    of_values, of_weights = run(values, indices, weights, grad, *needed)
    return of_values if needed[0] else None, None, of_weights if needed[1] else None


def _keep_interpolate_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs[:4])
    ctx.wanted = inputs[4:]


def _send_interpolate_backward(
    ctx: Any, of_values: Tensor, of_weights: Tensor
) -> tuple[Any, ...]:
    """Returns the second derivatives: the sums and both gradients are linear in the values and in the weights."""
    values, indices, weights, grad = ctx.saved_tensors
    to_values = to_weights = to_grad = None
    if ctx.wanted[0]:
        to_grad = interpolate_call(of_values, indices, weights)
        to_weights = interpolate_backward_call(
            of_values, indices, weights, grad, False, True
        )[1]
    if ctx.wanted[1]:
        more = interpolate_call(values, indices, of_weights)
        to_grad = more if to_grad is None else to_grad + more
        to_values = interpolate_backward_call(
            values, indices, of_weights, grad, True, False
        )[0]
    return to_values, None, to_weights, to_grad, None, None


interpolate_call = differentiate_anywhere(
    "interpolate", interpolate_operator, vmapped, _send_interpolate, _keep_interpolate
)
interpolate_backward_call = differentiate_anywhere(
    "interpolate_backward", interpolate_backward_operator, vmapped,
    _send_interpolate_backward, _keep_interpolate_backward,
)


# ----------------------------------------------------------------------------------- weights


def _fake_weights(distances: Tensor, *_: Any) -> Tensor:
    return distances.new_empty(distances.shape)


weights_operator = define(
    "inverse_distance_weights(Tensor distances, int power, float eps) -> Tensor",
    _fake_weights, kernels.weights, rule=vmapped_along,
)
weights_backward_operator = define(
    "inverse_distance_weights_backward(Tensor distances, Tensor grad, int power, float eps) "
    "-> Tensor",
    _fake_weights, kernels.weights_backward, rule=vmapped_along,
)


def _keep_weights(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(inputs[0])
    ctx.how = inputs[1:]


def _send_weights(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    (distances,) = ctx.saved_tensors
    run = kernels.weights_backward if is_plain(distances, grad) else weights_backward_call
    return run(distances, grad, *ctx.how), None, None


def _keep_weights_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs[:2])
    ctx.how = inputs[2:]


def _send_weights_backward(ctx: Any, of_distances: Tensor) -> tuple[Any, ...]:
    """Returns the second derivatives by PyTorch's own operations."""
    create_graph = torch.is_grad_enabled()
    with torch.enable_grad():
        parts = [part if part.requires_grad else part.detach().requires_grad_()
                 for part in ctx.saved_tensors]
        formula = _formula(*parts, *ctx.how)
        sent = torch.autograd.grad(formula, parts, of_distances, create_graph=create_graph)
    return (*sent, None, None)


def _formula(distances: Tensor, grad: Tensor, power: int, eps: float) -> Tensor:
    """Returns the gradient of the distances."""
    is_finite = distances.isfinite()
    finite = distances.masked_fill(~is_finite, 1)
    raised = (1 / (finite.pow(power) + eps)).masked_fill(~is_finite, 0)
    total = raised.sum(-1, keepdim=True)
    total = total.masked_fill(total == 0, 1)
    weights = raised / total
    pulled = (grad - (grad * weights).sum(-1, keepdim=True)) / total
    slope = finite * 2 if power == 2 else torch.ones_like(finite)
    return -pulled * raised * raised * slope


weights_call = differentiate_anywhere(
    "inverse_distance_weights", weights_operator, vmapped_along, _send_weights, _keep_weights
)
weights_backward_call = differentiate_anywhere(
    "inverse_distance_weights_backward", weights_backward_operator, vmapped_along,
    _send_weights_backward, _keep_weights_backward,
)


# ------------------------------------------------------------------------------------- calls

interpolate_differentiably = differentiably(
    kernels.interpolate, _send_interpolate, _keep_interpolate, kernels.answer
)
weights_differentiably = differentiably(kernels.weights, _send_weights, _keep_weights)


def interpolate(values: Tensor, indices: Tensor, weights: Tensor) -> Tensor:
    """Returns weighted sums of the indexed rows, from checked arguments."""
    tensors = values, indices, weights
    result: Tensor
    result = call(interpolate_call, kernels.interpolate, interpolate_differentiably, tensors)
    return result


def inverse_distance_weights(distances: Tensor, power: int, eps: float) -> Tensor:
    """Returns the weights of neighbors at these distances."""
    result: Tensor
    result = call(
        weights_call, kernels.weights, weights_differentiably, (distances,), power, eps
    )
    return result
