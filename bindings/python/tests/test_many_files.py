"""``sample_files``: rows, manifest, going on, processes that are killed or take too long."""

import json
import os
import pathlib
import signal
import time

import numpy as np
import pytest
from processes import running

import farpoint
from farpoint import _file_workers, many_files

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


@pytest.fixture
def scans(tmp_path):
    """Five clouds, some in a folder below."""
    for k in range(5):
        place = tmp_path / "scans" / ("deep" if k % 2 else ".")
        place.mkdir(parents=True, exist_ok=True)
        points = np.random.default_rng(k).random((100 + k, 3), dtype=np.float32)
        farpoint.write(place / f"s{k}.ply", points)
    return tmp_path / "scans"


def manifest(out):
    return [json.loads(line) for line in (out / "farpoint.jsonl").read_text().splitlines()]


def outputs(out):
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*.ply")}


def test_rows_and_outputs(scans, tmp_path):
    out = tmp_path / "thin"
    rows = farpoint.sample_files(scans, out, ratio=0.25, workers=2, recursive=True)
    assert [pathlib.Path(row.path).name for row in rows] == ["s1.ply", "s3.ply", "s0.ply", "s2.ply", "s4.ply"]
    assert [row.output for row in rows] == ["deep/s1.ply", "deep/s3.ply", "s0.ply", "s2.ply", "s4.ply"]
    for row in rows:
        points = farpoint.read(row.path).points
        sample = farpoint.sample(points, ratio=0.25, return_distances=True)
        np.testing.assert_array_equal(farpoint.read(out / row.output).points, points[sample.indices])
        assert (row.points, row.samples) == (len(points), len(sample.indices))
        assert row.radius == float(sample.covering_radius) and row.seconds > 0 and row.error is None
    assert len(manifest(out)) == 5
    assert not [p for p in out.rglob("*") if p.name.startswith(".")]


def test_what_is_done_is_passed_over(scans, tmp_path):
    out = tmp_path / "thin"
    call = {"ratio": 0.25, "workers": 1, "recursive": True}
    first = farpoint.sample_files([scans], out, **call)
    assert farpoint.sample_files([scans], out, **call) == first
    assert len(manifest(out)) == 5
    assert farpoint.sample_files([scans], out, algorithm="tree", **call) == first
    (out / "s0.ply").unlink()
    farpoint.sample_files([scans], out, **call)
    assert len(manifest(out)) == 6
    farpoint.sample_files([scans], out, force=True, **call)
    farpoint.sample_files([scans], out, **{**call, "ratio": 0.5})
    assert len(manifest(out)) == 16


def test_a_bad_file_is_an_error_in_its_row(scans, tmp_path):
    (scans / "bad.ply").write_text("no cloud")
    nan = np.full((4, 3), np.nan, np.float32)
    farpoint.write(scans / "nan.ply", nan)
    rows = farpoint.sample_files(scans, tmp_path / "thin", ratio=0.25, workers=2)
    assert [row.error is None for row in rows] == [False, False, True, True, True]
    assert "bad.ply" in rows[0].error and "none of the 4 rows" in rows[1].error
    assert rows[0].points is rows[0].samples is rows[0].radius is None
    # Both are tried again.
    farpoint.write(scans / "bad.ply", np.eye(3, dtype=np.float32))
    again = farpoint.sample_files(scans, tmp_path / "thin", ratio=0.25, workers=1)
    assert [row.error is None for row in again] == [True, False, True, True, True]


def test_options(scans, tmp_path):
    rows = farpoint.sample_files(
        [scans / "s0.ply", scans / "deep"], tmp_path / "thin", count=7, to="xyz", start=3, workers=1
    )
    assert [row.output for row in rows] == ["s1.xyz", "s3.xyz", "s0.xyz"]
    points = farpoint.read(scans / "s0.ply").points
    chosen = farpoint.sample(points, 7, start=3)
    np.testing.assert_allclose(farpoint.read(tmp_path / "thin/s0.xyz").points, points[chosen])
    rows = farpoint.sample_files(scans, tmp_path / "b", spacing="20cm", workers=1)
    assert all(row.radius <= 0.2 for row in rows)


def test_what_can_not_be_is_refused_before_any_work(scans, tmp_path):
    out = tmp_path / "thin"
    for options, words in [
        ({}, "count, ratio and spacing"), ({"ratio": 0.5, "count": 3}, "one of"), ({"ratio": 2.0}, "2"),
        ({"spacing": "5 furlongs"}, "furlongs"), ({"ratio": 0.5, "to": "docx"}, "docx"),
        ({"ratio": 0.5, "algorithm": "fast"}, "fast"), ({"ratio": 0.5, "workers": 0}, "workers"),
        ({"ratio": 0.5, "time_limit": -1}, "time_limit"), ({"ratio": 0.5, "start": 1, "seed": 2}, "seed"),
    ]:
        with pytest.raises(ValueError, match=words):
            farpoint.sample_files(scans, out, **options)
    with pytest.raises(ValueError, match=r"no-such-\*"):
        farpoint.sample_files(tmp_path / "no-such-*.ply", out, ratio=0.5)
    with pytest.raises(ValueError, match="folder of the outputs"):
        farpoint.sample_files(scans, scans, ratio=0.5)
    assert not out.exists()


