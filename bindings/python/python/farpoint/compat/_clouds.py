"""Concatenated clouds, as in torch_cluster, PyTorch Geometric and pyg-lib: each
row has its cloud index (``batch``), or each cloud its first row (``ptr``)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .._torch.lazy_torch import untraced
from ._common import about, ends, int_list
from ._tensors import require

__all__ = ["Pair", "by_batches", "by_pointers", "first_rows", "rows_of"]


class Pair(NamedTuple):
    """Points, and queries for neighbors among them, each query in its own cloud.

    Offsets are None for one cloud, lists on the CPU, and tensors on a GPU.
    """

    points: Tensor
    queries: Tensor
    point_offsets: Any = None
    query_offsets: Any = None
    #: Both offsets as lists; None for one cloud, and on a GPU unless they were copied to the host.
    ends: tuple[list[int], list[int]] | None = None
    #: True if all relevant coordinates are known to be finite: a search on a GPU never finds non-finite points.
    finite: bool = True

    @property
    def listed(self) -> bool:
        """Returns whether the number of points in each cloud is known on the host."""
        return self.point_offsets is None or self.ends is not None

    def sizes(self) -> list[tuple[int, int]]:
        """Returns the number of points and queries of each cloud."""
        if self.ends is None:
            return [(len(self.points), len(self.queries))]
        a, b = self.ends
        return [(a[k + 1] - a[k], b[k + 1] - b[k]) for k in range(len(a) - 1)]


def rows_of(points: Any, name: str) -> Tensor:
    """Returns points (N, D) without a gradient: numbers are points of one coordinate, further axes are
    flattened, integers are converted to float64."""
    require(**{name: points})
    if points.dim() == 0:
        raise ValueError(f"{name} has no rows ({about(points)})")
    flat: Tensor = points.detach()
    flat = flat.unsqueeze(-1) if flat.dim() == 1 else flat.flatten(1)
    return flat if flat.is_floating_point() else flat.double()


@untraced
def by_batches(
    points: Tensor, queries: Tensor, batches: tuple[Any, Any], names: tuple[str, str],
    batch_size: int | None,
) -> Pair:
    """Returns the pair from the cloud index of each point and query; synchronizes a GPU with these
    indices, unless batch_size is set."""
    if _all_none(batches) and (batch_size is None or batch_size == 1):
        return Pair(points, queries)
    missing = [name for batch, name in zip(batches, names) if batch is None]
    indices = [
        torch.zeros(len(rows), dtype=torch.int64, device=rows.device) if batch is None
        else _checked(batch, rows, name)
        for batch, rows, name in zip(batches, (points, queries), names)
    ]
    if indices[0] is indices[1]:
        indices = indices[:1]
    on_cpu = points.device.type == "cpu"
    pair = (_pair_on_cpu if on_cpu else _pair_on_gpu)(points, queries, indices, names, batch_size)
    clouds = 1 if pair.ends is None else len(pair.ends[0]) - 1
    if missing and clouds > 1:
        raise ValueError(f"{missing[0]} is None, but there are {clouds} clouds; pass both")
    return Pair(points, queries, finite=pair.finite) if clouds == 1 else pair


def _pair_on_cpu(
    points: Tensor, queries: Tensor, indices: list[Tensor], names: tuple[str, str], batch_size: int | None
) -> Pair:
    counts = [_counts(batch, name) for batch, name in zip(indices, names)]
    batch_size = _clouds(max(map(len, counts)), batch_size, " or ".join(sorted(set(names))))
    listed = [ends(count + [0] * (batch_size - len(count))) for count in counts]
    return Pair(points, queries, listed[0], listed[-1], (listed[0], listed[-1]))


def _pair_on_gpu(
    points: Tensor, queries: Tensor, indices: list[Tensor], names: tuple[str, str], batch_size: int | None
) -> Pair:
    """Returns the pair; synchronizes for the number of clouds unless it is set, and once for everything else."""
    if batch_size is None:
        last_indices = [batch[-1:] for batch in indices]
        batch_size = max(torch.cat(last_indices).tolist(), default=-1) + 1
    batch_size = max(batch_size, 0)
    offsets = [_offsets(batch, batch_size) for batch in indices]
    descends = [(batch[1:] < batch[:-1]).any().unsqueeze(0) for batch in indices]
    # A sum is finite only if all terms are.
    clouds = [points] if queries is points else [points, queries]
    sums = [cloud.sum(dtype=torch.float64).unsqueeze(0) for cloud in clouds]
    facts = torch.cat([*offsets, *descends, *sums]).tolist()  # all as float64
    listed = []
    for k, (batch, name) in enumerate(zip(indices, names)):
        listed.append([int(end) for end in facts[k * (batch_size + 1):(k + 1) * (batch_size + 1)]])
        if facts[len(indices) * (batch_size + 1) + k] or listed[k][0] > 0:
            raise _unsorted(name)
        if listed[k][-1] != len(batch):
            raise ValueError(f"{name} has clouds from {batch_size} on, but batch_size is {batch_size}")
    finite = all(math.isfinite(total) for total in facts[-len(sums):])
    return Pair(points, queries, offsets[0], offsets[-1], (listed[0], listed[-1]), finite)


def _all_none(arguments: tuple[Any, Any]) -> bool:
    return all(argument is None for argument in arguments)


def _checked(batch: Any, rows: Tensor, name: str) -> Tensor:
    require(**{name: batch})
    if batch.shape != rows.shape[:1]:
        raise ValueError(f"{name} has shape {tuple(batch.shape)} ({about(rows)})")
    if batch.is_floating_point() or batch.dtype == torch.bool:
        raise TypeError(f"{name} is of {batch.dtype}; it must be of integers")
    checked: Tensor = batch.to(rows.device)
    return checked


def _clouds(minimum: int, requested: int | None, name: str) -> int:
    """Returns the number of clouds; raises if ``requested`` is less than ``minimum``."""
    if requested is not None and minimum > requested:
        raise ValueError(f"{name} has cloud {minimum - 1}, but batch_size is {requested}")
    return minimum if requested is None else requested


def _counts(batch: Tensor, name: str) -> list[int]:
    """Returns the number of rows of each cloud, on the CPU."""
    array = batch.numpy()
    if len(array) and (array[0] < 0 or (array[1:] < array[:-1]).any()):
        raise _unsorted(name)
    counts: list[int] = np.bincount(array).tolist()
    return counts


def _highest(batch: Tensor, name: str) -> int:
    """Returns the index of the last cloud, -1 if there is none; synchronizes a GPU."""
    if not len(batch):
        return -1
    descends = (batch[1:] < batch[:-1]).any()
    first, last, wrong = torch.stack([batch[0].long(), batch[-1].long(), descends.long()]).tolist()
    if wrong or first < 0:
        raise _unsorted(name)
    return int(last)


def _unsorted(name: str) -> ValueError:
    return ValueError(f"{name} must ascend from 0: it is not sorted, or has numbers below 0")


def _offsets(batch: Tensor, clouds: int) -> Tensor:
    numbers = torch.arange(clouds + 1, device=batch.device, dtype=batch.dtype)
    return torch.searchsorted(batch, numbers)


@untraced
def by_pointers(
    points: Tensor, queries: Tensor, pointers: tuple[Any, Any], names: tuple[str, str]
) -> Pair:
    """Returns the pair from the offsets of the points and of the queries."""
    if _all_none(pointers):
        return Pair(points, queries)
    require(**dict(zip(names, pointers)))
    offset_tensors: list[Tensor] = []
    for pointer, rows, name in zip(pointers, (points, queries), names):
        if pointer is None:
            pointer = torch.tensor([0, len(rows)], device=rows.device)
        if pointer.dim() != 1 or len(pointer) < 1:
            raise ValueError(f"{name} has shape {tuple(pointer.shape)}; it must be (clouds + 1,)")
        offset_tensors.append(pointer.to(rows.device))
    if len(offset_tensors[0]) != len(offset_tensors[1]):
        clouds = [len(pointer) - 1 for pointer in offset_tensors]
        raise ValueError(f"{names[0]} has {clouds[0]} clouds and {names[1]} {clouds[1]}")
    if points.device.type != "cpu":
        return Pair(points, queries, offset_tensors[0], offset_tensors[1])
    listed = [int_list(pointer) for pointer in offset_tensors]
    for offsets, rows, name in zip(listed, (points, queries), names):
        check_ends(offsets, len(rows), name)
    return Pair(points, queries, listed[0], listed[1], (listed[0], listed[1]))


def check_ends(offsets: list[int], rows: int, name: str) -> None:
    """Raises ValueError unless the offsets ascend from 0 to the number of rows."""
    ascends = all(a <= b for a, b in zip(offsets, offsets[1:]))
    if not ascends or offsets[0] != 0 or offsets[-1] != rows:
        raise ValueError(f"{name} {offsets} must ascend from 0 to the {rows} rows")


def first_rows(points: Tensor, batch: Any, batch_size: int | None) -> list[int]:
    """Returns the offsets of the clouds; synchronizes a GPU if there is a batch."""
    if batch is None:
        return [0, len(points)]
    return _first_rows(points, batch, batch_size)


@untraced
def _first_rows(points: Tensor, batch: Any, batch_size: int | None) -> list[int]:
    batch = _checked(batch, points, "batch")
    if batch.is_cpu:
        counts = _counts(batch, "batch")
    else:
        highest = _highest(batch, "batch")
        counts = int_list(torch.bincount(batch, minlength=highest + 1))
    clouds = _clouds(len(counts), batch_size, "batch")
    return ends(counts + [0] * (clouds - len(counts)))
