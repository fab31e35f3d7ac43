"""Storage of the state of a run: small objects by name, written whole or not at all."""

from __future__ import annotations

import importlib
import os
import uuid
import zlib
from pathlib import Path
from typing import Any, Protocol

__all__ = ["KEEPER_PREFIX", "Keeper", "Storage", "open_storage"]

#: URL prefix of a ``Keeper``.
KEEPER_PREFIX = "ray-actor://"


def loaded_ray() -> Any:
    """Returns Ray; raises with the way to install it."""
    try:
        return importlib.import_module("ray")
    except ModuleNotFoundError:
        raise ImportError("farpoint.ray needs Ray; install it with: pip install 'farpoint[ray]'") from None


class Storage(Protocol):
    """Protocol of a key-value store of bytes. A name may have one level of folders."""

    def put(self, name: str, content: bytes) -> None:
        """Writes or replaces an object."""

    def get(self, name: str) -> bytes | None:
        """Returns the object; None if it does not exist or is truncated."""

    def names(self, folder: str) -> list[str]:
        """Returns the sorted names of the objects of a folder, without the folder."""

    def delete(self, name: str) -> None:
        """Removes an object, if it exists."""


def open_storage(place: str, limit: float) -> Storage:
    """Returns the storage at a path, at a URL supported by fsspec, or in a Ray actor: ``KEEPER_PREFIX`` and its name."""
    if place.startswith(KEEPER_PREFIX):
        import ray

        return _KeeperClient(ray.get_actor(place.removeprefix(KEEPER_PREFIX)), limit)
    if "://" not in place:
        return _Folder(place)
    try:
        fsspec: Any = importlib.import_module("fsspec")
    except ImportError as error:
        raise ImportError(f"{place} needs the package fsspec: pip install fsspec") from error
    system, root = fsspec.core.url_to_fs(place)
    local = system.protocol in ("file", "local") or "file" in system.protocol
    return _Folder(root) if local else _Remote(system, root)


def _with_checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(4, "little") + content


def _verified(sealed: bytes) -> bytes | None:
    content = sealed[4:]
    is_valid = len(sealed) >= 4 and zlib.crc32(content) == int.from_bytes(sealed[:4], "little")
    return content if is_valid else None


class _Folder:
    """Folder that all machines have under the same path."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def put(self, name: str, content: bytes) -> None:
        path = self._path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex[:8]}")
        try:
            with open(temporary, "wb") as file:
                file.write(_with_checksum(content))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def get(self, name: str) -> bytes | None:
        try:
            return _verified((self._path / name).read_bytes())
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._path / folder) if not name.startswith("."))
        except FileNotFoundError:
            return []

    def delete(self, name: str) -> None:
        (self._path / name).unlink(missing_ok=True)


class _Remote:
    """Folder of an fsspec file system, such as a bucket. Truncated objects are detected by their
    checksum."""

    def __init__(self, system: Any, root: str) -> None:
        self._system = system
        self._root = root.rstrip("/")

    def put(self, name: str, content: bytes) -> None:
        path = f"{self._root}/{name}"
        self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._system.pipe_file(path, _with_checksum(content))

    def get(self, name: str) -> bytes | None:
        self._system.invalidate_cache()
        try:
            return _verified(self._system.cat_file(f"{self._root}/{name}"))
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        self._system.invalidate_cache()
        try:
            paths = self._system.ls(f"{self._root}/{folder}", detail=False)
        except FileNotFoundError:
            return []
        return sorted(path.rstrip("/").rpartition("/")[2] for path in paths)

    def delete(self, name: str) -> None:
        try:
            self._system.rm_file(f"{self._root}/{name}")
        except FileNotFoundError:
            pass


class Keeper:
    """In-memory storage in a Ray actor: objects outlive the workers, but not the driver."""

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> None:
        self._objects[name] = content

    def get(self, name: str) -> bytes | None:
        return self._objects.get(name)

    def names(self, folder: str) -> list[str]:
        start = f"{folder}/"
        return sorted(name[len(start) :] for name in self._objects if name.startswith(start))

    def delete(self, name: str) -> None:
        self._objects.pop(name, None)


class _KeeperClient:
    """Client of a ``Keeper``."""

    def __init__(self, keeper: Any, limit: float) -> None:
        self._keeper = keeper
        self._limit = limit

    def _call(self, method: str, *arguments: Any) -> Any:
        import ray

        reference = getattr(self._keeper, method).remote(*arguments)
        return ray.get(reference, timeout=self._limit)

    def put(self, name: str, content: bytes) -> None:
        self._call("put", name, content)

    def get(self, name: str) -> bytes | None:
        content: bytes | None = self._call("get", name)
        return content

    def names(self, folder: str) -> list[str]:
        names_of_objects: list[str] = self._call("names", folder)
        return names_of_objects

    def delete(self, name: str) -> None:
        self._call("delete", name)
