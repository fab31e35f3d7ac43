"""Sampling arrays in GPU memory that are not PyTorch's: CuPy, JAX and what speaks DLPack or the
CUDA array interface. Lengths and starts come from the host here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _cuda, _farpoint, _numpy

if TYPE_CHECKING:
    from ._sample import Request

KINDS = {np.dtype(np.float32): "f4", np.dtype(np.float64): "f8"}


class Source:
    """An array on a GPU: where it is, and what keeps it there."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any] | None

    def __init__(self, array: Any) -> None:
        self.array = array
        self.library = type(array).__module__.partition(".")[0]
        # CuPy's interface tells its current stream. JAX's tells none: DLPack makes it wait.
        if self.library == "cupy" or not hasattr(type(array), "__dlpack__"):
            self._by_interface(array)
        else:
            self._by_dlpack(array)
        if self.dtype not in KINDS:
            raise TypeError(f"the points must be float32 or float64 ({_arrays.name(array)})")
        if len(self.shape) not in (2, 3) or self.shape[-1] == 0:
            raise ValueError(
                "the points must be an array of shape (N, D) or (B, N, D) with D of 1 or more "
                f"({_arrays.name(array)})"
            )
        self.batch = len(self.shape) == 3
        if not self.batch:
            self.shape = (1, *self.shape)
            self.strides = (self.shape[1] * self.strides[0], *self.strides)
        even = _cuda.batch_strides(self.shape, self.strides)
        if even is None:
            raise ValueError(
                "the clouds of this batch are not evenly spaced in memory; give a contiguous copy "
                f"({_arrays.name(array)})"
            )
        self.even = even

    def _by_interface(self, array: Any) -> None:
        found = array.__cuda_array_interface__
        self.dtype = np.dtype(found["typestr"])
        self.shape = tuple(found["shape"])
        self.address = found["data"][0]
        size = self.dtype.itemsize
        dense = np.empty(self.shape, np.bool_).strides if found.get("strides") is None else None
        strides = dense or tuple(step // size for step in found["strides"])
        self.strides = tuple(strides)
        if self.library == "cupy":
            self.device = int(array.device.id)
        else:
            # The interface does not tell. What has no rows has no address.
            self.device = _farpoint.cuda_device_of(self.address) if self.address else 0
        # 1 is the legacy default stream, which the driver calls 0; 2 the thread's own.
        stream = found.get("stream") or 0
        self.stream = 0 if stream == 1 else stream
        self.held: Any = array

    def _by_dlpack(self, array: Any) -> None:
        # The producer makes the legacy default stream wait for the array.
        self.held = _farpoint.Imported(array.__dlpack__(stream=1))
        code, bits, lanes = self.held.kind
        self.dtype = np.dtype(f"f{bits // 8}") if (code, lanes) == (2, 1) and bits >= 16 else None
        self.shape, self.strides = tuple(self.held.shape), tuple(self.held.strides)
        self.address, self.device, self.stream = self.held.address, self.held.device[1], 0

    def input(self, lengths: Any = None) -> _cuda.Input:
        """What the compiled half is told."""
        clouds, rows, dims = self.shape
        return _cuda.Input(
            self.device, self.stream, self.dtype == np.float64, self.address, self.even,
            (clouds, rows, dims), 0, address(lengths),
        )

    def upload(self, values: Any) -> Any:
        """Whole numbers in the memory of the device."""
        flat = np.asarray(values, np.int64).reshape(-1)
        if self.library == "cupy":
            import cupy

            with cupy.cuda.Device(self.device):
                return cupy.asarray(flat)
        return _farpoint.DeviceArray.upload(self.device, self.stream, flat.tolist())

    def room(self, shape: tuple[int, ...], kind: str, padding: bool = False) -> Any:
        """Memory for an answer, CuPy's own if the caller uses that; with padding it holds that of
        clouds without rows: -1 in whole numbers, else 0."""
        value = None if not padding else -1 if kind == "i8" else 0
        if self.library == "cupy":
            import cupy

            with cupy.cuda.Device(self.device):
                return cupy.empty(shape, kind) if value is None else cupy.full(shape, value, kind)
        byte = None if value is None else value & 0xFF
        return _farpoint.DeviceArray(self.device, self.stream, list(shape), kind, byte)

    def give(self, found: Any) -> Any:
        """An answer as an array of the caller's library, which shares its memory."""
        if self.library == "cupy":
            return found
        found.wait()  # others are on streams of their own
        if self.is_jax:
            import jax

            shared = jax.dlpack.from_dlpack(found)
            small = found.dtype == "int64" and not self.wide_jax
            return shared.astype(np.int32) if small else shared
        if hasattr(self.array, "__array_namespace__"):
            return self.array.__array_namespace__().from_dlpack(found)
        if self.library == "numba":
            from numba import cuda

            return cuda.as_cuda_array(found)
        return found

    @property
    def is_jax(self) -> bool:
        return self.library in ("jax", "jaxlib")

    @property
    def wide_jax(self) -> bool:
        """Whether JAX is in its 64-bit mode."""
        import jax

        return bool(jax.config.jax_enable_x64)

    def root(self, squares: Any) -> Any:
        """Square roots, by the caller's library."""
        return self.namespace(squares).sqrt(squares)

    def namespace(self, array: Any) -> Any:
        """The functions of the caller's library."""
        if self.library == "cupy":
            import cupy

            return cupy
        if self.is_jax:
            import jax.numpy

            return jax.numpy
        if hasattr(array, "__array_namespace__"):
            return array.__array_namespace__()
        raise TypeError(
            f"nothing is known that computes with {_arrays.name(array)}; leave distances out, and "
            "ask for nearest points in place of a Chamfer distance"
        )

    def like(self, array: Any, values: np.ndarray) -> Any:
        """Numbers of the host beside an array of the caller's library."""
        if self.library == "cupy":
            import cupy

            with cupy.cuda.Device(self.device):
                return cupy.asarray(values)
        if self.is_jax:
            return values  # goes where the other operand is
        return self.namespace(array).asarray(values, device=array.device)


def address(part: Any) -> int:
    """Where an array of ours, or of CuPy's, is."""
    if part is None:
        return 0
    return part.address if isinstance(part, _farpoint.DeviceArray) else part.data.ptr


def _numbers(part: Any) -> list[int]:
    """Whole numbers of an array of ours, or of CuPy's; waits for them."""
    return part.download() if isinstance(part, _farpoint.DeviceArray) else part.get().tolist()


def sample(points: Any, request: Request) -> tuple[Any, Any, Any]:
    """Indices, distances or None, and covering radius."""
    if request.skip_bad or request.out is not None:
        option = 'on_bad="skip"' if request.skip_bad else "out"
        raise ValueError(f"{option} is for NumPy arrays and PyTorch tensors ({_arrays.name(points)})")
    _arrays.refuse_narrow(points, points)
    source = Source(points)
    clouds, rows, _ = source.shape
    count = _most(points, rows, request)
    lengths = counts = None
    if request.lengths is not None:
        lengths = _lengths(points, source, request)
        if request.ratio is not None:
            counts = np.ceil(lengths * request.ratio)
    return _enqueue(points, source, request, count, lengths, counts)


def _most(points: Any, rows: int, request: Request) -> int:
    """Samples of a cloud at most."""
    if request.ratio is not None:
        if not 0 <= request.ratio <= 1:
            raise ValueError(f"ratio {request.ratio} is outside 0..=1 ({_arrays.name(points)})")
        return math.ceil(request.ratio * rows)
    if request.count is None:
        return rows
    if request.count > rows and request.lengths is None:
        raise ValueError(
            f"{request.count} samples were asked of a cloud of {rows} points; ask for at most "
            f"{rows} ({_arrays.name(points)})"
        )
    return request.count


def _lengths(points: Any, source: Source, request: Request) -> np.ndarray:
    if not source.batch:
        raise ValueError(f"lengths are for a batch of shape (B, N, D) ({_arrays.name(points)})")
    lengths = _arrays.integers(request.lengths, "lengths", 1)
    _numpy.refuse_negative(lengths, "length")
    clouds, rows, _ = source.shape
    if len(lengths) != clouds or (lengths > rows).any():
        raise ValueError(f"lengths {lengths.tolist()} do not fit ({_arrays.name(points)})")
    return lengths


def _starts(points: Any, source: Source, request: Request, lengths: Any) -> np.ndarray | None:
    clouds, rows, _ = source.shape
    each = np.full(clouds, rows) if lengths is None else lengths
    if request.seed is not None:
        drawn = [_farpoint.random_start(request.seed, int(n)) if n else 0 for n in each]
        return np.array(drawn, np.int64).reshape(-1, 1)
    if isinstance(request.start, int) and request.start == 0:
        return None
    starts = _numpy.starts_of(request.start, source.batch)
    if len(starts) not in (1, clouds):
        raise ValueError(f"start of shape {starts.shape} ({_arrays.name(points)})")
    starts = np.broadcast_to(starts, (clouds, starts.shape[1]))
    for cloud, several in enumerate(starts):
        outside = (several < 0) | (several >= each[cloud])
        if outside.any():
            raise ValueError(
                f"start index {several[outside][0]} is outside the cloud of {each[cloud]} points "
                f"({_arrays.name(points)})"
            )
        if len(np.unique(several)) < len(several):
            raise ValueError(f"a start index is given twice in {several.tolist()}")
    return starts


def _enqueue(
    points: Any, source: Source, request: Request, count: int, lengths: Any, counts: Any
) -> tuple[Any, Any, Any]:
    clouds, rows, _ = source.shape
    starts = _starts(points, source, request, lengths)
    if request.spacing is not None and rows == 0:
        _numpy.refuse_empty([0] * clouds, source.batch, _arrays.name(points))
    # Kernels give no cloud more places than it could have rows, or than its count.
    most = min(count, rows)
    slots = None if most == count else np.arange(clouds) * count
    padding = counts is not None or slots is not None
    # Names for all, so that nothing is given back before it is used.
    sent = [None if p is None else source.upload(p) for p in (lengths, counts, slots, starts)]
    kind = KINDS[source.dtype]
    one = (clouds,) if source.batch else ()
    indices, values, covering, chosen = (
        source.room(shape, of, padding) if wanted else None
        for shape, of, wanted in (
            ((*one, count), "i8", True), ((*one, count), kind, request.distances),
            (one, kind, request.distances), ((clouds,), "i8", request.spacing is not None),
        )
    )
    output = _cuda.Output(
        address(indices), address(sent[1]), address(sent[2]),
        (address(sent[3]), 1 if starts is None else starts.shape[1]),
        address(values), address(covering), address(chosen),
    )
    if clouds > 0 and most > 0:
        wanted = None if request.spacing is not None else most
        device_input = source.input(sent[0])
        _farpoint.cuda_sample(device_input, output, wanted, request.spacing, request.algorithm)
        if chosen is not None:
            taken = _numbers(chosen)
            _numpy.refuse_empty(taken, source.batch, _arrays.name(points))
            count = max(taken)
    return _answer(source, request, (indices, values, covering), count)


def _answer(
    source: Source, request: Request, found: tuple[Any, Any, Any], most: int
) -> tuple[Any, Any, Any]:
    indices = _first(source.give(found[0]), most)
    if not request.distances:
        return indices, None, None
    distances = source.root(_first(source.give(found[1]), most))
    return indices, distances, source.root(source.give(found[2]))


def _first(found: Any, most: int) -> Any:
    """An answer without the places that a stop at a spacing left over."""
    return found if found.shape[-1] == most else found[..., :most]


def bad_rows(points: Any) -> tuple[list[int], list[int]]:
    """How many rows of each cloud hold NaN or infinity, and which is the first."""
    source = Source(points)
    counts, firsts = (source.room((source.shape[0],), "i8") for _ in range(2))
    _farpoint.cuda_check(source.input(), address(counts), address(firsts))
    return _numbers(counts), _numbers(firsts)
