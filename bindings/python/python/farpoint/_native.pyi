"""The compiled module, for the modules of this package only."""

import os
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ._records import Approximation, Batches, Found, Gradients, Input, Output, Reduction

__all__ = [
    "__version__", "ALGORITHMS", "METHODS", "CudaUnavailable", "limit", "sample", "address", "random_word", "random_start",
    "sample_ragged", "cuda_sample", "cuda_check", "cuda_scratch_bytes", "cuda_obstacle",
    "cuda_devices", "cuda_warm_up", "File", "read", "read_bytes", "restore", "from_points", "Imported",
    "DeviceArray",
    "match_clouds", "match_backward", "cuda_match", "cuda_match_backward",
    "cuda_match_scratch_bytes", "chamfer_clouds", "chamfer_backward", "CudaChamfer", "cuda_device_of",
    "sample_approximate", "centroids", "quality",
]

__version__: str
#: Names of the exact algorithms, and of the approximate samplers.
ALGORITHMS: list[str]
METHODS: list[str]

class CudaUnavailable(RuntimeError): ...

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
    skip_bad: bool,
    distances: bool,
    out: Any,
    callback: Callable[[int, int], None] | None,
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
def random_word(seed: int) -> int: ...
def match_clouds(
    clouds: Batches,
    norm: int,
    method: str,
    threads: int | None,
    both: bool,
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
def cuda_check(input: Input, counts: int, firsts: int) -> None: ...
def cuda_scratch_bytes(
    device: int, wide: bool, shape: tuple[int, int, int], wanted: int, algorithm: str
) -> int: ...
def cuda_match(x: Input, y: Input, found: Found, norm: int) -> None: ...
def cuda_match_backward(x: Input, y: Input, wanted: Gradients, norm: int) -> None: ...
def cuda_match_scratch_bytes(
    device: int, wide: bool, pairs: int, rows: tuple[int, int], dims: int, both: bool, norm: int,
    backward: bool,
) -> int: ...
def cuda_device_of(address: int) -> int: ...
def cuda_obstacle() -> str | None: ...
def cuda_devices() -> int: ...
def cuda_warm_up(device: int) -> None: ...
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
    bytes: bytes, format: str, description: str, warnings: list[str], xyz: Sequence[str] | None
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
        tuple[bytes, str, str, list[str], list[str] | None], list[tuple[str, NDArray[Any]]]
    ]: ...
    def npy(self, rows: NDArray[np.int64] | None) -> bytes: ...

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
    clouds: Batches, how: Reduction, keep: bool
) -> tuple[NDArray[Any], ...]: ...
def chamfer_backward(
    clouds: Batches,
    indices: NDArray[np.int64],
    distances: NDArray[Any],
    grad: NDArray[Any],
    how: Reduction,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
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
        self,
        stream: int,
        x: int,
        y: int,
        x_lengths: int,
        y_lengths: int,
        values: int,
        distances: int,
        indices: int,
        scratch: int,
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
