"""In place of ``torch_cluster.fps``, which is also ``torch_geometric.nn.fps``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..sampling import sample_ragged
from ._common import about, any_of, ends, random_rows, whole

__all__ = ["fps"]

_HALVES = (torch.float16, torch.bfloat16)


def fps(
    src: Tensor,
    batch: Tensor | None = None,
    ratio: Any = None,
    random_start: bool = True,
    batch_size: int | None = None,
    ptr: Any = None,
) -> Tensor:
    """Farthest point sampling of clouds that follow one another.

    Parameters
    ----------
    src:
        (N, F) or (N,) tensor of points, float32 or float64; float16 and bfloat16 are converted to
        float32 without loss.
    batch:
        (N,) cloud of each point, ascending from 0; one cloud if None.
    ratio:
        ``ceil(ratio * n)`` points of each cloud of n; a number or a tensor, () or (B,). 0.5 if
        None. Computed in the precision of src, as the original does, and in float32 at least.
    random_start:
        Start at a random point, drawn by PyTorch's generator (``torch.manual_seed``); else at
        each cloud's first.
    batch_size:
        Number of clouds, if known.
    ptr:
        (B + 1,) first row of each cloud and the end, instead of batch; a tensor or a list.

    Returns
    -------
    (M,) int64 rows of src, one cloud after another, each in order of choice.

    Differs on purpose: coordinates may be more than 224 apart (torch_cluster starts from a distance
    of 5e4 on CUDA), no index comes twice, CPU and CUDA agree index by index, ties go to the lowest
    index, ratios outside 0 to 1 are a ValueError and 0 gives nothing. Random starts are other ones.
    """
    points = src.reshape(-1, 1) if src.dim() == 1 else src
    points = points.detach()
    if points.dtype in _HALVES:
        points = points.float()
    offsets = _offsets(points, batch, batch_size, ptr)
    # On the CPU, whatever the default is.
    lengths = torch.tensor(
        [b - a for a, b in zip(offsets, offsets[1:])], dtype=torch.int64, device="cpu"
    )
    wanted = _ratio(ratio, points)
    counts = (lengths.to(wanted.dtype) * wanted).ceil().long()
    counts = torch.minimum(counts, lengths)
    starts = random_rows(offsets, points.device) if random_start else None
    return sample_ragged(points, offsets, counts.tolist(), start=starts)


def _ratio(ratio: Any, points: Tensor) -> Tensor:
    """On the CPU, in the precision of the points, a tensor in its own; float32 at least."""
    if isinstance(ratio, Tensor):
        wanted = ratio.detach().cpu()
        wanted = wanted.float() if wanted.dtype in _HALVES else wanted
    else:
        ratio = 0.5 if ratio is None else ratio
        wanted = torch.tensor(ratio, dtype=points.dtype, device="cpu")
    if isinstance(ratio, (int, float)):
        wrong = not 0 <= ratio <= 1
    else:
        wrong = any_of(~((wanted >= 0) & (wanted <= 1)))
    if wrong:
        raise ValueError(f"ratio {ratio} is outside 0..=1 ({about(points)})")
    return wanted


def _offsets(points: Tensor, batch: Tensor | None, batch_size: int | None, ptr: Any) -> list[int]:
    """First row of each cloud, and the end."""
    if ptr is not None:
        return whole(ptr)
    if batch is None:
        return [0, len(points)]
    if batch.shape != points.shape[:1]:
        raise ValueError(f"batch of shape {tuple(batch.shape)} ({about(points)})")
    if any_of(batch[1:] < batch[:-1]):
        raise ValueError(f"batch must ascend ({about(points)})")
    return ends(whole(torch.bincount(batch, minlength=batch_size or 0)))
