"""Progress bars of searches: shown for runs on the CPU, whichever library the arrays are of, and nothing else changes."""

import numpy as np
import pytest
from conftest import cloud

import farpoint
from farpoint import _native, _progress



def flat(forward, backward):
    return *forward, *backward


CALLS = {
    "nearest": lambda x, y, **options: farpoint.nearest(x, y, **options),
    "both": lambda x, y, **options: flat(*farpoint.nearest_both(x, y, **options)),
    "chamfer": lambda x, y, **options: farpoint.chamfer(x, y, **options),
}


def parts(result):
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("lengths", [None, [400, 100]], ids=str)
def test_bars_change_nothing(name, lengths, capsys):
    x, y = np.stack([cloud(500), cloud(500, seed=1)]), np.stack([cloud(300, seed=2), cloud(300, seed=3)])
    options = dict(x_lengths=lengths)
    expected = CALLS[name](x, y, **options)
    assert not capsys.readouterr().err
    actual = CALLS[name](x, y, progress=True, **options)
    assert "searching" in capsys.readouterr().err
    for mine, theirs in zip(parts(actual), parts(expected), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", CALLS)
def test_tensors(name, capsys):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, y = torch.from_numpy(cloud(500)), torch.from_numpy(cloud(300, seed=1))
    expected = CALLS[name](x, y)
    for leaf in (x, x.clone().requires_grad_()):
        actual = CALLS[name](leaf, y, progress=True)
        assert "searching" in capsys.readouterr().err
        first = actual[0] if isinstance(actual, tuple) else actual
        assert first.requires_grad == leaf.requires_grad
        for mine, theirs in zip(*[one if isinstance(one, tuple) else (one,) for one in (actual, expected)], strict=True):
            assert torch.equal(mine, theirs)
    compiled = torch.compile(lambda x, y: CALLS[name](x, y, progress=True), fullgraph=True, backend="aot_eager")
    actual = compiled(x, y)
    assert torch.equal(actual[0] if isinstance(actual, tuple) else actual, first)
    CALLS[name](x, y)
    assert "searching" not in capsys.readouterr().err
    assert _progress.callback() is None


@pytest.mark.parametrize("native, call", [
    ("match_clouds", lambda x, reported: _native.match_clouds((x, x, None, None), 2, "reference", 1, True, reported)),
    ("chamfer_clouds", lambda x, reported: _native.chamfer_clouds(
        (x, x, None, None), farpoint._records.Reduction(2, False, "mean", True, 1), False, reported)),
], ids=["match_clouds", "chamfer_clouds"])
def test_long_searches_tell_how_far_they_are(native, call):
    shape = (1, 20_000, 3) if native == "match_clouds" else (1, 1_500_000, 3)
    x = np.random.default_rng(1).random(shape, dtype=np.float32)
    reported = []
    call(x, lambda done, of: reported.append((done, of)))
    assert reported and {of for _, of in reported} == {2 * shape[1]}
    assert [done for done, _ in reported] == sorted(done for done, _ in reported)
    assert all(0 <= done <= of for done, of in reported)


def test_an_error_of_a_bar_ends_the_search():
    x = np.random.default_rng(1).random((1, 20_000, 3), dtype=np.float32)

    def failing(done, of):
        raise RuntimeError("no bar")

    with pytest.raises(RuntimeError, match="no bar"):
        _native.match_clouds((x, x, None, None), 2, "reference", 1, True, failing)
