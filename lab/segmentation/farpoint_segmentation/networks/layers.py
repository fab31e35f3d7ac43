"""Layers of points: convolutions of kernel 1 with batch normalization and ReLU, channels last.

Parameters have the names and shapes of the authors' checkpoints, (C, in, 1) and (C, in, 1, 1); values are (.., C),
so that a layer is a product of matrices and a row of memory is a point.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Layer", "Normalization", "Pointwise", "is_inference", "rectified"]

#: Linear map and ReLU in one kernel, where a release of PyTorch has it.
_linear_and_relu: Any = getattr(torch, "_addmm_activation", None)


class Pointwise(nn.Module):
    """A convolution of kernel 1: a linear map of the last axis.

    Parameters
    ----------
    before, after : int
        Channels.
    axes : {1, 2}
        How many axes of length 1 the weight ends with.
    bias : bool
        Whether something is added.
    groups : int, optional
        Groups of channels that do not see each other.
    """

    def __init__(self, before: int, after: int, axes: int, bias: bool, groups: int = 1) -> None:
        super().__init__()
        inside = before // groups
        limit = inside**-0.5
        shape = (after, inside, *[1] * axes)
        self.weight = nn.Parameter(torch.empty(shape).uniform_(-limit, limit))
        self.bias = nn.Parameter(torch.empty(after).uniform_(-limit, limit)) if bias else None

    def forward(self, values: Tensor) -> Tensor:
        """(.., before) -> (.., after)."""
        return functional.linear(_as_weights(values, self.weight), self.weight.flatten(1), self.bias)


class Normalization(nn.BatchNorm1d):
    """Batch normalization of the last axis, over all others."""

    def forward(self, values: Tensor, relu: bool = False) -> Tensor:
        """(.., C) -> (.., C), with a ReLU behind it or without."""
        found: Tensor = super().forward(values.reshape(-1, values.shape[-1]))
        # Before the view: of one that is changed in place gradients are copied three times.
        return (rectified(found) if relu else found).view(values.shape)


class Layer(nn.Sequential):
    """Convolution of kernel 1, batch normalization, ReLU.

    A normalization that does not learn is a part of the linear map, whose matrix is kept until a parameter
    changes.

    Parameters
    ----------
    before, after : int
        Channels.
    axes : {1, 2}
        How many axes of length 1 the weight ends with.
    relu : bool, optional
        Whether it ends with a ReLU.
    groups : int, optional
        As for ``Pointwise``.
    """

    def __init__(self, before: int, after: int, axes: int, relu: bool = True, groups: int = 1) -> None:
        super().__init__(Pointwise(before, after, axes, False, groups), Normalization(after))
        self.relu = relu
        self._kept: tuple[Any, tuple[Tensor, Tensor]] | None = None

    def forward(self, values: Tensor) -> Tensor:
        """(.., before) -> (.., after)."""
        matrix, offset = self.affine()
        values = _as_weights(values, matrix)
        if self.relu and offset is not None and _linear_and_relu is not None and is_inference():
            rows = values.reshape(-1, values.shape[-1])
            found: Tensor = _linear_and_relu(offset, rows, matrix.t())
            return found.view(*values.shape[:-1], -1)
        return self.finish(functional.linear(values, matrix, offset))

    def affine(self) -> tuple[Tensor, Tensor | None]:
        """The matrix (after, before) and what is added behind it: for callers that split the columns of the
        matrix, add up the products, and ``finish`` the sum."""
        convolution, norm = self._parts()
        if norm.training:
            return convolution.weight.flatten(1), None
        if not is_inference():
            return self._folded()
        weight = convolution._parameters["weight"]
        key = _state_of(weight, norm)
        if self._kept is None or self._kept[0] != key:
            self._kept = key, self._folded()
        return self._kept[1]

    def train(self, mode: bool = True) -> Layer:
        """As for all modules. What was kept is made again: a CUDA graph changes parameters without their noticing."""
        self._kept = None
        return super().train(mode)

    def finish(self, sums: Tensor) -> Tensor:
        """What comes behind the linear map. May overwrite the sums."""
        norm = self._parts()[1]
        if norm.training:
            found: Tensor = norm(sums, self.relu)
            return found
        if not self.relu:
            return sums
        # What an operator with a gradient of its own has returned may not be overwritten.
        return sums.relu() if torch.is_grad_enabled() else rectified(sums)

    def _parts(self) -> tuple[Any, Any]:
        # Not `self[0]`, which takes as long as a small kernel.
        return self._modules["0"], self._modules["1"]

    def _folded(self) -> tuple[Tensor, Tensor]:
        convolution, norm = self._parts()
        scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
        matrix = convolution.weight.flatten(1) * scale.unsqueeze(1)
        offset = norm.bias - norm.running_mean * scale
        kind = _autocast_type(matrix)
        return (matrix, offset) if kind is None else (matrix.to(kind), offset.to(kind))

    def __getstate__(self) -> dict[str, Any]:
        # A copy of the layer has other parameters.
        return {**self.__dict__, "_kept": None}


def rectified(values: Tensor) -> Tensor:
    """ReLU, in the same memory."""
    return torch.relu_(values)


def is_inference() -> bool:
    """Whether neither gradients nor a compiler follow."""
    return not (torch.is_grad_enabled() or torch.compiler.is_compiling())


def _as_weights(values: Tensor, matrix: Tensor) -> Tensor:
    """The values in the type of the matrix, unless autocast chooses a type for both."""
    if values.dtype == matrix.dtype:
        return values
    kind = _autocast_type(matrix)
    return values if kind is not None and kind != matrix.dtype else values.to(matrix.dtype)


def _autocast_type(like: Tensor) -> torch.dtype | None:
    device = "cuda" if like.is_cuda else like.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


def _state_of(weight: Any, norm: nn.Module) -> tuple[Any, ...]:
    """Differs once one of the parameters has been changed, in place or by another tensor."""
    own: dict[str, Any] = {**norm._parameters, **norm._buffers}
    scale, shift, mean, variance = own["weight"], own["bias"], own["running_mean"], own["running_var"]
    if weight.is_inference() or mean.is_inference():
        return (object(),)  # they count no changes
    return (
        _autocast_type(weight), weight.data_ptr(), weight._version, scale.data_ptr(), scale._version,
        shift._version, mean.data_ptr(), mean._version, variance._version,
    )
