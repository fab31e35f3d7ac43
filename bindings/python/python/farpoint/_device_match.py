"""Nearest points of arrays in GPU memory that are not PyTorch's, as ``_device`` samples them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _cuda, _device, _farpoint, _numpy

if TYPE_CHECKING:
    from ._device import Source
    from ._match import Match


def nearest(x: Any, y: Any, match: Match, plain: bool) -> tuple[Any, Any]:
    """Distances and indices of x, as arrays of its library."""
    source, (distances, indices, *_) = _search(x, y, match, False)
    distances, indices = source.give(distances), source.give(indices)
    return source.root(distances) if plain else distances, indices


def chamfer(
    x: Any, y: Any, match: Match, plain: bool, reduction: str, one_sided: bool
) -> Any:
    """A number for a pair of clouds, or one a pair as an array of the library of x."""
    source, found = _search(x, y, match, not one_sided)
    lengths = (match.x_lengths, match.y_lengths)
    sides = []
    for distances, rows in zip(found[::2], lengths):
        distances = source.give(distances)
        distances = source.root(distances) if plain else distances
        sides.append(_reduce(source, distances, rows, reduction))
    total = sides[0]
    if len(sides) == 2:
        both_largest = reduction == "max"
        total = source.namespace(total).maximum(*sides) if both_largest else sides[0] + sides[1]
    return total if source.batch else float(total)


def _reduce(source: Source, distances: Any, lengths: Any, reduction: str) -> Any:
    """One value a cloud, in double precision where the library has it; padding is 0."""
    library = source.namespace(distances)
    if reduction == "max":
        return library.max(distances, axis=-1)
    # Without its 64-bit mode JAX has no such type.
    double = None if source.is_jax and not source.wide_jax else library.float64
    total = library.sum(distances, axis=-1, dtype=double)
    if reduction == "sum":
        return total
    if lengths is None:
        return total / distances.shape[-1]
    counts = _arrays.integers(lengths, "lengths", 1).astype(np.float64)
    return total / source.like(total, counts)


def _search(x: Any, y: Any, match: Match, both: bool) -> tuple[Source, list[Any]]:
    """The source of x, and distances and indices of x, and of y if both are wanted."""
    a, b = _pair(x, y)
    given = ((match.x_lengths, "x_lengths", a), (match.y_lengths, "y_lengths", b))
    lengths = [_lengths(values, what, source) for values, what, source in given]
    found = []
    for source in (a, b) if both else (a,):
        shape = source.shape[:2] if source.batch else source.shape[1:2]
        found += [a.room(shape, _device.KINDS[a.dtype]), a.room(shape, "i8")]
    if a.shape[0] > 0:
        # Names for what is sent, so that nothing is given back before it is used.
        sent = [None if values is None else a.upload(values) for values in lengths]
        # All is queued on the stream of x, once that of y has come past.
        if b.stream != a.stream:
            _farpoint.DeviceArray(b.device, b.stream, [1], "i8").wait()
        inputs = a.input(sent[0]), b.input(sent[1])._replace(stream=a.stream)
        addresses = [_device.address(part) for part in found] + [0] * (4 - len(found))
        wanted = _cuda.Found((addresses[0], addresses[2]), (addresses[1], addresses[3]))
        _farpoint.cuda_match(*inputs, wanted, match.norm)
    return a, found


def _pair(x: Any, y: Any) -> tuple[Source, Source]:
    for array in (x, y):
        if isinstance(array, np.ndarray) or _arrays.is_torch(array) or not _arrays.is_on_gpu(array):
            raise TypeError(
                f"both clouds must be of one library on one GPU ({_arrays.name(x)}; {_arrays.name(y)})"
            )
    a, b = _device.Source(x), _device.Source(y)
    about = f"{_arrays.name(x)}; {_arrays.name(y)}"
    if a.library != b.library or a.device != b.device or a.dtype != b.dtype:
        raise TypeError(f"both clouds must be of one library and type on one GPU ({about})")
    if a.batch != b.batch or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[2]:
        raise ValueError(
            f"both must be clouds (N, D), or batches (B, N, D) of the same B and D ({about})"
        )
    if a.shape[0] > 0 and 0 in (a.shape[1], b.shape[1]):
        raise ValueError(f"an empty cloud ({about})")
    return a, b


def _lengths(values: Any, what: str, source: Source) -> np.ndarray | None:
    if values is None:
        return None
    if not source.batch:
        raise ValueError(f"{what} are for a batch of shape (B, N, D)")
    lengths = _arrays.integers(values, what, 1)
    _numpy.refuse_negative(lengths, "length")
    clouds, rows, _ = source.shape
    if len(lengths) != clouds or (lengths > rows).any():
        raise ValueError(
            f"{what} {lengths.tolist()} do not fit ({_arrays.name(source.array)})"
        )
    _numpy.refuse_empty(lengths.tolist(), True, _arrays.name(source.array))
    return lengths
