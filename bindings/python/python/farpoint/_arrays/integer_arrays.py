"""Conversion and checks of lengths, starts and indices: integers of any library as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._torch.lazy_torch import is_tensor, untraced
from .conversion import name, to_numpy

_LARGEST = 2**63 - 1


def on_host(values: Any) -> Any:
    """Returns an array of any library, also on a GPU, in host memory; anything else unchanged."""
    if is_tensor(values):
        return values.detach().cpu().numpy()
    if hasattr(values, "get") and hasattr(values, "__cuda_array_interface__"):
        return values.get()
    if hasattr(type(values), "__dlpack__") and not hasattr(type(values), "__array__"):
        return to_numpy(values)
    return values


@untraced
def integers(values: Any, what: str, ndim: int | None = None) -> np.ndarray:
    """Returns integers of any library as an int64 NumPy array. Synchronizes if they are on a GPU."""
    values = on_host(values)
    if np.ma.is_masked(values):
        raise ValueError(f"{what} has masked values; remove them ({name(values)})")
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind in "fO" and not isinstance(values, np.ndarray):
        # NumPy makes such arrays of integers beyond 64 bits.
        if all(isinstance(value, int) for value in np.asarray(values, object).flat):
            raise ValueError(f"{what} has numbers beyond 64 bits ({values!r})")
    if array.dtype.kind not in "iu" or (ndim is not None and array.ndim != ndim):
        raise not_integers(values, what, ndim)
    if array.dtype.kind == "u" and array.size and int(array.max()) > _LARGEST:
        raise ValueError(f"{what} has {array.max()}, which is above {_LARGEST}")
    return array.astype(np.int64, copy=False)


def listed(values: Any, what: str) -> list[int]:
    """Returns integers of any library as a list. ``torch.compile`` traces lists of ints."""
    if isinstance(values, list):
        for value in values:
            if not isinstance(value, int):
                break
        else:
            return values
    numbers: list[int] = integers(values, what, 1).tolist()
    return numbers


def not_integers(values: Any, what: str, ndim: int | None) -> TypeError:
    """Returns the error for values that are not integers, or have other axes."""
    article = "an" if ndim is None else f"a {ndim}-D"
    return TypeError(f"{what} must be {article} array of integers, not {name(values)}")


def lengths_of(lengths: Any, what: str = "lengths") -> list[int] | None:
    """Returns the number of valid rows of each cloud."""
    if lengths is None:
        return None
    array = integers(lengths, what, 1)
    refuse_negative(array, what.replace("lengths", "length"))
    counts: list[int] = array.tolist()
    return counts


def starts_of(start: Any, batch: bool) -> np.ndarray:
    """Returns starts as an array with one row for all clouds, or one per cloud."""
    starts = integers(start, "start")
    if starts.ndim == 0:
        return starts.reshape(1, 1)
    if starts.ndim == 1:
        return starts.reshape(-1, 1) if batch else starts.reshape(1, -1)
    if starts.ndim == 2 and batch:
        return starts
    shapes = "(), (B,) or (B, S)" if batch else "() or (S,)"
    raise ValueError(f"start must be of shape {shapes}, not {starts.shape}")


def refuse_negative(values: np.ndarray, what: str) -> None:
    """Raises ValueError if a value is negative."""
    if (values < 0).any():
        cloud = int((values < 0).argmax())
        raise ValueError(f"{what} {values[cloud]} of cloud {cloud} is below 0")


def refuse_empty(counts: list[int], batch: bool, about: str) -> None:
    """Raises for clouds that are empty, or without any usable point, with the message
    of the CPU."""
    if 0 in counts:
        which = f"cloud {counts.index(0)} of the batch: " if batch else ""
        raise ValueError(f"{which}the cloud has no usable point ({about})")
