"""Sampling many files in one call with local processes: ``sample_files``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _arguments, _native, _progress
from ._typing import Algorithm, Path

if TYPE_CHECKING:
    import threading

    from typing_extensions import Unpack

    from ._admission import Admission, LeftFile
    from ._file_workers import Pool
    from ._typing import FileOptions

__all__ = ["FileSample", "sample_files"]


#: Polling interval in seconds for free memory, or for the end of the run.
_LOOK = 0.2


class FileSample(NamedTuple):
    """Result of sampling a file."""

    #: Path of the file.
    path: str
    #: Path of the output, relative to the output folder.
    output: str
    #: Number of points of the file; None if there is an error.
    points: int | None
    #: Number of points written; None if there is an error.
    samples: int | None
    #: Covering radius, in the unit of the file; None if there is an error.
    radius: float | None
    #: Time taken, in seconds.
    seconds: float
    #: Error message, or None.
    error: str | None


def sample_files(
    paths: Path | Iterable[Path],
    output_dir: Path,
    *,
    count: int | None = None,
    ratio: float | None = None,
    spacing: float | str | None = None,
    workers: int | None = None,
    threads: int = 1,
    recursive: bool = False,
    to: str | None = None,
    memory: int | str | None = None,
    time_limit: float | None = None,
    fail_fast: bool = False,
    force: bool = False,
    progress: bool = False,
    **options: Unpack[FileOptions],
) -> list[FileSample]:
    """Sample many point cloud files, each into a file of the folder ``output_dir``, with several processes.

    Repeating the call resumes an interrupted run: a manifest, ``farpoint.jsonl`` in
    ``output_dir``, has a line for each file, and files marked as done are skipped. The command line, this function
    and ``farpoint.ray.sample_files`` share the manifest, and resume each other's runs.

    Parameters
    ----------
    paths : str, os.PathLike or several
        Files, folders, patterns such as ``"scans/**/*.laz"``, and lists of these (``"@list.txt"``).
    output_dir : str or os.PathLike
        Output folder, which keeps the directory tree of the input folders.
    count, ratio, spacing : int, float, float or str
        Number of samples per file, their share, or the largest distance of a point to its nearest sample,
        in the unit of the file or with a unit ("5cm"). Give one of the three.
    workers : int, optional
        Number of processes; one per core unless set.
    threads : int, optional
        Number of threads per process.
    recursive : bool, optional
        Search subfolders, too.
    to : str, optional
        Format of the outputs, by extension ("laz"); that of each input unless set.
    memory : int or str, optional
        Memory limit in bytes, or a text such as "8GiB", for the files processed at a time, as estimated from their
        headers; a file that takes more is processed alone. No limit unless set.
    time_limit : float, optional
        Time limit per file in seconds; a process that exceeds it is killed, and the file fails.
    fail_fast : bool, optional
        Start no further file after a failure.
    force : bool, optional
        Sample all files again, including those already done.
    progress : bool, optional
        Show a progress bar (tqdm's, if installed).
    **options
        ``algorithm``, ``start``, ``seed`` as in ``sample``; ``drop_zeros``: leave out rows that are exactly
        (0, 0, 0); ``f32``: sample double coordinates in single precision, from their minimum corner;
        ``format``, ``columns``, ``xyz`` as in ``read``; ``encoding``, ``precision``, ``scale`` as in
        ``write``.

    Returns
    -------
    list of FileSample
        One entry per file, sorted by path: path, output, points, samples, radius, seconds, error. With
        ``fail_fast`` there is none for files that were not tried.

    Raises
    ------
    ValueError
        Nothing is found, two files have the same output, or an output is an input. Raised before any work.
    OSError
        The manifest can't be written.

    Notes
    -----
    A file that can't be sampled has an error in its entry; the others continue, and the next call tries it again.
    A file whose process dies is tried three times. Rows with NaN are left out.
    """
    from ._file_workers import Pool  # imports subprocess, which takes 5 ms

    settings = worker_settings(
        count=count, ratio=ratio, spacing=spacing, to=to, threads=threads, **options
    )
    limit = positive(time_limit, "time_limit")
    workers = _cores() if workers is None else _arguments.integer(workers, "workers", 1)
    room = None if memory is None else _arguments.size(memory, "memory")
    with open_batch(paths, output_dir, recursive, to, settings, force) as batch:
        left = batch.left()
        with _progress.bar(progress, "sampling", "files") as tell:
            pool = Pool(settings, limit)
            _run(batch, left, pool, min(workers, max(len(left), 1)), room, fail_fast, tell)
    return batch.rows


class open_batch:
    """Context manager of a call's files and their manifest, which is closed on exit."""

    def __init__(
        self, paths: Path | Iterable[Path], output_dir: Path, recursive: bool, to: str | None,
        settings: dict[str, Any], force: bool,
    ) -> None:
        several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        digest = _native.FileWorker(**{**settings, "gpu": None}).digest
        extension = None if to is None else to.lstrip(".").lower()
        self._batch = _native.FileBatch(
            [os.fspath(path) for path in several], os.fspath(output_dir), recursive, extension, digest, force
        )
        #: Entries of all files that were tried, once the batch is closed.
        self.rows: list[FileSample] = []

    def __enter__(self) -> open_batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.rows = [FileSample(*row) for row in self._batch.close() if row is not None]

    def left(self) -> list[LeftFile]:
        """Returns the files left to sample, largest first."""
        from ._admission import LeftFile

        return [
            LeftFile(k, os.fspath(i), os.fspath(o), at_fault, size)
            for k, i, o, at_fault, size in self._batch.left()
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)


def worker_settings(
    *,
    count: int | None,
    ratio: float | None,
    spacing: float | str | None,
    to: str | None,
    threads: int | None,
    algorithm: Algorithm = "auto",
    start: int | Sequence[int] | None = None,
    seed: int | None = None,
    drop_zeros: bool = False,
    f32: bool = False,
    format: str | None = None,
    columns: int | None = None,
    xyz: Sequence[str | int] | None = None,
    encoding: str | None = None,
    precision: str | None = None,
    scale: float | str | None = None,
) -> dict[str, Any]:
    """Returns the settings of a worker as JSON types."""
    if sum(given is not None for given in (count, ratio, spacing)) != 1:
        raise ValueError("give one of count, ratio and spacing")
    if start is not None and seed is not None:
        raise ValueError("give start or seed (of a random start), not both")
    starts = None
    if start is not None:
        rows = list(start) if isinstance(start, Sequence) else [start]
        starts = [_arguments.integer(row, "start", 0) for row in rows]
    return {
        "count": None if count is None else _arguments.integer(count, "count", 0),
        "ratio": None if ratio is None else float(ratio),
        "spacing": None if spacing is None else str(spacing),
        "algorithm": algorithm,
        "start": starts,
        "seed": seed,
        "rows": (bool(drop_zeros), bool(f32)),
        "format": format,
        "columns": columns,
        "xyz": None if xyz is None else [str(column) for column in xyz],
        "to": to,
        "encoding": encoding,
        "precision": precision,
        "scale": None if scale is None else str(scale),
        "threads": threads,
        "gpu": None,
    }


def positive(value: float | None, name: str) -> float | None:
    if value is not None and not 0 < value < float("inf"):
        raise ValueError(f"{name} is {value}; it must be above 0")
    return value


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _run(
    batch: open_batch, left: list[LeftFile], pool: Pool, workers: int, memory: int | None,
    fail_fast: bool, tell: Callable[[int, int], None] | None,
) -> None:
    """Samples all files that are left; those that may have killed a process last, one at a time."""
    from ._admission import Admission

    together = [file for file in left if not file.suspect]
    alone = [file for file in left if file.suspect]
    done = 0
    with pool:
        for files, side in ((together, workers), (alone, 1)):
            for failed in _side_by_side(batch, Admission(files, memory), pool, side):
                done += 1
                if tell is not None:
                    tell(done, len(left))
                if failed and fail_fast:
                    return


def _side_by_side(
    batch: open_batch, files: Admission, pool: Pool, workers: int
) -> Iterable[bool]:
    """Samples files with ``workers`` workers; yields whether each failed. Stops early when closed."""
    import queue
    import threading

    ended: queue.SimpleQueue[bool | BaseException | None] = queue.SimpleQueue()
    change, over = threading.Condition(), threading.Event()

    def work() -> None:
        try:
            worker = pool.worker()
            while not over.is_set():
                with change:
                    while (file := files.take()) is None and files.waiting and not over.is_set():
                        change.wait(_LOOK)
                if file is None:
                    break
                try:
                    ended.put(_one(batch, file, worker, over))
                finally:
                    with change:
                        files.give(file)
                        change.notify_all()
            worker.release()
        except BaseException as error:  # re-raised by the waiting thread
            ended.put(error)
        finally:
            ended.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(files.waiting)))]
    for thread in threads:
        thread.start()
    working = len(threads)
    try:
        while working:
            # With a timeout, so that Ctrl-C is handled on every system.
            try:
                told = ended.get(timeout=1)
            except queue.Empty:
                continue
            if isinstance(told, BaseException):
                raise told
            if told is None:
                working -= 1
            else:
                yield told
    finally:
        over.set()
        if working:
            pool.kill()
        for thread in threads:
            thread.join()


def _one(batch: open_batch, file: LeftFile, worker: Any, over: threading.Event) -> bool:
    """Samples a file with a worker, again if its process is killed; returns whether it failed."""
    number, path, output = file[:3]
    while not over.is_set():
        batch.begin(number)
        answer = worker.ask(path, output)
        if over.is_set() and not answer.line:
            break
        if answer.late:
            error = f"{path}: took longer than {answer.seconds:g} s, the time limit; its process was killed"
            batch.fail(number, answer.seconds, error)
            return True
        if answer.line and batch.finish(number, answer.line):
            return '"' in answer.line
        if not batch.killed(number):
            return True
    return False
