"""The Chamfer distance of clouds on a GPU whose shapes were met before: the kernels with their gradients, without
the operator, by addresses alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._records import Reduction
from . import chamfer, fast_path, memory


class Ready(NamedTuple):
    """All that the value of clouds of some shape on a GPU needs, without lengths, but addresses."""

    plan: chamfer.Plan
    device: int
    kind: torch.dtype
    #: Shape and strides of the value.
    value: tuple[tuple[int, ...], tuple[int, ...]]
    #: Bytes of distances, rounded up, that nobody keeps.
    distances: int
    how: Reduction


def ready(x: Tensor, y: Tensor, how: Reduction) -> Ready | None:
    """The same for clouds that were checked; None where an answer, or a cloud, takes more than an address."""
    if memory.addressable(x)[0] is not x or memory.addressable(y)[0] is not y:
        return None
    plan = chamfer.plan_of(x, y, how)
    if not plan.indices:
        return None
    value, size = (plan.value, memory.dense(plan.value)), plan.distances * x.element_size()
    return Ready(plan, x.get_device(), x.dtype, value, -(-size // _ALIGNED) * _ALIGNED, how)


#: What scratch memory is aligned to.
_ALIGNED = 256


def answer(
    ready: Ready, x: Tensor, y: Tensor, x_lengths: Tensor | None = None, y_lengths: Tensor | None = None
) -> Tensor:
    """The value. Distances lie before the scratch memory."""
    plan, device, kind, places, before, _ = ready
    make = fast_path.maker(device)
    value, room = make(*places, kind), make((before + plan.scratch[0],), (1,), torch.uint8)
    address = room.data_ptr()
    scratch = address + before if plan.scratch[0] else 0
    plan.forward(None, x, y, x_lengths, y_lengths, value, address, 0, scratch)
    return value


def _answer_kept(
    ready: Ready, clouds: tuple[Tensor, Tensor], lengths: tuple[Any, Any]
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The value, and what its gradient needs: indices, and distances or None."""
    plan, device, kind, places, before, how = ready
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
    """The same with its gradients, without the operator."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, ready: Ready
    ) -> Tensor:
        lengths = x_lengths, y_lengths
        value, indices, distances = _answer_kept(ready, (x, y), lengths)
        ctx.save_for_backward(x, y, indices, distances, *lengths)
        ctx.how = ready.how
        return value

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return (*chamfer.backward(ctx, grad)[:2], None, None, None)


answer_differentiably = fast_path.apply_of(_Answer)
