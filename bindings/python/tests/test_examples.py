"""The example draws what it says."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import cloud
from processes import LIMIT

import farpoint

EXAMPLE = pathlib.Path(__file__).parents[1] / "examples" / "kitti.py"


def test_kitti(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    rows = cloud(4000, 4)
    rows[:, :3] = (rows[:, :3] - 0.5) * np.array([80, 80, 4], np.float32)
    rows.tofile(tmp_path / "turn.bin")
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "turn.bin", "--thin", "thin.ply"], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, check=True, timeout=LIMIT,
    )
    assert "4,000 points" in done.stdout and "400 points kept" in done.stdout
    assert (tmp_path / "kitti.png").read_bytes().startswith(b"\x89PNG")
    thin = farpoint.read(tmp_path / "thin.ply")
    assert len(thin) == 400 and "intensity" in thin.fields
