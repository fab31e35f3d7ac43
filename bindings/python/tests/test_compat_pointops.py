"""Pointcept's pointops: against loops that follow its documentation and kernels."""

import compat_loops as loops
import numpy as np
import pytest
from conftest import cloud, reference

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import pointops  # noqa: E402

XYZ, ENDS = cloud(90), (40, 40, 50, 90)
NEW, NEW_ENDS = cloud(24, seed=6), (8, 10, 16, 24)
FEAT = cloud(90, 5, seed=7)


def tensor(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def ends(values):
    return torch.tensor(values, dtype=torch.int32)


def query_inputs(dtype=np.float32):
    return tensor(XYZ.astype(dtype)), ends(ENDS), tensor(NEW.astype(dtype)), ends(NEW_ENDS)


def clouds(own=NEW_ENDS):
    """Each center and the rows of its cloud. Cloud 1 has centers and no points."""
    begins, own_begins = (0, *ENDS), (0, *own)
    for c in range(len(ENDS)):
        for m in range(own_begins[c], own_begins[c + 1]):
            yield m, range(begins[c], begins[c + 1])


def within(center, rows, least, most, kind=np.float32):
    """(squared distance, row) of a ball, by row."""
    points = XYZ.astype(kind)
    least, most = kind(least) * kind(least), kind(most) * kind(most)
    apart = [(loops.squared(center.astype(kind), points[row]), row) for row in rows]
    return [(d, row) for d, row in apart if d <= 1e-5 or least <= d < most]


class TestQueries:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("k", [1, 8, 45])
    def test_nearest(self, k, dtype):
        rows, distances = pointops.knn_query(k, *query_inputs(dtype))
        assert rows.dtype == torch.int32 and rows.shape == distances.shape == (24, k)
        for m, among in clouds():
            points = XYZ[among.start : among.stop].astype(dtype)
            d, j = loops.nearest(NEW[m].astype(dtype), points, k)
            missing = k - len(d)
            assert rows[m].tolist() == [among.start + i for i in j] + [-1] * missing
            loops.same_roots(distances[m], d + [1e5] * missing)

    def test_in_itself(self):
        xyz, offset, *_ = query_inputs()
        expected = pointops.knn_query(4, xyz, offset, xyz, offset)
        for arguments in ((), (xyz,), (None, offset)):
            actual = pointops.knn_query(4, xyz, offset, *arguments)
            assert torch.equal(actual[0], expected[0]) and (actual[1][:, 0] == 0).all()
        assert expected[0][:, 0].tolist() == list(range(90))

    def test_more_than_128_twins_and_wide_clouds(self):
        points = torch.zeros(300, 3)
        rows, _ = pointops.knn_query(200, points, ends([300]))
        assert (rows == torch.arange(200)).all()
        far = torch.tensor([[0.0, 0, 0], [3e5, 0, 0]])
        rows, distances = pointops.knn_query(3, far, ends([2]))
        assert rows.tolist() == [[0, 1, -1], [1, 0, -1]]
        assert distances.tolist() == [[0, 3e5, 1e5], [0, 3e5, 1e5]]

    @pytest.mark.parametrize("least, most, k", [(0, 0.3, 4), (0.2, 0.5, 3), (0.0, 0.7, 6), (0.0, 9.0, 64)])
    def test_balls(self, least, most, k):
        """Nearest first; of n > k the int(n / k * i)-th."""
        rows, distances = pointops.ball_query(k, most, least, *query_inputs())
        assert rows.dtype == torch.int32
        sizes = set()
        for m, among in clouds():
            result = sorted(within(NEW[m], among, least, most))
            n = len(result)
            if n > k:
                result = [result[int(np.float32(n) / np.float32(k) * np.float32(i))] for i in range(k)]
            sizes.add((n > k) - (n < k))
            missing = k - len(result)
            assert rows[m].tolist() == [row for _, row in result] + [-1] * missing
            loops.same_roots(distances[m], [float(np.sqrt(d)) for d, _ in result] + [1e5] * missing)
        assert -1 in sizes and (1 in sizes or k == 64)

    def test_the_very_place_is_in_every_ball(self):
        points = torch.tensor([[0.0, 0, 0], [0.003, 0, 0], [0.004, 0, 0], [0.3, 0, 0], [0.5, 0, 0]])
        rows, _ = pointops.ball_query(4, 0.5, 0.2, points, ends([5]), points[:1], ends([1]))
        assert rows.tolist() == [[0, 1, 3, -1]]

    def test_more_than_2048_in_a_ball(self):
        points = torch.zeros(3000, 3)
        rows, distances = pointops.ball_query(3, 1.0, 0.0, points, ends([3000]), points[:2], ends([2]))
        assert rows.tolist() == [[0, 1000, 2000]] * 2 and (distances == 0).all()

    @pytest.mark.parametrize("least, most, k", [(0.0, 0.3, 4), (0.2, 0.6, 3)])
    def test_random_balls(self, least, most, k):
        """The first k in the order that torch.randperm draws for each cloud."""
        torch.manual_seed(5)
        rows, distances = pointops.random_ball_query(k, most, least, *query_inputs())
        torch.manual_seed(5)
        order, begins = [], (0, *ENDS)
        for a, b in zip(begins, begins[1:]):
            order.append((torch.randperm(b - a, dtype=torch.int32) + a).tolist())
        for m, among in clouds():
            drawn = next(o for o in order if o and o[0] in among) if len(among) else []
            result = within(NEW[m], drawn, least, most)[:k]
            missing = k - len(result)
            assert rows[m].tolist() == [row for _, row in result] + [-1] * missing
            loops.same_roots(distances[m], [float(np.sqrt(d)) for d, _ in result] + [1e5] * missing)
        assert rows.dtype == torch.int32 and not distances.requires_grad

    def test_refused(self):
        xyz, offset, new, new_offset = query_inputs()
        for call in (
            lambda: pointops.knn_query(3, xyz, ends([40, 91]), new, ends([8, 24])),
            lambda: pointops.knn_query(3, xyz, offset, new, ends([8, 24])),
            lambda: pointops.knn_query(0, xyz, offset),
            lambda: pointops.ball_query(3, 0.2, 0.2, xyz, offset),
            lambda: pointops.ball_query(0, 0.2, 0.0, xyz, offset),
            lambda: pointops.random_ball_query(3, 0.2, 0.3, xyz, offset),
        ):
            with pytest.raises(ValueError):
                call()
        with pytest.raises(TypeError, match="ndarray"):
            pointops.knn_query(3, XYZ, offset)

    def test_no_points_at_all(self):
        none, one = torch.zeros(0, 3), torch.zeros(1, 3)
        for function in (
            lambda *a: pointops.knn_query(2, *a), lambda *a: pointops.ball_query(2, 0.5, 0.0, *a),
            lambda *a: pointops.random_ball_query(2, 0.5, 0.0, *a),
        ):
            rows, distances = function(none, ends([0]), one, ends([1]))
            assert rows.tolist() == [[-1, -1]] and distances.tolist() == [[1e5, 1e5]]
            rows, distances = function(one, ends([1]), none, ends([0]))
            assert rows.shape == distances.shape == (0, 2)


class TestGroups:
    rows = np.random.default_rng(4).integers(-1, 90, (24, 6))

    @pytest.mark.parametrize("kind", [torch.int32, torch.int64])
    def test_grouping(self, kind):
        xyz, _, new, _ = query_inputs()
        index, feat = tensor(self.rows).to(kind), tensor(FEAT)
        expected = np.zeros((24, 6, 8), np.float32)
        for m, j in np.ndindex(24, 6):
            row = self.rows[m, j]
            if row >= 0:
                expected[m, j] = [*(XYZ[row] - NEW[m]), *FEAT[row]]
        np.testing.assert_array_equal(pointops.grouping(index, feat, xyz, new, with_xyz=True), expected)
        np.testing.assert_array_equal(pointops.grouping(index, feat, xyz, new), expected[..., 3:])
        np.testing.assert_array_equal(pointops.grouping2(feat, index), expected[..., 3:])
        own = pointops.grouping(index[:1], feat, xyz[:1].expand(90, 3).contiguous(), xyz[:1], True)
        assert (own[..., :3] == 0).all()

    def test_gradients(self):
        index = tensor(self.rows[:6] % 20 - 1)
        xyz, new, feat = (tensor(a).double().requires_grad_() for a in (XYZ[:20], NEW[:6], FEAT[:20, :2]))
        assert torch.autograd.gradcheck(
            lambda f, x, n: pointops.grouping(index, f, x, n, True), (feat, xyz, new))
        assert torch.autograd.gradcheck(lambda f: pointops.grouping2(f, index), feat)

    def test_queries_and_groups(self):
        xyz, offset, new, new_offset = query_inputs()
        feat = tensor(FEAT)
        result, rows = pointops.knn_query_and_group(
            feat, xyz, offset, new, new_offset, nsample=4, with_xyz=True)
        assert torch.equal(rows, pointops.knn_query(4, xyz, offset, new, new_offset)[0])
        assert torch.equal(result, pointops.grouping(rows, feat, xyz, new, True))
        again = pointops.knn_query_and_group(feat, xyz, offset, new, new_offset, idx=rows)
        assert torch.equal(again[0], result[..., 3:]) and again[1] is rows
        result, rows = pointops.ball_query_and_group(
            feat, xyz, offset, new, new_offset, max_radio=0.4, min_radio=0.1, nsample=4)
        assert torch.equal(rows, pointops.ball_query(4, 0.4, 0.1, xyz, offset, new, new_offset)[0])
        assert torch.equal(result, pointops.grouping(rows, feat, xyz, new))
        for call in (pointops.knn_query_and_group, pointops.ball_query_and_group):
            with pytest.raises(ValueError, match="nsample"):
                call(feat, xyz, offset)

    @pytest.mark.parametrize("nsample, dilation", [(4, 0), (4, 2), (6, 3), (1, 2), (30, 1)])
    def test_dilated(self, nsample, dilation):
        """Every (dilation + 1)-th; clouds with too few points spread over what they have."""
        sizes, new_sizes = (40, 10, 40), (8, 8, 8)
        offset, new_offset = ends(np.cumsum(sizes)), ends(np.cumsum(new_sizes))
        xyz, new, feat = tensor(XYZ), tensor(NEW), tensor(FEAT)
        total = 1 + (nsample - 1) * (dilation + 1)
        nearest = pointops.knn_query(total, xyz, offset, new, new_offset)[0]
        expected = np.zeros((24, nsample), np.int64)
        for c, size in enumerate(sizes):
            step = dilation + 1
            if size < total:
                step = (size - 1) / (nsample - 1) - 1 + 1
            for i in range(nsample):
                expected[8 * c : 8 * c + 8, i] = nearest[8 * c : 8 * c + 8, int(step * i)]
        arguments = nsample, xyz, new, feat, None, offset, new_offset, dilation
        rows = pointops.query_and_group(*arguments, with_feat=False)
        np.testing.assert_array_equal(rows, expected)
        assert (rows >= 0).all()
        actual, again = pointops.query_and_group(*arguments)
        assert torch.equal(actual, pointops.grouping(rows, feat, xyz, new, True)) and torch.equal(again, rows)
        only, _ = pointops.query_and_group(*arguments, with_xyz=False)
        assert torch.equal(only, actual[..., 3:])
        own, _ = pointops.query_and_group(nsample, xyz, None, feat, None, offset, offset, dilation)
        assert (own[:, 0, :3] == 0).all()


class TestValues:
    def test_interpolation(self):
        feat = tensor(FEAT).requires_grad_()
        xyz, offset, new, new_offset = query_inputs()
        for k in (1, 3, 5, 12):
            actual = pointops.interpolation(xyz, new, feat, offset, new_offset, k)
            assert torch.equal(actual, pointops.interpolation2(xyz, new, feat, offset, new_offset, k))
            for m, among in clouds():
                d, j = loops.nearest(NEW[m].astype(float), XYZ[among.start : among.stop].astype(float), k)
                weights = np.array([1 / (apart + 1e-8) for apart in d])
                expected = sum(
                    (w / weights.sum() * FEAT[among.start + i] for w, i in zip(weights, j)), np.zeros(5))
                np.testing.assert_allclose(actual[m].detach(), expected, rtol=1e-4, atol=1e-6)
        actual.sum().backward()
        assert feat.grad.sum().item() == pytest.approx(22 * 5, rel=1e-4)
        assert pointops.interpolation(xyz, new, feat, offset, new_offset).shape == (24, 5)

    def test_gradients_of_interpolation(self):
        xyz, offset, new, new_offset = query_inputs(np.float64)
        feat = tensor(FEAT[:, :2]).double().requires_grad_()
        assert torch.autograd.gradcheck(
            lambda f: pointops.interpolation(xyz, new, f, offset, new_offset), feat)

    def test_subtraction(self):
        rows = np.random.default_rng(1).integers(-1, 20, (20, 4))
        a, b = cloud(20, 3, seed=1), cloud(20, 3, seed=2)
        expected = np.zeros((20, 4, 3), np.float32)
        for i, j in np.ndindex(20, 4):
            if rows[i, j] >= 0:
                expected[i, j] = a[i] - b[rows[i, j]]
        np.testing.assert_array_equal(pointops.subtraction(tensor(a), tensor(b), tensor(rows)), expected)
        both = [tensor(part).double().requires_grad_() for part in (a, b)]
        assert torch.autograd.gradcheck(lambda x, y: pointops.subtraction(x, y, tensor(rows)), both)

    @pytest.mark.parametrize("shares", [1, 2, 4, 6])
    def test_aggregation(self, shares):
        rng = np.random.default_rng(1)
        rows = rng.integers(-1, 7, (7, 4)).astype(np.int32)
        feat, position, weight = rng.random((7, 6)), rng.random((7, 4, 6)), rng.random((7, 4, shares))
        expected = np.zeros((7, 6))
        for i, j, c in np.ndindex(7, 4, 6):
            if rows[i, j] >= 0:
                expected[i, c] += (feat[rows[i, j], c] + position[i, j, c]) * weight[i, j, c % shares]
        inputs = [tensor(part).requires_grad_() for part in (feat, position, weight)]
        np.testing.assert_allclose(
            pointops.aggregation(*inputs, tensor(rows)).detach(), expected, rtol=1e-12)
        assert torch.autograd.gradcheck(lambda *x: pointops.aggregation(*x, tensor(rows)), inputs)

    def test_attention(self):
        rng = np.random.default_rng(1)
        query, key, value = (rng.random((5, 2, 3)) for _ in range(3))
        weight, shares = rng.random(3), rng.random((9, 2))
        target, refer = (rng.integers(0, 5, 9).astype(np.int32) for _ in range(2))
        relation, fused = np.zeros((9, 2)), np.zeros((5, 2, 3))
        for m, g, c in np.ndindex(9, 2, 3):
            relation[m, g] += query[target[m], g, c] * key[refer[m], g, c] * weight[c]
            fused[target[m], g, c] += shares[m, g] * value[refer[m], g, c]
        rows = tensor(target), tensor(refer)
        inputs = [tensor(part).requires_grad_() for part in (query, key, weight)]
        result = pointops.attention_relation_step(*inputs, *rows)
        np.testing.assert_allclose(result.detach(), relation, rtol=1e-12)
        assert torch.autograd.gradcheck(lambda *x: pointops.attention_relation_step(*x, *rows), inputs)
        inputs = [tensor(part).requires_grad_() for part in (shares, value)]
        result = pointops.attention_fusion_step(*inputs, *rows)
        np.testing.assert_allclose(result.detach(), fused, rtol=1e-12)
        assert torch.autograd.gradcheck(lambda *x: pointops.attention_fusion_step(*x, *rows), inputs)


def test_offsets():
    offset = ends((3, 3, 5))
    batch = pointops.offset2batch(offset)
    assert batch.tolist() == [0, 0, 0, 2, 2] and batch.dtype == torch.int64
    result = pointops.batch2offset(batch)
    assert result.tolist() == [3, 3, 5] and result.dtype == torch.int32


def test_sampling():
    xyz = tensor(XYZ)
    rows = pointops.farthest_point_sampling(xyz, ends((40, 90)), ends((5, 15)))
    expected = [*reference(XYZ[:40], 5)[0], *(40 + reference(XYZ[40:], 10)[0])]
    assert rows.dtype == torch.int32 and rows.tolist() == expected
    with pytest.raises(ValueError, match="41"):
        pointops.farthest_point_sampling(xyz, ends((40, 90)), ends((41, 50)))


def test_a_layer_of_point_transformer_learns():
    """Attention over nearest neighbors: queries, relations, positions, softmax, aggregation."""
    torch.manual_seed(0)
    xyz, offset, *_ = query_inputs()
    feat, expected = tensor(FEAT), tensor(XYZ).sum(dim=1, keepdim=True)
    layers = torch.nn.ModuleDict({
        name: torch.nn.Linear(*sizes) for name, sizes in {
            "q": (5, 8), "k": (5, 8), "v": (5, 8), "p": (3, 8), "w": (8, 4), "out": (8, 1)}.items()})
    optimizer, losses = torch.optim.Adam(layers.parameters(), lr=1e-2), []
    for _ in range(15):
        groups, rows = pointops.knn_query_and_group(feat, xyz, offset, nsample=6, with_xyz=True)
        position = layers["p"](groups[..., :3])
        relation = position - pointops.subtraction(layers["q"](feat), layers["k"](feat), rows)
        weight = torch.softmax(layers["w"](torch.relu(relation)), dim=1)
        actual = layers["out"](pointops.aggregation(layers["v"](feat), position, weight, rows))
        loss = (actual - expected).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]
    assert all((p.grad != 0).any() for p in layers.parameters())
