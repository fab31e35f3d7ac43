"""Files that wait to be worked on, and which of them there is room for."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from typing import NamedTuple


class LeftFile(NamedTuple):
    """A file that needs work."""

    number: int
    path: str
    output: str
    #: Whether it may have ended a process.
    suspect: bool
    #: Bytes of memory that it takes, estimated from its header.
    bytes: int


class Admission:
    """Files that wait, and which of them there is room for beside those that are worked on."""

    def __init__(self, files: Iterable[LeftFile], memory: int | None) -> None:
        #: The largest last, and of equal ones the first.
        self.waiting = sorted(reversed(list(files)), key=_bytes)
        self._memory = memory
        self._taken = 0
        self._at_work = 0

    def take(self) -> LeftFile | None:
        """The largest one that has room, or None. One that takes more than there is goes alone."""
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
        """Up to so many that take no more, to be worked on after this one in its room."""
        end = bisect.bisect_right(self.waiting, file.bytes, key=_bytes)
        more = self.waiting[max(end - count, 0) : end]
        del self.waiting[max(end - count, 0) : end]
        return more[::-1]

    def give(self, file: LeftFile) -> None:
        """The work on a file that was taken has ended."""
        self._taken -= file.bytes
        self._at_work -= 1

    def put_back(self, files: Iterable[LeftFile]) -> None:
        """These wait again."""
        for file in files:
            bisect.insort(self.waiting, file, key=_bytes)


def _bytes(file: LeftFile) -> int:
    return file.bytes
