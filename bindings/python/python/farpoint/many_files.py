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

    from ._admission import Admission, PendingFile
    from ._file_workers import Pool
    from ._typing import FileOptions

__all__ = ["FileSample", "sample_files"]


#: Polling interval in seconds for free memory, or for the end of the run.
_POLL_INTERVAL = 0.2


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
    memory_limit = None if memory is None else _arguments.size(memory, "memory")
    with open_batch(paths, output_dir, recursive, to, settings, force) as batch:
        pending = batch.pending()
        with _progress.bar(progress, "sampling", "files") as report:
            pool = Pool(settings, limit)
            _run(batch, pending, pool, min(workers, max(len(pending), 1)), memory_limit, fail_fast, report)
    return batch.rows


class open_batch:
    """Context manager of a call's files and their manifest, which is closed on exit."""

    def __init__(
        self, paths: Path | Iterable[Path], output_dir: Path, recursive: bool, to: str | None,
        settings: dict[str, Any], force: bool,
    ) -> None:
        inputs = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        digest = _native.FileWorker(**{**settings, "gpu": None}).digest
        extension = None if to is None else to.lstrip(".").lower()
        self._batch = _native.FileBatch(
            [os.fspath(path) for path in inputs], os.fspath(output_dir), recursive, extension, digest, force
        )
        #: Entries of all files that were tried, once the batch is closed.
        self.rows: list[FileSample] = []

    def __enter__(self) -> open_batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.rows = [FileSample(*row) for row in self._batch.close() if row is not None]

    def pending(self) -> list[PendingFile]:
        """Returns the files to sample, largest first."""
        from ._admission import PendingFile

        return [
            PendingFile(k, os.fspath(i), os.fspath(o), suspect, size)
            for k, i, o, suspect, size in self._batch.left()
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
    if sum(amount is not None for amount in (count, ratio, spacing)) != 1:
        raise ValueError("pass one of count, ratio and spacing")
    if start is not None and seed is not None:
        raise ValueError("pass start or seed (of a random start), not both")
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
    batch: open_batch, pending: list[PendingFile], pool: Pool, workers: int, memory: int | None,
    fail_fast: bool, report: Callable[[int, int], None] | None,
) -> None:
    """Samples all files that are left; those that may have killed a process last, one at a time."""
    from ._admission import Admission

    shared = [file for file in pending if not file.suspect]
    isolated = [file for file in pending if file.suspect]
    done = 0
    with pool:
        for files, concurrency in ((shared, workers), (isolated, 1)):
            for failed in _run_workers(batch, Admission(files, memory), pool, concurrency):
                done += 1
                if report is not None:
                    report(done, len(pending))
                if failed and fail_fast:
                    return


def _run_workers(
    batch: open_batch, files: Admission, pool: Pool, workers: int
) -> Iterable[bool]:
    """Samples files with ``workers`` workers; yields whether each failed. Stops early when closed."""
    import queue
    import threading

    outcomes: queue.SimpleQueue[bool | BaseException | None] = queue.SimpleQueue()
    changed, stop = threading.Condition(), threading.Event()

    def work() -> None:
        try:
            worker = pool.worker()
            while not stop.is_set():
                with changed:
                    while (file := files.take()) is None and files.waiting and not stop.is_set():
                        changed.wait(_POLL_INTERVAL)
                if file is None:
                    break
                try:
                    outcomes.put(_sample_with_retries(batch, file, worker, stop))
                finally:
                    with changed:
                        files.release(file)
                        changed.notify_all()
            worker.release()
        except BaseException as error:  # re-raised by the waiting thread
            outcomes.put(error)
        finally:
            outcomes.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(files.waiting)))]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            # With a timeout, so that Ctrl-C is handled on every system.
            try:
                outcome = outcomes.get(timeout=1)
            except queue.Empty:
                continue
            if isinstance(outcome, BaseException):
                raise outcome
            if outcome is None:
                running -= 1
            else:
                yield outcome
    finally:
        stop.set()
        if running:
            pool.kill()
        for thread in threads:
            thread.join()


def _sample_with_retries(batch: open_batch, file: PendingFile, worker: Any, stop: threading.Event) -> bool:
    """Samples a file with a worker, again if its process is killed; returns whether it failed."""
    number, path, output = file[:3]
    while not stop.is_set():
        batch.begin(number)
        answer = worker.ask(path, output)
        if stop.is_set() and not answer.line:
            break
        if answer.late:
            error = f"{path}: took longer than {answer.seconds:g} s, the time limit; its process was killed"
            batch.fail(number, answer.seconds, error)
            return True
        failed: bool | None = batch.finish(number, answer.line) if answer.line else None
        if failed is not None:
            return failed
        if not batch.killed(number):
            return True
    return False
