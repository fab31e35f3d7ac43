"""Point cloud files: ``read``, ``write`` and ``Cloud``."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _arguments, _native, _progress
from ._arrays import conversion
from ._torch.lazy_torch import is_tensor
from ._typing import Path

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["Cloud", "read", "write"]

#: Bytes per step of the progress bar.
_CHUNK = 1 << 23


class Cloud:
    """Points of a file with all their attributes, or selected rows of them, as returned by ``read``;
    ``Cloud.from_points`` makes one from an array.

    ``cloud.points`` has the coordinates, ``cloud[indices]`` selected rows in that order (a slice, a mask
    or an array of indices), ``cloud["intensity"]`` an attribute; ``farpoint.write`` keeps all attributes.
    A cloud can be passed to ``sample``, ``order`` and others in place of an array; indices are then
    NumPy arrays. Clouds can be pickled.
    """

    def __init__(self, file: _native.File, rows: NDArray[np.int64] | None = None) -> None:
        self._file = file
        self._rows = rows
        self._points: NDArray[Any] | None = None

    @classmethod
    def from_points(cls, points: Any) -> Cloud:
        """Make a cloud of coordinates only; ``with_column`` adds attributes.

        Parameters
        ----------
        points : array, (N, 3)
            Array of any library, on the CPU or a GPU, float32 or float64. It is copied.

        Returns
        -------
        Cloud
            Cloud with the precision of ``points``.

        Raises
        ------
        ValueError, TypeError
            Not an (N, 3) array of float32 or float64.
        """
        if is_tensor(points):
            points = points.detach().cpu()
        elif conversion.is_on_gpu(points) and hasattr(points, "get"):
            points = points.get()
        return cls(_native.from_points(conversion.points_of(points)))

    def __reduce__(self) -> Any:
        # Only these rows are pickled, with all their attributes.
        (content, format, description, warnings, columns, xyz), added = self._file.dump(self._rows)
        return _restored, (content, format, description, warnings, added, columns, xyz)

    def __copy__(self) -> Cloud:
        return Cloud(self._file, self._rows)

    def __deepcopy__(self, memo: Any) -> Cloud:
        return Cloud(self._file, self._rows)  # immutable

    def __len__(self) -> int:
        return len(self._file) if self._rows is None else len(self._rows)

    def __repr__(self) -> str:
        return f"farpoint.Cloud({len(self)} points, {self._file.description})"

    @property
    def points(self) -> NDArray[np.floating[Any]]:
        """Coordinates (N, 3): float32 if the file has them in that precision, else float64. Read-only."""
        if self._points is None:
            points = self._file.points()
            self._points = points if self._rows is None else points[self._rows]
            self._points.flags.writeable = False
        return self._points

    @property
    def fields(self) -> list[str]:
        """Names of the attributes in the file, including x, y and z."""
        return [name for name, _, _ in self._file.fields]

    @property
    def description(self) -> str:
        """Description of the file's format."""
        return self._file.description

    @property
    def warnings(self) -> list[str]:
        """Warnings of the reader, for example about elements that were skipped."""
        return self._file.warnings

    @property
    def crs(self) -> str | None:
        """Coordinate reference system of LAS, LAZ and E57: "EPSG:2992", else its well-known text or
        name. None if the file has none."""
        return self._file.crs

    @property
    def scale(self) -> tuple[float, float, float] | None:
        """Scale of the stored coordinates of each axis in LAS, LAZ and E57. None in other formats."""
        return self._file.scale

    @property
    def records(self) -> NDArray[Any]:
        """All attributes as a structured array of N records."""
        records: NDArray[Any] = np.load(io.BytesIO(self._file.npy(self._rows)))
        return records

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]:
        points = self.points if dtype is None else self.points.astype(dtype, copy=False)
        return points.copy() if copy else points

    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any] | Any) -> Cloud: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._attribute(key)
        if not isinstance(key, slice):
            key = np.asarray(key.cpu() if is_tensor(key) else key)
            if key.ndim != 1 or key.dtype.kind not in "iub":
                raise TypeError(
                    "a cloud is indexed by an attribute's name, a slice, or a 1-D array of indices "
                    f"or booleans, not {conversion.name(key)}"
                )
        rows = np.arange(len(self._file)) if self._rows is None else self._rows
        return Cloud(self._file, np.ascontiguousarray(rows[key], dtype=np.int64))

    def _attribute(self, name: str) -> NDArray[Any]:
        if name not in self.fields:
            raise KeyError(f"there is no attribute {name!r}; there are {', '.join(self.fields)}")
        records = self.records
        if records.dtype.names is None:
            return records[:, self.fields.index(name)]
        if name in records.dtype.names:
            return records[name]
        # Attributes with several numbers per point are written as name_0, name_1 and so on.
        parts = [part for part in records.dtype.names if part.rpartition("_")[0] == name]
        if not parts:
            raise KeyError(f"the attribute {name!r} holds no numbers")
        return np.stack([records[part] for part in parts], axis=1)

    def with_column(self, name: str, values: ArrayLike) -> Cloud:
        """Return the cloud with one more attribute, which ``write`` writes, too.

        Parameters
        ----------
        name : str
            Name of the attribute; a number is appended if the name exists.
        values : array, (N,)
            One number per point.

        Returns
        -------
        Cloud
            A new cloud; this one is unchanged.

        Raises
        ------
        ValueError, TypeError
            Not N values, or not numbers.
        """
        values = np.asarray(values)
        if self._rows is not None:
            # Rows outside this cloud are never written.
            column = np.zeros(len(self._file), values.dtype)
            column[self._rows] = values
            values = column
        return Cloud(self._file.with_column(name, np.ascontiguousarray(values)), self._rows)


