"""``farpoint.compat.torch_cluster``: against plain loops, what its documentation says, and itself if it is there."""

import io
from functools import partial

import numpy as np
import pytest
from conftest import cloud, reference

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import _edges  # noqa: E402
from farpoint.compat import torch_cluster as mine  # noqa: E402

CORNERS = torch.tensor([[-1, -1], [-1, 1], [1, 1], [1, -1]]).float()
#: Clouds of 9, 0, 14 and 7 points, and of 4, 2, 6 and 0 queries.
POINTS, QUERIES = torch.from_numpy(cloud(30)), torch.from_numpy(cloud(12, seed=7))
OF_POINTS = torch.tensor([0] * 9 + [2] * 14 + [3] * 7)
OF_QUERIES = torch.tensor([0] * 4 + [1] * 2 + [2] * 6)
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64]


def distance(a, b):
    """Squared, each operation rounded on its own."""
    total = None
    for one, other in zip(a, b):
        part = (one - other) * (one - other)
        total = part if total is None else total + part
    return total


def edges(points, queries, expected, of_points=None, of_queries=None):
    """[[query, ...], [point, ...]]: ``expected`` chooses of (distance, point) of a query's own cloud."""
    points, queries = points.numpy(), queries.numpy()
    of_points = np.zeros(len(points)) if of_points is None else of_points.numpy()
    of_queries = np.zeros(len(queries)) if of_queries is None else of_queries.numpy()
    pairs = []
    for query, at in enumerate(queries):
        own = [(distance(at, points[j]), j) for j in np.flatnonzero(of_points == of_queries[query])]
        pairs += [(query, int(j)) for j in expected(own, query)]
    return [[a for a, _ in pairs], [b for _, b in pairs]]


def k_nearest(k, loop=True):
    return lambda own, query: [j for _, j in sorted(own) if loop or j != query][:k]


def within(r, k=None, loop=True, kind=np.float32):
    square = kind(float(r) * float(r))
    return lambda own, query: [j for d, j in own if d < square and (loop or j != query)][:k]


class TestKnn:
    @pytest.mark.parametrize("k", [1, 3, 8, 200])
    def test_loop(self, k):
        assert mine.knn(POINTS, QUERIES, k).tolist() == edges(POINTS, QUERIES, k_nearest(k))
        result = mine.knn(POINTS, QUERIES, k, OF_POINTS, OF_QUERIES)
        assert result.dtype == torch.int64
        assert result.tolist() == edges(POINTS, QUERIES, k_nearest(k), OF_POINTS, OF_QUERIES)
        known = mine.knn(POINTS, QUERIES, k, OF_POINTS, OF_QUERIES, batch_size=4)
        assert torch.equal(result, known)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_documented(self, dtype):
        x, y = CORNERS.to(dtype), torch.tensor([[-1, 0], [1, 0]]).to(dtype)
        assert mine.knn(x, y, 2).tolist() == [[0, 0, 1, 1], [0, 1, 2, 3]]
        of = torch.tensor([0, 0, 0, 0])
        assert mine.knn(x, y, 2, of, of[:2]).tolist() == [[0, 0, 1, 1], [0, 1, 2, 3]]

    def test_one_coordinate(self):
        assert mine.knn(torch.tensor([0.0, 5.0, 6.0]), torch.tensor([4.0]), 2).tolist() == [[0, 0], [1, 2]]

    def test_cosine_is_by_angle(self):
        x = torch.tensor([[0.1, 0.0], [9.0, 9.0], [0.0, -3.0], [5.0, 0.1]])
        result = mine.knn(x, torch.tensor([[2.0, 0.0]]), 3, cosine=True)
        assert result.tolist() == [[0, 0, 0], [0, 3, 1]]
        graph = mine.knn_graph(x, 1, cosine=True)
        assert graph.tolist() == [[3, 3, 0, 0], [0, 1, 2, 3]]

    def test_empty(self):
        for x, y in ((POINTS[:0], QUERIES), (POINTS, QUERIES[:0])):
            assert mine.knn(x, y, 3).shape == (2, 0) and mine.radius(x, y, 1.0).shape == (2, 0)
        lonely = mine.knn(POINTS[:2], QUERIES[:1], 1, torch.tensor([0, 0]), torch.tensor([3]))
        assert lonely.shape == (2, 0)

    def test_no_gradient_is_kept(self):
        x = POINTS.clone().requires_grad_()
        assert not mine.knn_graph(x, 2).requires_grad


