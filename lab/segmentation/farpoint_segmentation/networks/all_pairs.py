"""Ball queries over all pairs, one thread per center, as in PointNet++: the baseline in timings."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["ball_query"]

#: Number of pairs per chunk on the CPU.
_PAIRS = 1 << 24

#: Centers per block of threads.
_CENTERS = 64


def ball_query(centers: Tensor, points: Tensor, radius: float, k: int) -> Tensor:
    """Find the k points of lowest index in each ball by comparing all pairs.

    On a GPU by a Triton kernel, whose products may be fused: a point exactly at the boundary of a ball may be counted
    as outside. On the CPU by PyTorch operations.

    Parameters
    ----------
    centers, points : tensor, (B, M, 3) and (B, N, 3)
        Clouds.
    radius : float
        Radius in the unit of the points.
    k : int
        Number of points per ball.

    Returns
    -------
    tensor of int32, (B, M, k)
        Ascending indices, padded with -1.
    """
    indices = centers.new_full((*centers.shape[:2], k), -1, dtype=torch.int32)
    if centers.is_cuda:
        _on_cuda(centers.contiguous(), points.contiguous(), radius, indices)
        return indices
    rows = max(1, _PAIRS // points.shape[1])
    for cloud, cloud_centers, cloud_indices in zip(points, centers, indices):
        for first in range(0, len(cloud_centers), rows):
            cloud_indices[first : first + rows] = _of_few(cloud_centers[first : first + rows], cloud, radius, k)
    return indices


def _of_few(centers: Tensor, points: Tensor, radius: float, k: int) -> Tensor:
    squares = centers.new_zeros(len(centers), len(points))
    for axis in range(3):
        squares += (centers[:, None, axis] - points[None, :, axis]).square_()
    limit = torch.tensor(radius, dtype=points.dtype)
    number = (squares < limit * limit).to(torch.int32).cumsum(1, dtype=torch.int32)
    # The j-th in the ball is where the number of points inside first reaches j.
    ranks = torch.arange(1, k + 1, dtype=torch.int32).expand(len(centers), k)
    place = torch.searchsorted(number, ranks.contiguous(), out_int32=True)
    return place.masked_fill_(place == len(points), -1)


_kernels: list[Any] = []


def _on_cuda(centers: Tensor, points: Tensor, radius: float, indices: Tensor) -> None:
    if not _kernels:
        from ._all_pairs_kernel import scan

        _kernels.append(scan)
    clouds, rows, k = indices.shape
    blocks = -(-rows // _CENTERS), clouds
    with torch.cuda.device(centers.device):
        _kernels[0][blocks](
            centers, points, indices, rows, points.shape[1], radius * radius, K=k, CENTERS=_CENTERS, num_warps=2
        )
