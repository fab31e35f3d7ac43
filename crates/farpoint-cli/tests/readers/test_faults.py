"""What once was read as something else by the software that people use, each with its test."""

import os

import laspy
import numpy as np
import pytest
from plyfile import PlyData
from pypcd4 import PointCloud

import command
import readers
import sources
import truth

OF_DOUBLES = [
    "las_1_2",
    "laz_1_4",
    "las_in_degrees",
    "e57_scaled",
    "e57_of_two_scans",
    "ply_double",
    "npy_double",
    "text_bare",
    "pts",
    "obj",
    "off",
]


@pytest.mark.parametrize("name", OF_DOUBLES)
def test_pcd_of_doubles_holds_floats_on_request(made, name):
    """PCL and Open3D know x, y and z as float32 only, and read doubles as zeros."""
    source, rows, out, _, target = made.output(name, "pcd", "--precision", "single")
    fields = PointCloud.from_path(target).metadata
    assert (fields.fields[:3], fields.type[:3], fields.size[:3]) == (("x", "y", "z"), ("F",) * 3, (4,) * 3)
    moved = out.xyz + (0 if out.offset is None else out.offset)
    step = 1e-6 * np.ptp(source.truth.xyz) if source.truth.step is None else source.truth.step
    assert (np.abs(moved - source.truth.xyz[rows]) <= step).all()


@pytest.mark.parametrize("name", OF_DOUBLES)
def test_pcd_holds_doubles_on_request(made, name):
    source, rows, out, done, _ = made.output(name, "pcd", "--precision", "double")
    assert out.columns["x"].dtype == np.float64 and out.offset is None
    np.testing.assert_allclose(out.xyz, source.truth.xyz[rows], rtol=0, atol=1e-9)
    assert not any("offset" in warning for warning in done.warnings)


@pytest.mark.parametrize("extension", ["ply", "npy"])
def test_other_formats_hold_floats_on_request(made, extension):
    source, rows, out, done, _ = made.output("las_1_2", extension, "--precision", "single")
    assert out.columns["x"].dtype == np.float32
    corner = np.floor(source.truth.xyz.min(axis=0))
    np.testing.assert_allclose(out.xyz + corner, source.truth.xyz[rows], rtol=0, atol=0.001)
    assert any(f"{corner[1]:.0f}" in warning for warning in done.warnings), done.warnings


OPENED_BY_LASPY = ["e57_scaled", "e57_of_two_scans", "kitti", "nuscenes", "ply_float", "ply_ascii"]


@pytest.mark.parametrize("extension", ["las", "laz"])
@pytest.mark.parametrize("name", OPENED_BY_LASPY)
def test_las_is_opened_by_laspy(made, name, extension):
    """An extra dimension must not have the name of a field."""
    _, _, out, _, target = made.output(name, extension)
    names = list(laspy.read(target).point_format.dimension_names)
    assert len(set(names)) == len(names), names
    assert out.columns["intensity"].dtype == np.uint16


def fields_of_las():
    """Every name that laspy gives to a part of a record."""
    names = set()
    for point_format in [6, 7, 8]:
        names |= set(laspy.PointFormat(point_format).dimension_names)
    return sorted(names - {"X", "Y", "Z", "red", "green", "blue", "nir", "gps_time", "intensity"})


@pytest.mark.parametrize("extension", ["las", "laz"])
def test_values_that_fit_no_field_of_las_get_another_name(tmp_path, extension):
    values = truth.random().normal(0, 1e6, truth.POINTS)
    names = fields_of_las()
    columns = sources.axes(truth.local("f8"), "f8") | {name: values for name in names}
    np.save(tmp_path / "in.npy", sources.record(columns))
    target = str(tmp_path / f"out.{extension}")
    rows, _ = command.convert(tmp_path / "in.npy", target)
    out = readers.read(target)
    for name in names:
        np.testing.assert_array_equal(out.columns[f"original_{name}"], values[rows])


def test_values_that_fit_stand_in_the_fields_of_las(tmp_path):
    columns = sources.axes(truth.local("f8"), "f8")
    expected = {"return_number": 3, "number_of_returns": 5, "user_data": 200, "point_source_id": 999}
    expected |= {"scan_angle": -2000, "synthetic": 1, "edge_of_flight_line": 1, "classification": 40}
    columns |= {name: np.full(truth.POINTS, value, "f8") for name, value in expected.items()}
    np.save(tmp_path / "in.npy", sources.record(columns))
    command.convert(tmp_path / "in.npy", str(tmp_path / "out.laz"))
    cloud = laspy.read(tmp_path / "out.laz")
    assert list(cloud.point_format.extra_dimension_names) == []
    for name, value in expected.items():
        assert (np.array(cloud[name]) == value).all(), name


