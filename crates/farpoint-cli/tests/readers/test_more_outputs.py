"""E57, raw float32, merged tiles and packed inputs, read by software that is not ours."""

import gzip
import os
import shutil

import laspy
import numpy as np
import pye57
import pytest

import command
import inputs
from readers import columns_of_e57


E57_INPUTS = ["ply_float", "ply_double", "laz_1_2_colored", "laz_1_4", "npy_structured", "kitti", "e57_scaled"]


@pytest.mark.parametrize("name", E57_INPUTS)
def test_e57(made, tmp_path, name):
    source = made.input(name)
    target = tmp_path / "out.e57"
    command.run("convert", source.file, target)
    found, truth = columns_of_e57(target)[0], source.truth
    xyz = np.column_stack([found[f"cartesian{axis}"] for axis in "XYZ"])
    # E57 is read as a step times a whole number, which differs in the last bit.
    tolerance = 1e-9 if source.row == "E57" else 0
    np.testing.assert_allclose(xyz.astype(truth.xyz.dtype), truth.xyz, rtol=0, atol=tolerance)
    if truth.intensity is not None:
        np.testing.assert_array_equal(found["intensity"].astype(truth.intensity.dtype), truth.intensity)
    if truth.colors is not None:
        colors = np.column_stack([found[f"color{name}"] for name in ["Red", "Green", "Blue"]])
        expected = truth.colors
        if expected.dtype.kind == "f":
            expected = np.round(expected * 255.0)
        elif expected.max() > 255:
            expected = expected >> 8
        np.testing.assert_array_equal(colors, expected)
    if truth.normals is not None:
        normals = np.column_stack([found[f"nor:normal{axis}"] for axis in "XYZ"])
        np.testing.assert_array_equal(normals.astype(truth.normals.dtype), truth.normals)
    if truth.classification is not None:
        np.testing.assert_array_equal(found["farpoint:classification"], truth.classification)
    if "return_number" in truth.others:
        np.testing.assert_array_equal(found["returnIndex"] + 1, truth.others["return_number"])
        assert (found["returnCount"] == 3).all()


def test_e57_marks_points_without_a_place(tmp_path):
    points = np.array([[1, 2, 3], [np.nan, 0, 0], [4, 5, 6], [7, 8, 9]], np.float32)
    np.save(tmp_path / "a.npy", points)
    command.run("convert", tmp_path / "a.npy", tmp_path / "a.e57")
    found = columns_of_e57(tmp_path / "a.e57")[0]
    assert list(found["cartesianInvalidState"]) == [0, 2, 0, 0]
    assert list(found["cartesianX"]) == [1, 0, 4, 7]
    np.save(tmp_path / "b.npy", points[:2])
    command.run("convert", tmp_path / "b.npy", tmp_path / "b.e57")
    found = columns_of_e57(tmp_path / "b.e57")[0]
    assert list(found["cartesianInvalidState"]) == [0, 2]
    assert list(found["cartesianX"]) == [1, 0]


@pytest.mark.parametrize("name", ["ply_double", "laz_1_2_colored", "e57_scaled"])
def test_pye57_reads_e57_with_its_defaults(made, tmp_path, name):
    source = made.input(name)
    command.run("convert", source.file, tmp_path / "out.e57")
    file = pye57.E57(str(tmp_path / "out.e57"))
    fields = file.get_header(0).point_fields
    found = file.read_scan(
        0,
        intensity="intensity" in fields,
        colors="colorRed" in fields,
        row_column="rowIndex" in fields,
    )
    xyz = np.column_stack([found[f"cartesian{axis}"] for axis in "XYZ"])
    np.testing.assert_allclose(xyz, source.truth.xyz, rtol=0, atol=1e-9)


def test_e57_copied_keeps_its_columns_and_their_types(made, tmp_path):
    source = made.input("e57_scaled")
    command.run("convert", source.file, tmp_path / "out.e57")
    before, after = columns_of_e57(source.file)[0], columns_of_e57(tmp_path / "out.e57")[0]
    del after["cartesianInvalidState"]
    assert before.keys() == after.keys()
    for column, values in before.items():
        np.testing.assert_array_equal(after[column], values)
    assert os.path.getsize(tmp_path / "out.e57") <= os.path.getsize(source.file) + 1024