def test_fail_fast(scans, tmp_path):
    (scans / "bad.ply").write_bytes(b"x" * (1 << 20))  # the largest comes first
    rows = farpoint.sample_files(scans, tmp_path / "thin", ratio=0.5, workers=1, fail_fast=True)
    assert [row.error is None for row in rows] == [False]


@POSIX
def test_a_file_that_takes_too_long_is_killed(scans, tmp_path):
    os.mkfifo(scans / "stuck.xyz")  # reading it never ends
    begin = time.monotonic()
    rows = farpoint.sample_files(
        [scans, scans / "stuck.xyz"], tmp_path / "thin", ratio=0.25, workers=2, time_limit=2
    )
    assert time.monotonic() - begin < 100
    errors = [row.error for row in rows if row.error]
    assert len(rows) == 4 and len(errors) == 1 and "longer than 2 s" in errors[0]


@POSIX
def test_a_file_that_ends_its_process_three_times_is_an_error(scans, tmp_path, monkeypatch):
    os.mkfifo(scans / "deadly.xyz")
    ask, started = _file_workers.Worker.ask, []

    def killed_at_it(self, path, output):
        if "deadly" in path:
            process = self._process or self._started()
            self._process = process
            started.append(process.pid)
            os.kill(process.pid, signal.SIGKILL)
        return ask(self, path, output)

    monkeypatch.setattr(_file_workers.Worker, "ask", killed_at_it)
    files = [scans, scans / "deadly.xyz"]
    rows = farpoint.sample_files(files, tmp_path / "thin", ratio=0.25, workers=2)
    errors = [row.error for row in rows if row.error]
    assert len(rows) == 4 and len(set(started)) == 3
    assert len(errors) == 1 and "3 times" in errors[0] and "force=True" in errors[0]
    # It is not tried again.
    assert farpoint.sample_files(files, tmp_path / "thin", ratio=0.25, workers=1) == rows
    assert len(started) == 3


PROGRAM = """
    import sys, farpoint
    print("ready", flush=True)
    try:
        farpoint.sample_files({scans!r}, {out!r}, ratio=0.25, workers=2)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


@POSIX
def test_ctrl_c_ends_it_and_the_next_call_goes_on(tmp_path):
    scans, out = tmp_path / "scans", tmp_path / "thin"
    scans.mkdir()
    points = np.random.default_rng(1).random((3000, 3), dtype=np.float32)
    for k in range(200):
        farpoint.write(scans / f"s{k}.ply", points[: 2000 + k])
    with running(PROGRAM.format(scans=str(scans), out=str(out))) as child:
        assert child.stdout.readline() == "ready\n"
        begin = time.monotonic()
        while not (out / "farpoint.jsonl").exists() or len(manifest_lines(out)) < 3:
            assert time.monotonic() - begin < 100
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() in ("stopped\n", "")
    done = len(manifest_lines(out))
    assert not list(out.glob(".farpoint-*"))
    rows = farpoint.sample_files(scans, out, ratio=0.25, workers=2)
    assert len(rows) == 200 and all(row.error is None for row in rows)
    assert len(manifest_lines(out)) == 200 >= done and len(outputs(out)) == 200


def manifest_lines(out):
    return (out / "farpoint.jsonl").read_bytes().split(b"\n")[:-1]


def test_a_progress_bar(scans, tmp_path, capsys):
    farpoint.sample_files(scans, tmp_path / "thin", ratio=0.25, workers=1, progress=True)
    assert "sampling" in capsys.readouterr().err


def test_files_wait_for_memory():
    from farpoint._admission import Admission, PendingFile

    files = [PendingFile(k, "", "", False, size) for k, size in enumerate([9, 1, 5, 3, 3])]
    wait = Admission(files, 10)
    first = wait.take()
    assert first.bytes == 9 and wait.take().bytes == 1 and wait.take() is None
    wait.release(first)
    assert wait.take().bytes == 5 and wait.take().bytes == 3 and wait.take() is None
    wait.requeue([files[0]])
    assert [file.bytes for file in wait.waiting] == [3, 9]
    # Larger than all there is: alone.
    alone = Admission(files, 2)
    assert alone.take().bytes == 9 and alone.take() is None
    assert [file.bytes for file in Admission(files, None).take_smaller(files[2], 3)] == [5, 3, 3]


def test_memory_limits_what_goes_side_by_side(scans, tmp_path, monkeypatch):
    running, maxima, sample = [], [], many_files._sample_with_retries

    def counted(*arguments):
        running.append(1)
        maxima.append(len(running))
        try:
            time.sleep(0.05)
            return sample(*arguments)
        finally:
            running.pop()

    monkeypatch.setattr(many_files, "_sample_with_retries", counted)
    for memory, together in [("1MiB", 1), (None, 2)]:
        maxima.clear()
        rows = farpoint.sample_files(scans, tmp_path / str(memory), ratio=0.25, workers=2, recursive=True, memory=memory)
        assert len(rows) == 5 and max(maxima) == together
