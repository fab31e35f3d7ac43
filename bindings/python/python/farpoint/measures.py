"""Quality measures of samples and validation of clouds: ``quality`` and ``check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _arguments, _native, _progress
from ._arrays import conversion, integer_arrays, library_of
from ._torch.lazy_torch import untraced
from ._typing import Integers

if TYPE_CHECKING:
    from ._typing import FloatOrArray, IntOrArray

__all__ = ["Quality", "check", "quality"]


class Quality(NamedTuple):
    """Quality of a sample: numbers for a cloud, NumPy arrays (B,) for a batch. Distances are in the
    unit of the coordinates, not squared, except ``chamfer``.

    Attributes
    ----------
    points : int
        Number of points of the cloud.
    samples : int
        Number of samples.
    covering_radius : float
        Largest distance of a point to its nearest sample.
    mean : float
        Mean of these distances.
    p99 : float
        99th percentile of these distances: the smallest that at least 99 % of the points are within.
    spacing_mean, spacing_min, spacing_max : float
        Mean, minimum and maximum distance of a sample to its nearest other sample; NaN for a single
        sample.
    chamfer : float
        Chamfer distance between cloud and sample, as by ``farpoint.chamfer``: mean squared distances, in the square of
        the unit. Samples are points of the cloud, so that the reverse direction is 0.
    unique : float
        Fraction of the samples that are distinct rows, 0 to 1.
    """

    points: IntOrArray
    samples: IntOrArray
    covering_radius: FloatOrArray
    mean: FloatOrArray
    p99: FloatOrArray
    spacing_mean: FloatOrArray
    spacing_min: FloatOrArray
    spacing_max: FloatOrArray
    chamfer: FloatOrArray
    unique: FloatOrArray

    @property
    def squared(self) -> Literal[False]:
        """False: distances are plain, except ``chamfer``."""
        return False


@untraced
def quality(
    points: Any,
    indices: Integers,
    *,
    lengths: Integers | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> Quality:
    """Measure the coverage and the uniformity of a sample of a cloud.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        A cloud or a batch of clouds, float32 or float64, on the CPU.
    indices : array of int, (K,) or (B, K)
        Rows of the cloud, chosen by any sampler; in a batch -1 is padding.
    lengths : array of int, (B,), optional
        Number of valid rows of each cloud of a batch; the rest is padding.
    threads : int, optional
        Number of threads; all cores unless set.
    progress : bool, optional
        Show a progress bar (tqdm's, if installed). For one cloud.

    Returns
    -------
    Quality
        Numbers for a cloud, NumPy arrays (B,) for a batch, whatever the library of ``points``.

    Raises
    ------
    ValueError
        No sample, an index outside the cloud, NaN or infinity, or incompatible shapes.
    TypeError
        Neither float32 nor float64, non-integer indices, or points on a GPU.

    Examples
    --------
    >>> import numpy, farpoint
    >>> found = farpoint.quality(numpy.arange(10.0).reshape(10, 1), [0, 5])
    >>> found.covering_radius, found.mean, found.spacing_min
    (4.0, 1.6, 5.0)
    """
    threads = _arguments.threads(threads)
    array = library_of(points).on_host(points, "quality runs")
    rows = integer_arrays.integers(indices, "indices")
    if rows.ndim != array.ndim - 1:
        raise ValueError(
            "indices must be (K,) for points (N, D), or (B, K) for points (B, N, D): "
            f"{rows.shape} and {array.shape}"
        )
    samples = [rows] if array.ndim == 2 else [row[row != -1] for row in rows]
    limits = integer_arrays.lengths_of(lengths)
    with _progress.bar(array.ndim == 2 and progress, "measuring", "points") as callback:
        results = _native.quality(array, samples, limits, threads, callback)
    if array.ndim == 2:
        return Quality(*results[0][0], *results[0][1])
    counts = np.array([counts for counts, _ in results], np.int64).reshape(-1, 2)
    measures = np.array([measures for _, measures in results], np.float64).reshape(-1, 8)
    return Quality(*counts.T, *measures.T)


@untraced
def check(points: Any) -> None:
    """Raise ValueError if a coordinate is NaN or infinite.

    ``sample`` checks by itself on the CPU, but not on a GPU, where a check synchronizes.
    This function checks on both. A masked value (``numpy.ma``) counts as NaN.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        An array or tensor of any library, float32 or float64.

    Raises
    ------
    ValueError
        A non-finite row: the message has the first such row and their number. Or an array of
        another shape.
    TypeError
        Neither float32 nor float64.
    farpoint.CudaUnavailable
        An array on a GPU without a usable driver.
    """
    counts, firsts = library_of(points).non_finite(points)
    for cloud, (count, first) in enumerate(zip(counts, firsts)):
        if count:
            shape = points.shape if hasattr(points, "shape") else np.shape(points)
            batch = f"cloud {cloud} of the batch: " if len(shape) == 3 else ""
            raise ValueError(
                f"{batch}{count} of {shape[-2]} rows hold NaN or infinity, the first is row "
                f"{first} ({conversion.name(points)})"
            )
