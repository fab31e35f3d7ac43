"""Kernels of the operators on values: on the CPU in NumPy views; on a GPU queued on the
current stream, in memory of PyTorch's allocator. Arguments were checked, or come from the operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _native
from . import fast_path, memory
from .registration import HALVES

#: Number of clouds, rows, queries, k and channels.
Sizes = tuple[int, int, int, int, int]


def sizes_of(indices: Tensor, rows: int, channels: int, batch: bool) -> Sizes:
    """Returns the sizes of values with these numbers of rows and channels, and of indices."""
    rest = indices.shape[1:] if batch else indices.shape
    clouds = indices.shape[0] if batch else 1
    return (clouds, rows, rest[0], rest[1] if len(rest) == 2 else 1, channels)


def _sizes(values: Tensor, indices: Tensor) -> Sizes:
    shape = values.shape
    return sizes_of(indices, shape[-2], shape[-1], len(shape) == 3)


def shape_of_values(sizes: Sizes, batch: bool) -> tuple[int, ...]:
    """Returns the shape of the values."""
    return (sizes[0], sizes[1], sizes[4]) if batch else (sizes[1], sizes[4])


# ------------------------------------------------------------------------------------ on the CPU


def array_of(tensor: Tensor) -> Any:
    """Returns a dense array for the compiled module, float16 and bfloat16 as float32."""
    wide = tensor.float() if tensor.dtype in HALVES else tensor
    return memory.array_of(wide.contiguous())


def tensor_of(array: Any, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Returns a result as a tensor; float16 and bfloat16 are rounded here, once."""
    return torch.from_numpy(array).view(shape).to(like.dtype)


# ------------------------------------------------------------------------------------- on a GPU

_KINDS = {
    torch.float32: "f4", torch.float64: "f8", torch.float16: "f2", torch.bfloat16: "b2",
}

#: Cached plans by size, and their maximum number.
_plans: dict[Any, Any] = {}
_MAX_PLANS = 1024


def plan_of(like: Tensor, indices: Tensor, sizes: Sizes) -> Any:
    """Returns the cached plan for values of a dtype and these sizes."""
    key = like.get_device(), like.dtype, indices.dtype, sizes
    plan = _plans.get(key)
    if plan is None:
        kind = _KINDS.get(like.dtype)
        if kind is None or indices.dtype not in (torch.int64, torch.int32):
            raise TypeError(
                "values must be float32, float64, float16 or bfloat16 and indices int64 or int32, not "
                f"{like.dtype} and {indices.dtype}"
            )
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        wide = indices.dtype == torch.int64
        plan = _plans[key] = _native.CudaValues(key[0], sizes, kind, wide)
    return plan


def _stream(tensor: Tensor) -> int:
    return fast_path.current_stream(tensor.get_device())


def _scratch(plan: Any, like: Tensor) -> Tensor:
    """Allocates scratch memory for gradients of values."""
    return like.new_empty(max(plan.scratch, 1), dtype=torch.uint8)


# -------------------------------------------------------------------------------- cached plans


class Prepared(NamedTuple):
    """Everything except addresses that an operator on values needs for given shapes on a GPU."""

    queue: Callable[..., None]
    device: int
    #: Shape and strides of the result.
    places: tuple[tuple[int, ...], tuple[int, ...]]


def prepare(name: str, values: Tensor, indices: Tensor, more: Tensor | None = None) -> Prepared | None:
    """Returns the ``Prepared`` of checked arguments; None if one of them needs more than an address. ``name`` is
    "gather", "gather_max" or "interpolate"."""
    arguments = (values, indices) if more is None else (values, indices, more)
    if not all([part.is_contiguous() and part.numel() for part in arguments]):
        return None
    plan = plan_of(values, indices, _sizes(values, indices))
    rows = indices.shape if name == "gather" else indices.shape[:-1]
    shape = (*rows, values.shape[-1])
    return Prepared(getattr(plan, name), values.get_device(), (shape, memory.dense(shape)))


def answer(prepared: Prepared, values: Tensor, *others: Tensor) -> Tensor:
    """Returns the result for values, indices and further tensors of the operator."""
    queue, device, places = prepared
    result = fast_path.maker(device)(*places, values.dtype)
    queue(None, values, *others, result)
    return result


def answer_to(prepared: Prepared, *arguments: Any) -> Tensor:
    """Returns the result for the arguments of an operator, whose last is the number of threads."""
    return answer(prepared, *arguments[:-1])


