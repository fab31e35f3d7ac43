"""Voxels of PyTorch tensors on the CPU, differentiable with respect to points and features."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _native
from .._records import Voxelization
from .._torch.calls import wants_gradient
from .._torch.registration import HALVES
from . import numpy_voxels
from .conversion import name, to_numpy
from .torch_arguments import checked
from .torch_operators import gather


def voxels(points: Tensor, request: Voxelization, features: Any, how: str, labels: Any) -> tuple[Any, ...]:
    """Returns the fields of ``Voxels``."""
    if points.is_cuda:
        raise TypeError(
            f"voxel_downsample runs on the CPU, and the points are on a GPU ({name(points)}); call it with points.cpu()"
        )
    cloud = checked(points)
    host = numpy_voxels.find(to_numpy(cloud.detach()), request)
    found = [torch.from_numpy(array) for array in host[:5]]
    if wants_gradient(cloud):
        found[0] = _reduced(cloud, host, "mean" if request.reduce == "mean" else "pick", request.threads)
    of_features = None if features is None else _reduced(features, host, how, request.threads)
    of_labels = None
    if labels is not None:
        of_labels = torch.from_numpy(numpy_voxels.most_frequent(labels, host, request.threads))
    return (*found, of_features, of_labels, None if host.offsets is None else torch.from_numpy(host.offsets))


def _reduced(values: Tensor, found: numpy_voxels.Found, how: str, threads: int | None) -> Tensor:
    """Returns the values of each voxel: their "mean" or "max", or those of the chosen rows by "pick"."""
    if values.dim() == found.inverse.ndim:
        return _reduced(values.unsqueeze(-1), found, how, threads).squeeze(-1)
    numpy_voxels.check_values(values, found.inverse)
    if how == "pick":
        return gather(values, torch.from_numpy(found.indices), threads)
    if values.dtype not in (torch.float32, torch.float64, *HALVES):
        raise TypeError(f"features must be floating point for a mean or maximum, not {values.dtype}; convert them")
    # Halves are rounded once, from double precision.
    wide = values.double() if values.dtype in HALVES else values
    if how == "mean":
        means: Tensor = _Mean.apply(wide, found, threads)  # type: ignore[no-untyped-call]
        return means.to(values.dtype)
    return _maximum(wide, found, threads).to(values.dtype)


class _Mean(torch.autograd.Function):
    """Means of the values of each voxel."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, found: numpy_voxels.Found, threads: int | None) -> Tensor:
        ctx.found, ctx.threads = found, threads
        array = to_numpy(values.detach().contiguous())
        means = _native.values_scatter_mean(numpy_voxels.sizes_of(array, found), array, found.inverse, threads)
        return torch.from_numpy(means).reshape(*found.counts.shape, values.shape[-1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """Returns the gradient of a voxel, divided by its points in double precision, for each of them."""
        counts = torch.from_numpy(ctx.found.counts).clamp(min=1).unsqueeze(-1)
        shares = (grad.double() / counts).to(grad.dtype)
        return gather(shares, torch.from_numpy(ctx.found.inverse), ctx.threads), None, None


def _maximum(values: Tensor, found: numpy_voxels.Found, threads: int | None) -> Tensor:
    array = to_numpy(values.detach().contiguous())
    _, places = _native.values_scatter_max(numpy_voxels.sizes_of(array, found), array, found.inverse, threads)
    chosen = torch.from_numpy(places).reshape(*found.counts.shape, values.shape[-1])
    if values.shape[-2] == 0:
        return values.new_zeros(chosen.shape)
    return values.gather(-2, chosen.clamp(min=0)).masked_fill(chosen < 0, 0)
