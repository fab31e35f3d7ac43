"""Farthest point sampling of concatenated clouds, with the counts of torch_cluster and pyg-lib."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..sampling import sample_ragged
from ._common import about, any_of, random_rows

__all__ = ["sample_clouds"]


def sample_clouds(points: Tensor, offsets: list[int], ratio: Any, random_start: bool) -> Tensor:
    """Returns rows of ``ceil(ratio * n)`` points of each cloud of n, concatenated by cloud.

    The product is computed in float32, as in the originals, which for 100 points and 0.28 is 28; for a
    tensor of one float64 ratio per cloud in float64.
    """
    # On the CPU, whatever the default device is.
    lengths = torch.tensor(
        [b - a for a, b in zip(offsets, offsets[1:])], dtype=torch.int64, device="cpu"
    )
    ratios = _ratios(ratio, points, len(lengths))
    counts = torch.minimum((lengths.to(ratios.dtype) * ratios).ceil().long(), lengths)
    starts = random_rows(offsets, points.device) if random_start else None
    rows: Tensor = sample_ragged(points, offsets, counts.tolist(), start=starts)
    return rows


def _ratios(ratio: Any, points: Tensor, clouds: int) -> Tensor:
    """Returns the ratios on the CPU, in float32 or float64."""
    if isinstance(ratio, Tensor):
        ratios = ratio.detach().cpu()
        if ratios.dim() > 1 or ratios.numel() not in (1, clouds):
            raise ValueError(f"ratio has shape {tuple(ratios.shape)}; it must be () or ({clouds},)")
        wrong = any_of(~((ratios >= 0) & (ratios <= 1)))
    else:
        ratio = 0.5 if ratio is None else ratio
        ratios = torch.tensor(ratio, dtype=torch.float32, device="cpu")
        wrong = not 0 <= ratio <= 1
    if wrong:
        raise ValueError(f"ratio {ratio} is not between 0 and 1 ({about(points)})")
    return ratios if ratios.dtype == torch.float64 and ratios.dim() else ratios.float()
