"""Types shared by several functions. Options of overloaded functions are repeated here once: ``mypy`` checks
that they agree with the function."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Generator

# Before Python 3.11 named tuples of the standard library can't be generic.
if sys.version_info >= (3, 11):
    from typing import NamedTuple as NamedTuple
else:
    from typing_extensions import NamedTuple as NamedTuple


#: Array of any library; results are of the same library.
ArrayT = TypeVar("ArrayT")

if TYPE_CHECKING:
    from typing import Protocol

    from typing_extensions import TypeVar as TypeVarWithDefault

    class OtherArray(Protocol):
        """Array of JAX, CuPy or another library; tensors of PyTorch have no namespace, so that pairs do not mix."""

        def __array_namespace__(self) -> Any: ...

    #: Array of a library other than NumPy and PyTorch, for functions of several arrays: all of one library.
    OtherT = TypeVar("OtherT", bound=OtherArray)

    #: Integer array of the same library; for NumPy another type than ``ArrayT``.
    IndexT = TypeVarWithDefault("IndexT", default=ArrayT)

    #: One number for a cloud, or an array with one per cloud of a batch.
    ValueT = TypeVarWithDefault("ValueT", default=ArrayT)
else:
    IndexT, ValueT, OtherT = TypeVar("IndexT"), TypeVar("ValueT"), TypeVar("OtherT")

KindT = TypeVar("KindT", bound=type)


def subscriptable(kind: KindT) -> KindT:
    """Returns the generic class, accepting any number of types at run time: defaults need Python 3.13."""
    setattr(kind, "__class_getitem__", classmethod(GenericAlias))
    return kind


#: Integers of any library.
Integers = Any

#: Booleans of any library.
Booleans = Any

#: NumPy arrays and array-likes of no library, which return NumPy arrays.
Rows = Union["NDArray[Any]", Sequence[Any]]

#: Source of random starts.
Seed = Union[int, "Generator"]

Path = Union[str, "os.PathLike[str]"]
NonFinite = Literal["error", "skip"]

#: A name, or a name with options such as ``"radius:nvox=24"``.
Algorithm = Union[
    Literal["auto", "reference", "naive", "radius", "tree", "peak", "persistent"], str
]
#: A GPU by its number, as "cuda" or "cuda:1", or as a ``torch.device``.
Device = Any
#: Dtype of indices: a name, or a dtype of NumPy or PyTorch.
IndexType = Any

if TYPE_CHECKING:
    from typing import TypedDict

    import numpy as np

    #: Results for NumPy arrays, lists and clouds of files.
    FloatArray = NDArray[Any]
    Int64Array = NDArray[np.int64]
    #: int64, or int32 by ``index_dtype``.
    IntArray = NDArray[np.signedinteger[Any]]
    FloatOrArray = Union[float, NDArray[np.float64]]
    IntOrArray = Union[int, NDArray[np.int64]]
    #: Indices for values of NumPy.
    IntRows = Union[NDArray[np.integer[Any]], Sequence[Any]]
    ScalarT = TypeVar("ScalarT", bound=np.generic)
    FloatingT = TypeVar("FloatingT", bound=np.floating[Any])

    #: Number of samples, or one for each of several clouds.
    Counts = Union[int, Sequence[int], NDArray[np.integer[Any]], None]

    class SampleOptions(TypedDict, total=False):
        ratio: float | None
        spacing: float | None
        start: Integers | None
        lengths: Integers | None
        offsets: Integers | None
        rows: Integers | None
        mask: Booleans | None
        algorithm: Algorithm
        seed: Seed | None
        threads: int | None
        device: Device
        non_finite: NonFinite
        deadline: float | None
        progress: bool

    class FileOptions(TypedDict, total=False):
        algorithm: Algorithm
        start: int | Sequence[int] | None
        seed: int | None
        drop_zeros: bool
        f32: bool
        format: str | None
        columns: int | None
        xyz: Sequence[str | int] | None
        encoding: Literal["ascii", "binary", "binary_big_endian", "binary_compressed"] | None
        precision: Literal["single", "double"] | None
        scale: float | str | None

    class OrderOptions(TypedDict, total=False):
        start: Integers | None
        lengths: Integers | None
        rows: Integers | None
        mask: Booleans | None
        algorithm: Algorithm
        seed: Seed | None
        threads: int | None
        device: Device
        non_finite: NonFinite
        progress: bool

    class RandomOptions(TypedDict, total=False):
        ratio: float | None
        seed: Seed | None
        lengths: Integers | None
        threads: int | None
        non_finite: NonFinite

    class GridOptions(RandomOptions, total=False):
        cell: float | None
        keep: Literal["center", "first", "random"]

    class CentroidOptions(TypedDict, total=False):
        ratio: float | None
        cell: float | None
        lengths: Integers | None
        threads: int | None
        non_finite: NonFinite

    class VoxelOptions(TypedDict, total=False):
        reduce: Literal["mean", "first", "center", "random"]
        features: Any
        feature_reduce: Literal["mean", "max"] | None
        labels: Any
        origin: Any
        sort: bool
        min_points: int
        seed: Seed | None
        lengths: Integers | None
        offsets: Integers | None
        threads: int | None
        non_finite: NonFinite

    class SearchOptions(TypedDict, total=False):
        x_lengths: Integers | None
        y_lengths: Integers | None
        x_offsets: Integers | None
        y_offsets: Integers | None
        threads: int | None
        progress: bool

    class NearestOptions(SearchOptions, total=False):
        squared: bool
        norm: Literal[1, 2]

    class ChamferOptions(NearestOptions, total=False):
        reduction: Literal["mean", "sum", "max"]
        one_sided: bool
        weights: tuple[float, float] | None

    class AssignOptions(TypedDict, total=False):
        lengths: Integers | None
        sample_lengths: Integers | None
        offsets: Integers | None
        sample_offsets: Integers | None
        squared: bool
        threads: int | None

    class AskingOptions(TypedDict, total=False):
        x_lengths: Integers | None
        x_offsets: Integers | None
        exclude_self: bool
        squared: bool
        norm: Literal[1, 2]
        index_dtype: IndexType
        threads: int | None

    class SeveralOptions(AskingOptions, total=False):
        y_lengths: Integers | None
        y_offsets: Integers | None

    class IndexBallOptions(AskingOptions, total=False):
        min_radius: float
        order: Literal["index", "nearest"]
        inclusive: bool

    class BallOptions(IndexBallOptions, SeveralOptions, total=False):
        pass
