"""Sampling of many files on a cluster.

Uses Ray tasks, not Ray datasets, which drop rows or blocks on errors, retry a file that kills its worker
forever, and have no time limit. Only the driver writes the manifest, so that only the storage of the files
has to be shared. A task processes several files and streams their results.
If a task dies before finishing its files, each remaining file is retried alone, to find the culprit.
"""

from __future__ import annotations

import collections
import os
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _arguments, _progress
from .._admission import Admission, PendingFile
from ..many_files import FileSample, open_batch, positive, worker_settings
from . import _task
from ._storage import loaded_ray

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._typing import FileOptions, Path

__all__ = ["sample_files"]

#: Polling interval for silent tasks, in seconds.
_POLL_INTERVAL = 0.2
#: Timeout for fetching an available answer, in seconds; after it the task counts as lost.
_ANSWER_TIMEOUT = 60.0
#: Maximum number of files per task.
_MAX_FILES = 64


class _Task:
    """Running task, with its unfinished files in order."""

    def __init__(self, answers: Any, files: list[PendingFile], admitted: bool) -> None:
        self.answers = answers
        self.files = collections.deque(files)
        #: File whose memory is reserved for the task, if any.
        self.admitted = files[0] if admitted else None
        #: Estimated time when work on the first of them began; None before the task has begun.
        self.since: float | None = None


def sample_files(
    paths: Path | Iterable[Path],
    output_dir: Path,
    *,
    count: int | None = None,
    ratio: float | None = None,
    spacing: float | str | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    workers: int | None = None,
    recursive: bool = False,
    to: str | None = None,
    memory: int | str | None = None,
    time_limit: float | None = None,
    fail_fast: bool = False,
    force: bool = False,
    progress: bool = False,
    **options: Unpack[FileOptions],
) -> list[FileSample]:
    """Sample many point cloud files on a Ray cluster, each into a file of the folder ``output_dir``.

    As ``farpoint.sample_files``, with the same rows and the same manifest; either resumes the other's
    runs. Inputs and outputs must be on storage that all machines have under the same path. Uses the cluster
    of ``ray.init``, or starts Ray on this machine.

    Parameters
    ----------
    paths, output_dir, count, ratio, spacing, recursive, to, memory, time_limit, fail_fast, force, progress, **options
        As in ``farpoint.sample_files``. A task that exceeds the time limit is cancelled by force.
    num_cpus : float, optional
        Number of cores per task; a file is sampled with as many threads, at least one.
    num_gpus : float, optional
        Number of GPUs per task: 0 samples on the CPU; 1 on a GPU of its own; a fraction such as 0.25 on a GPU shared
        by several tasks.
    workers : int, optional
        Number of concurrent tasks; as many as fit on the cluster unless set.

    Returns
    -------
    list of farpoint.FileSample
        One entry per file, sorted by path.

    Raises
    ------
    ImportError
        Ray is not installed.
    ValueError, OSError
        As for ``farpoint.sample_files``.

    Notes
    -----
    A file whose worker is killed (out of memory, a lost machine) is retried elsewhere, alone;
    the third failure is an error in its entry.
    """
    ray = loaded_ray()
    if num_gpus < 0 or num_cpus < 0:
        raise ValueError(f"num_cpus is {num_cpus} and num_gpus {num_gpus}; neither may be below 0")
    threads = max(1, int(num_cpus))
    settings = worker_settings(
        count=count, ratio=ratio, spacing=spacing, to=to, threads=threads, **options
    )
    limit = positive(time_limit, "time_limit")
    memory = None if memory is None else _arguments.size(memory, "memory")
    if workers is not None:
        workers = _arguments.integer(workers, "workers", 1)
    # Paths are used on other machines, with other working directories.
    inputs = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    with open_batch(inputs, output_dir, recursive, to, settings, force) as batch:
        pending = batch.pending()
        if pending:
            if not ray.is_initialized():
                ray.init()
            settings["gpu"] = 0 if num_gpus > 0 else None
            remote = ray.remote(
                num_cpus=num_cpus, num_gpus=num_gpus, max_retries=0, num_returns="streaming"
            )(_task.work)
            max_tasks = workers or _max_tasks(ray, num_cpus, num_gpus)
            with _progress.bar(progress, "sampling", "files") as report:
                results = _Run(ray, batch, remote, settings, limit).all(pending, max_tasks, memory)
                for done, failed in enumerate(results, 1):
                    if report is not None:
                        report(done, len(pending))
                    if failed and fail_fast:
                        break
    return batch.rows


def _max_tasks(ray: Any, num_cpus: float, num_gpus: float) -> int:
    """Returns the number of tasks that fit on the cluster, at least one, which then waits for a machine."""
    available = ray.cluster_resources()
    requested = [("CPU", num_cpus), ("GPU", num_gpus)]
    capacities = [available.get(name, 0) / amount for name, amount in requested if amount > 0]
    return max(1, int(min(capacities, default=1)))


