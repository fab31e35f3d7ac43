"""Result of ``farpoint.ray.sample``."""

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
    """Sampled files, and the options to read them."""

    paths: list[str]
    #: Size and time of each, by which a file that was changed is known.
    stamps: list[tuple[int, int]]
    format: str | None
    columns: int | None
    xyz: Sequence[str | int] | None

    def check(self) -> None:
        """Raises if a file has changed since it was sampled."""
        for path, expected in zip(self.paths, self.stamps, strict=True):
            if stamp(path) != expected:
                raise ValueError(f"{path} has changed since it was sampled; sample it again")


class CloudSample(Sample[NDArray[Any], NDArray[np.int64], float]):
    """Chosen rows with their distances and the covering radius: a ``farpoint.Sample`` that can be written."""

    #: Sampled files, if the source was files.
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

        The sampled files are read again, by this process, in parts; the rows are sorted on disk
        beside the output. The bytes are those of ``farpoint.sample_file``. Several files become one cloud, as with the
        command ``sample --merge``. Interrupted by Ctrl-C, it leaves no files behind.

        Parameters
        ----------
        path : str or os.PathLike
            Output file, written whole or not at all; its name decides the format.
        memory : int or str, optional
            Memory budget in bytes, or a text such as "8GiB".
        format, encoding, precision, scale : optional
            As in ``farpoint.write``.

        Returns
        -------
        list of str
            Warnings, one for each attribute that the format cannot store.

        Raises
        ------
        ValueError
            The source was not a file, the output is one of the files, the files can't be concatenated or have
            changed since, or need more memory to be converted to another format.
        OSError
            A file can't be read, or the output can't be written.
        """
        files = self.files
        if files is None:
            raise ValueError(
                "only samples of files can be written; for an array pass points[sample.indices] to farpoint.write"
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
        """Returns a copy with other fields, keeping the files."""
        other: CloudSample = super()._replace(**fields)
        other.files = self.files
        return other
