"""openpoints: against loops that follow its documentation, and a network in the manner of PointNeXt."""

import compat_loops as loops
import numpy as np
import pytest
from conftest import cloud

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import nn  # noqa: E402

from farpoint.compat import openpoints  # noqa: E402


def clouds(b=2, n=50, d=3, dtype=np.float32, seed=0):
    return np.stack([cloud(n, d, dtype, seed + s) for s in range(b)])


def tensor(array):
    return torch.from_numpy(np.ascontiguousarray(array))


SUPPORT, QUERY = clouds(), clouds(n=12, seed=7)
FEATURES = clouds(n=50, d=5, seed=8).transpose(0, 2, 1)


class TestGroups:
    def inputs(self):
        return tensor(QUERY), tensor(SUPPORT), tensor(FEATURES)

    def test_query_comes_first(self):
        rows = loops.balls(SUPPORT, QUERY, 0.4, 6)
        dp, fj = openpoints.QueryAndGroup(0.4, 6)(*self.inputs())
        np.testing.assert_array_equal(dp, loops.grouped_around(SUPPORT, QUERY, rows))
        np.testing.assert_array_equal(fj, loops.group(FEATURES, rows))
        scaled, _ = openpoints.QueryAndGroup(0.4, 6, normalize_dp=True)(*self.inputs())
        np.testing.assert_array_equal(scaled, dp / np.float32(0.4))
        absolute, none = openpoints.QueryAndGroup(0.4, 6, relative_xyz=False)(*self.inputs()[:2])
        np.testing.assert_array_equal(absolute, loops.group(SUPPORT.transpose(0, 2, 1), rows))
        assert none is None
        index = openpoints.QueryAndGroup(0.4, 6, return_only_idx=True)(*self.inputs())
        assert index.dtype == torch.int32
        np.testing.assert_array_equal(index, rows)

    def test_what_does_nothing_is_refused(self):
        for name in ("normalize_by_std", "normalize_by_allstd", "normalize_by_allstd2"):
            with pytest.raises(ValueError, match="normalize_dp"):
                openpoints.QueryAndGroup(0.4, 6, **{name: True})

    def test_nearest_groups(self):
        rows = np.array([
            [loops.nearest(q, cloud, 6)[1] for q in own] for own, cloud in zip(QUERY, SUPPORT)])
        dp, fj = openpoints.KNNGroup(6)(*self.inputs())
        expected = loops.grouped_around(SUPPORT, QUERY, rows)
        np.testing.assert_array_equal(dp, expected)
        np.testing.assert_array_equal(fj, loops.group(FEATURES, rows))
        scaled, _ = openpoints.KNNGroup(6, normalize_dp=True)(*self.inputs())
        farthest = np.sqrt((expected**2).sum(axis=1)).max(axis=(1, 2))
        np.testing.assert_allclose(scaled, expected / farthest[:, None, None, None], rtol=1e-6)
        absolute, _ = openpoints.KNNGroup(6, relative_xyz=False)(*self.inputs()[:2])
        np.testing.assert_array_equal(absolute, loops.group(SUPPORT.transpose(0, 2, 1), rows))
        index = openpoints.KNNGroup(6, return_only_idx=True)(*self.inputs())
        np.testing.assert_array_equal(index, rows)

    def test_group_all(self):
        query, support, features = self.inputs()
        dp, fj = openpoints.GroupAll()(query, support, features)
        assert torch.equal(dp, support.transpose(1, 2).unsqueeze(2)) and torch.equal(fj, features.unsqueeze(2))
        assert openpoints.GroupAll()(query, support)[1] is None

    def test_created_by_configurations(self):
        config = {"NAME": "ballquery", "radius": 0.3, "nsample": 4, "normalize_dp": True}
        made = openpoints.create_grouper(config)
        assert (made.radius, made.nsample, made.normalize_dp) == (0.3, 4, True) and "NAME" in config
        assert isinstance(openpoints.create_grouper({"NAME": "knn"}), openpoints.KNNGroup)
        assert openpoints.create_grouper({}).nsample == 20 and openpoints.create_grouper({}).radius == 0.1
        assert isinstance(openpoints.create_grouper({"nsample": None}), openpoints.GroupAll)
        with pytest.raises(ValueError, match="NAME is 'grid'"):
            openpoints.create_grouper({"NAME": "grid"})

    def test_gradients(self):
        query, support, features = (part[:1].double().requires_grad_() for part in self.inputs())
        for module in (
            openpoints.QueryAndGroup(0.5, 3, normalize_dp=True), openpoints.KNNGroup(3, normalize_dp=True),
        ):
            assert torch.autograd.gradcheck(module, (query[:, :3], support[:, :10], features[:, :2, :10]))


