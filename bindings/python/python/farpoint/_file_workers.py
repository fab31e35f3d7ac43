"""Processes that work on files, one line for each; ``main`` is what they run.

A worker is a fresh interpreter, not a fork: threads of the caller do no harm, and no ``__main__`` is imported.
Its first line of input has the settings, which it answers with a line; each further line names an input and
an output, perhaps also limits, and the answer is a line that ``_native.FileBatch.finish`` understands.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

#: How often running times are compared with the limit, in seconds.
_LOOK = 0.05
#: Seconds that a process may take to start: it imports this package, perhaps from a network drive.
_START = 300.0
#: Seconds that a process may take to end by itself.
_END = 10.0
#: With these, the allocator of glibc gives memory back that is freed; other systems do not know them.
GIVE_BACK = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "262144", "MALLOC_TRIM_THRESHOLD_": "262144"}


class Limits(NamedTuple):
    """How a file is sampled through the disk."""

    #: Bytes of memory.
    memory: int
    #: The folder of the spool; one beside the output unless set.
    spool: str | None
    #: Whether an interrupted run in that folder goes on.
    resume: bool


class Answer(NamedTuple):
    """What a worker said of a file."""

    #: Its line; empty if its process ended.
    line: str
    #: Whether it was killed for taking too long.
    late: bool
    seconds: float


class Worker:
    """A process, started anew where it ended."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._process: subprocess.Popen[str] | None = None
        #: When work on the file must end, by the clock of ``time.monotonic``; None while there is none.
        self.deadline: float | None = None
        self.late = False
        self._guard = threading.Lock()

    def ask(self, path: str, output: str, limits: Limits | None = None) -> Answer:
        """Has the process work on a file. Nobody else may ask meanwhile."""
        limit, self.late = self._pool.limit, False
        line = ""
        begin = time.monotonic()
        try:
            process = self._process or self._started()
            assert process.stdin is not None and process.stdout is not None
            begin = time.monotonic()
            self.deadline = None if limit is None else begin + limit
            process.stdin.write(json.dumps([path, output, limits]) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, ValueError):
            pass  # the process ended, or was killed: no line
        finally:
            with self._guard:
                self.deadline = None
        if not line.endswith("\n"):
            self.kill()
            line = ""
        late = self.late and not line
        return Answer(line, late, (limit or 0.0) if late else time.monotonic() - begin)

    def _started(self) -> subprocess.Popen[str]:
        if self._pool.ended:
            raise BrokenPipeError
        process = self._process = _start(self._pool.environment)
        if self._pool.ended:
            self.kill()
        assert process.stdin is not None and process.stdout is not None
        self.deadline = time.monotonic() + _START
        process.stdin.write(json.dumps(self._pool.settings) + "\n")
        process.stdin.flush()
        if not process.stdout.readline() and not self._pool.ended:
            self.kill()
            raise RuntimeError("a process for files ended before it had begun; see its messages above")
        return process

    def look(self, now: float) -> None:
        """Kills the process if it takes too long."""
        with self._guard:
            if self.deadline is not None and now > self.deadline:
                self.late = True
                self.deadline = None
                if self._process is not None:
                    self._process.kill()

    def interrupt(self) -> None:
        """Ends the process as Ctrl-C does: what it has begun to write is removed, if that takes no longer than a few
        seconds."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_END)
            except subprocess.TimeoutExpired:
                pass
        self.kill()

    def kill(self) -> None:
        """Ends the process, whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except (BrokenPipeError, ValueError):
                        pass  # what was not yet written is for nobody

    def release(self) -> None:
        """Lets another thread have it."""
        self._pool.idle(self)


class Pool:
    """Workers with the same settings; ``limit`` is the time for a file, in seconds."""

    def __init__(
        self, settings: dict[str, Any], limit: float | None, environment: dict[str, str] | None = None
    ) -> None:
        self.settings = settings
        #: Variables of the processes, besides those of this one.
        self.environment = environment or {}
        self.limit = limit
        self.ended = False
        self._workers: list[Worker] = []
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._over = threading.Event()

    def worker(self) -> Worker:
        """One that nobody asks."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
            worker = Worker(self)
            self._workers.append(worker)
            return worker

    def idle(self, worker: Worker) -> None:
        with self._lock:
            self._idle.append(worker)

    def __enter__(self) -> Pool:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.kill()

    def kill(self) -> None:
        """Ends all processes; none is started any more."""
        self.ended = True
        with self._lock:
            workers = list(self._workers)
        for worker in workers:
            worker.kill()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK):
            with self._lock:
                workers = list(self._workers)
            now = time.monotonic()
            for worker in workers:
                worker.look(now)


def _start(environment: dict[str, str]) -> subprocess.Popen[str]:
    if not sys.executable:
        raise RuntimeError("this program does not know the Python that it runs in (sys.executable)")
    # The package is found where this one is.
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-c", "from farpoint._file_workers import main; main()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        errors="surrogateescape", env={**os.environ, **environment, "PYTHONPATH": path},
        # Ctrl-C of a terminal is for the process that was started there.
        start_new_session=True,
    )


def make(settings: dict[str, Any]) -> Any:
    """The compiled worker with these settings."""
    from . import _native

    return _native.FileWorker(**{**settings, "rows": tuple(settings["rows"])})


def main() -> None:
    """The program of a worker."""
    # What else is printed here must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape")
    os.dup2(2, 1)
    questions = os.fdopen(os.dup(0), "r", encoding="utf-8", errors="surrogateescape")
    worker = make(json.loads(questions.readline()))
    print("ready", file=answers, flush=True)
    for line in questions:
        path, output, limits = json.loads(line)
        if limits is None:
            answer = worker.sample(path, output, None)
        else:
            answer = worker.sample_limited(path, output, *limits)
        answers.write(answer + "\n")
        answers.flush()
