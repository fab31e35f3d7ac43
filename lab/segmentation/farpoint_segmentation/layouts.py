"""Generated scenes in the published dataset layouts, to test readers and whole pipelines, including those of
other projects.

Every sixth scene, starting from the first, is for validation, the others for training.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from .recipes import known
from .scenes import Kind, LabeledCloud, generate_labeled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LAYOUTS", "Layout", "kind_of", "write_scenes"]

Layout = Literal["s3dis", "s3dis-npy", "scannet", "semantickitti"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)

#: Path inside the dataset's folder, and the content of the file.
Part = tuple[str, bytes]

#: Areas of S3DIS for training; the fifth is for validation.
_AREAS = (1, 2, 3, 4, 6)

#: NYU40 id of each class of S3DIS, by name: beams and columns are "otherstructure", boards "whiteboard",
#: clutter is "otherfurniture".
_NYU40 = {
    "ceiling": 22, "floor": 2, "wall": 1, "beam": 38, "column": 38, "window": 9, "door": 8, "chair": 5, "table": 7,
    "bookcase": 10, "sofa": 6, "board": 30, "clutter": 39,
}

#: SemanticKITTI id of each class of a town.
_IDS = (10, 11, 15, 18, 20, 30, 31, 32, 40, 44, 48, 49, 50, 51, 70, 71, 72, 80, 81)

#: Classes below this are things, whose labels have an instance number in their upper half.
_THINGS = 8


def kind_of(layout: Layout) -> Kind:
    """Return the kind of generated scenes with the classes of the dataset."""
    return "town" if layout == "semantickitti" else "indoor"


def write_scenes(
    folder: str | os.PathLike[str], layout: Layout, scenes: int, points: int, seed: int = 0,
    report: Callable[[int, int], None] | None = None,
) -> None:
    """Write generated scenes, with seeds from ``seed`` on.

    Parameters
    ----------
    folder : str or os.PathLike
        An empty folder.
    layout : {"s3dis", "s3dis-npy", "scannet", "semantickitti"}
        Rooms as text, as arrays (N, 7) or as meshes without faces; or LiDAR scans.
    scenes : int
        Number of scenes.
    points : int
        Number of points of each.
    seed : int, optional
        Seed of the first scene.
    report : callable, optional
        Progress callback, called with ``(written, scenes)`` after each scene.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        No such folder.
    ValueError
        The folder is not empty, the layout is unknown, there is less than one scene, or the seed is too large.
    """
    root = Path(folder)
    known(layout, LAYOUTS, "layout")
    if scenes < 1:
        raise ValueError(f"{scenes} scenes: give at least 1")
    if seed + scenes - 1 >= 2**64:
        raise ValueError(f"seed {seed} with {scenes} scenes: the last seed is too large")
    if next(root.iterdir(), None) is not None:
        raise ValueError(f"{root}: the folder is not empty")
    for number in range(scenes):
        made = generate_labeled(kind_of(layout), points, seed=seed + number)
        _write(root, _files(layout, number, made))
        if report is not None:
            report(number + 1, scenes)
    if layout == "scannet":
        _write(root, _lists(scenes))  # last, so that they never name a missing scene


def _write(root: Path, parts: Iterable[Part]) -> None:
    """Writes each file whole or not at all."""
    for name, content in parts:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.part")
        unfinished.write_bytes(content)
        unfinished.replace(path)


def _files(layout: Layout, number: int, scene: LabeledCloud) -> Iterator[Part]:
    if layout == "s3dis":
        return _text(number, scene)
    if layout == "s3dis-npy":
        return _array(number, scene)
    if layout == "scannet":
        return _meshes(number, scene)
    return _turn(number, scene)


def _held_out(number: int) -> bool:
    """Returns whether a scene is for validation."""
    return number % 6 == 0


def _colors(scene: LabeledCloud) -> NDArray[np.uint8]:
    assert scene.colors is not None, "only rooms are written with colors"
    return scene.colors


def _room(number: int) -> tuple[str, str]:
    """Returns area and room of a scene of S3DIS."""
    area = 5 if _held_out(number) else _AREAS[number % 6 - 1]
    return f"Area_{area}", f"office_{number // 6 + 1}"


def _text(number: int, scene: LabeledCloud) -> Iterator[Part]:
    """Yields a text file for each class, and one for the room."""
    area, room = _room(number)
    rows = np.concatenate([scene.points.astype(np.float64), _colors(scene)], axis=1)
    contents = []
    for label, name in enumerate(scene.class_names):
        lines = ["%.3f %.3f %.3f %d %d %d\n" % tuple(row) for row in rows[scene.labels == label].tolist()]
        if lines:
            contents.append("".join(lines).encode())
            yield f"{area}/{room}/Annotations/{name}_1.txt", contents[-1]
    yield f"{area}/{room}/{room}.txt", b"".join(contents)


def _array(number: int, scene: LabeledCloud) -> Iterator[Part]:
    """Yields one array, as stored by projects that use S3DIS."""
    area, room = _room(number)
    content = io.BytesIO()
    columns: list[NDArray[Any]] = [scene.points, _colors(scene), scene.labels[:, None]]
    np.save(content, np.concatenate([part.astype("<f4") for part in columns], axis=1))
    yield f"{area}_{room}.npy", content.getvalue()


def _scene_name(number: int) -> str:
    return f"scene{number:04d}_00"


def _meshes(number: int, scene: LabeledCloud) -> Iterator[Part]:
    """Yields a mesh with colors and another with labels, both without faces."""
    name = _scene_name(number)
    ids = np.array([*(_NYU40[one] for one in scene.class_names), 0], "<u2")  # the last, for -1
    for ending, labels in (("ply", None), ("labels.ply", ids[scene.labels])):
        yield f"scans/{name}/{name}_vh_clean_2.{ending}", _mesh(scene, labels)


def _mesh(scene: LabeledCloud, labels: NDArray[np.uint16] | None) -> bytes:
    fields: list[Any] = [("points", "<f4", 3), ("colors", "u1", 3), ("alpha", "u1")]
    vertices = np.zeros(len(scene.points), fields if labels is None else [*fields, ("label", "<u2")])
    vertices["points"], vertices["colors"], vertices["alpha"] = scene.points, _colors(scene), 255
    if labels is not None:
        vertices["label"] = labels
    lines = [
        "ply", "format binary_little_endian 1.0", "comment generated by farpoint", f"element vertex {len(vertices)}",
        *(f"property float {axis}" for axis in "xyz"),
        *(f"property uchar {channel}" for channel in ("red", "green", "blue", "alpha")),
        *([] if labels is None else ["property ushort label"]),
        "element face 0", "property list uchar int vertex_indices", "end_header", "",
    ]
    return "\n".join(lines).encode() + vertices.tobytes()


def _lists(scenes: int) -> Iterator[Part]:
    """Yields the lists of ScanNet's scenes for training and validation; none for testing."""
    for split, held_out in (("train", False), ("val", True)):
        names = [_scene_name(number) for number in range(scenes) if _held_out(number) == held_out]
        yield f"scannetv2_{split}.txt", "".join(f"{name}\n" for name in names).encode()


def _turn(number: int, scene: LabeledCloud) -> Iterator[Part]:
    """Yields a SemanticKITTI scan and its labels, in sequence 08 for validation. All things of a class are one
    instance."""
    sequence, turn = ("08", number // 6) if _held_out(number) else ("00", number - number // 6 - 1)
    assert scene.intensity is not None, "only turns are written with intensities"
    rows = np.concatenate([scene.points, scene.intensity[:, None]], axis=1).astype("<f4")
    ids = np.array([*(one | (k < _THINGS) << 16 for k, one in enumerate(_IDS)), 0], "<u4")
    yield f"sequences/{sequence}/velodyne/{turn:06d}.bin", rows.tobytes()
    yield f"sequences/{sequence}/labels/{turn:06d}.label", ids[scene.labels].tobytes()
