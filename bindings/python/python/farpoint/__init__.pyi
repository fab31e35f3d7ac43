import os
from collections.abc import Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "Centroids", "Cloud", "CudaUnavailable", "Nearest", "Order", "PlainNearest", "Quality", "Sample",
    "__version__", "centroids", "chamfer", "check", "nearest", "order", "quality", "read", "sample",
    "sample_approximate", "warm_up", "write",
]

__version__: str

#: An array of any library; the same library comes back.
_Array = TypeVar("_Array")
#: Whole numbers of any library.
_Integers = Any
_Path = str | os.PathLike[str]
_Algorithm = Literal["auto", "reference", "naive", "radius", "tree", "peak", "quick", "persistent"]
_Method = Literal["random", "grid", "morton", "npdu", "fastpoint"]

class CudaUnavailable(RuntimeError): ...

class Sample(NamedTuple, Generic[_Array]):
    indices: _Array
    distances: _Array
    covering_radius: Any
    @property
    def squared(self) -> Literal[False]: ...

class Order(NamedTuple, Generic[_Array]):
    indices: _Array
    spacings: _Array

class Nearest(NamedTuple, Generic[_Array]):
    distances: _Array
    indices: _Array
    @property
    def squared(self) -> Literal[True]: ...

class PlainNearest(NamedTuple, Generic[_Array]):
    distances: _Array
    indices: _Array
    @property
    def squared(self) -> Literal[False]: ...

class Centroids(NamedTuple, Generic[_Array]):
    points: _Array
    counts: _Array
    cell: Any

class Quality(NamedTuple):
    points: Any
    samples: Any
    covering_radius: Any
    mean: Any
    p99: Any
    spacing_mean: Any
    spacing_min: Any
    spacing_max: Any
    chamfer: Any
    unique: Any

