"""``interpolate`` and ``inverse_distance_weights`` with their gradients, which are differentiable operators, too."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import formulas
from . import values_kernels as kernels
from .calls import call, differentiably, is_plain
from .formulas import terms
from .registration import define, differentiate_anywhere, vmapped, vmapped_along

# ------------------------------------------------------------------------------- interpolate


def _fake_interpolate(
    values: Tensor, indices: Tensor, weights: Tensor, threads: int | None
) -> Tensor:
    return values.new_empty((*indices.shape[:-1], values.shape[-1]))


def _fake_interpolate_backward(
    values: Tensor, indices: Tensor, weights: Tensor, grad: Tensor, of_values: bool,
    of_weights: bool, threads: int | None,
) -> tuple[Tensor, Tensor]:
    return (
        values.new_empty(values.shape if of_values else 0),
        weights.new_empty(weights.shape if of_weights else 0),
    )


interpolate_operator = define(
    "interpolate(Tensor values, Tensor indices, Tensor weights, int? threads) -> Tensor",
    _fake_interpolate, kernels.interpolate, widens=False,
)
interpolate_backward_operator = define(
    "interpolate_backward(Tensor values, Tensor indices, Tensor weights, Tensor grad, "
    "bool of_values, bool of_weights, int? threads) -> (Tensor, Tensor)",
    _fake_interpolate_backward, kernels.interpolate_backward, widens=False,
)


def _keep_interpolate(ctx: Any, inputs: tuple[Any, ...], output: Any) -> tuple[Tensor, ...]:
    ctx.threads = inputs[3]
    return inputs[:3]


def _send_interpolate(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    values, indices, weights = ctx.saved_tensors
    needed = ctx.needs_input_grad[0], ctx.needs_input_grad[2]
    plain = is_plain(values, indices, weights, grad)
    run = kernels.interpolate_backward if plain else interpolate_backward_call
    of_values, of_weights = run(values, indices, weights, grad, *needed, ctx.threads)
    return of_values if needed[0] else None, None, of_weights if needed[1] else None, None


def _push_interpolate(
    ctx: Any, of_values: Tensor, _: Any, of_weights: Tensor, __: Any
) -> Tensor:
    values, indices, weights = ctx.saved_tensors
    tangent: Tensor = interpolate_call(of_values, indices, weights, ctx.threads)
    tangent = tangent + interpolate_call(values, indices, of_weights, ctx.threads)
    return tangent


def _keep_interpolate_backward(
    ctx: Any, inputs: tuple[Any, ...], output: Any
) -> tuple[Tensor, ...]:
    ctx.wanted, ctx.threads = inputs[4:6], inputs[6]
    return inputs[:4]


def _send_interpolate_backward(
    ctx: Any, of_values: Tensor, of_weights: Tensor
) -> tuple[Any, ...]:
    """Returns the second derivatives: the sums and both gradients are linear in the values and in the weights."""
    values, indices, weights, grad = ctx.saved_tensors
    to_values = to_weights = to_grad = None
    if ctx.wanted[0]:
        to_grad = interpolate_call(of_values, indices, weights, ctx.threads)
        to_weights = interpolate_backward_call(
            of_values, indices, weights, grad, False, True, ctx.threads
        )[1]
    if ctx.wanted[1]:
        more = interpolate_call(values, indices, of_weights, ctx.threads)
        to_grad = more if to_grad is None else to_grad + more
        to_values = interpolate_backward_call(
            values, indices, of_weights, grad, True, False, ctx.threads
        )[0]
    return to_values, None, to_weights, to_grad, None, None, None


def _push_interpolate_backward(
    ctx: Any, of_values: Tensor, _: Any, of_weights: Tensor, of_grad: Tensor, *__: Any
) -> tuple[Tensor, Tensor]:
    """Returns the tangents: each gradient is linear in that of the sums, and in the other argument."""
    values, indices, weights, grad = ctx.saved_tensors
    how = *ctx.wanted, ctx.threads
    first = interpolate_backward_call(values, indices, weights, of_grad, *how)
    second = interpolate_backward_call(of_values, indices, of_weights, grad, *how)
    return first[0] + second[0], first[1] + second[1]


interpolate_call = differentiate_anywhere(
    "interpolate", interpolate_operator, vmapped, _keep_interpolate, _send_interpolate,
    _push_interpolate, formulas.interpolate,
)
interpolate_backward_call = differentiate_anywhere(
    "interpolate_backward", interpolate_backward_operator, vmapped, _keep_interpolate_backward,
    _send_interpolate_backward, _push_interpolate_backward,
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


def _keep_weights(ctx: Any, inputs: tuple[Any, ...], output: Any) -> tuple[Tensor, ...]:
    ctx.how = inputs[1:]
    return inputs[:1]


def _send_weights(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    (distances,) = ctx.saved_tensors
    run = kernels.weights_backward if is_plain(distances, grad) else weights_backward_call
    return run(distances, grad, *ctx.how), None, None


def _push_weights(ctx: Any, of_distances: Tensor, *_: Any) -> Tensor:
    return _weights_moved(ctx.saved_tensors[0], of_distances, *ctx.how)


def _keep_weights_backward(
    ctx: Any, inputs: tuple[Any, ...], output: Any
) -> tuple[Tensor, ...]:
    ctx.how = inputs[2:]
    return inputs[:2]


def _send_weights_backward(ctx: Any, of_distances: Tensor) -> tuple[Any, ...]:
    """Returns the second derivatives, which are symmetric: as the tangents for ``of_distances``."""
    distances, grad = ctx.saved_tensors
    to_distances = _gradient_moved(distances, grad, of_distances, None, *ctx.how)
    return to_distances, _weights_moved(distances, of_distances, *ctx.how), None, None


def _push_weights_backward(ctx: Any, of_distances: Tensor, of_grad: Tensor, *_: Any) -> Tensor:
    distances, grad = ctx.saved_tensors
    return _gradient_moved(distances, grad, of_distances, of_grad, *ctx.how)


def _weights_moved(distances: Tensor, of_distances: Tensor, power: int, eps: float) -> Tensor:
    """Returns the tangents of the weights."""
    raised, total, slope = terms(distances, power, eps)
    moved = -raised * raised * slope * of_distances
    return (moved - raised / total * moved.sum(-1, keepdim=True)) / total


def _gradient_moved(
    distances: Tensor, grad: Tensor, of_distances: Tensor, of_grad: Tensor | None, power: int, eps: float
) -> Tensor:
    """Returns the tangents of the gradient of the distances, ``-pulled * raised * raised * slope``."""
    raised, total, slope = terms(distances, power, eps)
    weights, moved = raised / total, -raised * raised * slope * of_distances
    of_total = moved.sum(-1, keepdim=True)
    pulled = (grad - (grad * weights).sum(-1, keepdim=True)) / total
    of_mean = (grad * (moved - weights * of_total) / total).sum(-1, keepdim=True)
    of_pulled = -(of_mean + pulled * of_total) / total
    if of_grad is not None:
        of_pulled = of_pulled + (of_grad - (of_grad * weights).sum(-1, keepdim=True)) / total
    tangent = of_pulled * raised * slope + 2 * pulled * moved * slope
    if power == 2:
        tangent = tangent + 2 * pulled * raised * of_distances
    return -tangent * raised


weights_call = differentiate_anywhere(
    "inverse_distance_weights", weights_operator, vmapped_along, _keep_weights, _send_weights,
    _push_weights, formulas.weights,
)
weights_backward_call = differentiate_anywhere(
    "inverse_distance_weights_backward", weights_backward_operator, vmapped_along,
    _keep_weights_backward, _send_weights_backward, _push_weights_backward,
)


# ------------------------------------------------------------------------------------- calls

interpolate_differentiably = differentiably(
    kernels.interpolate, _send_interpolate, _keep_interpolate, kernels.answer_to
)
weights_differentiably = differentiably(kernels.weights, _send_weights, _keep_weights)


def interpolate(
    values: Tensor, indices: Tensor, weights: Tensor, threads: int | None
) -> Tensor:
    """Returns weighted sums of the indexed rows, from checked arguments."""
    tensors = values, indices, weights
    result: Tensor
    result = call(
        interpolate_call, kernels.interpolate, interpolate_differentiably, tensors, threads
    )
    return result


def inverse_distance_weights(distances: Tensor, power: int, eps: float) -> Tensor:
    """Returns the weights of neighbors at these distances."""
    result: Tensor
    result = call(
        weights_call, kernels.weights, weights_differentiably, (distances,), power, eps
    )
    return result