class TestKnnGraph:
    def test_loop(self):
        for k, loop in ((1, False), (4, False), (4, True), (50, False)):
            expected = edges(POINTS, POINTS, k_nearest(k, loop), OF_POINTS, OF_POINTS)
            assert mine.knn_graph(POINTS, k, OF_POINTS, loop, "target_to_source").tolist() == expected
            assert mine.knn_graph(POINTS, k, OF_POINTS, loop).tolist() == expected[::-1]

    def test_more_twins_than_neighbors(self):
        """torch_cluster asks for k + 1 and drops the point itself, which may not be among them."""
        twins = torch.zeros(6, 3)
        result = mine.knn_graph(twins, 2, flow="target_to_source")
        assert result.tolist() == [[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], [1, 2, 0, 2, 0, 1, 0, 1, 0, 1, 0, 1]]

    def test_flow(self):
        with pytest.raises(ValueError, match="flow is 'up'"):
            mine.knn_graph(POINTS, 2, flow="up")


class TestRadius:
    @pytest.mark.parametrize("most", [1, 3, 32, None])
    def test_loop(self, most):
        for r in (0.2, 0.4, 9.0):
            expected = edges(POINTS, QUERIES, within(r, most), OF_POINTS, OF_QUERIES)
            actual = mine.radius(POINTS, QUERIES, r, OF_POINTS, OF_QUERIES, most)
            assert actual.dtype == torch.int64 and actual.tolist() == expected
            graph = mine.radius_graph(POINTS, r, OF_POINTS, False, most, "target_to_source")
            assert graph.tolist() == edges(POINTS, POINTS, within(r, most, False), OF_POINTS, OF_POINTS)

    @pytest.mark.parametrize("most", [1, 3, None])
    def test_memory_for_what_is_found_only(self, most, monkeypatch):
        calls = [
            partial(mine.radius, POINTS, QUERIES, 0.4, OF_POINTS, OF_QUERIES, most),
            partial(mine.radius, POINTS, QUERIES, 0.4, max_num_neighbors=most, ignore_same_index=True),
            partial(mine.radius_graph, POINTS, 0.4, OF_POINTS, max_num_neighbors=most),
        ]
        expected = [call().tolist() for call in calls]
        monkeypatch.setattr(_edges, "_MANY_PLACES", 0)
        assert [call().tolist() for call in calls] == expected

    def test_never_more_than_the_most(self):
        """Issue 219 of torch_cluster: one more where the point itself is not among those found."""
        for points in (torch.zeros(9, 2), POINTS):
            result = mine.radius_graph(points, 100.0, max_num_neighbors=3, flow="target_to_source")
            assert result[0].bincount().tolist() == [3] * len(points)
            assert (result[0] != result[1]).all()

    def test_points_at_the_radius_are_outside(self):
        x = torch.tensor([[1.0], [2.0], [3.0]])
        assert mine.radius(x, torch.tensor([[0.0]]), 2.0).tolist() == [[0], [0]]
        assert mine.radius(x, x[:1], 0.0).shape == (2, 0)

    def test_the_square_is_rounded_once(self):
        """0.1 rounded to float32 and squared is 0.010000000707805, 0.01 rounded 0.009999999776483."""
        at = torch.tensor([[0.1, 0.0]])
        assert mine.radius(at, torch.zeros(1, 2), 0.1).shape == (2, 0)
        assert float(np.float32(0.1) * np.float32(0.1)) > float(np.float32(0.1 * 0.1))

    def test_same_index(self):
        expected = edges(POINTS, QUERIES, within(0.7, 3, False))
        assert mine.radius(POINTS, QUERIES, 0.7, None, None, 3, ignore_same_index=True).tolist() == expected
        same = mine.radius(POINTS, POINTS, 0.7, None, None, 3, ignore_same_index=True)
        assert same.tolist() == edges(POINTS, POINTS, within(0.7, 3, False))

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_documented(self, dtype):
        x, y = CORNERS.to(dtype), torch.tensor([[-1, 0], [1, 0]]).to(dtype)
        assert mine.radius(x, y, 1.5).tolist() == [[0, 0, 1, 1], [0, 1, 2, 3]]
        graph = mine.radius_graph(x, 2.5, flow="target_to_source")
        assert graph.tolist() == [[0, 0, 1, 1, 2, 2, 3, 3], [1, 3, 0, 2, 1, 3, 0, 2]]


