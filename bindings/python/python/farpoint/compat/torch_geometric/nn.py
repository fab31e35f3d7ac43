"""Drop-in replacement for ``torch_geometric.nn``: its functions on points, which need neither ``torch_cluster`` nor
``pyg_lib``. Layers, ``approx_knn``, ``approx_knn_graph`` and ``graclus`` are not included.

    from torch_geometric.nn import MLP, PointConv, fps, radius
    ->
    from torch_geometric.nn import MLP, PointConv
    from farpoint.compat.torch_geometric.nn import fps, radius

The notes of ``farpoint.compat.torch_cluster`` apply here, too; functions state where they differ
from it. ``knn_interpolate`` and ``voxel_grid`` do not support ``torch.jit.script``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...neighbors import knn as search
from ...operators import interpolate
from .. import torch_cluster
from .._clouds import by_batches, rows_of
from .._edges import answerable
from .._tensors import require
from ..torch_cluster import knn, knn_graph, nearest, radius, radius_graph

__all__ = [
    "fps", "knn", "knn_graph", "knn_interpolate", "nearest", "radius", "radius_graph", "voxel_grid",
]


def fps(
    x: Tensor,
    batch: Tensor | None = None,
    ratio: Tensor | float | None = 0.5,
    random_start: bool = True,
    batch_size: int | None = None,
) -> Tensor:
    """Choose (M,) int64 rows of x (N, F) by farthest point sampling of concatenated
    clouds.

    As ``farpoint.compat.torch_cluster.fps``, including how it differs on purpose; the points are
    named x.
    """
    return torch_cluster.fps(x, batch, ratio, random_start, batch_size)


def knn_interpolate(
    x: Tensor,
    pos_x: Tensor,
    pos_y: Tensor,
    batch_x: Tensor | None = None,
    batch_y: Tensor | None = None,
    k: int = 3,
    num_workers: int = 1,
) -> Tensor:
    """Interpolate features at the points of y as weighted means over their k nearest points of x.

    Parameters
    ----------
    x:
        (N, F) features, with respect to which the result is differentiable.
    pos_x, pos_y:
        (N, D) and (M, D) positions, without gradients, as in the original.
    batch_x, batch_y:
        (N,) and (M,) cloud index of each point, ascending from 0; one cloud if None.

    Returns
    -------
    (M, F): weights are ``1 / max(d * d, 1e-16)``.

    Differs on purpose: gradients have the same bits on every run; float16 and bfloat16 are computed in
    float32, in which 1e-16 is not 0; points of a cloud without points of x get 0, not NaN. Ties and NaN are
    handled as by ``knn``.
    """
    require(x=x)
    if x.dim() != 2 or len(x) != len(pos_x):
        raise ValueError(f"x has shape {tuple(x.shape)}; it must be (N, F) for {len(pos_x)} points")
    points, queries = rows_of(pos_x, "pos_x"), rows_of(pos_y, "pos_y")
    values = x.to(torch.promote_types(x.dtype, pos_x.dtype))
    pair = by_batches(points, queries, (batch_x, batch_y), ("batch_x", "batch_y"), None)
    if not (points.numel() and queries.numel()):
        return values.sum() * 0 + values.new_zeros((len(queries), x.shape[1]))
    pair, rows = answerable(pair)
    neighbors = search(
        pair.queries, pair.points, min(k, len(points)) if k > 0 else k,
        x_offsets=pair.query_offsets, y_offsets=pair.point_offsets,
    )
    weights = (1 / neighbors.distances.clamp(min=1e-16)).masked_fill(neighbors.indices < 0, 0)
    wide = values.to(torch.promote_types(values.dtype, weights.dtype))
    weights = weights.to(wide.dtype)
    sums = interpolate(wide, neighbors.indices, weights)
    # Summed in the same order on every device.
    total = interpolate(wide.new_ones((len(points), 1)), neighbors.indices, weights)
    means = (sums / total.masked_fill(total == 0, 1)).to(values.dtype)
    if rows is None:
        return means
    return means.new_zeros((len(queries), x.shape[1])).index_copy(0, rows, means)


def voxel_grid(
    pos: Tensor,
    size: float | list[float] | Tensor,
    batch: Tensor | None = None,
    start: float | list[float] | Tensor | None = None,
    end: float | list[float] | Tensor | None = None,
) -> Tensor:
    """Compute the (N,) int64 voxel of each of (N, D) points, with separate voxels for each
    cloud of ``batch``.

    ``size``, ``start`` and ``end`` are numbers, or one per axis; the grid covers the
    bounding box of the points unless they are set. Differs on purpose as
    ``farpoint.compat.torch_cluster.grid_cluster``.
    """
    require(pos=pos, batch=batch)
    points = pos.unsqueeze(-1) if pos.dim() == 1 else pos
    if batch is None:
        batch = torch.zeros(len(points), dtype=torch.int64, device=points.device)
    if len(points) == 0:
        return batch.new_empty(0, dtype=torch.int64)
    # The cloud index is an additional coordinate, with voxels of size 1.
    placed = torch.cat([points, batch.view(-1, 1).to(points.dtype)], 1)
    last = None if end is None else batch.max()
    return torch_cluster.grid_cluster(
        placed, _extended(size, points, 1), None if start is None else _extended(start, points, 0),
        None if end is None else _extended(end, points, last),
    )


def _extended(
    values: float | list[float] | Tensor, points: Tensor, last: int | Tensor | None
) -> Tensor:
    """Returns a number for each axis, and one more."""
    axes = points.shape[1]
    numbers = torch.as_tensor(values, device=points.device).to(points.dtype).reshape(-1)
    if len(numbers) not in (1, axes):
        raise ValueError(f"{len(numbers)} numbers for points of {axes} coordinates")
    numbers = numbers.expand(axes) if len(numbers) == 1 else numbers
    return torch.cat([numbers, torch.as_tensor(last, device=points.device).to(points.dtype).reshape(1)])
