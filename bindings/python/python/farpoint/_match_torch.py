"""PyTorch: nearest neighbors as custom operators that can be differentiated.

The compiled half searches: on the CPU in NumPy arrays of the same memory; on a GPU the kernels are
queued on the current stream, in memory of PyTorch's allocator. Where only they would see a call of
an operator, they are called directly, which takes half as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import (
    _arrays, _chamfer_torch, _cuda, _farpoint, _match_derivatives, _numpy, _torch, _torch_ops,
)
from ._match import Asked, Match


# ------------------------------------------------------------------------------- interface


def nearest(x: Tensor, y: Tensor, match: Match, squared: bool) -> tuple[Tensor, Tensor]:
    """Distances and indices of x."""
    distances, indices = _search(x, y, match, False)
    if match.norm == 2 and not squared:
        distances = root(distances)
    return distances, indices


def chamfer(
    x: Tensor, y: Tensor, match: Match, plain: bool, reduction: str, one_sided: bool
) -> Tensor:
    """One value a cloud."""
    arguments = _arguments(x, y, match)
    asked = Asked(match.norm, plain, reduction, not one_sided, match.threads)
    value = _chamfer_torch.chamfer(*arguments, asked)
    return reduced(*arguments, asked) if value is None else value


def reduced(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, asked: Asked
) -> Tensor:
    """The same by a search and PyTorch's operations, with all derivatives that those have."""
    lengths = (x_lengths, y_lengths)
    padded = x_lengths is not None or y_lengths is not None
    found = _found(x, y, *lengths, asked.norm, asked.threads, asked.both, indices=padded)
    sides = []
    for distances, indices, given in zip(found[::2], found[1::2], lengths):
        apart = root(distances) if asked.plain else distances
        sides.append(_reduce(apart, None if given is None else indices, asked.reduction))
    if len(sides) == 1:
        return sides[0]
    return torch.maximum(*sides) if asked.reduction == "max" else sides[0] + sides[1]


def _reduce(distances: Tensor, indices: Tensor | None, reduction: str) -> Tensor:
    """One value a cloud; indices, if given, tell which rows are padding and do not count."""
    if reduction == "max":
        return distances.amax(dim=-1)
    if reduction == "mean" and indices is None:
        return distances.mean(dim=-1)
    total = distances.sum(dim=-1)
    if reduction == "sum" or indices is None:
        return total
    return total / (indices >= 0).sum(dim=-1)


def root(squares: Tensor) -> Tensor:
    """Square roots whose gradient at 0 is 0 and not infinite."""
    if not squares.requires_grad and _torch_ops.only_kernels_see(squares):
        return squares.sqrt()
    # Not `where` with numbers, which it would copy to a GPU and wait.
    zero = squares == 0
    return squares.masked_fill(zero, 1).sqrt().masked_fill(zero, 0)


def pairs(
    x: Tensor, y: Tensor, x_lengths: Any, y_lengths: Any, norm: int = 2,
    threads: int | None = None, both: bool = True,
) -> tuple[Tensor, ...]:
    """Distances and indices of x, and of y if both are wanted, of batches (B, N, D)."""
    if x.dim() == 2 or y.dim() == 2:
        raise ValueError(f"both must be batches (B, N, D) of the same B and D ({_about(x, y)})")
    found: tuple[Tensor, ...] = _search(x, y, Match(x_lengths, y_lengths, norm, threads), both)
    return found


def _search(x: Tensor, y: Tensor, match: Match, both: bool, indices: bool = True) -> Any:
    """The same of batches or of a pair of clouds (N, D) and (M, D). Without ``indices`` they may be
    None."""
    return _found(*_arguments(x, y, match), match.norm, match.threads, both, indices)


