"""mmcv.ops: against loops that follow its documentation."""

import math
import os
from pathlib import Path

import compat_loops as loops
import numpy as np
import pytest
from conftest import cloud, reference

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import mmcv  # noqa: E402


def clouds(b=2, n=50, d=3, dtype=np.float32, seed=0):
    return np.stack([cloud(n, d, dtype, seed + s) for s in range(b)])


def tensor(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def counts(*values):
    return torch.tensor(values, dtype=torch.int32)


POINTS, CENTERS = clouds(), clouds(n=12, seed=7)
FEATURES = clouds(n=50, d=5, seed=8).transpose(0, 2, 1)


class TestBallQuery:
    @pytest.mark.parametrize("least, most, k", [(0, 0.3, 4), (0.2, 0.4, 8), (0.1, 3.0, 60)])
    def test_between_two_radii(self, least, most, k):
        for centers in (CENTERS, POINTS):
            result = mmcv.ball_query(least, most, k, tensor(POINTS), tensor(centers))
            assert result.dtype == torch.int32
            np.testing.assert_array_equal(result, loops.balls(POINTS, centers, most, k, least))
        assert torch.equal(mmcv.BallQuery.apply(least, most, k, tensor(POINTS), tensor(centers)), result)

    def test_limits(self):
        """From min_radius on, below max_radius, and the very place."""
        points = torch.tensor([[[0.25, 0, 0], [0.5, 0, 0], [0, 0, 0], [0.125, 0, 0]]])
        result = mmcv.ball_query(0.25, 0.5, 4, points, torch.zeros(1, 1, 3))
        assert result.tolist() == [[[0, 2, 0, 0]]]

    def test_empty_balls_and_refusals(self):
        assert (mmcv.ball_query(0, 0.1, 3, tensor(POINTS), torch.full((2, 4, 3), 9.0)) == 0).all()
        with pytest.raises(ValueError, match="min_radius is 0.2, max_radius 0.2"):
            mmcv.ball_query(0.2, 0.2, 3, tensor(POINTS), tensor(CENTERS))

    def test_stacks(self):
        """Within the cloud; -1 in front where there is none."""
        points, centers = POINTS.reshape(-1, 3), CENTERS.reshape(-1, 3).copy()
        centers[5] = 9
        sizes, new_sizes = (60, 0, 40), (10, 3, 11)
        actual = mmcv.ball_query(
            0, 0.2, 4, tensor(points), tensor(centers), counts(*sizes), counts(*new_sizes))
        cloud_of = np.repeat(range(3), new_sizes)
        for m, c in enumerate(cloud_of):
            first = sum(sizes[:c])
            expected, some = loops.ball(centers[m], points[first : first + sizes[c]], 0.2, 4)
            assert actual[m].tolist() == (expected if some else [-1, 0, 0, 0])
        assert (actual[:, 0] == -1).sum() >= 4
        features = tensor(FEATURES.transpose(0, 2, 1).reshape(-1, 5)).requires_grad_()
        groups = mmcv.grouping_operation(features, actual, counts(*sizes), counts(*new_sizes))
        assert groups.shape == (24, 5, 4) and (groups[5, :, 0] == 0).all()
        for m, c in enumerate(cloud_of):
            for j, row in enumerate(actual[m].tolist()):
                if row >= 0 and sizes[c]:
                    assert torch.equal(groups[m, :, j], features[sum(sizes[:c]) + row])
        groups.sum().backward()
        assert features.grad.isfinite().all()

    def test_documented_example(self):
        """Neighbors at 0.2 to 0.4 of a point that is in the cloud itself."""
        points = torch.tensor([[[0.0, 0, 0], [0.1, 0, 0], [0.3, 0, 0], [0.39, 0, 0], [0.41, 0, 0]]])
        assert mmcv.ball_query(0.2, 0.4, 5, points, points[:, :1]).tolist() == [[[0, 2, 3, 0, 0]]]


class TestNearest:
    @pytest.mark.parametrize("k", [1, 5, 50])
    def test_neighbors_come_before_centers(self, k):
        points, centers = tensor(POINTS), tensor(CENTERS)
        result = mmcv.knn(k, points, centers)
        assert result.shape == (2, k, 12) and result.dtype == torch.int32 and result.is_contiguous()
        for b, m in np.ndindex(2, 12):
            assert result[b, :, m].tolist() == loops.nearest(CENTERS[b, m], POINTS[b], k)[1]
        flat = [part.transpose(1, 2).contiguous() for part in (points, centers)]
        assert torch.equal(mmcv.knn(k, *flat, True), result)
        assert torch.equal(mmcv.KNN.apply(k, *flat, True), result)
        assert torch.equal(mmcv.knn(k, points), mmcv.knn(k, points, points))

    def test_more_than_100_and_more_than_there_are(self):
        points = tensor(clouds(n=150))
        assert (mmcv.knn(150, points).sort(dim=1).values == torch.arange(150)[:, None]).all()
        assert (mmcv.knn(4, points[:, :2])[:, 2:] == 0).all()

    def test_more_twins_than_neighbors(self):
        assert (mmcv.knn(3, torch.zeros(1, 9, 3)) == torch.arange(3)[:, None]).all()

    def test_three_nn_and_interpolation(self):
        distances, rows = mmcv.three_nn(tensor(CENTERS), tensor(POINTS))
        expected = loops.threes(CENTERS, POINTS)
        loops.same_roots(distances, expected[0])
        np.testing.assert_array_equal(rows, expected[1])
        few = mmcv.three_nn(tensor(CENTERS), tensor(POINTS[:, :2]))
        assert (few[0][..., 2] == np.inf).all() and (few[1][..., 2] == 0).all()
        weights = clouds(n=12, seed=3)
        actual = mmcv.three_interpolate(tensor(FEATURES), rows, tensor(weights))
        np.testing.assert_array_equal(actual, loops.interpolated(FEATURES, expected[1], weights))
        assert torch.equal(mmcv.ThreeInterpolate.apply(tensor(FEATURES), rows, tensor(weights)), actual)
        assert torch.equal(mmcv.ThreeNN.apply(tensor(CENTERS), tensor(POINTS))[1], rows)

    def test_chamfer_in_the_plane(self):
        a, b = clouds(d=2), clouds(n=40, d=2, seed=4)
        first, second, rows, back = mmcv.chamfer_distance(tensor(a), tensor(b))
        assert rows.dtype == back.dtype == torch.int32 and second.shape == (2, 40)
        for c in range(2):
            for m in range(50):
                apart = [loops.squared(a[c, m], point) for point in b[c]]
                assert rows[c, m] == np.argmin(apart) and first[c, m] == min(apart)


class TestGroups:
    def inputs(self):
        return tensor(POINTS), tensor(CENTERS), tensor(FEATURES)

    def test_gathering(self):
        rows = np.random.default_rng(1).integers(0, 50, (2, 6, 4))
        for kind in (torch.int32, torch.int64):
            result = mmcv.grouping_operation(tensor(FEATURES), tensor(rows).to(kind))
            np.testing.assert_array_equal(result, loops.group(FEATURES, rows))
            single = mmcv.gather_points(tensor(FEATURES), tensor(rows[..., 0]).to(kind))
            assert torch.equal(single, result[..., 0])
        assert torch.equal(mmcv.GroupingOperation.apply(tensor(FEATURES), tensor(rows)), result)
        assert torch.equal(mmcv.GatherPoints.apply(tensor(FEATURES), tensor(rows[..., 0])), single)

    def test_query_and_group(self):
        rows = loops.balls(POINTS, CENTERS, 0.4, 6, 0.1)
        expected = loops.grouped_around(POINTS, CENTERS, rows, FEATURES)
        actual = mmcv.QueryAndGroup(0.4, 6, min_radius=0.1)(*self.inputs())
        np.testing.assert_array_equal(actual, expected)
        module = mmcv.QueryAndGroup(
            0.4, 6, 0.1, use_xyz=False, return_grouped_xyz=True, return_grouped_idx=True)
        described, positions, index = module(*self.inputs())
        np.testing.assert_array_equal(described, expected[:, 3:])
        np.testing.assert_array_equal(positions, loops.group(POINTS.transpose(0, 2, 1), rows))
        np.testing.assert_array_equal(index, rows)
        scaled = mmcv.QueryAndGroup(0.4, 6, 0.1, normalize_xyz=True)(*self.inputs()[:2])
        np.testing.assert_array_equal(scaled, expected[:, :3] / np.float32(0.4))

    def test_nearest_without_a_radius(self):
        rows = np.array([
            [loops.nearest(q, cloud, 6)[1] for q in own] for own, cloud in zip(CENTERS, POINTS)])
        result, index = mmcv.QueryAndGroup(None, 6, return_grouped_idx=True)(*self.inputs())
        np.testing.assert_array_equal(index, rows)
        np.testing.assert_array_equal(result, loops.grouped_around(POINTS, CENTERS, rows, FEATURES))

    def test_uniform_samples(self):
        torch.manual_seed(0)
        rows = loops.balls(POINTS, CENTERS, 0.3, 9)
        module = mmcv.QueryAndGroup(0.3, 9, uniform_sample=True, return_unique_cnt=True, return_grouped_idx=True)
        _, different, index = module(*self.inputs())
        seen = set()
        for b, m in np.ndindex(2, 12):
            once = np.unique(rows[b, m])
            assert different[b, m] == len(once)
            assert index[b, m, : len(once)].tolist() == once.tolist()
            assert set(index[b, m].tolist()) == set(once.tolist())
            seen.update(once.tolist().index(row) for row in index[b, m, len(once) :].tolist())
        assert len(seen) > 3

    def test_gradients(self):
        points, centers, features = (part[:1].double().requires_grad_() for part in self.inputs())
        for module in (mmcv.QueryAndGroup(0.5, 3, normalize_xyz=True), mmcv.QueryAndGroup(None, 3)):
            assert torch.autograd.gradcheck(module, (points[:, :12], centers[:, :3], features[:, :2, :12]))

    def test_group_all_and_refusals(self):
        points, centers, features = self.inputs()
        assert mmcv.GroupAll()(points, centers, features).shape == (2, 8, 1, 50)
        assert mmcv.GroupAll(False)(points, centers, features).shape == (2, 5, 1, 50)
        with pytest.raises(ValueError, match="max_radius"):
            mmcv.QueryAndGroup(None, 3, normalize_xyz=True)
        with pytest.raises(ValueError, match="uniform_sample"):
            mmcv.QueryAndGroup(0.1, 3, return_unique_cnt=True)
        with pytest.raises(ValueError, match="use_xyz"):
            mmcv.QueryAndGroup(0.1, 3, use_xyz=False)(points, centers)


def farthest(matrix, count):
    """The largest of the least distances to those chosen, the lowest index among equals."""
    chosen = [0]
    while len(chosen) < count:
        least = [
            -1 if j in chosen else min(matrix[i, j] for i in chosen) for j in range(len(matrix))]
        chosen.append(int(np.argmax(least)))
    return chosen


class TestSampling:
    def test_by_distances(self):
        matrix = np.random.default_rng(1).random((2, 30, 30)).astype(np.float32) * 1e12
        result = mmcv.furthest_point_sample_with_dist(tensor(matrix), 30)
        assert result.dtype == torch.int32
        assert result.tolist() == [farthest(m, 30) for m in matrix]
        again = mmcv.FurthestPointSamplingWithDist.apply(tensor(matrix), 30)
        assert torch.equal(again, result)

    def test_distances_of_points(self):
        points = tensor(POINTS)
        matrix = tensor(np.stack([loops_matrix(cloud) for cloud in POINTS]))
        result = mmcv.furthest_point_sample_with_dist(matrix, 12)
        assert torch.equal(result, mmcv.furthest_point_sample(points, 12))
        assert torch.equal(result, mmcv.FurthestPointSampling.apply(points, 12))

    def test_twins_and_more_than_there_are(self):
        assert mmcv.furthest_point_sample_with_dist(torch.zeros(1, 4, 4), 6).tolist() == [[0, 1, 2, 3, 0, 0]]
        assert mmcv.furthest_point_sample_with_dist(torch.zeros(2, 4, 4), 0).shape == (2, 0)
        with pytest.raises(ValueError, match=r"not \(1, 4, 5\)"):
            mmcv.furthest_point_sample_with_dist(torch.zeros(1, 4, 5), 2)
        with pytest.raises(ValueError):
            mmcv.furthest_point_sample_with_dist(torch.zeros(1, 0, 0), 2)

    def test_their_own_example(self):
        """mmcv's test data, if they are at hand (FARPOINT_MMCV_DATA)."""
        folder = os.environ.get("FARPOINT_MMCV_DATA")
        if not folder:
            pytest.skip("FARPOINT_MMCV_DATA, the folder of mmcv's tests/data/for_3d_ops, is not set")
        matrix, expected = (
            np.load(Path(folder) / f"{name}.npy") for name in ("features_for_fps_distance", "fps_idx"))
        np.testing.assert_array_equal(mmcv.furthest_point_sample_with_dist(tensor(matrix), 16), expected)

    def test_sampler_of_ranges(self):
        points, features = tensor(POINTS), tensor(FEATURES)
        joined = np.concatenate([POINTS, FEATURES.transpose(0, 2, 1)], axis=2)
        module = mmcv.PointsSampler([5, 4, 3], ["D-FPS", "F-FPS", "FS"], [20, 35, -1])
        actual = module(points, features)
        assert actual.dtype == torch.int32 and actual.shape == (2, 5 + 4 + 6)
        for b in range(2):
            expected = [*reference(POINTS[b, :20], 5)[0], *(20 + reference(joined[b, 20:35], 4)[0])]
            expected += [*(35 + reference(joined[b, 35:], 3)[0]), *(35 + reference(POINTS[b, 35:], 3)[0])]
            assert actual[b].tolist() == expected
        assert torch.equal(mmcv.PointsSampler([7])(points, None), mmcv.furthest_point_sample(points, 7))

    def test_sampler_refuses(self):
        with pytest.raises(KeyError, match="D-FPS"):
            mmcv.PointsSampler([5], ["FPS"])
        with pytest.raises(ValueError, match="2 num_point"):
            mmcv.PointsSampler([5, 5])
        with pytest.raises(ValueError, match="features"):
            mmcv.PointsSampler([5], ["F-FPS"])(tensor(POINTS), None)
        with pytest.raises(ValueError, match="a range ends at 50; there are 50 points"):
            mmcv.PointsSampler([5], ["D-FPS"], [50])(tensor(POINTS), None)

    def test_square_distances(self):
        a, b = tensor(FEATURES.transpose(0, 2, 1)), tensor(FEATURES[:, :, :7].transpose(0, 2, 1))
        apart = (a[:, :, None] - b[:, None]).double().square().sum(-1)
        torch.testing.assert_close(mmcv.calc_square_dist(a, b, False).double(), apart, rtol=1e-5, atol=1e-9)
        torch.testing.assert_close(mmcv.calc_square_dist(a, b).double(), apart.sqrt() / 5, rtol=1e-5, atol=1e-9)


def loops_matrix(points):
    return np.array([[loops.squared(p, q) for q in points] for p in points])


def inside(point, box):
    """z above the bottom center, edges above and below included; x and y along the box, edges excluded."""
    x, y, z, dx, dy, dz, turn = (float(v) for v in box)
    if abs(float(point[2]) - (z + dz / 2)) > dz / 2:
        return False
    away = complex(float(point[0]) - x, float(point[1]) - y) * complex(math.cos(-turn), math.sin(-turn))
    return abs(away.real) < dx / 2 and abs(away.imag) < dy / 2


class TestBoxes:
    def test_random_boxes(self):
        rng = np.random.default_rng(2)
        points = rng.random((2, 200, 3)) * 4
        boxes = np.concatenate(
            [rng.random((2, 9, 3)) * 4, 0.5 + rng.random((2, 9, 3)) * 2, rng.random((2, 9, 1)) * 7], axis=2)
        expected = np.array([[[inside(p, box) for box in b] for p in a] for a, b in zip(points, boxes)])
        assert 0.02 < expected.mean() < 0.5
        actual = mmcv.points_in_boxes_all(tensor(points), tensor(boxes))
        assert actual.dtype == torch.int32 and actual.shape == (2, 200, 9)
        np.testing.assert_array_equal(actual, expected)
        part = mmcv.points_in_boxes_part(tensor(points), tensor(boxes))
        assert part.dtype == torch.int32
        np.testing.assert_array_equal(part, np.where(expected.any(2), expected.argmax(2), -1))
        single = mmcv.points_in_boxes_cpu(tensor(points), tensor(boxes))
        assert (single.numpy() != expected).sum() <= 1 and single.dtype == torch.int32

    def test_edges(self):
        box = torch.tensor([[[1.0, 1, 1, 2, 4, 1, 0]]])
        points = torch.tensor([[
            [1, 1, 1], [1, 1, 2], [1, 1, 0.99], [1, 1, 2.01], [2, 1, 1.5], [1.99, 1, 1.5], [1, 3, 1.5],
            [1, -0.99, 1.5],
        ]])
        assert mmcv.points_in_boxes_all(points, box)[0, :, 0].tolist() == [1, 1, 0, 0, 0, 1, 0, 1]
        turned = torch.tensor([[[1.0, 1, 1, 2, 4, 1, math.pi / 2]]])
        assert mmcv.points_in_boxes_part(torch.tensor([[[2.9, 1, 1], [1, 2.1, 1]]]), turned).tolist() == [[0, -1]]

    def test_many_pairs_are_taken_in_parts(self, monkeypatch):
        from farpoint.compat.mmcv import boxes as module

        rng = np.random.default_rng(2)
        points = tensor(rng.random((1, 50, 3)) * 2)
        boxes = tensor(np.concatenate([rng.random((1, 9, 3)), np.ones((1, 9, 3)), rng.random((1, 9, 1))], 2))
        whole = mmcv.points_in_boxes_all(points, boxes), mmcv.points_in_boxes_part(points, boxes)
        monkeypatch.setattr(module, "_PAIRS", 100)
        assert torch.equal(mmcv.points_in_boxes_all(points, boxes), whole[0])
        assert torch.equal(mmcv.points_in_boxes_part(points, boxes), whole[1])

    def test_none_and_refusals(self):
        points = torch.rand(2, 5, 3)
        assert mmcv.points_in_boxes_all(points, torch.zeros(2, 0, 7)).shape == (2, 5, 0)
        assert (mmcv.points_in_boxes_part(points, torch.zeros(2, 0, 7)) == -1).all()
        assert mmcv.points_in_boxes_part(points[:, :0], torch.zeros(2, 3, 7)).shape == (2, 0)
        for boxes in (torch.zeros(1, 3, 7), torch.zeros(2, 3, 6)):
            with pytest.raises(ValueError, match="same B"):
                mmcv.points_in_boxes_all(points, boxes)
        with pytest.raises(TypeError, match="ndarray"):
            mmcv.points_in_boxes_part(points.numpy(), torch.zeros(2, 3, 7))
