"""Kernels of neighbor searches: on the CPU in NumPy views; on a GPU queued on the
current stream, in memory of PyTorch's allocator. Arguments were checked, or come from the operators."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _native
from .._records import Clouds, Neighborhood, Sides
from . import fast_path, memory
from .values_kernels import gather_backward


def index_type(narrow: bool) -> torch.dtype:
    return torch.int32 if narrow else torch.int64


# ------------------------------------------------------------------------------------ on the CPU

#: Trees of clouds on the CPU, by name. Tensors hold the name in place of the tree; it is random, since exported
#: programs may name trees of another process.
_trees: weakref.WeakValueDictionary[tuple[int, ...], Any] = weakref.WeakValueDictionary()


def _named(tree: Tensor | None) -> Any:
    """Returns the tree of this name, if it still exists; results are the same without it."""
    return None if tree is None else _trees.get(tuple(tree.tolist()))


def _clouds(x: Tensor, y: Tensor, sides: Sides) -> tuple[Clouds, Clouds]:
    """Returns both sides for the compiled module."""
    parts = [None if part is None else part.tolist() for part in sides[:4]]
    tree = _named(sides.tree)
    x_tree = tree if _is_itself(x, y, sides) else None
    return (
        Clouds(memory.array_of(x), parts[0], parts[2], x_tree),
        Clouds(memory.array_of(y), parts[1], parts[3], tree),
    )


def _is_itself(x: Tensor, y: Tensor, sides: Sides) -> bool:
    """Returns whether the tree of y is also a tree of x."""
    if sides.tree is None or x.data_ptr() != y.data_ptr() or x.shape != y.shape:
        return False
    strides = x.stride() == y.stride()
    return strides and sides.x_lengths is sides.y_lengths and sides.x_offsets is sides.y_offsets


def _tensors(arrays: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple([torch.from_numpy(part) for part in arrays])


# ------------------------------------------------------------------------------------- on a GPU

#: Cached plans by shape, and their maximum number.
_plans: dict[Any, Any] = {}
_MAX_PLANS = 1024


def _plan_of(x: Tensor, y: Tensor, clouds: int, request: tuple[Any, ...]) -> Any:
    """Returns the cached plan for these shapes. ``clouds``: number of concatenated clouds, or 0."""
    key = (
        x.shape, y.shape, x.stride(), y.stride(), x.dtype, y.dtype, x.get_device(), clouds, request
    )
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        plan = _plans[key] = _new_plan(x, y, clouds, Neighborhood(*request))
    return plan


def _new_plan(x: Tensor, y: Tensor, clouds: int, request: Neighborhood) -> Any:
    memory.refuse_other_types(x)
    if x.dtype != y.dtype:
        raise TypeError(f"both clouds must be of the same type, not {x.dtype} and {y.dtype}")
    (_, x_strides), (_, y_strides) = memory.addressable(x), memory.addressable(y)
    batch, n, dims = memory.batch_shape(x)
    return _native.CudaSearch(
        x.get_device(), x.dtype == torch.float64, (clouds or batch, n, y.shape[-2], dims),
        (x_strides, y_strides), clouds > 0, request,
    )


def _plan_and_step(
    x: Tensor, y: Tensor, sides: Sides, request: tuple[Any, ...]
) -> tuple[Any, Any, Any]:
    """Returns the plan, the addresses of a step, and the objects to keep alive until it is queued."""
    clouds = 0 if sides.x_offsets is None else sides.x_offsets.shape[0] - 1
    plan = _plan_of(x, y, clouds, request)
    tree, itself = sides.tree, _is_itself(x, y, sides)
    even = _even(x), _even(y)
    xl, yl, xo, yo, tree = sides
    step = (
        fast_path.current_stream(x.get_device()), (even[0].data_ptr(), even[1].data_ptr()),
        memory.addresses_of(xl, yl), memory.addresses_of(xo, yo), memory.address_of(tree), itself,
    )
    return plan, step, even


def _even(clouds: Tensor) -> Tensor:
    """Returns clouds with evenly spaced rows, copied if necessary."""
    return clouds if clouds.is_contiguous() else memory.addressable(clouds)[0]


def _scratch(size: int, like: Tensor) -> Tensor | None:
    return like.new_empty(size, dtype=torch.uint8) if size else None


# -------------------------------------------------------------------------------------- searches


class Prepared(NamedTuple):
    """Everything except addresses that a search needs for given shapes on a GPU, without offsets."""

    queue: Callable[..., None]
    device: int
    #: Shape and strides of distances and indices, and of counts.
    places: tuple[tuple[int, ...], tuple[int, ...]]
    rows: tuple[tuple[int, ...], tuple[int, ...]]
    index_type: torch.dtype
    #: Sizes in bytes of scratch memory, without and with a tree.
    scratch: tuple[int, int]


def prepare(x: Tensor, y: Tensor, request: Neighborhood) -> Prepared | None:
    """Returns the ``Prepared`` of checked clouds; None if a result or a cloud needs more than an address."""
    rows, k = tuple(x.shape[:-1]), request.k
    if k is None or 0 in rows or _even(x) is not x or _even(y) is not y:
        return None
    plan = _plan_of(x, y, 0, request)
    row_strides = (rows[1], 1) if len(rows) == 2 else (1,)
    places = (*rows, k), (*[stride * k for stride in row_strides], 1)
    kind = index_type(request.narrow)
    counts = rows, row_strides
    return Prepared(plan.search_whole, x.get_device(), places, counts, kind, plan.scratch)


def answer(
    prepared: Prepared, x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, _: None, __: None,
    tree: Tensor | None, *rest: Any,
) -> tuple[Tensor, ...]:
    """Returns distances, indices and counts, from the arguments of ``search``."""
    queue, device, (shape, strides), rows, kind, scratch = prepared
    make, size = fast_path.maker(device), scratch[tree is not None]
    distances, indices = make(shape, strides, x.dtype), make(shape, strides, kind)
    counts = make(*rows, kind)
    room = make((size,), (1,), torch.uint8) if size else None
    itself = y is x and x_lengths is y_lengths
    queue(None, x, y, x_lengths, y_lengths, tree, itself, distances, indices, counts, room)
    return distances, indices, counts


#: Positions of some fields of a request.
_LIMITS, _NARROW = Neighborhood._fields.index("limits"), Neighborhood._fields.index("narrow")


def _hashable(request: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns the fields of a request; operators pass limits as a list."""
    limits = request[_LIMITS]
    if type(limits) is tuple:
        return request
    return (*request[:_LIMITS], tuple(limits), *request[_LIMITS + 1:])


