"""Point cloud files."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from . import _arguments, _arrays, _farpoint, _progress

#: Bytes read at a time when a progress bar is shown.
_CHUNK = 1 << 23


class Cloud:
    """Points of a file with all their attributes, or chosen rows of them.

    ``cloud.points`` are the coordinates, ``cloud[indices]`` chosen rows in that order (a slice, a
    mask or an array of indices), ``cloud["intensity"]`` an attribute, ``farpoint.write`` keeps them
    all. A cloud can be given to ``sample``, ``order`` and others in place of an array; indices are
    then NumPy's. It can be pickled, so that it can be sent to other processes.
    """

    def __init__(self, file: _farpoint.File, rows: np.ndarray | None = None) -> None:
        self._file = file
        self._rows = rows
        self._points: np.ndarray | None = None

    def __reduce__(self) -> Any:
        # Only these rows go along, with all their attributes.
        content, added = self._file.dump(self._rows)
        return _restored, (*content, added)

    def __copy__(self) -> Cloud:
        return Cloud(self._file, self._rows)

    def __deepcopy__(self, memo: Any) -> Cloud:
        return Cloud(self._file, self._rows)  # nothing in it ever changes

    def __len__(self) -> int:
        return len(self._file) if self._rows is None else len(self._rows)

    def __repr__(self) -> str:
        return f"farpoint.Cloud({len(self)} points, {self._file.description})"

    @property
    def points(self) -> np.ndarray:
        """Coordinates (N, 3): float32 if the file has them in that precision, else float64. Not
        to be written to."""
        if self._points is None:
            points = self._file.points()
            self._points = points if self._rows is None else points[self._rows]
            self._points.flags.writeable = False
        return self._points

    @property
    def fields(self) -> list[str]:
        """Names of the attributes in the file, x, y and z among them."""
        return [name for name, _, _ in self._file.fields]

    @property
    def description(self) -> str:
        """The file's format in words."""
        return self._file.description

    @property
    def warnings(self) -> list[str]:
        """What the reader noticed, such as an element that was left out."""
        return self._file.warnings

    @property
    def records(self) -> np.ndarray:
        """All attributes as a structured array of N records."""
        records: np.ndarray = np.load(io.BytesIO(self._file.npy(self._rows)))
        return records

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        points = self.points if dtype is None else self.points.astype(dtype, copy=False)
        return points.copy() if copy else points

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._attribute(key)
        if not isinstance(key, slice):
            key = np.asarray(key.cpu() if _arrays.is_torch(key) else key)
            if key.ndim != 1 or key.dtype.kind not in "iub":
                raise TypeError(
                    "a cloud is indexed by an attribute's name, a slice, or a 1-D array of indices "
                    f"or booleans, not {_arrays.name(key)}"
                )
        rows = np.arange(len(self._file)) if self._rows is None else self._rows
        return Cloud(self._file, np.ascontiguousarray(rows[key], dtype=np.int64))

    def _attribute(self, name: str) -> np.ndarray:
        if name not in self.fields:
            raise KeyError(f"there is no attribute {name!r}; there are {', '.join(self.fields)}")
        records = self.records
        if records.dtype.names is None:
            return records[:, self.fields.index(name)]
        if name in records.dtype.names:
            return records[name]
        # Several numbers a point are written as name_0, name_1 and so on.
        parts = [part for part in records.dtype.names if part.rpartition("_")[0] == name]
        if not parts:
            raise KeyError(f"the attribute {name!r} holds no numbers")
        return np.stack([records[part] for part in parts], axis=1)

    def with_column(self, name: str, values: Any) -> Cloud:
        """The cloud with one more attribute, of N numbers; ``write`` writes it too. A name that is
        taken gets a number."""
        values = np.asarray(values)
        if self._rows is not None:
            # Rows that are not of this cloud are never written.
            whole = np.zeros(len(self._file), values.dtype)
            whole[self._rows] = values
            values = whole
        return Cloud(self._file.with_column(name, np.ascontiguousarray(values)), self._rows)


def _restored(
    content: bytes, format: str, description: str, warnings: list[str],
    added: list[tuple[str, np.ndarray]],
) -> Cloud:
    """What ``pickle`` makes a cloud of."""
    file = _farpoint.restore(content, format, description, warnings)
    for name, values in added:
        file = file.with_column(name, values)
    return Cloud(file)


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    columns: int | None = None,
    progress: bool = False,
) -> Cloud:
    """Reads a point cloud: PLY, PCD, LAS, LAZ, E57, NPY, NPZ, raw float32 (KITTI, nuScenes),
    text, OBJ or OFF.

    Parameters
    ----------
    path:
        The file. Its content tells the format, else its name.
    format:
        An extension ("ply", "laz", "bin", ...) where neither must decide.
    columns:
        float32 values a row of a raw file (KITTI 4, nuScenes 5), where the name does not tell.
    progress:
        Show a progress bar while the file is read (tqdm's, if installed).

    Returns
    -------
    Cloud
        With all attributes. Coordinates stay in the unit and precision of the file.

    Raises
    ------
    FileNotFoundError, OSError
        The file can't be read.
    ValueError
        The format is unknown or the content damaged; the text says where and what to do.
    """
    path = os.fspath(path)
    if columns is not None:
        columns = _arguments.integer(columns, "columns", 1)
    if not progress:
        return Cloud(_farpoint.read(path, format, columns))
    content = bytearray()
    with open(path, "rb") as file, _progress.bar(True, "reading", "B", scale=True) as tell:
        size = os.fstat(file.fileno()).st_size
        while chunk := file.read(_CHUNK):
            content += chunk
            if tell is not None:
                tell(len(content), max(size, len(content)))
    return Cloud(_farpoint.read_bytes(bytes(content), str(path), format, columns))


def write(
    path: str | os.PathLike[str],
    cloud: Any,
    *,
    format: str | None = None,
    encoding: str | None = None,
) -> list[str]:
    """Writes a cloud to PLY, PCD, LAS, LAZ, NPY or text, whole or not at all.

    Parameters
    ----------
    path:
        The file; its name tells the format.
    cloud:
        What ``read`` returned, or rows of it: attributes are kept, bit for bit if the format is
        that of the input. Or an (N, 3) array of coordinates of any library.
    format:
        An extension where the name must not decide.
    encoding:
        "ascii", "binary", "binary_big_endian" or "binary_compressed", for PLY and PCD.

    Returns
    -------
    list of str
        Warnings, which name each attribute that the format could not keep.

    Raises
    ------
    OSError
        The system refuses to write.
    ValueError, TypeError
        An unknown format, or an array that is no (N, 3) array of float32 or float64.
    """
    if not isinstance(cloud, Cloud):
        if _arrays.is_torch(cloud):
            cloud = cloud.detach().cpu()
        elif _arrays.is_on_gpu(cloud) and hasattr(cloud, "get"):
            cloud = cloud.get()
        cloud = Cloud(_farpoint.from_points(_arrays.to_numpy(cloud)))
    file, rows = cloud._file, cloud._rows
    warnings: list[str] = file.write(os.fspath(path), rows, format, encoding)
    return warnings
