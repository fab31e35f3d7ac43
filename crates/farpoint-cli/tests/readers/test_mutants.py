"""A minute of mutants; `mutate.py` runs longer by hand."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

SECONDS = 60


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_mutants_are_refused_or_read_as_others_read_them(tmp_path):
    # A process of its own: its memory is limited, and this one has much.
    script = pathlib.Path(__file__).with_name("mutate.py")
    args = ["--seconds", str(SECONDS), "--seed", "47", "--keep", str(tmp_path)]
    done = subprocess.run([sys.executable, "-B", script, *args], capture_output=True, text=True, timeout=20 * SECONDS)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}files are in {tmp_path}"
    mutants, compared = map(int, re.search(r"(\d+) mutants, (\d+) compared", done.stdout).groups())
    # Else the mutants are too damaged to tell anything.
    assert compared > mutants / 10, done.stdout
