"""``gather`` and ``gather_max`` with their gradients, which are differentiable operators, too: all of
them are linear in the values.

By operator, ``_keep`` returns the tensors that derivatives read, ``_send`` the gradients of the arguments, and
``_push`` the tangents of the results."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from . import formulas
from . import values_kernels as kernels
from .calls import call, differentiably, is_plain
from .registration import define, differentiate_anywhere, vmapped, vmapped_by_flag

_by_flag_3, _by_flag_5 = partial(vmapped_by_flag, 3), partial(vmapped_by_flag, 5)

# ------------------------------------------------------------------------------------ gather


def _fake_gather(values: Tensor, indices: Tensor, threads: int | None) -> Tensor:
    return values.new_empty((*indices.shape, values.shape[-1]))


def _fake_gather_backward(
    indices: Tensor, grad: Tensor, rows: int, batch: bool, threads: int | None
) -> Tensor:
    sizes = kernels.sizes_of(indices, rows, grad.shape[-1], batch)
    return grad.new_empty(kernels.shape_of_values(sizes, batch))


gather_operator = define(
    "gather(Tensor values, Tensor indices, int? threads) -> Tensor", _fake_gather, kernels.gather, widens=False
)
gather_backward_operator = define(
    "gather_backward(Tensor indices, Tensor grad, SymInt rows, bool batch, int? threads) -> Tensor",
    _fake_gather_backward, kernels.gather_backward, widens=False,
    rule=_by_flag_3,
)


def _keep_gather(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> tuple[Tensor, ...]:
    values, indices, ctx.threads = inputs
    ctx.rows, ctx.batch = values.shape[-2], values.dim() == 3
    return (indices,)


def _send_gather(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    (indices,) = ctx.saved_tensors
    run = kernels.gather_backward if is_plain(grad, indices) else gather_backward_call
    return run(indices, grad, ctx.rows, ctx.batch, ctx.threads), None, None


def _push_gather(ctx: Any, of_values: Tensor, *_: Any) -> Tensor:
    tangent: Tensor = gather_call(of_values, ctx.saved_tensors[0], ctx.threads)
    return tangent


def _keep_gather_backward(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> tuple[Tensor, ...]:
    ctx.rows, ctx.batch, ctx.threads = inputs[2:]
    return inputs[:1]


def _send_gather_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return None, gather_call(grad, ctx.saved_tensors[0], ctx.threads), None, None, None


def _push_gather_backward(ctx: Any, _: Any, of_grad: Tensor, *__: Any) -> Tensor:
    tangent: Tensor = gather_backward_call(
        ctx.saved_tensors[0], of_grad, ctx.rows, ctx.batch, ctx.threads
    )
    return tangent


gather_call = differentiate_anywhere(
    "gather", gather_operator, vmapped, _keep_gather, _send_gather, _push_gather,
    formulas.gather,
)
gather_backward_call = differentiate_anywhere(
    "gather_backward", gather_backward_operator, _by_flag_3, _keep_gather_backward,
    _send_gather_backward, _push_gather_backward,
)


# -------------------------------------------------------------------------------- gather_max


def _fake_gather_max(
    values: Tensor, indices: Tensor, add: Tensor | None, threads: int | None
) -> tuple[Tensor, Tensor]:
    maxima = values.new_empty((*indices.shape[:-1], values.shape[-1]))
    return maxima, torch.empty_like(maxima, dtype=torch.int32)


def _fake_gather_max_backward(
    indices: Tensor, chosen: Tensor, grad: Tensor, rows: int, add: bool, batch: bool,
    threads: int | None,
) -> tuple[Tensor, Tensor]:
    of_values = _fake_gather_backward(indices, grad, rows, batch, threads)
    return of_values, grad.new_empty((*indices.shape, grad.shape[-1]) if add else 0)


gather_max_operator = define(
    "gather_max(Tensor values, Tensor indices, Tensor? add, int? threads) -> (Tensor, Tensor)",
    _fake_gather_max, kernels.gather_max, widens=False,
)
gather_max_backward_operator = define(
    "gather_max_backward(Tensor indices, Tensor chosen, Tensor grad, SymInt rows, bool add, "
    "bool batch, int? threads) -> (Tensor, Tensor)",
    _fake_gather_max_backward, kernels.gather_max_backward, widens=False,
    rule=_by_flag_5,
)


def _keep_gather_max(
    ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    values, indices, add, ctx.threads = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.rows, ctx.add, ctx.batch = values.shape[-2], add is not None, values.dim() == 3
    return indices, output[1]


def _send_gather_max(ctx: Any, grad: Tensor, _: Any = None) -> tuple[Any, ...]:
    indices, chosen = ctx.saved_tensors
    add = ctx.add and ctx.needs_input_grad[2]
    plain = is_plain(grad, indices, chosen)
    run = kernels.gather_max_backward if plain else gather_max_backward_call
    of_values, of_add = run(indices, chosen, grad, ctx.rows, add, ctx.batch, ctx.threads)
    return of_values, None, of_add if add else None, None


def _push_gather_max(
    ctx: Any, of_values: Tensor, _: Any, of_add: Any, __: Any
) -> tuple[Any, ...]:
    return _chosen_sums(ctx, of_values, of_add), None


def _keep_gather_max_backward(
    ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    ctx.rows, ctx.add, ctx.batch, ctx.threads = inputs[3:]
    return inputs[:2]


def _send_gather_max_backward(
    ctx: Any, of_values: Tensor, of_add: Tensor
) -> tuple[Any, ...]:
    return None, None, _chosen_sums(ctx, of_values, of_add), None, None, None, None


def _chosen_sums(ctx: Any, of_values: Tensor, of_add: Any) -> Tensor:
    return formulas.chosen_sums(of_values, of_add if ctx.add else None, *ctx.saved_tensors)


def _push_gather_max_backward(ctx: Any, _: Any, __: Any, of_grad: Tensor, *___: Any) -> Any:
    how = ctx.rows, ctx.add, ctx.batch, ctx.threads
    return gather_max_backward_call(*ctx.saved_tensors, of_grad, *how)


gather_max_call = differentiate_anywhere(
    "gather_max", gather_max_operator, vmapped, _keep_gather_max, _send_gather_max, _push_gather_max,
    formulas.gather_max,
)
gather_max_backward_call = differentiate_anywhere(
    "gather_max_backward", gather_max_backward_operator, _by_flag_5, _keep_gather_max_backward,
    _send_gather_max_backward, _push_gather_max_backward,
)


# ------------------------------------------------------------------------------------- calls

gather_differentiably = differentiably(
    kernels.gather, _send_gather, _keep_gather, kernels.answer_to
)
gather_max_differentiably = differentiably(
    kernels.gather_max, _send_gather_max, _keep_gather_max
)


def gather(values: Tensor, indices: Tensor, threads: int | None) -> Tensor:
    """Returns the indexed rows, from checked arguments."""
    tensors = values, indices
    result: Tensor = call(gather_call, kernels.gather, gather_differentiably, tensors, threads)
    return result


def gather_max(
    values: Tensor, indices: Tensor, add: Tensor | None, threads: int | None
) -> Tensor:
    """Returns the maximum over the indexed rows."""
    tensors = values, indices, add
    result: Tensor
    result = call(gather_max_call, _gather_max, gather_max_differentiably, tensors, threads)[0]
    return result


def _gather_max(
    values: Tensor, indices: Tensor, add: Tensor | None, threads: int | None
) -> tuple[Tensor, Tensor]:
    """Runs the kernel without the data that only gradients need."""
    return kernels.gather_max(values, indices, add, threads, False)
