"""Runs the command as its users do."""

import os
import re
import subprocess
from dataclasses import dataclass

import numpy as np

PROGRAM = os.environ.get("FARPOINT", "farpoint")
# Nothing here takes a second; a run that hangs is ended.
SECONDS = 60


@dataclass
class Run:
    status: int
    stdout: str
    stderr: str

    @property
    def warnings(self):
        """The warnings, each without the name of its file."""
        found = re.findall("^farpoint: warning: (.*)$", self.stderr, re.MULTILINE)
        return [line.split(": ", 1)[-1] for line in found]


def run(*args, check=True):
    done = subprocess.run(
        [PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=SECONDS
    )
    result = Run(done.returncode, done.stdout, done.stderr)
    assert "panicked" not in result.stderr, result.stderr
    if check:
        assert result.status == 0, f"farpoint {' '.join(map(str, args))}\n{result.stderr}"
    return result


def convert(source, target, *options):
    """Writes all points in the order in which they are chosen; gives this order and the run."""
    rows = f"{target}.rows.npy"
    done = run("sample", source, "-o", target, "--ratio", "1", "--indices", rows, *options)
    return np.load(rows), done
