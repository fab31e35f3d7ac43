"""PyTorch: the Chamfer distance as one operator, which returns the value of each pair and what its
gradient needs.

A step of a training is over sooner than Python can name what it consists of. So on a GPU the compiled
half is told shapes once, in a plan that is kept, and then addresses alone: one call searches and
reduces, one call makes both gradients. Where only kernels would see the operator it is not called at
all. Whatever is out of the ordinary (derivatives of derivatives, dual numbers, ``torch.func``) goes
through the search of ``_match_torch`` and PyTorch's own operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import _farpoint, _match_derivatives, _match_torch, _torch_ops, _torch_rules
from ._match import Asked


def chamfer(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, asked: Asked
) -> Tensor | None:
    """One value a cloud, of clouds and lengths that were checked; None if the call is out of the
    ordinary."""
    if not _torch_ops.only_kernels_see(x, y, x_lengths, y_lengths):
        if _match_derivatives.wanted():
            return None
        value: Tensor = operator(x, y, x_lengths, y_lengths, *asked)[0]
        return value
    if torch.is_grad_enabled() and (x.requires_grad or y.requires_grad):
        return _differentiably(asked, x, y, x_lengths, y_lengths)
    return _kernel(x, y, x_lengths, y_lengths, asked, False)[0]


def _keeps_distances(asked: Asked) -> bool:
    """Whether gradients need the distances."""
    return asked.plain or asked.reduction == "max"


# ---------------------------------------------------------------------------------- kernels


def _kernel(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, asked: Asked,
    keep: bool,
) -> tuple[Tensor, Any, Any]:
    """Values; and if they are to be kept, the indices of x's nearest points and then of y's in one
    row, and the distances likewise, with what is kept of maxima behind them."""
    run = _on_cuda if x.is_cuda else _on_cpu
    return run(x, y, x_lengths, y_lengths, asked, keep)


def _on_cpu(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, asked: Asked,
    keep: bool,
) -> tuple[Tensor, Any, Any]:
    if not hasattr(_farpoint, "chamfer_clouds"):
        raise NotImplementedError("this build of farpoint has no nearest neighbors")
    found = _farpoint.chamfer_clouds(
        _batch(x), _batch(y), None if x_lengths is None else x_lengths.tolist(),
        None if y_lengths is None else y_lengths.tolist(), asked, keep,
    )
    value = torch.from_numpy(found[0]).to(x.dtype)
    if x.dim() == 2:
        value = value[0].clone()
    if not keep:
        return value, None, None
    return value, torch.from_numpy(found[1]), torch.from_numpy(found[2])


def _batch(clouds: Tensor) -> np.ndarray:
    """The same memory as a batch of NumPy's."""
    array = _torch_ops.array_of(clouds)
    return array if array.ndim == 3 else array[None]


class _Plan:
    """What is the same in every step with clouds of some shape on a GPU."""

    __slots__ = ("forward", "backward", "scratch", "value", "indices", "distances", "x", "y")

    def __init__(self, x: Tensor, y: Tensor, asked: Asked) -> None:
        _torch_ops.refuse_other_types(x)
        if x.dtype != y.dtype:
            raise TypeError(f"both clouds must be of one type, not {x.dtype} and {y.dtype}")
        (_, x_strides), (_, y_strides) = _torch_ops.addressable(x), _torch_ops.addressable(y)
        pairs, n, dims = _torch_ops.batch_shape(x)
        m = y.shape[-2]
        compiled = _farpoint.CudaChamfer(
            x.get_device(), x.dtype == torch.float64, (pairs, n, m, dims), (x_strides, y_strides),
            asked.norm, asked.plain, asked.reduction, asked.both,
        )
        self.forward, self.backward = compiled.forward, compiled.backward
        self.scratch = compiled.scratch
        #: Sizes.
        self.value = tuple(x.shape[:-2])
        self.indices, self.distances = _places(pairs, n, m, asked)
        self.x, self.y = tuple(x.shape), tuple(y.shape)


def _places(pairs: Any, n: Any, m: Any, asked: Asked) -> tuple[Any, Any]:
    """How many indices and distances there are."""
    rows = pairs * (n + m) if asked.both else pairs * n
    return rows, rows + _EXTREMES * pairs if asked.reduction == "max" else rows


#: Numbers kept of the maximum of each pair: the largest of either side, what gradients are divided by.
_EXTREMES = 4

