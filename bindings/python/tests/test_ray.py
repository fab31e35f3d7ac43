"""``farpoint.ray`` on local workers of Ray."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import farpoint

ray = pytest.importorskip("ray", reason="Ray is not installed")
import farpoint.ray  # noqa: E402
from ray_cluster import ENVIRONMENT, LIMIT, OPTIONS, PACKAGE, cluster, limit, takes_minutes  # noqa: E402, F401

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture
def scans(tmp_path):
    folder = tmp_path / "scans"
    folder.mkdir()
    for k in range(40):
        farpoint.write(folder / f"s{k:02}.ply", np.random.default_rng(k).random((200 + k, 3), dtype=np.float32))
    return folder


def test_rows_are_those_of_processes(scans, tmp_path):
    (scans / "bad.ply").write_text("no cloud")
    nan = np.random.default_rng(1).random((9, 3), dtype=np.float32)
    nan[3] = np.nan
    farpoint.write(scans / "nan.ply", nan)
    rows = farpoint.ray.sample_files(scans, tmp_path / "a", ratio=0.25)
    other = farpoint.sample_files(scans, tmp_path / "b", ratio=0.25, workers=2)
    assert [row._replace(seconds=0) for row in rows] == [row._replace(seconds=0) for row in other]
    assert [row.error is None for row in rows] == [False] + 41 * [True]
    for row in rows[1:]:
        assert (tmp_path / "a" / row.output).read_bytes() == (tmp_path / "b" / row.output).read_bytes()
    # Processes go on with what Ray has done, and Ray with that.
    before = (tmp_path / "a/farpoint.jsonl").read_text()
    again = farpoint.sample_files(scans, tmp_path / "a", ratio=0.25, workers=1)
    assert again[1:] == rows[1:]
    more = (tmp_path / "a/farpoint.jsonl").read_text()
    assert more.startswith(before) and more.count("\n") == before.count("\n") + 1  # the bad one


def test_a_worker_that_is_killed_costs_its_file_no_more_than_a_try(scans, tmp_path):
    os.mkfifo(scans / "stuck.xyz")
    out, stop = tmp_path / "thin", threading.Event()

    def kill():
        """Kills whoever reads the pipe, as long as the run lasts."""
        while not stop.is_set():
            kill_readers(scans / "stuck.xyz")
            time.sleep(0.1)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        # Who is not killed waits for a writer: the limit ends that, with another error.
        rows = farpoint.ray.sample_files([scans, scans / "stuck.xyz"], out, ratio=0.25, time_limit=60)
    finally:
        stop.set()
        thread.join(LIMIT)
    errors = [row for row in rows if row.error]
    assert len(rows) == 41 and len(errors) == 1 and "3 times" in errors[0].error, errors
    assert errors[0].path.endswith("stuck.xyz")
    assert len(list(out.glob("*.ply"))) == 40
    lines = [json.loads(line) for line in (out / "farpoint.jsonl").read_text().splitlines()]
    assert len({line["output"] for line in lines}) == len(lines) == 41


def kill_readers(pipe):
    """Kills the processes that read a pipe, which nobody writes to, while they wait for it."""
    try:
        writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return  # nobody reads
    try:
        # Whoever waited for a writer has it open now.
        for _ in range(100):
            result = [int(name) for name in os.listdir("/proc") if name.isdigit() and has_open(name, pipe)]
            for process in result:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            if result:
                return
            time.sleep(0.02)
    finally:
        os.close(writer)


def has_open(process, pipe):
    folder = f"/proc/{process}/fd"
    try:
        opened = [os.readlink(f"{folder}/{number}") for number in os.listdir(folder)]
    except OSError:
        return False
    return str(pipe) in opened and int(process) != os.getpid()


@takes_minutes
def test_a_file_that_takes_too_long_is_cancelled(scans, tmp_path):
    os.mkfifo(scans / "stuck.xyz")
    rows = farpoint.ray.sample_files([scans, scans / "stuck.xyz"], tmp_path / "thin", ratio=0.25, time_limit=3)
    errors = [row for row in rows if row.error]
    assert len(rows) == 41 and len(errors) == 1 and "longer than 3 s" in errors[0].error


@takes_minutes
def test_a_driver_that_is_killed_is_gone_on_with(scans, tmp_path):
    program = textwrap.dedent(f"""
        import os, threading, time, farpoint.ray, ray
        ray.init(num_cpus=1, runtime_env={ENVIRONMENT!r}, **{OPTIONS!r})
        def end():
            while not os.path.exists({str(tmp_path / 'thin/farpoint.jsonl')!r}) or not os.path.getsize(
                    {str(tmp_path / 'thin/farpoint.jsonl')!r}):
                time.sleep(0.001)
            os._exit(7)
        threading.Thread(target=end, daemon=True).start()
        farpoint.ray.sample_files({str(scans)!r}, {str(tmp_path / 'thin')!r}, ratio=0.25)
    """)
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    done = subprocess.run([sys.executable, "-c", program], timeout=120, env=environment)
    assert done.returncode in (0, 7)
    rows = farpoint.ray.sample_files(scans, tmp_path / "thin", ratio=0.25)
    assert len(rows) == 40 and all(row.error is None for row in rows)
    assert (tmp_path / "thin/farpoint.jsonl").read_text().count("\n") == 40


def test_files_wait_for_memory(scans, tmp_path, monkeypatch):
    from farpoint.ray import files

    most, start = [], files._Run._start

    def counted(run, several, admitted):
        start(run, several, admitted)
        most.append(sum(task.admitted.bytes for task in run.tasks))

    monkeypatch.setattr(files._Run, "_start", counted)
    rows = farpoint.ray.sample_files(scans, tmp_path / "thin", ratio=0.25, workers=2, memory="1MiB")
    assert len(rows) == 40 and all(row.error is None for row in rows)
    # The least that a file is taken for is all there is: one at a time.
    assert set(most) == {1 << 20}
    with pytest.raises(ValueError, match="memory is '5 apples'"):
        farpoint.ray.sample_files(scans, tmp_path / "b", ratio=0.25, memory="5 apples")


def test_a_gpu_that_is_not_there(scans, tmp_path):
    with pytest.raises(ValueError, match="below 0"):
        farpoint.ray.sample_files(scans, tmp_path / "thin", ratio=0.25, num_gpus=-1)
