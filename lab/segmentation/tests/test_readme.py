"""The Python examples of the README work as printed."""

import pathlib
import re

import pytest

pytest.importorskip("torch", reason="torch is not installed")

README = pathlib.Path(__file__).parents[1] / "README.md"


def test_examples_work_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, str(README), "exec"), {})
