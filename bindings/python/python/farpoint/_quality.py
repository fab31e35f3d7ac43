"""``quality``: what a sample is judged by, on the CPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _approximate, _arguments, _arrays, _farpoint, _progress


class Quality(NamedTuple):
    """What ``quality`` returns: numbers for a cloud, NumPy arrays (B,) for a batch. Distances are
    in the unit of the coordinates, not squared."""

    #: Points of the cloud.
    points: Any
    #: Samples.
    samples: Any
    #: Largest distance of a point to its nearest sample.
    covering_radius: Any
    #: Mean of these distances.
    mean: Any
    #: The smallest distance that at least 99 % of the points are within.
    p99: Any
    #: Mean distance of a sample to its nearest other sample; NaN if there is only one.
    spacing_mean: Any
    #: Smallest.
    spacing_min: Any
    #: Largest.
    spacing_max: Any
    #: Chamfer distance of cloud and sample: mean distances both ways, added. Samples are points of
    #: the cloud, so that the way back is 0 and this is ``mean``.
    chamfer: Any
    #: Share of the samples that are different rows, 0 to 1.
    unique: Any


@_arrays.untraced
def quality(
    points: Any,
    indices: Any,
    *,
    lengths: Any = None,
    threads: int | None = None,
    progress: bool = False,
) -> Quality:
    """What a sample of a cloud is judged by: how it covers the cloud, how even it is.

    >>> import numpy, farpoint
    >>> found = farpoint.quality(numpy.arange(10.0).reshape(10, 1), [0, 5])
    >>> found.covering_radius, found.mean, found.spacing_min
    (4.0, 1.6, 5.0)

    Parameters
    ----------
    points:
        (N, D) cloud or (B, N, D) batch of clouds, as for ``sample_approximate``.
    indices:
        (K,) rows of the cloud from any sampler, whole numbers; or (B, K), where -1 is padding.
    lengths:
        (B,) rows of each cloud of a batch that count; the rest is padding.
    threads:
        How many threads (all cores).
    progress:
        Show a progress bar (tqdm's, if installed). For one cloud.

    Returns
    -------
    Quality
        Numbers for a cloud, NumPy arrays (B,) for a batch, whatever the library of ``points``.

    Raises
    ------
    ValueError
        No sample, an index outside the cloud, NaN or infinity, shapes that do not fit.
    TypeError
        Neither float32 nor float64, indices that are no whole numbers, or points on a GPU.
    """
    threads = _arguments.threads(threads)
    array = _approximate.readable(points, "quality runs")
    rows = _arrays.integers(indices, "indices")
    if rows.ndim != array.ndim - 1:
        raise ValueError(
            "indices must be (K,) for points (N, D), or (B, K) for points (B, N, D): "
            f"{rows.shape} and {array.shape}"
        )
    samples = [rows] if array.ndim == 2 else [row[row != -1] for row in rows]
    rows_that_count = _approximate.lengths_of(lengths)
    with _progress.bar(progress and array.ndim == 2, "measuring", "points") as callback:
        found = _farpoint.quality(array, samples, rows_that_count, threads, callback)
    if array.ndim == 2:
        return Quality(*found[0][0], *found[0][1])
    counts = np.array([counts for counts, _ in found], np.int64).reshape(-1, 2)
    measures = np.array([measures for _, measures in found], np.float64).reshape(-1, 8)
    return Quality(*counts.T, *measures.T)
