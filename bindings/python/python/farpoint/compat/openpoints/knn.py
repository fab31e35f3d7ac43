"""Drop-in replacement for ``openpoints.models.layers.knn``, whose functions have the query first.

Differs on purpose: the matrix of all distances is not computed, ties go to the lowest index, CPU and GPU
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
    """Find plain distances and int64 indices (B, M, k) of the nearest points of (B, N, C) support (the query unless
    set) for (B, M, C) query. They have no gradient, as in the original."""
    support = query if support is None else support
    _batch.refuse_shape("query", query, "B, M, C")
    _batch.refuse_shape("support", support, "B, N, C")
    distances, indices = _batch.nearest_k(k, support, query)
    return distances, indices.long()


class KNN(nn.Module):
    """Finds the ``neighbors`` nearest points of the support (B, N, C), the query unless set, for each query (B, M, C):
    plain distances and int32 indices (B, M, neighbors).
    ``farthest`` raises ValueError."""

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
