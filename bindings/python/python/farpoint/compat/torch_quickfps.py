"""Drop-in replacement for ``torch_quickfps`` 2: farthest point sampling of batches, on the CPU and on a GPU.

All accept ``x`` (..., N, C) of float32, float64, float16 and bfloat16, and start from ``start_idx``, from the first
valid point of a ``mask``, or at random (``torch.manual_seed``). ``h`` and ``low_d`` have no effect on which points
are chosen and are ignored. All differ on purpose: ties go to the lowest index, float64 is sampled in float64, and bad
arguments raise ValueError where the original raises RuntimeError.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._common import about, any_of
from ._masked import sample_valid
from ._tensors import require

__all__ = ["sample", "sample_baseline", "sample_idx", "sample_idx_baseline"]


def sample(
    x: Tensor,
    k: int,
    h: int | None = None,
    start_idx: int | None = None,
    mask: Tensor | None = None,
    low_d: int | None = None,
    return_points: bool = True,
) -> Tensor | tuple[Tensor, Tensor]:
    """Choose k of (..., N, C) points: the points (..., k, C), which are differentiable, and their int64 indices
    (..., k), or the indices alone.

    As ``torch_quickfps.sample``, differing on purpose as all functions here.
    """
    indices = sample_idx(x, k, h, start_idx, mask, low_d)
    if not return_points:
        return indices
    return x.gather(-2, indices.unsqueeze(-1).expand(*indices.shape, x.shape[-1])), indices


def sample_idx(
    x: Tensor,
    k: int,
    h: int | None = None,
    start_idx: int | None = None,
    mask: Tensor | None = None,
    low_d: int | None = None,
) -> Tensor:
    """Choose k of (..., N, C) points: int64 indices (..., k).

    As ``torch_quickfps.sample_idx``, differing on purpose as all functions here.
    """
    require(x=x, mask=mask)
    if x.dim() < 2 or x.shape[-2] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; it must be (..., N, C) of at least one point")
    points = x.detach().reshape(-1, *x.shape[-2:])
    clouds, rows, _ = points.shape
    if not 1 <= k <= rows:
        raise ValueError(f"k is {k}; it must be from 1 to the number of points, {rows}")
    if start_idx is not None and not 0 <= start_idx < rows:
        raise ValueError(f"start_idx is {start_idx}; it must be one of {rows} rows ({about(x)})")
    valid = _valid(points, k, start_idx, mask)
    if start_idx is not None:
        start = torch.full((clouds,), start_idx, dtype=torch.int64, device=x.device)
    elif mask is not None:
        start = valid.to(torch.uint8).argmax(1)
    else:
        start = torch.randint(0, rows, (clouds,), device=x.device)
    return sample_valid(points, valid, k, start).view(*x.shape[:-2], k)


def _valid(points: Tensor, k: int, start_idx: int | None, mask: Tensor | None) -> Tensor:
    """Returns the mask (B, N)."""
    clouds, rows, _ = points.shape
    if mask is None:
        return torch.ones((clouds, rows), dtype=torch.bool, device=points.device)
    if mask.dtype not in (torch.bool, torch.uint8) or mask.numel() != clouds * rows or mask.device != points.device:
        raise ValueError(
            f"mask must be bool or uint8 (..., N) on the device of x, not {mask.dtype}, {tuple(mask.shape)}, "
            f"{mask.device} ({about(points)})"
        )
    valid = mask.reshape(clouds, rows).bool()
    if any_of(valid.sum(1) < k):
        raise ValueError(f"mask has fewer than k = {k} valid points in a cloud ({about(points)})")
    if start_idx is not None and any_of(~valid[:, start_idx]):
        raise ValueError(f"mask excludes start_idx = {start_idx} in a cloud ({about(points)})")
    return valid


sample_baseline = sample
sample_idx_baseline = sample_idx
