"""The command that the package contains: ``python -m farpoint``, with the outputs and exit statuses of ``farpoint``."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from importlib import metadata

import numpy as np
import pytest
from conftest import cloud
from processes import running

import farpoint

COMMAND = [sys.executable, "-m", "farpoint"]
LIMIT = 120


def run(*arguments, status=0, **options):
    """Standard output and error of a run."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT, check=False, **options
    )
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def start(*arguments, stderr=subprocess.DEVNULL, **options):
    """The command, which hears Ctrl-C, without standard input and output."""
    return running(
        [*COMMAND, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler), **options
    )


def wait_until(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "cloud.npy"
    np.save(path, cloud(5000))
    return path


def test_it_samples(points, tmp_path):
    run("sample", points, "-o", tmp_path / "small.npy", "--count", 300)
    chosen = np.load(points)[farpoint.sample(np.load(points), 300)]
    assert np.array_equal(np.load(tmp_path / "small.npy"), chosen)
    out, _ = run("info", points, "--json")
    assert json.loads(out)["points"] == 5000
    out, _ = run("--version")
    assert out.startswith(f"farpoint {farpoint.__version__}")
    assert "sample" in run("--help")[0]


def test_the_script_is_installed():
    try:
        scripts = metadata.distribution("farpoint").entry_points
    except metadata.PackageNotFoundError:
        pytest.skip("farpoint is not installed, but imported from a folder")
    found = [entry for entry in scripts if entry.group == "console_scripts" and entry.name == "farpoint"]
    if not found:
        pytest.skip("the wheel was packed without entry points")
    from farpoint.__main__ import main

    assert found[0].load() is main


def test_exit_statuses(points, tmp_path):
    _, error = run(status=2)
    assert error == "farpoint: error: no command given; 'farpoint --help' lists them\n"
    _, error = run("sample", points, "-o", tmp_path / "x.npy", "--count", 9000, status=2)
    assert error.startswith("farpoint: error: ") and "5000" in error.replace(",", "")
    assert not (tmp_path / "x.npy").exists()
    (tmp_path / "scans").mkdir()
    (tmp_path / "scans" / "good.npy").write_bytes(points.read_bytes())
    (tmp_path / "scans" / "bad.npy").write_bytes(b"no array")
    run("sample", tmp_path / "scans", "--ratio", 0.5, "--output-dir", tmp_path / "thin", status=3)
    assert [path.name for path in (tmp_path / "thin").glob("*.npy")] == ["good.npy"]


@pytest.mark.skipif(os.name != "posix", reason="needs pipes and signals")
def test_a_closed_pipe_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [*COMMAND, "completions", "bash"], stdout=closed, stderr=subprocess.PIPE, timeout=LIMIT, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="needs pipes and signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_as_they_end_the_command(tmp_path, number):
    np.save(tmp_path / "large.npy", cloud(300_000))
    call = ("sample", tmp_path / "large.npy", "-o", tmp_path / "small.npy", "--ratio", 0.9)
    with (
        open(tmp_path / "log", "wb") as log,
        start(*call, "--algorithm", "reference", "--verbose", stderr=log) as child,
    ):
        wait_until(lambda: (tmp_path / "log").stat().st_size > 0)
        child.send_signal(number)
        assert child.wait(LIMIT) == 128 + number
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.npy", "log"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_it_starts_itself_again(points, tmp_path):
    """A file that may have ended a run has a process of its own, with the same arguments and --one."""
    os.mkfifo(tmp_path / "stuck.ply")  # reading it never ends
    call = ("sample", "stuck.ply", points, "--ratio", 0.25, "--output-dir", "thin", "--jobs", 2)
    manifest = tmp_path / "thin" / "farpoint.jsonl"

    def has(text):
        return manifest.exists() and text in manifest.read_text()

    with start(*call, cwd=tmp_path):
        wait_until(lambda: has("cloud.npy"))
    commands = set()

    def given_up(child):
        for process in pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split():
            commands.add(pathlib.Path(f"/proc/{process}/cmdline").read_bytes())
            os.kill(int(process), signal.SIGKILL)
        return has("stuck")

    with start(*call, cwd=tmp_path) as child:
        wait_until(lambda: given_up(child))
        assert child.wait(LIMIT) == 3
    words = [os.fsencode(word) for word in (*COMMAND, "sample", "--one", "stuck.ply")]
    assert any(command.split(b"\0")[:6] == words for command in commands), commands
