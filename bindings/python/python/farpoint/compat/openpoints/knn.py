"""In place of ``openpoints.models.layers.knn``, whose functions take the query first.

Differs on purpose: the distances of all pairs are not made, ties go to the lowest index, CPU and GPU
agree bit for bit; with fewer points than neighbors the rest has distance infinity and index 0, where
the original raises.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from .. import _batch
from .group import DenseDilated, DilatedKNN

__all__ = ["KNN", "DenseDilated", "DilatedKNN", "knn_point"]


def knn_point(k: int, query: Tensor, support: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """(B, M, C) query, (B, N, C) support (the query unless given) -> plain distances and indices, int64,
    (B, M, k). They have no gradient, as in the original."""
    support = query if support is None else support
    _batch.refuse_shape("query", query, "B, M, C")
    _batch.refuse_shape("support", support, "B, N, C")
    distances, indices = _batch.nearest_k(k, support, query)
    return distances, indices.long()


class KNN(nn.Module):
    """The ``neighbors`` nearest of the support for each query, called with query (B, M, C) and support
    (B, N, C), the query unless given: plain distances and indices, int32, (B, M, neighbors).
    ``farthest`` is a ValueError."""

    def __init__(
        self, neighbors: int, farthest: bool = False, sorted: bool = True, **kwargs: Any
    ) -> None:
        super().__init__()
        if farthest:
            raise ValueError("the farthest points are not supported; use openpoints")
        self.neighbors, self.farthest, self.sorted = neighbors, farthest, sorted

    def forward(self, query: Tensor, support: Tensor | None = None) -> tuple[Tensor, Tensor]:
        distances, indices = knn_point(self.neighbors, query, support)
        return distances, indices.int()
