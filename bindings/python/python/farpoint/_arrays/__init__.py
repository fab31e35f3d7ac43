"""Arrays of any library. ``interface`` says what is needed of one; ``numpy`` is everything that the CPU reads,
``torch`` tensors of PyTorch, ``cuda`` other arrays on a GPU. Which of them an array belongs to is decided
here and nowhere else. No library is imported unless one of its arrays is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._torch import presence
from . import conversion, numpy
from .interface import Library

__all__ = ["Library", "library_of", "library_of_pair", "numpy"]


def library_of(array: Any) -> Library:
    """The module for this array."""
    if presence.is_tensor(array):
        from . import torch

        return torch
    if type(array) is not np.ndarray and conversion.is_on_gpu(array):
        from . import cuda

        return cuda
    return numpy


def library_of_pair(x: Any, y: Any) -> Library:
    """The module for both clouds of a pair; refuses a tensor beside an array of another library."""
    if presence.is_tensor(x) != presence.is_tensor(y):
        raise TypeError(
            "both clouds must be of one library; convert one of them, by torch.as_tensor(array) "
            f"or tensor.numpy() ({conversion.name(x)}; {conversion.name(y)})"
        )
    library = library_of(x)
    return library_of(y) if library is numpy else library
