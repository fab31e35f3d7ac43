"""Many files in one call: ``sample_files``, by processes of this machine."""

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


#: Seconds between looks whether there is room for a file, or none is to be begun any more.
_LOOK = 0.2


class FileSample(NamedTuple):
    """What became of a file."""

    #: The file, as it was found.
    path: str
    #: What was written, below the folder of the outputs.
    output: str
    #: Points of the file; None if there is an error.
    points: int | None
    #: Points written; None if there is an error.
    samples: int | None
    #: Largest distance of a point to the nearest sample, in the unit of the file; None if there is an error.
    radius: float | None
    #: How long it took.
    seconds: float
    #: What is wrong with the file, or None.
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
    """Sample many point cloud files, each into a file of the folder ``output_dir``, by several processes.

    The same call again goes on where an earlier one was stopped or killed: a manifest, ``farpoint.jsonl`` in
    ``output_dir``, has a line for each file, and what it says is done is passed over. Command line, this function
    and ``farpoint.ray.sample_files`` have the same manifest, and go on with each other's runs.

    Parameters
    ----------
    paths : str, os.PathLike or several
        Files, folders, patterns such as ``"scans/**/*.laz"``, and lists of these (``"@list.txt"``).
    output_dir : str or os.PathLike
        The folder of the outputs, which keeps the tree of the folders that are given.
    count, ratio, spacing : int, float, float or str
        How many points of each file: so many, a share, or until every point is within this distance of a
        chosen one, in the unit of the file or with a unit ("5cm"). One of the three.
    workers : int, optional
        Processes; one per core unless set.
    threads : int, optional
        Threads of each.
    recursive : bool, optional
        Look into the folders below those given, too.
    to : str, optional
        The format of the outputs, by extension ("laz"); that of each input unless set.
    memory : int or str, optional
        Bytes of memory that files take together, or a text such as "8GiB", as far as their headers tell: no more
        are worked on at a time than have room, and one that takes more by itself alone. No limit unless set.
    time_limit : float, optional
        Seconds for a file; a process that takes longer is killed, and the file has failed.
    fail_fast : bool, optional
        Begin no further file after one that fails.
    force : bool, optional
        Sample all files anew, those that are done, too.
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
        A row for each file, sorted by path: path, output, points, samples, radius, seconds, error. With
        ``fail_fast`` there is none for files that were not tried.

    Raises
    ------
    ValueError
        Nothing is found, two files have the same output, or an output is an input: before any work.
    OSError
        The system refuses to write the manifest.

    Notes
    -----
    A file that can't be sampled is an error in its row, and the others go on; the next call tries it again.
    A file that ends the process that works on it is tried three times. Rows with NaN are left out.
    """
    from ._file_workers import Pool  # brings in subprocess, which takes 5 ms

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
    """The files of a call with their manifest, which is closed at the end whatever happens."""

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
        #: The rows of all files that were tried, once the batch is closed.
        self.rows: list[FileSample] = []

    def __enter__(self) -> open_batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.rows = [FileSample(*row) for row in self._batch.close() if row is not None]

    def left(self) -> list[LeftFile]:
        """The files that need work, the largest first."""
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
    """What a worker is made from, in types that JSON has."""
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
    """Works on all files that are left; those that may have ended a process last, one at a time."""
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
    """Works on files by so many workers; whether each failed, as they end. Ends early when it is closed."""
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
        except BaseException as error:  # to be raised by the thread that waits
            ended.put(error)
        finally:
            ended.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(files.waiting)))]
    for thread in threads:
        thread.start()
    working = len(threads)
    try:
        while working:
            # With a limit, so that Ctrl-C is heard on every system.
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
    """Has a worker work on a file, again where its process is killed; whether the file failed."""
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
