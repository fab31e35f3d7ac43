"""COPC files of the command, opened by software that shares no code with it: copclib, LASzip, copc and
laz-perf for JavaScript, and iTowns in a browser."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import laspy
import numpy as np
import pytest

MISSING = "copclib, laszip and scipy are not installed"
pytest.importorskip("laszip", reason=MISSING)
pytest.importorskip("copclib", reason=MISSING)
pytest.importorskip("scipy", reason=MISSING)

import command
import copc_file
import truth
import made_copc

# Far fewer than unless asked for, so that small clouds have many nodes.
NODE = 1100
SMALLEST, LARGEST = 1000, 65535
SHARED = Path(__file__).parents[5] / "shared/data/las"
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]


def surface(points, seed=0):
    """A wavy surface of a hundred meters as integers of a millimeter, denser in the middle, with spikes."""
    random = np.random.default_rng(seed)
    xy = random.normal(0, 18, (points, 2)).clip(-50, 50)
    z = 3 * np.sin(xy[:, 0] / 5) * np.cos(xy[:, 1] / 7) + random.exponential(0.3, points)
    return np.rint(np.column_stack([xy, z]) * 1000).astype(np.int64)


def cloud(path, stored, point_format, crs=truth.WKT):
    """A file of these integers whose every field has values, of any point format."""
    header = laspy.LasHeader(version="1.4", point_format=point_format)
    header.scales, header.offsets = [0.001] * 3, [682_000.0, 5_250_000.0, 400.0]
    if crs:
        header.vlrs.append(laspy.VLR("LASF_Projection", 2112, "", crs.encode() + b"\0"))
        header.global_encoding.wkt = True
    header.add_extra_dims([laspy.ExtraBytesParams("Deviation", "u2"), laspy.ExtraBytesParams("Amplitude", "f4")])
    las = laspy.LasData(header)
    las.points = laspy.ScaleAwarePointRecord.zeros(len(stored), header=header)
    random = np.random.default_rng(point_format)
    las.X, las.Y, las.Z = stored.T
    for name in set(las.point_format.dimension_names) - {"X", "Y", "Z"}:
        dimension = las.point_format.dimension_by_name(name)
        if dimension.kind == laspy.point.dims.DimensionKind.FloatingPoint:
            las[name] = random.uniform(0, 1e6, len(stored)).astype(dimension.dtype)
        elif name == "scan_angle":
            las[name] = random.integers(-30_000, 30_001, len(stored))
        elif name == "scan_angle_rank":
            las[name] = random.integers(-90, 91, len(stored))
        else:
            las[name] = random.integers(0, dimension.max + 1, len(stored))
    las.return_number = 1 + np.arange(len(stored)) % 3
    las.number_of_returns = np.full(len(stored), 3)
    las.write(str(path))
    return str(path)


def ordered(source, target, *options, by="order"):
    command.run(by, source, "-o", target, *options)
    return copc_file.read(target)


def check(copc, source, folder):
    """Everything but what depends on the size of nodes."""
    copc_file.check_levels(copc)
    copc_file.check_points(copc, source)
    if copc_file.node_modules():
        return copc_file.check_by_javascript(copc, folder)


@pytest.mark.parametrize("point_format", [0, 1, 2, 3, 6, 7, 8])
def test_point_formats(tmp_path, point_format):
    source = cloud(tmp_path / "in.laz", surface(6000, point_format), point_format)
    copc = ordered(source, tmp_path / "out.copc.laz", "--node-points", NODE)
    assert copc.header.point_format_id == {0: 6, 1: 6, 2: 7, 3: 7}.get(point_format, point_format)
    copc_file.check(copc, largest=NODE)
    assert len(copc.nodes) > 4
    check(copc, source, tmp_path)


def test_pages(tmp_path):
    """Enough nodes for several pages of hundreds, the first of which the file's record names."""
    source = cloud(tmp_path / "in.laz", surface(60_000), 6)
    copc = ordered(source, tmp_path / "out.copc.laz", "--node-points", 100)
    copc_file.check(copc, largest=100)
    report = check(copc, source, tmp_path)
    assert report is None or 2 <= len(report["pages"]) <= len(copc.nodes) / 200


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not there")
@pytest.mark.parametrize("name, share", [("lone-star.copc.laz", 1.05), ("lone-star.laz", 1.15)])
def test_bytes(tmp_path, name, share):
    """Beside a file of PDAL with the same points, and the plain LAZ of the scanner's order."""
    copc = ordered(SHARED / "lone-star.laz", tmp_path / "out.copc.laz")
    assert os.path.getsize(copc.path) <= share * os.path.getsize(SHARED / name)


def test_shuffled_rows(tmp_path):
    """With times they take no more bytes than in the order of the scanner."""
    random = np.random.default_rng(3)
    sizes = []
    for shuffled in [False, True]:
        las = laspy.read(cloud(tmp_path / "one.laz", surface(20_000), 6))
        las.user_data[:], las.intensity[:] = 0, 0
        las.gps_time = np.arange(len(las)) / 1e4
        if shuffled:
            las.points = las.points[random.permutation(len(las))]
        las.write(str(tmp_path / "in.laz"))
        copc = ordered(tmp_path / "in.laz", tmp_path / "out.copc.laz")
        copc_file.check_points(copc, tmp_path / "in.laz")
        sizes.append(os.path.getsize(copc.path))
    assert sizes[0] == pytest.approx(sizes[1], rel=1e-3), sizes


