"""Compiled module, internal to this package."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ._device_records import Gradients, Input, MatchOutput, Output
from ._records import Approximation, Batches, Clouds, Neighborhood, Reduction, Voxelization

__all__ = [
    "__version__", "ALGORITHMS", "METHODS", "CudaUnavailable", "limit", "sample", "address", "cloud_seed", "random_start",
    "sample_ragged", "cuda_sample", "CudaSample", "cuda_check", "cuda_scratch_bytes", "cuda_obstacle",
    "cuda_devices", "cuda_warm_up", "Conductor", "Tile",
    "File", "FileBatch", "FileWorker", "write_rows", "read", "read_bytes", "restore", "from_points", "Imported",
    "DeviceArray",
    "match_clouds", "match_backward", "cuda_match", "cuda_match_backward",
    "cuda_match_scratch_bytes", "chamfer_clouds", "chamfer_backward", "CudaChamfer", "CudaNearest", "cuda_device_of",
    "sample_approximate", "centroids",
    "quality", "search", "within", "Index", "search_backward", "CudaSearch", "CudaValues", "cuda_weights",
    "values_gather", "values_gather_backward", "values_gather_max", "values_gather_max_backward",
    "values_interpolate", "values_interpolate_backward", "values_weights", "values_weights_backward",
    "values_scatter_max", "values_scatter_mean", "values_scatter_mode", "voxels", "CudaVoxels",
    "run_command", "ShapeCache", "read_tensors_by", "set_num_threads", "get_num_threads",
]

__version__: str
#: Names of the exact algorithms, and of the approximate samplers.
ALGORITHMS: list[str]
METHODS: list[str]

class CudaUnavailable(RuntimeError): ...

#: Device memory: an address, a tensor in it, or None.
_Place = Any

def sample(
    points: NDArray[Any],
    count: int | None,
    ratio: float | None,
    spacing: float | None,
    starts: NDArray[np.int64] | None,
    seed: int | None,
    lengths: list[int] | None,
    counts: list[int] | None,
    algorithm: str,
    threads: int | None,
    skip_non_finite: bool,
    distances: bool,
    out: Any,
    callback: Callable[[int, int], None] | None,
    selected: NDArray[np.int64] | NDArray[np.bool_] | None = None,
    gpu: int | None = None,
    deadline: float | None = None,
) -> tuple[Any, Any, Any]: ...
def sample_ragged(
    points: NDArray[Any],
    offsets: NDArray[np.int64],
    counts: NDArray[np.int64],
    starts: NDArray[np.int64] | None,
    algorithm: str,
) -> NDArray[np.int64]: ...
def sample_approximate(points: NDArray[Any], request: Approximation) -> list[NDArray[np.int64]]: ...
def centroids(
    points: NDArray[Any], request: Approximation
) -> list[tuple[NDArray[Any], NDArray[np.int64], float]]: ...
def quality(
    points: NDArray[Any],
    indices: list[NDArray[np.int64]],
    lengths: list[int] | None,
    threads: int | None,
    callback: Callable[[int, int], None] | None,
) -> list[tuple[list[int], list[float]]]: ...
def address(points: NDArray[Any]) -> int: ...
def limit(rows: int, count: int | None = None, ratio: float | None = None) -> int: ...
def random_start(seed: int, len: int) -> int: ...
def cloud_seed(seed: int, cloud: int) -> int: ...
def match_clouds(
    clouds: Batches,
    norm: int,
    method: str,
    threads: int | None,
    both: bool,
    callback: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[Any], ...]: ...
def match_backward(
    clouds: Batches,
    x_indices: NDArray[np.int64],
    y_indices: NDArray[np.int64],
    x_grad: NDArray[Any],
    y_grad: NDArray[Any],
    norm: int,
    threads: int | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
def cuda_sample(
    input: Input, output: Output, count: int | None, spacing: float | None, algorithm: str
) -> None: ...
@final
class CudaSample:
    scratch: tuple[int, int]
    def __new__(
        cls, device: int, wide: bool, shape: tuple[int, int, int], strides: tuple[int, int], count: int,
        algorithm: str,
    ) -> CudaSample: ...
    def sample(
        self, stream: int | None, points: _Place, lengths: _Place, indices: _Place, values: _Place, radii: _Place,
        scratch: _Place,
    ) -> None: ...
def cuda_check(input: Input, counts: int, firsts: int) -> None: ...
def cuda_scratch_bytes(
    device: int, wide: bool, shape: tuple[int, int, int], count: int, algorithm: str
) -> int: ...
def cuda_match(x: Input, y: Input, output: MatchOutput, norm: int) -> None: ...
def cuda_match_backward(x: Input, y: Input, gradients: Gradients, norm: int) -> None: ...
def cuda_match_scratch_bytes(
    device: int, wide: bool, pairs: int, rows: tuple[int, int], dims: int, both: bool, norm: int,
    backward: bool,
) -> int: ...
def cuda_device_of(address: int) -> int: ...
def cuda_obstacle() -> str | None: ...
def cuda_devices() -> int: ...
def cuda_warm_up(device: int) -> None: ...
def set_num_threads(threads: int | None) -> None: ...
def get_num_threads() -> int: ...
def read(
    path: str | os.PathLike[str],
    format: str | None,
    columns: int | None,
    xyz: Sequence[str] | None,
) -> File: ...
def read_bytes(
    bytes: bytes, name: str, format: str | None, columns: int | None, xyz: Sequence[str] | None
) -> File: ...
def restore(
    bytes: bytes,
    format: str,
    description: str,
    warnings: list[str],
    columns: int | None,
    xyz: Sequence[str] | None,
) -> File: ...
def from_points(points: NDArray[Any]) -> File: ...

@final
class File:
    description: str
    warnings: list[str]
    crs: str | None
    scale: tuple[float, float, float] | None
    fields: list[tuple[str, str, int]]
    def __len__(self) -> int: ...
    def points(self) -> NDArray[Any]: ...
    def with_column(self, name: str, values: NDArray[Any]) -> File: ...
    def write(
        self,
        path: str | os.PathLike[str],
        rows: NDArray[np.int64] | None,
        format: str | None,
        encoding: str | None,
        precision: str | None,
        scale: float | None,
    ) -> list[str]: ...
    def dump(
        self, rows: NDArray[np.int64] | None
    ) -> tuple[
        tuple[bytes, str, str, list[str], int | None, list[str] | None],
        list[tuple[str, NDArray[Any]]],
    ]: ...
    def npy(self, rows: NDArray[np.int64] | None) -> bytes: ...

@final
class FileWorker:
    digest: str
    def __new__(
        cls,
        count: int | None,
        ratio: float | None,
        spacing: str | None,
        algorithm: str,
        start: list[int] | None,
        seed: int | None,
        rows: tuple[bool, bool],
        format: str | None,
        columns: int | None,
        xyz: list[str] | None,
        to: str | None,
        encoding: str | None,
        precision: str | None,
        scale: str | None,
        threads: int | None,
        gpu: int | None,
    ) -> FileWorker: ...
    def sample(
        self, input: str | os.PathLike[str], output: str | os.PathLike[str], limit: float | None
    ) -> str: ...
    def sample_limited(
        self,
        input: str | os.PathLike[str],
        output: str | os.PathLike[str],
        memory: int,
        spool: str | os.PathLike[str] | None,
        resume: bool,
    ) -> str: ...

def write_rows(
    paths: Sequence[str | os.PathLike[str]],
    rows: NDArray[np.int64],
    output: str | os.PathLike[str],
    memory: int,
    reading: tuple[str | None, int | None, Sequence[str] | None],
    writing: tuple[str | None, str | None, str | None, float | None],
) -> list[str]: ...

@final
class FileBatch:
    def __new__(
        cls,
        paths: Sequence[str | os.PathLike[str]],
        out: str | os.PathLike[str],
        recursive: bool,
        extension: str | None,
        digest: str,
        force: bool,
    ) -> FileBatch: ...
    def left(self) -> list[tuple[int, Path, Path, bool, int]]: ...
    def begin(self, k: int) -> None: ...
    def finish(self, k: int, line: str) -> bool | None: ...
    def fail(self, k: int, seconds: float, error: str) -> None: ...
    def killed(self, k: int) -> bool: ...
    def close(
        self,
    ) -> list[tuple[str, str, int | None, int | None, float | None, float, str | None] | None]: ...

@final
class Tile:
    def __new__(
        cls, points: NDArray[Any], rows: NDArray[np.uint64], log: Any, threads: bool
    ) -> Tile: ...
    def answer(self, request: bytes) -> bytes: ...

@final
class Conductor:
    def __new__(
        cls,
        double: bool,
        count: int | None,
        ratio: float | None,
        spacing: float | None,
        starts: Sequence[tuple[int, Sequence[float], int]],
        tiles: int,
        transport: Callable[[list[tuple[int, bytes]]], list[bytes | str]],
        tries: int,
        manifest: bytes | None,
    ) -> Conductor: ...
    def advance(self) -> tuple[int, int] | None: ...
    def manifest(self) -> bytes: ...
    def outcome(self) -> tuple[int, float] | None: ...
    def chosen(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def statistics(self) -> list[tuple[str, int]]: ...


@final
class Imported:
    def __new__(cls, capsule: Any) -> Imported: ...
    device: tuple[int, int]
    address: int
    kind: tuple[int, int, int]
    shape: list[int]
    strides: list[int]

@final
class DeviceArray:
    def __new__(
        cls, device: int, stream: int, shape: list[int], kind: str, byte: int | None = None
    ) -> DeviceArray: ...
    @staticmethod
    def upload(device: int, stream: int, values: list[int]) -> DeviceArray: ...
    def download(self) -> list[int]: ...
    def wait(self) -> None: ...
    address: int
    shape: tuple[int, ...]
    dtype: str
    __cuda_array_interface__: dict[str, Any]
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any: ...

def chamfer_clouds(
    clouds: Batches, how: Reduction, keep: bool, callback: Callable[[int, int], None] | None = None
) -> tuple[NDArray[Any], ...]: ...
def chamfer_backward(
    clouds: Batches,
    indices: NDArray[np.int64],
    distances: NDArray[Any],
    grad: NDArray[Any],
    how: Reduction,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@final
class CudaNearest:
    scratch: tuple[int, int]
    def __new__(
        cls,
        device: int,
        wide: bool,
        shape: tuple[int, int, int, int],
        strides: tuple[tuple[int, int], tuple[int, int]],
        norm: int,
        both: bool,
    ) -> CudaNearest: ...
    def search(
        self, stream: int | None, x: _Place, y: _Place, x_lengths: _Place, y_lengths: _Place, of_x: _Place,
        nearest_of_x: _Place, of_y: _Place, nearest_of_y: _Place, scratch: _Place,
    ) -> None: ...
    def backward(
        self,
        stream: int,
        x: int,
        y: int,
        nearest_of_x: int,
        nearest_of_y: int,
        of_distances_x: int,
        of_distances_y: int,
        of_x: int,
        of_y: int,
        scratch: int,
    ) -> None: ...
@final
class CudaChamfer:
    scratch: tuple[int, int]
    def __new__(
        cls,
        device: int,
        wide: bool,
        shape: tuple[int, int, int, int],
        strides: tuple[tuple[int, int], tuple[int, int]],
        norm: int,
        plain: bool,
        reduction: str,
        both: bool,
    ) -> CudaChamfer: ...
    def forward(
        self, stream: int | None, x: _Place, y: _Place, x_lengths: _Place, y_lengths: _Place, values: _Place,
        distances: _Place, indices: _Place, scratch: _Place,
    ) -> None: ...
    def backward(
        self,
        stream: int,
        x: int,
        y: int,
        x_lengths: int,
        y_lengths: int,
        distances: int,
        indices: int,
        grad: int,
        stride: int,
        of_x: int,
        of_y: int,
        scratch: int,
    ) -> None: ...
def search_backward(
    x: NDArray[Any], y: NDArray[Any], indices: NDArray[np.int64], grad: NDArray[Any], norm: int
) -> tuple[NDArray[Any], NDArray[Any]] | None: ...
@final
class Index:
    def __new__(cls, y: Clouds, threads: int | None) -> Index: ...

@final
class CudaSearch:
    scratch: tuple[int, int]
    backward_scratch: int
    index_bytes: tuple[int, int]
    def __new__(
        cls, device: int, wide: bool, shape: tuple[int, int, int, int],
        strides: tuple[tuple[int, int], tuple[int, int]], ragged: bool, request: Neighborhood,
    ) -> CudaSearch: ...
    def search(
        self, step: _Step, distances: int, indices: int, counts: int, scratch: int
    ) -> None: ...
    def search_whole(
        self, stream: int | None, x: _Place, y: _Place, x_lengths: _Place, y_lengths: _Place, tree: _Place,
        itself: bool, distances: _Place, indices: _Place, counts: _Place, scratch: _Place,
    ) -> None: ...
    def count(self, step: _Step, counts: int, scratch: int) -> None: ...
    def fill(
        self, step: _Step, offsets: int, distances: int, indices: int, scratch: int
    ) -> None: ...
    def backward(
        self, stream: int, x: int, y: int, indices: int, grad: int, of_x: int, of_y: int, scratch: int
    ) -> None: ...
    def index(self, step: _Step, scratch: int) -> None: ...

@final
class CudaValues:
    scratch: int
    def __new__(cls, device: int, sizes: _Sizes, kind: str, wide_indices: bool) -> CudaValues: ...
    def gather(self, stream: int | None, values: _Place, indices: _Place, output: _Place) -> None: ...
    def gather_backward(
        self, stream: int, indices: int, grad: int, output: int, scratch: int
    ) -> None: ...
    def gather_max(
        self, stream: int | None, values: _Place, indices: _Place, add: _Place, output: _Place, chosen: int = 0
    ) -> None: ...
    def gather_max_backward(
        self, stream: int, indices: int, chosen: int, grad: int, of_values: int, of_add: int,
        scratch: int,
    ) -> None: ...
    def interpolate(
        self, stream: int | None, values: _Place, indices: _Place, weights: _Place, output: _Place
    ) -> None: ...
    def interpolate_backward(
        self, stream: int, values: int, indices: int, weights: int, grad: int, of_values: int,
        of_weights: int, scratch: int,
    ) -> None: ...
    def check_indices(self, stream: int, indices: int, result: int) -> None: ...

def cuda_weights(
    device: int, stream: int | None, wide: bool, shape: tuple[int, int], power: int, eps: float,
    distances: _Place, grad: int, output: _Place,
) -> None: ...
def within(
    x: Clouds, y: Clouds, request: Neighborhood
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]: ...

#: Stream, points of both sides, their lengths and offsets, the tree of y, and whether x is y.
_Step = tuple[int, tuple[int, int], tuple[int, int], tuple[int, int], int, bool]
#: Number of clouds, rows, queries, k and channels.
_Sizes = tuple[int, int, int, int, int]

def values_gather(
    sizes: _Sizes, values: NDArray[Any], indices: NDArray[Any], threads: int | None = None
) -> NDArray[Any]: ...
def values_gather_backward(
    sizes: _Sizes, indices: NDArray[Any], grad: NDArray[Any], threads: int | None = None
) -> NDArray[Any]: ...
def values_gather_max(
    sizes: _Sizes, values: NDArray[Any], indices: NDArray[Any], add: NDArray[Any] | None, threads: int | None = None
) -> tuple[NDArray[Any], NDArray[np.int32]]: ...
def values_gather_max_backward(
    sizes: _Sizes, indices: NDArray[Any], chosen: NDArray[np.int32], grad: NDArray[Any], with_add: bool,
    threads: int | None = None,
) -> tuple[NDArray[Any], NDArray[Any] | None]: ...
def values_scatter_mean(
    sizes: _Sizes, values: NDArray[Any], indices: NDArray[np.int64], threads: int | None = None
) -> NDArray[Any]: ...
def values_scatter_max(
    sizes: _Sizes, values: NDArray[Any], indices: NDArray[np.int64], threads: int | None = None
) -> tuple[NDArray[Any], NDArray[np.int64]]: ...
def values_scatter_mode(
    sizes: _Sizes, labels: NDArray[np.int64], indices: NDArray[np.int64], none: int, threads: int | None = None
) -> NDArray[np.int64]: ...
def voxels(
    points: NDArray[Any], request: Voxelization
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[Any], NDArray[np.int32]]]: ...

@final
class CudaVoxels:
    summary: int
    scratch: int
    def __new__(
        cls, device: int, wide: bool, shape: tuple[int, int, int], strides: tuple[int, int], ragged: bool,
        request: Voxelization,
    ) -> CudaVoxels: ...
    def find(self, step: tuple[int, ...]) -> None: ...
    def read(
        self, numbers: list[int], locate: Callable[[int, int], tuple[float, float]]
    ) -> tuple[int, list[tuple[int, int]]]: ...
    def points_scratch(self, room: int) -> int: ...
    def points(
        self, step: tuple[int, ...], room: int, ranges: list[tuple[int, int]], output: tuple[int, ...]
    ) -> None: ...

def values_interpolate(
    sizes: _Sizes, values: NDArray[Any], indices: NDArray[Any], weights: NDArray[Any], threads: int | None = None
) -> NDArray[Any]: ...
def values_interpolate_backward(
    sizes: _Sizes, values: NDArray[Any], indices: NDArray[Any], weights: NDArray[Any],
    grad: NDArray[Any], needed: tuple[bool, bool], threads: int | None = None,
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]: ...
def values_weights(k: int, distances: NDArray[Any], power: int, eps: float) -> NDArray[Any]: ...
def values_weights_backward(
    k: int, distances: NDArray[Any], power: int, eps: float, grad: NDArray[Any]
) -> NDArray[Any]: ...
def search(
    x: Clouds, y: Clouds, request: Neighborhood
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
def run_command(program: list[str], arguments: list[str]) -> int: ...

@final
class ShapeCache:
    """Cache of plans for argument shapes, strides and dtypes."""
    def __new__(
        cls, device_type: int, plain: tuple[type, type], levels: Any, keys: Callable[[], Any] | None, unusual: int,
        max_entries: int,
    ) -> ShapeCache: ...
    def find(
        self, make: Any, request: Any, first: Any, second: Any, third: Any = None, fourth: Any = None
    ) -> Any: ...
    def keep(
        self, answer: Any, make: Any, request: Any, first: Any, second: Any, third: Any = None, fourth: Any = None
    ) -> None: ...
    def clear(self) -> None: ...
    def __len__(self) -> int: ...

def read_tensors_by(exchange: Any, stream: Callable[[int], int]) -> None: ...
