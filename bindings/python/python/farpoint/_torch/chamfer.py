"""Chamfer distance as one operator, which returns the value of each pair and the tensors its gradient needs.

A training step takes less time than Python needs to pass its arguments. So on a GPU the
compiled module receives the shapes once, in a cached plan, and then only addresses: one call searches
and reduces, one call computes both gradients. Where only kernels would see the operator it is bypassed.
Everything else (second derivatives, dual numbers, ``torch.func``) goes through
``search`` and PyTorch's own operations.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _native, _progress
from .._records import Reduction
from . import derivatives, fast_path, memory, search
from .registration import define, differentiate, map_by, vmapped


def chamfer(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, how: Reduction
) -> Tensor:
    """Returns one value per cloud, from checked clouds and lengths."""
    if not fast_path.only_kernels_see(x, y, x_lengths, y_lengths):
        if derivatives.are_needed():
            return search.reduced(x, y, x_lengths, y_lengths, how)
        value: Tensor = operator(x, y, x_lengths, y_lengths, *how)[0]
        return value
    if torch.is_grad_enabled() and (x.requires_grad or y.requires_grad):
        differentiable: Tensor = _differentiably(x, y, x_lengths, y_lengths, how)
        return differentiable
    return _kernel(x, y, x_lengths, y_lengths, how, False)[0]


def keeps_distances(how: Reduction) -> bool:
    """Returns whether gradients need the distances."""
    return how.plain or how.reduction == "max"


# ---------------------------------------------------------------------------------- kernels


def _kernel(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, how: Reduction,
    keep: bool,
) -> tuple[Tensor, Any, Any]:
    """Returns values and, with ``keep``, the concatenated indices of the nearest points of x and of y, and
    likewise the distances, followed by the data of maxima."""
    run = _on_cuda if x.is_cuda else _on_cpu
    return run(x, y, x_lengths, y_lengths, how, keep)


def _on_cpu(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, how: Reduction,
    keep: bool,
) -> tuple[Tensor, Any, Any]:
    batches = memory.batches_of(x, y, x_lengths, y_lengths)
    arrays = _native.chamfer_clouds(batches, how, keep, _progress.callback())
    value = torch.from_numpy(arrays[0]).to(x.dtype)
    if x.dim() == 2:
        value = value[0].clone()
    if not keep:
        return value, None, None
    return value, torch.from_numpy(arrays[1]), torch.from_numpy(arrays[2])


class Plan:
    """Plan of a step for given shapes of clouds on a GPU."""

    __slots__ = ("forward", "backward", "scratch", "value", "indices", "distances", "x", "y")

    def __init__(self, x: Tensor, y: Tensor, how: Reduction) -> None:
        memory.refuse_other_types(x)
        if x.dtype != y.dtype:
            raise TypeError(f"both clouds must be of the same type, not {x.dtype} and {y.dtype}")
        (_, x_strides), (_, y_strides) = memory.addressable(x), memory.addressable(y)
        pairs, n, dims = memory.batch_shape(x)
        m = y.shape[-2]
        compiled = _native.CudaChamfer(
            x.get_device(), x.dtype == torch.float64, (pairs, n, m, dims), (x_strides, y_strides),
            how.norm, how.plain, how.reduction, how.both,
        )
        self.forward, self.backward = compiled.forward, compiled.backward
        self.scratch = compiled.scratch
        #: Shapes and sizes of the outputs.
        self.value = tuple(x.shape[:-2])
        self.indices, self.distances = _places(pairs, n, m, how)
        self.x, self.y = tuple(x.shape), tuple(y.shape)


def _places(pairs: Any, n: Any, m: Any, how: Reduction) -> tuple[Any, Any]:
    """Returns the number of indices and distances."""
    rows = pairs * (n + m) if how.both else pairs * n
    return rows, rows + _EXTREMES * pairs if how.reduction == "max" else rows


#: Numbers kept for the maximum of each pair: the maxima of both sides, and the divisors of gradients.
_EXTREMES = 4

#: Cached plans by shape, and their maximum number.
_plans: dict[Any, Plan] = {}
_MAX_PLANS = 1024


def plan_of(x: Tensor, y: Tensor, how: Reduction) -> Plan:
    key = x.shape, y.shape, x.stride(), y.stride(), x.dtype, y.dtype, x.get_device(), how
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        plan = _plans[key] = Plan(x, y, how)
    return plan


def _on_cuda(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, how: Reduction,
    keep: bool,
) -> tuple[Tensor, Any, Any]:
    """Queues search and reduction on the current stream. Does not synchronize."""
    plan = plan_of(x, y, how)
    # Copies and scratch are named, so that none is freed before it is used.
    x, y = _even(x), _even(y)
    value, distances = x.new_empty(plan.value), x.new_empty(plan.distances)
    indices = x.new_empty(plan.indices, dtype=torch.int64) if keep else None
    if not plan.indices:  # no pairs: empty memory has no address
        return value, indices, distances
    size = plan.scratch[0]
    scratch = x.new_empty(size, dtype=torch.uint8) if size else None
    plan.forward(
        fast_path.current_stream(x.get_device()), x.data_ptr(), y.data_ptr(),
        _address(x_lengths), _address(y_lengths), value.data_ptr(), distances.data_ptr(),
        _address(indices), _address(scratch),
    )
    return value, indices, distances


_address = memory.address_of


def _even(clouds: Tensor) -> Tensor:
    """Returns clouds with evenly spaced rows, copied if necessary."""
    return clouds if clouds.is_contiguous() else memory.addressable(clouds)[0]


# --------------------------------------------------------------------------------- gradients


def _gradients(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, indices: Tensor,
    distances: Tensor | None, grad: Tensor, how: Reduction, of_x: bool = True, of_y: bool = True,
) -> tuple[Any, Any]:
    """Returns the gradients of the clouds from those of the values; gradients that are not needed may be None."""
    arguments = x, y, x_lengths, y_lengths, indices, distances, grad, how
    if x.is_cuda:
        return _gradients_on_cuda(*arguments, of_x, of_y)
    kept = grad.new_empty(0) if distances is None else distances
    arrays = _native.chamfer_backward(
        memory.batches_of(x, y, x_lengths, y_lengths), indices.numpy(), kept.numpy(),
        grad.reshape(-1).numpy(), how,
    )
    return torch.from_numpy(arrays[0]), torch.from_numpy(arrays[1])


def _gradients_on_cuda(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, indices: Tensor,
    distances: Tensor | None, grad: Tensor, how: Reduction, of_x: bool, of_y: bool,
) -> tuple[Any, Any]:
    plan = plan_of(x, y, how)
    x, y = _even(x), _even(y)
    # Dense, as declared to torch.compile, whatever the strides of the clouds.
    gx = x.new_empty(plan.x) if of_x else None
    gy = x.new_empty(plan.y) if of_y else None
    if not plan.indices:
        return gx, gy
    size = plan.scratch[1]
    scratch = x.new_empty(size, dtype=torch.uint8) if size else None
    plan.backward(
        fast_path.current_stream(x.get_device()), x.data_ptr(), y.data_ptr(),
        _address(x_lengths), _address(y_lengths), _address(distances), indices.data_ptr(),
        grad.data_ptr(), grad.stride(0) if plan.value else 0, _address(gx), _address(gy),
        _address(scratch),
    )
    return gx, gy


def _again(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, grad: Tensor,
    how: Reduction,
) -> tuple[Tensor | None, ...]:
    """Returns the gradients by a separate search and PyTorch's operations, which can be differentiated
    again and transformed."""
    clouds = [cloud for cloud in (x, y) if cloud.requires_grad]
    with torch.enable_grad():
        value = search.reduced(x, y, x_lengths, y_lengths, how)
        gradients = iter(torch.autograd.grad(value, clouds, grad, create_graph=True))
    return tuple([next(gradients) if cloud.requires_grad else None for cloud in (x, y)])


def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    """Returns the gradients of both clouds."""
    x, y, indices, distances, x_lengths, y_lengths = ctx.saved_tensors
    is_observed = torch.is_grad_enabled() or not fast_path.only_kernels_see(grad, indices)
    if not is_observed:
        needs = ctx.needs_input_grad
        lengths = x_lengths, y_lengths
        return _gradients(x, y, *lengths, indices, distances, grad, ctx.how, needs[0], needs[1])
    lengths = memory.within_both(x_lengths, y_lengths, x.shape[-2], y.shape[-2])
    if torch.is_grad_enabled() or fast_path.is_batched(grad):
        return _again(x, y, *lengths, grad, ctx.how)
    sent: tuple[Tensor, Tensor]
    sent = operator_backward(x, y, *lengths, indices, distances, grad, *ctx.how)
    return sent


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...], how: Reduction) -> None:
    x, y, x_lengths, y_lengths = inputs
    distances = output[2] if keeps_distances(how) else None
    ctx.save_for_backward(x, y, output[1], distances, x_lengths, y_lengths)
    ctx.how = how


class _Chamfer(torch.autograd.Function):
    """Kernels with their gradients, bypassing the operator."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None,
        how: Reduction,
    ) -> Tensor:
        outputs = _kernel(x, y, x_lengths, y_lengths, how, True)
        _keep(ctx, (x, y, x_lengths, y_lengths), outputs, how)
        return outputs[0]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return (*backward(ctx, grad), None, None, None)


