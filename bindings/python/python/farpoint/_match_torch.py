"""PyTorch: nearest neighbours as custom operators that can be differentiated.

On the CPU the compiled half searches. On a GPU PyTorch's own operations try all pairs, a stretch
at a time: the same distances and indices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import _farpoint, _torch, _torch_ops

if TYPE_CHECKING:
    from ._match import Match

#: Distances held at a time on a GPU.
_PAIRS = 1 << 26


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
    for distances, indices in zip(found[::2], found[1::2]):
        sides.append(_reduce(root(distances) if plain else distances, indices, reduction))
    if len(sides) == 1:
        return sides[0]
    return torch.maximum(*sides) if reduction == "max" else sides[0] + sides[1]


def _reduce(distances: Tensor, indices: Tensor, reduction: str) -> Tensor:
    if reduction == "max":
        return distances.amax(dim=-1)
    total = distances.sum(dim=-1)
    return total if reduction == "sum" else total / (indices >= 0).sum(dim=-1)


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
    lengths = [
        None if given is None else _torch.lengths_of(given, cloud)
        for given, cloud in ((x_lengths, x), (y_lengths, y))
    ]
    found: tuple[Tensor, ...] = match_clouds(x, y, *lengths, norm, threads, both)
    return found if both else found[:2]


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
    found = [*_one_way(x, y, x_lengths, y_lengths, norm)]
    found += _one_way(y, x, y_lengths, x_lengths, norm) if both else _no_other_side(y)
    return found[0], found[1], found[2], found[3]


def _one_way(
    x: Tensor, y: Tensor, x_lengths: Tensor | None, y_lengths: Tensor | None, norm: int
) -> tuple[Tensor, Tensor]:
    """All pairs. Each operation rounds on its own, and the first of equal minima is taken."""
    distances = x.new_zeros(x.shape[:2])
    indices = torch.full(x.shape[:2], -1, dtype=torch.int64, device=x.device)
    stretch = max(_PAIRS // max(y.shape[0] * y.shape[1], 1), 1)
    padding = None
    if y_lengths is not None:
        rows = torch.arange(y.shape[1], device=y.device)
        padding = (rows >= y_lengths.unsqueeze(-1)).unsqueeze(1)
    for begin in range(0, x.shape[1], stretch):
        part = x[:, begin : begin + stretch].unsqueeze(2)
        total = None
        for axis in range(x.shape[2]):
            apart = part[..., axis] - y[..., axis].unsqueeze(1)
            apart = apart * apart if norm == 2 else apart.abs()
            total = apart if total is None else total + apart
        assert total is not None
        if padding is not None:
            total = total.masked_fill(padding, torch.inf)
        nearest, which = total.min(dim=2)
        distances[:, begin : begin + stretch] = nearest
        indices[:, begin : begin + stretch] = which
    if x_lengths is not None:
        outside = torch.arange(x.shape[1], device=x.device) >= x_lengths.unsqueeze(-1)
        distances, indices = distances.masked_fill(outside, 0), indices.masked_fill(outside, -1)
    return distances, indices


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
    of_x, to_y = _send(x, y, ix, gx, norm)
    if iy.shape[1] == 0:
        return of_x.contiguous(), to_y
    of_y, to_x = _send(y, x, iy, gy, norm)
    return (of_x + to_x).contiguous(), (of_y + to_y).contiguous()


def _send(p: Tensor, q: Tensor, nearest: Tensor, grad: Tensor, norm: int) -> tuple[Tensor, Tensor]:
    """What points get by their own distances, and what they send to their nearest."""
    kept = nearest >= 0
    rows = nearest.clamp(min=0).unsqueeze(-1).expand(-1, -1, p.shape[2])
    apart = p - q.gather(1, rows)
    weight = (grad * kept).unsqueeze(-1)
    own = weight * apart.sign() if norm == 1 else (weight + weight) * apart
    # Accumulation by index sorts first: unlike index_add it is the same on every run.
    clouds = torch.arange(q.shape[0], device=q.device).unsqueeze(-1).expand_as(nearest)
    sent = torch.zeros_like(q, memory_format=torch.contiguous_format)
    sent.index_put_((clouds, nearest.clamp(min=0)), -own, accumulate=True)
    return own, sent


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