def answer_max(prepared: Prepared, values: Tensor, indices: Tensor, add: Tensor | None) -> Tensor:
    """Returns the result of ``gather_max``."""
    queue, device, places = prepared
    result = fast_path.maker(device)(*places, values.dtype)
    queue(None, values, indices, add, result)
    return result


def prepare_weights(distances: Tensor, power: int, eps: float) -> Prepared | None:
    """Returns the ``Prepared`` of weights of checked distances."""
    if not (distances.is_contiguous() and distances.numel()):
        return None
    device, shape = distances.get_device(), tuple(distances.shape)
    wide, sizes = distances.dtype == torch.float64, (math.prod(shape[:-1]), shape[-1])

    def queue(stream: None, distances: Tensor, result: Tensor) -> None:
        _native.cuda_weights(device, stream, wide, sizes, power, eps, distances, 0, result)

    return Prepared(queue, device, (shape, memory.dense(shape)))


# --------------------------------------------------------------------------------------- gather


def gather(values: Tensor, indices: Tensor, threads: int | None = None) -> Tensor:
    """Returns the indexed rows."""
    sizes, shape = _sizes(values, indices), (*indices.shape, values.shape[-1])
    if values.is_cpu:
        array = _native.values_gather(sizes, array_of(values), array_of(indices), threads)
        return tensor_of(array, shape, values)
    plan, values, indices = plan_of(values, indices, sizes), values.contiguous(), indices.contiguous()
    result = values.new_empty(shape)
    plan.gather(_stream(values), values.data_ptr(), indices.data_ptr(), result.data_ptr())
    return result


def gather_backward(
    indices: Tensor, grad: Tensor, rows: int, batch: bool, threads: int | None = None
) -> Tensor:
    """Returns the gradient of the values from that of the rows."""
    sizes = sizes_of(indices, rows, grad.shape[-1], batch)
    shape = shape_of_values(sizes, batch)
    if grad.is_cpu:
        array = _native.values_gather_backward(sizes, array_of(indices), array_of(grad), threads)
        return tensor_of(array, shape, grad)
    plan, indices, grad = plan_of(grad, indices, sizes), indices.contiguous(), grad.contiguous()
    sent, scratch = grad.new_empty(shape), _scratch(plan, grad)
    plan.gather_backward(
        _stream(grad), indices.data_ptr(), grad.data_ptr(), sent.data_ptr(), scratch.data_ptr()
    )
    return sent


# ----------------------------------------------------------------------------------- gather_max


def gather_max(
    values: Tensor, indices: Tensor, add: Tensor | None, threads: int | None, keep: bool = True
) -> tuple[Tensor, Tensor]:
    """Returns the largest sums and, with ``keep``, which of the k each is."""
    sizes, shape = _sizes(values, indices), (*indices.shape[:-1], values.shape[-1])
    if values.is_cpu:
        more = None if add is None else array_of(add)
        array, which = _native.values_gather_max(
            sizes, array_of(values), array_of(indices), more, threads
        )
        return tensor_of(array, shape, values), torch.from_numpy(which).view(shape)
    plan, values, indices = plan_of(values, indices, sizes), values.contiguous(), indices.contiguous()
    add = None if add is None else add.contiguous()
    largest = values.new_empty(shape)
    chosen = values.new_empty(shape if keep else 0, dtype=torch.int32)
    plan.gather_max(
        _stream(values), values.data_ptr(), indices.data_ptr(), memory.address_of(add),
        largest.data_ptr(), chosen.data_ptr(),
    )
    return largest, chosen


def gather_max_backward(
    indices: Tensor, chosen: Tensor, grad: Tensor, rows: int, add: bool, batch: bool,
    threads: int | None, values: bool = True,
) -> tuple[Tensor, Tensor]:
    """Returns the gradients of the values and of ``add``; empty where they are not needed."""
    sizes = sizes_of(indices, rows, grad.shape[-1], batch)
    shape, whole = shape_of_values(sizes, batch), (*indices.shape, grad.shape[-1])
    if grad.is_cpu:
        array, added = _native.values_gather_max_backward(
            sizes, array_of(indices), array_of(chosen), array_of(grad), add, threads
        )
        more = grad.new_empty(0) if added is None else tensor_of(added, whole, grad)
        return tensor_of(array, shape, grad), more
    plan, indices, grad = plan_of(grad, indices, sizes), indices.contiguous(), grad.contiguous()
    chosen = chosen.contiguous()
    of_values, of_add = grad.new_empty(shape if values else 0), grad.new_empty(whole if add else 0)
    scratch = _scratch(plan, grad)
    plan.gather_max_backward(
        _stream(grad), indices.data_ptr(), chosen.data_ptr(), grad.data_ptr(),
        of_values.data_ptr(), of_add.data_ptr(), scratch.data_ptr(),
    )
    return of_values, of_add


