"""PyTorch: nearest neighbours as custom operators that can be differentiated.

The compiled half searches: on the CPU in NumPy arrays of the same memory; on a GPU the kernels are
queued on the current stream, in memory of PyTorch's allocator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import _arrays, _cuda, _farpoint, _numpy, _torch, _torch_ops

if TYPE_CHECKING:
    from ._match import Match


# ------------------------------------------------------------------------------- interface


def nearest(x: Tensor, y: Tensor, match: Match, squared: bool) -> tuple[Tensor, Tensor]:
    """Distances and indices of x."""
    distances, indices = _search(x, y, match, False)[:2]
    if match.norm == 2 and not squared:
        distances = root(distances)
    return distances, indices


def chamfer(
    x: Tensor, y: Tensor, match: Match, plain: bool, reduction: str, one_sided: bool
) -> Tensor:
    """One value a cloud."""
    found = _search(x, y, match, not one_sided)
    sides = []
    lengths = (match.x_lengths, match.y_lengths)
    for distances, indices, given in zip(found[::2], found[1::2], lengths):
        apart = root(distances) if plain else distances
        sides.append(_reduce(apart, None if given is None else indices, reduction))
    if len(sides) == 1:
        return sides[0]
    return torch.maximum(*sides) if reduction == "max" else sides[0] + sides[1]


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
    zero = squares == 0
    return torch.where(zero, 0.0, torch.where(zero, 1.0, squares).sqrt())


def _search(x: Tensor, y: Tensor, match: Match, both: bool) -> tuple[Tensor, ...]:
    """Distances and indices of x, and of y if both are wanted; of a pair without the batch."""
    single = x.dim() == 2
    if single and not (match.x_lengths is None and match.y_lengths is None):
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({_torch.about(x)})")
    x, y = (x.unsqueeze(0), y.unsqueeze(0)) if single and y.dim() == 2 else (x, y)
    found = pairs(x, y, match.x_lengths, match.y_lengths, match.norm, match.threads, both)
    return tuple(part[0] for part in found) if single else found


def pairs(
    x: Tensor, y: Tensor, x_lengths: Any, y_lengths: Any, norm: int = 2,
    threads: int | None = None, both: bool = True,
) -> tuple[Tensor, ...]:
    """Distances and indices of x, and of y if both are wanted, of batches (B, N, D)."""
    for cloud in (x, y):
        _torch.check_points(cloud)
    if x.dtype != y.dtype or x.device != y.device:
        raise TypeError(
            f"both clouds must be of one type on one device ({_torch.about(x)}; {_torch.about(y)})"
        )
    if x.dim() != 3 or y.dim() != 3 or x.shape[0] != y.shape[0] or x.shape[2] != y.shape[2]:
        raise ValueError(
            "both must be clouds (N, D), or batches (B, N, D) of the same B and D "
            f"({_torch.about(x)}; {_torch.about(y)})"
        )
    if x.shape[0] > 0 and (x.shape[1] == 0 or y.shape[1] == 0):
        raise ValueError(f"an empty cloud ({_torch.about(x)}; {_torch.about(y)})")
    if norm not in (1, 2):
        raise ValueError(f"norm is {norm}; it must be 1 or 2")
    lengths = [_lengths(given, cloud) for given, cloud in ((x_lengths, x), (y_lengths, y))]
    found: tuple[Tensor, ...] = match_clouds(x, y, *lengths, norm, threads, both)
    return found if both else found[:2]


def _lengths(given: Any, cloud: Tensor) -> Tensor | None:
    """As the operator takes them. An empty cloud is refused where that needs no look at a GPU."""
    if given is None:
        return None
    lengths = _torch.lengths_of(given, cloud)
    if cloud.is_cuda and not isinstance(given, Tensor):
        whole = _arrays.integers(given, "lengths", 1)
        _numpy.refuse_empty(whole.tolist(), True, _torch.about(cloud))
    return lengths


# -------------------------------------------------------------------------------- operators


def _fake(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dx, dy = x.new_empty(x.shape[:2]), y.new_empty(y.shape[:2] if both else (y.shape[0], 0))
    return dx, dx.new_empty(dx.shape, dtype=torch.int64), dy, dy.new_empty(dy.shape, dtype=torch.int64)


def _on_cpu(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    if not hasattr(_farpoint, "match_clouds"):
        raise NotImplementedError("this build of farpoint has no nearest neighbours")
    found = _farpoint.match_clouds(
        x.detach().numpy(), y.detach().numpy(), None if x_lengths is None else x_lengths.tolist(),
        None if y_lengths is None else y_lengths.tolist(), norm, "auto", threads, both,
    )
    tensors = [torch.from_numpy(part) for part in found]
    if not both:
        tensors += _no_other_side(y)
    return tensors[0], tensors[1], tensors[2], tensors[3]


def _no_other_side(y: Tensor) -> list[Tensor]:
    none = (y.shape[0], 0)
    return [y.new_empty(none), y.new_empty(none, dtype=torch.int64)]


def _on_cuda(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int,
    threads: int | None, both: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queues a search on the current stream. Nothing here waits."""
    dx, dy = x.new_empty(x.shape[:2]), y.new_empty(y.shape[:2] if both else (y.shape[0], 0))
    ix, iy = (d.new_empty(d.shape, dtype=torch.int64) for d in (dx, dy))
    # Names are kept for copies and for scratch, so that none is given back before it is used.
    x, x_strides = _torch_ops.addressable(x)
    y, y_strides = _torch_ops.addressable(y)
    scratch = _scratch(x, y, both, norm, False)
    found = _cuda.Found(
        (dx.data_ptr(), dy.data_ptr() if both else 0),
        (ix.data_ptr(), iy.data_ptr() if both else 0), (scratch.data_ptr(), scratch.numel()),
    )
    _farpoint.cuda_match(
        _torch_ops.input_of(x, x_strides, x_lengths), _torch_ops.input_of(y, y_strides, y_lengths),
        found, norm,
    )
    return dx, ix, dy, iy


