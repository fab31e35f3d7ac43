"""Nearest neighbors and the Chamfer distance of NumPy arrays."""

import numpy as np
import pytest
from conftest import cloud, grid, obvious_nearest

import farpoint


@pytest.mark.parametrize("x, y", [
    (cloud(200), cloud(150, seed=2)), (grid(), grid(5)), (cloud(50, 2, np.float64), cloud(9, 2, np.float64)),
    (cloud(40, 5), cloud(30, 5)), (np.asfortranarray(cloud(60)), cloud(60, 6)[:, ::2]),
])
def test_nearest_is_that_of_all_pairs(x, y):
    distances, indices = obvious_nearest(x, y)
    result = farpoint.nearest(x, y)
    np.testing.assert_array_equal(result.distances, distances)
    np.testing.assert_array_equal(result.indices, indices)
    assert result.distances.dtype == x.dtype and result.indices.dtype == np.int64
    plain = farpoint.nearest(x, y, squared=False).distances
    np.testing.assert_array_equal(plain, np.sqrt(distances))


def test_nearest_agrees_with_scipy():
    spatial = pytest.importorskip("scipy.spatial", reason="scipy is not installed")
    x, y = cloud(5000, dtype=np.float64), cloud(4000, dtype=np.float64, seed=2)
    distances, indices = spatial.cKDTree(y).query(x)
    result = farpoint.nearest(x, y, squared=False)
    np.testing.assert_array_equal(result.indices, indices)
    np.testing.assert_allclose(result.distances, distances, rtol=1e-14)


def test_chamfer_in_its_variants():
    x, y = cloud(200, dtype=np.float64), cloud(150, dtype=np.float64, seed=2)
    a, b = obvious_nearest(x, y)[0], obvious_nearest(y, x)[0]
    assert farpoint.chamfer(x, y) == pytest.approx(a.mean() + b.mean(), rel=1e-14)
    assert farpoint.chamfer(x, y, one_sided=True) == pytest.approx(a.mean(), rel=1e-14)
    assert farpoint.chamfer(x, y, reduction="sum") == pytest.approx(a.sum() + b.sum(), rel=1e-14)
    plain = farpoint.chamfer(x, y, squared=False)
    assert plain == pytest.approx(np.sqrt(a).mean() + np.sqrt(b).mean(), rel=1e-14)
    hausdorff = farpoint.chamfer(x, y, squared=False, reduction="max")
    assert hausdorff == np.sqrt(max(a.max(), b.max()))
    one = np.abs(x[:, None] - y[None]).sum(axis=-1)
    manhattan = farpoint.chamfer(x, y, norm=1)
    assert manhattan == pytest.approx(one.min(1).mean() + one.min(0).mean(), rel=1e-14)


def test_batches_with_lengths():
    x = np.stack([cloud(30, seed=s) for s in range(3)])
    y = np.stack([cloud(40, seed=s) for s in range(3, 6)])
    result = farpoint.nearest(x, y, x_lengths=[30, 10, 1], y_lengths=[40, 20, 5])
    assert (result.indices[1, 10:] == -1).all() and (result.distances[1, 10:] == 0).all()
    values = farpoint.chamfer(x, y, x_lengths=[30, 10, 1], y_lengths=[40, 20, 5])
    assert values.shape == (3,)
    for k, (n, m) in enumerate([(30, 40), (10, 20), (1, 5)]):
        alone = farpoint.nearest(x[k, :n], y[k, :m])
        np.testing.assert_array_equal(result.indices[k, :n], alone.indices)
        assert values[k] == pytest.approx(farpoint.chamfer(x[k, :n], y[k, :m]), rel=1e-12)


@pytest.mark.parametrize("x, y, arguments, kind, text", [
    (cloud(5), cloud(5, 2), {}, ValueError, "3 coordinates .* 2"),
    (cloud(5), cloud(5, dtype=np.float64), {}, TypeError, "float32.*float64"),
    (cloud(5), cloud(5)[None], {}, ValueError, r"\(5, 3\).*\(1, 5, 3\)"),
    (cloud(5), cloud(5)[:0], {}, ValueError, "second cloud"),
    (cloud(5) * np.nan, cloud(5), {}, ValueError, "first cloud: 5 of 5 rows"),
    (cloud(5), cloud(5), dict(norm=3), ValueError, "norm is 3"),
    (cloud(5), cloud(5), dict(x_lengths=[3]), ValueError, "x_lengths"),
    (cloud(5) > 0, cloud(5) > 0, {}, TypeError, "bool"),
])
def test_refused(x, y, arguments, kind, text):
    with pytest.raises(kind, match=text):
        farpoint.nearest(x, y, **arguments)
    with pytest.raises(ValueError, match="median"):
        farpoint.chamfer(cloud(5), cloud(5), reduction="median")