def search(x: Tensor, y: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    """Returns distances, indices and counts."""
    sides, request = Sides(*rest[:5]), _hashable(rest[5:])
    if x.is_cpu:
        return _tensors(_native.search(*_clouds(x, y, sides), Neighborhood(*request)))
    rows, kind = x.shape[:-1], index_type(request[_NARROW])
    distances = x.new_empty((*rows, request[0]))
    indices, counts = torch.empty_like(distances, dtype=kind), x.new_empty(rows, dtype=kind)
    if counts.numel() == 0:  # empty memory has no address
        return distances, indices, counts
    plan, step, _kept = _plan_and_step(x, y, sides, request)
    scratch = _scratch(plan.scratch[sides.tree is not None], x)
    plan.search(
        step, distances.data_ptr(), indices.data_ptr(), counts.data_ptr(),
        memory.address_of(scratch),
    )
    return distances, indices, counts


def within(x: Tensor, y: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    """Returns distances, indices and offsets. Synchronizes a GPU, since their number depends on the data."""
    sides, request = Sides(*rest[:5]), _hashable(rest[5:])
    if x.is_cpu:
        return _tensors(_native.within(*_clouds(x, y, sides), Neighborhood(*request)))
    rows, kind = x.shape[:-1].numel(), index_type(request[_NARROW])
    offsets = x.new_zeros(rows + 1, dtype=torch.int64)
    if rows == 0:
        return x.new_empty(0), x.new_empty(0, dtype=kind), offsets
    plan, step, _kept = _plan_and_step(x, y, sides, request)
    scratch = _scratch(plan.scratch[sides.tree is not None], x)
    counts = x.new_empty(rows, dtype=torch.int64)
    plan.count(step, counts.data_ptr(), memory.address_of(scratch))
    torch.cumsum(counts, 0, out=offsets[1:])
    total = int(offsets[-1])
    distances, indices = x.new_empty(total), x.new_empty(total, dtype=kind)
    if total:
        plan.fill(
            step, offsets.data_ptr(), distances.data_ptr(), indices.data_ptr(),
            memory.address_of(scratch),
        )
    return distances, indices, offsets


# ------------------------------------------------------------------------------------- gradients


def backward(
    x: Tensor, y: Tensor, indices: Tensor, grad: Tensor, norm: int, of_x: bool, of_y: bool
) -> tuple[Tensor, Tensor]:
    """Returns the gradients of both clouds from that of the distances; empty where they are not needed."""
    if x.is_cpu:
        return _backward_on_cpu(x, y, indices, grad, norm, of_x, of_y)
    narrow = indices.dtype == torch.int32
    request = Neighborhood(
        indices.shape[-1], "nearest", (0.0, 0.0, 0.0), False, False, False, norm, narrow, None
    )
    plan, kept = _plan_of(x, y, 0, request), (_even(x), _even(y))
    indices, grad = indices.contiguous(), grad.contiguous()
    # Dense, as declared to torch.compile, whatever the strides of the clouds.
    gx, gy = x.new_empty(x.shape if of_x else 0), y.new_empty(y.shape if of_y else 0)
    if indices.numel() == 0:
        return gx.zero_(), gy.zero_()
    scratch = _scratch(plan.backward_scratch, x)
    plan.backward(
        fast_path.current_stream(x.get_device()), kept[0].data_ptr(), kept[1].data_ptr(),
        indices.data_ptr(), grad.data_ptr(), gx.data_ptr(), gy.data_ptr(),
        memory.address_of(scratch),
    )
    return gx, gy


def _backward_on_cpu(
    x: Tensor, y: Tensor, indices: Tensor, grad: Tensor, norm: int, of_x: bool, of_y: bool
) -> tuple[Tensor, Tensor]:
    """Returns the gradients: by the compiled module for indices as a search returns them, else by ``gather``."""
    gradients = _native.search_backward(
        memory.batch_of(x), memory.batch_of(y), memory.batch_of(indices.long()),
        memory.batch_of(grad), norm,
    )
    if gradients is None:
        return _gathered_backward(x, y, indices, grad, norm, of_x, of_y)
    sent = zip(gradients, (x, y), (of_x, of_y))
    first, second = [
        torch.from_numpy(part).view(cloud.shape) if is_needed else cloud.new_empty(0)
        for part, cloud, is_needed in sent
    ]
    return first, second


def _gathered_backward(
    x: Tensor, y: Tensor, indices: Tensor, grad: Tensor, norm: int, of_x: bool, of_y: bool
) -> tuple[Tensor, Tensor]:
    """Sums the gradients of each distance as for gathered rows."""
    base = indices.clamp(min=0).long()
    if x.dim() == 3:
        base = base + torch.arange(x.shape[0]).view(-1, 1, 1) * y.shape[1]
    rows = y.reshape(-1, y.shape[-1])[base.reshape(-1)].view(*indices.shape, y.shape[-1])
    sent = parts(x.unsqueeze(-2) - rows, grad, norm)
    sent = sent.masked_fill((indices < 0).unsqueeze(-1), 0)
    x_rows = torch.arange(x.shape[-2]).unsqueeze(-1).expand(indices.shape)
    batch, none = x.dim() == 3, x.new_empty(0)
    return (
        gather_backward(x_rows, sent, x.shape[-2], batch) if of_x else none,
        gather_backward(indices, -sent, y.shape[-2], batch) if of_y else none,
    )


def parts(difference: Tensor, grad: Tensor, norm: int) -> Tensor:
    """Returns the gradient of each distance with respect to the point of x, from its difference to the neighbor."""
    grad = grad.unsqueeze(-1)
    return (grad + grad) * difference if norm == 2 else grad * difference.sign()


def tangents(difference: Tensor, moved: Tensor, norm: int) -> Tensor:
    """Returns the tangents of distances from the differences of the points and their tangents."""
    slope = 2 * difference if norm == 2 else difference.sign()
    return (slope * moved).sum(dim=-1)


def rows_of_pairs(x: Tensor, y: Tensor, indices: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the rows of both points of each distance of ``within``, counted across the clouds of a batch."""
    rows = torch.arange(offsets.shape[0] - 1, device=x.device)
    rows = rows.repeat_interleave(offsets.diff(), output_size=indices.shape[0])
    if x.dim() == 3:
        indices = indices + rows // x.shape[1] * y.shape[1]
    return rows, indices


# ----------------------------------------------------------------------------------------- trees


def tree_of(
    y: Tensor, lengths: Tensor | None, offsets: Tensor | None, threads: int | None
) -> tuple[Tensor, Any]:
    """Returns the tree of clouds for repeated searches, as a tensor, and the object to keep alive with it."""
    if y.is_cpu:
        listed = [None if part is None else part.tolist() for part in (lengths, offsets)]
        index = _native.Index(Clouds(memory.array_of(y), *listed), threads)
        name = secrets.randbits(63), secrets.randbits(63)
        _trees[name] = index
        return torch.tensor(name, dtype=torch.int64, device="cpu"), index
    request = Neighborhood(1, "nearest", (0.0, 0.0, 0.0), False, False, False, 2, False, None)
    sides = Sides(None, lengths, offsets, offsets)
    plan, step, _kept = _plan_and_step(y, y, sides, request)
    size, scratch = plan.index_bytes
    tree, room = y.new_empty(size, dtype=torch.uint8), _scratch(scratch, y)
    if size:
        plan.index((*step[:4], tree.data_ptr(), False), memory.address_of(room))
    return tree, None
