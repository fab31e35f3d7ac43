"""Checked arguments of ``sample``, cached where possible."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from . import _arguments, _native
from ._records import Sampling, Selection
from ._arrays import conversion, integer_arrays, numpy
from ._torch import lazy_torch

def simple_request(
    count: Any, ratio: Any, algorithm: Any, threads: Any, distances: bool
) -> Sampling | None:
    """Returns the cached record of a call without further options except lengths, or None if it can't be
    cached."""
    is_simple = ratio is threads is None and type(count) is int and type(algorithm) is str
    if lazy_torch.is_compiling() or not (is_simple or _arguments.are_constant(count, ratio, algorithm, threads)):
        return None
    return _cached_request(count, ratio, algorithm, threads, bool(distances))


@lru_cache(maxsize=1024, typed=True)
def _cached_request(
    count: Any, ratio: Any, algorithm: Any, threads: Any, distances: bool
) -> Sampling:
    request = new_request(
        count, ratio, None, None, None, algorithm, None, threads, None, distances, "error", False, None, None
    )
    return request._replace(simple=True)


def new_request(
    count: Any, ratio: Any, spacing: Any, start: Any, lengths: Any, algorithm: Any, seed: Any, threads: Any,
    out: Any, distances: bool, non_finite: str, progress: bool, rows: Any, mask: Any,
) -> Sampling:
    """Returns checked arguments of ``sample``."""
    if (count is None) + (ratio is None) + (spacing is None) != 2:
        raise ValueError(
            f"pass one of count, ratio and spacing (got {count=}, {ratio=}, {spacing=})"
        )
    if count is not None:
        count = _arguments.count(count)
    if ratio is not None and not isinstance(ratio, float):
        ratio = _arguments.number(ratio, "ratio")
    if spacing is not None and not isinstance(spacing, float):
        spacing = _arguments.number(spacing, "spacing")
    if threads is not None:
        threads = _arguments.threads(threads)
    if algorithm != "auto":
        _arguments.exact(algorithm)
    if non_finite not in ("error", "skip"):
        raise ValueError(f'non_finite is {non_finite!r}; it must be "error" or "skip"')
    selected = None
    if rows is not None or mask is not None:
        if rows is not None and mask is not None:
            raise ValueError("pass rows or mask, not both")
        selected = Selection(rows, mask)
    seed = seed_without_start(seed, start)
    return Sampling(
        count, ratio, spacing, start, lengths, algorithm, seed, threads, out, bool(distances), non_finite == "skip",
        _arguments.flag(progress, "progress"), selected,
    )


def seed_without_start(seed: Any, start: Any) -> int | None:
    """Returns the checked seed, if any; raises if a start is set, too."""
    if seed is None:
        return None
    if start is not None:
        raise ValueError(f"pass start or seed, not both (got {start=}, {seed=})")
    return _arguments.seed(lazy_torch.seed_of(seed))


@lazy_torch.untraced
def drawn_starts(seed: int, lengths: list[int]) -> list[int]:
    """Returns the random start of each cloud, as a batch draws it."""
    seeds = [_native.cloud_seed(seed, cloud) for cloud in range(len(lengths))]
    return [_native.random_start(seed, length) if length > 0 else 0 for seed, length in zip(seeds, lengths)]


def ragged_counts(count: Any, ratio: Any, lengths: list[int]) -> list[int]:
    """Returns the number of samples of each of several concatenated clouds."""
    if (count is None) == (ratio is None):
        raise ValueError(f"pass one of count and ratio (got {count=}, {ratio=})")
    if ratio is not None:
        return [_native.limit(max(length, 0), ratio=_arguments.number(ratio, "ratio")) for length in lengths]
    if isinstance(count, int) or not hasattr(count, "__len__"):
        count = _arguments.integer(count, "count", 0)
        return [min(count, max(length, 0)) for length in lengths]
    counts = integer_arrays.listed(count, "counts")
    if len(counts) != len(lengths):
        clouds = f"{len(lengths)} clouds of {len(lengths) + 1} offsets"
        raise ValueError(f"{len(counts)} counts for the {clouds}; pass one for each")
    return counts


def refuse_beside_offsets(**options: Any) -> None:
    """Raises if an option is set that concatenated clouds do not have."""
    names = [f"{name}=" for name, value in options.items() if value is not None]
    if names:
        raise ValueError(
            f"{' and '.join(names)} cannot be combined with offsets=; remove it, or pass a padded batch (B, N, D) "
            "with lengths="
        )


def gpu_for(points: Any, library: Any, device: Any) -> int | None:
    """Returns the number of the GPU that samples points in host memory; None for the CPU."""
    if library is not numpy:
        raise ValueError(
            f"device is for points in host memory, as NumPy arrays; these are sampled where they are "
            f"({conversion.name(points)}): remove it, or move them"
        )
    return None if str(device) == "cpu" else _arguments.gpu_number(device)