class TestNearest:
    @pytest.mark.parametrize("k", [1, 7, 50])
    def test_support_first_in_groups(self, k):
        distances, indices = openpoints.KNN(k)(tensor(SUPPORT), tensor(QUERY))
        assert distances.shape == (2, k, 12) and indices.shape == (2, 12, k)
        assert indices.dtype == torch.int32 and not distances.requires_grad
        for b, m in np.ndindex(2, 12):
            d, j = loops.nearest(QUERY[b, m], SUPPORT[b], k)
            loops.same_roots(distances[b, :, m], d)
            assert indices[b, m].tolist() == j

    def test_query_first_in_knn(self):
        expected = openpoints.KNN(5)(tensor(SUPPORT), tensor(QUERY))
        distances, indices = openpoints.knn.KNN(5)(tensor(QUERY), tensor(SUPPORT))
        assert torch.equal(indices, expected[1]) and torch.equal(distances, expected[0].transpose(1, 2))
        distances, indices = openpoints.knn_point(5, tensor(QUERY), tensor(SUPPORT))
        assert torch.equal(indices, expected[1].long()) and indices.dtype == torch.int64
        own = openpoints.knn_point(2, tensor(QUERY))
        assert (own[1][..., 0] == torch.arange(12)).all() and (own[0][..., 0] == 0).all()
        with pytest.raises(ValueError, match="farthest"):
            openpoints.knn.KNN(5, farthest=True)

    def test_fewer_points_than_neighbors(self):
        distances, indices = openpoints.KNN(4)(tensor(SUPPORT[:, :2]), tensor(QUERY))
        assert (distances[:, 2:] == np.inf).all() and (indices[..., 2:] == 0).all()

    def test_more_twins_than_neighbors(self):
        points = torch.zeros(1, 9, 3)
        assert (openpoints.KNN(3)(points, points)[1] == torch.arange(3)).all()

    def test_dilated(self):
        query = tensor(QUERY)
        result = openpoints.DilatedKNN(3, 2)(query)
        assert torch.equal(result, openpoints.KNN(6)(query, query)[1][..., ::2]) and result.is_contiguous()
        torch.manual_seed(0)
        drawn = openpoints.DilatedKNN(3, 2, True, 1.0)
        neighbors = openpoints.KNN(6)(query, query)[1]
        for row, among in zip(drawn(query).flatten(0, 1), neighbors.flatten(0, 1)):
            assert set(row.tolist()) <= set(among.tolist()) and len(set(row.tolist())) == 3
        assert torch.equal(drawn.eval()(query), result)


class TestTheRest:
    def test_interpolation(self):
        features = tensor(FEATURES).requires_grad_()
        actual = openpoints.three_interpolation(tensor(QUERY), tensor(SUPPORT), features)
        distances, rows = loops.threes(QUERY, SUPPORT)
        weights = 1 / (distances + np.float32(1e-8))
        weights /= weights.sum(axis=2, keepdims=True)
        expected = loops.interpolated(FEATURES, rows, weights)
        np.testing.assert_allclose(actual.detach(), expected, rtol=1e-6)
        actual.sum().backward()
        assert features.grad.sum().item() == pytest.approx(2 * 12 * 5, rel=1e-5)

    def test_sampling(self):
        points = tensor(np.concatenate([SUPPORT, SUPPORT[..., :2]], axis=2))
        rows = openpoints.furthest_point_sample(points[..., :3].contiguous(), 8).long()
        assert torch.equal(openpoints.fps(points, 8), torch.stack([p[r] for p, r in zip(points, rows)]))
        drawn = openpoints.random_sample(points, 1000)
        assert drawn.shape == (2, 1000) and drawn.min() == 0 and drawn.max() == 49

    def test_aggregated_features(self):
        p, dp, f, fj = torch.rand(2, 4, 3), torch.rand(2, 3, 4, 6), torch.rand(2, 5, 4), torch.rand(2, 5, 4, 6)
        df = fj - f[..., None]
        pi = p.transpose(1, 2)[..., None].expand(-1, -1, -1, 6)
        for name, parts in {
            "dp_fj": [dp, fj], "dp_fj_df": [dp, fj, df], "pi_dp_fj_df": [pi, dp, fj, df],
            "dp_df": [dp, df], "fj": [fj],
        }.items():
            result = openpoints.get_aggregation_feautres(p, dp, f, fj, feature_type=name)
            assert torch.equal(result, torch.cat(parts, 1))

    def test_grouping(self):
        rows = np.random.default_rng(1).integers(0, 50, (2, 6, 4))
        for function in (
            openpoints.grouping_operation, openpoints.torch_grouping_operation,
            openpoints.GroupingOperation.apply,
        ):
            result = function(tensor(FEATURES), tensor(rows))
            np.testing.assert_array_equal(result, loops.group(FEATURES, rows))
        result = openpoints.gather_operation(tensor(FEATURES), tensor(rows[..., 0]))
        np.testing.assert_array_equal(result, loops.group(FEATURES, rows)[..., 0])


class Block(nn.Module):
    """A residual block as in PointNeXt: groups of the own cloud, then two layers for each point."""

    def __init__(self, channels, group_args):
        super().__init__()
        self.grouper = openpoints.create_grouper(group_args)
        self.first = nn.Sequential(nn.Conv2d(channels + 3, channels, 1, bias=False), nn.BatchNorm2d(channels))
        self.second = nn.Sequential(
            nn.Conv1d(channels, 4 * channels, 1), nn.ReLU(), nn.Conv1d(4 * channels, channels, 1))

    def forward(self, p, f):
        dp, fj = self.grouper(p, p, f)
        fj = openpoints.get_aggregation_feautres(p, dp, f, fj, feature_type="dp_fj")
        return torch.relu(self.second(torch.max(self.first(fj), dim=-1)[0]) + f)


