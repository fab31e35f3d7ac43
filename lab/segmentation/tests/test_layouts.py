"""What ``generate`` writes: every byte that readers of other projects rely on, and the scenes themselves, read by the
readers of the data sets."""

import io

import numpy as np
import pytest

import farpoint

pytest.importorskip("torch", reason="torch is not installed")

from farpoint_segmentation.commands import main  # noqa: E402
from farpoint_segmentation.data import open_data  # noqa: E402
from farpoint_segmentation.layouts import write_scenes  # noqa: E402
from farpoint_segmentation.recipes import recipe  # noqa: E402
from farpoint_segmentation.scenes import generate_labeled  # noqa: E402

POINTS, SEED = 6_000, 20


def written(folder, layout, scenes=7):
    arguments = f"generate --layout {layout} --points {POINTS} --seed {SEED} --scenes {scenes} --quiet -o"
    assert main([*arguments.split(), str(folder)]) == 0
    return folder


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def generated(layout, seed):
    return generate_labeled("town" if layout == "semantickitti" else "indoor", POINTS, seed=seed)


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
    for scene, seed in scenes(written(tmp_path, "s3dis"), numbers):
        made = generate_labeled("indoor", POINTS, seed=seed)
        # Files of classes in the order of their names.
        rows = np.concatenate([
            np.flatnonzero(made.labels == names.index(name)) for name in sorted(names)
        ])
        assert np.abs(scene.points - made.points[rows]).max() < 0.000_51
        np.testing.assert_array_equal(scene.colors, made.colors[rows])
        expected = [numbers.classes.index(names[k]) for k in made.labels[rows]]
        np.testing.assert_array_equal(scene.labels, expected)


def test_arrays_of_rooms(tmp_path):
    for scene, seed in scenes(written(tmp_path, "s3dis-npy"), recipe("s3dis", "chair-first")):
        made = generate_labeled("indoor", POINTS, seed=seed)
        np.testing.assert_array_equal(scene.points, made.points)
        np.testing.assert_array_equal(scene.colors, made.colors)
        np.testing.assert_array_equal(scene.labels, made.labels)


def test_scenes_of_scannet(tmp_path):
    numbers = recipe("scannet")
    same = {name: name for name in ("floor", "wall", "window", "door", "chair", "table", "sofa")}
    same |= {"bookcase": "bookshelf", "clutter": "other furniture"}
    names = recipe("s3dis").classes
    for scene, seed in scenes(written(tmp_path, "scannet"), numbers):
        made = generate_labeled("indoor", POINTS, seed=seed)
        np.testing.assert_array_equal(scene.points, made.points)
        np.testing.assert_array_equal(scene.colors, made.colors)
        expected = [
            numbers.classes.index(same[names[k]]) if names[k] in same else -1 for k in made.labels
        ]
        np.testing.assert_array_equal(scene.labels, expected)


def test_turns(tmp_path):
    for scene, seed in scenes(written(tmp_path, "semantickitti"), recipe("semantickitti")):
        made = generate_labeled("town", POINTS, seed=seed)
        np.testing.assert_array_equal(scene.points, made.points)
        np.testing.assert_array_equal(scene.intensity, made.intensity)
        np.testing.assert_array_equal(scene.labels, made.labels)


def test_files_of_rooms_as_text(tmp_path):
    result = names(written(tmp_path, "s3dis", 8))
    rooms = [f"Area_{area}/office_{room}" for area, room in
             ((1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (5, 2), (6, 1), (1, 2))]
    assert {"/".join(name.split("/")[:2]) for name in result} == set(rooms)
    made = generated("s3dis", SEED + 6)
    for label, name in enumerate(made.class_names):
        path = f"Area_5/office_2/Annotations/{name}_1.txt"
        assert (path in result) == (label in made.labels), path
    lines = (tmp_path / "Area_5/office_2/office_2.txt").read_text().splitlines()
    assert len(lines) == POINTS and len(lines[0].split(" ")) == 6


def test_an_array_has_the_header_of_numpy(tmp_path):
    assert names(written(tmp_path, "s3dis-npy", 2)) == ["Area_1_office_1.npy", "Area_5_office_1.npy"]
    content = (tmp_path / "Area_1_office_1.npy").read_bytes()
    start = 10 + int.from_bytes(content[8:10], "little")
    assert content[:8] == b"\x93NUMPY\x01\x00" and start % 64 == 0
    assert content[10:].startswith(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({POINTS}, 7), }}".encode())
    assert np.load(io.BytesIO(content)).shape == (POINTS, 7)


