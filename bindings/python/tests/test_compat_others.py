"""``farpoint.compat`` of kaolin, ChamferDistancePytorch, pyg_lib and Open3D: against what they document."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from conftest import cloud, obvious_nearest, reference

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import chamfer_3d, fscore, kaolin, pyg_lib, torch_cluster  # noqa: E402
from farpoint.compat import open3d as mine3d  # noqa: E402


def batch(b=3, n=20, d=3, seed=0, dtype=torch.float32):
    return torch.from_numpy(np.stack([cloud(n, d, seed=seed + s) for s in range(b)])).to(dtype)


FLOATS = [torch.float16, torch.float32, torch.float64]


class TestKaolin:
    """The examples of kaolin's documentation, and its rules by loops."""

    p1 = torch.tensor([[[8.8977, 4.1709, 1.2839], [8.5640, 7.7767, 9.4214]],
                       [[0.5431, 6.4495, 11.4914], [3.2126, 8.0865, 3.1018]]])
    p2 = torch.tensor([[[6.9340, 6.1152, 3.4435], [0.1032, 9.8181, 11.3350]],
                       [[11.4006, 2.2154, 7.9589], [4.2586, 1.4133, 7.2606]]])
    p3 = torch.tensor([[[9.4863, 4.2249, 0.1712], [8.1783, 8.5310, 8.5119]],
                       [[-0.0020699, 6.4429, 12.3], [3.8386, 8.3585, 4.7662]]])

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_distances(self, dtype):
        p1, p2 = self.p1.to(dtype), self.p2.to(dtype)
        near = dict(rtol=5e-3, atol=0.05) if dtype == torch.float16 else dict(rtol=1e-5, atol=1e-3)
        distances, indices = kaolin.sided_distance(p1, p2)
        assert indices.tolist() == [[0, 0], [1, 1]] and distances.dtype == dtype
        expected = torch.tensor([[12.3003, 41.1528], [57.0679, 62.9213]], dtype=dtype)
        torch.testing.assert_close(distances, expected, **near)
        for options, values in (
            ({}, [72.5838, 151.0809]), (dict(w1=1.3, w2=0.8), [71.4303, 150.8620]),
            (dict(squared=False), [11.1704, 17.1130]),
        ):
            actual = kaolin.chamfer_distance(p1, p2, **options)
            torch.testing.assert_close(actual, torch.tensor(values, dtype=dtype), **near)

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_f_score(self, dtype):
        for radius, expected in ((1, [0.0, 0.5]), (1.5, [1.0, 0.5])):
            actual = kaolin.f_score(self.p1.to(dtype), self.p3.to(dtype), radius)
            assert actual.dtype == dtype
            torch.testing.assert_close(actual, torch.tensor(expected, dtype=dtype), rtol=1e-3, atol=1e-6)

    def test_f_score_by_counting(self):
        true, predicted = batch(2, 20).requires_grad_(), batch(2, 33, seed=9)
        for radius in (0.0, 0.05, 0.2, 0.4, 3.0):
            result = kaolin.f_score(true, predicted, radius)
            assert not result.requires_grad
            for a, b, score in zip(true.detach().numpy(), predicted.numpy(), result.tolist()):
                missed = int((np.sqrt(obvious_nearest(a, b)[0]) > radius).sum())
                hits = int((np.sqrt(obvious_nearest(b, a)[0]) <= radius).sum())
                precision, recall = hits / 33, hits / (hits + missed)
                assert score == pytest.approx(2 * precision * recall / (precision + recall + 1e-8), abs=1e-6)

    def test_gradients(self):
        p1, p2 = (batch(2, n, seed=n, dtype=torch.float64).requires_grad_() for n in (4, 5))
        torch.autograd.gradcheck(lambda a, b: kaolin.sided_distance(a, b)[0], (p1, p2))
        torch.autograd.gradcheck(lambda a, b: kaolin.chamfer_distance(a, b, 0.5, 2.0, False), (p1, p2))

    def test_center_points(self):
        points = batch(2, 20, dtype=torch.float64) * 4 + 7
        centered = kaolin.center_points(points)
        low, high = points.amin(1), points.amax(1)
        torch.testing.assert_close(centered, points - ((low + high) / 2)[:, None])
        scaled = kaolin.center_points(points, normalize=True)
        torch.testing.assert_close(scaled, centered / (high - low).amax(1)[:, None, None])
        assert not kaolin.center_points(torch.ones(1, 4, 3), True).any()
        assert kaolin.center_points(torch.ones(1, 1, 3) * 3, True, eps=0.5).shape == (1, 1, 3)
        assert kaolin.center_points(points[:, :0]).shape == (2, 0, 3)

    def test_farthest_point_sampling(self):
        points = batch(3, 50)
        result = kaolin.farthest_point_sampling(points, 12)
        assert result.dtype == torch.int64 and result.shape == (3, 12)
        for one, rows in zip(points.numpy(), result.tolist()):
            apart = ((one.astype(float) - one.astype(float).mean(0)) ** 2).sum(1)
            assert rows == reference(one, 12, [int(apart.argmax())])[0].tolist()
        assert kaolin.farthest_point_sampling(points, 0).shape == (3, 0)

    def test_points_that_are_no_numbers_come_last(self):
        points = batch(3, 8)
        points[0, 2], points[0, 5, 1], points[2] = torch.nan, torch.inf, torch.nan
        result = kaolin.farthest_point_sampling(points, 8)
        assert [sorted(rows) for rows in result.tolist()] == [list(range(8))] * 3
        assert result[0, 6:].tolist() == [2, 5] and result[2].tolist() == list(range(8))
        usable = [0, 1, 3, 4, 6, 7]
        alone = kaolin.farthest_point_sampling(points[:1, usable], 6)[0]
        assert [usable[row] for row in alone] == result[0, :6].tolist()
        assert torch.equal(result[1], kaolin.farthest_point_sampling(points[1:2], 8)[0])

    def test_refused(self):
        array, points = batch().numpy(), batch()
        for call in (
            lambda: kaolin.sided_distance(array, points), lambda: kaolin.chamfer_distance(points, array),
            lambda: kaolin.f_score(array, points), lambda: kaolin.center_points(array),
            lambda: kaolin.farthest_point_sampling(array, 2),
        ):
            with pytest.raises(TypeError, match="takes tensors, as torch.as_tensor"):
                call()
        bad = points.clone()
        bad[0, 0, 0] = torch.nan
        for call in (
            lambda: kaolin.sided_distance(points, points[:2]), lambda: kaolin.sided_distance(points, points[..., :2]),
            lambda: kaolin.sided_distance(points[None], points), lambda: kaolin.chamfer_distance(bad, points),
            lambda: kaolin.center_points(points[0]), lambda: kaolin.farthest_point_sampling(points[0], 2),
            lambda: kaolin.farthest_point_sampling(points, 21), lambda: kaolin.farthest_point_sampling(bad, 21),
            lambda: kaolin.f_score(points, points[:, :0]),
        ):
            with pytest.raises(ValueError):
                call()