class Cloud:
    def __init__(self, file: Any, rows: NDArray[Any] | None = None) -> None: ...
    def __reduce__(self) -> Any: ...
    def __copy__(self) -> Cloud: ...
    def __deepcopy__(self, memo: Any) -> Cloud: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: DTypeLike | None = ..., copy: bool | None = ...) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any] | Any) -> Cloud: ...
    @property
    def points(self) -> NDArray[np.floating[Any]]: ...
    @property
    def fields(self) -> list[str]: ...
    @property
    def records(self) -> NDArray[Any]: ...
    @property
    def description(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def with_column(self, name: str, values: ArrayLike) -> Cloud: ...

# NumPy arrays, and what is no array of a library, give arrays of NumPy.
@overload
def sample(
    points: NDArray[Any] | Cloud | Sequence[Any],
    count: int | None = ...,
    *,
    ratio: float | None = ...,
    spacing: float | None = ...,
    start: int | _Integers = ...,
    lengths: _Integers | None = ...,
    algorithm: _Algorithm = ...,
    seed: int | None = ...,
    threads: int | None = ...,
    out: NDArray[np.int64] | None = ...,
    return_distances: Literal[False] = ...,
    on_bad: Literal["error", "skip"] = ...,
    progress: bool = ...,
) -> NDArray[np.int64]: ...
@overload
def sample(
    points: NDArray[Any] | Cloud | Sequence[Any],
    count: int | None = ...,
    *,
    ratio: float | None = ...,
    spacing: float | None = ...,
    start: int | _Integers = ...,
    lengths: _Integers | None = ...,
    algorithm: _Algorithm = ...,
    seed: int | None = ...,
    threads: int | None = ...,
    out: NDArray[np.int64] | None = ...,
    return_distances: Literal[True],
    on_bad: Literal["error", "skip"] = ...,
    progress: bool = ...,
) -> Sample[NDArray[Any]]: ...
@overload
def sample(
    points: _Array,
    count: int | None = ...,
    *,
    ratio: float | None = ...,
    spacing: float | None = ...,
    start: int | _Integers = ...,
    lengths: _Integers | None = ...,
    algorithm: _Algorithm = ...,
    seed: int | None = ...,
    threads: int | None = ...,
    out: _Array | None = ...,
    return_distances: Literal[False] = ...,
    on_bad: Literal["error", "skip"] = ...,
    progress: bool = ...,
) -> _Array: ...
@overload
def sample(
    points: _Array,
    count: int | None = ...,
    *,
    ratio: float | None = ...,
    spacing: float | None = ...,
    start: int | _Integers = ...,
    lengths: _Integers | None = ...,
    algorithm: _Algorithm = ...,
    seed: int | None = ...,
    threads: int | None = ...,
    out: _Array | None = ...,
    return_distances: Literal[True],
    on_bad: Literal["error", "skip"] = ...,
    progress: bool = ...,
) -> Sample[_Array]: ...
@overload
def order(
    points: NDArray[Any] | Cloud | Sequence[Any],
    *,
    start: int | _Integers = ...,
    lengths: _Integers | None = ...,
    algorithm: _Algorithm = ...,
    seed: int | None = ...,
    threads: int | None = ...,
    on_bad: Literal["error", "skip"] = ...,
    progress: bool = ...,
) -> Order[NDArray[Any]]: ...
@overload
def order(
    points: _Array,
    *,
    start: int | _Integers = ...,
    lengths: _Integers | None = ...,
    algorithm: _Algorithm = ...,
    seed: int | None = ...,
    threads: int | None = ...,
    on_bad: Literal["error", "skip"] = ...,
    progress: bool = ...,
) -> Order[_Array]: ...
@overload
def sample_approximate(
    points: NDArray[Any] | Cloud | Sequence[Any],
    count: int | None = ...,
    *,
    method: _Method,
    ratio: float | None = ...,
    cell: float | None = ...,
    start: int | _Integers | None = ...,
    seed: int | None = ...,
    keep: Literal["center", "first", "random"] | None = ...,
    bits: int | None = ...,
    window: int | None = ...,
    npdu_order: Literal["input", "morton", "neighbors"] | None = ...,
    estimator: Literal["network", "fit"] | None = ...,
    first_stage: _Algorithm | None = ...,
    lengths: _Integers | None = ...,
    threads: int | None = ...,
    out: NDArray[np.int64] | None = ...,
    on_bad: Literal["error", "skip"] = ...,
    progress: bool = ...,
) -> NDArray[np.int64]: ...
@overload
def sample_approximate(
    points: _Array,
    count: int | None = ...,
    *,
    method: _Method,
    ratio: float | None = ...,
    cell: float | None = ...,
    start: int | _Integers | None = ...,
    seed: int | None = ...,
    keep: Literal["center", "first", "random"] | None = ...,
    bits: int | None = ...,
    window: int | None = ...,
    npdu_order: Literal["input", "morton", "neighbors"] | None = ...,
    estimator: Literal["network", "fit"] | None = ...,
    first_stage: _Algorithm | None = ...,
    lengths: _Integers | None = ...,
    threads: int | None = ...,
    out: _Array | None = ...,
    on_bad: Literal["error", "skip"] = ...,
    progress: bool = ...,
) -> _Array: ...
@overload
def centroids(
    points: NDArray[Any] | Cloud | Sequence[Any],
    count: int | None = ...,
    *,
    ratio: float | None = ...,
    cell: float | None = ...,
    lengths: _Integers | None = ...,
    threads: int | None = ...,
    on_bad: Literal["error", "skip"] = ...,
) -> Centroids[NDArray[Any]]: ...
@overload
def centroids(
    points: _Array,
    count: int | None = ...,
    *,
    ratio: float | None = ...,
    cell: float | None = ...,
    lengths: _Integers | None = ...,
    threads: int | None = ...,
    on_bad: Literal["error", "skip"] = ...,
) -> Centroids[_Array]: ...
def quality(
    points: Any,
    indices: _Integers,
    *,
    lengths: _Integers | None = ...,
    threads: int | None = ...,
    progress: bool = ...,
) -> Quality: ...
@overload
def nearest(
    x: _Array,
    y: _Array,
    *,
    x_lengths: _Integers | None = ...,
    y_lengths: _Integers | None = ...,
    squared: Literal[True] = ...,
    norm: Literal[2] = ...,
    threads: int | None = ...,
) -> Nearest[_Array]: ...
@overload
def nearest(
    x: _Array,
    y: _Array,
    *,
    x_lengths: _Integers | None = ...,
    y_lengths: _Integers | None = ...,
    squared: Literal[False],
    norm: Literal[1, 2] = ...,
    threads: int | None = ...,
) -> PlainNearest[_Array]: ...
@overload
def nearest(
    x: _Array,
    y: _Array,
    *,
    x_lengths: _Integers | None = ...,
    y_lengths: _Integers | None = ...,
    squared: bool = ...,
    norm: Literal[1],
    threads: int | None = ...,
) -> PlainNearest[_Array]: ...
@overload
def nearest(
    x: _Array,
    y: _Array,
    *,
    x_lengths: _Integers | None = ...,
    y_lengths: _Integers | None = ...,
    squared: bool = ...,
    norm: Literal[1, 2] = ...,
    threads: int | None = ...,
) -> Nearest[_Array] | PlainNearest[_Array]: ...
def chamfer(
    x: _Array,
    y: _Array,
    *,
    x_lengths: _Integers | None = ...,
    y_lengths: _Integers | None = ...,
    squared: bool = ...,
    norm: Literal[1, 2] = ...,
    reduction: Literal["mean", "sum", "max"] = ...,
    one_sided: bool = ...,
    threads: int | None = ...,
) -> Any: ...
def check(points: Any) -> None: ...
def read(
    path: _Path, *, format: str | None = ..., columns: int | None = ..., progress: bool = ...
) -> Cloud: ...
def write(
    path: _Path, cloud: Any, *, format: str | None = ..., encoding: str | None = ...
) -> list[str]: ...

# Of a GPU: a number, "cuda", "cuda:1" or a torch.device.
def warm_up(device: Any = ...) -> None: ...