def _restored(
    content: bytes, format: str, description: str, warnings: list[str],
    added: list[tuple[str, np.ndarray]], columns: int | None = None, xyz: Sequence[str] | None = None,
) -> Cloud:
    """Returns a cloud from its pickled state."""
    file = _native.restore(content, format, description, warnings, columns, xyz)
    for name, values in added:
        file = file.with_column(name, values)
    return Cloud(file)


def read(
    path: Path,
    *,
    format: str | None = None,
    columns: int | None = None,
    xyz: Sequence[str | int] | None = None,
    progress: bool = False,
) -> Cloud:
    """Read a point cloud from PLY, PCD, LAS, LAZ, E57, NPY, NPZ, raw float32, text, PTX, OBJ or OFF.

    Parameters
    ----------
    path : str or os.PathLike
        The file. Its content decides the format, else its name.
    format : str, optional
        An extension ("ply", "laz", "bin", ...) that overrides the detected format.
    columns : int, optional
        Number of float32 values per row of a raw file (KITTI 4, nuScenes 5), where the name does not say.
    xyz : sequence of three str or int, optional
        The columns of a text or raw file that hold x, y and z: names of its header, or numbers from 1.
        Unless set, the usual names of the header, or the first three columns without a header.
    progress : bool, optional
        Show a progress bar while the file is read (tqdm's, if installed).

    Returns
    -------
    Cloud
        Cloud with all attributes. Coordinates keep the unit and precision of the file. What was left out or assumed is a
        ``UserWarning``, and in ``Cloud.warnings``.

    Raises
    ------
    FileNotFoundError, OSError
        The file can't be read.
    ValueError
        The format is unknown or the content damaged; the message says where and what to do.
    """
    path = os.fspath(path)
    if columns is not None:
        columns = _arguments.integer(columns, "columns", 1)
    axes = None if xyz is None else _axes(xyz)
    if not _arguments.flag(progress, "progress"):
        return Cloud(_native.read(path, format, columns, axes))
    content = bytearray()
    with open(path, "rb") as file, _progress.bar(True, "reading", "B", scale=True) as report:
        size = os.fstat(file.fileno()).st_size
        while chunk := file.read(_CHUNK):
            content += chunk
            if report is not None:
                report(len(content), max(size, len(content)))
    return Cloud(_native.read_bytes(bytes(content), str(path), format, columns, axes))


def _axes(xyz: Sequence[str | int]) -> list[str]:
    """Returns three columns, each by its name or number."""
    columns = list(xyz)
    if len(columns) != 3:
        raise ValueError(f"xyz is {xyz!r}; it must be three columns, by name or number")
    return [
        column if isinstance(column, str) else str(_arguments.integer(column, "xyz", 1))
        for column in columns
    ]


def write(
    path: Path,
    cloud: Any,
    *,
    format: str | None = None,
    encoding: str | None = None,
    precision: str | None = None,
    scale: float | None = None,
) -> list[str]:
    """Write a cloud to PLY, PCD, LAS, LAZ, NPY or text, whole or not at all.

    Parameters
    ----------
    path : str or os.PathLike
        The file; its name decides the format.
    cloud : Cloud or array, (N, 3)
        A result of ``read``, or rows of it: attributes are kept, bit for bit if the format is that of
        the input. Or coordinates in an array of any library, float32 or float64.
    format : str, optional
        An extension that overrides the format of the name.
    encoding : {"ascii", "binary", "binary_big_endian", "binary_compressed"}, optional
        Encoding of PLY and PCD.
    precision : {"single", "double"}, optional
        Precision of the coordinates in PLY, PCD and NPY. Unless set, that of the input, and in PCD of another format
        float32, as its readers expect, if that keeps coordinates to a tenth of a millimeter, else float64. Where
        "single", or a raw file, loses more than that and the input's scale, the minimum corner is subtracted first, and
        a warning states it.
    scale : float, optional
        Scale of the coordinates in LAS and LAZ; that of the input unless set.

    Returns
    -------
    list of str
        Warnings, one for each attribute that the format cannot store; each is a ``UserWarning``, too.

    Raises
    ------
    OSError
        The file can't be written.
    ValueError, TypeError
        An unknown format, or an array that is not an (N, 3) array of float32 or float64.
    """
    if not isinstance(cloud, Cloud):
        cloud = Cloud.from_points(cloud)
    file, rows = cloud._file, cloud._rows
    warnings: list[str] = file.write(
        os.fspath(path), rows, format, encoding, precision, scale
    )
    return warnings