class TestNearest:
    def test_loop(self):
        expected = edges(QUERIES, POINTS, k_nearest(1))[1]
        assert mine.nearest(POINTS, QUERIES).tolist() == expected
        of_x, of_y = OF_POINTS.clamp(max=2), torch.tensor([0] * 4 + [1] * 2 + [2] * 6)
        expected = edges(QUERIES, POINTS, k_nearest(1), of_y, of_x)[1]
        assert mine.nearest(POINTS, QUERIES, of_x, of_y).tolist() == expected

    def test_wide_and_far_apart(self):
        """torch_cluster scales all clouds to 0..1 and tells them apart by one coordinate more."""
        x, y = torch.tensor([[1e6], [0.0]]), torch.tensor([[1e6], [1e-3], [5.0]])
        of = torch.tensor([0, 1])
        assert mine.nearest(x, y, of, torch.tensor([0, 1, 1])).tolist() == [0, 1]

    def test_refused(self):
        for of_x, of_y in (
            ([0] * 4 + [1] * 4, [0] * 4), ([0] * 4 + [1] * 4, None), ([0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 3, 3]),
            ([0, 0, 1, 0, 0, 0, 0, 0], [0, 0, 1, 1]), ([0] * 4 + [1] * 4, [0, 0, 1, 0]), ([0] * 7, [0] * 4),
        ):
            with pytest.raises(ValueError):
                mine.nearest(POINTS[:8], QUERIES[:4], torch.tensor(of_x),
                             None if of_y is None else torch.tensor(of_y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_grid_cluster(dtype):
    points = torch.tensor([[0, 0], [11, 9], [2, 8], [2, 2], [8, 3]]).to(dtype)
    size, corner = torch.tensor([5, 5]).to(dtype), torch.tensor([19, 19]).to(dtype)
    assert mine.grid_cluster(points, size).tolist() == [0, 5, 3, 0, 1]
    assert mine.grid_cluster(points, size, end=corner).tolist() == [0, 6, 4, 0, 1]
    line = torch.tensor([2, 6]).to(dtype)
    assert mine.grid_cluster(line, size[:1]).tolist() == [0, 0]
    assert mine.grid_cluster(line, size[:1], line[:1] * 0).tolist() == [0, 1]
    assert mine.grid_cluster(points[:0], size).shape == (0,)
    scripted = torch.jit.script(mine.grid_cluster)
    assert scripted(points, size, None, corner).tolist() == [0, 6, 4, 0, 1]
    with pytest.raises(ValueError, match="one length for each"):
        mine.grid_cluster(points, size[:1])


class TestFps:
    def test_ratio_of_float64_clouds(self):
        """A ratio rounded to float32 must not be multiplied in float64, and 100 * 0.28 is 28."""
        for dtype in (torch.float32, torch.float64):
            for size, clouds, ratio, expected in ((10, 1, 0.1, 1), (100, 10, 0.2, 200), (25, 1, 0.28, 7)):
                points = torch.rand(size * clouds, 3, dtype=dtype)
                of = torch.arange(clouds).repeat_interleave(size)
                for given in (ratio, torch.tensor(ratio), torch.tensor(ratio, dtype=torch.float64),
                              torch.full((clouds,), ratio)):
                    assert len(mine.fps(points, of, given)) == expected, (dtype, given)

    def test_documented(self):
        points, of = torch.cat([CORNERS, 2 * CORNERS]), torch.tensor([0] * 4 + [1] * 4)
        for options in (dict(batch=of), dict(batch=of, ratio=0.5), dict(batch=of, ratio=torch.tensor(0.5)),
                        dict(ptr=[0, 4, 8]), dict(ptr=torch.tensor([0, 4, 8])),
                        dict(batch=of, ratio=torch.tensor([0.5, 0.5])), dict(batch=of, batch_size=2)):
            for dtype in DTYPES:
                assert mine.fps(points.to(dtype), random_start=False, **options).tolist() == [0, 2, 4, 6]
        for ratio in (None, 0.5, torch.tensor(0.5), torch.tensor([0.5])):
            result = mine.fps(points, None, ratio, False)
            assert result.tolist() == reference(points.numpy(), 4)[0].tolist()

    def test_more_axes(self):
        points = torch.from_numpy(cloud(20, 6))
        expected = mine.fps(points, None, 0.5, False)
        assert torch.equal(mine.fps(points.reshape(20, 2, 3), None, 0.5, False), expected)
        assert expected.tolist() == reference(points.numpy(), 10)[0].tolist()

    def test_empty_clouds(self):
        result = mine.fps(POINTS, OF_POINTS, 0.3, False, batch_size=6)
        assert result.tolist() == mine.fps(POINTS, None, 0.3, False, ptr=[0, 9, 9, 23, 30, 30, 30]).tolist()
        assert len(result) == 3 + 5 + 3 and mine.fps(POINTS[:0]).shape == (0,)

    def test_refused(self):
        for options, text in (
            (dict(ptr=[0, 40]), "ptr .* ascend from 0 to the 30 rows"), (dict(batch=OF_POINTS[:4]), "batch has"),
            (dict(batch=OF_POINTS, ratio=torch.rand(2)), "ratio has shape"), (dict(ratio=1.1), "ratio 1.1"),
            (dict(batch=OF_POINTS, batch_size=2), "cloud 3, but batch_size is 2"),
        ):
            with pytest.raises(ValueError, match=text):
                mine.fps(POINTS, **options)


class TestRefused:
    def test_arrays(self):
        array = POINTS.numpy()
        for call in (
            lambda: mine.fps(array), lambda: mine.knn(array, QUERIES, 2), lambda: mine.knn(POINTS, array, 2),
            lambda: mine.knn_graph(array, 2), lambda: mine.radius(POINTS, array, 1.0),
            lambda: mine.radius_graph(array, 1.0), lambda: mine.nearest(array, array),
            lambda: mine.grid_cluster(array, array), lambda: mine.knn_graph(POINTS, 2, OF_POINTS.numpy()),
            lambda: mine.fps(POINTS, OF_POINTS.tolist()),
        ):
            with pytest.raises(TypeError, match="takes tensors, as torch.as_tensor"):
                call()

    def test_numbers(self):
        for call, text in (
            (lambda: mine.knn(POINTS, QUERIES, 0), "k is 0"), (lambda: mine.radius(POINTS, QUERIES, -1.0), "r is -1"),
            (lambda: mine.radius(POINTS, QUERIES, float("nan")), "r is nan"),
            (lambda: mine.radius(POINTS, QUERIES, 1.0, max_num_neighbors=0), "max_num_neighbors is 0"),
            (lambda: mine.knn(POINTS, QUERIES, 1, OF_POINTS.flip(0), OF_QUERIES), "batch_x must ascend"),
            (lambda: mine.knn(POINTS, QUERIES, 1, OF_POINTS - 1, OF_QUERIES), "batch_x must ascend"),
            (lambda: mine.knn(POINTS, QUERIES, 1, OF_POINTS[:3], OF_QUERIES), "batch_x has shape"),
            (lambda: mine.knn(POINTS, QUERIES, 1, OF_POINTS), "batch_y is None"),
            (lambda: mine.knn(POINTS, QUERIES, 1, OF_POINTS, OF_QUERIES, batch_size=3), "batch_size is 3"),
        ):
            with pytest.raises(ValueError, match=text):
                call()

    def test_nan(self):
        bad = POINTS.clone()
        bad[3, 1] = torch.nan
        for call in (
            lambda: mine.fps(bad), lambda: mine.knn(bad, QUERIES, 2), lambda: mine.knn_graph(bad, 2),
            lambda: mine.radius(POINTS, bad, 1.0), lambda: mine.radius_graph(bad, 1.0),
            lambda: mine.nearest(bad, POINTS), lambda: mine.knn_graph(POINTS * 0, 2, cosine=True),
        ):
            with pytest.raises(ValueError):
                call()


# --------------------------------------------------------------------------- scripts and devices


def sampled(x: torch.Tensor, of: torch.Tensor, share: torch.Tensor) -> list[torch.Tensor]:
    return [
        mine.fps(x, random_start=False), mine.fps(x, of, 0.25, False), mine.fps(x, of, share, False),
        mine.fps(x, ratio=0.5, random_start=False, ptr=[0, 9, 30]),
        mine.fps(x, ratio=0.5, random_start=False, ptr=torch.tensor([0, 9, 30])),
    ]


def searched(
    x: torch.Tensor, y: torch.Tensor, of_x: torch.Tensor, of_y: torch.Tensor
) -> list[torch.Tensor]:
    return [
        mine.knn(x, y, 2), mine.knn(x, y, 2, of_x, of_y), mine.knn_graph(x, 3, flow="target_to_source"),
        mine.radius(x, y, 0.4, of_x, of_y, 5), mine.radius_graph(x, 0.4, of_x, loop=True),
        mine.radius(x, y, 0.4, max_num_neighbors=None), mine.nearest(x, y),
    ]


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning", "ignore:.*torch.jit:FutureWarning")
def test_scripts_are_the_same_and_can_be_saved():
    for function, arguments in (
        (sampled, (POINTS, OF_POINTS, torch.tensor([0.3]))), (searched, (POINTS, QUERIES, OF_POINTS, OF_QUERIES)),
    ):
        scripted, file = torch.jit.script(function), io.BytesIO()
        torch.jit.save(scripted, file)
        file.seek(0)
        for call in (scripted, torch.jit.load(file)):
            for actual, expected in zip(call(*arguments), function(*arguments), strict=True):
                assert torch.equal(actual, expected)


def test_every_function_can_be_scripted():
    for name in mine.__all__:
        torch.jit.script(getattr(mine, name))


def test_compiled():
    def both(x, of):
        return mine.knn_graph(x * 1, 3, of) + 1, mine.radius_graph(x * 1, 0.4, of) + 1, mine.fps(x, of, 0.3, False)

    compiled = torch.compile(both, backend="eager")
    for actual, expected in zip(compiled(POINTS, OF_POINTS), both(POINTS, OF_POINTS)):
        assert torch.equal(actual, expected)


def test_default_device_elsewhere():
    arguments = POINTS, QUERIES, OF_POINTS, OF_QUERIES
    expected = [*searched(*arguments), mine.fps(POINTS, OF_POINTS, 0.3, False)]
    torch.set_default_device("meta")
    try:
        actual = [*searched(*arguments), mine.fps(POINTS, OF_POINTS, 0.3, False)]
        assert mine.fps(POINTS, OF_POINTS, 0.3).device.type == "cpu"
    finally:
        torch.set_default_device(None)
    assert all(torch.equal(a, b) for a, b in zip(actual, expected))


# ------------------------------------------------------------------------------- the original


def pairs(result):
    return {tuple(pair) for pair in result.t().tolist()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_torch_cluster_agrees(dtype):
    theirs = pytest.importorskip("torch_cluster", reason="torch_cluster is not installed")
    for seed in range(5):
        x, y = [torch.from_numpy(cloud(n, seed=seed + n)).to(dtype) for n in (70, 40)]
        of = [torch.arange(4).repeat_interleave(torch.tensor(sizes)) for sizes in ((20, 9, 1, 40), (9, 11, 3, 17))]
        for of_x, of_y in ((None, None), of):
            for k in (1, 4):
                assert torch.equal(mine.knn(x, y, k, of_x, of_y), theirs.knn(x, y, k, of_x, of_y))
                assert torch.equal(mine.knn_graph(x, k, of_x), theirs.knn_graph(x, k, of_x))
            actual, expected = [m.radius(x, y, 0.3, of_x, of_y, 100) for m in (mine, theirs)]
            assert pairs(actual) == pairs(expected)
            actual, expected = [m.radius_graph(x, 0.3, of_x, max_num_neighbors=100) for m in (mine, theirs)]
            assert pairs(actual) == pairs(expected)
            assert torch.equal(mine.nearest(x, y, of_x, of_y), theirs.nearest(x, y, of_x, of_y))
            for ratio in (0.1, 0.28, 1.0):
                assert torch.equal(mine.fps(x, of_x, ratio, False), theirs.fps(x, of_x, ratio, False))
        size = torch.tensor([0.1, 0.2, 0.3], dtype=dtype)
        assert torch.equal(mine.grid_cluster(x, size), theirs.grid_cluster(x, size))


class TestOffsetsOnAGpu:
    """What a GPU is asked for: the same on the CPU."""

    @pytest.mark.parametrize("sizes", [[3, 4], [2, 2, 2], [0, 3, 0, 1, 0], [5]])
    @pytest.mark.parametrize("batch_size", [None, 7])
    def test_as_on_the_cpu(self, sizes, batch_size):
        from farpoint.compat import _clouds

        batch = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
        other = torch.tensor([0, 0, 1]) if len(sizes) > 1 else torch.tensor([0, 0, 0])
        points, queries = torch.rand(len(batch), 3), torch.rand(3, 3)
        for given, requested in (([batch], points), ([batch, other], queries)):
            actual, expected = (
                pair(points, requested, given, ("batch_x", "batch_y"), batch_size)
                for pair in (_clouds._pair_on_gpu, _clouds._pair_on_cpu)
            )
            assert actual.ends == expected.ends and actual.finite and actual.sizes() == expected.sizes()
            assert actual.point_offsets.tolist() == expected.point_offsets
            assert actual.query_offsets.tolist() == expected.query_offsets

    def test_errors_and_numbers_that_are_not_finite(self):
        from farpoint.compat import _clouds

        def pair(batch, batch_size=None, points=None):
            batch = torch.tensor(batch)
            points = torch.rand(len(batch), 3) if points is None else points
            return _clouds._pair_on_gpu(points, points, [batch], ("batch", "batch"), batch_size)

        for wrong in ([0, 1, 0, 1], [-1, 0, 1], [1, 0], [0, -1]):
            with pytest.raises(ValueError, match="batch must ascend from 0"):
                pair(wrong)
        with pytest.raises(ValueError, match="batch_size is 2"):
            pair([0, 1, 2], 2)
        for value in (float("nan"), float("inf")):
            points = torch.rand(4, 3)
            points[2, 1] = value
            assert not pair([0, 0, 1, 1], None, points).finite
        assert pair([0, 0, 1, 1], None, torch.full((4, 3), 3e38)).finite

    @pytest.mark.parametrize("sizes", [[6, 6, 6], [4, 9, 6]])
    @pytest.mark.parametrize("k", [2, 5])
    @pytest.mark.parametrize("turned", [False, True])
    def test_edges(self, sizes, k, turned):
        from farpoint.compat import _clouds

        batch = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
        points = torch.randint(3, (len(batch), 3)).double()
        for one, queries in ((True, points), (False, points + 0.5)):
            given = [batch] if one else [batch, batch.clone()]
            actual, expected = (
                _edges.knn_edges(pair(points, queries, given, ("batch", "batch"), None), k, one, turned)
                for pair in (_clouds._pair_on_gpu, _clouds._pair_on_cpu)
            )
            assert torch.equal(actual, expected) and actual.is_contiguous()
