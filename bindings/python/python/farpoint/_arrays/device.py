"""Arrays in GPU memory that are not PyTorch's: what they are, and memory for answers beside them. CuPy, JAX
and Numba have a class each; libraries that are not known by name need DLPack or the CUDA array interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from .._device_records import Input, batch_strides
from .conversion import name

KINDS = {np.dtype(np.float32): "f4", np.dtype(np.float64): "f8"}


def describe(array: Any) -> Array:
    """The array as the kernels read it."""
    return _LIBRARIES.get(type(array).__module__.partition(".")[0], Array)(array)


def describe_numbers(array: Any) -> Array:
    """An array of any shape and type, whose numbers lie one after another."""
    kind = _LIBRARIES.get(type(array).__module__.partition(".")[0], Array)
    found = kind.__new__(kind)
    found.array, found.library = array, type(array).__module__.partition(".")[0]
    found._locate(array)
    step = 1
    for extent, stride in zip(reversed(found.shape), reversed(found.strides)):
        if extent > 1 and stride != step:
            raise ValueError(
                f"the numbers of this array are not one after another; give a contiguous copy ({name(array)})"
            )
        step *= extent
    return found


class Array:
    """An array on a GPU: where it lies, what keeps it there, and room beside it. Of a library that is not
    known by name: answers are in memory of our own, which it can take over by DLPack."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any] | None
    address: int
    device: int
    stream: int

    def __init__(self, array: Any) -> None:
        self.array = array
        self.library = type(array).__module__.partition(".")[0]
        self._locate(array)
        if self.dtype not in KINDS:
            raise TypeError(f"the points must be float32 or float64 ({name(array)})")
        if len(self.shape) not in (2, 3) or self.shape[-1] == 0:
            raise ValueError(
                "the points must be an array of shape (N, D) or (B, N, D) with D of 1 or more "
                f"({name(array)})"
            )
        self.batch = len(self.shape) == 3
        if not self.batch:
            self.shape = (1, *self.shape)
            self.strides = (self.shape[1] * self.strides[0], *self.strides)
        even = batch_strides(self.shape, self.strides)
        if even is None:
            raise ValueError(
                "the clouds of this batch are not evenly spaced in memory; give a contiguous copy "
                f"({name(array)})"
            )
        self.even = even

    # ------------------------------------------------------------------------------ description

    def _locate(self, array: Any) -> None:
        """Shape, strides, type, address, device and stream."""
        # DLPack first: it says which device, and the producer waits for the array.
        if hasattr(type(array), "__dlpack__"):
            self._by_dlpack(array)
        else:
            self._by_interface(array)

    def _by_interface(self, array: Any) -> None:
        found = array.__cuda_array_interface__
        self.dtype = np.dtype(found["typestr"])
        self.shape = tuple(found["shape"])
        self.address = found["data"][0]
        size = self.dtype.itemsize
        dense = np.empty(self.shape, np.bool_).strides if found.get("strides") is None else None
        strides = dense or tuple(step // size for step in found["strides"])
        self.strides = tuple(strides)
        self.device = self._device(array)
        # 1 is the legacy default stream, which the driver calls 0; 2 the thread's own.
        stream = found.get("stream") or 0
        self.stream = 0 if stream == 1 else stream
        self.held: Any = array

    def _device(self, array: Any) -> int:
        # The interface has no device. What has no rows has no address.
        return _native.cuda_device_of(self.address) if self.address else 0

    def _by_dlpack(self, array: Any) -> None:
        # The producer makes the legacy default stream wait for the array.
        self.held = _native.Imported(array.__dlpack__(stream=1))
        code, bits, lanes = self.held.kind
        kind = {0: "i", 2: "f"}.get(code)
        known = kind is not None and lanes == 1 and bits >= 16
        self.dtype = np.dtype(f"{kind}{bits // 8}") if known else None
        self.shape, self.strides = tuple(self.held.shape), tuple(self.held.strides)
        self.address, self.device, self.stream = self.held.address, self.held.device[1], 0

    def input(self, lengths: Any = None) -> Input:
        """The clouds for the compiled module."""
        clouds, rows, dims = self.shape
        return Input(
            self.device, self.stream, self.dtype == np.float64, self.address, self.even,
            (clouds, rows, dims), 0, self.pointer(lengths),
        )

    # ----------------------------------------------------------------------------------- memory

    def upload(self, values: Any) -> Any:
        """Whole numbers in the memory of the device."""
        flat = np.asarray(values, np.int64).reshape(-1)
        return _native.DeviceArray.upload(self.device, self.stream, flat.tolist())

    def room(self, shape: tuple[int, ...], kind: str, padding: bool = False) -> Any:
        """Memory for an answer; with padding it holds that of clouds without rows: -1 in whole numbers,
        else 0."""
        byte = None if not padding else 0xFF if kind == "i8" else 0
        return _native.DeviceArray(self.device, self.stream, list(shape), kind, byte)

    def pointer(self, part: Any) -> int:
        """The address of an array that ``upload`` or ``room`` returned; 0 for None."""
        return 0 if part is None else int(part.address)

    def numbers(self, part: Any) -> list[int]:
        """Whole numbers of such an array; waits for them."""
        found: list[int] = part.download()
        return found

    # ---------------------------------------------------------------------------------- answers

    def give(self, found: Any) -> Any:
        """An answer as an array of the caller's library, which shares its memory."""
        found.wait()  # others are on streams of their own
        return self._taken_over(found)

    def _taken_over(self, found: Any) -> Any:
        if hasattr(self.array, "__array_namespace__"):
            return self.array.__array_namespace__().from_dlpack(found)
        return found

    def root(self, squares: Any) -> Any:
        """Square roots, by the caller's library."""
        return self.namespace(squares).sqrt(squares)

    def namespace(self, array: Any) -> Any:
        """The functions of the caller's library."""
        if hasattr(array, "__array_namespace__"):
            return array.__array_namespace__()
        raise TypeError(
            f"nothing is known that computes with {name(array)}; leave distances out, and "
            "call nearest in place of chamfer"
        )

    def double(self, library: Any) -> Any:
        """The type that distances are summed in; None for their own."""
        return library.float64

    def beside(self, array: Any, values: np.ndarray) -> Any:
        """Numbers of the host beside an array of the caller's library."""
        return self.namespace(array).asarray(values, device=array.device)


class CuPyArray(Array):
    """Answers are in CuPy's own memory."""

    def _locate(self, array: Any) -> None:
        # Its interface has CuPy's current stream.
        self._by_interface(array)

    def _device(self, array: Any) -> int:
        return int(array.device.id)

    def upload(self, values: Any) -> Any:
        return self.beside(None, np.asarray(values, np.int64).reshape(-1))

    def room(self, shape: tuple[int, ...], kind: str, padding: bool = False) -> Any:
        import cupy

        with cupy.cuda.Device(self.device):
            if not padding:
                return cupy.empty(shape, kind)
            return cupy.full(shape, -1 if kind == "i8" else 0, kind)

    def pointer(self, part: Any) -> int:
        return 0 if part is None else int(part.data.ptr)

    def numbers(self, part: Any) -> list[int]:
        found: list[int] = part.get().tolist()
        return found

    def give(self, found: Any) -> Any:
        return found

    def namespace(self, array: Any) -> Any:
        import cupy

        return cupy

    def beside(self, array: Any, values: np.ndarray) -> Any:
        import cupy

        with cupy.cuda.Device(self.device):
            return cupy.asarray(values)


class JaxArray(Array):
    """Without its 64-bit mode JAX has neither int64 nor float64."""

    def _taken_over(self, found: Any) -> Any:
        import jax

        shared = jax.dlpack.from_dlpack(found)
        small = found.dtype == "int64" and not self._wide
        return shared.astype(np.int32) if small else shared

    @property
    def _wide(self) -> bool:
        import jax

        return bool(jax.config.jax_enable_x64)

    def namespace(self, array: Any) -> Any:
        import jax.numpy

        return jax.numpy

    def double(self, library: Any) -> Any:
        return library.float64 if self._wide else None

    def beside(self, array: Any, values: np.ndarray) -> Any:
        return values  # goes where the other operand is


class NumbaArray(Array):
    """Numba computes nothing with arrays by itself."""

    def _taken_over(self, found: Any) -> Any:
        from numba import cuda

        return cuda.as_cuda_array(found)


_LIBRARIES = {"cupy": CuPyArray, "jax": JaxArray, "jaxlib": JaxArray, "numba": NumbaArray}
