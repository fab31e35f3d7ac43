"""Arrays of any library. ``interface`` says what is needed of one; ``numpy`` is everything that the CPU reads,
``torch`` tensors of PyTorch, ``cuda`` other arrays on a GPU. Which of them an array belongs to is decided
here and nowhere else. No library is imported unless one of its arrays is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._torch import presence
from . import conversion, numpy
from .interface import Library

__all__ = ["Library", "library_of", "library_of_pair", "library_of_values", "numpy"]

#: Those of types whose arrays are all of one library.
_by_type: dict[type, Library] = {np.ndarray: numpy}


def library_of(array: Any) -> Library:
    """The module for this array."""
    found = _by_type.get(type(array))
    if found is not None:
        return found
    if presence.is_tensor(array):
        from . import torch

        if not presence.is_compiling():
            _by_type.update(dict.fromkeys(presence.plain_types(), torch))
        return torch
    if conversion.is_on_gpu(array):
        from . import cuda

        return cuda
    return numpy


def library_of_pair(x: Any, y: Any) -> Library:
    """The module for both clouds of a pair; refuses a tensor beside an array of another library."""
    library = _by_type.get(type(x))
    if library is not None and _by_type.get(type(y)) is library:
        return library
    tensor = presence.is_tensor(x)
    if tensor != presence.is_tensor(y):
        raise TypeError(
            "both clouds must be of one library; convert one of them, by torch.as_tensor(array) "
            f"or tensor.numpy() ({conversion.name(x)}; {conversion.name(y)})"
        )
    library = library_of(x)
    if tensor:
        return library
    return library_of(y) if library is numpy else library


def library_of_values(values: Any, *others: Any) -> Library:
    """The module for values, and indices and the like beside them; refuses arrays of different libraries."""
    library = library_of(values)
    if all([other is None or _by_type.get(type(other)) is library for other in others]):
        return library
    tensors = presence.is_tensor(values)
    for other in others:
        if other is None or (tensors and presence.is_tensor(other)):
            continue
        if tensors or library_of(other) is not library:
            raise TypeError(
                "values, indices and what is beside them must be of one library, on one device "
                f"({conversion.name(values)}; {conversion.name(other)})"
            )
    return library
