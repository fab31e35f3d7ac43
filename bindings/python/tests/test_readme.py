"""The Python examples of the READMEs and of the pages that are named below work as printed."""

import importlib.util
import pathlib
import re

import pytest

README = pathlib.Path(__file__).parents[1] / "README.md"
REPOSITORY = pathlib.Path(__file__).parents[3]
QUICK_START = REPOSITORY / "docs" / "quick-start.md"
OPERATORS = REPOSITORY / "docs" / "operators.md"
GUIDES = REPOSITORY / "docs" / "guide"


@pytest.mark.parametrize(
    ("document", "least"),
    [
        (README, 6),
        (REPOSITORY / "README.md", 1),
        (QUICK_START, 2),
        (OPERATORS, 1),
        (GUIDES / "level-of-detail.md", 1),
        (GUIDES / "network-input.md", 3),
        (GUIDES / "python.md", 3),
    ],
)
def test_examples_work_as_printed(document, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= least
    torch = importlib.util.find_spec("torch")
    names, left_out = {}, 0
    for block in blocks:
        if torch is None and ("torch" in block):
            left_out += 1
            continue
        exec(compile(block, str(document), "exec"), names)
    if left_out:
        pytest.skip(f"{left_out} of {len(blocks)} examples: torch is not installed")


def test_files_named_are_there():
    names = re.findall(r"`bindings/python/([\w./]+)`", README.read_text())
    assert names
    for name in names:
        assert (README.parent / name).exists(), name
