"""Drop-in replacement for ``pyg_lib.ops``: its functions on points. Functions on graphs and matrices are not included.

Clouds are concatenated in a tensor; ``ptr``, ``ptr_x`` and ``ptr_y`` are their offsets,
(B + 1,); one cloud if None. The notes of ``farpoint.compat.torch_cluster`` apply here,
too; all differ on purpose as the functions there. Pointers on a GPU are not checked.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from .. import _edges
from .._clouds import Pair, by_pointers, check_ends, rows_of
from .._common import int_list
from .._fps import sample_clouds
from .._tensors import require
from .._voxels import grid_cluster

__all__ = ["fps", "grid_cluster", "knn", "knn_graph", "nearest", "radius", "radius_graph"]


def fps(src: Tensor, ptr: Tensor, ratio: float = 0.5, random_start: bool = True) -> Tensor:
    """Choose (M,) int64 rows of src (N, D): ``ceil(ratio * n)`` of each cloud of n.

    As ``farpoint.compat.torch_cluster.fps``, including how it differs on purpose.
    """
    points = rows_of(src, "src")
    require(ptr=ptr)
    offsets = int_list(ptr)
    check_ends(offsets, len(points), "ptr")
    return sample_clouds(points, offsets, ratio, random_start)


def knn(
    x: Tensor,
    y: Tensor,
    k: int = 1,
    ptr_x: Tensor | None = None,
    ptr_y: Tensor | None = None,
    cosine: bool = False,
    num_workers: int = 1,
) -> Tensor:
    """Find (2, E) int64 edges between (N, D) and (M, D) points: rows of y, ascending, above the k nearest rows
    of x.

    As ``farpoint.compat.torch_cluster.knn``, including how it differs on purpose.
    """
    return _edges.knn_edges(_pair(x, y, ptr_x, ptr_y, cosine), k)


def knn_graph(
    x: Tensor,
    k: int,
    ptr: Tensor | None = None,
    loop: bool = False,
    flow: str = "source_to_target",
    cosine: bool = False,
    num_workers: int = 1,
) -> Tensor:
    """Find (2, E) int64 edges from each of (N, D) points to the k nearest points of its own cloud.

    As ``farpoint.compat.torch_cluster.knn_graph``, but reversed, as in pyg_lib: "source_to_target" puts the
    points above their neighbors and "target_to_source" neighbors above the
    points.
    """
    return _edges.knn_edges(_pair(x, x, ptr, ptr, cosine), k, not loop, not _edges.to_target(flow))


def radius(
    x: Tensor,
    y: Tensor,
    r: float = 1.0,
    ptr_x: Tensor | None = None,
    ptr_y: Tensor | None = None,
    max_num_neighbors: int | None = 32,
    num_workers: int = 1,
    ignore_same_index: bool = False,
) -> Tensor:
    """Find (2, E) int64 edges between (N, D) and (M, D) points: rows of y, ascending, above the rows of x nearer
    than r.

    As ``farpoint.compat.torch_cluster.radius``, including how it differs on purpose.
    """
    pair = _pair(x, y, ptr_x, ptr_y)
    return _edges.radius_edges(pair, r, max_num_neighbors, ignore_same_index, x is y)


def radius_graph(
    x: Tensor,
    r: float,
    ptr: Tensor | None = None,
    loop: bool = False,
    max_num_neighbors: int | None = 32,
    flow: str = "source_to_target",
    num_workers: int = 1,
) -> Tensor:
    """Find (2, E) int64 edges from each of (N, D) points to the points of its own cloud that are nearer than
    r.

    As ``farpoint.compat.torch_cluster.radius_graph``, but rows are as in ``knn_graph`` here.
    """
    turned = not _edges.to_target(flow)
    return _edges.radius_edges(_pair(x, x, ptr, ptr), r, max_num_neighbors, not loop, True, turned)


def nearest(
    x: Tensor, y: Tensor, ptr_x: Tensor | None = None, ptr_y: Tensor | None = None
) -> Tensor:
    """Find the (N,) int64 row of y (M, D) nearest to each point of x (N, D).

    As ``farpoint.compat.torch_cluster.nearest``, including how it differs on purpose.
    """
    pair = by_pointers(rows_of(y, "y"), rows_of(x, "x"), (ptr_y, ptr_x), ("ptr_y", "ptr_x"))
    return _edges.nearest_rows(pair, ("ptr_y", "ptr_x"))


def _pair(x: Any, y: Any, ptr_x: Any, ptr_y: Any, cosine: bool = False) -> Pair:
    points = rows_of(x, "x")
    queries = points if y is x else rows_of(y, "y")
    pair = by_pointers(points, queries, (ptr_x, ptr_y), ("ptr_x", "ptr_y"))
    return _edges.directed(pair) if cosine else pair
