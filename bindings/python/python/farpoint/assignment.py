"""Assignment of points to the nearest sample: ``assign``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ._arrays import conversion, integer_arrays, library_of, numpy
from ._torch import lazy_torch
from ._typing import IndexT, Integers, OtherT, Rows
from .matching import Nearest, nearest
from .operators import gather

if TYPE_CHECKING:
    from torch import Tensor
    from typing_extensions import Unpack

    from ._typing import AssignOptions, FloatArray, Int64Array
    from .files import Cloud

__all__ = ["assign"]


@overload
def assign(
    points: Rows | Cloud, samples: Rows | Cloud, **options: Unpack[AssignOptions]
) -> Nearest[FloatArray, Int64Array]: ...
@overload
def assign(points: Tensor, samples: Tensor, **options: Unpack[AssignOptions]) -> Nearest[Tensor, Tensor]: ...
@overload
def assign(points: OtherT, samples: OtherT, **options: Unpack[AssignOptions]) -> Nearest[OtherT, OtherT]: ...
def assign(
    points: Any,
    samples: Any,
    *,
    lengths: Integers | None = None,
    sample_lengths: Integers | None = None,
    offsets: Integers | None = None,
    sample_offsets: Integers | None = None,
    squared: bool = True,
    threads: int | None = None,
) -> Nearest[Any, Any]:
    """Assign every point of a cloud to its nearest sample.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        A cloud or a batch as for ``nearest``.
    samples : array of int, (K,) or (B, K), or array, (K, D) or (B, K, D)
        Indices as returned by ``sample``, padded with -1 at the end; or the coordinates of the samples. Of the library
        and on the device of the points.
    lengths, sample_lengths : array of int, (B,), optional
        Number of valid points and of samples of each cloud of a batch; the rest is padding. For indices only
        ``lengths``.
    offsets : sequence of int, (B + 1,), optional
        Offsets of B concatenated clouds in ``points`` (N, D), as for ``sample``; the indices are those of
        ``sample(points, counts, offsets=offsets)``.
    sample_offsets : sequence of int, (B + 1,), optional
        With ``offsets``: offsets of the samples of each cloud. Required for coordinates only.
    squared : bool, optional
        Return squared distances, or plain ones in the unit of the coordinates.
    threads : int, optional
        Number of threads on the CPU; all cores unless set.

    Returns
    -------
    Nearest
        For each point the distance to its nearest sample, and which one that is: its place among the samples (of its
        cloud; with ``offsets`` of all), the first among equals. Padding has index -1. For tensors, the distances
        are differentiable as those of ``nearest``.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``nearest``; a cloud without samples, or -1 before other indices.
    IndexError
        On the CPU: an index that is no row of the points.

    Examples
    --------
    >>> import numpy, farpoint
    >>> points = numpy.array([[0.0], [1.0], [5.0], [5.5], [7.0]])
    >>> rows = farpoint.sample(points, 2)
    >>> farpoint.assign(points, rows)  # rows 0 and 4
    Nearest(distances=array([0.  , 1.  , 4.  , 2.25, 0.  ]), indices=array([0, 0, 1, 1, 1]), squared=True)
    """
    axes, of_samples = _axes(points), _axes(samples)
    if of_samples == axes - 1:
        if sample_lengths is not None:
            raise ValueError("sample_lengths are for coordinates; indices are padded with -1")
        if offsets is not None and sample_offsets is None:
            sample_offsets = _sample_offsets(points, samples, offsets)
        else:
            sample_lengths = _sample_lengths(samples)
        samples = gather(points, samples)
    elif of_samples != axes:
        raise ValueError(
            "samples must be indices (K,) or coordinates (K, D) for points (N, D), (B, K) or (B, K, D) for (B, N, D) "
            f"({conversion.name(points)}; {conversion.name(samples)})"
        )
    sides: Any = {"x_lengths": lengths, "y_lengths": sample_lengths, "x_offsets": offsets, "y_offsets": sample_offsets}
    found: Any = nearest(points, samples, **sides, squared=squared, threads=threads)
    result: Nearest[Any, Any] = found
    return result


def _axes(array: Any) -> int:
    return len(array.shape) if hasattr(array, "shape") else np.ndim(array)


def _sample_lengths(samples: Any) -> Any:
    """Returns the number of indices of each cloud of a batch, which are padded with -1; None for one cloud."""
    rows = samples if hasattr(samples, "shape") else integer_arrays.integers(samples, "samples")
    valid = rows >= 0
    if _is_readable(samples):
        misplaced = ~valid if valid.ndim == 1 else valid[:, 1:] & ~valid[:, :-1]
        if misplaced.any():
            raise ValueError(
                "samples has indices below 0; only those of a batch are padded, with -1 at the end "
                f"({conversion.name(samples)})"
            )
    return None if valid.ndim == 1 else valid.sum(-1)


def _sample_offsets(points: Any, samples: Any, offsets: Any) -> Any:
    """Returns the offsets of the samples of each of several concatenated clouds."""
    if lazy_torch.is_tensor(samples):
        from ._arrays import torch

        return torch.offsets_of_rows(samples, offsets)
    rows, ends = integer_arrays.integers(samples, "samples", 1), integer_arrays.integers(offsets, "offsets", 1)
    clouds = np.searchsorted(ends, rows, side="right") - 1
    if (np.diff(clouds) < 0).any():
        raise ValueError(
            f"samples must be the rows of each cloud after those of the cloud before ({conversion.name(samples)}; "
            f"{conversion.name(points)})"
        )
    return np.searchsorted(clouds, np.arange(len(ends)))


def _is_readable(array: Any) -> bool:
    """Returns whether values can be read without synchronizing a GPU or breaking a graph."""
    if lazy_torch.is_tensor(array):
        return bool(array.is_cpu) and not lazy_torch.is_compiling()
    return library_of(array) is numpy
