"""What ``farpoint generate --labels --layout`` writes, read by the readers of the data sets and compared with the
scenes themselves. Needs the command: FARPOINT_COMMAND, or one that ``cargo build`` left in ``target``."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from farpoint import _native
from farpoint.segmentation.data import open_data
from farpoint.segmentation.recipes import recipe

POINTS, SEED = 6_000, 20


def command():
    """The one that is named, or else the newest that was built here."""
    root = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[3] / "target"))
    built = [place for place in (root / "release" / "farpoint", root / "debug" / "farpoint") if place.is_file()]
    found = os.environ.get("FARPOINT_COMMAND") or max(built, key=lambda place: place.stat().st_mtime, default=None)
    if found is None:
        pytest.skip("no farpoint command in target; set FARPOINT_COMMAND")
    return str(found)


def written(folder, kind, layout):
    arguments = f"generate {kind} -n {POINTS} --seed {SEED} --labels --layout {layout} --scenes 7 -o {folder}"
    done = subprocess.run([command(), *arguments.split()], capture_output=True, text=True, check=False, timeout=60)
    if "unrecognized subcommand" in done.stderr or "unexpected argument" in done.stderr:
        pytest.skip("the farpoint command is an older one")
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def scenes(folder, numbers):
    """Scenes of both splits, with the seed that each was made with."""
    val, train = (open_data(folder, split, numbers) for split in ("val", "train"))
    assert (len(val.names), len(train.names)) == (2, 5)
    seeds = {SEED: (val, 0), SEED + 6: (val, 1), SEED + 1: (train, 0), SEED + 5: (train, 4)}
    return [(source.read(source.names[k]), seed) for seed, (source, k) in seeds.items()]


@pytest.mark.parametrize("order", ["chair-first", "table-first"])
def test_text_rooms(tmp_path, order):
    numbers = recipe("s3dis", order)
    names = recipe("s3dis").classes
    for scene, seed in scenes(written(tmp_path, "indoor", "s3dis"), numbers):
        made = _native.generate_labelled("indoor", POINTS, seed)
        # Files of classes in the order of their names.
        rows = np.concatenate([
            np.flatnonzero(made["classes"] == names.index(name)) for name in sorted(names)
        ])
        assert np.abs(scene.points - made["points"][rows]).max() < 0.000_51
        np.testing.assert_array_equal(scene.colors, made["colors"][rows])
        expected = [numbers.classes.index(names[k]) for k in made["classes"][rows]]
        np.testing.assert_array_equal(scene.labels, expected)


def test_arrays_of_rooms(tmp_path):
    for scene, seed in scenes(written(tmp_path, "indoor", "s3dis-npy"), recipe("s3dis", "chair-first")):
        made = _native.generate_labelled("indoor", POINTS, seed)
        np.testing.assert_array_equal(scene.points, made["points"])
        np.testing.assert_array_equal(scene.colors, made["colors"])
        np.testing.assert_array_equal(scene.labels, made["classes"])


def test_scenes_of_scannet(tmp_path):
    numbers = recipe("scannet")
    same = {name: name for name in ("floor", "wall", "window", "door", "chair", "table", "sofa")}
    same |= {"bookcase": "bookshelf", "clutter": "other furniture"}
    names = recipe("s3dis").classes
    for scene, seed in scenes(written(tmp_path, "indoor", "scannet"), numbers):
        made = _native.generate_labelled("indoor", POINTS, seed)
        np.testing.assert_array_equal(scene.points, made["points"])
        np.testing.assert_array_equal(scene.colors, made["colors"])
        expected = [
            numbers.classes.index(same[names[k]]) if names[k] in same else -1 for k in made["classes"]
        ]
        np.testing.assert_array_equal(scene.labels, expected)


def test_turns(tmp_path):
    for scene, seed in scenes(written(tmp_path, "town", "semantickitti"), recipe("semantickitti")):
        made = _native.generate_labelled("town", POINTS, seed)
        np.testing.assert_array_equal(scene.points, made["points"])
        np.testing.assert_array_equal(scene.intensity, made["intensity"])
        np.testing.assert_array_equal(scene.labels, made["classes"])


def test_generated_arrays():
    for kind, paint, shape in (("indoor", "colors", (POINTS, 3)), ("town", "intensity", (POINTS,))):
        made = _native.generate_labelled(kind, POINTS, 4)
        assert set(made) == {"points", paint, "classes"}
        assert made["points"].shape == (POINTS, 3) and made["points"].dtype == np.float32
        assert made[paint].shape == shape
        assert made["classes"].shape == (POINTS,) and made["classes"].dtype == np.int64
        assert made["classes"].min() == (0 if kind == "indoor" else -1)
        assert made["classes"].max() < len(_native.labelled_classes(kind))
    with pytest.raises(ValueError, match="'house' is no kind of scene with classes; choose indoor or town"):
        _native.generate_labelled("house", 5, 0)
