"""What farpoint needs of a library of arrays."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._records import Approximation, Neighborhood, Sampling, Search, Sides


class Library(Protocol):
    """One of the modules ``numpy``, ``torch`` and ``cuda``. Arrays are read where they lie; answers are
    arrays of the same library on the same device.

    What the functions of an implementation rest on is, in this order: describing an array (shape,
    strides, type, device), allocating an answer, their pointers, and the stream that the work is
    queued on. How that is done differs by library, and by device.
    """

    def sample(self, points: Any, request: Sampling) -> tuple[Any, Any, Any]:
        """Indices, distances or None, and covering radius."""

    def sample_ragged(
        self, points: Any, offsets: list[int], counts: list[int], start: Any
    ) -> Any:
        """Rows of clouds that lie one after another."""

    def sample_approximate(
        self, points: Any, request: Approximation, start: Any, lengths: Any, tree: Any
    ) -> Any:
        """Indices by an approximate sampler on the device of the points; None where the CPU has to choose them."""

    def nearest(self, x: Any, y: Any, search: Search) -> tuple[Any, ...]:
        """Distances and indices of x, and of y if both are wanted."""

    def chamfer(self, x: Any, y: Any, search: Search) -> Any:
        """One value per pair of clouds."""

    def search(
        self, x: Any, y: Any, sides: Sides, request: Neighborhood, plain: bool
    ) -> tuple[Any, ...]:
        """Distances, indices and counts of the neighbors of each point of x."""

    def within(
        self, x: Any, y: Any, sides: Sides, request: Neighborhood, plain: bool
    ) -> tuple[Any, ...]:
        """Distances and indices of all neighbors, and where those of each point begin."""

    def tree_of(
        self, y: Any, lengths: Any, offsets: Any, threads: int | None
    ) -> tuple[Any, Any]:
        """The tree of clouds for many searches, and what has to be kept with it."""

    def gather(self, values: Any, indices: Any) -> Any:
        """The rows of values that the indices name."""

    def gather_max(self, values: Any, indices: Any, add: Any) -> Any:
        """The largest of k rows of values, or of sums of them and ``add``, channel by channel."""

    def interpolate(self, values: Any, indices: Any, weights: Any) -> Any:
        """Weighted sums of k rows of values."""

    def weights(self, distances: Any, power: int, eps: float) -> Any:
        """Weights of neighbors from their distances."""

    def check_indices(self, indices: Any, rows: int) -> None:
        """Raises IndexError if one of the indices is neither -1 nor a row."""

    def bad_rows(self, points: Any) -> tuple[list[int], list[int]]:
        """How many rows of each cloud hold NaN or infinity, and which is the first."""

    def on_host(self, points: Any, what: str) -> np.ndarray:
        """The points as an array that the CPU reads; refuses those on a GPU."""

    def like(self, found: np.ndarray, array: Any) -> Any:
        """An array of NumPy as one of the library, on the device of ``array``."""

    def fill(self, out: Any, found: np.ndarray, points: Any) -> Any:
        """Writes indices to the caller's array, which is returned."""