class TestChamferDistancePytorch:
    @pytest.mark.parametrize("d", [2, 3, 5, 6])
    def test_modules(self, d):
        """``import chamfer3D.dist_chamfer_3D`` and what comes after it."""
        module = importlib.import_module(f"farpoint.compat.chamfer{d}D.dist_chamfer_{d}D")
        package = importlib.import_module(f"farpoint.compat.chamfer{d}D")
        layer = getattr(getattr(package, f"dist_chamfer_{d}D"), f"chamfer_{d}DDist")
        x, y = batch(2, 20, d).requires_grad_(), batch(2, 30, d, seed=9)
        result = layer()(x, y)
        assert [part.dtype for part in result[2:]] == [torch.int32] * 2
        for k in range(2):
            for side, (a, b) in enumerate(((x, y), (y, x))):
                distances, indices = obvious_nearest(a[k].detach().numpy(), b[k].detach().numpy())
                np.testing.assert_array_equal(result[side][k].detach(), distances)
                np.testing.assert_array_equal(result[2 + side][k], indices)
        function = getattr(module, f"chamfer_{d}DFunction")
        assert all(torch.equal(a, b) for a, b in zip(function.apply(x, y), result))
        double = x.detach()[:, :5].double().requires_grad_()
        torch.autograd.gradcheck(lambda a: layer()(a, y.double())[:2], (double,))

    def test_fscore(self):
        dist1 = torch.tensor([[0.0, 0.0005, 0.001, 0.5], [1.0, 1.0, 1.0, 1.0], [0.0, torch.nan, 0.0, 0.0]])
        dist2 = torch.tensor([[0.0, 0.1], [1.0, 1.0], [0.0, 0.0]])
        score, first, second = fscore.fscore(dist1, dist2)
        assert first.tolist() == [0.5, 0, 0.75] and second.tolist() == [0.5, 0, 1]
        torch.testing.assert_close(score, torch.tensor([0.5, 0.0, 1.5 / 1.75]))
        assert fscore.fscore(dist1, dist2, threshold=2.0)[0][:2].tolist() == [1, 1]
        assert chamfer_3d.fscore is fscore.fscore

    def test_arrays(self):
        array, points = batch().numpy(), batch()
        for call in (
            lambda: chamfer_3d.chamfer_3DDist()(array, points), lambda: chamfer_3d.chamfer_5DDist()(points, array),
            lambda: chamfer_3d.fscore(array, points),
        ):
            with pytest.raises(TypeError, match="takes tensors, as torch.as_tensor"):
                call()
        for bad in (points * torch.nan, points[:, :0], points[:2]):
            with pytest.raises(ValueError):
                chamfer_3d.chamfer_3DDist()(points, bad)


