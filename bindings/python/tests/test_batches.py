"""Batches whose clouds want different numbers of samples, clouds one after another, and the sample of each point."""

import numpy as np
import pytest
from conftest import cloud, grid, obvious_nearest

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


# ---------------------------------------------------------------------- sample(offsets=)

CLOUDS = [cloud(30), cloud(0), cloud(50, seed=2), cloud(1, seed=3)]
ENDS = [0, 30, 30, 80, 81]


def of_each(counts, **options):
    """Samples of each cloud alone, as rows of all."""
    options = [{name: values[k] for name, values in options.items()} for k in range(len(CLOUDS))]
    parts = [end + farpoint.sample(rows, count, **each)
             for rows, count, end, each in zip(CLOUDS, counts, ENDS, options) if count]
    return np.concatenate(parts)


@pytest.mark.parametrize("of", libraries())
def test_offsets_of_sample(of):
    points = of(np.concatenate(CLOUDS))
    actual = farpoint.sample(points, [5, 0, 9, 1], offsets=ENDS)
    assert isinstance(actual, type(points))
    np.testing.assert_array_equal(actual, of_each([5, 0, 9, 1]))
    np.testing.assert_array_equal(actual, sample_ragged(points, ENDS, [5, 0, 9, 1]))
    for algorithm in ("naive", "auto"):
        counts, offsets = np.array([5, 0, 9, 0], np.int32), tuple(ENDS)
        np.testing.assert_array_equal(
            farpoint.sample(points, counts, offsets=offsets, algorithm=algorithm), of_each(counts))
    np.testing.assert_array_equal(farpoint.sample(points, ratio=0.25, offsets=ENDS), of_each([8, 0, 13, 1]))
    np.testing.assert_array_equal(farpoint.sample(points[:80], 7, offsets=[0, 30, 80]), of_each([7, 0, 7, 0]))
    np.testing.assert_array_equal(farpoint.sample(points, 40, offsets=ENDS), of_each([30, 0, 40, 1]))  # fewer rows
    started = farpoint.sample(points, [5, 0, 9, 1], offsets=ENDS, start=[3, 0, 7, 0])
    np.testing.assert_array_equal(started, of_each([5, 0, 9, 1], start=[3, 0, 7, 0]))


@pytest.mark.parametrize("of", libraries())
def test_seeds_of_clouds_one_after_another(of):
    """A cloud draws as one of a padded batch does."""
    padded = np.zeros((4, 50, 3), np.float32)
    for row, rows in zip(padded, CLOUDS):
        row[: len(rows)] = rows
    points, lengths, counts = of(np.concatenate(CLOUDS)), [30, 0, 50, 1], [5, 0, 9, 1]
    starts = set()
    for seed in (0, 7, 2**64 - 1):
        batch = farpoint.sample(padded[[0, 2, 3]], 9, lengths=[30, 50, 1], seed=seed)
        alone = farpoint.sample(points[:30], 5, offsets=[0, 30], seed=seed)
        np.testing.assert_array_equal(alone, batch[0, :5])
        three = farpoint.sample(points, [5, 9, 1], offsets=[0, 30, 80, 81], seed=seed)
        np.testing.assert_array_equal(three, [*batch[0, :5], *(batch[1] + 30), 80])
        np.testing.assert_array_equal(three, sample_ragged(points, [0, 30, 80, 81], [5, 9, 1], seed=seed))
        np.testing.assert_array_equal(
            sample_padded(of(padded[[0, 2, 3]]), [5, 9, 1], lengths=[30, 50, 1], seed=seed)[1], batch[1])
        assert len(farpoint.sample(points, counts, offsets=ENDS, seed=seed)) == 15, lengths
        starts.add(int(alone[0]))
    assert len(starts) > 1


@pytest.mark.parametrize("of", libraries())
@pytest.mark.parametrize("options, kind, text", [
    (dict(count=[1, 2]), ValueError, "2 counts for the 4 clouds of 5 offsets"),
    (dict(count=[1, 2, 3, 2]), ValueError, "cloud 1|no usable point"), (dict(), ValueError, "one of count and ratio"),
    (dict(count=3, ratio=0.5), ValueError, "one of count and ratio"), (dict(ratio=1.5), ValueError, "ratio 1.5"),
    (dict(count=1.5), TypeError, "count must be an integer"), (dict(count=-1), ValueError, "count is -1"),
    (dict(count=[0, 0, -1, 0]), ValueError, "below 0"),
    (dict(count=[1, 0, 1, 1], start=[1, 0, 1, 0], seed=3), ValueError, "start or seed"),
    (dict(count=[1, 0, 1, 1], lengths=[4]), ValueError, "lengths= cannot be combined with offsets="),
    (dict(count=[1, 0, 1, 1], non_finite="skip", progress=True), ValueError, "progress= and non_finite= cannot be"),
    (dict(count=[1, 0, 1, 1], return_distances=True), ValueError, "return_distances= cannot be"),
    (dict(count=[1, 0, 1, 1], algorithm="grid"), ValueError, "approximate"),
    (dict(count=[1, 0, 1, 1], offsets=[0, 30, 20, 80, 81]), ValueError, "rise from 0 to 81"),
    (dict(ratio=0.5, offsets=[0, 30, 20, 80, 81]), ValueError, "rise from 0 to 81"),
])
def test_offsets_refused(of, options, kind, text):
    with pytest.raises(kind, match=text):
        farpoint.sample(of(np.concatenate(CLOUDS)), **{"offsets": ENDS, **options})


