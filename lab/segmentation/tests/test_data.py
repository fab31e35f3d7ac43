"""The data sets' layouts: what is read, and what is said of damaged files."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")

from segmentation_scenes import (  # noqa: E402
    room, turn, write_s3dis, write_s3dis_npy, write_scannet, write_semantickitti,
)

from farpoint_segmentation import data  # noqa: E402
from farpoint_segmentation.data import s3dis, scannet, semantickitti  # noqa: E402
from farpoint_segmentation.recipes import recipe, training  # noqa: E402

LABELLED = pathlib.Path(__file__).parents[4] / "shared" / "data" / "labelled"


def by_class(cloud):
    """In the order in which the text files have the points."""
    order = np.argsort([f"{recipe('s3dis').classes[one]}" for one in cloud[2]], kind="stable")
    return [part[order] for part in cloud]


def same_scene(scene, points, colors, labels):
    assert (scene.points.dtype, scene.labels.dtype) == (np.float32, np.int64)
    np.testing.assert_array_equal(scene.points, points)
    np.testing.assert_array_equal(scene.labels, labels)
    if colors is None:
        assert scene.colors is None
    else:
        assert scene.colors.dtype == np.uint8
        np.testing.assert_array_equal(scene.colors, colors)


class TestS3dis:
    def test_text(self, tmp_path):
        rooms = {f"Area_{area}/office_{one}": room(seed=area + one) for area in (1, 5) for one in (1, 2)}
        for name, one in rooms.items():
            write_s3dis(tmp_path / "Stanford3dDataset", name, one)
        source = data.open_data(tmp_path, "val", recipe("s3dis"))
        assert source.names == ["Area_5/office_1", "Area_5/office_2"]
        assert data.open_data(tmp_path, "test", recipe("s3dis")).names == source.names
        inside = data.open_data(tmp_path / "Stanford3dDataset", "train", recipe("s3dis"))
        assert inside.names == ["Area_1/office_1", "Area_1/office_2"]
        same_scene(source.read("Area_5/office_2"), *by_class(rooms["Area_5/office_2"]))

    def test_npy(self, tmp_path):
        write_s3dis_npy(tmp_path, "Area_5/hallway_6", room())
        write_s3dis_npy(tmp_path, "Area_2/hallway_6", room(seed=2))
        source = data.open_data(tmp_path, "val", recipe("s3dis"))
        assert source.names == ["Area_5/hallway_6"]
        same_scene(source.read("Area_5/hallway_6"), *room())

    def test_the_other_order_of_classes(self, tmp_path):
        points, colors, classes = room()
        write_s3dis(tmp_path, "Area_5/a", (points, colors, classes))
        actual = data.open_data(tmp_path, "val", recipe("s3dis", "table-first")).read("Area_5/a")
        expected = by_class((points, colors, classes))[2]
        swap = np.arange(13)
        swap[[7, 8, 9, 10]] = [8, 7, 10, 9]  # chair, table, bookcase, sofa
        np.testing.assert_array_equal(actual.labels, swap[expected])
        assert recipe("s3dis", "table-first").classes[7:11] == ("table", "chair", "sofa", "bookcase")

    def test_unknown_classes_are_clutter(self, tmp_path):
        write_s3dis(tmp_path, "Area_5/a", room())
        place = tmp_path / "Area_5/a/Annotations"
        (place / "stairs_1.txt").write_text("1 2 3 4 5 6\n")
        (place / ".DS_Store").write_bytes(b"\0")
        (place / "notes.md").write_text("none")
        scene = data.open_data(tmp_path, "val", recipe("s3dis")).read("Area_5/a")
        assert scene.points[-1].tolist() != [1, 2, 3]  # table_1 comes behind
        row = np.flatnonzero((scene.points == [1, 2, 3]).all(axis=1))
        assert scene.labels[row].tolist() == [12]

    @pytest.mark.parametrize("line, expected", [
        # Six numbers remain: the character is dropped.
        (b"1.5 2.5 3.\x105 10 20 30", [1.5, 2.5, 3.5, 10, 20, 30]),
        # Five remain: it stands for a blank.
        (b"1.5 2.5 3.5 10\x1020 30", [1.5, 2.5, 3.5, 10, 20, 30]),
    ])
    def test_the_two_known_faults(self, tmp_path, line, expected):
        path = tmp_path / "ceiling_1.txt"
        path.write_bytes(b"1 2 3 4 5 6\n" + line + b"\r\n7 8 9 10 11 12\n\n")
        rows = s3dis.read_rows(path)
        np.testing.assert_array_equal(rows, [[1, 2, 3, 4, 5, 6], expected, [7, 8, 9, 10, 11, 12]])

    @pytest.mark.parametrize("line", [b"1 2 3 4 5", b"1 2 3 4 5 6 7", b"1 2 x 4 5 6", b"1 2\x10 3 4 5"])
    def test_damaged_rows_are_named(self, tmp_path, line):
        write_s3dis(tmp_path, "Area_5/a", room())
        path = tmp_path / "Area_5/a/Annotations/chair_1.txt"
        path.write_bytes(b"1 2 3 4 5 6\n" + line + b"\n")
        with pytest.raises(ValueError, match=r"chair_1\.txt:2: .*six numbers"):
            data.open_data(tmp_path, "val", recipe("s3dis")).read("Area_5/a")

    def test_values_that_cannot_be(self, tmp_path):
        write_s3dis(tmp_path, "Area_5/a", room())
        path = tmp_path / "Area_5/a/Annotations/beam_1.txt"  # the first by name
        source = data.open_data(tmp_path, "val", recipe("s3dis"))
        for line, text in (
            ("1 2 3 4 5 6\n1 2 3 4 5 256", r"beam_1\.txt: row 1 has color"),
            ("1 2 3 4 5 6\n\n1 nan 3 4 5 6", r"beam_1\.txt:3: .*six numbers"),
        ):
            path.write_text(line + "\n")
            with pytest.raises(ValueError, match=text):
                source.read("Area_5/a")
        for nothing in ("", "\n \n"):
            path.write_text(nothing)
            with pytest.raises(ValueError, match="beam_1.txt: the file is empty"):
                source.read("Area_5/a")

    def test_damaged_npy(self, tmp_path):
        rows = np.ones((5, 7), np.float32)
        path = tmp_path / "Area_5_a.npy"
        source = None
        for change, text in (
            (rows[:, :6], r"\(5, 6\); it must be \(N, 7\)"), (rows + 12, "row 0 has label 13"),
            (rows * 0.5, "row 0 has class 0.5"), (rows[:0], "no points"),
        ):
            np.save(path, change)
            source = source or data.open_data(tmp_path, "val", recipe("s3dis"))
            with pytest.raises(ValueError, match=text):
                source.read("Area_5/a")
        path.write_bytes(path.read_bytes()[:20])
        with pytest.raises(ValueError, match=r"Area_5_a\.npy"):
            source.read("Area_5/a")

    def test_nothing_there(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="no such folder"):
            data.open_data(tmp_path / "none", "val", recipe("s3dis"))
        with pytest.raises(FileNotFoundError, match="no S3DIS here"):
            data.open_data(tmp_path, "val", recipe("s3dis"))
        write_s3dis_npy(tmp_path, "Area_2/a", room())
        with pytest.raises(FileNotFoundError, match="no rooms for val .* there are Area_2"):
            data.open_data(tmp_path, "val", recipe("s3dis"))


class TestScanNet:
    def write(self, folder, names=("scene0011_00", "scene0011_01")):
        points, colors, _ = room()
        classes = np.random.default_rng(1).integers(-1, 20, len(points))
        for name in names:
            write_scannet(folder, name, (points, colors, classes))
        (folder / "scannetv2_val.txt").write_text("\n".join(names) + "\n")
        return points, colors, classes

    def test_meshes(self, tmp_path):
        expected = self.write(tmp_path)
        for folder in (tmp_path, tmp_path / "scans"):
            source = data.open_data(folder, "val", recipe("scannet"))
            assert list(source.names) == ["scene0011_00", "scene0011_01"]
            same_scene(source.read("scene0011_01"), *expected)

    def test_missing_and_damaged(self, tmp_path):
        self.write(tmp_path)
        with pytest.raises(FileNotFoundError, match="scannetv2_train.txt.*Tasks/Benchmark"):
            data.open_data(tmp_path, "train", recipe("scannet"))
        (tmp_path / "scannetv2_train.txt").write_text("scene0011_00\nscene9999_00\n")
        with pytest.raises(FileNotFoundError, match=r"scannetv2_train\.txt:2: .*scene9999_00"):
            data.open_data(tmp_path, "train", recipe("scannet"))
        source = data.open_data(tmp_path, "val", recipe("scannet"))
        labels = tmp_path / "scans/scene0011_00/scene0011_00_vh_clean_2.labels.ply"
        whole = labels.read_bytes()
        farpoint.write(labels, farpoint.read(labels)[:7])
        with pytest.raises(ValueError, match="7 labels for 1,500 points"):
            source.read("scene0011_00")
        farpoint.write(labels, np.random.default_rng(1).random((300, 3), np.float32))
        with pytest.raises(ValueError, match=r"labels\.ply: no label; there are x, y, z"):
            source.read("scene0011_00")
        labels.write_bytes(whole[:-5])
        with pytest.raises(ValueError, match="labels.ply"):
            source.read("scene0011_00")
        labels.unlink()
        with pytest.raises(FileNotFoundError, match="has no labels"):
            source.read("scene0011_00")
        farpoint.write(tmp_path / "scans/scene0011_01/scene0011_01_vh_clean_2.ply", np.zeros((300, 3), np.float32))
        with pytest.raises(ValueError, match="no blue, green, red"):
            source.read("scene0011_01")

    def test_prepared_by_openpoints(self, tmp_path):
        points, colors, _ = room()
        classes = np.random.default_rng(1).integers(-1, 20, len(points))
        (tmp_path / "val").mkdir()
        parts = (
            points - points.mean(axis=0), (colors / np.float32(127.5) - 1).astype(np.float32),
            np.where(classes < 0, -100, classes).astype(np.float64), np.zeros(len(points)),
        )
        path = tmp_path / "val/scene0011_00_vh_clean_2.pth"
        for legacy in (False, True):
            torch.save(parts, path, _use_new_zipfile_serialization=not legacy)
            source = data.open_data(tmp_path, "val", recipe("scannet"))
            assert list(source.names) == ["scene0011_00"]
            same_scene(source.read("scene0011_00"), parts[0], colors, classes)

    def test_pickles_run_nothing(self, tmp_path):
        class Evil:
            def __reduce__(self):
                return pathlib.Path.touch, (tmp_path / "ran",)

        path = tmp_path / "a.pth"
        objects = np.array([Evil()], dtype=object)
        array = np.zeros((2, 3), np.float32)
        for parts in ((array, array, Evil()), (objects, objects)):
            torch.save(parts, path)
            with pytest.raises(ValueError, match=r"a\.pth: not a tuple of arrays"):
                scannet.read_pth(path, "a")
        assert not (tmp_path / "ran").exists()
        # What was allowed here is not allowed elsewhere.
        torch.save((array,), path)
        with pytest.raises(Exception, match="weights_only|Weights only"):
            torch.load(path, weights_only=True)

    def test_damaged_pth(self, tmp_path):
        array = np.zeros((2, 3), np.float32)
        for parts, text in (
            ([array], "list; it must be a tuple"), ((array, array[:, :2]), r"colors float32 \(2, 2\)"),
            ((array, array + 9), "row 0 has color"), (({}, array), r"coordinates object \(\)"),
            ((array, array, "a"), "classes <U1"),
        ):
            torch.save(parts, tmp_path / "a.pth")
            with pytest.raises(ValueError, match=text):
                scannet.read_pth(tmp_path / "a.pth", "a")
        (tmp_path / "a.pth").write_bytes(b"nonsense")
        with pytest.raises(ValueError, match="not a tuple"):
            scannet.read_pth(tmp_path / "a.pth", "a")


class TestSemanticKitti:
    def test_turns(self, tmp_path):
        points, intensity, classes = turn()
        for name in ("08/000000", "08/000001", "00/000000", "10/000003"):
            write_semantickitti(tmp_path / "dataset", name, (points, intensity, classes))
        source = data.open_data(tmp_path, "val", recipe("semantickitti"))
        assert source.names == ["08/000000", "08/000001"]
        train = data.open_data(tmp_path / "dataset", "train", recipe("semantickitti"))
        assert train.names == ["00/000000", "10/000003"]
        scene = source.read("08/000001")
        same_scene(scene, points, None, classes)
        np.testing.assert_array_equal(scene.intensity, intensity)
        with pytest.raises(FileNotFoundError, match="no turns for test; .* 11, 12"):
            data.open_data(tmp_path, "test", recipe("semantickitti"))

    def test_every_id(self):
        """The map of the data set's authors, written down a second time."""
        expected = {
            10: 1, 11: 2, 13: 5, 15: 3, 16: 5, 18: 4, 20: 5, 30: 6, 31: 7, 32: 8, 40: 9, 44: 10, 48: 11,
            49: 12, 50: 13, 51: 14, 60: 9, 70: 15, 71: 16, 72: 17, 80: 18, 81: 19, 252: 1, 253: 7, 254: 6,
            255: 8, 256: 5, 257: 5, 258: 4, 259: 5,
        }
        assert semantickitti.class_map() == {number: label - 1 for number, label in expected.items()}

    def test_missing_and_damaged(self, tmp_path):
        write_semantickitti(tmp_path, "08/000000", turn())
        source = data.open_data(tmp_path, "val", recipe("semantickitti"))
        labels = tmp_path / "sequences/08/labels/000000.label"
        whole = labels.read_bytes()
        labels.write_bytes(whole[:-4])
        with pytest.raises(ValueError, match=r"000000\.label: 1,499 labels for the 1,500 points"):
            source.read("08/000000")
        labels.write_bytes(whole[:-1])
        with pytest.raises(ValueError, match="5,999 bytes, .* multiple of the 4"):
            source.read("08/000000")
        labels.unlink()
        with pytest.raises(FileNotFoundError, match=r"000000\.label is not there"):
            source.read("08/000000")
        points = tmp_path / "sequences/08/velodyne/000000.bin"
        points.write_bytes(points.read_bytes()[:-3])
        with pytest.raises(ValueError, match=r"000000\.bin: 23,997 bytes, .* multiple of the 16"):
            source.read("08/000000")

    def test_labels_are_written(self, tmp_path):
        classes = np.array([*range(19), -1])
        path = data.write_labels(tmp_path / "a/b.label", classes)
        ids = np.fromfile(path, "<u4")
        assert ids.tolist() == [one[0] for one in semantickitti.IDS] + [0]
        np.zeros((20, 4), "<f4").tofile(tmp_path / "b.bin")
        again = data.read_scan(tmp_path / "b.bin", path, semantickitti.class_map())
        np.testing.assert_array_equal(again.labels, classes)
        with pytest.raises(ValueError, match="from 0 to 19; classes are 0 to 18"):
            data.write_labels(path, np.array([0, 19]))


