"""``sample`` and ``order``: arguments are checked here, the work is done for each library in a
module of its own: ``_numpy`` (all on the CPU but PyTorch), ``_torch``, ``_device`` (GPU arrays of
others)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _approximate, _arguments, _arrays, _numpy


class Sample(NamedTuple):
    """What ``sample(..., return_distances=True)`` returns."""

    #: Rows of the input in order of choice, int64: (K,), or (B, K) padded with -1.
    indices: Any
    #: How far each was from those before it, in the unit and type of the coordinates: plain, not
    #: squared as those of ``nearest`` are unless told. Infinite for start points, 0 for padding.
    #: Every prefix of k points leaves no point farther away than distance k. A constant to PyTorch,
    #: as the others are.
    distances: Any
    #: Largest distance of any point to its nearest sample: a number, or one a cloud.
    covering_radius: Any

    @property
    def squared(self) -> bool:
        """Whether the distances are squared: of samples they never are."""
        return False


class Order(NamedTuple):
    """What ``order`` returns."""

    #: All rows of the input, farthest first, int64: (N,), or (B, N) padded with -1.
    indices: Any
    #: How far each was from those before it, in the unit and type of the coordinates; infinite for
    #: the first.
    spacings: Any


class Request(NamedTuple):
    """Checked arguments of ``sample``."""

    count: int | None  # type: ignore[assignment]  # a tuple counts its items by that name
    ratio: float | None
    spacing: float | None
    start: Any
    lengths: Any
    algorithm: str
    seed: int | None
    threads: int | None
    out: Any
    distances: bool
    skip_bad: bool
    progress: bool


def sample(
    points: Any,
    count: int | None = None,
    *,
    ratio: float | None = None,
    spacing: float | None = None,
    start: Any = 0,
    lengths: Any = None,
    algorithm: str = "auto",
    seed: int | None = None,
    threads: int | None = None,
    out: Any = None,
    return_distances: bool = False,
    on_bad: str = "error",
    progress: bool = False,
) -> Any:
    """Chooses points by farthest point sampling; returns their indices in order of choice.

    >>> import numpy, farpoint
    >>> square = numpy.array([[0, 0], [0.1, 0], [1, 0], [0, 1], [1, 1]])
    >>> farpoint.sample(square, 4)
    array([0, 4, 2, 3])

    The next point is always the one with the largest distance to those chosen, among equals the
    lowest index; distances are squared in the input's precision, no operation fused. No index
    comes twice. The result does not depend on algorithm, threads, device or the rest of a batch.

    Parameters
    ----------
    points:
        (N, D) cloud or (B, N, D) batch of clouds, float32 or float64, D of 1 or more, any unit:
        NumPy array, PyTorch tensor, CuPy or JAX array, anything with ``__dlpack__`` or
        ``__cuda_array_interface__``, or what ``farpoint.read`` returns. Arrays are read where they
        lie, strided ones too; only batches on a GPU whose clouds overlap or leave gaps are copied,
        and masked arrays of NumPy (``numpy.ma``): a masked value counts as NaN.
        Tensors may be float16 or bfloat16: they are converted to float32, which holds them without
        loss, and distances are float32.
    count:
        How many points. Give one of count, ratio and spacing.
    ratio:
        ``ceil(ratio * N)`` points, of 0 to 1.
    spacing:
        As many points as it takes until none is farther than this from a sample (in the unit of
        the coordinates): one at least, so that an empty cloud is a ValueError. On a GPU this waits
        for the result.
    start:
        Index to start from (0); or several, an existing sample to go on from. In a batch: one for
        all clouds, or (B,) one for each, or (B, S) several for each.
    lengths:
        (B,) rows of each cloud of a batch that count; the rest is padding. A cloud with fewer rows
        than samples wanted gives all it has, and -1 in the places left over.
    algorithm:
        "auto", "reference", "naive", "radius", "tree", "peak" or "quick" on the CPU; "auto", "naive",
        "radius", "persistent" or "peak" on a GPU. All give the same indices. Approximate samplers are in
        ``sample_approximate``.
    seed:
        Start at a random point instead (0 to 2**64 - 1), the same on every machine for the same
        seed.
    threads:
        How many threads (all cores). For the CPU.
    out:
        Integer array (int64) of the result's shape and library that the indices are written to.
    return_distances:
        Return a ``Sample`` of indices, distances and covering radius instead of indices. All three
        are constants to PyTorch: they have no derivative, and do not require one where the points
        do. For distances that have one, take ``points[indices]`` to ``nearest`` or ``chamfer``.
    on_bad:
        "error": rows with NaN or infinity raise ValueError on the CPU. A GPU is not waited for, so
        there ``farpoint.check(points)`` looks for them, and without it the result means nothing if
        there are any. "skip": such rows are left out, indices still refer to the input; this waits
        for a GPU.
    progress:
        Show a progress bar (tqdm's, if installed). For one cloud on the CPU.

    Returns
    -------
    int64 indices of shape (K,), or (B, K) for a batch, in the library and on the device of
    ``points``; or a ``Sample``. JAX without its 64-bit mode gives int32.

    Raises
    ------
    ValueError
        More samples than points, a start outside the cloud, NaN, ratio outside 0 to 1, shapes that
        do not fit. The text has the numbers, shapes and types.
    TypeError
        Neither float32 nor float64 (tensors: float16 or bfloat16), or no array at all.
    farpoint.CudaUnavailable
        An array on a GPU, and no driver that can be used.

    Notes
    -----
    On PyTorch's CUDA tensors the work is queued on the current stream and nothing waits; memory is
    PyTorch's. It can be captured into a CUDA graph (after one call before it) and compiled
    by ``torch.compile(fullgraph=True)``, but for ``spacing``, ``on_bad="skip"`` and starts or
    lengths that are not on the GPU yet, where compiling without ``fullgraph`` breaks the graph.
    ``torch.vmap`` makes one call of it. Starts that a GPU tensor gives must be different from
    each other; those outside a cloud are moved inside.

    Source: Eldar, Lindenbaum, Porat, Zeevi, "The farthest point strategy for progressive image
    sampling", 1997. Algorithms: https://github.com/farpoint/farpoint, docs.
    """
    if (count is None) + (ratio is None) + (spacing is None) != 2:
        raise ValueError(
            f"give one of count, ratio and spacing (got {count=}, {ratio=}, {spacing=})"
        )
    if count is not None:
        count = _arguments.count(count)
    if threads is not None:
        threads = _arguments.threads(threads)
    _approximate.refuse_as_algorithm(algorithm)
    if on_bad not in ("error", "skip"):
        raise ValueError(f'on_bad is {on_bad!r}; it must be "error" or "skip"')
    if seed is not None and not (isinstance(start, int) and start == 0):
        raise ValueError(f"give start or seed, not both (got {start=}, {seed=})")
    if seed is not None:
        seed = _arguments.seed(seed)
    request = Request(
        count, ratio, spacing, start, lengths, algorithm, seed, threads, out, return_distances,
        on_bad == "skip", progress,
    )
    found = _sample(points, request)
    return Sample(*found) if return_distances else found[0]


def _sample(points: Any, request: Request) -> tuple[Any, Any, Any]:
    """Indices, distances and radius, by the module for this library."""
    if type(points) is np.ndarray:
        return _numpy.sample(points, request)
    if _arrays.is_torch(points):
        from . import _torch

        return _torch.sample(points, request)
    if _arrays.is_on_gpu(points):
        from . import _device

        return _device.sample(points, request)
    _arrays.refuse_narrow(points, points)
    indices, distances, radius = _numpy.sample(_arrays.to_numpy(points), request)
    if distances is not None:
        distances = _arrays.like(distances, points)
    return _arrays.like(indices, points), distances, radius


def order(
    points: Any,
    *,
    start: Any = 0,
    lengths: Any = None,
    algorithm: str = "auto",
    seed: int | None = None,
    threads: int | None = None,
    on_bad: str = "error",
    progress: bool = False,
) -> Order:
    """Orders a whole cloud farthest first: every prefix is a farthest point sample.

    >>> import numpy, farpoint
    >>> order = farpoint.order(numpy.array([[0.0], [1.0], [3.0]]))
    >>> order.indices, order.spacings
    (array([0, 2, 1]), array([inf,  3.,  1.]))

    Parameters are those of ``sample``; so are errors.

    Returns
    -------
    Order
        ``indices`` int64 (N,) or (B, N), and ``spacings`` of the same shape in the unit and type
        of the coordinates: how far each point was from those before it. They never rise. Rows left
        out by ``on_bad="skip"`` are not in it (in a batch: -1 and 0 at the end).
    """
    found = sample(
        points, ratio=1.0, start=start, lengths=lengths, algorithm=algorithm, seed=seed,
        threads=threads, return_distances=True, on_bad=on_bad, progress=progress,
    )
    return Order(found.indices, found.distances)