def test_several_counts_are_for_offsets():
    with pytest.raises(TypeError, match="count must be an integer"):
        farpoint.sample(BATCH, [1, 2, 3])


# -------------------------------------------------------------------------------- assign


@pytest.mark.parametrize("of", libraries())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_assign(of, dtype):
    """Lattices: most points have several nearest samples, of which the first counts."""
    for points in (grid(4, dtype), cloud(300, dtype=dtype), np.zeros((9, 3), dtype)):
        rows = farpoint.sample(points, min(40, len(points)), start=len(points) // 2)
        distances, which = obvious_nearest(points, points[rows])
        for samples in (rows, rows.astype(np.int32), points[rows]):
            found = farpoint.assign(of(points), of(samples), threads=3)
            assert found.squared and isinstance(found, farpoint.Nearest) and isinstance(found.indices, type(of(points)))
            np.testing.assert_array_equal(found.indices, which)
            np.testing.assert_array_equal(found.distances, distances)
        plain = farpoint.assign(of(points), of(rows), squared=False)
        assert not plain.squared
        np.testing.assert_array_equal(plain.distances, np.sqrt(distances))
        assert (which[rows[:1]] == 0).all()


@pytest.mark.parametrize("of", libraries())
def test_assign_in_batches(of):
    batch, lengths = np.stack([grid(3)[:40], cloud(40), cloud(40, seed=2)]), [40, 5, 17]
    rows = farpoint.sample(batch, 9, lengths=lengths)
    assert (rows[1] == -1).any()
    found = farpoint.assign(of(batch), of(rows), lengths=lengths)
    coordinates = np.where(rows[..., None] < 0, np.float32(7), batch[[[0], [1], [2]], rows])
    same = farpoint.assign(of(batch), of(coordinates), lengths=lengths, sample_lengths=[9, 5, 9])
    for k, length in enumerate(lengths):
        distances, which = obvious_nearest(batch[k, :length], batch[k][rows[k][rows[k] >= 0]])
        for result in (found, same):
            np.testing.assert_array_equal(result.indices[k, :length], which)
            np.testing.assert_array_equal(result.distances[k, :length], distances)
            assert (result.indices[k, length:] == -1).all() and (result.distances[k, length:] == 0).all()


@pytest.mark.parametrize("of", libraries())
def test_assign_clouds_one_after_another(of):
    points = np.concatenate(CLOUDS)
    rows = farpoint.sample(points, [5, 0, 9, 1], offsets=ENDS)
    ends = [0, 5, 5, 14, 15]
    for samples, offsets in ((rows, None), (rows, ends), (points[rows], ends)):
        found = farpoint.assign(of(points), of(samples), offsets=ENDS, sample_offsets=offsets)
        for k in (0, 2, 3):
            part, own = slice(ENDS[k], ENDS[k + 1]), slice(ends[k], ends[k + 1])
            distances, which = obvious_nearest(points[part], points[rows[own]])
            np.testing.assert_array_equal(found.indices[part], which + ends[k])
            np.testing.assert_array_equal(found.distances[part], distances)


@pytest.mark.parametrize("of", libraries())
def test_assign_refused(of):
    points = of(BATCH[0])
    for samples, kind, text in (
        ([0, -1, 3], ValueError, "below 0"), ([0, 40], IndexError, "40"), ([0.5, 1.0], TypeError, "integers"),
        (np.zeros(0, np.int64), ValueError, "no usable point"), (np.zeros((2, 2, 2)), ValueError, r"samples must be indices \(K,\)"),
    ):
        with pytest.raises(kind, match=text):
            farpoint.assign(points, of(np.array(samples)))
    with pytest.raises(ValueError, match="-1 at the end"):
        farpoint.assign(of(BATCH), of(np.array([[0, 1], [-1, 2], [3, 4]])))
    with pytest.raises(ValueError, match="sample_lengths are for coordinates"):
        farpoint.assign(of(BATCH), of(np.array([[0, 1]] * 3)), sample_lengths=[1, 1, 1])
    with pytest.raises(ValueError, match="x_offsets are given without y_offsets"):
        farpoint.assign(points, points[:3], offsets=[0, 40])


def test_assign_of_lists_and_of_a_cloud_of_a_file(tmp_path):
    points = BATCH[0]
    farpoint.write(tmp_path / "cloud.ply", points)
    rows = farpoint.sample(points, 5)
    for these in (points.tolist(), farpoint.read(tmp_path / "cloud.ply")):
        np.testing.assert_array_equal(farpoint.assign(these, rows.tolist()).indices, farpoint.assign(points, rows).indices)


def test_assign_of_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    points = torch.from_numpy(BATCH).double().requires_grad_()
    rows = farpoint.sample(points, 6)
    torch.autograd.gradcheck(lambda p: farpoint.assign(p, rows).distances, points)
    compiled = torch.compile(lambda p, r: farpoint.assign(p, r), fullgraph=True, backend="eager")
    for a, b in zip(compiled(points, rows), farpoint.assign(points, rows)):
        assert torch.equal(a, b)
    flat, ends = points.detach().reshape(-1, 3), torch.tensor([0, 40, 120])
    chosen = farpoint.sample(flat, [3, 9], offsets=ends)
    torch.compiler.reset()
    compiled = torch.compile(lambda p, r, e: farpoint.assign(p, r, offsets=e), fullgraph=True, backend="eager")
    assert torch.equal(compiled(flat, chosen, ends).indices, farpoint.assign(flat, chosen, offsets=[0, 40, 120]).indices)