def test_meshes_have_the_ids_of_nyu40(tmp_path):
    assert len(names(written(tmp_path, "scannet", 7))) == 16
    assert (tmp_path / "scannetv2_val.txt").read_text() == "scene0000_00\nscene0006_00\n"
    assert len((tmp_path / "scannetv2_train.txt").read_text().splitlines()) == 5
    made = generated("scannet", SEED + 6)
    ids = np.array([22, 2, 1, 38, 38, 9, 8, 5, 7, 10, 6, 30, 39])
    for ending, fields in (("ply", []), ("labels.ply", ["label"])):
        path = tmp_path / f"scans/scene0006_00/scene0006_00_vh_clean_2.{ending}"
        assert f"element vertex {POINTS}\n".encode() in path.read_bytes()
        cloud = farpoint.read(path)
        assert cloud.fields == ["x", "y", "z", "red", "green", "blue", "alpha", *fields]
        np.testing.assert_array_equal(cloud.points, made.points)
        np.testing.assert_array_equal(np.stack([cloud[one] for one in ("red", "green", "blue")], 1), made.colors)
    np.testing.assert_array_equal(cloud["label"], ids[made.labels])


def test_turns_have_the_ids_of_semantickitti(tmp_path):
    turns = {"00": 6, "08": 2}
    expected = [f"sequences/{one}/{kind}/{k:06d}.{ending}" for one, count in turns.items() for k in range(count)
              for kind, ending in (("labels", "label"), ("velodyne", "bin"))]
    assert names(written(tmp_path, "semantickitti", 8)) == sorted(expected)
    ids = np.array([10, 11, 15, 18, 20, 30, 31, 32, 40, 44, 48, 49, 50, 51, 70, 71, 72, 80, 81, 0])
    # The seventh scene is the second of validation, the eighth the sixth of training.
    for seed, turn in ((SEED + 6, "08/{}/000001.{}"), (SEED + 7, "00/{}/000005.{}")):
        made = generated("semantickitti", seed)
        points = np.fromfile(tmp_path / "sequences" / turn.format("velodyne", "bin"), "<f4").reshape(-1, 4)
        np.testing.assert_array_equal(points, np.concatenate([made.points, made.intensity[:, None]], axis=1))
        labels = np.fromfile(tmp_path / "sequences" / turn.format("labels", "label"), "<u4")
        np.testing.assert_array_equal(labels & 0xFFFF, ids[made.labels])
        np.testing.assert_array_equal(labels >> 16, (made.labels >= 0) & (made.labels < 8))


def test_what_does_not_fit_is_refused(tmp_path, capsys):
    def fails(arguments, *words, status=2):
        try:
            assert main(["generate", "--quiet", *arguments.split(), "--points", "5"]) == status
        except SystemExit as ended:  # of the parser
            assert ended.code == status
        text = capsys.readouterr().err
        assert all(word in text for word in words), text

    folder = tmp_path / "out"
    fails(f"--layout s3dis -o {folder}", "out")
    folder.mkdir()
    fails(f"--layout kitti -o {folder}", "kitti", "semantickitti")
    fails(f"--layout s3dis --scenes 0 -o {folder}", "--scenes", "0 is below 1")
    fails(f"--layout s3dis --seed {2**64 - 1} --scenes 2 -o {folder}", "seed", "too large")
    fails(f"--layout s3dis --seed -1 -o {folder}", "seed is -1")
    assert names(folder) == []
    (folder / "notes.txt").write_text("mine")
    fails(f"--layout s3dis -o {folder}", "out", "not empty")
    assert names(folder) == ["notes.txt"]
    with pytest.raises(ValueError, match="layout is 'kitti'; it must be one of"):
        write_scenes(folder, "kitti", 1, 5)
