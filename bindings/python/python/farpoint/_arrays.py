"""Whose array is this, and where does it lie? The one place that tells libraries apart."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from . import _farpoint

#: Device types of DLPack whose memory the CPU reads: plain, and pinned for CUDA.
_HOST = (1, 3)
_LARGEST = 2**63 - 1

#: Device types of DLPack whose memory a GPU of NVIDIA reads: plain and managed.
_CUDA = (2, 13)

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: PyTorch, once it was seen. torch.compile reads this name where it may fail to go through
#: ``sys.modules``, which grows meanwhile.
_torch: Any = None


def note_torch() -> bool:
    """Whether PyTorch has been imported. Does not import it."""
    global _torch
    if _torch is None and hasattr(sys.modules.get("torch"), "Tensor"):
        _torch = sys.modules["torch"]
    return _torch is not None


def untraced(function: _Function) -> _Function:
    """The function, at whose calls torch.compile breaks its graph."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if _torch is not None and _torch.compiler.is_compiling():
            from . import _torch_graphs

            return _torch_graphs.eagerly(function, *arguments, **options)
        return function(*arguments, **options)

    return call  # type: ignore[return-value]


def is_torch(array: Any) -> bool:
    """Whether it is a PyTorch tensor. Does not import torch."""
    return (_torch is not None or note_torch()) and isinstance(array, _torch.Tensor)


def is_on_gpu(array: Any) -> bool:
    """Whether it lies in the memory of a GPU; for arrays that are not PyTorch's."""
    if hasattr(type(array), "__dlpack_device__"):
        device_type = _device_of(array)[0]
        if device_type not in _HOST + _CUDA:
            raise TypeError(
                f"{name(array)} lies on a device of DLPack type {device_type}; farpoint reads the "
                "memory of CPUs and of NVIDIA GPUs"
            )
        return device_type in _CUDA
    return hasattr(array, "__cuda_array_interface__")


def _device_of(array: Any) -> tuple[int, int]:
    """Device type and number of DLPack; Open3D has an enumeration that is no int for the type."""
    kind, number = array.__dlpack_device__()
    return int(getattr(kind, "value", kind)), int(number)


def to_numpy(array: Any) -> np.ndarray:
    """The same memory as a NumPy array where its library allows, else a copy. Masked values become
    NaN."""
    if isinstance(array, np.ndarray):
        return _unmasked(array)
    kind = type(array)
    if hasattr(kind, "__dlpack__") and not hasattr(kind, "__array_interface__"):
        return _from_dlpack(array)
    arrays = ("__array__", "__array_interface__", "__array_struct__", "__getitem__", "__buffer__")
    if isinstance(array, (str, bytes, dict)) or not any(hasattr(kind, way) for way in arrays):
        raise TypeError(
            "the points must be an array of float32 or float64, or rows in a list, not "
            f"{'None' if array is None else name(array)}"
        )
    try:
        found = np.asarray(array)
        # NumPy before 1.24 makes objects of rows of different lengths.
        if found.dtype.kind == "O" and any(isinstance(part, (list, tuple)) for part in found.flat):
            raise ValueError("its rows have different lengths")
    except ValueError as error:
        raise ValueError(f"the points are no array of numbers ({name(array)}): {error}") from None
    # Lists of whole numbers are coordinates like others.
    if found.dtype.kind in "iu" and isinstance(array, (list, tuple)):
        found = found.astype(np.float64)
    if found.dtype.kind == "O":
        raise TypeError(
            f"the points must be an array of float32 or float64, not of objects ({name(array)})"
        )
    return found


def _unmasked(array: np.ndarray) -> np.ndarray:
    """The array itself; of one with masked values a copy with NaN in their places."""
    if not isinstance(array, np.ma.MaskedArray) or not np.ma.is_masked(array):
        return array
    if array.dtype.kind != "f":
        return array.data  # refused for its type
    filled: np.ndarray = array.filled(np.nan)
    return filled


