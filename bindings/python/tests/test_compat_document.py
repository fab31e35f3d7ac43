"""docs/compat.md names exactly what the modules of ``farpoint.compat`` export, and they have it."""

import importlib
import pathlib

import compat_names
import pytest

DOCUMENT = pathlib.Path(__file__).parents[3] / "docs" / "compat.md"
MODULES = dict(compat_names.modules())


def test_the_document_has_the_table():
    text = DOCUMENT.read_text(encoding="utf-8")
    command = "python3 bindings/python/tests/compat_names.py docs/compat.md"
    assert compat_names.with_table(text) == text, f"run: {command}"


def test_every_library_has_a_section():
    text = DOCUMENT.read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    for module in MODULES:
        library = module.split(".")[0]
        assert any(f"`{library}`" in line for line in headings), f"no section on {library}"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_names_are_there(module):
    pytest.importorskip("torch", reason="torch is not installed")
    result = importlib.import_module(f"farpoint.compat.{module}")
    for name in MODULES[module]:
        assert hasattr(result, name), f"{module}.{name}"
