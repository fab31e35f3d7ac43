"""Log of a tile, from which a restarted worker recovers."""

from __future__ import annotations

from ._storage import Storage

__all__ = ["Log", "check_driver"]

#: Name of the object that stores the driver of a run.
DRIVER = "driver"


def check_driver(storage: Storage, token: bytes) -> None:
    """Raises unless this driver still owns the run."""
    if storage.get(DRIVER) != token:
        raise RuntimeError("another driver has taken over the run of this log; this one has stopped")


class Log:
    """Records of a tile, numbered from 0. The records of a band are one storage object."""

    def __init__(self, storage: Storage, folder: str, token: bytes) -> None:
        self._storage = storage
        self._folder = folder
        self._token = token
        #: Records not yet in the storage.
        self._unsaved: list[bytes] = []
        #: Number of records up to the end of each object.
        self._ends: list[int] = []
        #: Objects in memory: all that were read on opening the log, later the last one read.
        self._cache: dict[int, list[bytes]] = {}
        stored = set(storage.names(folder))
        while (name := self._name(len(self._ends))) in stored:
            content = storage.get(f"{folder}/{name}")
            if content is None:
                break  # truncated: the band was not finished
            records = _unpacked(content)
            self._cache[len(self._ends)] = records
            self._ends.append(self._stored() + len(records))

    @staticmethod
    def _name(number: int) -> str:
        return f"{number:08}"

    def _stored(self) -> int:
        return self._ends[-1] if self._ends else 0

    def records(self) -> int:
        return self._stored() + len(self._unsaved)

    def append(self, record: bytes) -> None:
        self._cache.clear()
        self._unsaved.append(record)

    def record(self, number: int) -> bytes:
        if number >= self._stored():
            return self._unsaved[number - self._stored()]
        place = next(k for k, end in enumerate(self._ends) if number < end)
        if place not in self._cache:
            content = self._storage.get(f"{self._folder}/{self._name(place)}")
            if content is None:
                raise RuntimeError(f"{self._folder}/{self._name(place)} of the log is gone or damaged")
            self._cache = {place: _unpacked(content)}
        return self._cache[place][number - (self._ends[place - 1] if place else 0)]

    def truncate(self, records: int) -> None:
        check_driver(self._storage, self._token)
        kept: list[bytes] = []
        if records > self._stored():
            kept = self._unsaved[: records - self._stored()]
        while self._ends and self._stored() > records:
            place = len(self._ends) - 1
            first = self._ends[place - 1] if place else 0
            # In practice whole bands, and so whole objects, are kept; this works for any number.
            kept = [self.record(number) for number in range(first, records)]
            self._storage.delete(f"{self._folder}/{self._name(place)}")
            self._ends.pop()
            self._cache.pop(place, None)
        self._unsaved = kept

    def sync(self) -> None:
        if not self._unsaved:
            return
        check_driver(self._storage, self._token)
        self._storage.put(f"{self._folder}/{self._name(len(self._ends))}", _packed(self._unsaved))
        self._ends.append(self.records())
        self._unsaved = []


def _packed(records: list[bytes]) -> bytes:
    return b"".join(len(record).to_bytes(8, "little") + record for record in records)


def _unpacked(content: bytes) -> list[bytes]:
    records: list[bytes] = []
    at = 0
    while at < len(content):
        end = at + 8 + int.from_bytes(content[at : at + 8], "little")
        records.append(content[at + 8 : end])
        at = end
    return records
