"""Lengths, starts and indices: whole numbers of any library as arrays of NumPy, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._torch.presence import is_tensor, untraced
from .conversion import name, to_numpy

_LARGEST = 2**63 - 1


@untraced
def integers(values: Any, what: str, ndim: int | None = None) -> np.ndarray:
    """Whole numbers of any library as an int64 array of NumPy. Waits for a GPU that has them."""
    if is_tensor(values):
        values = values.detach().cpu().numpy()
    elif hasattr(values, "get") and hasattr(values, "__cuda_array_interface__"):
        values = values.get()
    elif hasattr(type(values), "__dlpack__") and not hasattr(type(values), "__array__"):
        values = to_numpy(values)
    if np.ma.is_masked(values):
        raise ValueError(f"{what} has masked values; leave them out ({name(values)})")
    found = np.asarray(values)
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind in "fO" and not isinstance(values, np.ndarray):
        # NumPy makes these of whole numbers that are too large for it.
        if all(isinstance(value, int) for value in np.asarray(values, object).flat):
            raise ValueError(f"{what} has numbers beyond 64 bits ({values!r})")
    if found.dtype.kind not in "iu" or (ndim is not None and found.ndim != ndim):
        raise not_whole(values, what, ndim)
    if found.dtype.kind == "u" and found.size and int(found.max()) > _LARGEST:
        raise ValueError(f"{what} has {found.max()}, which is above {_LARGEST}")
    return found.astype(np.int64, copy=False)


def listed(values: Any, what: str) -> list[int]:
    """Whole numbers of any library as a list. ``torch.compile`` goes through lists of ints."""
    if isinstance(values, list):
        for value in values:
            if not isinstance(value, int):
                break
        else:
            return values
    found: list[int] = integers(values, what, 1).tolist()
    return found


def not_whole(values: Any, what: str, ndim: int | None) -> TypeError:
    """That these are no whole numbers, or have other axes."""
    article = "an" if ndim is None else f"a {ndim}-D"
    return TypeError(f"{what} must be {article} array of whole numbers, not {name(values)}")


def lengths_of(lengths: Any, what: str = "lengths") -> list[int] | None:
    """Rows of each cloud that count."""
    if lengths is None:
        return None
    found = integers(lengths, what, 1)
    refuse_negative(found, what.replace("lengths", "length"))
    whole: list[int] = found.tolist()
    return whole


def starts_of(start: Any, batch: bool) -> np.ndarray:
    """Starts as an array with a row for all clouds, or a row for each."""
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
    """Raises ValueError if a value is below 0."""
    if (values < 0).any():
        cloud = int((values < 0).argmax())
        raise ValueError(f"{what} {values[cloud]} of cloud {cloud} is below 0")


def refuse_empty(taken: list[int], batch: bool, about: str) -> None:
    """Refuses clouds that are empty, or gave no sample though one at least was wanted, in the words
    of the CPU."""
    if 0 in taken:
        which = f"cloud {taken.index(0)} of the batch: " if batch else ""
        raise ValueError(f"{which}the cloud has no usable point ({about})")