@pytest.mark.parametrize("options", [
    {}, dict(squared=False), dict(norm=1), dict(x_lengths=[7, 30]), dict(y_lengths=[1, 20], squared=False),
])
def test_both_directions_at_once(options):
    x, y = np.stack([cloud(30), cloud(30, seed=2)]), np.stack([cloud(20, seed=3), cloud(20, seed=4)])
    forward, backward = farpoint.nearest_both(x, y, **options)
    turned = {name.translate(str.maketrans("xy", "yx")) if "lengths" in name else name: value
              for name, value in options.items()}
    for actual, expected in ((forward, farpoint.nearest(x, y, **options)), (backward, farpoint.nearest(y, x, **turned))):
        assert type(actual) is type(expected)
        np.testing.assert_array_equal(actual.distances, expected.distances)
        np.testing.assert_array_equal(actual.indices, expected.indices)
    single = farpoint.nearest_both(x[0], y[0])
    assert single[0].indices.shape == (30,) and single[1].indices.shape == (20,)


def test_f_score_is_that_of_all_pairs():
    x, y = cloud(60, 3), cloud(50, 3, seed=8)
    distances = np.linalg.norm(x[:, None].astype(float) - y, axis=2)
    for threshold in (0.0, 0.2, 9.0):
        result = farpoint.f_score(x, y, threshold)
        precision, recall = (distances.min(1) <= threshold).mean(), (distances.min(0) <= threshold).mean()
        both = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        np.testing.assert_allclose(tuple(result), (both, precision, recall))
    padded = np.stack([x, np.zeros_like(x)])
    batch = farpoint.f_score(padded, np.stack([y, y]), 0.2, x_lengths=[60, 1], y_lengths=[50, 2])
    assert batch.precision.shape == (2,) and batch.precision[0] == farpoint.f_score(x, y, 0.2).precision
    assert batch.recall[1] == (np.linalg.norm(y[:2], axis=1) <= 0.2).mean()


def test_chamfer_weighs_its_sides():
    x, y = cloud(60, 3), cloud(50, 3, seed=8)
    for options in ({}, {"squared": False, "reduction": "sum"}):
        forward, backward = (farpoint.chamfer(*pair, one_sided=True, **options) for pair in ((x, y), (y, x)))
        assert farpoint.chamfer(x, y, weights=(2.0, 0.5), **options) == 2 * forward + 0.5 * backward
    with pytest.raises(ValueError, match="weights are for a sum of both directions"):
        farpoint.chamfer(x, y, weights=(1.0, 1.0), one_sided=True)


def test_clouds_one_after_another_are_those_alone():
    x, y = cloud(90, 3), cloud(70, 3, seed=8)
    x_offsets, y_offsets = np.array([0, 1, 50, 90]), [0, 20, 21, 70]
    ends = dict(x_offsets=x_offsets, y_offsets=y_offsets)
    parts = [(x[slice(*x_offsets[c:c + 2])], y[slice(*y_offsets[c:c + 2])]) for c in range(3)]
    for options in ({}, {"squared": False}, {"norm": 1}):
        actual, alone = farpoint.nearest(x, y, **ends, **options), [farpoint.nearest(*part, **options) for part in parts]
        np.testing.assert_array_equal(actual.distances, np.concatenate([part.distances for part in alone]))
        rows = [part.indices + y_offsets[c] for c, part in enumerate(alone)]
        np.testing.assert_array_equal(actual.indices, np.concatenate(rows))
        assert actual.squared == alone[0].squared
        forward, backward = farpoint.nearest_both(x, y, **ends, **options)
        np.testing.assert_array_equal(forward.indices, actual.indices)
        expected = [farpoint.nearest(*part[::-1], **options).distances for part in parts]
        np.testing.assert_array_equal(backward.distances, np.concatenate(expected))
        np.testing.assert_array_equal(
            farpoint.chamfer(x, y, **ends, **options), [farpoint.chamfer(*part, **options) for part in parts])
    scores = farpoint.f_score(x, y, 0.3, **ends)
    np.testing.assert_array_equal(scores.f_score, [farpoint.f_score(*part, 0.3).f_score for part in parts])
    for wrong, text in (
        (dict(x_offsets=[0, 90]), "x_offsets are given without y_offsets"),
        (dict(**ends, x_lengths=[1]), "pass one of them"), (dict(ends, x_offsets=[0, 9, 8, 90]), "rise from 0|ascend"),
        (dict(ends, y_offsets=[0, 9, 8, 71]), "rise from 0|ascend|70"),
    ):
        for call in (farpoint.nearest, farpoint.chamfer):
            with pytest.raises(ValueError, match=text):
                call(x, y, **wrong)


def test_ragged_tensors_have_gradients():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, y = (torch.from_numpy(cloud(n, 3, seed=n).astype(np.float64)).requires_grad_() for n in (12, 9))
    ends = dict(x_offsets=[0, 5, 12], y_offsets=torch.tensor([0, 4, 9]))
    assert torch.autograd.gradcheck(lambda x, y: farpoint.chamfer(x, y, **ends), (x, y))
    alone = torch.stack([farpoint.chamfer(x[:5], y[:4]), farpoint.chamfer(x[5:], y[4:])])
    assert torch.equal(farpoint.chamfer(x, y, **ends), alone)
