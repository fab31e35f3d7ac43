"""Chamfer distance of clouds on a GPU with a cached plan: kernels with their gradients, bypassing
the operator, called with addresses only."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._records import Reduction
from . import chamfer, fast_path, memory


class Prepared(NamedTuple):
    """Everything except addresses that the value needs for given shapes on a GPU, without lengths."""

    plan: chamfer.Plan
    device: int
    kind: torch.dtype
    #: Shape and strides of the value.
    value: tuple[tuple[int, ...], tuple[int, ...]]
    #: Size in bytes, rounded up, of temporary distances.
    distances: int
    how: Reduction


def prepare(x: Tensor, y: Tensor, how: Reduction) -> Prepared | None:
    """Returns the ``Prepared`` of checked clouds; None if a result or a cloud needs more than an address."""
    if memory.addressable(x)[0] is not x or memory.addressable(y)[0] is not y:
        return None
    plan = chamfer.plan_of(x, y, how)
    if not plan.indices:
        return None
    value, size = (plan.value, memory.dense(plan.value)), plan.distances * x.element_size()
    return Prepared(plan, x.get_device(), x.dtype, value, -(-size // _ALIGNED) * _ALIGNED, how)


#: Alignment of scratch memory, in bytes.
_ALIGNED = 256


def answer(
    prepared: Prepared, x: Tensor, y: Tensor, x_lengths: Tensor | None = None, y_lengths: Tensor | None = None
) -> Tensor:
    """Returns the value. Distances are stored before the scratch memory."""
    plan, device, kind, places, before, _ = prepared
    make = fast_path.maker(device)
    value, room = make(*places, kind), make((before + plan.scratch[0],), (1,), torch.uint8)
    address = room.data_ptr()
    scratch = address + before if plan.scratch[0] else 0
    plan.forward(None, x, y, x_lengths, y_lengths, value, address, 0, scratch)
    return value


def _answer_kept(
    prepared: Prepared, clouds: tuple[Tensor, Tensor], lengths: tuple[Any, Any]
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Returns the value, and for its gradient the indices, and distances or None."""
    plan, device, kind, places, before, how = prepared
    make, kept = fast_path.maker(device), None
    value, indices = make(*places, kind), make((plan.indices,), (1,), torch.int64)
    if chamfer.keeps_distances(how):
        kept, before = make((plan.distances,), (1,), kind), 0
    room = make((before + plan.scratch[0],), (1,), torch.uint8)
    address = room.data_ptr()
    scratch = address + before if plan.scratch[0] else 0
    plan.forward(None, *clouds, *lengths, value, address if kept is None else kept, indices, scratch)
    return value, indices, kept


class _Answer(torch.autograd.Function):
    """``answer`` with its gradients, bypassing the operator."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, prepared: Prepared
    ) -> Tensor:
        lengths = x_lengths, y_lengths
        value, indices, distances = _answer_kept(prepared, (x, y), lengths)
        ctx.save_for_backward(x, y, indices, distances, *lengths)
        ctx.how = prepared.how
        return value

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return (*chamfer.backward(ctx, grad)[:2], None, None, None)


answer_differentiably = fast_path.apply_of(_Answer)
