"""What ``farpoint.ray.sample`` returns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _arguments, _native
from ..sampling import Sample
from ._actor import stamp

if TYPE_CHECKING:
    from .._typing import Path

__all__ = ["CloudSample", "Files"]


class Files(NamedTuple):
    """The files that were sampled, and how they are read."""

    paths: list[str]
    #: Size and time of each, by which a file that was changed is known.
    stamps: list[tuple[int, int]]
    format: str | None
    columns: int | None
    xyz: Sequence[str | int] | None

    def check(self) -> None:
        """Raises if a file is another one than when it was sampled."""
        for path, before in zip(self.paths, self.stamps, strict=True):
            if stamp(path) != before:
                raise ValueError(f"{path} has been changed since it was sampled; sample it again")


class CloudSample(Sample[NDArray[Any], NDArray[np.int64], float]):
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
        beside the output. The bytes are those of ``farpoint.sample_file``. Several files become one cloud, as the
        command ``sample --merge`` makes of them. Stopped by Ctrl-C, it leaves nothing.

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
            The source was no file, the output is one of the files, the files can't be one cloud or have been
            changed since, or need more memory to be written in another format than theirs.
        OSError
            A file can't be read, or the system refuses to write.
        """
        files = self.files
        if files is None:
            raise ValueError(
                "only samples of files are written; of an array, pass points[found.indices] to farpoint.write"
            )
        path = os.fspath(path)
        files.check()
        if os.path.exists(path) and any(os.path.samefile(path, each) for each in files.paths):
            raise ValueError(f"{path} is one of the files that were sampled; write to another file")
        xyz = None if files.xyz is None else [str(column) for column in files.xyz]
        return _native.write_rows(
            files.paths, np.ascontiguousarray(self.indices, np.int64), path,
            _arguments.size(memory, "memory"), (files.format, files.columns, xyz),
            (format, encoding, precision, None if scale is None else _arguments.number(scale, "scale")),
        )

    def _replace(self, **fields: Any) -> CloudSample:
        """The same with other fields; still of these files."""
        other: CloudSample = super()._replace(**fields)
        other.files = self.files
        return other
