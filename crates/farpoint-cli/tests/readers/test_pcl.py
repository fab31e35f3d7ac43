"""PCL's own tools, where they are installed."""

import shutil
import subprocess

import numpy as np
import pytest
from plyfile import PlyData

TOOL = shutil.which("pcl_pcd2ply")
pytestmark = pytest.mark.skipif(TOOL is None, reason="PCL's tools are not installed (pcl_pcd2ply)")


@pytest.mark.parametrize("name", ["las_1_4_colored", "e57_scaled", "ply_float", "text_named", "kitti"])
def test_pcl_reads_pcd(made, tmp_path, name):
    source, rows, out, _, target = made.output(name, "pcd")
    ply = tmp_path / "out.ply"
    subprocess.run([TOOL, "-format", "1", target, ply], check=True, capture_output=True, timeout=60)
    vertices = PlyData.read(str(ply))["vertex"].data
    points = np.column_stack([vertices[axis] for axis in "xyz"])
    assert points.dtype == np.float32
    np.testing.assert_array_equal(points, out.xyz.astype(np.float32))
    if source.truth.intensity is not None:
        np.testing.assert_array_equal(vertices["intensity"], source.truth.intensity[rows].astype("f4"))
