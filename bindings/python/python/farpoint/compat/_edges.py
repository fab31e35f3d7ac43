"""Edges between points and their neighbors, as in torch_cluster, PyTorch Geometric and
pyg-lib."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._torch.lazy_torch import untraced
from ..neighbors import ball_query_raw, knn
from ._clouds import Pair

__all__ = ["answerable", "directed", "knn_edges", "nearest_rows", "radius_edges", "to_target"]

#: Above this number of potential neighbors, only memory for those found is allocated.
_MANY_PLACES = 1 << 24


@untraced
def knn_edges(pair: Pair, k: int, exclude_self: bool = False, turned: bool = False) -> Tensor:
    """Returns (2, E): queries, ascending, and the k nearest points of each, the nearest first; reversed if
    ``turned``."""
    if k > 0 and not (pair.points.numel() and pair.queries.numel()):
        return _none(pair)
    # No more neighbors than points.
    k = min(k, len(pair.points))
    pair, rows = answerable(pair)
    fewest = min((point_count for point_count, query_count in pair.sizes() if query_count), default=0) if pair.listed else 0
    full = fewest - exclude_self >= k and pair.finite
    return _edges(_nearest(pair, k, exclude_self, full), rows, full, turned)


def _nearest(pair: Pair, k: int, exclude_self: bool, full: bool) -> Tensor:
    """Returns the rows of the k nearest points of each query."""
    if full and pair.ends is not None and isinstance(pair.point_offsets, Tensor):
        clouds, sizes = len(pair.ends[0]) - 1, pair.sizes()
        if all(size == sizes[0] for size in sizes):  # as a batch, so that small clouds are recognized
            queries = pair.queries.unflatten(0, (clouds, -1))
            points = queries if pair.points is pair.queries else pair.points.unflatten(0, (clouds, -1))
            rows: Tensor = knn(queries, points, k, exclude_self=exclude_self).indices
            return rows.add_(pair.point_offsets[:-1].view(-1, 1, 1)).flatten(0, 1)
    indices: Tensor = knn(
        pair.queries, pair.points, k, x_offsets=pair.query_offsets, y_offsets=pair.point_offsets,
        exclude_self=exclude_self,
    ).indices
    return indices


@untraced
def radius_edges(
    pair: Pair, r: float, max_neighbors: int | None, exclude_self: bool = False, same: bool = False,
    turned: bool = False,
) -> Tensor:
    """Returns (2, E): queries, ascending, and the points nearer than r: the ``max_neighbors`` of lowest index, ascending.

    exclude_self: leave out the point with the index of the query; same: the cloud is searched in itself; turned:
    points come first.
    """
    if not float(r) >= 0:
        raise ValueError(f"r is {r}; it must be a number of at least 0")
    if max_neighbors is not None and max_neighbors < 1:
        raise ValueError(f"max_num_neighbors is {max_neighbors}; it must be 1 or more")
    if not (pair.points.numel() and pair.queries.numel()):
        return _none(pair)
    longest = max(point_count for point_count, _ in pair.sizes()) if pair.listed else len(pair.points)
    k = longest if max_neighbors is None else min(max_neighbors, longest)
    pair, rows = answerable(pair)
    # One more for the query itself, unless the search excludes it.
    places = k + 1 if exclude_self and not same else k
    is_ragged = len(pair.queries) * places > _MANY_PLACES
    # The square is rounded once, from double precision.
    neighbors: Any = ball_query_raw(
        pair.queries, pair.points, None if is_ragged else places, maximum=float(r) * float(r),
        x_offsets=pair.query_offsets, y_offsets=pair.point_offsets, exclude_self=exclude_self and same,
    )
    if not is_ragged and places == k:
        return _edges(neighbors.indices, rows, False, turned)
    edges = _all_edges(neighbors, rows) if is_ragged else _edges(neighbors.indices, rows, False, False)
    if places > k:
        edges = edges[:, edges[0] != edges[1]]
    edges = _cut(edges, k)
    return edges.flip(0) if turned else edges


@untraced
def nearest_rows(pair: Pair, names: tuple[str, str]) -> Tensor:
    """Returns the row of the nearest point for each query; names are those of the arguments for messages."""
    if not len(pair.queries):
        return torch.empty(0, dtype=torch.int64, device=pair.queries.device)
    if _any_lost(pair):
        raise ValueError(f"some clouds occur in {names[1]} that do not occur in {names[0]}")
    neighbors = knn(
        pair.queries, pair.points, 1, x_offsets=pair.query_offsets, y_offsets=pair.point_offsets
    )
    nearest: Tensor = neighbors.indices[:, 0]
    return nearest


def directed(pair: Pair) -> Pair:
    """Returns points and queries normalized to length 1, whose squared distances are in the
    order of angles; NaN for length 0."""
    points = _directions(pair.points)
    same = pair.queries is pair.points
    queries = points if same else _directions(pair.queries)
    return pair._replace(points=points, queries=queries, finite=pair.points.is_cpu)


def _directions(points: Tensor) -> Tensor:
    points = points.float() if points.dtype in (torch.float16, torch.bfloat16) else points
    lengths = points.double().square().sum(1, keepdim=True).sqrt()
    directions: Tensor = (points / lengths).to(points.dtype)
    return directions


def to_target(flow: str) -> bool:
    """Returns whether messages go to the points whose neighbors are searched."""
    if flow not in ("source_to_target", "target_to_source"):
        raise ValueError(f'flow is {flow!r}; it must be "source_to_target" or "target_to_source"')
    return flow == "source_to_target"


# ------------------------------------------------------------------------------------------------


def _none(pair: Pair) -> Tensor:
    return torch.empty((2, 0), dtype=torch.int64, device=pair.points.device)


def _lost(pair: Pair) -> list[int]:
    """Returns the clouds with queries and no points."""
    return [k for k, (point_count, query_count) in enumerate(pair.sizes()) if query_count and not point_count]


def _any_lost(pair: Pair) -> bool:
    if pair.listed:
        return bool(_lost(pair))
    has_points, has_queries = [offsets[1:] > offsets[:-1] for offsets in pair[2:4]]
    return bool((has_queries & ~has_points).any())


def answerable(pair: Pair) -> tuple[Pair, Tensor | None]:
    """Returns the pair without queries whose cloud has no points, and the rows of the remaining queries, or
    None for all. On a GPU such queries find nothing."""
    if pair.ends is None or isinstance(pair.point_offsets, Tensor) or not _lost(pair):
        return pair, None
    counts = [query_count if point_count else 0 for point_count, query_count in pair.sizes()]
    begins = [begin for begin, count in zip(pair.query_offsets, counts) if count]
    rows = torch.cat([
        torch.arange(begin, begin + count, device=pair.queries.device)
        for begin, count in zip(begins, [count for count in counts if count])
    ]) if begins else torch.empty(0, dtype=torch.int64, device=pair.queries.device)
    offsets = [sum(counts[:k]) for k in range(len(counts) + 1)]
    ends = pair.ends[0], offsets
    return Pair(pair.points, pair.queries[rows], pair.point_offsets, offsets, ends), rows


def _edges(indices: Tensor, rows: Tensor | None, full: bool, turned: bool) -> Tensor:
    """Returns the edges of (M, k) neighbors, -1 for none; ``full`` if there is no -1, which avoids
    synchronizing a GPU."""
    count, k = indices.shape
    if full:
        query_rows = torch.arange(count, device=indices.device) if rows is None else rows
        queries, points = query_rows.unsqueeze(-1).expand(-1, k), indices
    else:
        queries, place = (indices >= 0).nonzero(as_tuple=True)
        points = indices[queries, place]
        queries = queries if rows is None else rows[queries]
    edges = torch.stack([points, queries] if turned else [queries, points])
    return edges.flatten(1)


def _all_edges(balls: Any, rows: Tensor | None) -> Tensor:
    """Returns the edges of all neighbors in a ball."""
    counts = balls.offsets[1:] - balls.offsets[:-1]
    queries = torch.arange(len(counts), device=counts.device).repeat_interleave(
        counts, output_size=len(balls.indices)
    )
    return torch.stack([queries if rows is None else rows[queries], balls.indices])


def _cut(edges: Tensor, k: int) -> Tensor:
    """Returns the first k edges of each query."""
    queries = edges[0].contiguous()
    place = torch.arange(len(queries), device=queries.device) - torch.searchsorted(queries, queries)
    return edges[:, place < k]
