"""What ``evaluate``, ``time`` and ``train`` leave in their folders, and ``report`` reads: a line of JSON for each
scene that was evaluated or timed, and for each piece of a training."""

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

#: Values of options: whatever else tells two runs apart.
Option = str | int | float | bool | None

#: By what two scene records are of the same run; see ``SceneRecord.key``.
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Seconds:
    """Time of one scene; None for what was not measured."""

    #: The forward pass, samplers and copies of CPU samplers included.
    all: float | None = None
    #: Of these, choosing points.
    sampling: float | None = None


@dataclass(frozen=True)
class SceneRecord:
    """One scene, by one network and one sampler."""

    FILE: ClassVar[str] = "scenes.jsonl"

    task: Task
    data: str
    network: str
    #: As ``samplers.parse`` takes it.
    sampler: str
    #: The name of the scene in its data set, or of a generated one.
    scene: str
    #: Points of the cloud that the network was given: occupied voxels.
    points: int
    #: The machine's name for it, such as "NVIDIA H100" or "cpu".
    device: str
    seed: int = 0
    #: "val", "test", or "time" for what has no classes.
    protocol: str = "val"
    #: What else was set: checkpoint, class order, levels, precision.
    options: Mapping[str, Option] = field(default_factory=dict)
    seconds: Seconds = Seconds()
    #: The most memory of the device that was in use, in bytes.
    peak_memory: int | None = None
    #: Points of class i (row) that the network gave class j (column), those of no class left out.
    confusion: tuple[tuple[int, ...], ...] | None = None
    #: Of this scene alone, from 0 to 1: "miou" (OpenPoints), "miou_semantic_kitti", "macc", "oa".
    metrics: Mapping[str, float] = field(default_factory=dict)
    #: Points of the scene as read.
    raw_points: int | None = None
    #: Points of the fullest voxel.
    fullest: int | None = None

    @property
    def key(self) -> Key:
        """Equal for records of the same scene in the same run."""
        options = tuple(sorted(self.options.items()))
        return (
            self.task, self.data, self.network, self.sampler, self.scene, self.protocol, self.device,
            self.seed, options,
        )


@dataclass(frozen=True)
class TrainingRecord:
    """A piece of a training: some steps, or the evaluation behind the last."""

    FILE: ClassVar[str] = "training.jsonl"

    data: str
    network: str
    #: The sampler the network was trained with.
    sampler: str
    recipe: str
    device: str
    seed: int
    #: Steps done at its end, and in all.
    step: int
    steps: int
    #: Mean loss of the steps of this piece, and the rate of the last.
    loss: float
    rate: float
    #: Time of this piece.
    seconds: float
    #: Points of a batch.
    points: int
    #: Of the batches of this piece, from 0 to 1: "oa".
    metrics: Mapping[str, float] = field(default_factory=dict)


Record = SceneRecord | TrainingRecord
RecordT = TypeVar("RecordT", SceneRecord, TrainingRecord)


def append(folder: str | os.PathLike[str], record: Record) -> None:
    """Write a record as the last line of its file in the folder, which is made if it is not there.

    Raises
    ------
    OSError
        The system refuses to write.
    """
    path = Path(folder) / record.FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(asdict(record), separators=(",", ":")).encode() + b"\n"
    with open(path, "a+b") as file:
        if file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.truncate(_whole_lines(path))  # the line that a process was killed at
        file.write(line)


def read_scenes(folder: str | os.PathLike[str]) -> list[SceneRecord]:
    """Read the scene records of a folder, in the order in which they were written; none if there are none.

    Raises
    ------
    ValueError
        A line is no such record; the text has the file and the line.
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
    """Bytes up to the end of the last whole line."""
    return path.read_bytes().rfind(b"\n") + 1


def _entries(folder: str | os.PathLike[str], name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """What the whole lines of a file hold, and where they are."""
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