class TestPygLib:
    x, y = torch.from_numpy(cloud(30)), torch.from_numpy(cloud(12, seed=7))
    of_x, of_y = torch.tensor([0] * 9 + [2] * 14 + [3] * 7), torch.tensor([0] * 4 + [1] * 2 + [2] * 6)
    ptr_x, ptr_y = torch.tensor([0, 9, 9, 23, 30]), torch.tensor([0, 4, 6, 12, 12])

    def test_as_torch_cluster(self):
        ops, x, y = pyg_lib.ops, self.x, self.y
        batches, pointers = (self.of_x, self.of_y), (self.ptr_x, self.ptr_y)
        for own, ptrs in (((None, None), (None, None)), (batches, pointers)):
            for actual, expected in (
                (ops.knn(x, y, 3, *ptrs), torch_cluster.knn(x, y, 3, *own)),
                (ops.knn(x, y, 3, *ptrs, cosine=True), torch_cluster.knn(x, y, 3, *own, cosine=True)),
                (ops.radius(x, y, 0.4, *ptrs, 5), torch_cluster.radius(x, y, 0.4, *own, 5)),
                (ops.radius(x, y, 0.4, *ptrs, ignore_same_index=True),
                 torch_cluster.radius(x, y, 0.4, *own, ignore_same_index=True)),
                # Rows are the other way round than in torch_cluster, as in pyg_lib.
                (ops.knn_graph(x, 3, ptrs[0]), torch_cluster.knn_graph(x, 3, own[0]).flip(0)),
                (ops.radius_graph(x, 0.4, ptrs[0], loop=True, flow="target_to_source"),
                 torch_cluster.radius_graph(x, 0.4, own[0], loop=True)),
                (ops.fps(x, torch.tensor([0, 30]) if ptrs[0] is None else ptrs[0], 0.3, False),
                 torch_cluster.fps(x, own[0], 0.3, False)),
                (ops.nearest(y[:4], x, None, None), torch_cluster.nearest(y[:4], x)),
            ):
                assert torch.equal(actual, expected)
        assert torch.equal(ops.knn(x, y), torch_cluster.knn(x, y, 1))
        assert torch.equal(ops.radius(x, y), torch_cluster.radius(x, y, 1.0))

    def test_documented(self):
        line = torch.tensor([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
        graph = pyg_lib.ops.knn_graph(line, k=2)
        assert graph.tolist() == [[0, 0, 1, 1, 2, 2, 3, 3], [1, 2, 0, 2, 1, 3, 2, 1]]
        assert pyg_lib.ops.radius(line, torch.tensor([[0.5, 0.0]]), r=1.5).tolist() == [[0, 0], [0, 1]]
        queries = torch.tensor([[0.0, 0.0], [3.0, 0.0]])
        assert pyg_lib.ops.nearest(queries, line[1:3]).tolist() == [0, 1]
        near = pyg_lib.ops.nearest(self.x[:23], self.y, self.ptr_x[:4], self.ptr_y[:4])
        assert near.tolist() == torch_cluster.nearest(self.x[:23], self.y, self.of_x[:23], self.of_y).tolist()

    def test_refused(self):
        ops, x, y = pyg_lib.ops, self.x, self.y
        for call, text in (
            (lambda: ops.knn(x, y, 1, self.ptr_x, self.ptr_y[1:]), "ptr_x has 4 clouds and ptr_y 3"),
            (lambda: ops.knn(x, y, 1, self.ptr_x), "ptr_x has 4 clouds and ptr_y 1"),
            (lambda: ops.knn(x, y, 1, self.ptr_x + 1, self.ptr_y), "ascend from 0 to the 30 rows"),
            (lambda: ops.fps(x, self.ptr_x[:3]), "ascend from 0 to the 30 rows"),
            (lambda: ops.nearest(x, y, self.ptr_x, self.ptr_y), "occur in ptr_x that do not occur in ptr_y"),
            (lambda: ops.knn_graph(x, 0), "k is 0"),
        ):
            with pytest.raises(ValueError, match=text):
                call()
        for call in (
            lambda: ops.knn(x.numpy(), y), lambda: ops.fps(x, [0, 30]), lambda: ops.radius(x, y, 1.0, [0, 30], None),
        ):
            with pytest.raises(TypeError, match="takes tensors, as torch.as_tensor"):
                call()


class TestOpen3d:
    @pytest.fixture
    def o3d(self):
        return pytest.importorskip("open3d", reason="open3d is not installed or does not load",
                                   exc_type=ImportError)

    def test_empty_clouds(self, o3d):
        for empty in (o3d.geometry.PointCloud(), o3d.t.geometry.PointCloud()):
            with pytest.raises(ValueError):
                mine3d.farthest_point_down_sample(empty, 2)
            none = mine3d.farthest_point_down_sample(empty, 0)
            assert type(none) is type(empty) and none.is_empty()
            points = cloud(5, dtype=np.float64)
            assert mine3d.compute_point_cloud_distance(empty, points).shape == (0,)
            assert mine3d.compute_point_cloud_distance(points, empty).tolist() == [0] * 5
        full = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points))
        assert list(full.compute_point_cloud_distance(o3d.geometry.PointCloud())) == [0] * 5

    def test_no_samples(self, o3d):
        points = cloud(5)
        for full in (o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points.astype(np.float64))),
                     o3d.t.geometry.PointCloud(o3d.core.Tensor(points))):
            assert mine3d.farthest_point_down_sample(full, 0).is_empty()
            assert not mine3d.farthest_point_down_sample(full, 5).is_empty()

    def test_arrays_and_others(self):
        points = cloud(9)
        assert mine3d.farthest_point_down_sample(points[:0], 0).shape == (0, 3)
        assert mine3d.farthest_point_down_sample(points, 0).shape == (0, 3)
        with pytest.raises(TypeError, match="a builtins.int is no point cloud"):
            mine3d.farthest_point_down_sample(3, 1)
        with pytest.raises(ValueError, match="must be"):
            mine3d.compute_point_cloud_distance(points[0], points)
        points[3, 1] = np.nan
        for call in (lambda: mine3d.farthest_point_down_sample(points, 2),
                     lambda: mine3d.compute_point_cloud_distance(points, points)):
            with pytest.raises(ValueError):
                call()


