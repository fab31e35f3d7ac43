"""Records passed between layers and to the compiled module, which reads their attributes by
name. Records of device memory are in ``_device_records``."""

# Annotations are evaluated here: with string annotations, named tuples take twice as long to create.
from typing import Any, NamedTuple, TypeAlias

import numpy as np

# ------------------------------------------------------------------- arguments of the public functions


class Selection(NamedTuple):
    """Selected rows of a cloud, or of each cloud of a batch, as rows or as a mask."""

    rows: Any = None
    mask: Any = None


class Sampling(NamedTuple):
    """Checked arguments of ``sample``."""

    count: int | None  # type: ignore[assignment]  # shadows tuple.count
    ratio: float | None
    spacing: float | None
    #: None for the first usable row.
    start: Any
    lengths: Any
    algorithm: str
    seed: int | None
    threads: int | None
    out: Any
    distances: bool
    skip_non_finite: bool
    progress: bool
    #: Selected rows, if any. Starts are rows of the whole cloud.
    selected: Selection | None = None
    #: Number of samples of each cloud of a batch, at most ``count``.
    counts: Any = None
    #: GPU that samples points in host memory, if any.
    gpu: int | None = None
    #: Seconds after which the samples so far are returned, if any.
    deadline: float | None = None
    #: True if only count or ratio, algorithm, threads, distances and lengths are set.
    simple: bool = False
    #: The cached record without lengths, if there is one.
    cached: Any = None


class Reduction(NamedTuple):
    """Reduction of the distances between two clouds to one value."""

    norm: int
    #: True if distances of norm 2 are not squared.
    plain: bool
    reduction: str
    both: bool
    threads: int | None


class Search(NamedTuple):
    """Checked arguments of ``nearest`` and ``chamfer``."""

    x_lengths: Any
    y_lengths: Any
    norm: int
    #: True if distances of norm 2 are not squared.
    plain: bool
    threads: int | None
    progress: bool = False
    #: True to search from y to x, too; and the reduction of the distances, if any.
    both: bool = False
    reduction: str = "mean"
    #: The cached record without lengths, if there is one.
    cached: Any = None

    def how(self) -> Reduction:
        """Returns the reduction of the distances."""
        return Reduction(self.norm, self.plain, self.reduction, self.both, self.threads)


class Neighborhood(NamedTuple):
    """Checked arguments of ``knn`` and ``ball_query``."""

    #: Maximum number of neighbors of a point; None for all in the ball.
    k: int | None
    #: "nearest", "ball", or "raw" for limits on distances as computed.
    kind: str
    #: For "ball" radius, minimum radius and 0; for "raw" the maximum distance, the minimum, and the distance
    #: up to which points are included regardless of the minimum.
    limits: tuple[float, float, float]
    inclusive: bool
    by_index: bool
    exclude_self: bool
    norm: int
    #: True for 32-bit indices, False for 64-bit.
    narrow: bool
    threads: int | None


class Sides(NamedTuple):
    """Lengths of padded clouds, or offsets of concatenated clouds."""

    x_lengths: Any = None
    y_lengths: Any = None
    x_offsets: Any = None
    y_offsets: Any = None
    #: Prebuilt tree of y, if any.
    tree: Any = None


#: Clouds without padding or offsets.
WHOLE = Sides()


class Clouds(NamedTuple):
    """One side of a search on the CPU."""

    points: np.ndarray
    lengths: list[int] | None = None
    offsets: list[int] | None = None
    #: Prebuilt trees of the clouds, if any.
    tree: Any = None


class Approximation(NamedTuple):
    """Checked arguments of approximate samplers and ``centroids``."""

    method: str
    count: int | None  # type: ignore[assignment]  # shadows tuple.count
    ratio: float | None
    cell: float | None
    seed: int | None = None
    keep: str | None = None
    lengths: list[int] | None = None
    threads: int | None = None
    skip_non_finite: bool = False


class Voxelization(NamedTuple):
    """Checked arguments of ``voxel_downsample``."""

    size: list[float]
    #: None for 0, no numbers for the smallest coordinates.
    origin: list[float] | None
    reduce: str
    seed: int = 0
    sort: bool = False
    min_points: int = 1
    lengths: list[int] | None = None
    offsets: list[int] | None = None
    threads: int | None = None
    skip_non_finite: bool = False


#: Two clouds (N, D) and (M, D), or batches (B, N, D) and (B, M, D) and the lengths of their clouds.
Batches: TypeAlias = "tuple[np.ndarray, np.ndarray, list[int] | None, list[int] | None]"


def repr_of(result: Any) -> str:
    """Returns the repr of a result with distances, including ``squared``."""
    name = next(kind.__name__ for kind in type(result).__mro__ if "_fields" in vars(kind))
    parts = ", ".join(f"{field}={value!r}" for field, value in zip(result._fields, result))
    return f"{name}({parts}, squared={result.squared})"
