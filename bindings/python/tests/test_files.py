"""Reading and writing."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from conftest import cloud

import farpoint


@pytest.fixture
def scan(tmp_path):
    """A KITTI-like file: x, y, z and intensity as float32."""
    rows = cloud(500, 4)
    rows.tofile(tmp_path / "scan.bin")
    return tmp_path / "scan.bin", rows


def test_read_sample_write(scan, tmp_path):
    path, rows = scan
    read = farpoint.read(path)
    assert len(read) == 500 and read.fields == ["x", "y", "z", "intensity"]
    assert "500 points" in repr(read)
    np.testing.assert_array_equal(read.points, rows[:, :3])
    np.testing.assert_array_equal(read["intensity"], rows[:, 3])
    chosen = farpoint.sample(read, 50)
    np.testing.assert_array_equal(chosen, farpoint.sample(rows[:, :3], 50))
    for name in ("out.ply", "out.pcd", "out.npy", "out.xyz"):
        assert farpoint.write(tmp_path / name, read[chosen]) == []
        again = farpoint.read(tmp_path / name)
        np.testing.assert_array_equal(again.points.astype(np.float32), rows[chosen, :3])
        intensity = again[again.fields[3]]  # a plain NPY array has no names
        np.testing.assert_array_equal(intensity.astype(np.float32), rows[chosen, 3])


def test_rows_of_rows(scan):
    path, rows = scan
    read = farpoint.read(path)
    some = read[100:200][np.arange(100) % 2 == 0][[3, 1]]
    np.testing.assert_array_equal(some.points, rows[[106, 102], :3])
    np.testing.assert_array_equal(some["intensity"], rows[[106, 102], 3])
    assert len(read[-1:]) == 1
    np.testing.assert_array_equal(np.asarray(some), some.points)
    assert np.asarray(some, dtype=np.float64).dtype == np.float64


def test_columns_are_added(scan, tmp_path):
    path, _ = scan
    read = farpoint.read(path)
    order = farpoint.order(read)
    ordered = read[order.indices].with_column("spacing", order.spacings)
    farpoint.write(tmp_path / "order.ply", ordered)
    np.testing.assert_array_equal(farpoint.read(tmp_path / "order.ply")["spacing"], order.spacings)
    with pytest.raises(ValueError, match="3 values of 'wrong' .* 500 points"):
        read.with_column("wrong", np.zeros(3))


def test_arrays_are_written(tmp_path):
    for points in (cloud(), cloud(dtype=np.float64), cloud(300, 6)[:, ::2]):
        farpoint.write(tmp_path / "a.ply", points)
        read = farpoint.read(tmp_path / "a.ply")
        np.testing.assert_array_equal(read.points, points)
        assert read.points.dtype == points.dtype
    farpoint.write(tmp_path / "a.ply", cloud(), encoding="ascii")
    assert b"format ascii" in (tmp_path / "a.ply").read_bytes()[:40]


def test_progress(scan, capsys):
    path, rows = scan
    read = farpoint.read(path, progress=True)
    np.testing.assert_array_equal(read.points, rows[:, :3])
    assert "reading" in capsys.readouterr().err


def test_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.ply"):
        farpoint.read(tmp_path / "none.ply")
    (tmp_path / "bad.ply").write_bytes(b"ply\nnonsense\n")
    with pytest.raises(ValueError, match="bad.ply"):
        farpoint.read(tmp_path / "bad.ply")
    with pytest.raises(ValueError, match="'doc': no such format"):
        farpoint.read(tmp_path / "bad.ply", format="doc")
    with pytest.raises(ValueError, match=r"\.ply"):
        farpoint.write(tmp_path / "a.doc", cloud())
    with pytest.raises(ValueError, match="encoding"):
        farpoint.write(tmp_path / "a.ply", cloud(), encoding="zip")
    with pytest.raises(TypeError, match=r"\(5, 3\).* bool"):
        farpoint.write(tmp_path / "a.ply", np.zeros((5, 3), bool))
    with pytest.raises(ValueError, match=r"\(300, 4\)"):
        farpoint.write(tmp_path / "a.ply", cloud(300, 4))
    farpoint.write(tmp_path / "a.ply", cloud())
    read = farpoint.read(tmp_path / "a.ply")
    with pytest.raises(KeyError, match="color.*x, y, z"):
        read["color"]
    with pytest.raises(IndexError):
        read[[300]]
    with pytest.raises(TypeError, match="indexed by"):
        read[3]


def test_columns_of_a_text_are_given(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text("1,20,10,30,CP\n2,50,40,60,EP\n3,80,70,90,EP\n")
    with pytest.raises(ValueError, match="xyz="):
        farpoint.read(path)
    expected = [[10, 20, 30], [40, 50, 60], [70, 80, 90]]
    for xyz in ((3, 2, 4), ("3", "2", "4"), np.array([3, 2, 4])):
        read = farpoint.read(path, xyz=xyz)
        np.testing.assert_array_equal(read.points, expected)
        for again in (pickle.loads(pickle.dumps(read[1:])), farpoint.read(path, xyz=xyz)[1:]):
            np.testing.assert_array_equal(again.points, expected[1:])
    np.testing.assert_array_equal(farpoint.read(path, xyz=(3, 2, 4), progress=True).points, expected)
    path.write_text("ID,Easting,Northing,Height\n7,10,20,30\n")
    np.testing.assert_array_equal(farpoint.read(path).points, expected[:1])
    np.testing.assert_array_equal(
        farpoint.read(path, xyz=("northing", "easting", 4)).points, [[20, 10, 30]]
    )
    with pytest.raises(ValueError, match="'what' among 1 'ID', 2 'Easting'"):
        farpoint.read(path, xyz=("what", 2, 3))
    farpoint.write(tmp_path / "a.ply", cloud())
    with pytest.raises(ValueError, match="xyz is not for PLY"):
        farpoint.read(tmp_path / "a.ply", xyz=(1, 2, 3))
    with pytest.raises(ValueError, match="three columns"):
        farpoint.read(path, xyz=(1, 2))
    with pytest.raises(TypeError, match="xyz must be an integer"):
        farpoint.read(path, xyz=(1.5, 2, 3))


def test_pts_is_what_others_read(tmp_path):
    points = cloud(20)
    farpoint.write(tmp_path / "a.ply", points)
    read = farpoint.read(tmp_path / "a.ply")
    for name in ("red", "green", "blue"):
        read = read.with_column(name, np.arange(20, dtype=np.uint8))
    assert farpoint.write(tmp_path / "a.pts", read) == []
    lines = (tmp_path / "a.pts").read_text().splitlines()
    assert lines[0] == "20" and lines[4].split()[3:] == ["0", "3", "3", "3"]
    assert farpoint.write(tmp_path / "b.dat", read, format="pts") == []
    assert (tmp_path / "b.dat").read_bytes() == (tmp_path / "a.pts").read_bytes()
    again = farpoint.read(tmp_path / "a.pts")
    assert again.fields == ["x", "y", "z", "intensity", "red", "green", "blue"]
    assert pickle.loads(pickle.dumps(again)).fields == again.fields


def test_precision_and_scale(tmp_path):
    points = cloud(dtype=np.float64) + [600_000, 5_000_000, 100]
    with pytest.warns(UserWarning, match=r"a\.pcd: .* float64.* precision=\"single\"") as caught:
        [warning] = farpoint.write(tmp_path / "a.pcd", points)
    assert str(caught[0].message).endswith(warning) and caught[0].filename == __file__
    np.testing.assert_array_equal(farpoint.read(tmp_path / "a.pcd").points, points)
    with pytest.warns(UserWarning, match=r"s\.pcd: the offset .*precision=\"double\""):
        [warning] = farpoint.write(tmp_path / "s.pcd", points, precision="single")
    assert "offset 600000 5000000 100" in warning
    assert farpoint.read(tmp_path / "s.pcd").points.dtype == np.float32
    with pytest.warns(UserWarning, match=r"a\.bin: the offset 600000 5000000 100 "):
        farpoint.write(tmp_path / "a.bin", points)
    assert farpoint.write(tmp_path / "b.pcd", points, precision="double") == []
    np.testing.assert_array_equal(farpoint.read(tmp_path / "b.pcd").points, points)
    assert farpoint.write(tmp_path / "c.pcd", cloud(dtype=np.float64)) == []
    assert farpoint.read(tmp_path / "c.pcd").points.dtype == np.float32
    farpoint.write(tmp_path / "a.las", points, scale=0.25)
    las = farpoint.read(tmp_path / "a.las")
    assert las.scale == (0.25, 0.25, 0.25) and las.crs is None
    np.testing.assert_allclose(las.points, points, atol=0.125)
    assert farpoint.read(tmp_path / "a.pcd").scale is None
    with pytest.raises(ValueError, match="unknown precision 'half'"):
        farpoint.write(tmp_path / "a.ply", points, precision="half")


def test_warnings_of_reading_are_passed_on(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("longitude,latitude,height\n8.5,47.3,400\n8.51,47.31,410\n")
    for progress in (False, True):
        with pytest.warns(UserWarning, match=r"a\.csv: .*degrees") as caught:
            read = farpoint.read(path, progress=progress)
        assert str(caught[0].message).endswith(read.warnings[0]) and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(read)).warnings == read.warnings
        with pytest.raises(UserWarning, match="degrees"):
            farpoint.read(path)


def same_cloud(actual, expected, folder, name):
    """All that can be seen of them, and the files that are written of them."""
    assert len(actual) == len(expected) and repr(actual) == repr(expected)
    assert (actual.fields, actual.warnings) == (expected.fields, expected.warnings)
    assert actual.points.dtype == expected.points.dtype
    np.testing.assert_array_equal(actual.points, expected.points)
    for field in expected.fields:
        np.testing.assert_array_equal(actual[field], expected[field])
    for extension in (name.rpartition(".")[2], "ply", "npy"):
        try:
            farpoint.write(folder / f"wanted.{extension}", expected)
        except ValueError:  # a format that is only read
            continue
        farpoint.write(folder / f"found.{extension}", actual)
        bytes_of = [(folder / f"{which}.{extension}").read_bytes() for which in ("found", "wanted")]
        assert bytes_of[0] == bytes_of[1], extension


@pytest.mark.parametrize("name, encoding", [
    ("a.ply", "ascii"), ("a.ply", "binary"), ("a.ply", "binary_big_endian"), ("a.pcd", "ascii"),
    ("a.pcd", "binary"), ("a.pcd", "binary_compressed"), ("a.las", None), ("a.laz", None),
    ("a.npy", None), ("a.xyz", None), ("a.csv", None), ("a.bin", None), ("a.obj", None),
])
def test_clouds_can_be_pickled_and_copied(scan, tmp_path, name, encoding):
    path, rows = scan
    if name == "a.bin":
        cloud_read = farpoint.read(path)
    elif name == "a.obj":
        (tmp_path / name).write_text("".join(f"v {x} {y} {z}\n" for x, y, z, _ in rows))
        cloud_read = farpoint.read(tmp_path / name)
    else:
        made = farpoint.read(path).with_column("number", np.arange(500, dtype=np.uint16))
        farpoint.write(tmp_path / name, made, encoding=encoding)
        cloud_read = farpoint.read(tmp_path / name)
    some = cloud_read[farpoint.sample(cloud_read, 50)]
    for expected in (cloud_read, some, cloud_read[:0], some.with_column("level", np.arange(50.0))):
        if len(expected) > 0:
            same_cloud(pickle.loads(pickle.dumps(expected)), expected, tmp_path, name)
        else:
            assert len(pickle.loads(pickle.dumps(expected)).points) == 0
        for alike in (copy.copy(expected), copy.deepcopy(expected)):
            assert alike is not expected
            np.testing.assert_array_equal(alike.points, expected.points)
    twice = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(some))))
    same_cloud(twice, some, tmp_path, name)
    assert len(pickle.dumps(some)) < len(pickle.dumps(cloud_read)) / 2  # other rows do not go along


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clouds_in_memory_can_be_pickled(tmp_path, dtype):
    points = cloud(dtype=dtype)
    points[3] = np.nan  # kept as it is
    farpoint.write(tmp_path / "a.ply", points)
    read = farpoint.read(tmp_path / "a.ply")
    again = pickle.loads(pickle.dumps(read))
    np.testing.assert_array_equal(again.points, points)
    assert again.points.dtype == dtype


def test_a_cloud_of_an_array(tmp_path):
    points = np.random.default_rng(1).random((50, 3))
    cloud = farpoint.Cloud.from_points(points[:, ::-1]).with_column("number", np.arange(50, dtype=np.int16))
    points_before = points.copy()
    points[:] = 0  # copied
    farpoint.write(tmp_path / "cloud.ply", cloud)
    again = farpoint.read(tmp_path / "cloud.ply")
    np.testing.assert_array_equal(again.points, points_before[:, ::-1])
    np.testing.assert_array_equal(again["number"], np.arange(50))
    with pytest.raises(ValueError, match="shape"):
        farpoint.Cloud.from_points(np.zeros((5, 2)))
    with pytest.raises(TypeError, match="float32, float64"):
        farpoint.Cloud.from_points(np.zeros((5, 3), bool))
