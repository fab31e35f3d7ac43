"""Records that the floors pass to each other and to the compiled module, which reads their attributes by
name. Those of device memory are in ``_device_records``."""

# Annotations are evaluated here: as texts, named tuples take twice as long to create.
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

# ------------------------------------------------------------------- arguments of the public functions


class Selection(NamedTuple):
    """Some rows of a cloud, or of each cloud of a batch: one of these."""

    rows: Any = None
    mask: Any = None


class Sampling(NamedTuple):
    """Checked arguments of ``sample``."""

    count: int | None  # type: ignore[assignment]  # a tuple counts its items by that name
    ratio: float | None
    spacing: float | None
    #: None only where rows are selected: the first of them.
    start: Any
    lengths: Any
    algorithm: str
    seed: int | None
    threads: int | None
    out: Any
    distances: bool
    skip_bad: bool
    progress: bool
    #: The rows that count, where not all do. Starts are rows of the whole cloud.
    selected: Selection | None = None
    #: Samples of each cloud of a batch, none of which is above ``count``.
    counts: Any = None
    #: Number of the GPU that samples points in host memory, if any.
    gpu: int | None = None
    #: Whether only count or ratio, algorithm, threads, distances and lengths are given.
    simple: bool = False
    #: The same without lengths, an object that is kept, if there is one.
    kept: Any = None


class Reduction(NamedTuple):
    """How the distances of a pair of clouds become one value."""

    norm: int
    #: Whether distances of norm 2 are square roots.
    plain: bool
    reduction: str
    both: bool
    threads: int | None


class Search(NamedTuple):
    """Checked arguments of ``nearest`` and ``chamfer``."""

    x_lengths: Any
    y_lengths: Any
    norm: int
    #: Whether distances of norm 2 are square roots.
    plain: bool
    threads: int | None
    progress: bool = False
    #: Whether points of y look for their nearest, too; and how distances become one value, if they do.
    both: bool = False
    reduction: str = "mean"
    #: The same without lengths, an object that is kept, if there is one.
    kept: Any = None

    def how(self) -> Reduction:
        """How distances become one value."""
        return Reduction(self.norm, self.plain, self.reduction, self.both, self.threads)


class Neighborhood(NamedTuple):
    """Checked arguments of ``knn`` and ``ball_query``."""

    #: Most neighbors of a point; all in the ball for None.
    k: int | None
    #: "nearest", "ball", or "raw" for limits of distances as they are computed.
    kind: str
    #: Of a ball radius, smallest radius and 0; raw the largest distance, the smallest, and up to which
    #: distance one counts all the same.
    limits: tuple[float, float, float]
    inclusive: bool
    by_index: bool
    exclude_self: bool
    norm: int
    #: Indices of 32 bits, not 64.
    narrow: bool
    threads: int | None


class Sides(NamedTuple):
    """Rows of each cloud that count, or where clouds that lie one after another begin and end."""

    x_lengths: Any = None
    y_lengths: Any = None
    x_offsets: Any = None
    y_offsets: Any = None
    #: The tree of y, if it was built before.
    tree: Any = None


#: All rows of clouds that were given as they are.
WHOLE = Sides()


class Clouds(NamedTuple):
    """One side of a search on the CPU."""

    points: np.ndarray
    lengths: list[int] | None = None
    offsets: list[int] | None = None
    #: Trees of the clouds, if they were built before.
    tree: Any = None


class Approximation(NamedTuple):
    """Checked arguments of approximate samplers and ``centroids``."""

    method: str
    count: int | None  # type: ignore[assignment]  # a tuple counts its items by that name
    ratio: float | None
    cell: float | None
    starts: np.ndarray | None = None
    seed: int | None = None
    keep: str | None = None
    bits: int | None = None
    window: int | None = None
    npdu_order: str | None = None
    estimator: str | None = None
    first_stage: str | None = None
    lengths: list[int] | None = None
    threads: int | None = None
    skip_bad: bool = False
    callback: Callable[[int, int], None] | None = None


#: Two clouds (N, D) and (M, D), or batches (B, N, D) and (B, M, D) and rows of each of their clouds that count.
Batches: TypeAlias = "tuple[np.ndarray, np.ndarray, list[int] | None, list[int] | None]"


def repr_of(result: Any) -> str:
    """Returns the text of a result with distances, which says whether they are squared."""
    name = next(kind.__name__ for kind in type(result).__mro__ if "_fields" in vars(kind))
    parts = ", ".join(f"{field}={value!r}" for field, value in zip(result._fields, result))
    return f"{name}({parts}, squared={result.squared})"
