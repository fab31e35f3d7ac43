"""Nearest points as operators with a gradient. The compiled module searches: on the CPU in NumPy views;
on a GPU the kernels are queued on the current stream, in memory of PyTorch's allocator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _native, _progress
from .._device_records import Gradients, MatchOutput
from . import fast_path, memory
from .registration import define, differentiate


# ---------------------------------------------------------------------------------- kernels


def kernel(x: Tensor, *rest: Any) -> tuple[Any, ...]:
    """Returns distances and indices of x, and with ``both`` of y; for clouds (N, D) or batches. Without
    ``indices`` these are None."""
    return _on_cuda(x, *rest) if x.is_cuda else _on_cpu(x, *rest)


def _on_cpu(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool, indices: bool = True,
) -> tuple[Any, ...]:
    batches = memory.batches_of(x, y, x_lengths, y_lengths)
    arrays = _native.match_clouds(batches, norm, "auto", threads, both, _progress.callback())
    single = x.dim() == 2
    return tuple([
        torch.from_numpy(part[0] if single else part) if indices or k % 2 == 0 else None
        for k, part in enumerate(arrays)
    ])


def _on_cuda(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool, indices: bool = True,
) -> tuple[Any, ...]:
    """Queues a search on the current stream. Does not synchronize."""
    dx, ix = _room(x, indices)
    dy, iy = _room(y, indices) if both else (None, None)
    # Copies and scratch are named, so that none is freed before it is used.
    x, x_strides = memory.addressable(x)
    y, y_strides = memory.addressable(y)
    scratch = _scratch(x, y, both, norm, False)
    output = MatchOutput(memory.addresses_of(dx, dy), memory.addresses_of(ix, iy), memory.place_of(scratch))
    _native.cuda_match(
        memory.input_of(x, x_strides, x_lengths), memory.input_of(y, y_strides, y_lengths),
        output, norm,
    )
    return (dx, ix, dy, iy) if both else (dx, ix)


def _room(clouds: Tensor, indices: bool = True) -> tuple[Tensor, Tensor | None]:
    """Allocates distances, and indices if requested."""
    # PyTorch parses numbers faster than a shape.
    distances = clouds.new_empty(*clouds.shape[:-1])
    return distances, torch.empty_like(distances, dtype=torch.int64) if indices else None


def _scratch(x: Tensor, y: Tensor, both: bool, norm: int, backward: bool) -> Tensor | None:
    """Allocates scratch memory, if any is needed; PyTorch's allocator aligns to 512 bytes."""
    pairs, n, dims = memory.batch_shape(x)
    size = memory.search_scratch_bytes(
        x.get_device(), x.dtype == torch.float64, pairs, (n, y.shape[-2]), dims, both, norm,
        backward,
    )
    return x.new_empty(size, dtype=torch.uint8) if size else None


# -------------------------------------------------------------------------------- operators


def _fake(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool,
) -> tuple[Any, ...]:
    return _room(x) + (_room(y) if both else _no_other_side(y))


def _no_other_side(y: Tensor) -> tuple[Tensor, Tensor]:
    none = (*y.shape[:-2], 0)
    return y.new_empty(none), y.new_empty(none, dtype=torch.int64)


def _operator(x: Tensor, y: Tensor, *rest: Any) -> tuple[Any, ...]:
    """Calls the kernel with a fixed number of results."""
    results = kernel(x, y, *rest)
    return results if len(results) == 4 else results + _no_other_side(y)


match_clouds = define(
    "match_clouds(Tensor x, Tensor y, Tensor? x_lengths, Tensor? y_lengths, int norm, "
    "int? threads, bool both) -> (Tensor, Tensor, Tensor, Tensor)",
    _fake, _operator,
)


# -------------------------------------------------------------------------------- gradients


def _fake_backward(x: Tensor, y: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), y.new_empty(y.shape)


