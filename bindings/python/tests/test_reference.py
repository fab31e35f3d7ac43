"""What is public is in the list of names, and in the pages of the reference."""

import importlib
import pathlib
import re

import pytest

import farpoint

PAGES = pathlib.Path(__file__).parents[3] / "docs" / "site" / "reference" / "python"


def documented():
    """Names that the pages have a section for."""
    pages = [page.read_text(encoding="utf-8") for page in PAGES.glob("*.md")]
    return {name for page in pages for name in re.findall(r"^::: (farpoint[\w.]*)", page, re.MULTILINE)}


def test_all_public_names_are_in_the_reference():
    names = {f"farpoint.{name}" for name in farpoint.__all__ if name != "__version__"}
    assert names <= documented()
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    assert [name for name in names if f"[{name}]" not in index] == []


def test_public_functions_of_modules_are_names_of_the_package():
    """No function is half public: what a module lists is in the package, or in the reference by its module."""
    pages = documented()
    for module in ("sampling", "approximate", "matching", "neighbors", "operators", "index", "measures", "files", "devices"):
        module = importlib.import_module(f"farpoint.{module}")
        for name in module.__all__:
            if f"{module.__name__}.{name}" in pages:
                continue
            assert getattr(farpoint, name) is getattr(module, name), name
            assert name in farpoint.__all__, name


@pytest.mark.parametrize("name", ["LabeledCloud", "generate_labeled"])
def test_names_that_moved_say_where(name):
    assert not hasattr(farpoint, name) and name not in farpoint.__all__
    with pytest.raises(AttributeError, match=f"farpoint.{name} is now in the repository's laboratory: lab/scenes"):
        getattr(farpoint, name)
    with pytest.raises(AttributeError, match="module 'farpoint' has no attribute 'sampel'$"):
        farpoint.sampel  # noqa: B018


def test_names_of_the_reference_are_there():
    for name in documented() - {"farpoint"}:
        where, _, what = name.rpartition(".")
        if name.startswith(("farpoint.compat", "farpoint.ray")):
            continue
        assert hasattr(importlib.import_module(where), what), name