#: Plans of shapes that were met, and how many are kept at most.
_plans: dict[Any, _Plan] = {}
_MOST_PLANS = 1024


def _plan_of(x: Tensor, y: Tensor, asked: Asked) -> _Plan:
    key = x.shape, y.shape, x.stride(), y.stride(), x.dtype, y.dtype, x.get_device(), asked
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MOST_PLANS:
            _plans.clear()
        plan = _plans[key] = _Plan(x, y, asked)
    return plan


def _on_cuda(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, asked: Asked,
    keep: bool,
) -> tuple[Tensor, Any, Any]:
    """Queues search and reduction on the current stream. Nothing here waits."""
    plan = _plan_of(x, y, asked)
    # Names are kept for copies and for scratch, so that none is given back before it is used.
    x, y = _even(x), _even(y)
    value, distances = x.new_empty(plan.value), x.new_empty(plan.distances)
    indices = x.new_empty(plan.indices, dtype=torch.int64) if keep else None
    if not plan.indices:  # no pairs: memory of no bytes has no address
        return value, indices, distances
    size = plan.scratch[0]
    scratch = x.new_empty(size, dtype=torch.uint8) if size else None
    plan.forward(
        _torch_ops.current_stream(x.get_device()), x.data_ptr(), y.data_ptr(),
        _address(x_lengths), _address(y_lengths), value.data_ptr(), distances.data_ptr(),
        _address(indices), _address(scratch),
    )
    return value, indices, distances


_address = _torch_ops.address_of


def _even(clouds: Tensor) -> Tensor:
    """A copy of clouds whose rows are not evenly spaced."""
    return clouds if clouds.is_contiguous() else _torch_ops.addressable(clouds)[0]


# --------------------------------------------------------------------------------- gradients


def _gradients(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, indices: Tensor,
    distances: Tensor | None, grad: Tensor, asked: Asked, of_x: bool = True, of_y: bool = True,
) -> tuple[Any, Any]:
    """Gradients of the clouds from those of the values; those not asked for may be None."""
    arguments = x, y, x_lengths, y_lengths, indices, distances, grad, asked
    if x.is_cuda:
        return _gradients_on_cuda(*arguments, of_x, of_y)
    kept = grad.new_empty(0) if distances is None else distances
    found = _farpoint.chamfer_backward(
        _batch(x), _batch(y), None if x_lengths is None else x_lengths.tolist(),
        None if y_lengths is None else y_lengths.tolist(), indices.numpy(), kept.numpy(),
        grad.reshape(-1).numpy(), asked,
    )
    return torch.from_numpy(found[0]).view(x.shape), torch.from_numpy(found[1]).view(y.shape)


def _gradients_on_cuda(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, indices: Tensor,
    distances: Tensor | None, grad: Tensor, asked: Asked, of_x: bool, of_y: bool,
) -> tuple[Any, Any]:
    plan = _plan_of(x, y, asked)
    x, y = _even(x), _even(y)
    # Dense, as promised to torch.compile, whatever the strides of the clouds.
    gx = x.new_empty(plan.x) if of_x else None
    gy = x.new_empty(plan.y) if of_y else None
    if not plan.indices:
        return gx, gy
    size = plan.scratch[1]
    scratch = x.new_empty(size, dtype=torch.uint8) if size else None
    plan.backward(
        _torch_ops.current_stream(x.get_device()), x.data_ptr(), y.data_ptr(),
        _address(x_lengths), _address(y_lengths), _address(distances), indices.data_ptr(),
        grad.data_ptr(), grad.stride(0) if plan.value else 0, _address(gx), _address(gy),
        _address(scratch),
    )
    return gx, gy


def _again(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, grad: Tensor,
    asked: Asked,
) -> tuple[Tensor | None, ...]:
    """The gradients by a search of their own and PyTorch's operations, which can be differentiated
    again and transformed."""
    clouds = [cloud for cloud in (x, y) if cloud.requires_grad]
    with torch.enable_grad():
        value = _match_torch.reduced(x, y, x_lengths, y_lengths, asked)
        found = iter(torch.autograd.grad(value, clouds, grad, create_graph=True))
    return tuple([next(found) if cloud.requires_grad else None for cloud in (x, y)])


