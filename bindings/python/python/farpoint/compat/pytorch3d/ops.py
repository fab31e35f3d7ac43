"""Drop-in replacement for ``pytorch3d.ops``: its functions that search and sample points.

    from pytorch3d.ops import ball_query, knn_points    ->    from farpoint.compat.pytorch3d.ops import ..

All accept batches (N, P, D) of float32 and float64 with any D, and float16 and bfloat16, with float32
distances. All differ on purpose: gradients have the same bits on every run and the dtype of the
points (the original rounds to float32), CPU and GPU agree index by index, ties go to the lowest index.
Arrays raise TypeError; lengths above P or below 0 raise ValueError on the CPU, and are not checked on a GPU.
NaN and infinity raise ValueError on the CPU; on a GPU a search never finds such points, the result of
``sample_farthest_points`` is meaningless, and ``farpoint.check`` finds them.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, cast

import torch
from torch import Tensor

from ... import neighbors
from ..._torch.transfer import sent
from ...operators import gather
from ...sampling import sample, sample_padded
from .._common import about, any_of, int_list
from .._tensors import require
from ._padding import beyond, check_lengths, search

__all__ = [
    "KNN", "ball_query", "knn_gather", "knn_points", "masked_gather", "sample_farthest_points",
]


class KNN(NamedTuple):
    """Result of ``knn_points`` and ``ball_query``: distances (N, P1, K), int64 indices (N, P1, K),
    and the neighbors (N, P1, K, D) or None."""

    dists: Tensor
    idx: Tensor
    knn: Tensor | None


def knn_points(
    p1: Tensor,
    p2: Tensor,
    lengths1: Tensor | None = None,
    lengths2: Tensor | None = None,
    norm: int = 2,
    K: int = 1,
    version: int = -1,
    return_nn: bool = False,
    return_sorted: bool = True,
) -> KNN:
    """Find the K nearest points of p2 for each point of p1.

    Parameters
    ----------
    p1, p2:
        (N, P1, D) and (N, P2, D) points.
    lengths1, lengths2:
        (N,) number of valid points of each cloud, which may be 0.
    norm:
        2 (squared) or 1.
    K:
        Number of neighbors of each point, at least 1.
    version:
        Ignored: the algorithm is chosen automatically.
    return_nn:
        Return the neighbors, too.
    return_sorted:
        Ignored: neighbors are always sorted, the nearest first.

    Returns
    -------
    KNN: differentiable distances, and indices; 0 and 0 if a cloud has fewer than K
    points, and for padding.

    Differs on purpose as all functions here; the gradient of norm 1 is 0 where two coordinates are
    equal, not -1.
    """
    _check_pair(p1, p2)
    if norm not in (1, 2):
        raise ValueError("Support for 1 or 2 norm.")
    which = cast(Literal[1, 2], norm)

    def find(x: Tensor, y: Tensor, **lengths: Any) -> list[Tensor]:
        return list(neighbors.knn(x, y, K, norm=which, **lengths)[:2])

    dists, idx = _search(p1, p2, lengths1, lengths2, K, find)
    idx = idx.clamp(min=0)
    return KNN(dists, idx, knn_gather(p2, idx, lengths2) if return_nn else None)


def ball_query(
    p1: Tensor,
    p2: Tensor,
    lengths1: Tensor | None = None,
    lengths2: Tensor | None = None,
    K: int = 500,
    radius: float = 0.2,
    return_nn: bool = True,
    skip_points_outside_cube: bool = False,
) -> KNN:
    """Find the points of p2 nearer than the radius to each point of p1: the K of lowest index, ascending.

    Parameters
    ----------
    p1, p2, lengths1, lengths2, return_nn:
        As for ``knn_points``.
    K:
        Maximum number of neighbors of each point.
    radius:
        Points exactly at the radius are not neighbors: ``d * d < r * r``, with r and its square rounded
        to the dtype of the points.
    skip_points_outside_cube:
        Ignored: it does not change results.

    Returns
    -------
    KNN: differentiable squared distances, and indices, padded with 0 and -1.

    Differs on purpose as all functions here; the radius of float64 points is not rounded to float32,
    and a negative radius raises ValueError.
    """
    _check_pair(p1, p2)

    def find(x: Tensor, y: Tensor, **lengths: Any) -> list[Tensor]:
        return list(neighbors.ball_query(x, y, radius, K, **lengths)[:2])

    dists, idx = _search(p1, p2, lengths1, lengths2, K, find)
    return KNN(dists, idx, masked_gather(p2, idx) if return_nn else None)


def _check_pair(p1: Tensor, p2: Tensor) -> None:
    require(p1=p1, p2=p2)
    for name, points in (("p1", p1), ("p2", p2)):
        if points.dim() != 3:
            raise ValueError(f"{name} must be a batch (N, P, D) ({about(points)})")
    if p1.shape[0] != p2.shape[0]:
        raise ValueError("pts1 and pts2 must have the same batch dimension.")
    if p1.shape[2] != p2.shape[2]:
        raise ValueError("pts1 and pts2 must have the same point dimension.")


def _search(
    p1: Tensor, p2: Tensor, lengths1: Any, lengths2: Any, K: int, find: Any
) -> tuple[Tensor, Tensor]:
    """Returns distances, padded with 0, and indices, padded with -1."""
    x_lengths, y_lengths = check_lengths(lengths1, p1, "lengths1"), check_lengths(lengths2, p2, "lengths2")
    dists, idx = search(p1, p2, x_lengths, y_lengths, find, [(p1.shape[1], K)] * 2)
    return dists.masked_fill_(idx < 0, 0), idx


def knn_gather(x: Tensor, idx: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Gather (N, M, U) values by (N, L, K) indices to (N, L, K, U): ``x[n, idx[n, l, k]]``, and 0 if k is not
    below ``lengths[n]``, (N,).

    Differentiable. Differs on purpose as all functions here; index -1 gives 0.
    """
    require(x=x, idx=idx)
    if x.dim() != 3 or idx.dim() != 3:
        raise ValueError(f"x and idx must have three axes ({about(x)}; {about(idx)})")
    if len(x) != len(idx):
        raise ValueError("x and idx must have same batch dimension.")
    limits = check_lengths(lengths, x, "lengths")
    if limits is None and idx.shape[2] > x.shape[1]:
        limits = torch.full((len(x),), x.shape[1], dtype=torch.int64, device=x.device)
    if limits is not None:
        idx = idx.masked_fill(beyond(limits, idx.shape[2], idx.device).unsqueeze(1), -1)
    return masked_gather(x, idx)