def _scratch(x: Tensor, y: Tensor, both: bool, norm: int, backward: bool) -> Tensor:
    """Scratch memory of PyTorch's allocator, which aligns to 512 bytes; its address is 0 if none
    is needed."""
    (pairs, n, dims), m = x.shape, y.shape[1]
    size = _cuda.match_scratch_bytes(
        x.get_device(), x.dtype == torch.float64, pairs, (n, m), dims, both, norm, backward
    )
    return x.new_empty(size, dtype=torch.uint8)


_torch_ops.define(
    "match_clouds(Tensor x, Tensor y, Tensor? x_lengths, Tensor? y_lengths, int norm, "
    "int? threads, bool both) -> (Tensor, Tensor, Tensor, Tensor)",
    _fake, _on_cpu, _on_cuda,
)
match_clouds = torch.ops.farpoint.match_clouds.default


# -------------------------------------------------------------------------------- gradients


def _fake_backward(x: Tensor, y: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), y.new_empty(y.shape)


def _backward_on_cpu(
    x: Tensor, y: Tensor, ix: Tensor, iy: Tensor, gx: Tensor, gy: Tensor, norm: int
) -> tuple[Tensor, Tensor]:
    if iy.shape[1] == 0:
        iy, gy = iy.new_full(y.shape[:2], -1), y.new_zeros(y.shape[:2])
    of_x, of_y = _farpoint.match_backward(
        x.numpy(), y.numpy(), ix.numpy(), iy.numpy(), gx.numpy(), gy.numpy(), norm
    )
    return torch.from_numpy(of_x), torch.from_numpy(of_y)


def _backward_on_cuda(
    x: Tensor, y: Tensor, ix: Tensor, iy: Tensor, gx: Tensor, gy: Tensor, norm: int
) -> tuple[Tensor, Tensor]:
    # Dense, as promised to torch.compile, whatever the strides of the clouds.
    of_x, of_y = x.new_empty(x.shape), y.new_empty(y.shape)
    both = iy.shape[1] > 0
    x, x_strides = _torch_ops.addressable(x)
    y, y_strides = _torch_ops.addressable(y)
    parts = [part.contiguous() for part in (ix, iy, gx, gy)]
    scratch = _scratch(x, y, both, norm, True)
    wanted = _cuda.Gradients(
        (parts[0].data_ptr(), parts[1].data_ptr() if both else 0),
        (parts[2].data_ptr(), parts[3].data_ptr() if both else 0),
        (of_x.data_ptr(), of_y.data_ptr()), (scratch.data_ptr(), scratch.numel()),
    )
    _farpoint.cuda_match_backward(
        _torch_ops.input_of(x, x_strides, None), _torch_ops.input_of(y, y_strides, None), wanted,
        norm,
    )
    return of_x, of_y


_torch_ops.define(
    "match_clouds_backward(Tensor x, Tensor y, Tensor ix, Tensor iy, Tensor gx, Tensor gy, "
    "int norm) -> (Tensor, Tensor)",
    _fake_backward, _backward_on_cpu, _backward_on_cuda,
)
match_clouds_backward = torch.ops.farpoint.match_clouds_backward.default


def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    x, y, _, _, norm, _, _ = inputs
    ctx.mark_non_differentiable(output[1], output[3])
    ctx.save_for_backward(x, y, output[1], output[3])
    ctx.norm = norm


def _backward(ctx: Any, gx: Tensor, _: Any, gy: Tensor, __: Any) -> tuple[Any, ...]:
    x, y, ix, iy = ctx.saved_tensors
    of_x, of_y = match_clouds_backward(
        x, y, ix, iy, gx.contiguous(), gy.contiguous(), ctx.norm
    )
    return of_x, of_y, None, None, None, None, None


torch.library.register_autograd(
    "farpoint::match_clouds", _backward, setup_context=_setup, lib=_torch_ops.library
)
