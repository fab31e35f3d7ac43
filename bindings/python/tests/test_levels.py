"""All levels of a network from one sample, and one index of each level for all searches."""

import numpy as np
import pytest
from conftest import cloud, grid, in_ball

import farpoint

CLOUDS = {
    "random": cloud(900), "double": cloud(900, dtype=np.float64), "ties": grid(), "line": cloud(500, 1),
    "features": cloud(300, 9), "same": np.zeros((400, 3), np.float32), "twice": np.repeat(cloud(200), 2, axis=0),
    "overflow": cloud(300) * np.float32(1e25), "lattice": np.mgrid[:9, :8, :7].reshape(3, -1).T.astype(np.float32),
    "even line": np.arange(300, dtype=np.float32)[:, None],
}
BATCH = np.stack([cloud(300), cloud(300, seed=2), np.zeros((300, 3), np.float32), np.repeat(cloud(150), 2, axis=0)])
LENGTHS = [300, 40, 7, 1]


def one_by_one(points, sizes, **options):
    """Rows of the points and of the level before, and radii, by a run for each level; sizes may be ratios."""
    before, rows = np.asarray(points), np.arange(len(points))
    for size in sizes:
        amount = {"ratio": size} if isinstance(size, float) else {"count": size}
        chosen = farpoint.sample(before, **amount, **options)
        # Later levels begin at their first row, and all of their rows count.
        options, before, rows = {}, before[chosen], rows[chosen]
        radius = farpoint.nearest(points, before, squared=False).distances.max() if len(before) else 0.0
        yield rows, chosen, radius


@pytest.mark.parametrize("options", [
    {}, dict(start=7), dict(seed=3), dict(algorithm="peak"), dict(algorithm="radius:nvox=24"), dict(threads=5),
])
@pytest.mark.parametrize("name", CLOUDS)
def test_levels_are_those_that_are_sampled_one_by_one(name, options):
    points, sizes = CLOUDS[name], [200, 200, 51, 10, 1, 1]
    levels = farpoint.sample_levels(points, sizes, **options)
    for level, (rows, chosen, _) in enumerate(one_by_one(points, sizes, **options)):
        np.testing.assert_array_equal(levels.indices[level], rows)
        np.testing.assert_array_equal(levels.relative[level], chosen)
        assert levels.relative[level].dtype == np.int64
    assert levels.covering_radius is levels.offsets is None


@pytest.mark.parametrize("ratios", [[0.25, 0.25, 0.25, 0.25], [1.0, 0.3], [0.1, 1.0, 0.001]])
@pytest.mark.parametrize("name", ["random", "ties", "twice"])
def test_ratios_are_of_the_level_before(name, ratios):
    levels = farpoint.sample_levels(CLOUDS[name], ratios=ratios)
    for level, (rows, chosen, _) in enumerate(one_by_one(CLOUDS[name], ratios)):
        np.testing.assert_array_equal(levels.indices[level], rows)
        np.testing.assert_array_equal(levels.relative[level], chosen)


@pytest.mark.parametrize("name", sorted(set(CLOUDS) - {"overflow"}))
def test_covering_radii_are_those_of_each_level(name):
    points, sizes = CLOUDS[name], [200, 200, 51, 10, 1]
    levels = farpoint.sample_levels(points, sizes, return_covering_radius=True)
    assert all(type(radius) is float for radius in levels.covering_radius)
    assert list(levels.covering_radius) == [radius for *_, radius in one_by_one(points, sizes)]


def test_levels_are_views():
    for points in (CLOUDS["random"], BATCH):
        levels = farpoint.sample_levels(points, [100, 50, 20])
        assert levels.relative[0] is not None and np.shares_memory(levels.relative[0], levels.indices[0])
        for coarser in levels.indices[1:]:
            assert np.shares_memory(coarser, levels.indices[0])
        assert np.shares_memory(levels.relative[2], levels.relative[1])


def padded(parts, width, fill=-1):
    rows = np.full((len(parts), width), fill)
    for row, part in zip(rows, parts):
        row[: len(part)] = part
    return rows


