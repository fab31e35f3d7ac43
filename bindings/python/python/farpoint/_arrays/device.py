"""Arrays in GPU memory other than PyTorch's: their description, and allocation of results. CuPy, JAX
and Numba have a class each; other libraries need DLPack or the CUDA array interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from .._device_records import Input, batch_strides
from .conversion import name

KINDS = {np.dtype(np.float32): "f4", np.dtype(np.float64): "f8"}


def describe(array: Any) -> Array:
    """Returns the description of an array of points for the kernels."""
    return _LIBRARIES.get(type(array).__module__.partition(".")[0], Array)(array)


def describe_numbers(array: Any) -> Array:
    """Returns the description of a contiguous array of any shape and dtype."""
    kind = _LIBRARIES.get(type(array).__module__.partition(".")[0], Array)
    description = kind.__new__(kind)
    description.array, description.library = array, type(array).__module__.partition(".")[0]
    description._locate(array)
    step = 1
    for extent, stride in zip(reversed(description.shape), reversed(description.strides)):
        if extent > 1 and stride != step:
            raise ValueError(
                f"the array is not contiguous; pass a contiguous copy ({name(array)})"
            )
        step *= extent
    return description


class Array:
    """Array on a GPU: its address, the object that owns it, and allocation on its device. The base class is for
    other libraries: results are in farpoint's memory, which they can take over by DLPack."""

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
                "the points must be an array of shape (N, D) or (B, N, D) with D at least 1 "
                f"({name(array)})"
            )
        self.batch = len(self.shape) == 3
        if not self.batch:
            self.shape = (1, *self.shape)
            self.strides = (self.shape[1] * self.strides[0], *self.strides)
        even = batch_strides(self.shape, self.strides)
        if even is None:
            raise ValueError(
                "the clouds of this batch are not evenly spaced in memory; pass a contiguous copy "
                f"({name(array)})"
            )
        self.even = even

    # ------------------------------------------------------------------------------ description

    def _locate(self, array: Any) -> None:
        """Sets shape, strides, dtype, address, device and stream."""
        # DLPack first: it has the device, and the producer synchronizes.
        if hasattr(type(array), "__dlpack__"):
            self._by_dlpack(array)
        else:
            self._by_interface(array)

    def _by_interface(self, array: Any) -> None:
        interface = array.__cuda_array_interface__
        self.dtype = np.dtype(interface["typestr"])
        self.shape = tuple(interface["shape"])
        self.address = interface["data"][0]
        size = self.dtype.itemsize
        dense = np.empty(self.shape, np.bool_).strides if interface.get("strides") is None else None
        strides = dense or tuple(step // size for step in interface["strides"])
        self.strides = tuple(strides)
        self.device = self._device(array)
        # 1 is the legacy default stream, 0 for the driver; 2 the per-thread default stream.
        stream = interface.get("stream") or 0
        self.stream = 0 if stream == 1 else stream
        self.held: Any = array

    def _device(self, array: Any) -> int:
        # The interface has no device, and empty arrays have no address.
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
        """Returns the clouds for the compiled module."""
        clouds, rows, dims = self.shape
        return Input(
            self.device, self.stream, self.dtype == np.float64, self.address, self.even,
            (clouds, rows, dims), 0, self.pointer(lengths),
        )

    # ----------------------------------------------------------------------------------- memory

    def upload(self, values: Any) -> Any:
        """Copies integers to the device."""
        flat = np.asarray(values, np.int64).reshape(-1)
        return _native.DeviceArray.upload(self.device, self.stream, flat.tolist())

    def room(self, shape: tuple[int, ...], kind: str, padding: bool = False) -> Any:
        """Allocates a result; with ``padding`` filled with the result of clouds without rows: -1 for integers,
        else 0."""
        byte = None if not padding else 0xFF if kind == "i8" else 0
        return _native.DeviceArray(self.device, self.stream, list(shape), kind, byte)

    def pointer(self, part: Any) -> int:
        """Returns the address of an array returned by ``upload`` or ``room``; 0 for None."""
        return 0 if part is None else int(part.address)

    def numbers(self, part: Any) -> list[int]:
        """Returns the integers of such an array; synchronizes."""
        integers: list[int] = part.download()
        return integers

    # ---------------------------------------------------------------------------------- answers

    def give(self, result: Any) -> Any:
        """Returns a result as an array of the caller's library that shares its memory."""
        result.wait()  # other libraries use streams of their own
        return self._taken_over(result)

    def _taken_over(self, result: Any) -> Any:
        if hasattr(self.array, "__array_namespace__"):
            return self.array.__array_namespace__().from_dlpack(result)
        return result

    def root(self, squares: Any) -> Any:
        """Returns square roots, by the caller's library."""
        return self.namespace(squares).sqrt(squares)

    def namespace(self, array: Any) -> Any:
        """Returns the array namespace of the caller's library."""
        if hasattr(array, "__array_namespace__"):
            return array.__array_namespace__()
        raise TypeError(
            f"there are no array functions for {name(array)}; leave out distances, and "
            "call nearest in place of chamfer"
        )

    def double(self, library: Any) -> Any:
        """Returns the dtype in which distances are summed; None for their own."""
        return library.float64

    def beside(self, array: Any, values: np.ndarray) -> Any:
        """Returns numbers of the host in the library and on the device of ``array``."""
        return self.namespace(array).asarray(values, device=array.device)


class CuPyArray(Array):
    """CuPy array; results are in CuPy's own memory."""

    def _locate(self, array: Any) -> None:
        # CuPy's interface has its current stream.
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
        integers: list[int] = part.get().tolist()
        return integers

    def give(self, result: Any) -> Any:
        return result

    def namespace(self, array: Any) -> Any:
        import cupy

        return cupy

    def beside(self, array: Any, values: np.ndarray) -> Any:
        import cupy

        with cupy.cuda.Device(self.device):
            return cupy.asarray(values)


class JaxArray(Array):
    """JAX array; without its 64-bit mode JAX has neither int64 nor float64."""

    def _taken_over(self, result: Any) -> Any:
        import jax

        shared = jax.dlpack.from_dlpack(result)
        small = result.dtype == "int64" and not self._wide
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
        return values  # moved to the device of the other operand


class NumbaArray(Array):
    """Numba array; Numba has no array functions."""

    def _taken_over(self, result: Any) -> Any:
        from numba import cuda

        return cuda.as_cuda_array(result)


_LIBRARIES = {"cupy": CuPyArray, "jax": JaxArray, "jaxlib": JaxArray, "numba": NumbaArray}