def _arguments(
    x: Tensor, y: Tensor, match: Match
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Clouds and lengths as the operators take them. Refuses what can't be matched."""
    x, y = _checked(x, y)
    x_lengths, y_lengths, norm, threads = match
    if norm not in (1, 2):
        raise ValueError(f"norm is {norm}; it must be 1 or 2")
    _torch.check_threads(threads)
    if x_lengths is not None:
        x_lengths = _lengths(x_lengths, x)
    if y_lengths is not None:
        y_lengths = _lengths(y_lengths, y)
    return x, y, x_lengths, y_lengths


def _found(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool, indices: bool = True,
) -> Any:
    """A search among what was checked."""
    arguments = (x, y, x_lengths, y_lengths, norm, threads, both)
    if not _torch_ops.only_kernels_see(x, y, x_lengths, y_lengths):
        search = _match_derivatives.search if _match_derivatives.wanted() else match_clouds
        found = search(*arguments)
        return found if both else found[:2]
    if torch.is_grad_enabled() and (x.requires_grad or y.requires_grad):
        return _search_differentiably(*arguments)
    return _kernel(*arguments, indices)


def _checked(x: Tensor, y: Any) -> tuple[Tensor, Tensor]:
    """Both as kernels take them. Refuses what is no pair of clouds."""
    if not isinstance(y, Tensor):
        raise TypeError(
            f"x is a tensor and y is none ({_torch.about(x)}; {_arrays.name(y)}); give a tensor, as "
            "torch.as_tensor(y, device=x.device) makes"
        )
    x, y = _torch.checked(x), _torch.checked(y)
    if x.dtype != y.dtype or x.device != y.device:
        raise TypeError(f"both clouds must be of one type on one device ({_about(x, y)})")
    shape, other, batch = x.shape, y.shape, x.dim() == 3
    same = x.dim() == y.dim() and shape[-1] == other[-1]
    if not same or (batch and shape[0] != other[0]):
        raise ValueError(
            "both must be clouds (N, D), or batches (B, N, D) of the same B and D "
            f"({_about(x, y)})"
        )
    if (shape[-2] == 0 or other[-2] == 0) and not (batch and shape[0] == 0):
        raise ValueError(f"an empty cloud ({_about(x, y)})")
    return x, y


def _about(x: Tensor, y: Tensor) -> str:
    return f"{_torch.about(x)}; {_torch.about(y)}"


def _lengths(given: Any, cloud: Tensor) -> Tensor:
    """As the operator takes them. An empty cloud is refused where that needs no look at a GPU."""
    if cloud.dim() == 2:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({_torch.about(cloud)})")
    lengths = _torch.lengths_of(given, cloud)
    if cloud.is_cuda and not isinstance(given, Tensor):
        whole = _arrays.integers(given, "lengths", 1)
        _numpy.refuse_empty(whole.tolist(), True, _torch.about(cloud))
    return lengths


# ---------------------------------------------------------------------------------- kernels


def _kernel(x: Tensor, *rest: Any) -> tuple[Any, ...]:
    """Distances and indices of x, and of y if both are wanted; clouds (N, D) or batches. Without
    ``indices`` these are None."""
    return _on_cuda(x, *rest) if x.is_cuda else _on_cpu(x, *rest)


def _on_cpu(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool, indices: bool = True,
) -> tuple[Any, ...]:
    if not hasattr(_farpoint, "match_clouds"):
        raise NotImplementedError("this build of farpoint has no nearest neighbors")
    found = _farpoint.match_clouds(
        _batch(x), _batch(y), None if x_lengths is None else x_lengths.tolist(),
        None if y_lengths is None else y_lengths.tolist(), norm, "auto", threads, both,
    )
    single = x.dim() == 2
    return tuple([
        torch.from_numpy(part[0] if single else part) if indices or k % 2 == 0 else None
        for k, part in enumerate(found)
    ])


def _batch(part: Tensor, axes: int = 3) -> np.ndarray:
    """The same memory as a batch of NumPy's, which has so many axes."""
    array = _torch_ops.array_of(part)
    return array if array.ndim == axes else array[None]


def _on_cuda(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool, indices: bool = True,
) -> tuple[Any, ...]:
    """Queues a search on the current stream. Nothing here waits."""
    dx, ix = _room(x, indices)
    dy, iy = _room(y, indices) if both else (None, None)
    # Names are kept for copies and for scratch, so that none is given back before it is used.
    x, x_strides = _torch_ops.addressable(x)
    y, y_strides = _torch_ops.addressable(y)
    scratch = _scratch(x, y, both, norm, False)
    found = _cuda.Found(_addresses(dx, dy), _addresses(ix, iy), _place(scratch))
    _farpoint.cuda_match(
        _torch_ops.input_of(x, x_strides, x_lengths), _torch_ops.input_of(y, y_strides, y_lengths),
        found, norm,
    )
    return (dx, ix, dy, iy) if both else (dx, ix)


def _room(clouds: Tensor, indices: bool = True) -> tuple[Tensor, Tensor | None]:
    """Memory for distances, and for indices if wanted."""
    # PyTorch reads numbers faster than a shape.
    distances = clouds.new_empty(*clouds.shape[:-1])
    return distances, torch.empty_like(distances, dtype=torch.int64) if indices else None


def _addresses(x: Tensor | None, y: Tensor | None) -> tuple[int, int]:
    return _torch_ops.address_of(x), _torch_ops.address_of(y)


def _scratch(x: Tensor, y: Tensor, both: bool, norm: int, backward: bool) -> Tensor | None:
    """Scratch memory of PyTorch's allocator, which aligns to 512 bytes, if any is needed."""
    pairs, n, dims = _torch_ops.batch_shape(x)
    size = _cuda.match_scratch_bytes(
        x.get_device(), x.dtype == torch.float64, pairs, (n, y.shape[-2]), dims, both, norm,
        backward,
    )
    return x.new_empty(size, dtype=torch.uint8) if size else None


def _place(memory: Tensor | None) -> tuple[int, int]:
    """Address and bytes."""
    return (0, 0) if memory is None else (memory.data_ptr(), memory.numel())


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
    """The kernel with as many answers every time."""
    found = _kernel(x, y, *rest)
    return found if len(found) == 4 else found + _no_other_side(y)


match_clouds = _torch_ops.define(
    "match_clouds(Tensor x, Tensor y, Tensor? x_lengths, Tensor? y_lengths, int norm, "
    "int? threads, bool both) -> (Tensor, Tensor, Tensor, Tensor)",
    _fake, _operator, _operator,
)


# -------------------------------------------------------------------------------- gradients


def _fake_backward(x: Tensor, y: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), y.new_empty(y.shape)


def _backward_kernel(x: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    """Gradients of both clouds from those of the distances. ``iy`` and ``gy`` are None if only
    points of x looked for their nearest."""
    return _backward_on_cuda(x, *rest) if x.is_cuda else _backward_on_cpu(x, *rest)


def _backward_on_cpu(
    x: Tensor, y: Tensor, ix: Tensor, iy: Tensor | None, gx: Tensor, gy: Tensor | None, norm: int,
    threads: int | None = None,
) -> tuple[Tensor, Tensor]:
    if iy is None or gy is None:
        iy, gy = ix.new_full(y.shape[:-1], -1), gx.new_zeros(y.shape[:-1])
    of_x, of_y = _farpoint.match_backward(
        _batch(x), _batch(y), _batch(ix, 2), _batch(iy, 2), _batch(gx, 2), _batch(gy, 2), norm,
        threads,
    )
    return torch.from_numpy(of_x).view(x.shape), torch.from_numpy(of_y).view(y.shape)


def _backward_on_cuda(
    x: Tensor, y: Tensor, ix: Tensor, iy: Tensor | None, gx: Tensor, gy: Tensor | None, norm: int,
    threads: int | None = None,
) -> tuple[Tensor, Tensor]:
    # Dense, as promised to torch.compile, whatever the strides of the clouds.
    of_x, of_y = x.new_empty(x.shape), y.new_empty(y.shape)
    both = iy is not None and gy is not None
    x, x_strides = _torch_ops.addressable(x)
    y, y_strides = _torch_ops.addressable(y)
    parts = [None if part is None else part.contiguous() for part in (ix, iy, gx, gy)]
    scratch = _scratch(x, y, both, norm, True)
    wanted = _cuda.Gradients(
        _addresses(*parts[:2]), _addresses(*parts[2:]), _addresses(of_x, of_y), _place(scratch)
    )
    _farpoint.cuda_match_backward(
        _torch_ops.input_of(x, x_strides, None), _torch_ops.input_of(y, y_strides, None), wanted,
        norm,
    )
    return of_x, of_y


match_clouds_backward = _torch_ops.define(
    "match_clouds_backward(Tensor x, Tensor y, Tensor ix, Tensor? iy, Tensor gx, Tensor? gy, "
    "int norm) -> (Tensor, Tensor)",
    _fake_backward, _backward_kernel, _backward_kernel,
)
torch.library.register_autograd(
    "farpoint::match_clouds_backward", _match_derivatives.backward_of_gradients,
    setup_context=_match_derivatives.keep, lib=_torch_ops.library,
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
    # The operator has a gradient of its own, for those who want gradients of gradients.
    direct = not torch.is_grad_enabled() and _torch_ops.only_kernels_see(x, y, ix, iy, gx, gy)
    if direct:
        sent = _backward_kernel(x, y, ix, iy, gx, gy, ctx.norm, ctx.threads)
    else:
        sent = match_clouds_backward(x, y, ix, iy, gx, gy, ctx.norm)
    return (*sent, None, None, None, None, None)


torch.library.register_autograd(
    "farpoint::match_clouds", _backward, setup_context=_setup, lib=_torch_ops.library
)


class _Search(torch.autograd.Function):
    """The kernel with its gradients, without the operator."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[Tensor, ...]:
        found = _kernel(*arguments)
        _setup(ctx, arguments, found)
        return found

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        return _backward(ctx, *grads)


#: ``_Search.apply`` without its look for transforms: there are none where only kernels see a call.
_search_differentiably: Callable[..., tuple[Tensor, ...]]
_search_differentiably = super(torch.autograd.Function, _Search).apply
