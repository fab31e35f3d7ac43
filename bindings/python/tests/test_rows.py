"""Some rows of a cloud, by number or by mask: what gathering them, sampling and mapping back gives."""

import numpy as np
import pytest
from conftest import cloud, grid

import farpoint
from farpoint import _native
from farpoint._arrays import selection
from farpoint._sample_arguments import new_request

CLOUDS = [cloud(), cloud(dtype=np.float64), grid(4), cloud(d=7)[:, ::-1]]


def some(n, seed=0, share=0.4):
    """Rows in no order."""
    return np.random.default_rng(seed).permutation(n)[: int(n * share)]


@pytest.mark.parametrize("points", CLOUDS, ids=lambda p: f"{p.shape}-{p.dtype}")
@pytest.mark.parametrize("algorithm", ["auto", "reference", "naive", "radius", "tree", "peak"])
def test_rows_are_gathered_sampled_and_mapped_back(points, algorithm):
    rows = some(len(points))
    for options in (
        dict(count=20), dict(ratio=0.5), dict(spacing=0.3), dict(count=9, seed=3), dict(count=5, threads=2),
    ):
        actual = farpoint.sample(
            points, **options, rows=rows, algorithm=algorithm, return_distances=True
        )
        expected = farpoint.sample(
            np.ascontiguousarray(points[rows]), **options, algorithm=algorithm, return_distances=True
        )
        assert actual.indices.dtype == np.int64
        np.testing.assert_array_equal(actual.indices, rows[expected.indices])
        np.testing.assert_array_equal(actual.distances, expected.distances)
        assert actual.covering_radius == expected.covering_radius


def test_a_mask_is_the_ascending_list():
    points = cloud()
    mask = points[:, 0] > 0.6
    rows = np.flatnonzero(mask)
    expected = farpoint.sample(points, 12, rows=rows)
    np.testing.assert_array_equal(farpoint.sample(points, 12, mask=mask), expected)
    np.testing.assert_array_equal(farpoint.sample(points, 12, mask=mask.tolist()), expected)
    np.testing.assert_array_equal(farpoint.sample(points, 12, rows=rows.tolist()), expected)
    np.testing.assert_array_equal(farpoint.sample(points, 12, rows=rows.astype(np.uint16)), expected)
    # Every other value of an array of twice the length: no copy is needed of it.
    np.testing.assert_array_equal(farpoint.sample(points, 12, mask=np.repeat(mask, 2)[::2]), expected)
    order = farpoint.order(points, mask=mask)
    assert sorted(order.indices) == rows.tolist()
    np.testing.assert_array_equal(order.indices[:12], expected)


def test_starts_are_rows_of_the_whole_cloud():
    points, rows = cloud(), np.array([40, 7, 0, 250, 33, 8])
    assert farpoint.sample(points, 1, rows=rows).tolist() == [40]
    assert farpoint.sample(points, 1, rows=rows, start=0).tolist() == [0]
    assert farpoint.sample(points, 2, rows=rows, start=[33, 7]).tolist() == [33, 7]
    assert farpoint.order(points, rows=rows, start=8).indices[0] == 8
    for start, text in (
        (1, "start index 1 is not one of the selected rows"), (300, "outside the cloud of 300"),
        ([7, 7], "start index 7 is given twice"),
    ):
        with pytest.raises(ValueError, match=text):
            farpoint.sample(points, 2, rows=rows, start=start)
    with pytest.raises(ValueError, match="start index 0 is not one"):
        farpoint.sample(points, 1, rows=[5], start=0)
    with pytest.raises(ValueError, match="pass start or seed"):
        farpoint.sample(points, 1, rows=rows, start=7, seed=1)


