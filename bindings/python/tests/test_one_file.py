"""``sample_file``: in memory, and through the disk with the same result."""

import os
import signal
import time

import numpy as np
import pytest
from processes import running

import farpoint


@pytest.fixture
def scan(tmp_path):
    points = np.random.default_rng(5).random((30_000, 3), dtype=np.float32)
    points[[7, 20_000]] = np.nan
    farpoint.write(tmp_path / "scan.ply", points)
    return tmp_path / "scan.ply"


def test_through_the_disk_and_in_memory(scan, tmp_path):
    points = farpoint.read(scan).points
    truth = farpoint.sample(points, ratio=0.25, non_finite="skip", return_distances=True)
    options = {"ratio": 0.25, "start": int(truth.indices[0])}
    for name, how in [("a", {}), ("b", {"memory": "64MiB"}), ("c", {"memory": 64 << 20, "threads": 1})]:
        row = farpoint.sample_file(scan, tmp_path / f"{name}.ply", **options, **how)
        assert (row.path, row.output, row.error) == (str(scan), str(tmp_path / f"{name}.ply"), None)
        assert (row.points, row.samples) == (len(points), len(truth.indices))
        assert row.radius == float(truth.covering_radius) and row.seconds > 0
        np.testing.assert_array_equal(farpoint.read(row.output).points, points[truth.indices])
    assert (tmp_path / "a.ply").read_bytes() == (tmp_path / "b.ply").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.ply", "b.ply", "c.ply", "scan.ply"]


def test_what_can_not_be(scan, tmp_path):
    out = tmp_path / "out.ply"
    for options, words in [
        ({}, "count, ratio and spacing"), ({"count": 40_000, "memory": "64MiB"}, "40000"),
        ({"ratio": 0.5, "spool": tmp_path / "s"}, "pass memory"), ({"ratio": 0.5, "memory": "1 apple"}, "1 apple"),
        ({"ratio": 0.5, "memory": "64MiB", "resume": True}, "spool"), ({"ratio": 0.5, "memory": 0}, "memory is 0"),
        ({"ratio": 0.5, "memory": True}, "memory is True"), ({"ratio": 0.5, "threads": 0}, "threads is 0"),
        ({"ratio": 0.5, "memory": "64MiB", "algorithm": "tree"}, "for clouds in memory"),
        ({"count": 40_000}, "40000"),
    ]:
        with pytest.raises(ValueError, match=words):
            farpoint.sample_file(scan, out, **options)
    with pytest.raises(FileNotFoundError):
        farpoint.sample_file(tmp_path / "none.ply", out, ratio=0.5)
    with pytest.raises(ValueError, match="is the input"):
        farpoint.sample_file(scan, scan, ratio=0.5, memory="64MiB")
    (tmp_path / "bad.ply").write_text("no cloud")
    for memory in (None, "64MiB"):
        with pytest.raises(ValueError, match=r"bad\.ply"):
            farpoint.sample_file(tmp_path / "bad.ply", out, ratio=0.5, memory=memory)
    assert not out.exists()


def test_a_spool_is_not_taken_for_another_run(scan, tmp_path):
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "cloud").write_bytes(b"something else")
    with pytest.raises(ValueError, match="spool"):
        farpoint.sample_file(scan, tmp_path / "out.ply", ratio=0.5, memory="64MiB", spool=spool)
    row = farpoint.sample_file(scan, tmp_path / "out.ply", ratio=0.5, memory="64MiB", spool=tmp_path / "new")
    assert row.samples == 14_999


PROGRAM = """
    import farpoint
    print("ready", flush=True)
    try:
        farpoint.sample_file({scan!r}, {out!r}, ratio=0.25, memory="64MiB", spool={spool!r})
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_leaves_a_spool_that_is_gone_on_with(tmp_path):
    points = np.random.default_rng(1).random((400_000, 3), dtype=np.float32)
    farpoint.write(tmp_path / "scan.ply", points)
    scan, out, spool = (str(tmp_path / name) for name in ("scan.ply", "thin.ply", "spool"))
    with running(PROGRAM.format(scan=scan, out=out, spool=spool)) as child:
        assert child.stdout.readline() == "ready\n"
        begin = time.monotonic()
        while not os.path.exists(os.path.join(spool, "cloud")):
            assert time.monotonic() - begin < 100
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() in ("stopped\n", "")
    if not os.path.exists(out):
        farpoint.sample_file(scan, out, ratio=0.25, memory="64MiB", spool=spool, resume=True)
    result = farpoint.read(out).points
    np.testing.assert_array_equal(result, points[farpoint.sample(points, ratio=0.25)])
