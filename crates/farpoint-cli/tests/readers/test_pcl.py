"""PCL's own tools, where they are installed."""

import shutil
import subprocess

import numpy as np
import pytest

import readers

TOOL = shutil.which("pcl_convert_pcd_ascii_binary")
pytestmark = pytest.mark.skipif(
    TOOL is None, reason="PCL's tools are not installed (pcl_convert_pcd_ascii_binary)"
)
NAMES = ["las_1_4_colored", "e57_scaled", "ply_float", "text_named", "kitti", "obj", "npy_structured", "off_colored"]


@pytest.mark.parametrize("name", NAMES)
def test_pcl_reads_pcd(made, tmp_path, name):
    """PCL loads the file and writes it again; nothing of it changes."""
    _, _, out, _, target = made.output(name, "pcd")
    again = str(tmp_path / "again.pcd")
    # 1: binary.
    subprocess.run([TOOL, target, again, "1"], check=True, capture_output=True, timeout=60)
    theirs = readers.read(again)
    assert theirs.names == out.names
    for column in out.names:
        assert theirs.columns[column].dtype == out.columns[column].dtype
        np.testing.assert_array_equal(theirs.columns[column], out.columns[column], column)
