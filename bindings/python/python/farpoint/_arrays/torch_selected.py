"""Sampling of selected rows of tensors: on the CPU as for arrays, on a GPU gathered first."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._records import Sampling
from .._torch.lazy_torch import untraced
from . import selection
from .numpy import sample_array
from .torch_arguments import about, in_range


@untraced
def sample_on_cpu(points: Tensor, request: Sampling) -> tuple[Any, Any, Any]:
    """Returns indices, distances or None, and covering radius."""
    in_range(request)
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


def named(rows: Tensor, indices: Tensor) -> Tensor:
    """Returns the rows at these positions; -1 for -1."""
    if rows.dim() == 1:
        return rows[indices]
    if rows.shape[1] == 0:
        return indices
    return torch.where(indices < 0, indices, rows.gather(1, indices.clamp(min=0)))
