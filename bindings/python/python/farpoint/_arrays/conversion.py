"""Conversion between arrays of other libraries and NumPy arrays."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

#: DLPack device types in host memory: plain, and pinned for CUDA.
_HOST = (1, 3)

#: DLPack device types in the memory of an NVIDIA GPU: plain and managed.
_CUDA = (2, 13)


def name(array: Any) -> str:
    """Returns a description for messages: library, shape and dtype as far as known."""
    kind = type(array)
    words = [kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"]
    if hasattr(array, "shape"):
        words.append(f"of shape {tuple(array.shape)}")
    if hasattr(array, "dtype"):
        words.append(f"and type {array.dtype}")
    return " ".join(words)


def is_traced(array: Any) -> bool:
    """Returns whether JAX traces this array, which then has a shape and no values."""
    jax: Any = sys.modules.get("jax")
    return hasattr(jax, "core") and isinstance(array, jax.core.Tracer)


def is_on_gpu(array: Any) -> bool:
    """Returns whether an array that is not PyTorch's is in GPU memory."""
    if hasattr(type(array), "__dlpack_device__"):
        device_type = _device_of(array)[0]
        if device_type not in _HOST + _CUDA:
            raise TypeError(
                f"{name(array)} is on a device of DLPack type {device_type}; farpoint reads the "
                "memory of CPUs and of NVIDIA GPUs"
            )
        return device_type in _CUDA
    return hasattr(array, "__cuda_array_interface__")


def _device_of(array: Any) -> tuple[int, int]:
    """Returns DLPack's device type and number; Open3D's type is an enumeration that is not an int."""
    kind, number = array.__dlpack_device__()
    return int(getattr(kind, "value", kind)), int(number)


def to_numpy(array: Any) -> np.ndarray:
    """Returns a NumPy view if the library allows it, else a copy. Masked values become
    NaN."""
    if isinstance(array, np.ndarray):
        return _unmasked(array)
    kind = type(array)
    if hasattr(kind, "__dlpack__") and not hasattr(kind, "__array_interface__"):
        return _from_dlpack(array)
    arrays = ("__array__", "__array_interface__", "__array_struct__", "__getitem__", "__buffer__")
    held = next((place for place in _PLACES if hasattr(kind, place) and not hasattr(kind, "__array__")), None)
    if held or isinstance(array, (str, bytes, dict)) or not any(hasattr(kind, protocol) for protocol in arrays):
        raise TypeError(
            "the points must be an array of float32 or float64, or rows in a list, not "
            f"{'None' if array is None else name(array)}{f'; pass its .{held}' if held else ''}"
        )
    try:
        converted = np.asarray(array)
        # NumPy before 1.24 makes object arrays of rows of different lengths.
        if converted.dtype.kind == "O" and any(isinstance(part, (list, tuple)) for part in converted.flat):
            raise ValueError("its rows have different lengths")
    except ValueError as error:
        raise ValueError(f"the points are not an array of numbers ({name(array)}): {error}") from None
    # Lists of integers are converted like other numbers.
    if converted.dtype.kind in "iu" and isinstance(array, (list, tuple)):
        converted = _as_float64(converted, "points")
    if converted.dtype.kind == "O":
        raise TypeError(
            f"the points must be an array of float32 or float64, not of objects ({name(array)})"
        )
    return converted


#: Attributes in which classes of other libraries, such as laspy's, hold the coordinates.
_PLACES = ("xyz", "points", "vertices", "pos")


def note_transposed(shape: Any) -> None:
    """Warns of a cloud of two or three points with many coordinates."""
    if len(shape) == 2 and shape[0] in (2, 3) and shape[1] > 16:
        frame, level = sys._getframe(1), 1
        while frame is not None and frame.f_globals.get("__name__", "").startswith("farpoint."):
            frame, level = frame.f_back, level + 1  # type: ignore[assignment]
        warnings.warn(
            f"points of shape {tuple(shape)} are {shape[0]} points with {shape[1]} coordinates each; for {shape[1]} "
            "points pass points.T",
            stacklevel=level + 1,
        )


