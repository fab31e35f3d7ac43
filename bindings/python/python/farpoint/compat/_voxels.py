"""Voxels, numbered as by torch_cluster and pyg-lib."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.jit import is_scripting  # type: ignore[attr-defined]

from ._tensors import require

__all__ = ["grid_cluster"]


def grid_cluster(
    pos: Tensor, size: Tensor, start: Tensor | None = None, end: Tensor | None = None
) -> Tensor:
    """Compute the voxel of each point.

    Parameters
    ----------
    pos:
        (N, D) points, or (N,), of any numeric dtype.
    size:
        (D,) edge lengths of a voxel.
    start, end:
        (D,) corners of the grid; those of the points if None.

    Returns
    -------
    (N,) int64: the sum over the axes of ``trunc((pos - start) / size)`` times the number of voxels of the axes
    before, where an axis has ``trunc((end - start) / size) + 1``.

    Differs on purpose: an empty cloud gives nothing, and a number of sizes other than that of the coordinates
    raises ValueError on any device. NaN gives a meaningless voxel, as in the original.
    """
    if not is_scripting():
        require(pos=pos, size=size, start=start, end=end)
    points = pos.flatten(1) if pos.dim() != 1 else pos.unsqueeze(-1)
    if size.numel() != points.shape[1]:
        raise ValueError("size must have one length for each coordinate of pos")
    if points.shape[0] == 0:
        return torch.empty(0, dtype=torch.int64, device=points.device)
    low = torch.amin(points, 0) if start is None else start.reshape(-1)
    high = torch.amax(points, 0) if end is None else end.reshape(-1)
    if low.numel() != size.numel() or high.numel() != size.numel():
        raise ValueError("start and end must have one number for each coordinate of pos")
    lengths = size.reshape(-1)
    voxels = torch.true_divide(high - low, lengths).long() + 1
    steps = torch.cat([torch.ones_like(voxels[:1]), voxels[:-1].cumprod(0)])
    return (torch.true_divide(points - low, lengths).long() * steps).sum(1)
