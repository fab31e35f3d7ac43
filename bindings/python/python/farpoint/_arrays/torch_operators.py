"""Point operators on tensors. The functions implement ``interface.Library``; ``torch.compile`` traces
them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._records import Neighborhood, Sides
from .._torch import fast_path, interpolation, knn, memory, shape_cache
from .._torch import knn_kernels as kernels
from .._torch import values as operators
from .._torch import values_kernels as of_values
from .._torch.calls import wants_gradient
from .._torch.lazy_torch import untraced
from .._torch.registration import HALVES
from .._torch.search import root, rooted
from .._torch.transfer import numbers, sent
from . import integer_arrays
from .conversion import name
from .torch_arguments import (
    about, about_pair, check_threads, checked, is_supported, lengths_of, refuse_fractions, refuse_meta,
)
from .value_shapes import check_beside, check_shapes, wrong_index

_VALUES = (torch.float32, torch.float64, *HALVES)

# ------------------------------------------------------------------------------------- searches


def search(
    x: Tensor, y: Any, sides: Sides, request: Neighborhood, plain: bool
) -> tuple[Tensor, ...]:
    """Returns distances, indices and counts of the neighbors of each point."""
    prepared = None
    if sides.x_offsets is None:
        prepared = shape_cache.lookup(request, _prepare_search, x, y, sides.x_lengths, sides.y_lengths)
    if prepared is None:
        results = knn.search(*_arguments(x, y, sides, request), request)
    elif wants_gradient(x, y):
        results = knn.search_differentiably(x, y, *sides, *request, prepared)
    else:
        results = kernels.answer(prepared, x, y, *sides)
        return rooted(results[:1]) + results[1:] if plain else results
    return (root(results[0]), *results[1:]) if plain else results


def _prepare_search(request: Neighborhood, x: Tensor, y: Tensor, *lengths: Any) -> Any:
    """Returns the plan of a search in these tensors; None if one has to be converted."""
    arguments = _arguments(x, y, Sides(*lengths), request)
    unconverted = arguments[0] is x and arguments[1] is y and memory.are_lengths(*lengths)
    return kernels.prepare(x, y, request) if unconverted else None


def within(
    x: Tensor, y: Any, sides: Sides, request: Neighborhood, plain: bool
) -> tuple[Tensor, ...]:
    """Returns distances and indices of all neighbors, and the offsets of each point."""
    x, y, sides = _arguments(x, y, sides, request)
    refuse_meta(x, "the number of neighbors depends on")
    results = knn.within(x, y, sides, request)
    return (root(results[0]), *results[1:]) if plain else results


@untraced
def tree_of(y: Tensor, lengths: Any, offsets: Any, threads: int | None) -> tuple[Tensor, Any]:
    """Returns the tree of clouds for repeated searches, and the object to keep alive with it."""
    y = checked(y.detach() if y.requires_grad else y)
    refuse_meta(y, "an Index depends on")
    check_threads(threads)
    if offsets is not None:
        if y.dim() == 3:
            raise ValueError(f"offsets are for a tensor of shape (N, D) ({about(y)})")
        return kernels.tree_of(y, None, _offsets(offsets, y, "y"), threads)
    return kernels.tree_of(y, _lengths(lengths, y), None, threads)


def _arguments(
    x: Tensor, y: Any, sides: Sides, request: Neighborhood
) -> tuple[Tensor, Tensor, Sides]:
    """Returns clouds, lengths and offsets for the operators."""
    if not isinstance(y, Tensor):
        raise TypeError(
            f"x is a tensor and y is not ({about(x)}; {name(y)}); pass a tensor, as "
            "torch.as_tensor(y, device=x.device) makes"
        )
    same = y is x
    x = checked(x)
    y = x if same else checked(y)
    check_threads(request.threads)
    _refuse_other_clouds(x, y, sides)
    if request.narrow and y.shape[-2] >= 2**31:
        raise ValueError(f"indices of 32 bits do not reach all {y.shape[-2]} rows ({about(y)})")
    if sides.x_offsets is not None:
        begins = _offsets(sides.x_offsets, x, "x")
        both = same and sides.x_offsets is sides.y_offsets
        offsets = begins, begins if both else _offsets(sides.y_offsets, y, "y")
        if offsets[0].shape != offsets[1].shape:
            clouds = [len(part) - 1 for part in offsets]
            raise ValueError(
                f"{clouds[0]} clouds cannot be searched in {clouds[1]} ({about_pair(x, y)})"
            )
        return x, y, Sides(None, None, *offsets, sides.tree)
    if sides.x_lengths is None and sides.y_lengths is None:
        return x, y, sides
    x_lengths = _lengths(sides.x_lengths, x)
    both = same and sides.x_lengths is sides.y_lengths
    lengths = x_lengths, x_lengths if both else _lengths(sides.y_lengths, y)
    return x, y, sides._replace(x_lengths=lengths[0], y_lengths=lengths[1])


def _refuse_other_clouds(x: Tensor, y: Tensor, sides: Sides) -> None:
    """Raises unless x and y are a pair of clouds."""
    if x.dtype != y.dtype or x.device != y.device:
        raise TypeError(f"both clouds must be of the same type on the same device ({about_pair(x, y)})")
    shape, other, batch = x.shape, y.shape, x.dim() == 3
    same = x.dim() == y.dim() and shape[-1] == other[-1]
    if not same or (batch and shape[0] != other[0]):
        raise ValueError(
            "both must be clouds (N, D), or batches (B, N, D) of the same B and D "
            f"({about_pair(x, y)})"
        )
    if batch and sides.x_offsets is not None:
        raise ValueError(f"offsets are for a tensor of shape (N, D) ({about(x)})")
    has_queries = shape[-2] > 0 and not (batch and shape[0] == 0)
    if has_queries and other[-2] == 0:
        raise ValueError(f"the second cloud: the cloud has no usable point ({about_pair(x, y)})")


def _lengths(lengths: Any, cloud: Tensor) -> Tensor | None:
    if lengths is None:
        return None
    if cloud.dim() == 2:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({about(cloud)})")
    return lengths_of(lengths, cloud)


def _offsets(given: Any, cloud: Tensor, side: str) -> Tensor:
    """Returns offsets as int64 on the device of the clouds. Offsets on a GPU are not checked;
    kernels never read out of bounds."""
    what = f"{side}_offsets"
    if isinstance(given, Tensor):
        refuse_fractions(given, what, 1)
        if given.dim() != 1 or given.shape[0] == 0:
            raise ValueError(f"{what} of shape {tuple(given.shape)}; one more is needed than clouds")
        return sent(given, cloud.device)
    listed = integer_arrays.listed(given, what)
    rows = cloud.shape[0]
    ascends = all(before <= after for before, after in zip(listed, listed[1:]))
    if not ascends or listed[:1] != [0] or listed[-1] != rows:
        raise ValueError(f"{what} {listed} must ascend from 0 to {rows} ({about(cloud)})")
    return numbers(listed, cloud.device)


# --------------------------------------------------------------------------------------- values


def gather(values: Tensor, indices: Tensor, threads: int | None) -> Tensor:
    """Returns the indexed rows."""
    if values.dim() == 1:
        return gather(values.unsqueeze(-1), indices, threads).squeeze(-1)
    if not (values.is_floating_point() or values.is_complex()):
        return _gather_integers(values, indices)
    prepared = shape_cache.lookup("gather", _prepare_values, values, indices)
    if prepared is not None:
        if wants_gradient(values):
            result: Tensor = operators.gather_differentiably(values, indices, threads, prepared)
            return result
        return of_values.answer(prepared, values, indices)
    _check(values, indices, False)
    return operators.gather(values, _as_kernel_indices(indices), threads)


def _gather_integers(values: Tensor, indices: Tensor) -> Tensor:
    """Returns the indexed rows of integers and booleans, which have no gradient."""
    _check(values, indices, False, (values.dtype,))
    rows, channels = values.shape[-2:]
    if values.is_cpu and not fast_path.is_watched():
        check_indices(indices, rows)
    if rows == 0:
        return values.new_zeros((*indices.shape, channels))
    none = (indices < 0) | (indices >= rows)
    places = indices.long().masked_fill(none, 0)
    if values.dim() == 3:
        firsts = torch.arange(values.shape[0], device=values.device) * rows
        places = places + firsts.reshape(-1, *[1] * (indices.dim() - 1))
    gathered = values.reshape(-1, channels)[places]
    return gathered.masked_fill(none.unsqueeze(-1), 0)


def gather_max(
    values: Tensor, indices: Tensor, add: Tensor | None, threads: int | None
) -> Tensor:
    """Returns the maximum over the indexed rows."""
    prepared = shape_cache.lookup("gather_max", _prepare_values, values, indices, add)
    if prepared is not None:
        if wants_gradient(values, add):
            result: Tensor = operators.gather_max_differentiably(values, indices, add, threads, None)[0]
            return result
        return of_values.answer_max(prepared, values, indices, add)
    _check_added(values, indices, add)
    return operators.gather_max(values, _as_kernel_indices(indices), add, threads)


def interpolate(
    values: Tensor, indices: Tensor, weights: Tensor, threads: int | None
) -> Tensor:
    """Returns weighted sums of the indexed rows."""
    prepared = shape_cache.lookup("interpolate", _prepare_values, values, indices, weights)
    if prepared is not None:
        if wants_gradient(values, weights):
            result: Tensor
            result = interpolation.interpolate_differentiably(values, indices, weights, threads, prepared)
            return result
        return of_values.answer(prepared, values, indices, weights)
    weights = _checked_weights(values, indices, weights)
    return interpolation.interpolate(values, _as_kernel_indices(indices), weights, threads)


def _prepare_values(
    name: str, values: Tensor, indices: Tensor, more: Tensor | None, _: None
) -> Any:
    """Returns the plan of one of these operators for these tensors; None if one has to be converted."""
    if name == "gather":
        _check(values, indices, False)
    elif name == "gather_max":
        _check_added(values, indices, more)
    elif more is not None and _checked_weights(values, indices, more) is not more:
        return None
    return of_values.prepare(name, values, indices, more) if _as_kernel_indices(indices) is indices else None


def weights(distances: Tensor, power: int, eps: float) -> Tensor:
    """Returns the weights of neighbors at these distances."""
    prepared = shape_cache.lookup(("weights", power, eps), _prepare_weights, distances, distances)
    if prepared is not None:
        if wants_gradient(distances):
            result: Tensor = interpolation.weights_differentiably(distances, power, eps, None)
            return result
        return of_values.answer(prepared, distances)
    _check_distances(distances)
    return interpolation.inverse_distance_weights(distances, power, eps)


def _prepare_weights(request: tuple[str, int, float], distances: Tensor, *_: Any) -> Any:
    _check_distances(distances)
    return of_values.prepare_weights(distances, *request[1:])


def _check_distances(distances: Tensor) -> None:
    if distances.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"distances must be float32 or float64, not {distances.dtype}")
    if distances.dim() == 0:
        raise ValueError("distances must be of shape (..., k), not a number")


@untraced
def check_indices(indices: Tensor, rows: int) -> None:
    """Raises IndexError if an index is neither -1 nor a row."""
    refuse_fractions(indices, "indices")
    refuse_meta(indices, "check_indices reads")
    wrong = ((indices < -1) | (indices >= rows)).reshape(-1)
    count = int(wrong.sum())
    if count:
        place = int(wrong.int().argmax())
        raise wrong_index(count, place, int(indices.reshape(-1)[place]), rows)


def _check(values: Tensor, indices: Tensor, has_k_axis: bool, types: tuple[torch.dtype, ...] = _VALUES) -> None:
    """Raises for arguments that the operators do not support."""
    if values.dtype not in types:
        raise TypeError(
            "values must be float32, float64, float16 or bfloat16 "
            f"({_about(values, indices)})"
        )
    if values.device != indices.device or not is_supported(values):
        raise TypeError(
            f"values and indices must be on the CPU or on one CUDA device ({_about(values, indices)})"
        )
    refuse_fractions(indices, "indices")
    check_shapes(values, indices, has_k_axis, lambda: _about(values, indices))


def _check_added(values: Tensor, indices: Tensor, add: Tensor | None) -> None:
    _check(values, indices, True)
    if add is not None:
        _check_beside("add", add, (*indices.shape, values.shape[-1]), values, indices)
        if add.dtype != values.dtype:
            raise TypeError(
                f"add must be of the type of the values, {values.dtype}, not {add.dtype}"
            )


def _checked_weights(values: Tensor, indices: Tensor, weights: Tensor) -> Tensor:
    """Returns the weights in the dtype of the sums."""
    _check(values, indices, True)
    _check_beside("weights", weights, tuple(indices.shape), values, indices)
    if values.dtype in HALVES and weights.dtype in (torch.float32, values.dtype):
        return weights.float()
    if weights.dtype != values.dtype:
        kinds = f"{values.dtype}" + (" or float32" if values.dtype in HALVES else "")
        raise TypeError(f"weights must be of type {kinds}, not {weights.dtype}")
    return weights


def _check_beside(
    what: str, argument: Tensor, expected: tuple[Any, ...], values: Tensor, indices: Tensor
) -> None:
    check_beside(what, argument, expected, lambda: _about(values, indices))
    if argument.device != values.device:
        raise TypeError(
            f"{what} must be on {values.device}, not {argument.device} ({_about(values, indices)})"
        )


def _about(values: Tensor, indices: Tensor) -> str:
    return (
        f"values {tuple(values.shape)}, {values.dtype}, {values.device}; indices "
        f"{tuple(indices.shape)}, {indices.dtype}, {indices.device}"
    )


def _as_kernel_indices(indices: Tensor) -> Tensor:
    """Returns indices as int64 or int32, which kernels read."""
    return indices if indices.dtype in (torch.int64, torch.int32) else indices.long()