def test_sixteen_bits_of_color_are_not_black_in_ply(made):
    source, rows, _, done, target = made.output("las_1_4_colored", "ply")
    vertices = PlyData.read(target)["vertex"]
    for i, name in enumerate(["red", "green", "blue"]):
        assert vertices[name].dtype == np.uint8
        np.testing.assert_array_equal(vertices[name], source.truth.colors[rows, i] >> 8)
    assert any("color" in warning for warning in done.warnings)


def test_sixteen_bits_of_color_are_packed_in_pcd(made):
    source, rows, _, _, target = made.output("laz_1_2_colored", "pcd")
    cloud = PointCloud.from_path(target)
    assert not {"red", "green", "blue"} & set(cloud.fields)
    colors = PointCloud.decode_rgb(cloud.pc_data["rgb"])
    np.testing.assert_array_equal(colors, source.truth.colors[rows] >> 8)


def test_small_colors_of_las_stay_as_they_are(made):
    source, rows, out, done, _ = made.output("las_with_small_colors", "ply")
    np.testing.assert_array_equal(out.three(["red", "green", "blue"]), source.truth.colors[rows])
    assert not any("color" in warning for warning in done.warnings)


@pytest.mark.parametrize("name", ["ply_float", "las_1_4_colored", "e57_scaled", "pts", "obj"])
def test_pts_has_seven_columns(made, name):
    _, _, _, _, target = made.output(name, "pts")
    with open(target) as file:
        lines = file.read().splitlines()
    assert lines[0] == str(truth.POINTS)
    assert {len(line.split()) for line in lines[1:]} == {7}
    colors = {word for line in lines[1:] for word in line.split()[4:]}
    assert all(word.isdecimal() and int(word) < 256 for word in colors)


@pytest.mark.parametrize(("name", "columns"), [("npy_double", 3), ("las_1_2", 4), ("kitti", 4)])
def test_pts_has_the_columns_that_there_are(made, name, columns):
    """Without colors `x y z intensity`, without an intensity `x y z`."""
    _, _, _, _, target = made.output(name, "pts")
    with open(target) as file:
        assert {len(line.split()) for line in file.read().splitlines()[1:]} == {columns}


@pytest.mark.parametrize("name", ["text_bare", "obj", "e57_scaled", "pts"])
def test_a_las_file_has_the_step_of_its_input(made, name):
    source, _, out, _, _ = made.output(name, "las")
    np.testing.assert_allclose(out.scale, source.truth.step, rtol=1e-9)


def test_a_las_file_keeps_what_float32_has_on_each_axis(made):
    """Northings have fewer digits than heights, which must not lose theirs."""
    source, rows, out, _, _ = made.output("npy_float_projected", "laz")
    np.testing.assert_array_equal(out.xyz.astype(np.float32), source.truth.xyz[rows])


def test_nothing_is_said_where_floats_have_few_decimals(tmp_path):
    """A float32 is not 0.001 either, but the one closest to it."""
    xyz = (truth.random().integers(-80_000, 80_000, (truth.POINTS, 3)) / 1000).astype(np.float32)
    np.save(tmp_path / "in.npy", xyz)
    rows, done = command.convert(tmp_path / "in.npy", str(tmp_path / "out.las"))
    out = readers.read(str(tmp_path / "out.las"))
    np.testing.assert_allclose(out.scale, 0.001, rtol=1e-9)
    np.testing.assert_array_equal(out.xyz.astype(np.float32), xyz[rows])
    assert done.warnings == []


def test_a_las_file_is_no_larger_than_its_input_needs(tmp_path):
    """The same points as laspy writes them with steps of a millimeter."""
    low = np.array([682_345.0, 5_250_123.0, 401.0])
    xyz = low + truth.random().integers(0, 100_000, (20_000, 3)) / 1000
    np.savetxt(tmp_path / "in.xyz", xyz, "%.3f")
    command.run(
        "sample", tmp_path / "in.xyz", "-o", tmp_path / "out.laz", "-n", 20_000, "--algorithm", "random"
    )
    rows = laspy.read(tmp_path / "out.laz")
    header = laspy.LasHeader(version="1.4", point_format=6)
    header.scales, header.offsets = [0.001] * 3, np.floor(low)
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = np.array(rows.xyz).T
    cloud.write(tmp_path / "theirs.laz")
    ours, theirs = (os.path.getsize(tmp_path / name) for name in ["out.laz", "theirs.laz"])
    assert ours < 1.05 * theirs


