"""Neighbor searches as operators with a gradient. ``search`` returns k neighbors of each point;
``within`` returns all in a ball, so that the size of its result depends on the data."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .._records import Neighborhood, Sides
from . import fast_path, formulas
from . import knn_kernels as kernels
from .calls import call, differentiably, is_plain
from .registration import define, differentiate_anywhere, map_by, vmapped
from .values import gather_backward_call, gather_call

_ARGUMENTS = (
    "(Tensor x, Tensor y, Tensor? x_lengths, Tensor? y_lengths, Tensor? x_offsets, Tensor? y_offsets, "
    "Tensor? tree, SymInt? k, str kind, float[] limits, bool inclusive, bool by_index, "
    "bool exclude_self, int norm, bool narrow, int? threads)"
)

#: Number of these arguments.
_COUNT = 7 + len(Neighborhood._fields)


# -------------------------------------------------------------------------------- operators


def _fake_search(x: Tensor, y: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    request, rows = Neighborhood(*rest[5:]), x.shape[:-1]
    places, kind = (*rows, request.k), kernels.index_type(request.narrow)
    return (
        x.new_empty(places), x.new_empty(places, dtype=kind), x.new_empty(rows, dtype=kind)
    )


def _fake_within(x: Tensor, y: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    request, rows = Neighborhood(*rest[5:]), math.prod(x.shape[:-1])
    count = torch.library.get_ctx().new_dynamic_size()
    return (
        x.new_empty(count), x.new_empty(count, dtype=kernels.index_type(request.narrow)),
        x.new_empty(rows + 1, dtype=torch.int64),
    )


def _vmapped(call: Any) -> Any:
    def rule(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> Any:
        if any(part is not None for part in arguments[4:7]):
            raise NotImplementedError(
                "torch.vmap supports neither offsets nor an Index; pass batches (B, N, D), "
                "with lengths"
            )
        return vmapped(call)(info, in_dims, *arguments)

    return rule


search_operator = define(
    f"search{_ARGUMENTS} -> (Tensor, Tensor, Tensor)", _fake_search, kernels.search, rule=_vmapped
)
within_operator = define(
    f"within{_ARGUMENTS} -> (Tensor, Tensor, Tensor)", _fake_within, kernels.within, folds=False
)


def _not_vmapped(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> Any:
    raise NotImplementedError(
        "torch.vmap does not support ball_query with k=None, whose results differ in size; pass k, or a batch"
    )


map_by("within", _not_vmapped)


# -------------------------------------------------------------------------------- gradients


def _fake_backward(
    x: Tensor, y: Tensor, indices: Tensor, grad: Tensor, norm: int, of_x: bool, of_y: bool
) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape if of_x else 0), y.new_empty(y.shape if of_y else 0)


backward_operator = define(
    "search_backward(Tensor x, Tensor y, Tensor indices, Tensor grad, int norm, bool of_x, "
    "bool of_y) -> (Tensor, Tensor)",
    _fake_backward, kernels.backward,
)


def _composed(
    x: Tensor, y: Tensor, indices: Tensor, grad: Tensor, norm: int, threads: int | None
) -> tuple[Tensor, Tensor]:
    """Returns the gradients by differentiable operators."""
    parts = kernels.parts(x.unsqueeze(-2) - gather_call(y, indices, threads), grad, norm)
    parts = parts.masked_fill((indices < 0).unsqueeze(-1), 0)
    rows = torch.arange(x.shape[-2], device=x.device).unsqueeze(-1).expand(indices.shape)
    batch = x.dim() == 3
    return (
        gather_backward_call(rows, parts, x.shape[-2], batch, threads),
        gather_backward_call(indices, -parts, y.shape[-2], batch, threads),
    )


def _keep_search(
    ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    ctx.mark_non_differentiable(*output[1:])
    request = Neighborhood(*inputs[7:])
    ctx.norm, ctx.threads = request.norm, request.threads
    return inputs[0], inputs[1], output[1]


def _send_search(ctx: Any, grad: Tensor, *_: Any) -> tuple[Any, ...]:
    x, y, indices = ctx.saved_tensors
    if torch.is_grad_enabled() or fast_path.is_dual():
        return (*_composed(x, y, indices, grad, ctx.norm, ctx.threads), *_NONE)
    needed = ctx.needs_input_grad[:2]
    run = kernels.backward if is_plain(x, y, indices, grad) else backward_operator
    sent = run(x, y, indices, grad, ctx.norm, *needed)
    return (*[part if is_needed else None for part, is_needed in zip(sent, needed)], *_NONE)


#: Gradients of the non-differentiable arguments.
_NONE = (None,) * (_COUNT - 2)


def _push_search(ctx: Any, of_x: Tensor, of_y: Tensor, *_: Any) -> tuple[Any, ...]:
    x, y, indices = ctx.saved_tensors
    difference, moved = [
        a.unsqueeze(-2) - gather_call(b, indices, ctx.threads) for a, b in ((x, y), (of_x, of_y))
    ]
    return kernels.tangents(difference, moved, ctx.norm).masked_fill(indices < 0, 0), None, None


def _keep_within(
    ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    ctx.mark_non_differentiable(*output[1:])
    request = Neighborhood(*inputs[7:])
    ctx.norm, ctx.threads = request.norm, request.threads
    return inputs[0], inputs[1], output[1], output[2]


def _differences(
    x: Tensor, y: Tensor, rows: Tensor, indices: Tensor, threads: int | None
) -> Tensor:
    dims = x.shape[-1]
    difference: Tensor = gather_call(x.reshape(-1, dims), rows, threads)
    difference = difference - gather_call(y.reshape(-1, dims), indices, threads)
    return difference


def _send_within(ctx: Any, grad: Tensor, *_: Any) -> tuple[Any, ...]:
    x, y, indices, offsets = ctx.saved_tensors
    rows, indices = kernels.rows_of_pairs(x, y, indices, offsets)
    parts = kernels.parts(_differences(x, y, rows, indices, ctx.threads), grad, ctx.norm)
    of_x = gather_backward_call(rows, parts, x.shape[:-1].numel(), False, ctx.threads)
    of_y = gather_backward_call(indices, -parts, y.shape[:-1].numel(), False, ctx.threads)
    return (of_x.view(x.shape), of_y.view(y.shape), *_NONE)


def _push_within(ctx: Any, of_x: Tensor, of_y: Tensor, *_: Any) -> tuple[Any, ...]:
    x, y, indices, offsets = ctx.saved_tensors
    rows, indices = kernels.rows_of_pairs(x, y, indices, offsets)
    difference, moved = [
        _differences(a, b, rows, indices, ctx.threads) for a, b in ((x, y), (of_x, of_y))
    ]
    return kernels.tangents(difference, moved, ctx.norm), None, None


search_call = differentiate_anywhere(
    "search", search_operator, _vmapped, _keep_search, _send_search, _push_search,
    formulas.search,
)
within_call = differentiate_anywhere(
    "within", within_operator, lambda _: _not_vmapped, _keep_within, _send_within, _push_within,
    formulas.within,
)


# ------------------------------------------------------------------------------------- calls

search_differentiably = differentiably(kernels.search, _send_search, _keep_search, kernels.answer)


def search(x: Tensor, y: Tensor, sides: Sides, request: Neighborhood) -> tuple[Tensor, ...]:
    """Returns distances, indices and counts, from checked arguments."""
    tensors = (x, y, *sides)
    results: tuple[Tensor, ...]
    results = call(search_call, kernels.search, search_differentiably, tensors, *request)
    return results


def within(x: Tensor, y: Tensor, sides: Sides, request: Neighborhood) -> tuple[Tensor, ...]:
    """Returns distances, indices and offsets of all neighbors in a ball."""
    results: tuple[Tensor, ...] = within_call(x, y, *sides, *request)
    return results