def _from_dlpack(array: Any) -> np.ndarray:
    """The same memory, by DLPack; an error in words if its library does not give it."""
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        # Libraries that know only the first form of the protocol.
        try:
            return np.from_dlpack(_OldDlpack(array))
        except (BufferError, RuntimeError, TypeError, ValueError):
            raise TypeError(
                f"{name(array)} can't be read by DLPack ({error}); give a NumPy array of it"
            ) from None


class _OldDlpack:
    """An array whose ``__dlpack__`` takes no arguments."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return _device_of(self.array)

    def __dlpack__(self, **_: Any) -> Any:
        return self.array.__dlpack__()


def like(found: np.ndarray, array: Any) -> Any:
    """A NumPy result as an array of the library, and on the device, that ``array`` is of."""
    if isinstance(array, np.ndarray) or not hasattr(type(array), "__dlpack__"):
        return found
    library = type(array).__module__.partition(".")[0]
    if library in ("jax", "jaxlib"):
        import jax

        return jax.device_put(found, array.device)
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__().asarray(found)
    return found


def refuse_narrow(array: Any, named: Any) -> None:
    """Raises ValueError if rows of ``named`` can't be told in indices of the library of ``array``:
    JAX has no int64 without its 64-bit mode."""
    if type(array).__module__.partition(".")[0] not in ("jax", "jaxlib"):
        return
    if named.shape[-2] > 2**31:
        import jax

        if not jax.config.jax_enable_x64:
            raise ValueError(
                f"JAX has int32 indices, which do not reach all {named.shape[-2]} rows; turn its "
                f'64-bit mode on by jax.config.update("jax_enable_x64", True) ({name(named)})'
            )


def name(array: Any) -> str:
    """The array for messages: library, shape and type as far as it tells them."""
    kind = type(array)
    words = [kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"]
    if hasattr(array, "shape"):
        words.append(f"of shape {tuple(array.shape)}")
    if hasattr(array, "dtype"):
        words.append(f"and type {array.dtype}")
    return " ".join(words)


@untraced
def integers(values: Any, what: str, ndim: int | None = None) -> np.ndarray:
    """Whole numbers of any library as an int64 array of NumPy. Waits for a GPU that has them."""
    if is_torch(values):
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


def not_whole(values: Any, what: str, ndim: int | None) -> TypeError:
    """That these are no whole numbers, or have other axes."""
    article = "an" if ndim is None else f"a {ndim}-D"
    return TypeError(f"{what} must be {article} array of whole numbers, not {name(values)}")


@untraced
def check(points: Any) -> None:
    """Raises ValueError if a coordinate is NaN or infinite; else returns None.

    The text names the first such row and how many there are. ``sample`` looks by itself on the
    CPU. On a GPU it does not, since it would have to wait for the answer; this function does. A
    masked value (``numpy.ma``) counts as NaN.

    Parameters
    ----------
    points:
        (N, D) or (B, N, D) array or tensor of any library, float32 or float64.

    Raises
    ------
    ValueError
        NaN or infinity in a row, or an array of another shape.
    TypeError
        Neither float32 nor float64.
    """
    if is_torch(points):
        from . import _torch

        counts, firsts = _torch.bad_rows(points)
    elif not is_torch(points) and is_on_gpu(points):
        from . import _device

        counts, firsts = _device.bad_rows(points)
    else:
        counts, firsts = bad_rows(to_numpy(points))
    for cloud, (count, first) in enumerate(zip(counts, firsts)):
        if count:
            shape = points.shape if hasattr(points, "shape") else np.shape(points)
            batch = f"cloud {cloud} of the batch: " if len(shape) == 3 else ""
            raise ValueError(
                f"{batch}{count} of {shape[-2]} rows hold NaN or infinity, the first is row "
                f"{first} ({name(points)})"
            )


def bad_rows(array: np.ndarray) -> tuple[list[int], list[int]]:
    """How many rows of each cloud hold NaN or infinity, and which is the first."""
    _farpoint.address(array)  # refuses other types and shapes
    bad = ~np.isfinite(array.reshape(-1, *array.shape[-2:])).all(axis=-1)
    return bad.sum(axis=-1).tolist(), bad.argmax(axis=-1).tolist() if bad.size else []
