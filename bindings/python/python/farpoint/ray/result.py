"""What ``farpoint.ray.sample`` returns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _arguments, _native
from ..sampling import Sample

if TYPE_CHECKING:
    from .._typing import Path

__all__ = ["CloudSample", "Files"]


class Files(NamedTuple):
    """The files that were sampled, and how they are read."""

    paths: list[str]
    format: str | None
    columns: int | None
    xyz: Sequence[str | int] | None


class CloudSample(Sample[NDArray[Any]]):
    """Chosen rows with their distances and the covering radius, as a ``farpoint.Sample``, which can be written."""

    #: The files, if the source was files.
    files: Files | None = None

    def write(
        self,
        path: Path,
        *,
        memory: int | str = "1GiB",
        format: str | None = None,
        encoding: str | None = None,
        precision: str | None = None,
        scale: float | None = None,
    ) -> list[str]:
        """Write the chosen points in order of choice, with all their attributes, into a file.

        The files that were sampled are read once more, by this process, in parts; the rows are sorted on the disk
        beside the output. Several files become one cloud, as the command ``sample --merge`` makes of them.

        Parameters
        ----------
        path : str or os.PathLike
            The file, written whole or not at all; its name decides the format.
        memory : int or str, optional
            Bytes of memory for that, or a text such as "8GiB".
        format, encoding, precision, scale : optional
            As in ``farpoint.write``.

        Returns
        -------
        list of str
            Warnings, which name each attribute that the format could not keep.

        Raises
        ------
        ValueError
            The source was no file, the files can't be one cloud, or need more memory to be written in another
            format than theirs.
        OSError
            A file can't be read, or the system refuses to write.
        """
        if self.files is None:
            raise ValueError(
                "only samples of files are written; of an array, pass points[found.indices] to farpoint.write"
            )
        files = self.files
        xyz = None if files.xyz is None else [str(column) for column in files.xyz]
        return _native.write_rows(
            files.paths, np.ascontiguousarray(self.indices, np.int64), os.fspath(path),
            _arguments.size(memory, "memory"), (files.format, files.columns, xyz),
            (format, encoding, precision, None if scale is None else _arguments.number(scale, "scale")),
        )
