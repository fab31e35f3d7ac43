"""Records written by ``evaluate``, ``time`` and ``train``, and read by ``report``: a line of JSON for each
scene that was evaluated or timed, and for each interval of a training."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

__all__ = [
    "Key", "Option", "SceneRecord", "Seconds", "TrainingRecord", "append", "read_scenes", "read_training",
]

Task = Literal["evaluate", "time"]

#: Values of options that identify a run.
Option = str | int | float | bool | None

#: Key of a scene record; see ``SceneRecord.key``.
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Seconds:
    """Time of one scene in seconds; None if not measured."""

    #: Forward pass, including samplers and copies of CPU samplers.
    all: float | None = None
    #: Part of it spent in samplers.
    sampling: float | None = None


@dataclass(frozen=True)
class SceneRecord:
    """Record of one scene, one network and one sampler."""

    FILE: ClassVar[str] = "scenes.jsonl"

    task: Task
    data: str
    network: str
    #: Name for ``samplers.parse``.
    sampler: str
    #: Name of the scene in its dataset, or of a generated scene.
    scene: str
    #: Number of input points of the network: occupied voxels.
    points: int
    #: Device name, such as "NVIDIA H100" or "cpu".
    device: str
    seed: int = 0
    #: "val", "test", or "time" for records without classes.
    protocol: str = "val"
    #: Further settings: checkpoint, class order, levels, precision.
    options: Mapping[str, Option] = field(default_factory=dict)
    seconds: Seconds = Seconds()
    #: Peak device memory, in bytes.
    peak_memory: int | None = None
    #: Confusion matrix: label (row) and prediction (column), without points of no class.
    confusion: tuple[tuple[int, ...], ...] | None = None
    #: Metrics of this scene, from 0 to 1: "miou" (OpenPoints), "miou_semantic_kitti", "macc", "oa".
    metrics: Mapping[str, float] = field(default_factory=dict)
    #: Number of points of the scene as read.
    raw_points: int | None = None
    #: Number of points of the fullest voxel.
    fullest: int | None = None

    @property
    def key(self) -> Key:
        """Return the key, equal for records of the same scene in the same run."""
        options = tuple(sorted(self.options.items()))
        return (
            self.task, self.data, self.network, self.sampler, self.scene, self.protocol, self.device,
            self.seed, options,
        )


@dataclass(frozen=True)
class TrainingRecord:
    """Record of an interval of a training: some steps, or the evaluation after the last."""

    FILE: ClassVar[str] = "training.jsonl"

    data: str
    network: str
    #: Sampler that the network was trained with.
    sampler: str
    recipe: str
    device: str
    seed: int
    #: Steps done at the end of the interval, and in total.
    step: int
    steps: int
    #: Mean loss of the steps of this interval, and the learning rate of the last.
    loss: float
    rate: float
    #: Time of this interval, in seconds.
    seconds: float
    #: Number of points per batch.
    points: int
    #: Metrics of the batches of this interval, from 0 to 1: "oa".
    metrics: Mapping[str, float] = field(default_factory=dict)


Record = SceneRecord | TrainingRecord
RecordT = TypeVar("RecordT", SceneRecord, TrainingRecord)


def append(folder: str | os.PathLike[str], record: Record) -> None:
    """Append a record to its file in the folder, which is created if missing.

    Raises
    ------
    OSError
        The file can't be written.
    """
    path = Path(folder) / record.FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(asdict(record), separators=(",", ":")).encode() + b"\n"
    with open(path, "a+b") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.truncate(_whole_lines(path))  # drops a line truncated by a killed process
        file.write(line)


def read_scenes(folder: str | os.PathLike[str]) -> list[SceneRecord]:
    """Read the scene records of a folder, in the order of writing; empty if there are none.

    Raises
    ------
    ValueError
        A line is not a scene record; the message has the file and the line.
    OSError
        The file can't be read.
    """
    return [_scene(entry, where) for entry, where in _entries(folder, SceneRecord.FILE)]


def read_training(folder: str | os.PathLike[str]) -> list[TrainingRecord]:
    """Read the training records of a folder, as ``read_scenes``."""
    return [
        _made(TrainingRecord, entry, where) for entry, where in _entries(folder, TrainingRecord.FILE)
    ]


def _scene(entry: dict[str, Any], where: str) -> SceneRecord:
    confusion = entry.get("confusion")
    try:
        if confusion is not None:
            entry["confusion"] = tuple(tuple(row) for row in confusion)
        entry["seconds"] = Seconds(**entry.get("seconds", {}))
    except TypeError as error:
        raise ValueError(f"{where}: seconds or confusion: {error}") from None
    return _made(SceneRecord, entry, where)


def _made(kind: type[RecordT], entry: dict[str, Any], where: str) -> RecordT:
    unknown = sorted(entry.keys() - {one.name for one in fields(kind)})
    if unknown:
        raise ValueError(f"{where}: a {kind.__name__} has no {', '.join(unknown)}")
    try:
        return kind(**entry)
    except TypeError as error:
        raise ValueError(f"{where}: {error}") from None


def _whole_lines(path: Path) -> int:
    """Returns the number of bytes up to the end of the last whole line."""
    return path.read_bytes().rfind(b"\n") + 1


def _entries(folder: str | os.PathLike[str], name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yields the contents of the whole lines of a file, and their locations."""
    path = Path(folder) / name
    if not path.exists():
        return
    whole = path.read_bytes()[: _whole_lines(path)]
    for number, line in enumerate(whole.splitlines(), 1):
        where = f"{path}:{number}"
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{where}: no JSON: {error}") from None
        if not isinstance(entry, dict):
            raise ValueError(f"{where}: no record, but {line[:40]!r}")
        yield entry, where