def _backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    """The gradients of both clouds."""
    x, y, indices, distances, x_lengths, y_lengths = ctx.saved_tensors
    lengths = x_lengths, y_lengths
    sees = torch.is_grad_enabled() or not _torch_ops.only_kernels_see(grad, indices)
    if not sees:
        needs = ctx.needs_input_grad
        return _gradients(x, y, *lengths, indices, distances, grad, ctx.asked, needs[0], needs[1])
    if torch.is_grad_enabled() or torch._C._functorch.is_batchedtensor(grad):
        return _again(x, y, *lengths, grad, ctx.asked)
    sent: tuple[Tensor, Tensor]
    sent = operator_backward(x, y, *lengths, indices, distances, grad, *ctx.asked)
    return sent


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...], asked: Asked) -> None:
    x, y, x_lengths, y_lengths = inputs
    distances = output[2] if _keeps_distances(asked) else None
    ctx.save_for_backward(x, y, output[1], distances, x_lengths, y_lengths)
    ctx.asked = asked


class _Chamfer(torch.autograd.Function):
    """The kernels with their gradients, without the operator."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None,
        asked: Asked,
    ) -> Tensor:
        found = _kernel(x, y, x_lengths, y_lengths, asked, True)
        _keep(ctx, (x, y, x_lengths, y_lengths), found, asked)
        return found[0]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return (*_backward(ctx, grad), None, None, None)


#: ``_Chamfer.apply`` without its look for transforms: there are none where only kernels see a call.
_apply: Callable[..., Tensor]
_apply = super(torch.autograd.Function, _Chamfer).apply


def _differentiably(asked: Asked, *clouds: Tensor | None) -> Tensor:
    return _apply(*clouds, asked)


# --------------------------------------------------------------------------------- operators


def _fake(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    plain: bool, reduction: str, both: bool, threads: int | None,
) -> tuple[Tensor, Tensor, Tensor]:
    pairs, n, _ = _torch_ops.batch_shape(x)
    asked = Asked(norm, plain, reduction, both, threads)
    indices, distances = _places(pairs, n, y.shape[-2], asked)
    value = x.new_empty(x.shape[:-2])
    return value, x.new_empty(indices, dtype=torch.int64), x.new_empty(distances)


def _operator(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, *asked: Any
) -> tuple[Any, ...]:
    return _kernel(x, y, x_lengths, y_lengths, Asked(*asked), True)


_ASKED = "int norm, bool plain, str reduction, bool both, int? threads"

operator = _torch_ops.define(
    f"chamfer(Tensor x, Tensor y, Tensor? x_lengths, Tensor? y_lengths, {_ASKED}) "
    "-> (Tensor, Tensor, Tensor)",
    _fake, _operator, _operator, folds=False,
)


def _fake_backward(x: Tensor, y: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), y.new_empty(y.shape)


def _operator_backward(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, indices: Tensor,
    distances: Tensor | None, grad: Tensor, *asked: Any,
) -> tuple[Any, ...]:
    return _gradients(
        x, y, x_lengths, y_lengths, indices, distances, grad, Asked(*asked)
    )


operator_backward = _torch_ops.define(
    "chamfer_backward(Tensor x, Tensor y, Tensor? x_lengths, Tensor? y_lengths, Tensor indices, "
    f"Tensor? distances, Tensor grad, {_ASKED}) -> (Tensor, Tensor)",
    _fake_backward, _operator_backward, _operator_backward, folds=False,
)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    ctx.mark_non_differentiable(*output[1:])
    _keep(ctx, inputs[:4], output, Asked(*inputs[4:]))


def _operator_gradients(ctx: Any, grad: Tensor, *_: Any) -> tuple[Any, ...]:
    return (*_backward(ctx, grad), *(None,) * 7)


torch.library.register_autograd(
    "farpoint::chamfer", _operator_gradients, setup_context=_setup, lib=_torch_ops.library
)


def _vmapped(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
    """The rule for ``torch.vmap``: one call with a larger batch. What it keeps is for its own gradient,
    and has no axis of the map's."""
    kept: list[Tensor] = []

    def call(*folded: Any) -> Tensor:
        value: Tensor
        value, *rest = operator(*folded)
        kept.extend(rest)
        return value

    value, dim = _torch_rules.vmapped(call)(info, in_dims, *arguments)
    return (value, *kept), (dim, None, None)


if hasattr(torch.library, "register_vmap"):  # PyTorch 2.5
    torch.library.register_vmap("farpoint::chamfer", _vmapped, lib=_torch_ops.library)