def same_levels(actual, expected, clouds):
    """Levels of a batch, against those of its clouds: tuples of rows of the cloud, of the level before, and radii."""
    expected = [list(levels) for levels in expected]
    for level in range(len(actual.indices)):
        for got, part in ((actual.indices[level], 0), (actual.relative[level], 1)):
            np.testing.assert_array_equal(got, padded([levels[level][part] for levels in expected], got.shape[-1]))
        if actual.covering_radius is not None:
            got = np.asarray(actual.covering_radius[level])
            assert got.shape == (clouds,) and got.dtype == np.float64
            np.testing.assert_array_equal(got, [levels[level][2] for levels in expected])


def tensor(array):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.from_numpy(np.array(array))


of_each_library = pytest.mark.parametrize("of", [np.asarray, tensor], ids=["numpy", "torch"])


@of_each_library
def test_batches_and_lengths(of):
    sizes, starts = [60, 20, 20, 5], [5, 3, 0, 0]
    actual = farpoint.sample_levels(of(BATCH), sizes, start=of(starts), return_covering_radius=True)
    same_levels(actual, [one_by_one(part, sizes, start=s) for part, s in zip(BATCH, starts)], 4)
    actual = farpoint.sample_levels(
        of(BATCH), sizes, lengths=of(LENGTHS), start=of(starts), return_covering_radius=True)
    expected = [one_by_one(part[:n], np.minimum(sizes, n).tolist(), start=s)
                for part, n, s in zip(BATCH, LENGTHS, starts)]
    same_levels(actual, expected, 4)
    assert [rows.shape for rows in actual.indices] == [(4, size) for size in sizes]
    assert type(actual.indices[3]) is type(of(BATCH)) and type(actual.covering_radius[3]) is type(of(BATCH))


@of_each_library
def test_ratios_of_batches(of):
    ratios = [0.25, 0.3, 1.0, 0.1]
    actual = farpoint.sample_levels(of(BATCH), ratios=ratios, return_covering_radius=True)
    same_levels(actual, [one_by_one(part, ratios) for part in BATCH], 4)
    actual = farpoint.sample_levels(of(BATCH), ratios=ratios, lengths=of(LENGTHS), return_covering_radius=True)
    same_levels(actual, [one_by_one(part[:n], ratios) for part, n in zip(BATCH, LENGTHS)], 4)
    assert [rows.shape for rows in actual.indices] == [(4, 75), (4, 23), (4, 23), (4, 3)]
    mask = BATCH[..., 0] >= 0.3
    mask[2, 11] = True
    actual = farpoint.sample_levels(of(BATCH), ratios=ratios, mask=of(mask))
    parts = [[(np.flatnonzero(m)[rows], chosen) for rows, chosen, _ in one_by_one(part[m], ratios)]
             for part, m in zip(BATCH, mask)]
    for level in parts:
        level[0] = (level[0][0], level[0][0])  # the level before the first is the cloud
    same_levels(actual, parts, 4)
    empty = farpoint.sample_levels(of(BATCH[:, :0]), ratios=ratios, lengths=of([0] * 4), return_covering_radius=True)
    assert [rows.shape for rows in empty.indices] == [(4, 0)] * 4
    assert not any(np.asarray(radius).any() for radius in empty.covering_radius)


@of_each_library
def test_selected_and_skipped_rows(of):
    points, sizes = CLOUDS["random"].copy(), [60, 20, 1]
    selected = np.random.default_rng(4).permutation(900)[:300]
    mask = np.isin(np.arange(900), selected)
    for options, rows in ((dict(rows=of(selected)), selected), (dict(mask=of(mask)), np.flatnonzero(mask))):
        levels = farpoint.sample_levels(of(points), sizes, **options)
        for level, (chosen, relative, _) in enumerate(one_by_one(points[rows], sizes)):
            np.testing.assert_array_equal(levels.indices[level], rows[chosen])
            np.testing.assert_array_equal(levels.relative[level], relative if level else rows[chosen])
    points[::3, 1] = np.nan
    rows = np.flatnonzero(np.isfinite(points).all(-1))
    levels = farpoint.sample_levels(of(points), sizes, non_finite="skip")
    for level, (chosen, *_) in enumerate(one_by_one(points[rows], sizes)):
        np.testing.assert_array_equal(levels.indices[level], rows[chosen])


