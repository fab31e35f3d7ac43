"""Sampling of selected rows of tensors: on the CPU as for arrays, on a GPU gathered first."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._records import Sampling
from .._torch.lazy_torch import untraced
from . import selection
from .numpy import sample_array
from .torch_arguments import about, in_range, lengths_of, refuse_meta


@untraced
def sample_on_cpu(points: Tensor, request: Sampling) -> tuple[Any, Any, Any]:
    """Returns indices, distances or None, and covering radius."""
    in_range(request)
    refuse_meta(points, "rows and mask need")
    indices, distances, radius = sample_array(points.numpy(), request._replace(out=None))
    return (
        torch.from_numpy(indices),
        None if distances is None else torch.from_numpy(distances),
        torch.as_tensor(radius, dtype=torch.float64),
    )


@untraced
def gathered(points: Tensor, request: Sampling) -> tuple[Tensor, Tensor, Sampling]:
    """Returns the gathered rows of a tensor on a GPU, their indices, and the request for them."""
    rows, gathered_request = selection.plan(request, tuple(points.shape), about(points))
    chosen = torch.from_numpy(rows).to(points.device)
    if points.dim() == 2:
        return points[chosen], chosen, gathered_request
    clouds = torch.arange(len(points), device=points.device).unsqueeze(-1)
    return points[clouds, chosen], chosen, gathered_request


def is_traceable(points: Tensor, request: Sampling) -> bool:
    """Returns whether the shape of the result does not depend on the mask, so that ``torch.compile`` can trace it."""
    selected = request.selected
    has_mask = selected is not None and isinstance(selected.mask, Tensor)
    return has_mask and points.dim() == 3 and request.count is not None and request.start is None


def traced(points: Tensor, request: Sampling) -> tuple[Tensor, Tensor, Sampling]:
    """Returns what ``gathered`` does for a mask of a batch, without reading it: of each cloud the selected rows first,
    then all others as padding."""
    selected = request.selected
    assert selected is not None
    mask: Tensor = selected.mask
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be a tensor of bool, not {mask.dtype}; for row numbers pass rows")
    if mask.shape != points.shape[:-1]:
        raise ValueError(f"the mask is of shape {tuple(mask.shape)}, not {tuple(points.shape[:-1])} ({about(points)})")
    mask = mask.to(points.device)
    if request.lengths is not None:
        lengths = lengths_of(request.lengths, points)
        mask = mask & (torch.arange(points.shape[1], device=points.device) < lengths.unsqueeze(-1))
    rows = mask.logical_not().to(torch.uint8).argsort(dim=-1, stable=True)
    cloud = points.gather(1, rows.unsqueeze(-1).expand(points.shape))
    return cloud, rows, request._replace(selected=None, out=None, lengths=mask.sum(dim=-1))


def named(rows: Tensor, indices: Tensor) -> Tensor:
    """Returns the rows at these positions; -1 for -1."""
    if rows.dim() == 1:
        return rows[indices]
    if rows.shape[1] == 0:
        return indices
    return torch.where(indices < 0, indices, rows.gather(1, indices.clamp(min=0)))