def test_predictions_can_be_looked_at(tmp_path):
    points, colors, classes = room()
    scene = data.Scene("a", points, colors, None, classes)
    prediction = np.roll(classes, 7)
    path = data.write_prediction(tmp_path / "sub/a.ply", scene, prediction, recipe("s3dis"))
    read = farpoint.read(path)
    np.testing.assert_array_equal(read.points, points)
    np.testing.assert_array_equal(read["prediction"], prediction)
    np.testing.assert_array_equal(read["label"], classes)
    shown = np.stack([read[one] for one in ("red", "green", "blue")], axis=1)
    np.testing.assert_array_equal(shown, data.palette(13)[prediction])
    np.testing.assert_array_equal(read["scene_green"], colors[:, 1])
    with pytest.raises(ValueError, match=r"\(3,\) for 1,500 points"):
        data.write_prediction(path, scene, prediction[:3], recipe("s3dis"))


def test_colors_of_classes_differ():
    for classes in (13, 19, 20):
        shades = data.palette(classes)
        assert len(np.unique(shades, axis=0)) == len(shades) == classes + 1


def test_numbers_of_the_recipes():
    for name, classes, channels in (("s3dis", 13, 4), ("scannet", 20, 7), ("semantickitti", 19, 4)):
        one = recipe(name)
        assert (len(one.classes), one.channels) == (classes, channels)
    batches = {"pointmetabase-l": 6, "pointmetabase-xl": 4, "pointvector-l": 4, "pointvector-xl": 2}
    assert {name: training("semantickitti", name).batch for name in batches} == batches
    assert training("s3dis", "pointvector-l", small=True).steps == 3000
    for call in (lambda: recipe("kitti"), lambda: training("s3dis", "pointnet")):
        with pytest.raises(ValueError, match="must be one of"):
            call()
    with pytest.raises(ValueError, match="split is 'all'"):
        data.open_data(".", "all", recipe("s3dis"))