OFFSETS = [0, 30, 30, 31, 100]


def concatenated(levels):
    """Rows of each level of clouds one after another, and their offsets."""
    for level in range(len(levels[0])):
        sizes = [[len(of_cloud[k][0]) for of_cloud in levels] for k in range(level + 1)]
        offsets = np.cumsum([0, *sizes[level]])
        before = np.cumsum([0, *sizes[level - 1]]) if level else OFFSETS
        rows = [first + of_cloud[level][0] for first, of_cloud in zip(OFFSETS, levels)]
        relative = [first + of_cloud[level][1] for first, of_cloud in zip(before, levels)]
        yield np.concatenate(rows), np.concatenate(relative), offsets.tolist()


@of_each_library
@pytest.mark.parametrize("name", ["random", "ties", "same", "twice"])
@pytest.mark.parametrize("counts, ratios, each", [
    ([12, 5, 5, 1], None, [[12, 5, 5, 1], [0, 0, 0, 0], [1, 1, 1, 1], [12, 5, 5, 1]]),
    ([[9, 0, 1, 30], 4, [4, 0, 0, 2]], None, [[9, 4, 4], [0, 0, 0], [1, 1, 0], [30, 4, 2]]),
    (None, [0.5, 0.3, 0.01], [[0.5, 0.3, 0.01]] * 4),
])
def test_concatenated_clouds(of, name, counts, ratios, each):
    points = CLOUDS[name][:100]
    clouds = [points[a:b] for a, b in zip(OFFSETS, OFFSETS[1:])]
    expected = [list(one_by_one(part, sizes)) if len(part) else [(np.zeros(0, int),) * 2] * len(sizes)
                for part, sizes in zip(clouds, each)]
    levels = farpoint.sample_levels(of(points), counts, ratios=ratios, offsets=OFFSETS)
    for level, (rows, relative, offsets) in enumerate(concatenated(expected)):
        np.testing.assert_array_equal(levels.indices[level], rows)
        np.testing.assert_array_equal(levels.relative[level], relative)
        assert levels.offsets[level] == offsets and type(levels.indices[level]) is type(of(points))


@of_each_library
def test_starts_of_concatenated_clouds(of):
    points, sizes, starts = CLOUDS["twice"][:100], [12, 12, 3], [29, 41]
    levels = farpoint.sample_levels(of(points), sizes, offsets=of([0, 30, 100]), start=of(starts))
    for cloud_number, (begin, end) in enumerate([(0, 30), (30, 100)]):
        for level, (rows, *_) in enumerate(one_by_one(points[begin:end], sizes, start=starts[cloud_number])):
            part = slice(*levels.offsets[level][cloud_number : cloud_number + 2])
            np.testing.assert_array_equal(levels.indices[level][part], begin + rows)


def test_one_level_is_a_sample():
    for options in (dict(counts=[30]), dict(ratios=[0.1])):
        levels = farpoint.sample_levels(cloud(300), **options)
        np.testing.assert_array_equal(levels.indices[0], farpoint.sample(cloud(300), 30))
        assert len(levels.indices) == len(levels.relative) == 1
    rows = farpoint.sample_levels(cloud(50).tolist(), (4, 2)).indices[1]
    np.testing.assert_array_equal(rows, farpoint.sample(cloud(50).astype(np.float64), 2))


