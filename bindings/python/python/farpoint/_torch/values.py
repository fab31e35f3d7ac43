"""``gather`` and ``gather_max`` with their gradients, which are differentiable operators, too: all of
them are linear in the values."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from . import values_kernels as kernels
from .calls import call, differentiably, is_plain
from .registration import define, differentiate_anywhere, vmapped, vmapped_by_flag

_by_flag_3, _by_flag_5 = partial(vmapped_by_flag, 3), partial(vmapped_by_flag, 5)

# ------------------------------------------------------------------------------------ gather


def _fake_gather(values: Tensor, indices: Tensor) -> Tensor:
    return values.new_empty((*indices.shape, values.shape[-1]))


def _fake_gather_backward(indices: Tensor, grad: Tensor, rows: int, batch: bool) -> Tensor:
    sizes = kernels.sizes_of(indices, rows, grad.shape[-1], batch)
    return grad.new_empty(kernels.shape_of_values(sizes, batch))


gather_operator = define(
    "gather(Tensor values, Tensor indices) -> Tensor", _fake_gather, kernels.gather, widens=False
)
gather_backward_operator = define(
    "gather_backward(Tensor indices, Tensor grad, SymInt rows, bool batch) -> Tensor",
    _fake_gather_backward, kernels.gather_backward, widens=False,
    rule=_by_flag_3,
)


def _keep_gather(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    values, indices = inputs
    ctx.save_for_backward(indices)
    ctx.rows, ctx.batch = values.shape[-2], values.dim() == 3


def _send_gather(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    (indices,) = ctx.saved_tensors
    run = kernels.gather_backward if is_plain(grad, indices) else gather_backward_call
    return run(indices, grad, ctx.rows, ctx.batch), None


def _keep_gather_backward(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0])


def _send_gather_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return None, gather_call(grad, ctx.saved_tensors[0]), None, None


gather_call = differentiate_anywhere(
    "gather", gather_operator, vmapped, _send_gather, _keep_gather
)
gather_backward_call = differentiate_anywhere(
    "gather_backward", gather_backward_operator, _by_flag_3, _send_gather_backward,
    _keep_gather_backward,
)


# -------------------------------------------------------------------------------- gather_max


def _fake_gather_max(
    values: Tensor, indices: Tensor, add: Tensor | None
) -> tuple[Tensor, Tensor]:
    maxima = values.new_empty((*indices.shape[:-1], values.shape[-1]))
    return maxima, torch.empty_like(maxima, dtype=torch.int32)


def _fake_gather_max_backward(
    indices: Tensor, chosen: Tensor, grad: Tensor, rows: int, add: bool, batch: bool
) -> tuple[Tensor, Tensor]:
    of_values = _fake_gather_backward(indices, grad, rows, batch)
    return of_values, grad.new_empty((*indices.shape, grad.shape[-1]) if add else 0)


gather_max_operator = define(
    "gather_max(Tensor values, Tensor indices, Tensor? add) -> (Tensor, Tensor)",
    _fake_gather_max, kernels.gather_max, widens=False,
)
gather_max_backward_operator = define(
    "gather_max_backward(Tensor indices, Tensor chosen, Tensor grad, SymInt rows, bool add, "
    "bool batch) -> (Tensor, Tensor)",
    _fake_gather_max_backward, kernels.gather_max_backward, widens=False,
    rule=_by_flag_5,
)


def _keep_gather_max(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    values, indices, add = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(indices, output[1])
    ctx.rows, ctx.add, ctx.batch = values.shape[-2], add is not None, values.dim() == 3


def _send_gather_max(ctx: Any, grad: Tensor, _: Any = None) -> tuple[Any, ...]:
    indices, chosen = ctx.saved_tensors
    add = ctx.add and ctx.needs_input_grad[2]
    plain = is_plain(grad, indices, chosen)
    run = kernels.gather_max_backward if plain else gather_max_backward_call
    of_values, of_add = run(indices, chosen, grad, ctx.rows, add, ctx.batch)
    return of_values, None, of_add if add else None


def _keep_gather_max_backward(
    ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]
) -> None:
    ctx.save_for_backward(inputs[0], inputs[1])
    ctx.add = inputs[4]


def _send_gather_max_backward(
    ctx: Any, of_values: Tensor, of_add: Tensor
) -> tuple[Any, ...]:
    """Returns the gradients at the chosen positions."""
    indices, chosen = ctx.saved_tensors
    place = chosen.clamp(min=0).long()
    rows = indices.gather(-1, place).clamp(min=0).long()
    gathered = of_values.gather(-2, rows)
    if ctx.add:
        gathered = gathered + of_add.gather(-2, place.unsqueeze(-2)).squeeze(-2)
    return None, None, gathered.masked_fill(chosen < 0, 0), None, None, None


gather_max_call = differentiate_anywhere(
    "gather_max", gather_max_operator, vmapped, _send_gather_max, _keep_gather_max
)
gather_max_backward_call = differentiate_anywhere(
    "gather_max_backward", gather_max_backward_operator, _by_flag_5,
    _send_gather_max_backward, _keep_gather_max_backward,
)


# ------------------------------------------------------------------------------------- calls

gather_differentiably = differentiably(
    kernels.gather, _send_gather, _keep_gather, kernels.answer
)
gather_max_differentiably = differentiably(
    kernels.gather_max, _send_gather_max, _keep_gather_max
)


def gather(values: Tensor, indices: Tensor) -> Tensor:
    """Returns the indexed rows, from checked arguments."""
    tensors = values, indices
    result: Tensor = call(gather_call, kernels.gather, gather_differentiably, tensors)
    return result


def gather_max(values: Tensor, indices: Tensor, add: Tensor | None) -> Tensor:
    """Returns the maximum over the indexed rows."""
    tensors = values, indices, add
    result: Tensor = call(gather_max_call, _gather_max, gather_max_differentiably, tensors)[0]
    return result


def _gather_max(values: Tensor, indices: Tensor, add: Tensor | None) -> tuple[Tensor, Tensor]:
    """Runs the kernel without the data that only gradients need."""
    return kernels.gather_max(values, indices, add, False)
