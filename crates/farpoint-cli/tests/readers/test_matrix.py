"""Every format to every other: each cell of the matrix, read by software that is not ours."""

import re
from pathlib import Path

import pytest

import inputs
import matrix
import outcomes
from conftest import in_order

DOCUMENT = Path(__file__).parents[4] / "docs" / "formats.md"
PAIRS = [
    (name, extension)
    for name in inputs.INPUTS
    for extensions in matrix.EXTENSIONS.values()
    for extension in extensions
]
OUTPUT_OF = {e: output for output, extensions in matrix.EXTENSIONS.items() for e in extensions}


def case_of(made, name, extension):
    source, rows, out, done, _ = made.output(name, extension)
    if source.row == "raw" and extension in ["npy", "npz"]:
        # A bare array: its columns are those of the file.
        names = ["x", "y", "z", "intensity", "ring"]
        out.columns = dict(zip(names, out.columns.values()))
    truth = in_order(source.truth, rows)
    return outcomes.Case(truth, out, source.row, OUTPUT_OF[extension], done.warnings), source


@pytest.mark.parametrize("matter", matrix.MATTERS, ids=lambda matter: matter.field)
@pytest.mark.parametrize(("name", "extension"), PAIRS)
def test_cell(made, name, extension, matter):
    case, _ = case_of(made, name, extension)
    outcomes.check(case, matter)


@pytest.mark.parametrize(("name", "extension"), PAIRS)
def test_every_warning_has_a_cell(made, name, extension):
    """Nothing is said beyond what the matrix says, and nothing at all of a copy."""
    case, source = case_of(made, name, extension)
    patterns = [p for matter in matrix.MATTERS for p in outcomes.check(case, matter)]
    patterns += source.says
    unexpected = [w for w in case.warnings if not any(re.search(p, w) for p in patterns)]
    assert not unexpected
    for pattern in source.says:
        assert case.warned(pattern), f"nothing is said of a {pattern}"


@pytest.fixture(scope="session")
def checked(made):
    """The cells that some input with that attribute checks."""
    sources = [made.input(name) for name in inputs.INPUTS]
    return {
        (matter.field, source.row)
        for matter in matrix.MATTERS
        for source in sources
        if source.truth.has(matter.field)
    }


@pytest.mark.parametrize(("field", "row"), sorted({(matter.field, row) for matter, row, _ in matrix.cells()}))
def test_no_cell_goes_unchecked(checked, field, row):
    assert (field, row) in checked


def test_the_document_has_the_matrix():
    text = DOCUMENT.read_text()
    assert matrix.with_matrix(text) == text, f"run: python3 {matrix.__file__} {DOCUMENT}"
