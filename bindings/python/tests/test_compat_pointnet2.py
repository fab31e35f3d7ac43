"""pointnet2_ops and OpenPCDet's batches: against loops that follow their documentation."""

import sys

import compat_loops as loops
import numpy as np
import pytest
from conftest import cloud

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import pointnet2_batch, pointnet2_ops  # noqa: E402
from farpoint.compat.pointnet2_ops import pointnet2_modules, pointnet2_utils  # noqa: E402


def clouds(b=2, n=50, d=3, dtype=np.float32, seed=0):
    return np.stack([cloud(n, d, dtype, seed + s) for s in range(b)])


def tensor(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def check(module, *inputs):
    inputs = [i.double().requires_grad_() for i in inputs]
    assert torch.autograd.gradcheck(module, inputs)


class TestBallQuery:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("radius, k", [(0.2, 4), (0.4, 16), (0.05, 1), (3.0, 64)])
    def test_the_first_by_index(self, dtype, radius, k):
        points, centers = clouds(dtype=dtype), clouds(n=20, dtype=dtype, seed=9)
        result = pointnet2_utils.ball_query(radius, k, tensor(points), tensor(centers))
        assert result.dtype == torch.int32 and result.shape == (2, 20, k)
        np.testing.assert_array_equal(result, loops.balls(points, centers, radius, k))
        again = pointnet2_utils.BallQuery.apply(radius, k, tensor(points), tensor(centers))
        assert torch.equal(again, result)

    def test_the_edge_is_outside(self):
        points = torch.tensor([[[0.5, 0, 0], [0, 0.25, 0], [0, 0, -0.5]]])
        result = pointnet2_utils.ball_query(0.5, 3, points, torch.zeros(1, 1, 3))
        assert result.tolist() == [[[1, 1, 1]]]

    def test_empty_balls_are_0(self):
        result = pointnet2_utils.ball_query(0.1, 3, tensor(clouds()), torch.full((2, 4, 3), 9.0))
        assert (result == 0).all()

    def test_more_twins_than_places(self):
        points = torch.tensor([[[1.0, 0, 0]] + [[0.0, 0, 0]] * 9])
        result = pointnet2_utils.ball_query(0.5, 4, points, points)
        assert result[0, 0].tolist() == [0, 0, 0, 0]
        assert (result[0, 1:] == torch.tensor([1, 2, 3, 4])).all()

    def test_places_for_more_than_all(self):
        points = clouds(n=5)
        result = pointnet2_utils.ball_query(9.0, 300, tensor(points), tensor(points))
        np.testing.assert_array_equal(result, loops.balls(points, points, 9.0, 300))

    def test_wide_clouds(self):
        points = clouds(seed=3) * np.float32(1e7)
        result = pointnet2_utils.ball_query(3e6, 8, tensor(points), tensor(points))
        np.testing.assert_array_equal(result, loops.balls(points, points, 3e6, 8))

    def test_refused(self):
        points = tensor(clouds())
        for radius, k in ((-1.0, 3), (float("nan"), 3), (0.1, 0)):
            with pytest.raises(ValueError):
                pointnet2_utils.ball_query(radius, k, points, points)
        with pytest.raises(TypeError, match="xyz must be a torch.Tensor, not ndarray"):
            pointnet2_utils.ball_query(0.1, 3, clouds(), points)
        with pytest.raises(ValueError, match=r"new_xyz must be of shape \(B, npoint, 3\), not \(50, 3\)"):
            pointnet2_utils.ball_query(0.1, 3, points, points[0])
        with pytest.raises(ValueError):
            pointnet2_utils.ball_query(0.1, 3, points[:, :0], points)


class TestThreeNN:
    @pytest.mark.parametrize("known", [1, 2, 3, 40])
    def test_nearest_by_distance_then_index(self, known):
        a, b = clouds(n=20, seed=4), clouds(n=known, seed=5)
        a[:, 0] = b[:, 0]
        distances, indices = pointnet2_utils.three_nn(tensor(a), tensor(b))
        expected = loops.threes(a, b)
        loops.same_roots(distances, expected[0])
        np.testing.assert_array_equal(indices, expected[1])
        assert indices.dtype == torch.int32 and distances.dtype == torch.float32
        assert torch.equal(pointnet2_utils.ThreeNN.apply(tensor(a), tensor(b))[1], indices)

    def test_ties_go_to_the_lowest_index(self):
        known = torch.tensor([[[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0]]])
        assert pointnet2_utils.three_nn(torch.zeros(1, 1, 3), known)[1].tolist() == [[[0, 1, 2]]]

    def test_clouds_1e5_wide_and_float64(self):
        known = torch.tensor([[[3e5, 0, 0], [-2e6, 0, 0], [1e6, 0, 0]]])
        distances, indices = pointnet2_utils.three_nn(torch.zeros(1, 1, 3), known)
        assert indices.tolist() == [[[0, 2, 1]]] and distances.tolist() == [[[3e5, 1e6, 2e6]]]
        fine = torch.tensor([[[1 + 1e-12, 0, 0], [1, 0, 0], [2, 0, 0]]], dtype=torch.float64)
        assert pointnet2_utils.three_nn(fine[:, 1:2] * 0, fine)[1].tolist() == [[[1, 0, 2]]]

    def test_distances_have_no_gradient(self):
        points = tensor(clouds()).requires_grad_()
        assert not pointnet2_utils.three_nn(points, points)[0].requires_grad

    def test_weights_of_too_few_points(self):
        known = torch.tensor([[[2.0, 0, 0]]])
        distances, indices = pointnet2_utils.three_nn(torch.zeros(1, 1, 3), known)
        weights = 1 / (distances + 1e-8)
        weights = weights / weights.sum(dim=2, keepdim=True)
        result = pointnet2_utils.three_interpolate(torch.tensor([[[7.0]]]), indices, weights)
        assert result.tolist() == [[[7.0]]]


class TestGathering:
    features = clouds(n=30, d=7, seed=2).transpose(0, 2, 1)
    rows = np.random.default_rng(5).integers(0, 30, (2, 6, 4))

    @pytest.mark.parametrize("kind", [torch.int32, torch.int64])
    def test_values(self, kind):
        """int64 is not read as int32 (Pointnet2_PyTorch #17)."""
        index, features = tensor(self.rows).to(kind), tensor(self.features)
        result = pointnet2_utils.grouping_operation(features, index)
        assert result.is_contiguous()
        np.testing.assert_array_equal(result, loops.group(self.features, self.rows))
        assert torch.equal(pointnet2_utils.GroupingOperation.apply(features, index), result)
        single = pointnet2_utils.gather_operation(features, index[:, :, 0])
        assert torch.equal(single, result[..., 0]) and single.is_contiguous()
        assert torch.equal(pointnet2_utils.GatherOperation.apply(features, index[:, :, 0]), single)

    def test_strides(self):
        features = tensor(self.features.transpose(0, 2, 1)).transpose(1, 2)
        index = tensor(self.rows.transpose(0, 2, 1)).transpose(1, 2)
        result = pointnet2_utils.grouping_operation(features, index)
        np.testing.assert_array_equal(result, loops.group(self.features, self.rows))

    def test_gradients(self):
        index, features = tensor(self.rows), tensor(self.features)
        check(lambda f: pointnet2_utils.grouping_operation(f, index), features)
        check(lambda f: pointnet2_utils.gather_operation(f, index[..., 0]), features)

    @pytest.mark.parametrize("wrong", [30, -2, 2**31])
    def test_outside(self, wrong):
        index = tensor(self.rows).clone()
        index[1, 2, 3] = wrong
        with pytest.raises((IndexError, ValueError), match=str(wrong)):
            pointnet2_utils.grouping_operation(tensor(self.features), index)

    def test_interpolation(self):
        features, rows = tensor(self.features), self.rows[..., :3]
        weights = np.random.default_rng(1).random((2, 6, 3)).astype(np.float32)
        for kind in (torch.int32, torch.int64):
            actual = pointnet2_utils.three_interpolate(features, tensor(rows).to(kind), tensor(weights))
            assert actual.is_contiguous()
            expected = loops.interpolated(self.features, rows, weights)
            np.testing.assert_array_equal(actual, expected)
        again = pointnet2_utils.ThreeInterpolate.apply(features, tensor(rows), tensor(weights))
        assert torch.equal(again, actual)
        check(lambda f, w: pointnet2_utils.three_interpolate(f, tensor(rows), w), features, tensor(weights))

    def test_halves_are_summed_in_float32(self):
        rows, weights = tensor(self.rows[..., :3]), torch.rand(2, 6, 3)
        for kind in (torch.float16, torch.bfloat16):
            features = tensor(self.features).to(kind)
            actual = pointnet2_utils.three_interpolate(features, rows, weights)
            expected = pointnet2_utils.three_interpolate(features.float(), rows, weights).to(kind)
            assert torch.equal(actual, expected)


class TestGroups:
    points, centers, features = clouds(), clouds(n=12, seed=7), clouds(n=50, d=5, seed=8).transpose(0, 2, 1)

    def inputs(self):
        return tensor(self.points), tensor(self.centers), tensor(self.features)

    def expected(self, features=None, radius=0.4):
        rows = loops.balls(self.points, self.centers, radius, 6)
        return loops.grouped_around(self.points, self.centers, rows, features)

    @pytest.mark.parametrize("library", [pointnet2_ops, pointnet2_batch])
    def test_query_and_group(self, library):
        result = library.QueryAndGroup(0.4, 6)(*self.inputs())
        assert result.shape == (2, 8, 12, 6) and result.is_contiguous()
        np.testing.assert_array_equal(result, self.expected(self.features))
        positions = library.QueryAndGroup(0.4, 6)(*self.inputs()[:2])
        np.testing.assert_array_equal(positions, self.expected())
        described = library.QueryAndGroup(0.4, 6, use_xyz=False)(*self.inputs())
        np.testing.assert_array_equal(described, self.expected(self.features)[:, 3:])
        with pytest.raises(ValueError, match="use_xyz"):
            library.QueryAndGroup(0.4, 6, use_xyz=False)(*self.inputs()[:2])

    def test_gradients(self):
        module = pointnet2_utils.QueryAndGroup(0.4, 3)
        points, centers, features = (part[:1, :, :] for part in self.inputs())
        check(module, points[:, :20], centers[:, :4], features[:, :2, :20])

    def test_group_all(self):
        points, centers, features = self.inputs()
        result = pointnet2_utils.GroupAll()(points, None, features)
        assert result.shape == (2, 8, 1, 50)
        assert torch.equal(result[:, :3, 0], points.transpose(1, 2)) and torch.equal(result[:, 3:, 0], features)
        assert torch.equal(pointnet2_utils.GroupAll(False)(points, centers, features)[:, :, 0], features)
        assert torch.equal(pointnet2_utils.GroupAll()(points, None), result[:, :3])

    def test_votenet_options(self):
        """ret_grouped_xyz, normalize_xyz, sample_uniformly and ret_unique_cnt of VoteNet's fork."""
        torch.manual_seed(1)
        module = pointnet2_utils.QueryAndGroup(0.25, 6, True, True, True, True, True)
        groups, positions, counts = module(*self.inputs())
        assert torch.equal(groups[:, :3], positions)
        rows = loops.balls(self.points, self.centers, 0.25, 6)
        for b, m in np.ndindex(2, 12):
            different = np.unique(rows[b, m])
            assert counts[b, m] == len(different)
            exact = (self.points[b, different] - self.centers[b, m]) / np.float32(0.25)
            np.testing.assert_array_equal(positions[b, :, m, : len(different)].T, exact)
            for place in positions[b, :, m].T.numpy():
                assert (place == exact).all(axis=1).any()
        with pytest.raises(ValueError, match="sample_uniformly"):
            pointnet2_utils.QueryAndGroup(0.25, 6, ret_unique_cnt=True)


class TestSampling:
    def test_more_than_there_are(self):
        """OpenPCDet's PV-RCNN takes the first N and repeats them itself."""
        points = tensor(clouds(n=7))
        result = pointnet2_utils.furthest_point_sample(points, 20)
        assert result.shape == (2, 20) and result.dtype == torch.int32
        assert torch.equal(result[:, :7], pointnet2_utils.furthest_point_sample(points, 7))
        assert (result[:, :7].sort().values == torch.arange(7)).all() and (result[:, 7:] == 0).all()

    def test_empty_clouds(self):
        with pytest.raises(ValueError):
            pointnet2_utils.furthest_point_sample(torch.zeros(2, 0, 3), 4)
        assert pointnet2_utils.furthest_point_sample(torch.zeros(0, 5, 3), 4).shape == (0, 4)

    def test_arrays(self):
        with pytest.raises(TypeError, match="ndarray"):
            pointnet2_utils.furthest_point_sample(clouds(), 4)


class TestModules:
    def test_names_of_checkpoints(self):
        """conv, norm and relu follow one another; a list for each scale."""
        net = pointnet2_modules.PointnetSAModuleMSG(8, [0.1, 0.2], [4, 8], [[5, 8, 9], [5, 16]])
        expected = {
            "mlps.0.0.weight": (8, 8, 1, 1), "mlps.0.3.weight": (9, 8, 1, 1),
            "mlps.1.0.weight": (16, 8, 1, 1), "mlps.0.1.running_mean": (8,), "mlps.0.4.bias": (9,),
        }
        state = {name: tuple(value.shape) for name, value in net.state_dict().items()}
        assert expected.items() <= state.items() and "mlps.0.0.bias" not in state
        assert len(state) == 3 * (1 + 5)
        plain = pointnet2_modules.PointnetSAModule([5, 8], 8, 0.1, 4, bn=False).state_dict()
        assert list(plain) == ["mlps.0.0.weight", "mlps.0.0.bias"]
        assert list(pointnet2_modules.PointnetFPModule([5, 8]).state_dict())[:2] == [
            "mlp.0.weight", "mlp.1.weight"]
        # OpenPCDet's normalize whatever bn says (PointRCNN's configuration has USE_BN: False).
        batch = pointnet2_batch.PointnetSAModule(mlp=[5, 8], npoint=8, radius=0.1, nsample=4, bn=False)
        assert "mlps.0.1.running_mean" in batch.state_dict()
        assert "mlps.0.0.bias" not in batch.state_dict()
        assert "mlp.1.weight" in pointnet2_batch.PointnetFPModule(mlp=[5, 8], bn=False).state_dict()

    def test_given_lists_stay(self):
        mlp = [5, 8]
        for _ in range(2):
            net = pointnet2_modules.PointnetSAModule(mlp, 8, 0.1, 4)
        assert mlp == [5, 8] and net.mlps[0][0].in_channels == 8
        assert pointnet2_modules.PointnetSAModule(mlp, 8, 0.1, 4, use_xyz=False).mlps[0][0].in_channels == 5

    @pytest.mark.parametrize("library, pool", [
        (pointnet2_ops, "max"), (pointnet2_batch, "max"), (pointnet2_batch, "avg"),
    ])
    def test_set_abstraction(self, library, pool):
        torch.manual_seed(0)
        points, features = clouds(), clouds(n=50, d=5, seed=8).transpose(0, 2, 1)
        options = {} if pool == "max" else {"pool_method": "avg_pool"}
        net = library.PointnetSAModuleMSG(
            npoint=9, radii=[0.2, 0.5], nsamples=[4, 8], mlps=[[5, 6], [5, 7]], **options)
        centers, described = net(tensor(points), tensor(features))
        chosen = library.furthest_point_sample(tensor(points), 9).numpy()
        for b in range(2):
            np.testing.assert_array_equal(centers[b], points[b][chosen[b]])
        parts = []
        for radius, k, mlp in zip([0.2, 0.5], [4, 8], net.mlps):
            rows = loops.balls(points, centers.numpy(), radius, k)
            groups = mlp(tensor(loops.grouped_around(points, centers.numpy(), rows, features)))
            parts.append(groups.amax(dim=-1) if pool == "max" else groups.mean(dim=-1))
        torch.testing.assert_close(described, torch.cat(parts, dim=1))

    def test_group_of_all(self):
        net = pointnet2_modules.PointnetSAModule([5, 6])
        centers, described = net(tensor(clouds()), torch.rand(2, 5, 50))
        assert centers is None and described.shape == (2, 6, 1)

    def test_given_centers(self):
        net = pointnet2_batch.PointnetSAModule(mlp=[0, 6], npoint=9, radius=0.3, nsample=4)
        centers = tensor(clouds(n=4, seed=3))
        result, described = net(tensor(clouds()), new_xyz=centers)
        assert result is centers and described.shape == (2, 6, 4)

    def test_feature_propagation(self):
        torch.manual_seed(0)
        unknown, known = clouds(n=20), clouds(n=6, seed=3)
        own, sparse = torch.rand(2, 4, 20), torch.rand(2, 5, 6)
        for net in (pointnet2_modules.PointnetFPModule([9, 7]), pointnet2_batch.PointnetFPModule(mlp=[9, 7])):
            distances, rows = loops.threes(unknown, known)
            weights = 1 / (distances + np.float32(1e-8))
            weights /= weights.sum(axis=2, keepdims=True)
            spread = tensor(loops.interpolated(sparse.numpy(), rows, weights))
            expected = net.mlp(torch.cat([spread, own], dim=1).unsqueeze(-1)).squeeze(-1)
            torch.testing.assert_close(net(tensor(unknown), tensor(known), own, sparse), expected)
        only = pointnet2_modules.PointnetFPModule([5, 7])
        assert only(tensor(unknown), tensor(known), None, sparse).shape == (2, 7, 20)
        assert net(tensor(unknown), None, own, sparse[:, :, :1]).shape == (2, 7, 20)

    def test_refused(self):
        with pytest.raises(ValueError, match="2 radii, 1 nsamples and 1 mlps"):
            pointnet2_modules.PointnetSAModuleMSG(8, [0.1, 0.2], [4], [[5, 8]])
        net = pointnet2_batch.PointnetSAModule(mlp=[0, 6], npoint=9, radius=0.3, nsample=4, pool_method="sum")
        with pytest.raises(NotImplementedError, match="pool_method is 'sum'"):
            net(tensor(clouds()))


@pytest.fixture
def networks(monkeypatch):
    """Code of users, whose imports find farpoint's modules."""
    monkeypatch.setitem(sys.modules, "pointnet2_ops", pointnet2_ops)
    monkeypatch.setitem(sys.modules, "pointnet2_ops.pointnet2_utils", pointnet2_utils)
    monkeypatch.setitem(sys.modules, "pointnet2_ops.pointnet2_modules", pointnet2_modules)
    monkeypatch.delitem(sys.modules, "pointnet2_networks", raising=False)
    import pointnet2_networks

    yield pointnet2_networks
    sys.modules.pop("pointnet2_networks", None)


class TestNetworks:
    @pytest.mark.parametrize("several_scales", [False, True])
    def test_classifier_learns(self, networks, several_scales):
        torch.manual_seed(2)
        from pointnet import shapes

        generator = torch.Generator().manual_seed(1)
        net = networks.Classifier(2, several_scales)
        optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
        losses = []
        for _ in range(12):
            points, kind = shapes(8, 128, generator)
            loss = torch.nn.functional.cross_entropy(net(points), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert all(p.grad.abs().sum() > 0 for p in net.parameters() if p.dim() > 1)
        assert sum(losses[-3:]) < 0.8 * sum(losses[:3])

    def test_segmenter(self, networks):
        torch.manual_seed(2)
        points, features = tensor(clouds(n=128)).requires_grad_(), torch.rand(2, 4, 128, requires_grad=True)
        net = networks.Segmenter(3, 4)
        result = net(points, features)
        assert result.shape == (2, 3, 128)
        torch.nn.functional.cross_entropy(result, torch.randint(3, (2, 128))).backward()
        assert (points.grad != 0).any() and (features.grad != 0).any()
        assert all((p.grad != 0).any() for p in net.parameters() if p.dim() > 1)

    def test_steps_repeat_themselves(self, networks):
        def gradients():
            torch.manual_seed(3)
            net = networks.EdgeNetwork(4)
            features = torch.rand(2, 4, 60, requires_grad=True)
            net(tensor(clouds(n=60)), features).square().sum().backward()
            return [features.grad, *(p.grad for p in net.parameters())]

        assert all(torch.equal(a, b) for a, b in zip(gradients(), gradients()))

    def test_compiled(self, networks):
        torch.manual_seed(3)
        net, points, features = networks.EdgeNetwork(4).eval(), tensor(clouds(n=60)), torch.rand(2, 4, 60)
        compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
        # Convolutions and norms may be rounded otherwise where they are compiled.
        torch.testing.assert_close(compiled(points, features), net(points, features))
