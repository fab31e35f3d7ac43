"""Batches whose clouds want different numbers of samples, and clouds one after another."""

import numpy as np
import pytest
from conftest import cloud

import farpoint
from farpoint.sampling import sample_padded, sample_ragged

BATCH = np.stack([cloud(40, seed=s) for s in range(3)])
COUNTS, LENGTHS = [7, 30, 1], [40, 20, 5]


def libraries():
    try:
        import torch
    except ImportError:
        return [np.asarray]
    return [np.asarray, torch.from_numpy]


@pytest.mark.parametrize("of", libraries())
def test_counts_of_each_cloud(of):
    for lengths in (None, LENGTHS):
        actual = sample_padded(of(BATCH), COUNTS, lengths=lengths)
        assert isinstance(actual, type(of(BATCH))) and tuple(actual.shape) == (3, 30)
        for k, count in enumerate(COUNTS):
            rows = BATCH[k] if lengths is None else BATCH[k, : lengths[k]]
            expected = farpoint.sample(rows, min(count, len(rows)))
            np.testing.assert_array_equal(actual[k, : len(expected)], expected)
            assert (actual[k, len(expected):] == -1).all()
    starts = sample_padded(of(BATCH), np.array(COUNTS), start=[3, 4, 2])
    assert starts[:, 0].tolist() == [3, 4, 2]


@pytest.mark.parametrize("of", libraries())
@pytest.mark.parametrize("points, counts, kind, text", [
    (BATCH, [1, 2], ValueError, r"\(3, 40, 3\) with 2 counts"), (BATCH[0], [1], ValueError, "batch"),
    (BATCH, [1, -2, 3], ValueError, "count -2 of cloud 1 is below 0"), (BATCH, [1.5, 2, 3], TypeError, "integers"),
])
def test_counts_refused(of, points, counts, kind, text):
    with pytest.raises(kind, match=text):
        sample_padded(of(points), counts)


@pytest.mark.parametrize("of", libraries())
def test_clouds_one_after_another(of):
    points = np.concatenate([cloud(30), cloud(50, seed=2)])
    actual = sample_ragged(of(points), [0, 30, 30, 80], (5, 0, 9))
    assert isinstance(actual, type(of(points)))
    expected = [farpoint.sample(points[:30], 5), 30 + farpoint.sample(points[30:], 9)]
    np.testing.assert_array_equal(actual, np.concatenate(expected))
    started = sample_ragged(of(points), np.array([0, 30, 80]), [2, 2], start=[4, 7])
    assert started[[0, 2]].tolist() == [4, 37]


@pytest.mark.parametrize("of", libraries())
@pytest.mark.parametrize("offsets, counts, kind, text", [
    ([0, 30], [2], ValueError, "rise from 0 to 40"), ([0, 30, 20, 40], [1, 1, 1], ValueError, "rise from 0 to 40"),
    ([0, 40], [-1], ValueError, "below 0"), ([0, 40], [41], ValueError, "41 .* 40"),
    ([0, 40], [1.5], TypeError, "integers"),
])
def test_clouds_one_after_another_refused(of, offsets, counts, kind, text):
    with pytest.raises(kind, match=text):
        sample_ragged(of(BATCH[0]), offsets, counts)
