"""A folder of real files of every format, a broken one among them, by one command; every output read by
software that is not ours: rows of the input, with equal values, as far apart as the manifest says."""

import json
import shutil
from pathlib import Path

import laspy
import numpy as np
import pytest
from plyfile import PlyData
from pypcd4 import PointCloud

import command
from readers import columns_of_e57

SHARED = Path(__file__).parents[5] / "shared/data"
FILES = [
    "las/autzen-thin.las",
    "las/test_tree.las",
    "las/autzen_trim.laz",
    "stanford/bun_zipper_res3.ply",
    "gatech/horse_big_endian.ply",
    "pcl/milk.pcd",
    "lidar/velodyne_vlp16.pcd",
    "e57/bunnyDouble.e57",
    "e57/tinyCartesianFloatRgb.e57",
    "labelled/semantickitti_000750_points.npy",
    "npy/las_records_structured.npy",
    "cgal/kitten.xyz",
    "kitti/object_000008_camera_fov.bin",
    "nuscenes/n015_1532402927647951.pcd.bin",
]
SAMPLES = 64


def columns(path):
    """All columns of a file, by name."""
    kind = path.suffix
    if kind in (".las", ".laz"):
        cloud = laspy.read(path)
        found = {name: np.array(cloud[name]) for name in cloud.point_format.dimension_names}
        return dict(zip("xyz", cloud.xyz.T)) | found
    if kind == ".ply":
        rows = PlyData.read(path)["vertex"].data
        return {name: rows[name] for name in rows.dtype.names}
    if kind == ".pcd":
        cloud = PointCloud.from_path(path)
        return {name: cloud.pc_data[name] for name in cloud.fields if name != "_"}
    if kind == ".e57":
        found = columns_of_e57(path)[0]
        return dict(zip("xyz", (found[f"cartesian{axis}"] for axis in "XYZ"))) | found
    if kind == ".npy":
        rows = np.load(path)
        if rows.dtype.names:
            return {name: rows[name] for name in rows.dtype.names}
        return named(rows)
    if kind == ".bin":
        return named(np.fromfile(path, np.float32).reshape(-1, 5 if ".pcd" in path.suffixes else 4))
    return named(np.loadtxt(path, ndmin=2))


def named(rows):
    names = [*"xyz", *(f"column_{i}" for i in range(4, rows.shape[1] + 1))]
    return dict(zip(names, rows.T))


def rows_of(found, names):
    """Rows as bytes, so that NaN equals itself."""
    kinds = [(name, np.asarray(found[name]).dtype.newbyteorder("<"), np.shape(found[name])[1:]) for name in names]
    rows = np.zeros(len(found[names[0]]), kinds)
    for name in names:
        rows[name] = found[name]
    return [row.tobytes() for row in rows]


def radius(points, chosen):
    """The largest distance of a usable point from the nearest chosen one."""
    points = points[np.isfinite(points).all(axis=1)]
    nearest = np.full(len(points), np.inf)
    for place in chosen:
        nearest = np.minimum(nearest, ((points - place) ** 2).sum(axis=1))
    return np.sqrt(nearest.max())


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data are not there")
def test_a_folder_of_mixed_files(tmp_path):
    source, target = tmp_path / "scans", tmp_path / "thin"
    for file in FILES:
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SHARED / file, source / file)
    broken = source / "las/broken.laz"
    broken.write_bytes((SHARED / "las/lone-star.laz").read_bytes()[:30_000])
    args = ["sample", source, "--recursive", "--output-dir", target, "-n", SAMPLES]
    done = command.run(*args, check=False)
    assert done.status == 3, done.stderr
    assert "broken.laz: LAZ: " in done.stderr and "1 of 15 files failed" in done.stderr
    lines = [json.loads(line) for line in (target / "farpoint.jsonl").read_text().splitlines()]
    report = {str(Path(line["input"]).relative_to(source)): line for line in lines}
    assert set(report) == {*FILES, "las/broken.laz"} and "truncated" in report["las/broken.laz"]["error"]
    found = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert found == {*FILES, "farpoint.jsonl"}
    for file in FILES:
        check(source / file, target / file, report[file])
    # What is done is passed over, the broken one is tried again.
    again = command.run(*args, "--json", check=False)
    assert again.status == 3 and "1 of 15 files failed" in again.stderr


def check(before, after, report):
    whole, thin = columns(before), columns(after)
    if before.suffix != ".e57":
        assert list(whole) == list(thin), before
    names = [name for name in thin if name in whole]
    axes = ["X", "Y", "Z"] if before.suffix == ".npy" and "X" in names else ["x", "y", "z"]
    all_rows, rows = rows_of(whole, names), rows_of(thin, names)
    assert len(rows) == report["samples"] == SAMPLES and report["points"] == len(all_rows), before
    assert set(rows) <= set(all_rows), f"{before}: rows that are not in the input"
    points, chosen = (np.column_stack([found[axis] for axis in axes]).astype(float) for found in (whole, thin))
    np.testing.assert_allclose(report["covering_radius"], radius(points, chosen), rtol=1e-5)
    assert report["bytes"] == after.stat().st_size