@pytest.mark.parametrize(("scale", "step"), [("0.01", 0.01), ("1mm", 0.001), ("0.25", 0.25)])
def test_the_step_of_las_can_be_chosen(made, scale, step):
    source, rows, out, _, _ = made.output("npy_double", "laz", "--scale", scale)
    np.testing.assert_allclose(out.scale, step, rtol=1e-9)
    np.testing.assert_allclose(out.xyz, source.truth.xyz[rows], rtol=0, atol=step / 2 + 1e-9)


def test_scans_of_e57_can_be_told_apart(made):
    source, rows, out, _, _ = made.output("e57_of_two_scans", "laz")
    np.testing.assert_array_equal(out.columns["point_source_id"], source.truth.others["scan"][rows])


def test_columns_of_e57_come_in_the_order_of_the_file(made):
    _, _, out, _, _ = made.output("e57_of_two_scans", "csv")
    assert out.names == ["x", "y", "z", "intensity", "red", "green", "blue", "scan"]


def surveyed_lines(tmp_path, head, order):
    """A file of numbered points, with their coordinates in this order."""
    xyz = truth.surveyed()
    columns = [[str(i + 1) for i in range(truth.POINTS)]]
    columns += [sources.words(xyz[:, axis], 3) for axis in order]
    sources.lines(tmp_path / "survey.csv", zip(*columns), ",", head)
    return xyz


@pytest.mark.parametrize("extension", ["laz", "ply", "pcd", "npy"])
@pytest.mark.parametrize(
    ("head", "order"),
    [("ID,Easting,Northing,Height\n", [0, 1, 2]), ("Point,North,East,Elevation\n", [1, 0, 2])],
)
def test_columns_of_surveyors_are_found_by_their_names(tmp_path, head, order, extension):
    xyz = surveyed_lines(tmp_path, head, order)
    target = str(tmp_path / f"out.{extension}")
    rows, _ = command.convert(tmp_path / "survey.csv", target)
    out = readers.read(target)
    moved = out.xyz + (0 if out.offset is None else out.offset)
    np.testing.assert_allclose(moved, xyz[rows], rtol=0, atol=1e-5)
    name = head.split(",")[0]
    np.testing.assert_array_equal(out.columns[name], rows + 1)


def test_numbered_points_without_a_header_are_not_guessed(tmp_path):
    xyz = surveyed_lines(tmp_path, "", [1, 0, 2])
    target = str(tmp_path / "out.laz")
    refused = command.run("sample", tmp_path / "survey.csv", "-o", target, "-n", 3, check=False)
    assert refused.status == 2 and "--xyz" in refused.stderr
    assert not (tmp_path / "out.laz").exists()
    rows, _ = command.convert(tmp_path / "survey.csv", target, "--xyz", "3,2,4")
    np.testing.assert_allclose(readers.read(target).xyz, xyz[rows], rtol=0, atol=1e-6)


def test_raw_rows_of_another_length_are_not_guessed(tmp_path):
    """A room with colors, six values a row, of a size that four values a row would fit."""
    room = np.column_stack(
        [
            truth.random().uniform([0, 0, 0], [8, 6, 2.5], (6000, 3)),
            truth.random().integers(0, 256, (6000, 3)),
        ]
    ).astype(np.float32)
    room.tofile(tmp_path / "room.bin")
    target = str(tmp_path / "out.ply")
    refused = command.run("sample", tmp_path / "room.bin", "-o", target, "-n", 3, check=False)
    assert refused.status == 2 and "--columns 6" in refused.stderr
    rows = str(tmp_path / "rows.npy")
    command.run("sample", tmp_path / "room.bin", "-o", target, "-n", 90, "--columns", 6, "--indices", rows)
    np.testing.assert_array_equal(readers.read(target).xyz, room[np.load(rows), :3])


NAMES = {
    "classification": ["classification", "Classification", "class", "scalar_Classification"],
    "gps_time": ["gps_time", "GpsTime", "scalar_GpsTime"],
    "intensity": ["intensity", "Intensity", "scalar_Intensity"],
    "nx": ["nx", "normal_x", "NormalX"],
}


@pytest.mark.parametrize(("expected", "name"), [(n, name) for n, names in NAMES.items() for name in names])
def test_an_attribute_has_one_name_in_every_format(tmp_path, expected, name):
    values = truth.times() if expected == "gps_time" else truth.classes().astype("f8")
    np.save(tmp_path / "in.npy", sources.record(sources.axes(truth.local("f8"), "f8") | {name: values}))
    special = {("nx", "pcd"): "normal_x", ("nx", "laz"): "NormalX"}
    for extension in ["ply", "pcd", "laz", "csv"]:
        target = str(tmp_path / f"out.{extension}")
        rows, _ = command.convert(tmp_path / "in.npy", target)
        found = readers.read(target).columns[special.get((expected, extension), expected)]
        np.testing.assert_array_equal(found, values[rows])


