"""A minute of mutants; `mutate.py` runs longer by hand."""

import os

import pytest

SECONDS = 60


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_mutants_are_refused_or_read_as_others_read_them(tmp_path):
    import mutate

    found, counts = mutate.search(SECONDS, 47, tmp_path)
    assert not found, f"files are in {tmp_path}"
    # Else the mutants are too damaged to tell anything.
    assert counts[1] > counts[0] / 10, counts
