"""Worker processes that sample files, with one line of text per file; ``main`` is their entry point.

A worker is a fresh interpreter, not a fork: threads of the caller do no harm, and no ``__main__`` is imported.
Its first input line has the settings, which it acknowledges with a line; each further line names an input and
an output, and optionally limits, and is answered by a line that ``_native.FileBatch.finish`` parses.
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

#: Polling interval of the time limit, in seconds.
_POLL_INTERVAL = 0.05
#: Timeout for starting a process, in seconds: it imports this package, perhaps from a network drive.
_START_TIMEOUT = 300.0
#: Timeout for a process to exit by itself, in seconds.
_EXIT_TIMEOUT = 10.0
#: Settings of glibc's allocator that return freed memory to the system; ignored elsewhere.
RETURN_MEMORY = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "262144", "MALLOC_TRIM_THRESHOLD_": "262144"}


class Limits(NamedTuple):
    """Options for sampling a file on disk."""

    #: Memory budget, in bytes.
    memory: int
    #: Folder of the spool; one beside the output unless set.
    spool: str | None
    #: True to resume an interrupted run in that folder.
    resume: bool


class Answer(NamedTuple):
    """Answer of a worker for a file."""

    #: Line of the answer; empty if the process died.
    line: str
    #: True if the process was killed at the time limit.
    late: bool
    seconds: float


class Worker:
    """A process that is restarted if it dies."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._process: subprocess.Popen[str] | None = None
        #: Deadline of the current file, by ``time.monotonic``; None without one.
        self.deadline: float | None = None
        self.late = False
        self._deadline_lock = threading.Lock()

    def ask(self, path: str, output: str, limits: Limits | None = None) -> Answer:
        """Has the process sample a file. Not thread-safe."""
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
            pass  # the process died or was killed: no line
        finally:
            with self._deadline_lock:
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
        self.deadline = time.monotonic() + _START_TIMEOUT
        process.stdin.write(json.dumps(self._pool.settings) + "\n")
        process.stdin.flush()
        if not process.stdout.readline() and not self._pool.ended:
            self.kill()
            raise RuntimeError("a worker process ended while starting; see its messages above")
        return process

    def check_deadline(self, now: float) -> None:
        """Kills the process if its deadline has passed."""
        with self._deadline_lock:
            if self.deadline is not None and now > self.deadline:
                self.late = True
                self.deadline = None
                if self._process is not None:
                    self._process.kill()

    def interrupt(self) -> None:
        """Ends the process as Ctrl-C does: partial output is removed, if that takes no longer than a few
        seconds."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_EXIT_TIMEOUT)
            except subprocess.TimeoutExpired:
                pass
        self.kill()

    def kill(self) -> None:
        """Kills the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except (BrokenPipeError, ValueError):
                        pass  # unwritten input is discarded

    def release(self) -> None:
        """Returns the worker to the pool."""
        self._pool.idle(self)


class Pool:
    """Workers with the same settings; ``limit`` is the time limit per file, in seconds."""

    def __init__(
        self, settings: dict[str, Any], limit: float | None, environment: dict[str, str] | None = None
    ) -> None:
        self.settings = settings
        #: Additional environment variables of the processes.
        self.environment = environment or {}
        self.limit = limit
        self.ended = False
        self._workers: list[Worker] = []
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def worker(self) -> Worker:
        """Returns an idle worker."""
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
        self._stop.set()
        self.kill()

    def kill(self) -> None:
        """Kills all processes; no more are started."""
        self.ended = True
        with self._lock:
            workers = list(self._workers)
        for worker in workers:
            worker.kill()

    def _watch(self) -> None:
        while not self._stop.wait(_POLL_INTERVAL):
            with self._lock:
                workers = list(self._workers)
            now = time.monotonic()
            for worker in workers:
                worker.check_deadline(now)


def _start(environment: dict[str, str]) -> subprocess.Popen[str]:
    if not sys.executable:
        raise RuntimeError("sys.executable is not set; it must be the path of the Python interpreter")
    # The worker imports the package from the same path as this process.
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-c", "from farpoint._file_workers import main; main()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        errors="surrogateescape", env={**os.environ, **environment, "PYTHONPATH": path},
        # Ctrl-C in a terminal must only reach the parent process.
        start_new_session=True,
    )


def make(settings: dict[str, Any]) -> Any:
    """Returns the compiled worker with these settings."""
    from . import _native

    return _native.FileWorker(**{**settings, "rows": tuple(settings["rows"])})


def main() -> None:
    """Main function of a worker."""
    # Other output must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="surrogateescape")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8", errors="surrogateescape")
    worker = make(json.loads(requests.readline()))
    print("ready", file=answers, flush=True)
    for line in requests:
        path, output, limits = json.loads(line)
        if limits is None:
            answer = worker.sample(path, output, None)
        else:
            answer = worker.sample_limited(path, output, *limits)
        answers.write(answer + "\n")
        answers.flush()