def test_fields_that_las_has_in_another_form(tmp_path):
    degrees = truth.random().integers(-90, 91, truth.POINTS).astype(np.int8)
    index = (np.arange(truth.POINTS) % 5).astype(np.uint8)
    columns = sources.axes(truth.local("f8"), "f8") | {"scan_angle_rank": degrees, "return_index": index}
    np.save(tmp_path / "in.npy", sources.record(columns))
    rows, _ = command.convert(tmp_path / "in.npy", str(tmp_path / "out.laz"))
    cloud = laspy.read(tmp_path / "out.laz")
    np.testing.assert_allclose(np.array(cloud.scan_angle) * 0.006, degrees[rows], rtol=0, atol=0.003)
    np.testing.assert_array_equal(np.array(cloud.return_number), index[rows] + 1)


@pytest.mark.parametrize("kind", ["u1", "i4", "f8"])
def test_pcd_has_the_types_that_pcl_matches(tmp_path, kind):
    values = truth.classes().astype(kind)
    columns = sources.axes(truth.local("f8"), "f8") | {
        name: values for name in ["label", "curvature", "intensity", "nx", "ny", "nz"]
    }
    np.save(tmp_path / "in.npy", sources.record(columns))
    rows, _ = command.convert(tmp_path / "in.npy", str(tmp_path / "out.pcd"))
    out = readers.read(str(tmp_path / "out.pcd"))
    assert out.columns.pop("label").dtype == np.uint32
    assert {column.dtype for column in out.columns.values()} == {np.dtype("f4")}
    np.testing.assert_array_equal(out.columns["curvature"], values[rows].astype("f4"))


COPIES = {
    "ply": ["ply_float", "ply_double", "ply_ascii", "ply_big_endian"],
    "pcd": ["pcd_colored", "pcd_double"],
    "las": ["las_1_2", "las_with_small_colors", "las_1_4_colored", "las_in_degrees", "laz_1_4"],
    "laz": ["laz_1_2_colored", "laz_1_4", "las_1_2", "las_1_4_colored"],
    "npy": ["npy_float", "npy_double", "npy_structured"],
}


@pytest.mark.parametrize(("name", "extension"), [(name, e) for e, names in COPIES.items() for name in names])
def test_a_copy_keeps_every_attribute_bit_for_bit(made, name, extension):
    source, rows, out, done, _ = made.output(name, extension)
    before = readers.read(source.file)
    assert out.names == before.names and out.crs == before.crs
    for column in before.names:
        kept, stored = out.columns[column], before.columns[column][rows]
        assert kept.dtype == stored.dtype
        assert kept.tobytes() == stored.tobytes(), column
    assert len(done.warnings) == len(source.says)


ENCODINGS = {
    "ply": ["ascii", "binary", "binary-big-endian"],
    "pcd": ["ascii", "binary", "compressed"],
}


@pytest.mark.parametrize(
    ("extension", "encoding"), [(e, encoding) for e, all in ENCODINGS.items() for encoding in all]
)
@pytest.mark.parametrize("name", ["ply_float", "ply_ascii", "pcd_colored", "las_1_4_colored"])
def test_every_encoding_is_read_alike(made, name, extension, encoding):
    _, _, plain, _, _ = made.output(name, extension)
    _, _, out, _, target = made.output(name, extension, "--format", f"{extension}:{encoding}")
    with open(target, "rb") as file:
        assert encoding.removeprefix("binary-").replace("-", "_").encode() in file.read(1000)
    assert out.names == plain.names
    # Colors are compared by channel: as text they are whole numbers, whatever they were.
    for column in set(plain.names) - {"rgb"}:
        assert out.columns[column].dtype.newbyteorder("=") == plain.columns[column].dtype
        np.testing.assert_array_equal(out.columns[column], plain.columns[column], column)


@pytest.mark.parametrize("extension", ["ply", "pcd", "las", "laz", "npy", "xyz", "csv"])
def test_the_spacing_of_an_ordered_cloud_is_read(made, tmp_path, extension):
    source = made.input("ply_double")
    target = str(tmp_path / f"ordered.{extension}")
    command.run("order", source.file, "-o", target)
    spacing = readers.read(target).columns["spacing"]
    assert np.isinf(spacing[0]) and (np.diff(spacing[1:]) <= 0).all() and spacing[-1] > 0


def test_an_ordered_cloud_as_pts_says_what_is_left_out(made, tmp_path):
    target = str(tmp_path / "ordered.pts")
    done = command.run("order", made.input("npy_float").file, "-o", target)
    assert readers.read(target).names == ["x", "y", "z"]
    assert any("spacing" in warning for warning in done.warnings)
