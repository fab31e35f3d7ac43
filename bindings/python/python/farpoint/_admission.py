"""Queue of files, limited by memory."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from typing import NamedTuple


class LeftFile(NamedTuple):
    """A file left to sample."""

    number: int
    path: str
    output: str
    #: True if it may have killed a process.
    suspect: bool
    #: Estimated memory in bytes, from the file's header.
    bytes: int


class Admission:
    """Queue of files that releases those that fit into memory beside the files in progress."""

    def __init__(self, files: Iterable[LeftFile], memory: int | None) -> None:
        #: Queued files, smallest first; among equals the first of the input last.
        self.waiting = sorted(reversed(list(files)), key=_bytes)
        self._memory = memory
        self._taken = 0
        self._at_work = 0

    def take(self) -> LeftFile | None:
        """Returns the largest file that fits, or None. A file above the limit is released alone."""
        place = len(self.waiting)
        if self._memory is not None and self._at_work:
            place = bisect.bisect_right(self.waiting, self._memory - self._taken, key=_bytes)
        if place == 0:
            return None
        file = self.waiting.pop(place - 1)
        self._taken += file.bytes
        self._at_work += 1
        return file

    def take_with(self, file: LeftFile, count: int) -> list[LeftFile]:
        """Returns up to ``count`` files that take no more memory than this one, to run after it in its place."""
        end = bisect.bisect_right(self.waiting, file.bytes, key=_bytes)
        more = self.waiting[max(end - count, 0) : end]
        del self.waiting[max(end - count, 0) : end]
        return more[::-1]

    def give(self, file: LeftFile) -> None:
        """Releases the memory of a file that is done."""
        self._taken -= file.bytes
        self._at_work -= 1

    def put_back(self, files: Iterable[LeftFile]) -> None:
        """Returns files to the queue."""
        for file in files:
            bisect.insort(self.waiting, file, key=_bytes)


def _bytes(file: LeftFile) -> int:
    return file.bytes
