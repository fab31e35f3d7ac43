"""Open3D, the reader that showed most of the faults, where it is installed."""

import numpy as np
import pytest

from test_faults import OF_DOUBLES

open3d = pytest.importorskip(
    "open3d", reason="Open3D is not installed (FARPOINT_OPEN3D=1 installs it, 600 MB)"
)

COLORED = ["ply_float", "las_1_4_colored", "las_with_small_colors", "e57_scaled", "obj", "off_colored"]


def eight_bits(colors):
    if colors.dtype.kind == "f":
        return np.floor(colors * 255 + 0.5)
    return colors >> 8 if colors.max() > 255 else colors


@pytest.mark.parametrize("extension", ["pcd", "ply"])
@pytest.mark.parametrize("name", [*OF_DOUBLES, "ply_float", "pcd_colored", "kitti", "npz"])
def test_open3d_reads_coordinates(made, name, extension):
    # It reads float64 in PCD as 0.
    options = ("--precision", "single") if extension == "pcd" else ()
    source, rows, out, _, target = made.output(name, extension, *options)
    points = np.asarray(open3d.io.read_point_cloud(target).points)
    moved = points + (0 if out.offset is None else out.offset)
    step = 1e-6 * np.ptp(source.truth.xyz) if source.truth.step is None else source.truth.step
    assert points.shape == source.truth.xyz.shape
    assert (np.abs(moved - source.truth.xyz[rows]) <= step).all()


@pytest.mark.parametrize("extension", ["pcd", "ply", "pts"])
@pytest.mark.parametrize("name", COLORED)
def test_open3d_reads_colors(made, name, extension):
    source, rows, _, _, target = made.output(name, extension)
    colors = np.asarray(open3d.io.read_point_cloud(target).colors) * 255
    np.testing.assert_allclose(colors, eight_bits(source.truth.colors[rows]), atol=1e-3)


@pytest.mark.parametrize("extension", ["pcd", "ply"])
@pytest.mark.parametrize("name", ["ply_float", "pcd_colored", "las_1_4_colored", "npy_structured"])
def test_open3d_reads_normals(made, name, extension):
    source, rows, _, _, target = made.output(name, extension)
    normals = np.asarray(open3d.io.read_point_cloud(target).normals)
    np.testing.assert_allclose(normals, source.truth.normals[rows], atol=1e-6)