@pytest.mark.parametrize(("ending", "columns"), [("bin", 4), ("pcd.bin", 5)])
@pytest.mark.parametrize("name", ["ply_float", "pcd_colored", "nuscenes", "npy_float"])
def test_raw(made, tmp_path, name, ending, columns):
    source = made.input(name)
    target = tmp_path / f"out.{ending}"
    done = command.run("convert", source.file, target)
    truth = source.truth
    if source.row == "raw":
        assert target.read_bytes() == open(source.file, "rb").read()
        return
    found = np.fromfile(target, np.float32).reshape(-1, columns)
    np.testing.assert_array_equal(found[:, :3], truth.xyz)
    intensity = truth.intensity if truth.intensity is not None else np.zeros(len(found))
    np.testing.assert_array_equal(found[:, 3], intensity)
    if columns == 5:
        ring = truth.others.get("ring", np.zeros(len(found)))
        np.testing.assert_array_equal(found[:, 4], ring)
    assert ("no 'intensity'" in done.stderr) == (truth.intensity is None)
    assert ("no place for" in done.stderr) == (truth.colors is not None)


def test_raw_of_a_map_is_moved(made, tmp_path):
    done = command.run("convert", made.input("las_1_2").file, tmp_path / "a.bin")
    assert "is subtracted" in done.stderr
    found = np.fromfile(tmp_path / "a.bin", np.float32).reshape(-1, 4)[:, :3]
    truth = made.input("las_1_2").truth.xyz
    np.testing.assert_allclose(found, truth - np.floor(truth.min(axis=0)), atol=1e-3)


@pytest.mark.parametrize("name", [name for name in inputs.INPUTS if name in ["ply_float", "laz_1_4", "kitti"]])
def test_packed(made, tmp_path, name):
    source = made.input(name)
    packed = tmp_path / (source.file.rsplit("/", 1)[1] + ".gz")
    with open(source.file, "rb") as plain, gzip.open(packed, "wb") as out:
        shutil.copyfileobj(plain, out)
    for number, file in enumerate([source.file, packed]):
        command.run("convert", file, tmp_path / f"{number}.npy")
    assert (tmp_path / "0.npy").read_bytes() == (tmp_path / "1.npy").read_bytes()


def tile(path, scale, offset, point_format, count, seed):
    """A tile of a survey, by laspy; gives its coordinates as whole numbers of millimeters."""
    rng = np.random.default_rng(seed)
    header = laspy.LasHeader(version="1.4" if point_format >= 6 else "1.2", point_format=point_format)
    header.scales, header.offsets = [scale] * 3, offset
    cloud = laspy.LasData(header)
    cloud.X, cloud.Y, cloud.Z = rng.integers(0, 100_000, (3, count), dtype=np.int32)
    cloud.intensity = rng.integers(0, 65536, count)
    cloud.classification = rng.integers(0, 20, count)
    cloud.return_number, cloud.number_of_returns = np.full(count, 1), np.full(count, 2)
    if "red" in cloud.point_format.dimension_names:
        cloud.red = rng.integers(0, 65536, count)
    if "gps_time" in cloud.point_format.dimension_names:
        cloud.gps_time = rng.uniform(0, 1e6, count)
    cloud.write(path)
    steps = np.column_stack([cloud.X, cloud.Y, cloud.Z]).astype(np.int64)
    whole = steps * round(scale * 1000) + np.round(np.array(offset) * 1000).astype(np.int64)
    return cloud, whole


def test_merged_tiles(tmp_path):
    """No coordinate changes in any decimal, and each field is where it was."""
    kinds = [
        ("a.laz", 0.01, [637_000, 849_000, 0], 1, 900),
        ("b.las", 0.001, [638_000, 849_000.5, 10], 3, 1100),
        ("c.laz", 0.005, [637_500.25, 850_000, -5], 7, 1000),
    ]
    tiles = [tile(tmp_path / kind[0], *kind[1:], seed) for seed, kind in enumerate(kinds)]
    names = [tmp_path / kind[0] for kind in kinds]
    command.run("convert", *names, "--merge", "-o", tmp_path / "all.laz")
    found = laspy.read(tmp_path / "all.laz")
    assert found.header.point_format.id == 7 and list(found.header.scales) == [0.001] * 3
    steps = np.column_stack([found.X, found.Y, found.Z]).astype(np.int64)
    whole = steps + np.round(np.array(found.header.offsets) * 1000).astype(np.int64)
    np.testing.assert_array_equal(whole, np.concatenate([whole for _, whole in tiles]))
    for name in ["intensity", "classification", "return_number", "number_of_returns"]:
        expected = np.concatenate([np.array(cloud[name]) for cloud, _ in tiles])
        np.testing.assert_array_equal(np.array(found[name]), expected)
    red = np.concatenate([np.zeros(900)] + [np.array(cloud.red) for cloud, _ in tiles[1:]])
    np.testing.assert_array_equal(np.array(found.red), red)
    time = np.concatenate([np.array(cloud.gps_time) for cloud, _ in tiles])
    np.testing.assert_array_equal(np.array(found.gps_time), time)
    # The sample of the tiles is that of the one file.
    for source, rows in [(names + ["--merge"], "a.npy"), ([tmp_path / "all.laz"], "b.npy")]:
        command.run("sample", *source, "-n", "500", "--indices", tmp_path / rows)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))