def test_farpoint_imports_none_of_it():
    """And the command line says what it needs."""
    code = (
        "import sys, farpoint, farpoint.sampling; "
        "assert not [name for name in sys.modules if name.startswith(('farpoint_segmentation', 'torch'))]; "
        "sys.modules['torch'] = None; from farpoint_segmentation.commands import main; "
        "sys.exit(main(['evaluate', 'generated', '--data', 's3dis', '--network', 'pointvector-l', '-o', 'a']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2 and "pip install ./lab/segmentation" in done.stderr, done.stderr


@pytest.mark.skipif(not LABELLED.is_dir(), reason="shared/data is not part of the repository")
class TestRealScenes:
    def test_s3dis(self, tmp_path):
        rows = np.load(LABELLED / "s3dis_crop_41568.npy")
        (tmp_path / "Area_5_a.npy").write_bytes((LABELLED / "s3dis_crop_41568.npy").read_bytes())
        scene = data.open_data(tmp_path, "val", recipe("s3dis")).read("Area_5/a")
        np.testing.assert_array_equal(scene.colors, rows[:, 3:6])
        assert np.bincount(scene.labels, minlength=13).tolist() == [
            0, 23139, 911, 0, 0, 0, 0, 8700, 8092, 0, 0, 0, 726,
        ]

    def test_rellis_has_its_own_map(self, tmp_path):
        own = {number: place for place, number in enumerate((3, 4, 17, 18, 19, 23, 31, 33))}
        scene = data.read_scan(LABELLED / "rellis_000104.bin", LABELLED / "rellis_000104.label", own)
        assert len(scene.points) == 131_072 and (scene.labels == -1).sum() == 68_284
        assert np.bincount(scene.labels[scene.labels >= 0]).tolist() == [
            18040, 17872, 1310, 595, 3360, 20242, 1269, 100,
        ]
        ids = np.array([*own, 0], "<u4")[scene.labels]
        np.testing.assert_array_equal(ids, np.fromfile(LABELLED / "rellis_000104.label", "<u4"))
