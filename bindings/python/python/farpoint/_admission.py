"""Queue of files, limited by memory."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from typing import NamedTuple


class PendingFile(NamedTuple):
    """A file to sample."""

    number: int
    path: str
    output: str
    #: True if it may have killed a process.
    suspect: bool
    #: Estimated memory in bytes, from the file's header.
    bytes: int


class Admission:
    """Queue of files that releases those that fit into memory beside the files in progress."""

    def __init__(self, files: Iterable[PendingFile], memory: int | None) -> None:
        #: Queued files, smallest first; among equals the first of the input last.
        self.waiting = sorted(reversed(list(files)), key=_bytes)
        self._memory = memory
        self._used = 0
        self._running = 0

    def take(self) -> PendingFile | None:
        """Returns the largest file that fits, or None. A file above the limit is released alone."""
        end = len(self.waiting)
        if self._memory is not None and self._running:
            end = bisect.bisect_right(self.waiting, self._memory - self._used, key=_bytes)
        if end == 0:
            return None
        file = self.waiting.pop(end - 1)
        self._used += file.bytes
        self._running += 1
        return file

    def take_smaller(self, file: PendingFile, count: int) -> list[PendingFile]:
        """Returns up to ``count`` files that take no more memory than this one, to run after it in its place."""
        end = bisect.bisect_right(self.waiting, file.bytes, key=_bytes)
        taken = self.waiting[max(end - count, 0) : end]
        del self.waiting[max(end - count, 0) : end]
        return taken[::-1]

    def release(self, file: PendingFile) -> None:
        """Releases the memory of a file that is done."""
        self._used -= file.bytes
        self._running -= 1

    def requeue(self, files: Iterable[PendingFile]) -> None:
        """Returns files to the queue."""
        for file in files:
            bisect.insort(self.waiting, file, key=_bytes)


def _bytes(file: PendingFile) -> int:
    return file.bytes
