"""Arrays of any library. ``interface`` is the protocol of a library; ``numpy`` handles everything in host memory,
``torch`` PyTorch tensors, ``cuda`` other arrays on a GPU, ``jax_traced`` what JAX traces. Dispatch between them
happens only here. No library is imported unless one of its arrays is passed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._torch import lazy_torch
from . import conversion, numpy
from .interface import Library

__all__ = ["Library", "library_of", "library_of_pair", "library_of_values", "numpy"]

#: Libraries by array type, for types that belong to one library.
_by_type: dict[type, Library] = {np.ndarray: numpy}


def library_of(array: Any) -> Library:
    """Returns the module for this array."""
    library = _by_type.get(type(array))
    if library is not None:
        return library
    if lazy_torch.is_tensor(array):
        from . import torch

        if not lazy_torch.is_compiling():
            _by_type.update(dict.fromkeys(lazy_torch.plain_types(), torch))
        return torch
    if conversion.is_traced(array):
        from . import jax_traced

        return jax_traced
    if conversion.is_on_gpu(array):
        from . import cuda

        return cuda
    return numpy


def library_of_pair(x: Any, y: Any) -> Library:
    """Returns the module for a pair of clouds; raises for a tensor with an array of another library."""
    library = _by_type.get(type(x))
    if library is not None and _by_type.get(type(y)) is library:
        return library
    tensor = lazy_torch.is_tensor(x)
    if tensor != lazy_torch.is_tensor(y):
        raise TypeError(
            "both clouds must be of the same library; convert one of them with torch.as_tensor(array) "
            f"or tensor.numpy() ({conversion.name(x)}; {conversion.name(y)})"
        )
    library = library_of(x)
    if tensor:
        return library
    return library_of(y) if library is numpy else library


def library_of_values(values: Any, *others: Any) -> Library:
    """Returns the module for values, indices and the like; raises for arrays of different libraries."""
    library = library_of(values)
    if all([other is None or _by_type.get(type(other)) is library for other in others]):
        return library
    tensors = lazy_torch.is_tensor(values)
    traced = [part for part in (values, *others) if conversion.is_traced(part)]
    if traced and not tensors:  # others may be constants
        return library_of(traced[0])
    for other in others:
        if other is None or (tensors and lazy_torch.is_tensor(other)):
            continue
        if tensors or library_of(other) is not library:
            raise TypeError(
                "values, indices and further arguments must be of the same library on the same device "
                f"({conversion.name(values)}; {conversion.name(other)})"
            )
    return library
