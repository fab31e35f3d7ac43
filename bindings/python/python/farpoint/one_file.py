"""Sampling one file in one call, in memory or on disk: ``sample_file``."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from . import _arguments
from .many_files import FileSample, worker_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._file_workers import Limits
    from ._typing import FileOptions, Path

__all__ = ["sample_file"]


def sample_file(
    path: Path,
    output: Path,
    *,
    count: int | None = None,
    ratio: float | None = None,
    spacing: float | str | None = None,
    memory: int | str | None = None,
    spool: Path | None = None,
    resume: bool = False,
    threads: int | None = None,
    **options: Unpack[FileOptions],
) -> FileSample:
    """Sample a point cloud file into another file; on disk if it is larger than memory.

    The output is the same in either case: the rows chosen by ``farpoint.sample``, in order of choice,
    with all their attributes. The work is done by a subprocess, which ends with this call.

    Parameters
    ----------
    path, output : str or os.PathLike
        The input file, and the output file, written whole or not at all; its name decides the format.
    count, ratio, spacing : int, float, float or str
        Number of samples, their share, or the largest distance of a point to its nearest sample, in
        the unit of the file or with a unit ("5cm"). Give one of the three.
    memory : int or str, optional
        Memory budget in bytes, or a text such as "8GiB": the points are spooled to disk, at
        21 to 37 bytes per point. Unless set, the file is sampled in memory.
    spool : str or os.PathLike, optional
        Folder of the spool, empty or not yet existing. Unless set, a folder beside the output that is always
        removed. Requires ``memory``.
    resume : bool, optional
        Resume a run that was interrupted in that folder. Requires ``spool``.
    threads : int, optional
        Number of threads; one per core unless set.
    **options
        As in ``sample_files``. With ``memory`` there is only one algorithm.

    Returns
    -------
    FileSample
        path, output, points, samples, radius, seconds; ``error`` is None.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file can't be sampled; the spool belongs to another run or to a file that has changed since; the
        disk is full; the memory budget is too small. The message says what to do.
    RuntimeError
        The process was killed, for example for lack of memory.

    Notes
    -----
    ``memory`` is a budget, not an enforced limit; docs/scale.md has measurements.
    """
    from ._file_workers import RETURN_MEMORY, Pool  # imports subprocess, which takes 5 ms

    limits = _limits(memory, spool, resume)
    if threads is not None:
        threads = _arguments.integer(threads, "threads", 1)
    settings = worker_settings(
        count=count, ratio=ratio, spacing=spacing, to=None, threads=threads, **options
    )
    path, output = os.fspath(path), os.fspath(output)
    os.stat(path)
    if os.path.exists(output) and os.path.samefile(path, output):
        raise ValueError(f"{output} is the input; write to another file")
    with Pool(settings, None, {} if limits is None else RETURN_MEMORY) as pool:
        worker = pool.worker()
        try:
            answer = worker.ask(str(path), str(output), limits)
        except KeyboardInterrupt:
            worker.interrupt()
            raise
    if not answer.line:
        raise RuntimeError(
            f"{path}: its worker process ended, perhaps out of memory; set a smaller memory="
        )
    return _row(str(path), str(output), answer.line)


def _limits(memory: int | str | None, spool: Path | None, resume: bool) -> Limits | None:
    if memory is None:
        if spool is not None or resume:
            raise ValueError('spool and resume are for sampling on disk; pass memory, such as "8GiB"')
        return None
    if resume and spool is None:
        raise ValueError("resume needs the folder of the interrupted run; pass it as spool")
    from ._file_workers import Limits

    return Limits(_arguments.size(memory, "memory"), None if spool is None else str(os.fspath(spool)), resume)


def _row(path: str, output: str, line: str) -> FileSample:
    import json

    seconds, *fields = json.loads(line)
    if len(fields) == 1:
        raise ValueError(fields[0])
    points, samples, radius, _, warned = fields
    for text in warned:
        warnings.warn(text, stacklevel=3)
    # JSON has no infinity.
    return FileSample(path, output, points, samples, float("inf") if radius is None else radius, seconds, None)
