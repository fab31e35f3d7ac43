"""Tests that wait for processes end, whatever the processes do and wherever the tests are run."""

import os
import pathlib
import re
import signal
import time

import pytest
from processes import output, running


def test_what_hangs_is_killed_with_all_that_it_started():
    begin = time.monotonic()
    with pytest.raises(AssertionError, match="took more than 2 seconds, after printing '[0-9]+"):
        output("""
            import subprocess, sys, time
            inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
            print(inner.pid, flush=True)
            time.sleep(100)
        """, limit=2)
    # The inner process holds the pipe open: what waits for its end would wait for 100 seconds.
    assert time.monotonic() - begin < 50


def test_what_fails_is_told():
    with pytest.raises(AssertionError, match="ended with 3 after printing 'so far"):
        output("print('so far'); raise SystemExit(3)")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_is_heard_where_the_shell_ignores_it():
    """As in the background of a shell; the child inherits that."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        program = """
            import time
            try:
                print("ready", flush=True)
                time.sleep(100)
            except KeyboardInterrupt:
                print("stopped", flush=True)
        """
        with running(program, 60) as child:
            assert child.stdout.readline() == "ready\n"
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "stopped\n"
    finally:
        signal.signal(signal.SIGINT, before)


def test_no_test_waits_without_a_limit():
    for path in pathlib.Path(__file__).parent.glob("*.py"):
        text = path.read_text()
        if path.name not in ("processes.py", pathlib.Path(__file__).name):
            assert not re.search(r"Popen\(|os\.system\(|check_output\(|check_call\(", text), path.name
            for call in re.findall(r"subprocess\.run\((?:[^()]|\([^()]*\))*\)", text):
                assert "timeout=" in call, f"{path.name}: {call}"