_differentiably = fast_path.apply_of(_Chamfer)


# --------------------------------------------------------------------------------- operators


def _fake(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    plain: bool, reduction: str, both: bool, threads: int | None,
) -> tuple[Tensor, Tensor, Tensor]:
    pairs, n, _ = memory.batch_shape(x)
    how = Reduction(norm, plain, reduction, both, threads)
    indices, distances = _places(pairs, n, y.shape[-2], how)
    value = x.new_empty(x.shape[:-2])
    return value, x.new_empty(indices, dtype=torch.int64), x.new_empty(distances)


def _operator(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, *how: Any
) -> tuple[Any, ...]:
    return _kernel(x, y, x_lengths, y_lengths, Reduction(*how), True)


_HOW = "int norm, bool plain, str reduction, bool both, int? threads"

operator = define(
    f"chamfer(Tensor x, Tensor y, Tensor? x_lengths, Tensor? y_lengths, {_HOW}) "
    "-> (Tensor, Tensor, Tensor)",
    _fake, _operator, folds=False,
)


def _fake_backward(x: Tensor, y: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), y.new_empty(y.shape)


def _operator_backward(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, indices: Tensor,
    distances: Tensor | None, grad: Tensor, *how: Any,
) -> tuple[Any, ...]:
    return _gradients(
        x, y, x_lengths, y_lengths, indices, distances, grad, Reduction(*how)
    )


operator_backward = define(
    "chamfer_backward(Tensor x, Tensor y, Tensor? x_lengths, Tensor? y_lengths, Tensor indices, "
    f"Tensor? distances, Tensor grad, {_HOW}) -> (Tensor, Tensor)",
    _fake_backward, _operator_backward, folds=False,
)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    ctx.mark_non_differentiable(*output[1:])
    _keep(ctx, inputs[:4], output, Reduction(*inputs[4:]))


def _operator_gradients(ctx: Any, grad: Tensor, *_: Any) -> tuple[Any, ...]:
    return (*backward(ctx, grad), *(None,) * 7)


differentiate("chamfer", _operator_gradients, _setup)


def _vmapped(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
    """Applies the rule for ``torch.vmap``: one call with a larger batch. Tensors saved for its gradient
    have no mapped axis."""
    kept: list[Tensor] = []

    def call(*folded: Any) -> Tensor:
        value: Tensor
        value, *rest = operator(*folded)
        kept.extend(rest)
        return value

    value, dim = vmapped(call)(info, in_dims, *arguments)
    return (value, *kept), (dim, None, None)


map_by("chamfer", _vmapped)
