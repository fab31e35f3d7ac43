"""``nearest`` and ``chamfer``: arguments are checked here, the work is done by ``_match_torch`` for
tensors and by the compiled half for what the CPU reads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _arguments, _arrays, _farpoint, _numpy


class Nearest(NamedTuple):
    """What ``nearest`` returns unless told otherwise: squared distances, and indices."""

    #: Squared distances of each point of x to its nearest of y, in the type of the coordinates:
    #: (N,), or (B, N) with 0 for padding.
    distances: Any
    #: That point, the lowest index among those equally near, int64; -1 for padding.
    indices: Any

    @property
    def squared(self) -> bool:
        """Whether the distances are squared: here they are."""
        return True

    def __repr__(self) -> str:
        return f"Nearest(distances={self.distances!r}, indices={self.indices!r}, squared=True)"


class PlainNearest(NamedTuple):
    """What ``nearest`` returns with ``squared=False`` or ``norm=1``: plain distances, and indices."""

    #: Distances of each point of x to its nearest of y, in the unit and type of the coordinates:
    #: (N,), or (B, N) with 0 for padding.
    distances: Any
    #: As in ``Nearest``.
    indices: Any

    @property
    def squared(self) -> bool:
        """Whether the distances are squared: here they are not."""
        return False

    def __repr__(self) -> str:
        return f"PlainNearest(distances={self.distances!r}, indices={self.indices!r}, squared=False)"


class Match(NamedTuple):
    """What both functions want of a pair of batches."""

    x_lengths: Any
    y_lengths: Any
    norm: int
    threads: int | None


class Asked(NamedTuple):
    """How one value is made of the distances of a pair."""

    norm: int
    #: Whether distances of norm 2 are square roots.
    plain: bool
    reduction: str
    both: bool
    threads: int | None


def nearest(
    x: Any,
    y: Any,
    *,
    x_lengths: Any = None,
    y_lengths: Any = None,
    squared: bool = True,
    norm: int = 2,
    threads: int | None = None,
) -> Nearest | PlainNearest:
    """For each point of x the distance to its nearest point of y, and which that is.

    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0, 0.0], [3.0, 4.0]]), numpy.array([[0.0, 1.0]])
    >>> farpoint.nearest(x, y)
    Nearest(distances=array([ 1., 18.]), indices=array([0, 0]), squared=True)

    Parameters
    ----------
    x, y:
        Clouds (N, D) and (M, D), or batches (B, N, D) and (B, M, D); float32 or float64, both the
        same, any unit. Arrays as ``sample`` takes them, on a GPU both of one library. Tensors of
        float16 or bfloat16 are converted to float32 without loss: distances, and means of them, are
        float32, which does not overflow where float16 would; gradients have the type of the tensor.
    x_lengths, y_lengths:
        (B,) rows of each cloud that count, 1 at least; the rest is padding.
    squared:
        Squared distances, or plain ones in the unit of the coordinates.
    norm:
        2, or 1 for sums of absolute differences, which are never squared.
    threads:
        How many threads (all cores). For the CPU.

    Returns
    -------
    Nearest or PlainNearest
        Pairs of ``distances`` and ``indices``; ``squared`` tells which of both they are. Arrays of the
        library of x, on its device. For tensors the distances can be
        differentiated with respect to x and y, twice and in forward mode too, and by ``torch.func``;
        gradients are the same bits on every run.

    Raises
    ------
    ValueError
        NaN or infinity (on the CPU), empty clouds, shapes that do not fit. Lengths that lie on a GPU
        are not looked at: of a cloud of length 0 all others are infinitely far, with index -1.
    TypeError
        Neither float32 nor float64, or not both the same.
    """
    match = _match(x, y, x_lengths, y_lengths, norm, threads)
    # Norm 1 is never squared.
    result = Nearest if norm == 2 and squared else PlainNearest
    if _arrays.is_torch(x):
        from . import _match_torch

        return result(*_match_torch.nearest(x, y, match, squared))
    _arrays.refuse_narrow(x, y)
    if _on_gpu(x, y):
        from . import _device_match

        return result(*_device_match.nearest(x, y, match, norm == 2 and not squared))
    distances, indices = _by_numpy(x, y, match, False)
    if norm == 2 and not squared:
        distances = np.sqrt(distances)
    return result(_arrays.like(distances, x), _arrays.like(indices, x))


def chamfer(
    x: Any,
    y: Any,
    *,
    x_lengths: Any = None,
    y_lengths: Any = None,
    squared: bool = True,
    norm: int = 2,
    reduction: str = "mean",
    one_sided: bool = False,
    threads: int | None = None,
) -> Any:
    """The Chamfer distance of two clouds: how far their points are from each other's, both ways.

    >>> import numpy, farpoint
    >>> x, y = numpy.array([[0.0, 0.0], [3.0, 4.0]]), numpy.array([[0.0, 1.0]])
    >>> farpoint.chamfer(x, y)
    10.5

    Parameters
    ----------
    x, y, x_lengths, y_lengths, threads:
        As for ``nearest``.
    squared:
        Squared distances (as PyTorch3D, Kaolin and ChamferDistancePytorch), or plain ones (as
        Open3D and point-cloud-utils).
    norm:
        2, or 1 for sums of absolute differences, which are never squared.
    reduction:
        "mean" or "sum" over the points of each side; the sides are added. "max": the larger of the
        sides' largest distances, which with ``squared=False`` is the Hausdorff distance.
    one_sided:
        From x to y only.

    Returns
    -------
    A number for clouds, (B,) for batches. For tensors: tensors () or (B,) of the type of x (float32 at
    least) that can be differentiated as the distances of ``nearest``. For others: float64 (JAX without
    its 64-bit mode: float32). A number waits for a GPU. Distances are summed in double precision, in an
    order that is the same for arrays and tensors of the CPU and tensors on a GPU; arrays of CuPy and
    JAX on a GPU are summed by these libraries.

    Raises
    ------
    ValueError, TypeError
        As for ``nearest``.
    """
    if reduction not in ("mean", "sum", "max"):
        raise ValueError(f'reduction is {reduction!r}; it must be "mean", "sum" or "max"')
    match = _match(x, y, x_lengths, y_lengths, norm, threads)
    root = norm == 2 and not squared
    if _arrays.is_torch(x):
        from . import _match_torch

        return _match_torch.chamfer(x, y, match, root, reduction, one_sided)
    if _on_gpu(x, y):
        from . import _device_match

        return _device_match.chamfer(x, y, match, root, reduction, one_sided)
    batches, single = _batches(x, y, match)
    asked = Asked(norm, root, reduction, not one_sided, match.threads)
    values = _farpoint.chamfer_clouds(*batches, asked, False)[0]
    return float(values[0]) if single else _arrays.like(values, x)


def _match(
    x: Any, y: Any, x_lengths: Any, y_lengths: Any, norm: Any, threads: Any
) -> Match:
    """Checked arguments; refuses a tensor beside an array of another library."""
    if norm not in (1, 2):
        raise ValueError(f"norm is {norm!r}; it must be 1 or 2")
    if _arrays.is_torch(x) != _arrays.is_torch(y):
        raise TypeError(
            "both clouds must be of one library; bring one to the other, by torch.as_tensor(array) "
            f"or tensor.numpy() ({_arrays.name(x)}; {_arrays.name(y)})"
        )
    return Match(x_lengths, y_lengths, norm, _arguments.threads(threads))


def _on_gpu(x: Any, y: Any) -> bool:
    """Whether either is an array in the memory of a GPU; of no library known to read both."""
    return any(not isinstance(a, np.ndarray) and _arrays.is_on_gpu(a) for a in (x, y))


def _by_numpy(x: Any, y: Any, match: Match, both: bool) -> list[np.ndarray]:
    """Distances and indices of x, and of y if both are wanted; of a pair without the batch."""
    batches, single = _batches(x, y, match)
    found = _farpoint.match_clouds(*batches, match.norm, "auto", match.threads, both)
    return [part[0] for part in found] if single else list(found)


def _batches(x: Any, y: Any, match: Match) -> tuple[tuple[Any, Any, Any, Any], bool]:
    """Both as batches with their lengths, and whether they are a pair of clouds."""
    if not hasattr(_farpoint, "match_clouds"):
        raise NotImplementedError("this build of farpoint has no nearest neighbors")
    a, b = _arrays.to_numpy(x), _arrays.to_numpy(y)
    if a.ndim not in (2, 3) or a.ndim != b.ndim:
        raise ValueError(
            "both must be clouds (N, D), or both batches (B, N, D): "
            f"{_arrays.name(a)} and {_arrays.name(b)}"
        )
    single = a.ndim == 2
    given = ((match.x_lengths, "x_lengths"), (match.y_lengths, "y_lengths"))
    x_lengths, y_lengths = (_lengths(lengths, what, single) for lengths, what in given)
    if single:
        a, b = a[None], b[None]
    return (a, b, x_lengths, y_lengths), single


def _lengths(lengths: Any, what: str, single: bool) -> list[int] | None:
    if lengths is None:
        return None
    if single:
        raise ValueError(f"{what} are for a batch of shape (B, N, D)")
    found = _arrays.integers(lengths, what, 1)
    _numpy.refuse_negative(found, "length")
    whole: list[int] = found.tolist()
    return whole