def points_of(array: Any) -> np.ndarray:
    """Returns points for the compiled module: ``to_numpy`` in native byte order, with float16 converted without loss to
    float32 and integers to float64. Raises for other dtypes."""
    if type(array) is np.ndarray and (array.dtype is _SINGLE or array.dtype is _DOUBLE):
        if array.ndim == 2 and len(array) < 4:
            note_transposed(array.shape)
        return array
    if isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "iu":
        array = array.astype(np.float64)
    converted = native(to_numpy(array))
    note_transposed(converted.shape)
    if converted.dtype.kind in "iu":
        return _as_float64(converted, "points")
    if converted.dtype == np.float16:
        return converted.astype(np.float32)
    if converted.dtype.names:
        raise TypeError(
            "the points must be plain numbers, not records; pass numpy.lib.recfunctions.structured_to_unstructured("
            f'points[["x", "y", "z"]]) ({name(array)})'
        )
    if converted.dtype not in (_SINGLE, _DOUBLE):
        raise TypeError(
            "the points must be float32, float64, float16 or integers; convert them, for example by "
            f"numpy.asarray(points, numpy.float64) ({name(array)})"
        )
    return converted


def pair_of_points(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns both clouds or batches for the compiled module; raises unless axes and dtypes are the same."""
    a, b = points_of(x), points_of(y)
    if a.ndim not in (2, 3) or a.ndim != b.ndim:
        raise ValueError(f"both must be clouds (N, D), or both batches (B, N, D): {name(a)} and {name(b)}")
    if a.dtype != b.dtype:
        raise TypeError(
            f"both clouds must be of the same type, not {a.dtype} and {b.dtype}; integers and lists are float64, and "
            f"float16 is float32 ({name(x)}; {name(y)})"
        )
    return a, b


def values_of(array: Any, what: str) -> np.ndarray:
    """Returns values to compute with: in native byte order, and integers as float64, as for points."""
    converted = native(to_numpy(array))
    return _as_float64(converted, what) if converted.dtype.kind in "iu" else converted


def _as_float64(integers: np.ndarray, what: str) -> np.ndarray:
    converted = integers.astype(np.float64)
    is_large = integers.size and max(int(integers.max()), -int(integers.min())) > _MAX_EXACT
    if is_large and (converted.astype(integers.dtype) != integers).any():
        raise ValueError(
            f"the {what} have integers that float64 does not hold exactly; subtract an origin first ({name(integers)})"
        )
    return converted


#: Up to here every integer is exact in float64.
_MAX_EXACT = 2**53

#: Dtypes that are read in place.
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def native(array: np.ndarray) -> np.ndarray:
    """Returns the array in native byte order."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _unmasked(array: np.ndarray) -> np.ndarray:
    """Returns the array, or a copy with NaN for masked values if there are any."""
    if not isinstance(array, np.ma.MaskedArray) or not np.ma.is_masked(array):
        return array
    if array.dtype.kind != "f":
        return array.data  # rejected for its dtype
    filled: np.ndarray = array.filled(np.nan)
    return filled


def _from_dlpack(array: Any) -> np.ndarray:
    """Returns a view through DLPack; raises a readable error if the library does not support it."""
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        # Libraries that support only the first version of the protocol.
        try:
            return np.from_dlpack(_OldDlpack(array))
        except (BufferError, RuntimeError, TypeError, ValueError):
            raise TypeError(
                f"{name(array)} can't be read by DLPack ({error}); convert it to a NumPy array"
            ) from None


class _OldDlpack:
    """Wrapper of an array whose ``__dlpack__`` takes no arguments."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return _device_of(self.array)

    def __dlpack__(self, **_: Any) -> Any:
        return self.array.__dlpack__()


def like(result: np.ndarray, array: Any) -> Any:
    """Returns a NumPy result in the library and on the device of ``array``."""
    if isinstance(array, np.ndarray) or not hasattr(type(array), "__dlpack__"):
        return result
    library = type(array).__module__.partition(".")[0]
    if library in ("jax", "jaxlib"):
        import jax

        return jax.device_put(result, array.device)
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__().asarray(result)
    return result


def refuse_narrow(array: Any, named: Any) -> None:
    """Raises ValueError if the number of rows of ``named`` exceeds the indices of ``array``'s library:
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
