"""In place of ``torch_geometric.nn``: its functions on points, which need neither ``torch_cluster`` nor
``pyg_lib``. Layers are not here, nor ``approx_knn``, ``approx_knn_graph`` and ``graclus``.

    from torch_geometric.nn import MLP, PointConv, fps, radius
    ->
    from torch_geometric.nn import MLP, PointConv
    from farpoint.compat.torch_geometric.nn import fps, radius

What is said of ``farpoint.compat.torch_cluster`` holds here, too; where the functions differ from it
they say so. ``knn_interpolate`` and ``voxel_grid`` can not be compiled by ``torch.jit.script``.
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
    """(N, F) points -> (M,) int64 rows of x: farthest point samples of clouds that lie one after
    another.

    As ``farpoint.compat.torch_cluster.fps``, which says how it differs on purpose; the points are
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
    """Features of the points of y: means of those of their k nearest points of x.

    Parameters
    ----------
    x:
        (N, F) features, which the result can be differentiated with respect to.
    pos_x, pos_y:
        (N, D) and (M, D) positions, which it can not, as in the original.
    batch_x, batch_y:
        (N,) and (M,) cloud of each point, ascending from 0; one cloud if None.

    Returns
    -------
    (M, F): weights are ``1 / max(d * d, 1e-16)``.

    Differs on purpose: gradients are the same bits on every run; float16 and bfloat16 are computed in
    float32, in which 1e-16 is not 0; points of a cloud without points of x get 0, not NaN. Ties and NaN: as
    ``knn``.
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
    found = search(
        pair.queries, pair.points, min(k, len(points)) if k > 0 else k,
        x_offsets=pair.query_offsets, y_offsets=pair.point_offsets,
    )
    weights = (1 / found.distances.clamp(min=1e-16)).masked_fill(found.indices < 0, 0)
    wide = values.to(torch.promote_types(values.dtype, weights.dtype))
    weights = weights.to(wide.dtype)
    sums = interpolate(wide, found.indices, weights)
    # Added in the same order on every device.
    total = interpolate(wide.new_ones((len(points), 1)), found.indices, weights)
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
    """(N, D) points, size of a voxel -> (N,) int64: the voxel that each point lies in, others for each
    cloud of ``batch``.

    ``size``, ``start`` and ``end`` are numbers, or one for each of the D axes; the grid has the
    corners of the points unless they are given. Differs on purpose as
    ``farpoint.compat.torch_cluster.grid_cluster``.
    """
    require(pos=pos, batch=batch)
    points = pos.unsqueeze(-1) if pos.dim() == 1 else pos
    if batch is None:
        batch = torch.zeros(len(points), dtype=torch.int64, device=points.device)
    if len(points) == 0:
        return batch.new_empty(0, dtype=torch.int64)
    # The cloud is one coordinate more, of voxels of length 1 from cloud 0 on.
    placed = torch.cat([points, batch.view(-1, 1).to(points.dtype)], 1)
    last = None if end is None else batch.max()
    return torch_cluster.grid_cluster(
        placed, _extended(size, points, 1), None if start is None else _extended(start, points, 0),
        None if end is None else _extended(end, points, last),
    )


def _extended(
    given: float | list[float] | Tensor, points: Tensor, more: int | Tensor | None
) -> Tensor:
    """A number for each axis and one more."""
    axes = points.shape[1]
    numbers = torch.as_tensor(given, device=points.device).to(points.dtype).reshape(-1)
    if len(numbers) not in (1, axes):
        raise ValueError(f"{len(numbers)} numbers for points of {axes} coordinates")
    numbers = numbers.expand(axes) if len(numbers) == 1 else numbers
    return torch.cat([numbers, torch.as_tensor(more, device=points.device).to(points.dtype).reshape(1)])