def test_masks_of_batches():
    batch = np.stack([cloud(seed=s) for s in range(3)])
    mask = np.stack([cloud(seed=s + 9)[:, 0] < share for s, share in enumerate((0.5, 0.03, 0.0))])
    actual = farpoint.sample(batch, 20, mask=mask, return_distances=True)
    for points, own, indices, distances in zip(batch, mask, actual.indices, actual.distances):
        most = min(20, own.sum())
        expected = farpoint.sample(points, most, mask=own, return_distances=True)
        np.testing.assert_array_equal(indices, np.pad(expected.indices, (0, 20 - most), constant_values=-1))
        np.testing.assert_array_equal(distances, np.pad(expected.distances, (0, 20 - most)))
    # With lengths both must hold.
    padded = farpoint.sample(batch, 20, mask=mask, lengths=[100, 300, 300])
    np.testing.assert_array_equal(padded[0], farpoint.sample(batch[0, :100], 20, mask=mask[0, :100]))
    np.testing.assert_array_equal(padded[1:], actual.indices[1:])
    starts = [int(np.flatnonzero(own)[-1]) for own in mask[:2]]
    begun = farpoint.sample(batch[:2], 5, mask=mask[:2], start=starts)
    np.testing.assert_array_equal(begun[:, 0], starts)
    half = farpoint.sample(batch[:2], ratio=0.5, mask=mask[:2])
    assert half.shape == (2, -(-mask[0].sum() // 2))


def test_non_finite_rows_have_their_own_numbers():
    points = cloud()
    points[[3, 50, 200], 1] = np.nan
    rows = np.array([100, 50, 7, 3, 250, 9])
    with pytest.raises(ValueError, match="2 of 6 rows hold NaN or infinity, the first is row 50"):
        farpoint.sample(points, 2, rows=rows)
    result = farpoint.sample(points, 4, rows=rows, non_finite="skip")
    assert sorted(result) == [7, 9, 100, 250] and result[0] == 100
    # Rows that are not selected are not looked at.
    assert len(farpoint.sample(points, 2, rows=[1, 2])) == 2


def test_answers_in_the_callers_array():
    points, out = cloud(), np.empty(5, np.int64)
    result = farpoint.sample(points, 5, rows=some(300), out=out)
    assert result is out
    np.testing.assert_array_equal(out, farpoint.sample(points, 5, rows=some(300)))


@pytest.mark.parametrize(("options", "error", "text"), [
    (dict(rows=[0, 300]), ValueError, "row 300 at place 1 of the selected rows is outside the cloud of 300"),
    (dict(rows=[5, -1]), ValueError, "row -1 at place 1"),
    (dict(rows=[4, 9, 9, 4]), ValueError, "row 9 is selected twice, at places 1 and 2 of the list"),
    (dict(rows=[4, 9, 2, 4]), ValueError, "row 4 is selected twice, at places 0 and 3 of the list"),
    (dict(rows=[[1, 2]]), TypeError, "rows must be a 1-D array"),
    (dict(rows=[1.5]), TypeError, "rows must be a 1-D array of integers"),
    (dict(rows=[1], mask=[True]), ValueError, "pass rows or mask, not both"),
    (dict(mask=np.ones(299, bool)), ValueError, r"the mask is of shape \(299,\), not \(300,\)"),
    (dict(mask=np.ones((1, 300), bool)), ValueError, r"the mask is of shape \(1, 300\)"),
    (dict(mask=np.arange(300)), TypeError, "mask must be an array of bool.*pass row numbers"),
    (dict(rows=[1]), ValueError, "2 samples from a cloud of 1 points"),
    (dict(rows=[]), ValueError, "no row is selected"),
], ids=str)
def test_what_is_refused(options, error, text):
    with pytest.raises(error, match=text):
        farpoint.sample(cloud(), 2, **options)


def test_rows_are_of_one_cloud():
    with pytest.raises(ValueError, match="rows are of one cloud.*pass a mask"):
        farpoint.sample(np.stack([cloud()]), 2, rows=[1, 2])
    with pytest.raises(ValueError, match=r"of shape \(300,\), not \(1, 300\)"):
        farpoint.sample(np.stack([cloud()]), 2, mask=np.ones(300, bool))


def request_of(**options):
    """A checked request."""
    names = ("count", "ratio", "spacing", "start", "lengths")
    values = [options.get(name) for name in names]
    rest = [options.get(name) for name in ("rows", "mask")]
    return new_request(*values, "auto", options.get("seed"), None, None, True, "error", False, *rest)


@pytest.mark.parametrize("options", [
    dict(count=9, rows=some(300)), dict(count=9, mask=cloud()[:, 0] < 0.5), dict(ratio=0.2, rows=some(300)),
    dict(count=9, rows=some(300), start=int(some(300)[7])), dict(count=9, rows=some(300), seed=5),
    dict(count=9, rows=some(300), start=some(300)[[3, 1]]), dict(spacing=0.3, rows=some(300)),
], ids=lambda options: str(list(options)))
def test_the_plan_for_other_libraries_gives_the_same(options):
    """What a GPU does, here by NumPy: gather, sample, name."""
    points, request = cloud(), request_of(**options)
    rows, alone = selection.plan(request, points.shape, "points")
    assert alone.selected is None
    expected = farpoint.sample(points, **options)
    actual = farpoint.sample(
        points[rows], alone.count, ratio=alone.ratio, spacing=alone.spacing, start=alone.start, seed=alone.seed
    )
    np.testing.assert_array_equal(rows[actual], expected)


def test_the_plan_of_batches():
    batch = np.stack([cloud(seed=s) for s in range(3)])
    mask = batch[..., 0] < np.array([0.5, 0.02, 0.3])[:, None]
    starts = [int(np.flatnonzero(own)[-1]) for own in mask]
    for more in (dict(), dict(start=starts), dict(lengths=[200, 300, 300])):
        rows, alone = selection.plan(request_of(count=30, mask=mask, **more), batch.shape, "points")
        gathered = batch[np.arange(3)[:, None], rows]
        result = farpoint.sample(gathered, 30, lengths=alone.lengths, start=alone.start)
        named = np.where(result < 0, -1, np.take_along_axis(rows, np.maximum(result, 0), axis=1))
        np.testing.assert_array_equal(named, farpoint.sample(batch, 30, mask=mask, **more))


@pytest.mark.parametrize("options", [
    dict(rows=[0, 300]), dict(rows=[5, -1]), dict(rows=[4, 9, 9, 4]), dict(rows=[4, 9, 2, 4]),
    dict(mask=np.ones(299, bool)), dict(mask=np.arange(300)), dict(rows=[3, 4], start=5),
    dict(rows=[3, 4], start=300),
], ids=str)
def test_the_plan_refuses_in_the_same_words(options):
    with pytest.raises((ValueError, TypeError)) as here:
        farpoint.sample(cloud(), 2, **options)
    with pytest.raises(type(here.value)) as there:
        selection.plan(request_of(count=2, **options), (300, 3), "points of shape (300, 3), float32")
    assert str(there.value) == str(here.value)


def test_the_compiled_module_refuses_other_types():
    before = cloud(), 2, None, None, None, None, None, None, "auto", None, False, False, None, None
    with pytest.raises(TypeError, match="int64, or a mask of bool"):
        _native.sample(*before, np.zeros(3, np.float32))


def test_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    points, rows = cloud(), some(300)
    mask = points[:, 1] < 0.3
    for options in (dict(rows=rows), dict(mask=mask), dict(rows=rows, seed=2**63 + 1), dict(rows=rows, start=rows[3])):
        expected = farpoint.sample(points, 9, **options, return_distances=True)
        beside = {
            name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
            for name, value in options.items()
        }
        for given in (options, beside):
            actual = farpoint.sample(torch.from_numpy(points), 9, **given, return_distances=True)
            assert isinstance(actual.indices, torch.Tensor)
            np.testing.assert_array_equal(actual.indices.numpy(), expected.indices)
            np.testing.assert_array_equal(actual.distances.numpy(), expected.distances)
            assert float(actual.covering_radius) == expected.covering_radius
    half = torch.from_numpy(points).half()
    np.testing.assert_array_equal(
        farpoint.sample(half, 9, rows=rows).numpy(), farpoint.sample(half.float().numpy(), 9, rows=rows)
    )
    out = torch.empty(9, dtype=torch.int64)
    assert farpoint.sample(torch.from_numpy(points), 9, rows=rows, out=out) is out
    learned = torch.from_numpy(points).requires_grad_()
    assert not farpoint.sample(learned, 9, mask=torch.from_numpy(mask)).requires_grad
    batch = torch.stack([torch.from_numpy(cloud(seed=s)) for s in range(2)])
    masks = batch[..., 0] < 0.4
    np.testing.assert_array_equal(
        farpoint.sample(batch, 200, mask=masks).numpy(),
        farpoint.sample(batch.numpy(), 200, mask=masks.numpy()),
    )
