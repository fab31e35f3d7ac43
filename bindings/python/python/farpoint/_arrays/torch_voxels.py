"""Voxels of PyTorch tensors, differentiable with respect to points and features."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _native
from .._records import Voxelization
from .._torch import voxels_kernels as kernels
from .._torch.calls import wants_gradient
from .._torch.registration import HALVES
from . import numpy_voxels
from .conversion import to_numpy
from .integer_arrays import integers
from .torch_arguments import about, checked, refuse_fractions
from .torch_operators import gather


def voxels(points: Tensor, request: Voxelization, features: Any, how: str, labels: Any) -> tuple[Any, ...]:
    """Returns the fields of ``Voxels``."""
    cloud = checked(points)
    if features is not None and features.device != cloud.device:
        raise TypeError(f"features must be on {cloud.device}, not {features.device} ({about(cloud)})")
    found = _find(cloud, request)
    parts = list(found[:5])
    if wants_gradient(cloud):
        parts[0] = _reduced(cloud, found, "mean" if request.reduce == "mean" else "pick", request.threads)
    of_features = None if features is None else _reduced(features, found, how, request.threads)
    of_labels = None if labels is None else _most_frequent(labels, found, request.threads)
    return (*parts, of_features, of_labels, found.offsets)


def _find(cloud: Tensor, request: Voxelization) -> kernels.Found:
    """Returns the voxels on the device of the points."""
    if cloud.is_cuda:
        return kernels.find(cloud.detach(), request)
    host = numpy_voxels.find(to_numpy(cloud.detach()), request)
    parts: Any = [None if part is None else torch.from_numpy(part) for part in host]
    return kernels.Found(*parts)


def _on_host(found: kernels.Found) -> numpy_voxels.Found:
    """Returns voxels on the CPU as arrays."""
    parts: Any = [None if part is None else part.numpy() for part in found]
    return numpy_voxels.Found(*parts)


def _most_frequent(labels: Any, found: kernels.Found, threads: int | None) -> Tensor:
    """Returns the most frequent label of each voxel."""
    if found.counts.is_cpu:
        return torch.from_numpy(numpy_voxels.most_frequent(labels, _on_host(found), threads))
    if isinstance(labels, Tensor):
        refuse_fractions(labels, "labels")
    else:
        labels = torch.from_numpy(integers(labels, "labels"))
    if labels.shape != found.inverse.shape:
        shape = tuple(found.inverse.shape)
        raise ValueError(f"labels must be of shape {shape}, as the points, not {tuple(labels.shape)}")
    return kernels.most_frequent(labels.to(found.inverse.device), found)


def _reduced(values: Tensor, found: kernels.Found, how: str, threads: int | None) -> Tensor:
    """Returns the values of each voxel: their "mean" or "max", or those of the chosen rows by "pick"."""
    if values.dim() == found.inverse.dim():
        return _reduced(values.unsqueeze(-1), found, how, threads).squeeze(-1)
    numpy_voxels.check_values(values, found.inverse)
    if how == "pick":
        return gather(values, found.indices, threads)
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
    def forward(ctx: Any, values: Tensor, found: kernels.Found, threads: int | None) -> Tensor:
        ctx.found, ctx.threads = found, threads
        if values.is_cuda:
            return kernels.mean(values.detach(), found)
        array, host = to_numpy(values.detach().contiguous()), _on_host(found)
        means = _native.values_scatter_mean(numpy_voxels.sizes_of(array, host), array, host.inverse, threads)
        return torch.from_numpy(means).reshape(*found.counts.shape, values.shape[-1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        """Returns the gradient of a voxel, divided by its points in double precision, for each of them."""
        counts = ctx.found.counts.clamp(min=1).unsqueeze(-1)
        shares = (grad.double() / counts).to(grad.dtype)
        return gather(shares, ctx.found.inverse, ctx.threads), None, None


def _maximum(values: Tensor, found: kernels.Found, threads: int | None) -> Tensor:
    if values.is_cuda:
        chosen = kernels.largest(values.detach(), found)
    else:
        array, host = to_numpy(values.detach().contiguous()), _on_host(found)
        _, places = _native.values_scatter_max(numpy_voxels.sizes_of(array, host), array, host.inverse, threads)
        chosen = torch.from_numpy(places).reshape(*found.counts.shape, values.shape[-1])
    if values.shape[-2] == 0:
        return values.new_zeros(chosen.shape)
    return values.gather(-2, chosen.clamp(min=0)).masked_fill(chosen < 0, 0)
