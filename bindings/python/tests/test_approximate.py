"""Approximate samplers, centroids and measures: by their rules, in every library, and what is refused."""

import re

import numpy as np
import pytest
from conftest import cloud, grid

import farpoint

ALL = [
    dict(method="random", seed=5), dict(method="grid"), dict(method="grid", keep="first"),
    dict(method="grid", keep="random", seed=3),
]


def approximate(points, count=None, *, method, **options):
    return getattr(farpoint, f"sample_{method}")(points, count, **options)


def words(seed):
    """The numbers of SplitMix64."""
    mask = 2**64 - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def shuffled(n, count, seed):
    """The first places of a Fisher-Yates shuffle."""
    order, random = list(range(n)), words(seed)
    for k in range(count):
        end = n - k
        wide = next(random) * end
        while wide % 2**64 < 2**64 % end:
            wide = next(random) * end
        other = k + (wide >> 64)
        order[k], order[other] = order[other], order[k]
    return order[:count]


def cells_of(points, cell):
    return np.floor(points / points.dtype.type(cell)).astype(np.int64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_follows_its_rule(dtype):
    points = cloud(500, dtype=dtype)
    for seed in (0, 7, 2**64 - 1):
        result = approximate(points, 120, method="random", seed=seed)
        np.testing.assert_array_equal(result, shuffled(500, 120, seed))
    np.testing.assert_array_equal(approximate(points, 9, method="random"), shuffled(500, 9, 0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_grids_keep_a_point_of_each_cell(dtype):
    points = cloud(2000, dtype=dtype)
    cells = cells_of(points, 0.2)
    _, firsts, of = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    of = of.reshape(-1)
    result = approximate(points, method="grid", cell=0.2, keep="first")
    np.testing.assert_array_equal(result, np.sort(firsts))
    for options in (dict(), dict(keep="random", seed=4)):
        rows = approximate(points, method="grid", cell=0.2, **options)
        np.testing.assert_array_equal(np.sort(of[rows]), np.arange(len(firsts)))
        assert farpoint.quality(points, rows).covering_radius <= 0.2 * 3**0.5
    off = points.astype(np.float64) / 0.2 - cells - 0.5
    nearest = [min(np.flatnonzero(of == k), key=lambda row: (off[row] ** 2).sum()) for k in of[firsts]]
    center = approximate(points, method="grid", cell=0.2)
    # Rounding may prefer another one of two that are equally near.
    assert len(np.setdiff1d(center, nearest)) <= 1


@pytest.mark.parametrize("options", ALL, ids=str)
def test_different_points_the_same_with_any_threads(options):
    for points in (cloud(3000), cloud(3000, 2, np.float64), grid(), np.zeros((50, 3), np.float32)):
        count = min(len(points) // 2, 700)
        result = approximate(points, count, **options)
        assert result.dtype == np.int64 and result.shape == (count,)
        assert len(np.unique(result)) == count and 0 <= result.min() and result.max() < len(points)
        for threads in (1, 2):
            np.testing.assert_array_equal(approximate(points, count, threads=threads, **options), result)
        ratio = count / len(points)
        if np.ceil(ratio * len(points)) == count:
            np.testing.assert_array_equal(approximate(points, ratio=ratio, **options), result)
    assert approximate(cloud(9), 0, **options).shape == (0,)
    assert len(approximate(cloud(9), 9, **options)) == 9


def test_options_reach_the_sampler():
    points = cloud(3000)
    for one, other in [
        (dict(method="random", seed=1), dict(method="random", seed=2)),
        (dict(method="grid", keep="first"), dict(method="grid", keep="center")),
        (dict(method="grid", keep="random"), dict(method="grid", keep="random", seed=1)),
    ]:
        assert (approximate(points, 700, **one) != approximate(points, 700, **other)).any(), other


@pytest.mark.parametrize("options", ALL, ids=str)
def test_batches_are_clouds_one_by_one(options):
    batch = np.stack([cloud(600, seed=s) for s in range(3)])
    result = approximate(batch, 90, **options)
    assert result.shape == (3, 90)
    for one, indices in zip(batch, result):
        np.testing.assert_array_equal(indices, approximate(one, 90, **options))
    batch[1, 50:] = np.nan  # padding is not looked at
    padded = approximate(batch, 90, lengths=[600, 50, 0], threads=2, **options)
    np.testing.assert_array_equal(padded[0], result[0])
    np.testing.assert_array_equal(padded[1, :50], approximate(batch[1, :50], 50, **options))
    assert (padded[1, 50:] == -1).all() and (padded[2] == -1).all()
    assert approximate(np.empty((0, 5, 3)), 2, **options).shape == (0, 2)


def test_non_finite_rows_and_out():
    points = cloud(300)
    points[7] = np.inf
    for options in ALL:
        with pytest.raises(ValueError, match=r"1 of 300 rows hold NaN.*row 7.*\(300, 3\)"):
            approximate(points, 20, **options)
        assert 7 not in approximate(points, 299, non_finite="skip", **options)
    out = np.empty(20, np.int64)
    assert approximate(cloud(), 20, method="grid", out=out) is out
    np.testing.assert_array_equal(out, approximate(cloud(), 20, method="grid"))
    strided = np.asfortranarray(cloud(300, 6))[:, ::2]
    np.testing.assert_array_equal(
        approximate(strided, 20, method="grid"), approximate(strided.copy(), 20, method="grid")
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_centroids_are_means(dtype):
    points = cloud(2000, dtype=dtype)
    result = farpoint.centroids(points, cell=0.2)
    cells = cells_of(points, 0.2)
    _, firsts, of, counts = np.unique(
        cells, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(firsts)
    np.testing.assert_array_equal(result.counts, counts[order])
    means = [points[of.reshape(-1) == k].mean(axis=0, dtype=np.float64) for k in order]
    np.testing.assert_allclose(result.points, means, rtol=1e-6)
    assert result.points.dtype == dtype and result.cell == 0.2
    some = farpoint.centroids(points, 100)
    assert 50 < len(some.counts) <= 100 and some.counts.sum() == 2000
    batch = farpoint.centroids(np.stack([points, points]), cell=0.2, lengths=[2000, 1])
    np.testing.assert_array_equal(batch.points[0], result.points)
    np.testing.assert_array_equal(batch.points[1, 0], points[0])
    assert batch.counts[1].sum() == 1 and batch.cell.tolist() == [0.2, 0.2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_measures_are_those_of_all_pairs(dtype):
    points = cloud(400, dtype=dtype)
    rows = farpoint.sample(points, 40)
    wide = points.astype(np.float64)
    distances = np.linalg.norm(wide[:, None] - wide[None, rows], axis=-1)
    near, inside = distances.min(axis=1), distances[rows]
    np.fill_diagonal(inside, np.inf)
    inside = inside.min(axis=1)
    expected = (
        400, 40, near.max(), near.mean(), np.sort(near)[395], inside.mean(), inside.min(),
        inside.max(), (near**2).mean(), 1.0,
    )
    np.testing.assert_allclose(farpoint.quality(points, rows), expected, rtol=1e-6)
    chamfer = farpoint.chamfer(points, points[rows])
    np.testing.assert_allclose(farpoint.quality(points, rows).chamfer, chamfer, rtol=1e-12)
    exact = farpoint.sample(points, 40, return_distances=True)
    assert farpoint.quality(points, rows).covering_radius == exact.covering_radius
    twice = farpoint.quality(points, [3, 3, 5, 9])
    assert twice.unique == 0.75 and twice.spacing_min == 0
    assert np.isnan(farpoint.quality(points, [3]).spacing_mean)
    both = farpoint.quality(np.stack([points, points]), np.stack([rows, [*rows[:10], *[-1] * 30]]))
    assert both.samples.tolist() == [40, 10] and both.covering_radius[0] == exact.covering_radius
    assert both.p99[1] == farpoint.quality(points, rows[:10]).p99


def test_tensors_on_the_cpu():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    points = torch.from_numpy(cloud(600)).requires_grad_()
    for options in ALL:
        result = approximate(points, 90, **options)
        assert isinstance(result, torch.Tensor) and result.dtype == torch.int64
        np.testing.assert_array_equal(result, approximate(cloud(600), 90, **options))
    out = torch.empty((1, 90), dtype=torch.int64)
    assert approximate(points[None], 90, out=out, **ALL[0]) is out
    np.testing.assert_array_equal(out[0], approximate(cloud(600), 90, **ALL[0]))
    made = farpoint.centroids(points, cell=0.3)
    assert isinstance(made.points, torch.Tensor) and int(made.counts.sum()) == 600
    assert farpoint.quality(points, result) == farpoint.quality(cloud(600), result.numpy())
    with pytest.raises(TypeError, match="int64"):
        approximate(points.long(), 9, method="grid")
    with pytest.raises(TypeError, match="int64 tensor"):
        approximate(points, 9, method="grid", out=np.empty(9, np.int64))


def test_points_on_a_gpu_are_told_where_to_go():
    class OnGpu:
        shape, dtype = (5, 3), "float32"
        __cuda_array_interface__ = {}

    for call in (lambda: approximate(OnGpu(), 2, method="grid"),
                 lambda: farpoint.centroids(OnGpu(), 2), lambda: farpoint.quality(OnGpu(), [1])):
        with pytest.raises(TypeError, match=r"runs on the CPU.*on a GPU.*\(5, 3\)"):
            call()


@pytest.mark.parametrize("options, text", [
    (dict(method="grid"), "pass one of count, ratio and cell"),
    (dict(count=9, ratio=0.1, method="grid"), "count=9, ratio=0.1"),
    (dict(count=9, method="grid", seed=1), "seed is for keep=\"random\", not keep='center'"),
    (dict(count=9, method="grid", keep="centroid"), "farpoint.centroids"),
    (dict(count=9, method="grid", keep="last"), "'last'; choose one of first, random, center"),
    (dict(count=9, method="random", seed=-1), "seed is -1; it must be 0 or more"),
    (dict(count=-1, method="random"), "count is -1"),
    (dict(ratio=1.5, method="random"), "ratio 1.5 is not between"),
    (dict(cell=0.0, method="grid"), r"cell size 0.* \(points of shape \(50, 3\), float32\)"),
    (dict(count=51, method="random"), r"51 samples.*50 points.*\(50, 3\)"),
    (dict(count=9, method="random", threads=0), "threads is 0"),
    (dict(count=9, method="random", non_finite="no"), "non_finite is 'no'"),
    (dict(count=9, method="random", lengths=[3]), r"lengths are for a batch.*\(50, 3\)"),
    (dict(count=9, method="random", out=np.empty(8, np.int64)), r"shape \(9,\), not \(8,\)"),
])
def test_refused(options, text):
    with pytest.raises(ValueError, match=text):
        approximate(cloud(50), **options)


def test_refused_of_batches_and_samples():
    batch = np.stack([cloud(50), cloud(50, seed=2)])
    with pytest.raises(ValueError, match="cloud 0 of the batch: cannot take 51 samples"):
        approximate(batch, 51, method="grid")
    with pytest.raises(ValueError, match="3 lengths for 2 clouds"):
        approximate(batch, 9, method="grid", lengths=[1, 2, 3])
    with pytest.raises(ValueError, match="length 51 of cloud 1 is over 50"):
        approximate(batch, 9, method="grid", lengths=[1, 51])
    for rows, text in [([50], "sample index 50 is outside.*50 points"), ([-1], "-1 is below 0"),
                       ([], "0 samples"), ([[1]], r"\(1, 1\) and \(50, 3\)")]:
        with pytest.raises(ValueError, match=text):
            farpoint.quality(cloud(50), rows)
    with pytest.raises(ValueError, match="1 samples for 2 clouds"):
        farpoint.quality(batch, [[1, 2]])
    with pytest.raises(TypeError, match="integers"):
        farpoint.quality(cloud(50), [0.5])
    with pytest.raises(TypeError, match="int32"):
        approximate(cloud(50), 9, method="grid", out=np.empty(9, np.int32))


def test_exact_functions_say_where_approximate_ones_are():
    for method in ("random", "grid"):
        for function in (lambda **o: farpoint.sample(cloud(9), 3, **o),
                         lambda **o: farpoint.order(cloud(9), **o)):
            with pytest.raises(ValueError, match=f"farpoint.sample_{method}"):
                function(algorithm=method)


@pytest.mark.parametrize("name", ["fastpoint", "morton", "npdu", "quick"])
def test_baselines_say_where_they_are(name):
    for algorithm in (name, f"{name}:height=7"):
        with pytest.raises(ValueError, match=f"'{name}' is now in .*lab/baselines"):
            farpoint.sample(cloud(9), 3, algorithm=algorithm)
    text = "no attribute" if name == "quick" else f"farpoint.sample_{name} is now in .*lab/baselines"
    with pytest.raises(AttributeError, match=text):
        getattr(farpoint, f"sample_{name}")
    assert not hasattr(farpoint, f"sample_{name}") and f"sample_{name}" not in dir(farpoint)


def test_docstrings_name_every_parameter():
    import inspect

    samplers = [getattr(farpoint, name) for name in farpoint.approximate.__all__ if name.startswith("sample_")]
    assert len(samplers) == 2
    for function in (*samplers, farpoint.centroids, farpoint.quality):
        text = function.__doc__
        for name in inspect.signature(function).parameters:
            assert re.search(rf"^    (\w+, )*{name}(, \w+)*( : |$)", text, re.MULTILINE), name
        for part in ("Parameters", "Returns", "Raises"):
            assert part in text
