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
from .._admission import Admission, LeftFile
from ..many_files import FileSample, open_batch, positive, worker_settings
from . import _task

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._typing import FileOptions, Path

__all__ = ["sample_files"]

#: Polling interval for silent tasks, in seconds.
_LOOK = 0.2
#: Timeout for fetching an available answer, in seconds; after it the task counts as lost.
_ANSWER = 60.0
#: Maximum number of files per task.
_SEVERAL = 64


class _Task:
    """Running task, with its unfinished files in order."""

    def __init__(self, answers: Any, files: list[LeftFile], admitted: bool) -> None:
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
    import ray

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
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    with open_batch(several, output_dir, recursive, to, settings, force) as batch:
        left = batch.left()
        if left:
            if not ray.is_initialized():
                ray.init()
            settings["gpu"] = 0 if num_gpus > 0 else None
            remote = ray.remote(
                num_cpus=num_cpus, num_gpus=num_gpus, max_retries=0, num_returns="streaming"
            )(_task.work)
            room = workers or _room(ray, num_cpus, num_gpus)
            with _progress.bar(progress, "sampling", "files") as tell:
                ended = _Run(ray, batch, remote, settings, limit).all(left, room, memory)
                for done, failed in enumerate(ended, 1):
                    if tell is not None:
                        tell(done, len(left))
                    if failed and fail_fast:
                        break
    return batch.rows


def _room(ray: Any, num_cpus: float, num_gpus: float) -> int:
    """Returns the number of tasks that fit on the cluster, at least one, which then waits for a machine."""
    there = ray.cluster_resources()
    asked = [("CPU", num_cpus), ("GPU", num_gpus)]
    rooms = [there.get(name, 0) / each for name, each in asked if each > 0]
    return max(1, int(min(rooms, default=1)))


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

    def all(self, left: list[LeftFile], room: int, memory: int | None) -> Iterator[bool]:
        """Samples all files; yields whether each failed, in order of completion."""
        together = Admission([file for file in left if not file.suspect], memory)
        alone = collections.deque(file for file in left if file.suspect)
        try:
            while together.waiting or alone or self.tasks:
                while len(self.tasks) < room and (file := together.take()) is not None:
                    # Fewer files per task towards the end, so that all tasks end at about the same time.
                    several = min(_SEVERAL - 1, len(together.waiting) // (4 * room))
                    self._start([file, *together.take_with(file, several)], True)
                if alone and not together.waiting and not self.tasks:
                    self._start([alone.popleft()], False)
                for task in self._heard():
                    yield from self._look(task, together, alone)
        finally:
            for task in self.tasks:
                self.ray.cancel(task.answers, force=True)

    def _start(self, files: list[LeftFile], admitted: bool) -> None:
        for file in files:
            self.batch.begin(file.number)
        asked = [(os.path.abspath(file.path), os.path.abspath(file.output)) for file in files]
        self.tasks.append(_Task(self.remote.remote(self.settings, asked), files, admitted))

    def _ended(self, task: _Task, together: Admission) -> None:
        self.tasks.remove(task)
        if task.admitted is not None:
            together.give(task.admitted)

    def _heard(self) -> list[_Task]:
        """Returns the tasks with an answer, or past their time limit."""
        ready, _ = self.ray.wait(
            [task.answers for task in self.tasks], num_returns=1, timeout=_LOOK, fetch_local=False
        )
        now = time.monotonic()
        return [task for task in self.tasks if task.answers in ready or self._is_late(task, now)]

    def _is_late(self, task: _Task, now: float) -> bool:
        if self.limit is None or task.since is None:
            return False
        # An answer may be buffered for a while, and takes a while to arrive.
        return now - task.since > self.limit + _task.PATIENCE + _LOOK

    def _look(
        self, task: _Task, together: Admission, alone: collections.deque[LeftFile]
    ) -> Iterator[bool]:
        """Handles the task's next answers, or its end."""
        ready, _ = self.ray.wait([task.answers], timeout=0, fetch_local=False)
        if not ready:
            self.ray.cancel(task.answers, force=True)
            yield from self._late(task, together, alone)
            return
        try:
            lines = self.ray.get(next(task.answers), timeout=_ANSWER)
        except StopIteration:
            self._ended(task, together)
            together.put_back(task.files)  # none, unless the task has ended early
        except self.ray.exceptions.RayTaskError as error:
            # Not an error of a file, which the task catches: the task itself can't run.
            raise RuntimeError(f"a task of Ray can't sample files: {error}") from error
        except self.ray.exceptions.RayError:
            # Its process may still be alive, if only an answer was lost.
            self.ray.cancel(task.answers, force=True)
            yield from self._killed(task, together, alone)
        else:
            # The first answer is empty: it signals that the task has begun.
            task.since = time.monotonic()
            for line in lines:
                self.batch.finish(task.files.popleft().number, line)
                yield '"' in line

    def _late(
        self, task: _Task, together: Admission, alone: collections.deque[LeftFile]
    ) -> Iterator[bool]:
        """Handles a task past its time limit: each of its files is retried alone."""
        self._ended(task, together)
        if len(task.files) > 1:
            alone.extend(task.files)
        for file in task.files if len(task.files) == 1 else ():
            limit = self.limit or 0.0
            error = f"{file.path}: took longer than {limit:g} s, the time limit; its task was cancelled"
            self.batch.fail(file.number, limit, error)
            yield True

    def _killed(
        self, task: _Task, together: Admission, alone: collections.deque[LeftFile]
    ) -> Iterator[bool]:
        """Handles a dead task, which one of its files may have killed: each is retried alone."""
        self._ended(task, together)
        if task.since is None:
            together.put_back(task.files)  # before it had begun
        elif len(task.files) > 1:
            alone.extend(task.files)
        else:
            for file in task.files:
                if self.batch.killed(file.number):
                    alone.append(file)
                else:
                    yield True