# ---------------------------------------------------------------------------------- interpolate


def interpolate(
    values: Tensor, indices: Tensor, weights: Tensor, threads: int | None
) -> Tensor:
    """Returns weighted sums of the indexed rows."""
    sizes, shape = _sizes(values, indices), (*indices.shape[:-1], values.shape[-1])
    if values.is_cpu:
        array = _native.values_interpolate(
            sizes, array_of(values), array_of(indices), array_of(weights), threads
        )
        return tensor_of(array, shape, values)
    plan, values, indices = plan_of(values, indices, sizes), values.contiguous(), indices.contiguous()
    weights, sums = _weights_for(weights, values), values.new_empty(shape)
    plan.interpolate(
        _stream(values), values.data_ptr(), indices.data_ptr(), weights.data_ptr(), sums.data_ptr()
    )
    return sums


def interpolate_backward(
    values: Tensor, indices: Tensor, weights: Tensor, grad: Tensor, of_values: bool,
    of_weights: bool, threads: int | None,
) -> tuple[Tensor, Tensor]:
    """Returns the gradients of values and weights; empty where they are not needed."""
    sizes = _sizes(values, indices)
    if values.is_cpu:
        gradients = _native.values_interpolate_backward(
            sizes, array_of(values), array_of(indices), array_of(weights), array_of(grad),
            (of_values, of_weights), threads,
        )
        pairs = zip(gradients, (values, weights))
        first, second = [
            like.new_empty(0) if part is None else tensor_of(part, tuple(like.shape), like)
            for part, like in pairs
        ]
        return first, second
    plan, values, indices = plan_of(values, indices, sizes), values.contiguous(), indices.contiguous()
    weights, grad = _weights_for(weights, values), grad.contiguous()
    to_values = values.new_empty(values.shape if of_values else 0)
    to_weights = weights.new_empty(weights.shape if of_weights else 0)
    scratch = _scratch(plan, values)
    plan.interpolate_backward(
        _stream(values), values.data_ptr(), indices.data_ptr(), weights.data_ptr(),
        grad.data_ptr(), to_values.data_ptr(), to_weights.data_ptr(), scratch.data_ptr(),
    )
    return to_values, to_weights


def _weights_for(weights: Tensor, values: Tensor) -> Tensor:
    """Returns dense weights after checking their dtype."""
    expected = torch.float64 if values.dtype == torch.float64 else torch.float32
    if weights.dtype != expected:
        raise TypeError(f"weights must be {expected} for values of {values.dtype}, not {weights.dtype}")
    return weights.contiguous()


# -------------------------------------------------------------------------------------- weights


def weights(distances: Tensor, power: int, eps: float) -> Tensor:
    """Returns the weights of neighbors at these distances."""
    if distances.is_cpu:
        array = _native.values_weights(distances.shape[-1], array_of(distances), power, eps)
        return tensor_of(array, tuple(distances.shape), distances)
    return _weights_on_cuda(distances.contiguous(), None, power, eps)


def weights_backward(distances: Tensor, grad: Tensor, power: int, eps: float) -> Tensor:
    """Returns the gradient of the distances."""
    if distances.is_cpu:
        array = _native.values_weights_backward(
            distances.shape[-1], array_of(distances), power, eps, array_of(grad)
        )
        return tensor_of(array, tuple(distances.shape), distances)
    return _weights_on_cuda(distances.contiguous(), grad.contiguous(), power, eps)


def _weights_on_cuda(distances: Tensor, grad: Tensor | None, power: int, eps: float) -> Tensor:
    memory.refuse_other_types(distances)
    result = torch.empty_like(distances, memory_format=torch.contiguous_format)
    places, k = distances.shape[:-1].numel(), distances.shape[-1]
    if result.numel():
        device = distances.get_device()
        _native.cuda_weights(
            device, fast_path.current_stream(device), distances.dtype == torch.float64,
            (places, k), power, eps, distances.data_ptr(), memory.address_of(grad),
            result.data_ptr(),
        )
    return result