def masked_gather(points: Tensor, idx: Tensor) -> Tensor:
    """Gather (N, P, D) values by (N, K) or (N, M, K) indices to (N, K, D) or (N, M, K, D); 0 for index -1.

    Differentiable. Differs on purpose as all functions here.
    """
    require(points=points, idx=idx)
    if len(idx) != len(points):
        raise ValueError("points and idx must have the same batch dimension")
    if idx.dim() not in (2, 3):
        raise ValueError(f"idx format is not supported {idx.shape!r}")
    if points.shape[1] == 0 and not any_of(idx >= 0):
        return points.new_zeros((*idx.shape, points.shape[2]))
    if points.is_floating_point():
        gathered: Tensor = gather(points, idx)
        return gathered
    # Integers, which have no gradient.
    rows = idx.long().flatten(1)
    picked = points.gather(1, rows.clamp(min=0).unsqueeze(-1).expand(-1, -1, points.shape[2]))
    return picked.masked_fill((rows < 0).unsqueeze(-1), 0).reshape(*idx.shape, points.shape[2])


def sample_farthest_points(
    points: Tensor,
    lengths: Tensor | None = None,
    K: Any = 50,
    random_start_point: bool = False,
) -> tuple[Tensor, Tensor]:
    """Choose points (N, K, D) of (N, P, D) clouds by farthest point sampling; return them and int64 indices (N, K).

    Parameters
    ----------
    points:
        (N, P, D) points.
    lengths:
        (N,) number of valid points of each cloud.
    K:
        Number of samples: an int, or one per cloud (a list or an (N,) tensor). A cloud with fewer points
        returns all; K is then the largest, padded with index -1 and point 0.
    random_start_point:
        Start at a random point, drawn from PyTorch's generator; else at point 0.

    Gradients flow through the chosen points. Differs on purpose: no index repeats, batches of 2
    to 7 clouds are correct on CUDA, coordinates may span more than 1e5, float64 is not rounded, CPU and
    CUDA agree, ties go to the lowest index. Random starts are different. A tensor K on a GPU
    synchronizes; lengths on a GPU are clamped to 0..P.
    """
    require(points=points, lengths=lengths)
    if points.dim() != 3:
        raise ValueError(f"points must be a batch (N, P, D) ({about(points)})")
    clouds, rows, _ = points.shape
    if lengths is not None and lengths.shape != (clouds,):
        raise ValueError("points and lengths must have same batch dimension.")
    limits = check_lengths(lengths, points, "lengths")
    if limits is None:
        limits = torch.full((clouds,), rows, dtype=torch.int64, device=points.device)
    else:
        limits = sent(limits, points.device).clamp(0, rows)
    start: Any = 0
    if random_start_point:
        drawn = torch.rand(clouds, device=points.device, dtype=torch.float64) * limits
        start = torch.minimum(drawn.long(), limits - 1).clamp(min=0).unsqueeze(-1)
    if isinstance(K, int):
        indices = sample(points, K, lengths=limits, start=start)
    else:
        each = int_list(K)
        if len(each) != clouds:
            raise ValueError("K and points must have the same batch dimension")
        indices = sample_padded(points, each, lengths=limits, start=start)
    return masked_gather(points, indices), indices
