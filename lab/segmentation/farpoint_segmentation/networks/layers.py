"""Point layers: convolutions of kernel 1 with batch normalization and ReLU, channels last.

Parameters have the names and shapes of the authors' checkpoints, (C, in, 1) and (C, in, 1, 1); values are (.., C),
so that a layer is a matrix product and a row of memory is a point.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Layer", "Normalization", "Pointwise", "is_inference", "rectified"]

#: Linear map and ReLU in one kernel, if available in PyTorch.
_linear_and_relu: Any = getattr(torch, "_addmm_activation", None)


class Pointwise(nn.Module):
    """Convolution of kernel 1: a linear map of the last axis.

    Parameters
    ----------
    before, after : int
        Input and output channels.
    axes : {1, 2}
        Number of trailing axes of length 1 of the weight.
    bias : bool
        Add a bias.
    groups : int, optional
        Number of independent groups of channels.
    """

    def __init__(self, before: int, after: int, axes: int, bias: bool, groups: int = 1) -> None:
        super().__init__()
        inside = before // groups
        limit = inside**-0.5
        shape = (after, inside, *[1] * axes)
        self.weight = nn.Parameter(torch.empty(shape).uniform_(-limit, limit))
        self.bias = nn.Parameter(torch.empty(after).uniform_(-limit, limit)) if bias else None

    def forward(self, values: Tensor) -> Tensor:
        """Map (.., before) to (.., after)."""
        return functional.linear(_as_weights(values, self.weight), self.weight.flatten(1), self.bias)


class Normalization(nn.BatchNorm1d):
    """Batch normalization of the last axis, over all others."""

    def forward(self, values: Tensor, relu: bool = False) -> Tensor:
        """Normalize (.., C), followed by ReLU if ``relu``."""
        result: Tensor = super().forward(values.reshape(-1, values.shape[-1]))
        # Before the view: gradients of a view modified in place are copied three times.
        return (rectified(result) if relu else result).view(values.shape)


class Layer(nn.Sequential):
    """Convolution of kernel 1, batch normalization, ReLU.

    In evaluation mode normalization is folded into the linear map, whose matrix is cached until a parameter
    changes.

    Parameters
    ----------
    before, after : int
        Input and output channels.
    axes : {1, 2}
        Number of trailing axes of length 1 of the weight.
    relu : bool, optional
        Apply a ReLU at the end.
    groups : int, optional
        As for ``Pointwise``.
    """

    def __init__(self, before: int, after: int, axes: int, relu: bool = True, groups: int = 1) -> None:
        super().__init__(Pointwise(before, after, axes, False, groups), Normalization(after))
        self.relu = relu
        self._kept: tuple[Any, tuple[Tensor, Tensor]] | None = None

    def forward(self, values: Tensor) -> Tensor:
        """Map (.., before) to (.., after)."""
        matrix, offset = self.affine()
        values = _as_weights(values, matrix)
        if self.relu and offset is not None and _linear_and_relu is not None and is_inference():
            rows = values.reshape(-1, values.shape[-1])
            result: Tensor = _linear_and_relu(offset, rows, matrix.t())
            return result.view(*values.shape[:-1], -1)
        return self.finish(functional.linear(values, matrix, offset))

    def affine(self) -> tuple[Tensor, Tensor | None]:
        """Return the matrix (after, before) and the bias: for callers that split the columns of the
        matrix, sum the products, and ``finish`` the sum."""
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
        """Set the mode as for all modules. Clears the cache, since CUDA graphs change parameters unnoticed."""
        self._kept = None
        return super().train(mode)

    def finish(self, sums: Tensor) -> Tensor:
        """Apply the operations after the linear map. May overwrite the sums."""
        norm = self._parts()[1]
        if norm.training:
            result: Tensor = norm(sums, self.relu)
            return result
        if not self.relu:
            return sums
        # Results of a custom differentiable operator must not be overwritten.
        return sums.relu() if torch.is_grad_enabled() else rectified(sums)

    def _parts(self) -> tuple[Any, Any]:
        # Not `self[0]`, which takes as much time as a small kernel.
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
    """Apply ReLU in place."""
    return torch.relu_(values)


def is_inference() -> bool:
    """Return whether neither gradients nor a compiler are active."""
    return not (torch.is_grad_enabled() or torch.compiler.is_compiling())


def _as_weights(values: Tensor, matrix: Tensor) -> Tensor:
    """Returns the values in the dtype of the matrix, unless autocast chooses a dtype for both."""
    if values.dtype == matrix.dtype:
        return values
    kind = _autocast_type(matrix)
    return values if kind is not None and kind != matrix.dtype else values.to(matrix.dtype)


def _autocast_type(like: Tensor) -> torch.dtype | None:
    device = "cuda" if like.is_cuda else like.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


def _state_of(weight: Any, norm: nn.Module) -> tuple[Any, ...]:
    """Returns a state that differs once a parameter is modified in place or replaced."""
    tensors: dict[str, Any] = {**norm._parameters, **norm._buffers}
    scale, shift, mean, variance = tensors["weight"], tensors["bias"], tensors["running_mean"], tensors["running_var"]
    if weight.is_inference() or mean.is_inference():
        return (object(),)  # inference tensors have no version counter
    return (
        _autocast_type(weight), weight.data_ptr(), weight._version, scale.data_ptr(), scale._version,
        shift._version, mean.data_ptr(), mean._version, variance._version,
    )