@pytest.mark.parametrize("counts, options, text", [
    ([], {}, "counts is empty"), ([4, 5], {}, "level 1 has 5 points, and the level before it 4; levels must not grow"),
    ([4, 0], {}, r"level 1 of \[4, 0\] has 0 points"), ([4, -1], {}, "-1 points"), ([60], {}, "60.*50"),
    ([4, 2], dict(start=[1, 2]), "start must be one row of each cloud"), ([4, 2], dict(start=50), "start index 50"),
    ([4, 2], dict(algorithm="quick"), "lab/baselines"), ([4, 2], dict(algorithm="grid"), "approximate.*sample_grid"),
    (None, {}, "pass one of counts and ratios"), ([4], dict(ratios=[0.5]), "pass one of counts and ratios"),
    (None, dict(ratios=[]), "ratios is empty"), (None, dict(ratios=[0.5, 0.0]), "ratio 0.0 of level 1 must be above 0"),
    (None, dict(ratios=[1.5]), "ratio 1.5 of level 0"), (None, dict(ratios=[np.nan]), "NaN"),
    ([4, 2], dict(start=3, seed=3), "start or seed"), ([4], dict(lengths=[3]), "lengths"),
    ([4], dict(offsets=[0, 20]), "offsets must rise from 0 to 50"),
    ([4], dict(offsets=[0, 30, 20, 50]), "offsets must rise"),
    ([4], dict(offsets=[0, 50], seed=1), "offsets go with"),
    ([4], dict(offsets=[0, 50], lengths=[3]), "offsets go with"),
    ([4], dict(offsets=[0, 50], return_covering_radius=True), "offsets go with"),
    ([4], dict(offsets=[0, 50], algorithm="peak"), "offsets go with"),
    ([], dict(offsets=[0, 50]), "counts is empty"), ([[4, 3]], dict(offsets=[0, 50]), "2 counts for 1 clouds"),
    ([[4, 3], [4, 4]], dict(offsets=[0, 20, 50]), "cloud 1 of the batch: level 1 has 4 points"),
    ([[4, 40]], dict(offsets=[0, 20, 50]), "cloud 1 of the batch: cannot take 40"),
    ([4, 0], dict(offsets=[0, 50]), "count of level 1 is 0; it must be 1 or more"),
    ([[4, -1]], dict(offsets=[0, 20, 50]), "-1"),
    ([4], dict(offsets=[0, 20, 50], start=[[1, 2], [1, 2]]), "start must be one"),
])
@of_each_library
def test_what_is_refused(of, counts, options, text):
    with pytest.raises(ValueError, match=text):
        farpoint.sample_levels(of(cloud(50)), counts, **options)


def test_a_spacing_is_no_level():
    with pytest.raises(TypeError, match="spacing"):
        farpoint.sample_levels(cloud(50), [4], spacing=0.1)
    with pytest.raises(TypeError, match="count"):
        farpoint.sample_levels(cloud(50), [4.0, 2.5])


COMPILED = {
    "counts": lambda p: farpoint.sample_levels(p, [40, 10, 10, 1]),
    "tuple": lambda p: farpoint.sample_levels(p, (40, 10)),
    "radii": lambda p: farpoint.sample_levels(p, [40, 10, 1], return_covering_radius=True),
    "ratios": lambda p: farpoint.sample_levels(p, ratios=[0.25, 0.3]),
    "seed": lambda p: farpoint.sample_levels(p[0], [40, 10], seed=7),
    "start": lambda p: farpoint.sample_levels(p[0], [40, 10], start=7),
    "offsets": lambda p: farpoint.sample_levels(p[0], [40, [3, 7]], offsets=[0, 100, 300]),
    "offsets and ratios": lambda p: farpoint.sample_levels(p[0], ratios=[0.3, 0.3], offsets=[0, 100, 300]),
}
LENGTHS_COMPILED = {
    "lengths": lambda p, n: farpoint.sample_levels(p, [40, 10], lengths=n, return_covering_radius=True),
    "lengths and ratios": lambda p, n: farpoint.sample_levels(
        p, ratios=[0.3, 0.3], lengths=n, return_covering_radius=True),
    "starts": lambda p, n: farpoint.sample_levels(p, [40, 10], start=n - 1),
}