def test_duplicates(tmp_path):
    """Each place many times, more often than a node should hold points at all."""
    places = surface(1500)
    stored = np.concatenate([np.repeat(places, 3, axis=0), np.repeat(places[:1], 5000, axis=0)])
    source = cloud(tmp_path / "in.laz", stored, 7)
    copc = ordered(source, tmp_path / "out.copc.laz", "--node-points", NODE)
    copc_file.check(copc)
    check(copc, source, tmp_path)


@pytest.mark.parametrize("points", [1, 2, 500])
def test_small(tmp_path, points):
    source = cloud(tmp_path / "in.laz", surface(points), 6)
    copc = ordered(source, tmp_path / "out.copc.laz")
    copc_file.check(copc)
    assert len(copc.nodes) == 1
    check(copc, source, tmp_path)


def test_flat(tmp_path):
    """Points of a plane and of a line, whose box has no height."""
    for name, axes in [("plane", [1, 1, 0]), ("line", [0, 1, 0])]:
        stored = surface(8000) * axes
        source = cloud(tmp_path / f"{name}.laz", stored, 6)
        copc = ordered(source, tmp_path / f"{name}.copc.laz", "--node-points", NODE)
        copc_file.check(copc)
        check(copc, source, tmp_path)


def test_a_sample(tmp_path):
    """A part of the points: those that the command names."""
    source = cloud(tmp_path / "in.laz", surface(20_000), 3)
    rows = tmp_path / "rows.npy"
    options = ["-n", 9000, "--indices", rows]
    copc = ordered(source, tmp_path / "out.copc.laz", *options, by="sample")
    copc_file.check(copc)
    copc_file.check_levels(copc)
    las = laspy.read(source)
    las.points = las.points[np.sort(np.load(rows))]
    chosen = str(tmp_path / "chosen.laz")
    las.write(chosen)
    copc_file.check_points(copc, chosen)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not there")
def test_a_real_scan(tmp_path):
    source = SHARED / "lone-star.laz"
    copc = ordered(source, tmp_path / "out.copc.laz")
    copc_file.check(copc, SMALLEST, LARGEST)
    check(copc, source, tmp_path)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not there")
def test_the_checks_hold_of_another_writer(tmp_path):
    """All of them but that of the levels, which this file breaks."""
    copc = copc_file.read(SHARED / "lone-star.copc.laz")
    copc_file.check(copc)
    copc_file.check_points(copc, SHARED / "lone-star.laz")
    if copc_file.node_modules():
        copc_file.check_by_javascript(copc, tmp_path)
    with pytest.raises(AssertionError, match="level 1: 1.097"):
        copc_file.check_levels(copc)


@pytest.mark.parametrize("flaw, says", made_copc.FLAWS.items())
def test_the_checks_find_flaws(tmp_path, flaw, says):
    """Of files that copclib writes, sound and then each with something wrong."""
    sound = copc_file.read(made_copc.write(tmp_path / "sound.copc.laz"))
    copc_file.check(sound, 1, 100)
    copc_file.check_levels(sound)
    with pytest.raises(AssertionError, match=says):
        copc = copc_file.read(made_copc.write(tmp_path / "flawed.copc.laz", flaw))
        copc_file.check(copc, 1, 100)
        copc_file.check_levels(copc)
        copc_file.same_records(copc.all_records, sound.all_records, "the sound file")


def test_a_box_reads_its_nodes(tmp_path):
    """Of a file that copclib wrote, whose first page is not the root; the rows are those that laspy finds."""
    fixture = copc_file.read(made_copc.FIXTURE)
    again = tmp_path / "again.copc.laz"
    made_copc.write_fixture(again)
    copc_file.same_records(copc_file.read(again).all_records, fixture.all_records, "the committed file")
    whole = laspy.read(fixture.path)
    low, high = np.array([1000.5, 2000.5, 0.5]), np.array([1003.0, 2003.0, 3.0])
    inside = ((low <= whole.xyz) & (whole.xyz <= high)).all(axis=1)
    rows, target = tmp_path / "rows.npy", tmp_path / "out.laz"
    box = ["--box3", *low, *high]
    done = command.run("sample", fixture.path, "--ratio", 1, "--sorted", "--indices", rows, "-o", target, *box)
    assert "3 of 41 nodes are read" in done.stderr
    assert np.load(rows).tolist() == np.flatnonzero(inside).tolist()
    whole.points = whole.points[inside]
    assert (laspy.read(target).points.array == whole.points.array).all()


def browser():
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.mark.skipif(not copc_file.node_modules(), reason="itowns is not there (no npm)")
@pytest.mark.skipif(not browser(), reason="there is no chromium for iTowns")
def test_shown_by_itowns(tmp_path):
    """First what a viewer needs for the screen, then all points; nothing but parts of the file is asked for."""
    source = cloud(tmp_path / "in.laz", surface(30_000), 7)
    copc = ordered(source, tmp_path / "out.copc.laz", "--node-points", NODE)
    script = copc_file.node_modules() / "show_copc.mjs"
    shutil.copy(Path(__file__).with_name("show_copc.mjs"), script)
    picture = tmp_path / "shown.png"
    run = ["node", str(script), copc.path, str(picture), browser()]
    done = subprocess.run(run, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["complaints"] == [] and report["elsewhere"] == []
    assert report["points"] == report["count"] == copc.header.point_count
    levels = {str(level): int(copc.nodes[copc.nodes[:, 0] == level][:, 6].sum()) for level in copc.levels}
    assert report["all"] == levels
    assert report["drawn"] > 0.05 and report["colors"] > 100, "the picture is blank"
    if folder := os.environ.get("FARPOINT_PICTURES"):
        shutil.copy(picture, folder)
