"""Selection of rows of a cloud, by index or by mask, and sampling them without a kernel for it: rows are gathered
first, and indices mapped back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._records import Sampling, Selection
from . import integer_arrays
from .conversion import name


def selected(selection: Selection) -> np.ndarray:
    """Returns rows as int64, or a mask as bool, as NumPy arrays."""
    if selection.mask is None:
        return integer_arrays.integers(selection.rows, "rows", 1)
    mask = np.asarray(integer_arrays.on_host(selection.mask))
    if mask.dtype != np.bool_:
        raise TypeError(
            f"mask must be an array of bool, not {name(selection.mask)}; pass row numbers as rows"
        )
    return mask


#: Text of the compiled module, too.
NONE_SELECTED = "no row is selected; pass a mask with a true value, or rows with a number"


class Plan(NamedTuple):
    """Plan for sampling selected rows by gathering: ``points[rows]``, or
    ``points[arange(B)[:, None], rows]``, by ``request``."""

    #: (S,), or (B, S) with the rows of each cloud first, then arbitrary padding.
    rows: np.ndarray
    request: Sampling


def plan(request: Sampling, shape: tuple[int, ...], about: str) -> Plan:
    """Returns the plan; raises for rows and starts out of range, with the messages of the CPU."""
    selection = request.selected
    assert selection is not None
    chosen, count = selected(selection), shape[-2]
    if selection.mask is None:
        if len(shape) == 3:
            raise ValueError(f"rows are of one cloud (N, D); pass a mask (B, N) for a batch ({about})")
        _check(chosen, count, about)
        lists = [chosen]
    else:
        if chosen.shape != shape[:-1]:
            raise ValueError(f"the mask is of shape {chosen.shape}, not {tuple(shape[:-1])} ({about})")
        if request.lengths is not None and len(shape) == 3:
            lengths = np.array(integer_arrays.lengths_of(request.lengths))
            if lengths.shape != shape[:1] or (lengths > count).any():
                raise ValueError(f"lengths {lengths.tolist()} do not fit ({about})")
            chosen = chosen & (np.arange(count) < lengths[:, None])
        lists = [np.flatnonzero(row) for row in chosen.reshape(-1, count)]
    if len(shape) == 2 and not len(lists[0]) and request.ratio is None and request.count != 0:
        raise ValueError(f"{NONE_SELECTED} ({about})")
    start = request.start
    if start is not None:
        start = _places(start, lists, count, len(shape) == 3, about)
    simple = request._replace(selected=None, start=start, out=None)
    if len(shape) == 2:
        return Plan(lists[0], simple)
    each = [len(rows) for rows in lists]
    padded = np.zeros((len(lists), max(each, default=0)), np.int64)
    for row, rows in zip(padded, lists):
        row[: len(rows)] = rows
    return Plan(padded, simple._replace(lengths=each))


def _check(rows: np.ndarray, count: int, about: str) -> None:
    outside = (rows < 0) | (rows >= count)
    if outside.any():
        place = int(outside.argmax())
        raise ValueError(
            f"row {rows[place]} at place {place} of the selected rows is outside the cloud of {count} points "
            f"({about})"
        )
    order = np.argsort(rows, kind="stable")
    repeats = np.flatnonzero(rows[order][1:] == rows[order][:-1])
    if len(repeats):
        first = repeats[order[repeats + 1].argmin()]
        places = order[first], order[first + 1]
        raise ValueError(
            f"row {rows[places[0]]} is selected twice, at places {places[0]} and {places[1]} of the list; list "
            f"each row once ({about})"
        )


def _places(start: Any, lists: list[np.ndarray], count: int, batch: bool, about: str) -> np.ndarray:
    """Returns starts as positions among the selected rows of their cloud."""
    starts = integer_arrays.starts_of(start, batch)
    if len(starts) not in (1, len(lists)):
        raise ValueError(f"{len(starts)} starts for {len(lists)} clouds ({about})")
    starts = np.broadcast_to(starts, (len(lists), starts.shape[1]))
    outside = (starts < 0) | (starts >= count)
    if outside.any():
        raise ValueError(
            f"start index {starts[outside][0]} is outside the cloud of {count} points (0..={count - 1}) ({about})"
        )
    places = np.empty_like(starts)
    for row_starts, cloud_starts, rows in zip(places, starts, lists):
        position_of = np.full(count, -1)
        position_of[rows] = np.arange(len(rows))
        row_starts[:] = position_of[cloud_starts]
        if (row_starts < 0).any():
            raise ValueError(
                f"start index {cloud_starts[row_starts < 0][0]} is not one of the selected rows; pass one of them ({about})"
            )
    return places if batch else places[0]
