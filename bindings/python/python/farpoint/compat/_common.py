"""Helpers shared by several replacements. Like them it uses only public functions, except for graph breaks under
``torch.compile`` and copies of numbers to a device without synchronizing."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._torch.lazy_torch import untraced
from .._torch.transfer import numbers
from ..sampling import sample_ragged


def int_list(values: Any) -> list[int]:
    """Returns the integers of a list or a tensor; synchronizes if they are on a GPU."""
    return _read(values) if isinstance(values, Tensor) else [int(v) for v in values]


@untraced
def _read(values: Tensor) -> list[int]:
    return [int(v) for v in values.tolist()]


@untraced
def any_of(wrong: Tensor) -> bool:
    """Returns whether any is true; synchronizes if they are on a GPU."""
    return bool(wrong.any())


def about(points: Tensor) -> str:
    """Returns a description of the tensor for messages."""
    return f"points of shape {tuple(points.shape)}, {points.dtype}, {points.device}"


def refuse_single(*clouds: Tensor) -> None:
    """Raises ValueError unless all are batches."""
    if any(cloud.dim() == 2 for cloud in clouds):
        descriptions = "; ".join(about(cloud) for cloud in clouds)
        raise ValueError(f"both must be batches (B, N, D) of the same B and D ({descriptions})")


def refuse_beyond_int32(clouds: Tensor) -> None:
    """Raises ValueError if a cloud has more rows than int32 can index."""
    rows = clouds.shape[-2]
    if rows > 2**31:
        raise ValueError(
            f"the indices of this function are int32, which do not reach all {rows} rows; call "
            f"farpoint.sample or farpoint.nearest, whose indices are int64 ({about(clouds)})"
        )


def with_apply(name: str, function: Any) -> Any:
    """Returns a class for code that calls ``name.apply(..)``, like an autograd function."""
    text = f"For code that calls ``{name}.apply``: it is ``{function.__name__}``."
    return type(name, (), {"apply": staticmethod(function), "__doc__": text})


def ends(counts: list[int]) -> list[int]:
    """Returns the offsets of concatenated clouds: 0 and the sums of the first k counts."""
    offsets = [0]
    for count in counts:
        offsets.append(offsets[-1] + count)
    return offsets


def random_rows(offsets: list[int], device: torch.device) -> Tensor:
    """Draws a row of each cloud (B, 1) from PyTorch's generator."""
    lengths = numbers([max(b - a, 1) for a, b in zip(offsets, offsets[1:])], device)
    drawn = (torch.rand(len(lengths), device=device, dtype=torch.float64) * lengths).long()
    return torch.minimum(drawn, lengths - 1).unsqueeze(-1)


__all__ = [
    "about", "any_of", "ends", "int_list", "random_rows", "refuse_beyond_int32", "refuse_single", "sample_ragged",
    "with_apply",
]