@pytest.mark.parametrize("name", [*COMPILED, *LENGTHS_COMPILED])
def test_torch_compile_makes_one_graph(name):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    arguments = [torch.from_numpy(BATCH), *[torch.tensor(LENGTHS)] * (name in LENGTHS_COMPILED)]
    call = (COMPILED | LENGTHS_COMPILED)[name]
    torch.compiler.reset()
    compiled = torch.compile(call, fullgraph=True, backend="eager")(*arguments)
    for actual, expected in zip(compiled, call(*arguments), strict=True):
        if expected is None or isinstance(expected[0], list):
            assert actual == expected
        else:
            assert all(torch.equal(a, e) and a.dtype == e.dtype for a, e in zip(actual, expected, strict=True))


# ------------------------------------------------------------------ one index of each level


def same_neighbors(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def check_level(index, finer, level, coarser, sides):
    """An index of a level answers as separate calls do: balls within the level, those of the next one, and the way
    back. Sides are the lengths or offsets of the three, as options of a search in which they are x or y."""
    (x_finer, _), (x_level, y_level), (x_coarser, _) = sides
    for options in (dict(k=16), dict(k=3, order="nearest"), dict(k=None)):
        same_neighbors(
            in_ball(level, index, 0.2, **options), in_ball(level, level, 0.2, **options, **x_level, **y_level))
        same_neighbors(
            in_ball(coarser, index, 0.3, **options, **x_coarser),
            in_ball(coarser, level, 0.3, **options, **x_coarser, **y_level))
    same_neighbors(index.knn(finer, 3, **x_finer), farpoint.knn(finer, level, 3, **x_finer, **y_level))
    if not x_finer:
        same_neighbors(index.nearest(finer), farpoint.nearest(finer, level))


def sides_of(name, values):
    return [({f"x_{name}": value}, {f"y_{name}": value}) for value in values]


NONE = [({}, {})] * 3


@of_each_library
@pytest.mark.parametrize("name", ["random", "double", "ties", "twice", "same", "line", "lattice"])
def test_an_index_of_a_level_serves_all_searches(name, of):
    points = of(CLOUDS[name])
    first, second, _ = farpoint.sample_levels(points, [150, 40, 9]).indices
    level = points[first]
    check_level(farpoint.Index(level), points, level, level[: len(second)], NONE)


@of_each_library
def test_an_index_of_a_level_of_a_batch(of):
    points, sizes = of(BATCH), [120, 40]
    level = farpoint.gather(points, farpoint.sample_levels(points, sizes).indices[0])
    check_level(farpoint.Index(level), points, level, level[:, :40], NONE)
    # Clouds of different lengths: a level has the rows that are not padded.
    levels = farpoint.sample_levels(points, sizes, lengths=LENGTHS)
    level = farpoint.gather(points, levels.indices[0])
    lengths = [LENGTHS, *[(rows >= 0).sum(-1) for rows in levels.indices]]
    index = farpoint.Index(level, y_lengths=lengths[1])
    check_level(index, points, level, level[:, :40], sides_of("lengths", lengths))


@of_each_library
def test_an_index_of_a_level_of_concatenated_clouds(of):
    points, offsets = of(CLOUDS["twice"][:100]), [0, 30, 31, 100]
    levels = farpoint.sample_levels(points, ratios=[0.5, 0.4], offsets=offsets)
    level = points[levels.indices[0]]
    index = farpoint.Index(level, y_offsets=levels.offsets[0])
    coarser = level[levels.relative[1]]
    check_level(index, points, level, coarser, sides_of("offsets", [offsets, *levels.offsets]))


def test_gradients_by_an_index_of_a_level():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    results = []
    for shared in (True, False):
        points = torch.from_numpy(BATCH).requires_grad_()
        levels = farpoint.sample_levels(points, [120, 40])
        level = farpoint.gather(points, levels.indices[0])
        searched = farpoint.Index(level) if shared else level
        balls = in_ball(level[:, :40], searched, 0.3, 16, order="nearest")
        back = searched.knn(points, 3) if shared else farpoint.knn(points, level, 3)
        finite = balls.distances.isfinite()
        (balls.distances[finite].sum() + back.distances.sum()).backward()
        results.append(points.grad)
    assert torch.equal(*results) and results[0].any()
