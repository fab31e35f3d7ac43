"""Exact farthest point sampling: ``sample`` and ``order``, and ``sample_padded`` and ``sample_ragged`` for
batches with a different number of samples for each cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, overload

import numpy as np

from . import _arguments
from ._arrays import integer_arrays, library_of
from ._records import Sampling
from ._sample_arguments import (
    drawn_starts, gpu_for, new_request, ragged_counts, refuse_beside_offsets, seed_without_start, simple_request,
)
from ._typing import (
    Algorithm, ArrayT, Booleans, Device, IndexT, Integers, NamedTuple, NonFinite, Rows, Seed, ValueT, subscriptable,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._typing import Counts, FloatArray, FloatOrArray, Int64Array, OrderOptions, SampleOptions
    from .files import Cloud

__all__ = ["Order", "Sample", "order", "sample", "sample_padded", "sample_ragged"]


@subscriptable
class Sample(NamedTuple, Generic[ArrayT, IndexT, ValueT]):
    """Indices, distances and covering radius, as returned by ``sample(..., return_distances=True)``.

    All three are constants to autograd: they have no derivative.

    Attributes
    ----------
    indices : array of int64, (K,) or (B, K)
        Rows of the input in order of choice, padded with -1.
    distances : array, (K,) or (B, K)
        Distance of each sample to those before it, in the unit and dtype of the coordinates, not
        squared. Infinite for start points, 0 for padding. No point is farther from the first k samples
        than distance k.
    covering_radius : float or array, (B,)
        Largest distance of any point to its nearest sample, in the unit of the coordinates.
    """

    indices: IndexT
    distances: ArrayT
    covering_radius: ValueT

    @property
    def squared(self) -> Literal[False]:
        """False: distances of samples are plain."""
        return False


@subscriptable
class Order(NamedTuple, Generic[ArrayT, IndexT]):
    """All rows of a cloud, farthest first, and their spacings, as returned by ``order``.

    Attributes
    ----------
    indices : array of int64, (N,) or (B, N)
        All rows of the input, farthest first, padded with -1.
    spacings : array, (N,) or (B, N)
        Distance of each point to those before it, in the unit and dtype of the coordinates, not
        squared. Infinite for the first; non-increasing.
    """

    indices: IndexT
    spacings: ArrayT

    @property
    def squared(self) -> Literal[False]:
        """False: spacings are plain distances."""
        return False


# NumPy arrays and array-likes of no library return NumPy arrays.
@overload
def sample(
    points: Rows | Cloud, count: Counts = ..., *, out: Int64Array | None = ...,
    return_distances: Literal[False] = ..., **options: Unpack[SampleOptions],
) -> Int64Array: ...
@overload
def sample(
    points: Rows | Cloud, count: Counts = ..., *, out: Int64Array | None = ...,
    return_distances: Literal[True], **options: Unpack[SampleOptions],
) -> Sample[FloatArray, Int64Array, FloatOrArray]: ...
@overload
def sample(
    points: ArrayT, count: Counts = ..., *, out: ArrayT | None = ...,
    return_distances: Literal[False] = ..., **options: Unpack[SampleOptions],
) -> ArrayT: ...
@overload
def sample(
    points: ArrayT, count: Counts = ..., *, out: ArrayT | None = ...,
    return_distances: Literal[True], **options: Unpack[SampleOptions],
) -> Sample[ArrayT, ArrayT, ArrayT]: ...
def sample(
    points: Any,
    count: Counts = None,
    *,
    ratio: float | None = None,
    spacing: float | None = None,
    start: Integers | None = None,
    lengths: Integers | None = None,
    offsets: Integers | None = None,
    rows: Integers | None = None,
    mask: Booleans | None = None,
    algorithm: Algorithm = "auto",
    seed: Seed | None = None,
    threads: int | None = None,
    device: Device = None,
    out: Any = None,
    return_distances: bool = False,
    non_finite: NonFinite = "error",
    deadline: float | None = None,
    progress: bool = False,
) -> Any:
    """Choose points by farthest point sampling; return their indices in order of choice.

    The next point is always the one with the largest distance to those already chosen, the lowest
    index among equals; distances are squared in the precision of the input, with no fused operation.
    No index repeats. The result does not depend on algorithm, threads, device or the rest of a
    batch.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        A cloud or a batch of clouds, float32 or float64, D at least 1, in any unit: a NumPy array,
        PyTorch tensor, CuPy or JAX array, anything with ``__dlpack__`` or
        ``__cuda_array_interface__``, a list of rows, or a result of ``farpoint.read``. Arrays are read
        in place, including strided ones; only batches on a GPU whose clouds overlap or leave gaps,
        masked arrays (``numpy.ma``), where a masked value counts as NaN, and arrays of swapped byte order are copied.
        float16, and bfloat16 of tensors, is converted to float32 without loss, and distances are float32. Integers
        of NumPy and in lists are converted to float64.
    count : int, optional
        Number of samples per cloud. Give one of count, ratio and spacing. With ``offsets`` also a sequence of int,
        (B,): the number of each cloud.
    ratio : float, optional
        ``ceil(ratio * N)`` samples, from 0 to 1.
    spacing : float, optional
        Sample until no point is farther than this from a sample, in the unit of the
        coordinates; takes at least one sample, so that an empty cloud is a ValueError. Synchronizes a GPU.
    start : int or array of int, optional
        Index to start from, the first usable row unless set; or several: an existing sample to continue. In a
        batch: one for all clouds, (B,) one per cloud, or (B, S) several per cloud.
    lengths : array of int, (B,), optional
        Number of valid rows of each cloud of a batch; the rest is padding. A cloud with fewer rows than
        ``count`` returns all of them, padded with -1.
    offsets : sequence of int, (B + 1,), optional
        Offsets of B concatenated clouds in ``points`` (N, D): cloud c is the rows ``offsets[c]:offsets[c + 1]``. The
        result is rows of ``points``, cloud by cloud, none padded, and starts are relative to the first row of their
        cloud. Of a cloud with fewer rows than one ``count`` for all these are all of them. With count or ratio, start,
        seed and algorithm.
    rows : array of int, (S,), optional
        Sample only these rows of a cloud, each listed once. The result is
        ``rows[sample(points[rows], ...)]``, so that among equals the row listed first is chosen. Starts
        are rows of ``points``, too; the first row listed unless set. Not for batches.
    mask : array of bool, (N,) or (B, N), optional
        Sample only rows whose value is true, in ascending order. In a batch a cloud with fewer of them than
        ``count`` returns all of them, padded with -1. On a GPU the rows are gathered first, and a
        mask or rows on the GPU synchronize it.
    algorithm : str, optional
        On the CPU "auto", "reference", "naive", "radius", "tree" or "peak"; on a GPU "auto",
        "naive", "radius", "persistent" or "peak". Options follow a colon, as in
        ``"radius:nvox=24"``.
        All give the same indices. For approximate samplers see ``sample_grid``.
    seed : int or torch.Generator, optional
        Seed of a random start (0 to 2**64 - 1), the same on every machine. Each cloud of a batch draws its
        own by its position in the batch, the first as it would alone; under ``torch.vmap`` clouds are those of
        one batch. Or a ``torch.Generator``, on any device, from which each call draws a seed; one on a GPU
        synchronizes it, and ``torch.compile`` draws between two graphs. For random starts without waiting, also in a
        CUDA graph, draw them with PyTorch: ``start=torch.randint(N, (B,), device=points.device)``.
    threads : int, optional
        Number of threads on the CPU; all cores unless set (``set_num_threads``).
    device : str, int or torch.device, optional
        "cuda", "cuda:1" or a number: sample points in host memory on this GPU ("cpu": on the CPU). Unless set, points
        are sampled on their device.
    out : array of int64, optional
        Output for the indices, of the result's shape and library, on its device.
    return_distances : bool, optional
        Return a ``Sample`` of indices, distances and covering radius. To autograd they are constants:
        they have no derivative. For differentiable distances, pass ``points[indices]`` to ``nearest`` or
        ``chamfer``.
    non_finite : {"error", "skip"}, optional
        "error": non-finite rows raise ValueError on the CPU. On a GPU, where this would synchronize,
        they are not checked, and the result is meaningless if there are any; ``farpoint.check(points)``
        finds them. "skip": non-finite rows are left out, indices still refer to the input; synchronizes a GPU.
    deadline : float, optional
        Seconds after which the samples chosen so far are returned: fewer than requested, at least the start (0 or less:
        the start alone), the beginning of the complete result, with their covering radius. The copy of the points comes
        first; a LiDAR turn of 120,000 points takes up to 2 ms of computing longer, and on a busy machine the time in which
        others have the cores. For one cloud on the CPU, without ``out``, whose size would depend on the time.
    progress : bool, optional
        Show a progress bar (tqdm's, if installed). For one cloud on the CPU.

    Returns
    -------
    array of int64, (K,) or (B, K), or Sample
        In the library and on the device of ``points``; with ``offsets`` (K,) for all clouds together. JAX without
        its 64-bit mode gets int32.

    Raises
    ------
    ValueError
        More samples than points, a start outside the cloud, NaN, a ratio outside 0 to 1, or incompatible
        shapes. The message has the numbers, shapes and dtypes.
    TypeError
        Not float32, float64 or float16 (or bfloat16, for tensors), or not an array; on a GPU float16 is
        for tensors only.
    farpoint.CudaUnavailable
        An array on a GPU without a usable driver.

    See Also
    --------
    order : Order a whole cloud, farthest first.
    sample_grid, sample_random : Samplers whose result is not the farthest point sample.

    Notes
    -----
    For CUDA tensors of PyTorch the work is queued on the current stream without synchronizing; memory is
    PyTorch's. It can be captured into a CUDA graph (after one warm-up call) and compiled by
    ``torch.compile(fullgraph=True)``, except for ``spacing``, ``deadline``, ``non_finite="skip"``, ``rows``, a ``mask`` (unless it is
    of a batch and comes with ``count``), a generator as seed, and starts or lengths that are not on the GPU yet, where
    compiling without ``fullgraph`` breaks the graph. ``torch.vmap`` makes one batched call. Starts in a tensor on a GPU
    must be distinct; those outside a cloud are clamped.

    Source: Eldar, Lindenbaum, Porat, Zeevi, "The farthest point strategy for progressive image
    sampling", 1997. Algorithms: https://github.com/farpoint/farpoint, docs.

    Examples
    --------
    >>> import numpy, farpoint
    >>> square = numpy.array([[0, 0], [0.1, 0], [1, 0], [0, 1], [1, 1]])
    >>> farpoint.sample(square, 4)
    array([0, 4, 2, 3])
    >>> farpoint.sample(square, 2, mask=square[:, 0] > 0)
    array([1, 4])
    >>> farpoint.sample(square, [1, 2], offsets=[0, 2, 5])  # two clouds, of 2 and of 3 rows
    array([0, 2, 3])
    """
    request = None
    if offsets is not None:
        refuse_beside_offsets(
            spacing=spacing, lengths=lengths, rows=rows, mask=mask, threads=threads, device=device, out=out,
            return_distances=return_distances or None, deadline=deadline, progress=progress or None,
            non_finite=None if non_finite == "error" else non_finite,
        )
        return _sample_concatenated(points, offsets, count, ratio, start, seed, algorithm)
    usual = spacing is seed is out is rows is mask is device is start is None
    if usual and non_finite == "error" and deadline is None and not progress:
        request = simple_request(count, ratio, algorithm, threads, return_distances)
        if request is not None and lengths is not None:
            request = request._replace(lengths=lengths, cached=request)
    if request is None:
        request = new_request(
            count, ratio, spacing, start, lengths, algorithm, seed, threads, out, return_distances, non_finite,
            progress, rows, mask,
        )
    library = library_of(points)
    if deadline is not None:
        if out is not None:
            raise ValueError("deadline= cannot be combined with out=, as the number of samples depends on the time; remove out=")
        request = request._replace(deadline=_arguments.deadline(deadline))
    if device is not None:
        request = request._replace(gpu=gpu_for(points, library, device))
    result = library.sample(points, request)
    return Sample(*result) if return_distances else result[0]


@overload
def order(
    points: Rows | Cloud, **options: Unpack[OrderOptions]
) -> Order[FloatArray, Int64Array]: ...
@overload
def order(points: ArrayT, **options: Unpack[OrderOptions]) -> Order[ArrayT, ArrayT]: ...
def order(
    points: Any,
    *,
    start: Integers | None = None,
    lengths: Integers | None = None,
    rows: Integers | None = None,
    mask: Booleans | None = None,
    algorithm: Algorithm = "auto",
    seed: Seed | None = None,
    threads: int | None = None,
    device: Device = None,
    non_finite: NonFinite = "error",
    progress: bool = False,
) -> Order[Any, Any]:
    """Order a whole cloud farthest first: every prefix is a farthest point sample.

    Parameters
    ----------
    points : array, (N, D) or (B, N, D)
        As for ``sample``.
    start, lengths, rows, mask, algorithm, seed, threads, device, non_finite, progress : optional
        As for ``sample``.

    Returns
    -------
    Order
        Indices (N,) or (B, N), and spacings of the same shape in the unit and type of the coordinates.
        Rows skipped by ``non_finite="skip"`` and rows not selected are left out; a batch is padded with
        -1 and 0.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``sample``.

    Notes
    -----
    Source: as for ``sample``.

    Examples
    --------
    >>> import numpy, farpoint
    >>> order = farpoint.order(numpy.array([[0.0], [1.0], [3.0]]))
    >>> order.indices, order.spacings
    (array([0, 2, 1]), array([inf,  3.,  1.]))
    """
    result: Any = sample(
        points, ratio=1.0, start=start, lengths=lengths, rows=rows, mask=mask, algorithm=algorithm, seed=seed,
        threads=threads, device=device, return_distances=True, non_finite=non_finite, progress=progress,
    )
    return Order(result.indices, result.distances)


@overload
def sample_padded(
    points: Rows, counts: Integers, *, lengths: Integers | None = ..., start: Integers | None = ..., seed: Seed | None = ...
) -> Int64Array: ...
@overload
def sample_padded(
    points: ArrayT, counts: Integers, *, lengths: Integers | None = ..., start: Integers | None = ..., seed: Seed | None = ...
) -> ArrayT: ...
def sample_padded(
    points: Any, counts: Integers, *, lengths: Integers | None = None, start: Integers | None = None, seed: Seed | None = None
) -> Any:
    """Sample each cloud of a batch with its own number of samples.

    Parameters
    ----------
    points : array, (B, N, D)
        A batch as for ``sample``.
    counts : array of int, (B,)
        Number of samples of each cloud. A cloud with fewer rows returns all of them.
    lengths : array of int, (B,), optional
        Number of valid rows of each cloud; the rest is padding.
    start, seed : optional
        As for ``sample``.

    Returns
    -------
    array of int64, (B, max(counts))
        In the library and on the device of ``points``, padded with -1.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``sample``.

    Examples
    --------
    >>> import numpy, farpoint
    >>> batch = numpy.arange(8.0).reshape(2, 4, 1)
    >>> farpoint.sample_padded(batch, [3, 1])
    array([[ 0,  3,  1],
           [ 0, -1, -1]])
    """
    shape = points.shape if hasattr(points, "shape") else np.shape(points)
    requested = integer_arrays.integers(counts, "counts", 1)
    integer_arrays.refuse_negative(requested, "count")
    if len(shape) != 3 or len(requested) != shape[0]:
        raise ValueError(
            f"points must be a batch (B, N, D) with a count per cloud, not {tuple(shape)} with "
            f"{len(requested)} counts"
        )
    each: list[int] = requested.tolist()
    request = Sampling(
        max(each, default=0), None, None, start,
        np.full(shape[0], shape[1]) if lengths is None else lengths,
        "auto", seed_without_start(seed, start), None, None, False, False, False, counts=each,
    )
    return library_of(points).sample(points, request)[0]


@overload
def sample_ragged(
    points: Rows, offsets: Integers, counts: Integers, *, start: Integers | None = ..., seed: Seed | None = ...
) -> Int64Array: ...
@overload
def sample_ragged(
    points: ArrayT, offsets: Integers, counts: Integers, *, start: Integers | None = ..., seed: Seed | None = ...
) -> ArrayT: ...
def sample_ragged(
    points: Any, offsets: Integers, counts: Integers, *, start: Integers | None = None, seed: Seed | None = None
) -> Any:
    """Sample concatenated clouds of different lengths, as ``sample(points, counts, offsets=offsets)``.

    Parameters
    ----------
    points : array or tensor, (N, D)
        All clouds, float32 or float64: arrays in host memory, or tensors.
    offsets : sequence of int, (B + 1,)
        First row of each cloud, and N at the end.
    counts : sequence of int, (B,)
        Number of samples of each cloud.
    start : array of int, (B,) or (B, S), optional
        Start of each cloud, relative to its first row; 0 unless set.
    seed : int or torch.Generator, optional
        As for ``sample``.

    Returns
    -------
    array of int64, (sum(counts),)
        Rows of ``points``, cloud by cloud, in order of choice.

    Raises
    ------
    ValueError, TypeError, farpoint.CudaUnavailable
        As for ``sample``; a TypeError also for other arrays on a GPU.

    Examples
    --------
    >>> import numpy, farpoint
    >>> points = numpy.array([[0.0], [1.0], [5.0], [5.5], [7.0]])
    >>> farpoint.sample_ragged(points, [0, 2, 5], [1, 2])
    array([0, 2, 4])
    """
    return _sample_concatenated(points, offsets, counts, None, start, seed, "auto")


def _sample_concatenated(
    points: Any, offsets: Any, count: Any, ratio: Any, start: Any, seed: Any, algorithm: str
) -> Any:
    ends = integer_arrays.listed(offsets, "offsets")
    lengths = [end - begin for begin, end in zip(ends, ends[1:])]
    counts, seed = ragged_counts(count, ratio, lengths), seed_without_start(seed, start)
    if seed is not None:
        start = drawn_starts(seed, lengths)
    _arguments.exact(algorithm)
    return library_of(points).sample_ragged(points, ends, counts, start, algorithm)
