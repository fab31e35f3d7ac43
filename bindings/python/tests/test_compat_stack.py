"""OpenPCDet's stacks of clouds: against loops that follow their documentation."""

import compat_loops as loops
import numpy as np
import pytest
from conftest import cloud, reference

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import pointnet2_stack  # noqa: E402
from farpoint.compat.pointnet2_stack import pointnet2_modules, pointnet2_utils  # noqa: E402

POINTS, COUNTS = cloud(90), [40, 0, 20, 30]
CENTERS, NEW_COUNTS = cloud(25, seed=6), [10, 4, 0, 11]
FEATURES = cloud(90, 5, seed=7)


def tensor(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def counts(values):
    return torch.tensor(values, dtype=torch.int32)


def stacks(dtype=np.float32):
    return (
        tensor(POINTS.astype(dtype)), counts(COUNTS), tensor(CENTERS.astype(dtype)), counts(NEW_COUNTS)
    )


def clouds():
    """Rows of the centers and of the points of each cloud."""
    ends, new_ends = np.cumsum([0, *COUNTS]), np.cumsum([0, *NEW_COUNTS])
    for c in range(len(COUNTS)):
        yield range(new_ends[c], new_ends[c + 1]), range(ends[c], ends[c + 1])


def expected_balls(radius, k, dtype=np.float32):
    points, centers = POINTS.astype(dtype), CENTERS.astype(dtype)
    indices, empty = np.zeros((25, k), np.int64), np.ones(25, bool)
    for own, rows in clouds():
        for m in own:
            indices[m], result = loops.ball(centers[m], points[rows.start : rows.stop], radius, k)
            empty[m] = not result
    return indices, empty


class TestBallQuery:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("radius, k", [(0.2, 3), (0.5, 16), (4.0, 100)])
    def test_indices_within_the_cloud(self, dtype, radius, k):
        """Cloud 1 has centers and no points (OpenPCDet #947), cloud 2 points and no centers."""
        result, empty = pointnet2_utils.ball_query(radius, k, *stacks(dtype))
        indices, none = expected_balls(radius, k, dtype)
        assert result.dtype == torch.int32 and empty.dtype == torch.bool
        np.testing.assert_array_equal(result, indices)
        np.testing.assert_array_equal(empty, none)
        assert empty[10:14].all() and not empty[:10].all() or radius < 0.5
        again = pointnet2_utils.BallQuery.apply(radius, k, *stacks(dtype))
        assert torch.equal(again[0], result) and torch.equal(again[1], empty)

    def test_no_points_at_all(self):
        result, empty = pointnet2_utils.ball_query(
            0.5, 3, torch.zeros(0, 3), counts([0, 0]), torch.zeros(2, 3), counts([1, 1]))
        assert result.tolist() == [[0] * 3] * 2 and empty.all()
        result, empty = pointnet2_utils.ball_query(
            0.5, 3, torch.zeros(2, 3), counts([1, 1]), torch.zeros(0, 3), counts([0, 0]))
        assert result.shape == (0, 3) and empty.shape == (0,)

    def test_more_twins_than_places(self):
        points = torch.zeros(9, 3)
        result, _ = pointnet2_utils.ball_query(0.5, 2, points, counts([4, 5]), points, counts([4, 5]))
        assert (result == torch.tensor([0, 1])).all()

    def test_refused(self):
        points, own, centers, new = stacks()
        with pytest.raises(ValueError, match=r"xyz_batch_cnt \[40, 0, 20, 31\] must add up to the 90 rows"):
            pointnet2_utils.ball_query(0.2, 3, points, counts([40, 0, 20, 31]), centers, new)
        with pytest.raises(ValueError, match="4 and 2 clouds|2 and 4 clouds"):
            pointnet2_utils.ball_query(0.2, 3, points, own, centers, counts([10, 15]))
        with pytest.raises(ValueError):
            pointnet2_utils.ball_query(-1.0, 3, points, own, centers, new)
        with pytest.raises(TypeError, match="ndarray"):
            pointnet2_utils.ball_query(0.2, 3, POINTS, own, centers, new)


class TestGrouping:
    def indices(self):
        rng, result = np.random.default_rng(3), np.zeros((25, 4), np.int64)
        for own, rows in clouds():
            for m in own:
                result[m] = rng.integers(0, max(len(rows), 1), 4)
        return result

    @pytest.mark.parametrize("kind", [torch.int32, torch.int64])
    def test_rows_of_the_own_cloud(self, kind):
        index = tensor(self.indices()).to(kind)
        actual = pointnet2_utils.grouping_operation(tensor(FEATURES), counts(COUNTS), index, counts(NEW_COUNTS))
        expected = np.zeros((25, 5, 4), np.float32)
        for own, rows in clouds():
            for m in own:
                for j in range(4):
                    if len(rows):
                        expected[m, :, j] = FEATURES[rows[index[m, j]]]
        assert actual.is_contiguous()
        np.testing.assert_array_equal(actual, expected)
        again = pointnet2_utils.GroupingOperation.apply(
            tensor(FEATURES), counts(COUNTS), index, counts(NEW_COUNTS))
        assert torch.equal(again, actual)

    def test_gradients(self):
        index, features = tensor(self.indices()), tensor(FEATURES[:, :2]).double().requires_grad_()
        assert torch.autograd.gradcheck(
            lambda f: pointnet2_utils.grouping_operation(f, counts(COUNTS), index, counts(NEW_COUNTS)),
            features,
        )

    def test_another_cloud_is_not_read(self):
        index = tensor(self.indices())
        index[0, 0] = 40
        with pytest.raises(ValueError, match="40"):
            pointnet2_utils.grouping_operation(tensor(FEATURES), counts(COUNTS), index, counts(NEW_COUNTS))
        with pytest.raises(ValueError, match="idx_batch_cnt"):
            pointnet2_utils.grouping_operation(tensor(FEATURES), counts(COUNTS), index, counts([10, 4, 0, 12]))

    def test_query_and_group(self):
        indices, empty = expected_balls(0.3, 4)
        assert 0 < empty.sum() < 25
        positions, described = np.zeros((25, 3, 4), np.float32), np.zeros((25, 5, 4), np.float32)
        for own, rows in clouds():
            for m in own:
                for j in range(4) if not empty[m] else ():
                    row = rows[indices[m, j]]
                    positions[m, :, j] = POINTS[row] - CENTERS[m]
                    described[m, :, j] = FEATURES[row]
        whole = np.concatenate([positions, described], axis=1)
        for options, features, expected in (
            ({}, tensor(FEATURES), whole), ({"use_xyz": False}, tensor(FEATURES), described),
            ({}, None, positions),
        ):
            actual, index = pointnet2_utils.QueryAndGroup(0.3, 4, **options)(*stacks(), features)
            assert actual.is_contiguous() and index.dtype == torch.int32
            np.testing.assert_array_equal(actual, expected)
            np.testing.assert_array_equal(index, indices)
        with pytest.raises(ValueError, match="use_xyz"):
            pointnet2_utils.QueryAndGroup(0.3, 4, use_xyz=False)(*stacks())

    def test_gradients_of_groups(self):
        module = pointnet2_utils.QueryAndGroup(0.5, 3)
        points, centers = (tensor(a).double().requires_grad_() for a in (POINTS[:12], CENTERS[:6]))
        features = tensor(FEATURES[:12, :2]).double().requires_grad_()
        assert torch.autograd.gradcheck(
            lambda p, c, f: module(p, counts([7, 0, 5]), c, counts([3, 1, 2]), f)[0],
            (points, centers, features),
        )


class TestInterpolation:
    def test_three_nn(self):
        """Rows count from the first of all; cloud 1 has no known point, another has two."""
        known, sizes = cloud(32, seed=2), [10, 0, 2, 20]
        unknown, new_sizes = cloud(15, seed=3), [3, 2, 4, 6]
        distances, rows = pointnet2_utils.three_nn(
            tensor(unknown), counts(new_sizes), tensor(known), counts(sizes))
        assert rows.dtype == torch.int32
        ends, new_ends = np.cumsum([0, *sizes]), np.cumsum([0, *new_sizes])
        for c, size in enumerate(sizes):
            for m in range(new_ends[c], new_ends[c + 1]):
                d, j = loops.nearest(unknown[m], known[ends[c] : ends[c + 1]], 3)
                missing = 3 - len(d)
                loops.same_roots(distances[m], d + [np.inf] * missing)
                filler = -1 if size == 0 else ends[c]
                assert rows[m].tolist() == [ends[c] + i for i in j] + [filler] * missing
        features = torch.rand(32, 4)
        weights = 1 / (distances + 1e-8)
        weights = weights / weights.sum(dim=1, keepdim=True)
        result = pointnet2_utils.three_interpolate(features, rows, weights)
        assert (result[3:5] == 0).all() and result[5:].isfinite().all()
        points = tensor(unknown).requires_grad_()
        assert not pointnet2_utils.three_nn(
            points, counts(new_sizes), tensor(known), counts(sizes))[0].requires_grad
        again = pointnet2_utils.ThreeNN.apply(
            tensor(unknown), counts(new_sizes), tensor(known), counts(sizes))
        assert torch.equal(again[1], rows)

    def test_three_interpolate(self):
        rows, weights = np.random.default_rng(1).integers(0, 90, (7, 3)), cloud(7, 3, seed=1)
        for kind in (torch.int32, torch.int64):
            actual = pointnet2_utils.three_interpolate(
                tensor(FEATURES), tensor(rows).to(kind), tensor(weights))
            expected = np.zeros((7, 5), np.float32)
            for m, j in np.ndindex(7, 3):
                expected[m] += weights[m, j] * FEATURES[rows[m, j]]
            np.testing.assert_array_equal(actual, expected)
        assert torch.equal(
            pointnet2_utils.ThreeInterpolate.apply(tensor(FEATURES), tensor(rows), tensor(weights)), actual)
        assert torch.autograd.gradcheck(
            lambda f, w: pointnet2_utils.three_interpolate(f, tensor(rows), w),
            (tensor(FEATURES).double().requires_grad_(), tensor(weights).double().requires_grad_()),
        )


class TestSampling:
    def test_batches_and_stacks(self):
        points = tensor(np.stack([cloud(30), cloud(30, seed=2)]))
        for function in (
            pointnet2_utils.farthest_point_sample, pointnet2_utils.furthest_point_sample,
            pointnet2_utils.FarthestPointSampling.apply,
        ):
            result = function(points, 10)
            for one, indices in zip(points, result):
                np.testing.assert_array_equal(indices, reference(one.numpy(), 10)[0])
        for function in (
            pointnet2_utils.stack_farthest_point_sample, pointnet2_utils.StackFarthestPointSampling.apply,
        ):
            stacked = function(points.flatten(0, 1), counts([30, 30]), 10)
            assert torch.equal(stacked, torch.cat([result[0], result[1] + 30]))

    def test_keypoints_of_pv_rcnn(self):
        """It asks for 50 of 20 points, and repeats the first 20 that it gets."""
        points = tensor(cloud(20))[None]
        rows = pointnet2_utils.farthest_point_sample(points, 50).long()
        repeated = rows[0, :20].repeat(50 // 20 + 1)[:50]
        assert sorted(repeated[:20].tolist()) == list(range(20)) and len(repeated) == 50


class TestModules:
    def test_names_of_checkpoints(self):
        net = pointnet2_modules.StackSAModuleMSG(
            radii=[0.3, 0.6], nsamples=[4, 8], mlps=[[5, 6], [5, 7, 8]])
        state = {name: tuple(value.shape) for name, value in net.state_dict().items()}
        expected = {
            "mlps.0.0.weight": (6, 8, 1, 1), "mlps.1.3.weight": (8, 7, 1, 1), "mlps.1.4.running_var": (8,),
        }
        assert expected.items() <= state.items() and len(state) == 3 * (1 + 5)
        assert "mlp.1.bias" in pointnet2_modules.StackPointnetFPModule(mlp=[9, 7]).state_dict()

    @pytest.mark.parametrize("pool", ["max_pool", "avg_pool"])
    def test_set_abstraction(self, pool):
        torch.manual_seed(0)
        net = pointnet2_modules.StackSAModuleMSG(
            radii=[0.3, 0.6], nsamples=[4, 8], mlps=[[5, 6], [5, 7]], pool_method=pool)
        points, own, centers, new = stacks()
        result, described = net(points, own, centers, new, tensor(FEATURES))
        assert result is centers and described.shape == (25, 13)
        parts = []
        for radius, k, mlp in zip([0.3, 0.6], [4, 8], net.mlps):
            groups, _ = pointnet2_utils.QueryAndGroup(radius, k)(points, own, centers, new, tensor(FEATURES))
            layers = mlp(groups.permute(1, 0, 2)[None])[0]
            parts.append((layers.amax(dim=2) if pool == "max_pool" else layers.mean(dim=2)).T)
        torch.testing.assert_close(described, torch.cat(parts, dim=1))

    def test_feature_propagation(self):
        torch.manual_seed(0)
        net = pointnet2_modules.StackPointnetFPModule(mlp=[9, 7])
        points, own, centers, new = stacks()
        features, sparse = torch.rand(25, 4), tensor(FEATURES).requires_grad_()
        actual = net(centers, new, points, own, features, sparse)
        assert actual.shape == (25, 7) and actual.isfinite().all()
        actual.sum().backward()
        assert sparse.grad.isfinite().all() and (sparse.grad != 0).any()
        distances, rows = pointnet2_utils.three_nn(centers, new, points, own)
        weights = 1 / (distances + 1e-8)
        weights = (weights / weights.sum(dim=1, keepdim=True)).nan_to_num()
        spread = sum(tensor(FEATURES)[rows[:, j].long()] * weights[:, j, None] for j in range(3))
        expected = net.mlp(torch.cat([spread, features], dim=1).T[None, :, :, None])[0, :, :, 0].T
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)

    def test_configurations(self):
        config = {"MLPS": [[6], [7, 8]], "POOL_RADIUS": [0.3, 0.6], "NSAMPLE": [4, 8]}
        for _ in range(2):
            net, channels = pointnet2_modules.build_local_aggregation_module(5, config)
        assert channels == 14 and net(*stacks(), tensor(FEATURES))[1].shape == (25, 14)
        with pytest.raises(NotImplementedError, match="VectorPoolAggregationModuleMSG"):
            pointnet2_stack.build_local_aggregation_module(5, {"NAME": "VectorPoolAggregationModuleMSG"})
