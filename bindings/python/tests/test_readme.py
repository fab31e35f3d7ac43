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
        (GUIDES / "robotics.md", 2),
    ],
)
def test_examples_work_as_printed(document, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= least
    missing = [name for name in ("torch", "kiss_icp", "small_gicp") if importlib.util.find_spec(name) is None]
    names, left_out = {}, []
    for block in blocks:
        needed = [name for name in missing if name in block]
        if needed:
            left_out.append(needed[0])
        else:
            exec(compile(block, str(document), "exec"), names)
    if left_out:
        pytest.skip(f"{len(left_out)} of {len(blocks)} examples: no {', '.join(sorted(set(left_out)))}")


def test_files_named_are_there():
    names = re.findall(r"`bindings/python/([\w./]+)`", README.read_text())
    assert names
    for name in names:
        assert (README.parent / name).exists(), name