class _Run:
    """Distributes files to tasks."""

    def __init__(
        self, ray: Any, batch: open_batch, remote: Any, settings: dict[str, Any], limit: float | None
    ) -> None:
        self.ray = ray
        self.batch = batch
        self.remote = remote
        self.settings = ray.put(settings)
        self.limit = limit
        self.tasks: list[_Task] = []

    def all(self, pending: list[PendingFile], max_tasks: int, memory: int | None) -> Iterator[bool]:
        """Samples all files; yields whether each failed, in order of completion."""
        shared = Admission([file for file in pending if not file.suspect], memory)
        isolated = collections.deque(file for file in pending if file.suspect)
        try:
            while shared.waiting or isolated or self.tasks:
                while len(self.tasks) < max_tasks and (file := shared.take()) is not None:
                    # Fewer files per task towards the end, so that all tasks end at about the same time.
                    count = min(_MAX_FILES - 1, len(shared.waiting) // (4 * max_tasks))
                    self._start([file, *shared.take_smaller(file, count)], True)
                if isolated and not shared.waiting and not self.tasks:
                    self._start([isolated.popleft()], False)
                for task in self._ready_tasks():
                    yield from self._collect(task, shared, isolated)
        finally:
            for task in self.tasks:
                self.ray.cancel(task.answers, force=True)

    def _start(self, files: list[PendingFile], admitted: bool) -> None:
        for file in files:
            self.batch.begin(file.number)
        jobs = [(os.path.abspath(file.path), os.path.abspath(file.output)) for file in files]
        self.tasks.append(_Task(self.remote.remote(self.settings, jobs), files, admitted))

    def _ended(self, task: _Task, shared: Admission) -> None:
        self.tasks.remove(task)
        if task.admitted is not None:
            shared.release(task.admitted)

    def _ready_tasks(self) -> list[_Task]:
        """Returns the tasks with an answer, or past their time limit."""
        ready, _ = self.ray.wait(
            [task.answers for task in self.tasks], num_returns=1, timeout=_POLL_INTERVAL, fetch_local=False
        )
        now = time.monotonic()
        return [task for task in self.tasks if task.answers in ready or self._is_late(task, now)]

    def _is_late(self, task: _Task, now: float) -> bool:
        if self.limit is None or task.since is None:
            return False
        # An answer may be buffered for a while, and takes a while to arrive.
        return now - task.since > self.limit + _task.BUFFER_SECONDS + _POLL_INTERVAL

    def _collect(
        self, task: _Task, shared: Admission, isolated: collections.deque[PendingFile]
    ) -> Iterator[bool]:
        """Handles the task's next answers, or its end."""
        ready, _ = self.ray.wait([task.answers], timeout=0, fetch_local=False)
        if not ready:
            self.ray.cancel(task.answers, force=True)
            yield from self._timed_out(task, shared, isolated)
            return
        try:
            lines = self.ray.get(next(task.answers), timeout=_ANSWER_TIMEOUT)
        except StopIteration:
            self._ended(task, shared)
            shared.requeue(task.files)  # none, unless the task has ended early
        except self.ray.exceptions.RayTaskError as error:
            # Not an error of a file, which the task catches: the task itself can't run.
            raise RuntimeError(f"a task of Ray can't sample files: {error}") from error
        except self.ray.exceptions.RayError:
            # Its process may still be alive, if only an answer was lost.
            self.ray.cancel(task.answers, force=True)
            yield from self._killed(task, shared, isolated)
        else:
            # The first answer is empty: it signals that the task has begun.
            task.since = time.monotonic()
            for line in lines:
                self.batch.finish(task.files.popleft().number, line)
                yield '"' in line

    def _timed_out(
        self, task: _Task, shared: Admission, isolated: collections.deque[PendingFile]
    ) -> Iterator[bool]:
        """Handles a task past its time limit: each of its files is retried alone."""
        self._ended(task, shared)
        if len(task.files) > 1:
            isolated.extend(task.files)
        for file in task.files if len(task.files) == 1 else ():
            limit = self.limit or 0.0
            error = f"{file.path}: took longer than {limit:g} s, the time limit; its task was cancelled"
            self.batch.fail(file.number, limit, error)
            yield True

    def _killed(
        self, task: _Task, shared: Admission, isolated: collections.deque[PendingFile]
    ) -> Iterator[bool]:
        """Handles a dead task, which one of its files may have killed: each is retried alone."""
        self._ended(task, shared)
        if task.since is None:
            shared.requeue(task.files)  # before it had begun
        elif len(task.files) > 1:
            isolated.extend(task.files)
        else:
            for file in task.files:
                if self.batch.killed(file.number):
                    isolated.append(file)
                else:
                    yield True