class PointNeXt(nn.Module):
    """Down in two steps with a block each, and up by interpolation."""

    def __init__(self, classes, normalize_dp=True, name="ballquery"):
        super().__init__()
        self.stem = nn.Conv1d(4, 16, 1)
        groups = [
            {"NAME": name, "radius": r, "nsample": 8, "normalize_dp": normalize_dp} for r in (0.2, 0.4)]
        self.groupers = nn.ModuleList(openpoints.create_grouper(g) for g in groups)
        self.down = nn.ModuleList(nn.Conv2d(16 * 2**i + 3, 32 * 2**i, 1) for i in range(2))
        self.blocks = nn.ModuleList(Block(32 * 2**i, g) for i, g in enumerate(groups))
        self.up = nn.ModuleList([nn.Conv1d(16 + 32, 16, 1), nn.Conv1d(32 + 64, 32, 1)])
        self.head = nn.Conv1d(16, classes, 1)

    def forward(self, p, f):
        positions, described = [p], [self.stem(f)]
        for grouper, conv, block in zip(self.groupers, self.down, self.blocks):
            p, f = positions[-1], described[-1]
            idx = openpoints.furthest_point_sample(p, p.shape[1] // 4).long()
            new_p = torch.gather(p, 1, idx.unsqueeze(-1).expand(-1, -1, 3))
            dp, fj = grouper(new_p, p, f)
            fj = openpoints.get_aggregation_feautres(new_p, dp, f, fj, feature_type="dp_fj")
            positions.append(new_p)
            described.append(block(new_p, torch.max(torch.relu(conv(fj)), dim=-1)[0]))
        for i in (1, 0):
            spread = openpoints.three_interpolation(positions[i], positions[i + 1], described[i + 1])
            described[i] = torch.relu(self.up[i](torch.cat((described[i], spread), dim=1)))
        return self.head(described[0])


@pytest.mark.parametrize("name", ["ballquery", "knn"])
def test_pointnext(name):
    torch.manual_seed(1)
    net, points = PointNeXt(3, name=name), tensor(clouds(n=128))
    features = torch.cat([points, points[..., 2:]], dim=2).transpose(1, 2).contiguous()
    expected = (points[..., 2] * 3).long().clamp(max=2)
    optimizer, losses = torch.optim.Adam(net.parameters(), lr=5e-3), []
    for _ in range(10):
        loss = nn.functional.cross_entropy(net(points, features), expected)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert all((p.grad != 0).any() for p in net.parameters() if p.dim() > 1)
    assert losses[-1] < 0.8 * losses[0]


def _hashes(cells, kind):
    """The hash of each cell by Python's integers."""
    low, high = cells.min(0), cells.max(0)
    hashes = []
    for cell in cells.tolist():
        value = 14695981039346656037 if kind == "fnv" else 0
        for axis, c in enumerate(cell):
            if kind == "fnv":
                value = value * 1099511628211 % 2**64 ^ c % 2**64
            else:
                value = value * (int(high[axis] - low[axis]) + 1) + c - int(low[axis])
        hashes.append(value)
    return np.array(hashes, np.uint64)


@pytest.mark.parametrize("kind", ["fnv", "ravel"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_voxelize(kind, dtype):
    from farpoint.compat.openpoints.data_util import voxelize
    from farpoint.compat.pointcept import grid_sample

    coord = (np.random.default_rng(3).random((400, 3)) - 0.3).astype(dtype)
    cells = np.floor(coord / np.array(0.2)).astype(np.int64)
    keys = _hashes(cells, kind)
    order = np.argsort(keys, kind="stable")
    _, inverse, count = np.unique(keys, return_inverse=True, return_counts=True)
    idx_sort, voxel_idx, counts = voxelize(coord, 0.2, kind, mode=1)
    assert np.array_equal(idx_sort, order) and np.array_equal(counts, count)
    assert np.array_equal(voxel_idx, inverse[order])
    np.random.seed(5)
    chosen = voxelize(coord, 0.2, kind)
    np.random.seed(5)
    starts = np.cumsum(np.insert(count, 0, 0)[:-1])
    assert np.array_equal(chosen, order[starts + np.random.randint(0, count.max(), count.size) % count])

    from_zero = cells - cells.min(0)
    keys = _hashes(from_zero, kind)
    _, inverse = np.unique(keys, return_inverse=True)
    idx_unique, idx_sort, found, counts, grid_coord = grid_sample(coord, 0.2, kind)
    assert np.array_equal(idx_sort, np.argsort(keys, kind="stable")) and np.array_equal(found, inverse)
    assert np.array_equal(grid_coord, from_zero) and np.array_equal(counts, np.bincount(inverse))
    assert np.array_equal(found[idx_unique], np.arange(len(counts)))
    none = grid_sample(coord[:0], 0.2, kind)
    assert all(len(part) == 0 for part in none)
