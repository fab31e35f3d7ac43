"""Drop-in replacement for ``torch_cluster``: farthest point sampling, nearest neighbors, balls and voxels.

Functions on graphs (``graclus_cluster``, ``random_walk``, ``neighbor_sampler``) are not included.
Clouds are concatenated in a tensor; ``batch`` has the cloud index of each row, ascending
from 0. All functions accept float32 and float64 tensors with any number of coordinates, float16 and
bfloat16, which are computed in float32, and integers, which are computed in float64. They support
``torch.jit.script``; under ``torch.compile`` they break the graph.

All differ on purpose: CPU and GPU agree index by index, ties go to the lowest index, unsorted
batches and other bad arguments raise ValueError, arrays TypeError. NaN and infinity raise ValueError on
the CPU; on a GPU a search never finds such points, the result of ``fps`` is meaningless, and
``farpoint.check`` finds them. A cloud may be empty: nothing is sampled from it, and queries in it have
no neighbors. ``num_workers`` and ``use_triton`` are ignored.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.jit import is_scripting  # type: ignore[attr-defined]

from . import _edges
from ._clouds import Pair, by_batches, check_ends, first_rows, rows_of
from ._common import int_list
from ._fps import sample_clouds
from ._scripted import define, edges, rows
from ._voxels import grid_cluster

__all__ = [
    "fps", "grid_cluster", "knn", "knn_graph", "nearest", "radius", "radius_graph",
]


def fps(
    src: Tensor,
    batch: Tensor | None = None,
    ratio: Tensor | float | None = None,
    random_start: bool = True,
    batch_size: int | None = None,
    ptr: Tensor | list[int] | None = None,
) -> Tensor:
    """Choose points of concatenated clouds by farthest point sampling.

    Parameters
    ----------
    src:
        (N, F) points, or (N,) of one coordinate; further axes are flattened.
    batch:
        (N,) cloud index of each point, ascending from 0; one cloud if None.
    ratio:
        ``ceil(ratio * n)`` points of each cloud of n; a number or a tensor, () or (B,). 0.5 if
        None. The product is computed in float32, as in the original; in float64 for a (B,) tensor of
        float64.
    random_start:
        Start at a random point, drawn from PyTorch's generator (``torch.manual_seed``); else at
        each cloud's first point.
    batch_size:
        Number of clouds, if known.
    ptr:
        (B + 1,) offsets of the clouds, instead of batch; a tensor or a list.

    Returns
    -------
    (M,) int64 rows of src, concatenated by cloud, each in order of choice.

    Differs on purpose: coordinates may be more than 224 apart (torch_cluster starts from a distance
    of 5e4 on CUDA), no index repeats, ratios outside 0 to 1 raise ValueError and 0 gives nothing,
    ratios of float16 clouds are not rounded to float16. Random starts are different.
    """
    if not is_scripting():
        points = rows_of(src, "src")
        if ptr is None:
            offsets = first_rows(points, batch, batch_size)
        else:
            offsets = int_list(ptr)
            check_ends(offsets, len(points), "ptr")
        return sample_clouds(points, offsets, ratio, random_start)
    if ratio is None:
        share = torch.tensor(0.5)
    elif isinstance(ratio, float):
        share = torch.tensor(ratio)
    else:
        share = ratio
    if ptr is None:
        first: Tensor | None = None
    elif isinstance(ptr, Tensor):
        first = ptr
    else:
        first = torch.tensor(ptr)
    result: Tensor = torch.ops.farpoint.cluster_fps(src, batch, share, random_start, batch_size, first)
    return result


def knn(
    x: Tensor,
    y: Tensor,
    k: int,
    batch_x: Tensor | None = None,
    batch_y: Tensor | None = None,
    cosine: bool = False,
    num_workers: int = 1,
    batch_size: int | None = None,
    use_triton: bool = False,
) -> Tensor:
    """Find the k nearest points of x for each point of y.

    Parameters
    ----------
    x, y:
        (N, F) and (M, F) points of the same dtype.
    k:
        Number of neighbors of each point, at least 1; all points of a cloud that has fewer.
    batch_x, batch_y:
        (N,) and (M,) cloud index of each point, ascending from 0; one cloud if None.
    cosine:
        Use the angle from the origin, not the distance.
    batch_size:
        Number of clouds, if known, which avoids synchronizing a GPU.

    Returns
    -------
    (2, E) int64 edges: rows of y, ascending, above rows of x, the nearest first.

    Differs on purpose: k may be above 100 on CUDA; cosine is supported on the CPU, too: points are divided by
    their norms, so that almost equal angles may be in another order, and a point at the origin,
    which has no angle, counts as NaN.
    """
    if not is_scripting():
        return _edges.knn_edges(_pair(x, y, batch_x, batch_y, batch_size, cosine), k)
    result: Tensor = torch.ops.farpoint.cluster_knn(
        x, y, k, batch_x, batch_y, cosine, num_workers, batch_size
    )
    return result


def knn_graph(
    x: Tensor,
    k: int,
    batch: Tensor | None = None,
    loop: bool = False,
    flow: str = "source_to_target",
    cosine: bool = False,
    num_workers: int = 1,
    batch_size: int | None = None,
    use_triton: bool = False,
) -> Tensor:
    """Find edges to the k nearest points of each point's own cloud.

    Parameters
    ----------
    x, k, batch, cosine, batch_size:
        As for ``knn``.
    loop:
        Include a point as its own neighbor.
    flow:
        "source_to_target": the first row has the neighbors, the second the points; "target_to_source":
        the reverse.

    Returns
    -------
    (2, E) int64 edges, by ascending point, the nearest neighbor first.

    Differs on purpose: as ``knn``; exactly k neighbors without a loop also if more than k points
    coincide (the original searches k + 1 and drops the point, if it is among them).
    """
    if not is_scripting():
        pair = _graph(x, batch, batch_size, cosine)
        return _edges.knn_edges(pair, k, not loop, _edges.to_target(flow))
    result: Tensor = torch.ops.farpoint.cluster_knn_graph(
        x, k, batch, loop, flow, cosine, num_workers, batch_size
    )
    return result


def radius(
    x: Tensor,
    y: Tensor,
    r: float,
    batch_x: Tensor | None = None,
    batch_y: Tensor | None = None,
    max_num_neighbors: int | None = 32,
    num_workers: int = 1,
    batch_size: int | None = None,
    ignore_same_index: bool = False,
    use_triton: bool = False,
) -> Tensor:
    """Find the points of x nearer than r to each point of y.

    Parameters
    ----------
    x, y, batch_x, batch_y, batch_size:
        As for ``knn``.
    r:
        Radius; points exactly at the radius are not neighbors.
    max_num_neighbors:
        Maximum number of neighbors of each point, those of lowest index. None for all.
    ignore_same_index:
        Exclude row i of x from the neighbors of row i of y.

    Returns
    -------
    (2, E) int64 edges: rows of y, ascending, above rows of x, ascending. Synchronizes a GPU.

    Differs on purpose: the neighbors kept are those of lowest index on the CPU, too, where the original
    keeps the first of its tree; r below 0 and a maximum of 0 neighbors raise ValueError.
    """
    if not is_scripting():
        pair = _pair(x, y, batch_x, batch_y, batch_size)
        return _edges.radius_edges(pair, r, max_num_neighbors, ignore_same_index, x is y)
    result: Tensor = torch.ops.farpoint.cluster_radius(
        x, y, r, batch_x, batch_y, max_num_neighbors, num_workers, batch_size, ignore_same_index
    )
    return result


def radius_graph(
    x: Tensor,
    r: float,
    batch: Tensor | None = None,
    loop: bool = False,
    max_num_neighbors: int | None = 32,
    flow: str = "source_to_target",
    num_workers: int = 1,
    batch_size: int | None = None,
    use_triton: bool = False,
) -> Tensor:
    """Find edges to the points of each point's own cloud that are nearer than r.

    Parameters
    ----------
    x, r, batch, max_num_neighbors, batch_size:
        As for ``radius``.
    loop, flow:
        As for ``knn_graph``.

    Returns
    -------
    (2, E) int64 edges, by ascending point and neighbor. Synchronizes a GPU.

    Differs on purpose: as ``radius``; never more than max_num_neighbors edges per point.
    """
    if not is_scripting():
        pair = _graph(x, batch, batch_size)
        turned = _edges.to_target(flow)
        return _edges.radius_edges(pair, r, max_num_neighbors, not loop, True, turned)
    result: Tensor = torch.ops.farpoint.cluster_radius_graph(
        x, r, batch, loop, max_num_neighbors, flow, num_workers, batch_size
    )
    return result


def nearest(
    x: Tensor,
    y: Tensor,
    batch_x: Tensor | None = None,
    batch_y: Tensor | None = None,
    use_triton: bool = False,
) -> Tensor:
    """Find the (N,) int64 row of y (M, F) nearest to each point of x (N, F).

    Differs on purpose: distances are exact (on the CPU the original scales all clouds to 0..1 and separates
    them by an additional coordinate). A cloud of x without points in y raises ValueError; clouds of y
    without points in x do not.
    """
    if not is_scripting():
        points, queries = rows_of(y, "y"), rows_of(x, "x")
        names = ("batch_y", "batch_x")
        pair = _nearest_pair(points, queries, batch_y, batch_x)
        return _edges.nearest_rows(pair, names)
    result: Tensor = torch.ops.farpoint.cluster_nearest(x, y, batch_x, batch_y)
    return result


# ------------------------------------------------------------------------------------------------


def _pair(
    x: Tensor, y: Tensor, batch_x: Tensor | None, batch_y: Tensor | None,
    batch_size: int | None, cosine: bool = False,
) -> Pair:
    points = rows_of(x, "x")
    queries = points if y is x else rows_of(y, "y")
    pair = by_batches(points, queries, (batch_x, batch_y), ("batch_x", "batch_y"), batch_size)
    return _edges.directed(pair) if cosine else pair


def _graph(x: Tensor, batch: Tensor | None, batch_size: int | None, cosine: bool = False) -> Pair:
    points = rows_of(x, "x")
    pair = by_batches(points, points, (batch, batch), ("batch", "batch"), batch_size)
    return _edges.directed(pair) if cosine else pair


def _nearest_pair(
    points: Tensor, queries: Tensor, batch_points: Tensor | None, batch_queries: Tensor | None
) -> Pair:
    """Returns the pair as for the other functions, but a missing batch is one cloud, whatever the other is."""
    batches = [batch_points, batch_queries]
    if any(batch is not None for batch in batches):
        for k, rows in enumerate((points, queries)):
            if batches[k] is None:
                batches[k] = torch.zeros(len(rows), dtype=torch.int64, device=rows.device)
    return by_batches(points, queries, (batches[0], batches[1]), ("batch_y", "batch_x"), None)


# Operators for torch.jit.script, which compiles neither these functions nor those that they call.
define(
    "cluster_fps(Tensor src, Tensor? batch, Tensor ratio, bool random_start, int? batch_size, "
    "Tensor? ptr) -> Tensor", fps, rows,
)
define(
    "cluster_knn(Tensor x, Tensor y, int k, Tensor? batch_x, Tensor? batch_y, bool cosine, "
    "int num_workers, int? batch_size) -> Tensor", knn, edges,
)
define(
    "cluster_knn_graph(Tensor x, int k, Tensor? batch, bool loop, str flow, bool cosine, "
    "int num_workers, int? batch_size) -> Tensor", knn_graph, edges,
)
define(
    "cluster_radius(Tensor x, Tensor y, float r, Tensor? batch_x, Tensor? batch_y, int? most, "
    "int num_workers, int? batch_size, bool ignore_same_index) -> Tensor", radius, edges,
)
define(
    "cluster_radius_graph(Tensor x, float r, Tensor? batch, bool loop, int? most, str flow, "
    "int num_workers, int? batch_size) -> Tensor", radius_graph, edges,
)
define(
    "cluster_nearest(Tensor x, Tensor y, Tensor? batch_x, Tensor? batch_y) -> Tensor", nearest,
    lambda x, *_: x.new_empty(x.shape[0], dtype=torch.int64),
)