def test_every_module_is_named_and_says_what_differs():
    import farpoint.compat

    for result in pkgutil.iter_modules(farpoint.compat.__path__):
        if result.name.startswith("_"):
            continue
        assert result.name in farpoint.compat.__all__
        module = importlib.import_module(f"farpoint.compat.{result.name}")
        texts = [module.__doc__ or "", *[inspect.getdoc(getattr(module, name)) or "" for name in module.__all__]]
        assert "iffer" in " ".join(texts) or "see ``farpoint.compat" in texts[0], result.name


@pytest.mark.parametrize("module", ["chamfer_3d", "kaolin"])
def test_default_device_elsewhere(module):
    x, y = batch(), batch(n=11)

    def results():
        if module == "chamfer_3d":
            yield from chamfer_3d.chamfer_3DDist()(x, y)
        else:
            yield from kaolin.sided_distance(x, y)
            yield kaolin.f_score(x, y, 0.2)
            yield kaolin.farthest_point_sampling(x, 4)
            yield kaolin.farthest_point_sampling(x.masked_fill(x > 0.9, torch.nan), 20)
            yield kaolin.center_points(x, True)

    expected = list(results())
    torch.set_default_device("meta")
    try:
        actual = list(results())
    finally:
        torch.set_default_device(None)
    assert all(torch.equal(a, b) for a, b in zip(actual, expected, strict=True))
