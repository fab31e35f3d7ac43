"""Protocol of an array library."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._records import Neighborhood, Sampling, Search, Sides, Voxelization


class Library(Protocol):
    """Protocol of the modules ``numpy``, ``torch`` and ``cuda``. Arrays are read in place; results are
    arrays of the same library on the same device.

    An implementation describes an array (shape, strides, dtype, device), allocates a result, and provides
    their pointers and the stream on which work is queued. These steps differ by library and by device.
    """

    def sample(self, points: Any, request: Sampling) -> tuple[Any, Any, Any]:
        """Returns indices, distances or None, and covering radius."""

    def sample_ragged(
        self, points: Any, offsets: list[int], counts: list[int], start: Any, algorithm: str
    ) -> Any:
        """Returns rows of concatenated clouds."""

    def ranges(self, firsts: list[int], counts: list[int], points: Any) -> Any:
        """Returns ``counts[k]`` numbers from ``firsts[k]`` on for each k, concatenated, on the device of the points."""

    def nearest(self, x: Any, y: Any, search: Search) -> tuple[Any, ...]:
        """Returns distances and indices of x, and of y in searches of both directions."""

    def chamfer(self, x: Any, y: Any, search: Search) -> Any:
        """Returns one value per pair of clouds."""

    def search(
        self, x: Any, y: Any, sides: Sides, request: Neighborhood, plain: bool
    ) -> tuple[Any, ...]:
        """Returns distances, indices and counts of the neighbors of each point of x."""

    def within(
        self, x: Any, y: Any, sides: Sides, request: Neighborhood, plain: bool
    ) -> tuple[Any, ...]:
        """Returns distances and indices of all neighbors, and the offsets of each point."""

    def tree_of(
        self, y: Any, lengths: Any, offsets: Any, threads: int | None
    ) -> tuple[Any, Any]:
        """Returns the tree of clouds for repeated searches, and the object to keep alive with it."""

    def gather(self, values: Any, indices: Any, threads: int | None) -> Any:
        """Returns the indexed rows of values."""

    def gather_max(self, values: Any, indices: Any, add: Any, threads: int | None) -> Any:
        """Returns the maximum over k rows of values, plus ``add`` if set, channel by channel."""

    def interpolate(self, values: Any, indices: Any, weights: Any, threads: int | None) -> Any:
        """Returns weighted sums of k rows of values."""

    def weights(self, distances: Any, power: int, eps: float) -> Any:
        """Returns the weights of neighbors from their distances."""

    def voxels(
        self, points: Any, request: Voxelization, features: Any, how: str, labels: Any
    ) -> tuple[Any, ...]:
        """Returns the fields of ``Voxels``. Features are reduced by "mean" or "max", or those of the chosen points
        by "pick"."""

    def check_indices(self, indices: Any, rows: int) -> None:
        """Raises IndexError if an index is neither -1 nor a row."""

    def non_finite(self, points: Any) -> tuple[list[int], list[int]]:
        """Returns the number of non-finite rows of each cloud, and the first of them."""

    def on_host(self, points: Any, what: str) -> np.ndarray:
        """Returns the points as a NumPy array; raises for points on a GPU."""

    def like(self, result: np.ndarray, array: Any) -> Any:
        """Returns a NumPy array in the library and on the device of ``array``."""

    def fill(self, out: Any, result: np.ndarray, points: Any) -> Any:
        """Writes indices to the caller's array and returns it."""