def _backward_kernel(x: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    """Returns the gradients of both clouds from those of the distances. ``iy`` and ``gy`` are None for a
    search from x to y only."""
    return _backward_on_cuda(x, *rest) if x.is_cuda else _backward_on_cpu(x, *rest)


def _backward_on_cpu(
    x: Tensor, y: Tensor, ix: Tensor, iy: Tensor | None, gx: Tensor, gy: Tensor | None, norm: int,
    threads: int | None = None,
) -> tuple[Tensor, Tensor]:
    if iy is None or gy is None:
        iy, gy = ix.new_full(y.shape[:-1], -1), gx.new_zeros(y.shape[:-1])
    of_x, of_y = _native.match_backward(
        memory.batches_of(x, y), memory.batch_of(ix, 2), memory.batch_of(iy, 2),
        memory.batch_of(gx, 2), memory.batch_of(gy, 2), norm, threads,
    )
    return torch.from_numpy(of_x), torch.from_numpy(of_y)


def _backward_on_cuda(
    x: Tensor, y: Tensor, ix: Tensor, iy: Tensor | None, gx: Tensor, gy: Tensor | None, norm: int,
    threads: int | None = None,
) -> tuple[Tensor, Tensor]:
    # Dense, as declared to torch.compile, whatever the strides of the clouds.
    of_x, of_y = x.new_empty(x.shape), y.new_empty(y.shape)
    both = iy is not None and gy is not None
    x, x_strides = memory.addressable(x)
    y, y_strides = memory.addressable(y)
    parts = [None if part is None else part.contiguous() for part in (ix, iy, gx, gy)]
    scratch = _scratch(x, y, both, norm, True)
    record = Gradients(
        memory.addresses_of(*parts[:2]), memory.addresses_of(*parts[2:]), memory.addresses_of(of_x, of_y),
        memory.place_of(scratch),
    )
    _native.cuda_match_backward(
        memory.input_of(x, x_strides, None), memory.input_of(y, y_strides, None), record,
        norm,
    )
    return of_x, of_y


match_clouds_backward = define(
    "match_clouds_backward(Tensor x, Tensor y, Tensor ix, Tensor? iy, Tensor gx, Tensor? gy, "
    "int norm) -> (Tensor, Tensor)",
    _fake_backward, _backward_kernel,
)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    x, y, _, _, norm, threads, both = inputs
    ctx.mark_non_differentiable(*output[1::2])
    ctx.save_for_backward(x, y, output[1], output[3] if both else None)
    ctx.norm, ctx.threads = norm, threads


def _backward(
    ctx: Any, gx: Tensor, _: Any, gy: Tensor | None = None, __: Any = None
) -> tuple[Any, ...]:
    x, y, ix, iy = ctx.saved_tensors
    gx, gy = gx.contiguous(), None if iy is None or gy is None else gy.contiguous()
    # The operator is differentiable itself, for second derivatives.
    direct = not torch.is_grad_enabled() and fast_path.only_kernels_see(x, y, ix, iy, gx, gy)
    if direct:
        sent = _backward_kernel(x, y, ix, iy, gx, gy, ctx.norm, ctx.threads)
    else:
        sent = match_clouds_backward(x, y, ix, iy, gx, gy, ctx.norm)
    return (*sent, None, None, None, None, None)


differentiate("match_clouds", _backward, _setup)


class _Search(torch.autograd.Function):
    """Kernel with its gradients, bypassing the operator."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[Tensor, ...]:
        results = kernel(*arguments)
        _setup(ctx, arguments, results)
        return results

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        return _backward(ctx, *grads)


#: Search with its gradient, where only kernels would see the operator.
search_differentiably = fast_path.apply_of(_Search)


# ------------------------------------------------------------------------------------ cached plans


class Prepared(NamedTuple):
    """Everything except addresses that a search needs for given shapes on a GPU, without lengths."""

    search: Callable[..., None]
    backward: Callable[..., None]
    device: int
    kind: torch.dtype
    #: Shape and strides of the results for x, and for y in searches of both directions.
    x: tuple[tuple[int, ...], tuple[int, ...]]
    y: tuple[tuple[int, ...], tuple[int, ...]] | None
    #: Shape and strides of the gradients.
    of_x: tuple[tuple[int, ...], tuple[int, ...]]
    of_y: tuple[tuple[int, ...], tuple[int, ...]]
    #: Sizes in bytes of the scratch memory of the search and of the gradients.
    scratch: tuple[int, int]
    norm: int


def prepare(x: Tensor, y: Tensor, norm: int, both: bool) -> Prepared | None:
    """Returns the ``Prepared`` of checked clouds; None if a result or a cloud needs more than an address."""
    (even_x, x_strides), (even_y, y_strides) = memory.addressable(x), memory.addressable(y)
    if even_x is not x or even_y is not y or x.numel() == 0 or y.numel() == 0:
        return None
    pairs, n, dims = memory.batch_shape(x)
    device, of_x, of_y = x.get_device(), tuple(x.shape), tuple(y.shape)
    plan = _native.CudaNearest(
        device, x.dtype == torch.float64, (pairs, n, of_y[-2], dims), (x_strides, y_strides), norm, both
    )
    places = [(shape, memory.dense(shape)) for shape in (of_x[:-1], of_y[:-1], of_x, of_y)]
    return Prepared(
        plan.search, plan.backward, device, x.dtype, places[0], places[1] if both else None, places[2],
        places[3], plan.scratch, norm,
    )


def answer(
    prepared: Prepared, x: Tensor, y: Tensor, x_lengths: Tensor | None = None, y_lengths: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Returns distances and indices of x, and of y in searches of both directions."""
    search, _, device, kind, of_x, of_y, _, _, (size, _), _ = prepared
    make = fast_path.maker(device)
    dx, ix, dy, iy = make(*of_x, kind), make(*of_x, torch.int64), None, None
    if of_y is not None:
        dy, iy = make(*of_y, kind), make(*of_y, torch.int64)
    scratch = make((size,), (1,), torch.uint8) if size else None
    search(None, x, y, x_lengths, y_lengths, dx, ix, dy, iy, scratch)
    return (dx, ix) if dy is None or iy is None else (dx, ix, dy, iy)


class _Answer(torch.autograd.Function):
    """``answer`` with its gradients, bypassing the operator."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, prepared: Prepared
    ) -> tuple[Tensor, ...]:
        results = answer(prepared, x, y, x_lengths, y_lengths)
        ctx.mark_non_differentiable(*results[1::2])
        ctx.save_for_backward(x, y, results[1], results[3] if prepared.y else None)
        ctx.prepared, ctx.norm, ctx.threads = prepared, prepared.norm, None
        return results

    @staticmethod
    def backward(ctx: Any, gx: Tensor, _: Any, gy: Tensor | None = None, __: Any = None) -> tuple[Any, ...]:
        x, y, ix, iy = ctx.saved_tensors
        if torch.is_grad_enabled() or not fast_path.only_kernels_see(gx, gy):
            return *_backward(ctx, gx, None, gy)[:2], None, None, None
        gx, gy = gx.contiguous(), None if iy is None or gy is None else gy.contiguous()
        return *_sent(ctx.prepared, (x, y), (ix, iy), (gx, gy), ctx.needs_input_grad), None, None, None


answer_differentiably = fast_path.apply_of(_Answer)


def _sent(prepared: Prepared, clouds: Any, indices: Any, grads: Any, needs: Any) -> tuple[Any, Any]:
    """Returns the gradients of both clouds; None where they are not needed."""
    make = fast_path.maker(prepared.device)
    of_x = make(*prepared.of_x, prepared.kind) if needs[0] else None
    of_y = make(*prepared.of_y, prepared.kind) if needs[1] else None
    size = prepared.scratch[1]
    scratch = make((size,), (1,), torch.uint8) if size else None
    prepared.backward(
        fast_path.current_stream(prepared.device),
        *[memory.address_of(part) for part in (*clouds, *indices, *grads, of_x, of_y, scratch)],
    )
    return of_x, of_y
