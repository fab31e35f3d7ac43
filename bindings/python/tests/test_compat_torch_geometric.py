"""``farpoint.compat.torch_geometric``: against plain loops, and networks of PyTorch Geometric's examples in which
only the imports of functions on points are changed."""

import inspect
import io

import numpy as np
import pytest
from conftest import cloud

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import torch_cluster  # noqa: E402
from farpoint.compat import torch_geometric as package  # noqa: E402
from farpoint.compat.torch_geometric import nn as mine  # noqa: E402

POS_X, POS_Y = torch.from_numpy(cloud(30)), torch.from_numpy(cloud(12, seed=7))
OF_X = torch.tensor([0] * 9 + [2] * 14 + [3] * 7)
OF_Y = torch.tensor([0] * 4 + [1] * 2 + [2] * 6)
FEATURES = torch.from_numpy(cloud(30, 5, seed=3))


def original():
    return pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed")


def test_names_and_arguments():
    theirs = original()
    assert {*mine.__all__, "nn"} == set(package.__all__) and mine.knn is torch_cluster.knn
    for name in mine.__all__:
        expected = inspect.signature(getattr(theirs, name)).parameters
        actual = inspect.signature(getattr(mine, name)).parameters
        # Those of torch_cluster have more, at the end.
        given = [(p.name, p.default) for p in actual.values()][: len(expected)]
        assert given == [(p.name, p.default) for p in expected.values()], name


def test_fps_has_points_named_x():
    for options in (dict(), dict(batch=OF_X), dict(batch=OF_X, ratio=0.2, batch_size=4)):
        expected = torch_cluster.fps(POS_X, random_start=False, **options)
        assert torch.equal(mine.fps(x=POS_X, random_start=False, **options), expected)
    assert torch.equal(mine.fps(x=POS_X.reshape(30, 3, 1), random_start=False), mine.fps(POS_X, None, 0.5, False))


# ---------------------------------------------------------------------------------- interpolation


def interpolated(x, pos_x, pos_y, of_x, of_y, k):
    """In double precision."""
    x, pos_x, pos_y = (part.detach().double().numpy() for part in (x, pos_x, pos_y))
    result = np.zeros((len(pos_y), x.shape[1]))
    for row, at in enumerate(pos_y):
        own = np.flatnonzero(of_x == of_y[row])
        squares = ((pos_x[own] - at) ** 2).sum(1)
        near = np.argsort(squares, kind="stable")[:k]
        weights = 1 / np.maximum(squares[near], 1e-16)
        if len(near):
            result[row] = (weights[:, None] * x[own[near]]).sum(0) / weights.sum()
    return result


class TestKnnInterpolate:
    @pytest.mark.parametrize("k", [1, 3, 20])
    def test_loop(self, k):
        for of_x, of_y in ((None, None), (OF_X, OF_Y)):
            kinds = [np.zeros(30), np.zeros(12)] if of_x is None else [of_x.numpy(), of_y.numpy()]
            result = mine.knn_interpolate(FEATURES, POS_X, POS_Y, of_x, of_y, k)
            assert result.dtype == torch.float32
            np.testing.assert_allclose(result, interpolated(FEATURES, POS_X, POS_Y, *kinds, k), rtol=2e-6)

    def test_points_of_the_cloud_keep_their_features(self):
        for k in (1, 3):
            result = mine.knn_interpolate(FEATURES, POS_X, POS_X[4:9], k=k)
            torch.testing.assert_close(result, FEATURES[4:9], rtol=1e-6, atol=0)

    def test_documented(self):
        """Of PyTorch Geometric's own tests: exact."""
        x = torch.tensor([[1.0], [10.0], [100.0], [-1.0], [-10.0], [-100.0]])
        pos_x = torch.tensor([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
        pos_y = torch.tensor([[-1.0, -1.0], [1.0, 1.0], [-2.0, -2.0], [2.0, 2.0]])
        of_x, of_y = torch.tensor([0, 0, 0, 1, 1, 1]), torch.tensor([0, 0, 1, 1])
        assert mine.knn_interpolate(x, pos_x, pos_y, of_x, of_y, k=2).tolist() == [[4], [70], [-4], [-70]]

    def test_types(self):
        for kind, positions, expected in (
            (torch.float64, torch.float32, torch.float64), (torch.float32, torch.float64, torch.float64),
            (torch.float16, torch.float32, torch.float32), (torch.float16, torch.float16, torch.float16),
            (torch.bfloat16, torch.bfloat16, torch.bfloat16),
        ):
            pos_x, pos_y = POS_X.to(positions), torch.cat([POS_Y, POS_X[:3]]).to(positions)
            actual = mine.knn_interpolate(FEATURES.to(kind), pos_x, pos_y)
            assert actual.dtype == expected and actual.isfinite().all()
            expected = interpolated(FEATURES.to(kind), pos_x, pos_y, np.zeros(30), np.zeros(15), 3)
            np.testing.assert_allclose(actual.double(), expected, rtol=1e-2 if actual.dtype.itemsize == 2 else 2e-6)

    def test_gradient_of_features_only(self):
        x = FEATURES.double().requires_grad_()
        positions = [part.double().requires_grad_() for part in (POS_X, POS_Y)]
        for ofs in ((None, None), (OF_X, OF_Y)):
            torch.autograd.gradcheck(lambda x: mine.knn_interpolate(x, *positions, *ofs), (x,))
            mine.knn_interpolate(x, *positions, *ofs).sum().backward()
        assert all(part.grad is None for part in positions)

    def test_nothing_near(self):
        x = FEATURES.clone().requires_grad_()
        result = mine.knn_interpolate(x, POS_X, POS_Y, OF_X, OF_Y)
        assert not result[4:6].any() and result[:4].all()
        for given in (mine.knn_interpolate(x[:0], POS_X[:0], POS_Y), mine.knn_interpolate(x, POS_X, POS_Y[:0])):
            assert given.shape[1] == 5 and not given.any()
            given.sum().backward()

    def test_refused(self):
        for call, kind in (
            (lambda: mine.knn_interpolate(FEATURES[0], POS_X, POS_Y), ValueError),
            (lambda: mine.knn_interpolate(FEATURES[:7], POS_X, POS_Y), ValueError),
            (lambda: mine.knn_interpolate(FEATURES, POS_X * torch.nan, POS_Y), ValueError),
            (lambda: mine.knn_interpolate(FEATURES, POS_X, POS_Y, k=0), ValueError),
            (lambda: mine.knn_interpolate(FEATURES.numpy(), POS_X, POS_Y), TypeError),
            (lambda: mine.knn_interpolate(FEATURES, POS_X.numpy(), POS_Y), TypeError),
            (lambda: mine.voxel_grid(POS_X.numpy(), 0.5), TypeError),
            (lambda: mine.voxel_grid(POS_X, [0.5, 0.5]), ValueError),
        ):
            with pytest.raises(kind):
                call()


def test_voxel_grid():
    pos = torch.tensor([[0.0, 0.0], [11.0, 9.0], [2.0, 8.0], [2.0, 2.0], [8.0, 3.0]])
    of = torch.tensor([0, 0, 0, 1, 1])
    assert mine.voxel_grid(pos, 5).tolist() == [0, 5, 3, 0, 1]
    assert mine.voxel_grid(pos, [5.0, 5.0], of).tolist() == [0, 5, 3, 6, 7]
    assert mine.voxel_grid(pos, torch.tensor([5.0]), of, -1, [19, 19]).tolist() == [0, 12, 5, 25, 26]
    assert mine.voxel_grid(pos[:, 0], 4.0).tolist() == [0, 2, 0, 0, 2]
    assert mine.voxel_grid(pos, size=5, batch=of, start=-1, end=[18, 14]).tolist() == [0, 10, 4, 16, 17]
    assert mine.voxel_grid(pos, size=5, start=-1, end=[18, 14]).tolist() == [0, 10, 4, 0, 1]
    assert mine.voxel_grid(pos[:0], 5).shape == (0,)


# --------------------------------------------------------------------------------------- networks


class Data:
    def __init__(self, clouds, points, seed=0):
        self.pos = torch.from_numpy(cloud(clouds * points, seed=seed))
        self.batch = torch.arange(clouds).repeat_interleave(points)
        self.x = None


def networks(geometric, fps, radius, knn_interpolate):
    """The networks of examples/pointnet2_classification.py and pointnet2_segmentation.py."""
    nn = geometric

    class SAModule(torch.nn.Module):
        def __init__(self, ratio, r, net):
            super().__init__()
            self.ratio, self.r = ratio, r
            self.conv = nn.PointNetConv(net, add_self_loops=False)

        def forward(self, x, pos, batch):
            idx = fps(pos, batch, ratio=self.ratio)
            row, col = radius(pos, pos[idx], self.r, batch, batch[idx], max_num_neighbors=64)
            edge_index = torch.stack([col, row], dim=0)
            x_dst = None if x is None else x[idx]
            x = self.conv((x, x_dst), (pos, pos[idx]), edge_index)
            return x, pos[idx], batch[idx]

    class GlobalSAModule(torch.nn.Module):
        def __init__(self, net):
            super().__init__()
            self.nn = net

        def forward(self, x, pos, batch):
            x = nn.global_max_pool(self.nn(torch.cat([x, pos], dim=1)), batch)
            return x, pos.new_zeros((x.size(0), 3)), torch.arange(x.size(0), device=batch.device)

    class FPModule(torch.nn.Module):
        def __init__(self, k, net):
            super().__init__()
            self.k, self.nn = k, net

        def forward(self, x, pos, batch, x_skip, pos_skip, batch_skip):
            x = knn_interpolate(x, pos, pos_skip, batch, batch_skip, k=self.k)
            x = x if x_skip is None else torch.cat([x, x_skip], dim=1)
            return self.nn(x), pos_skip, batch_skip

    class Classification(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.sa1_module = SAModule(0.5, 0.2, nn.MLP([3, 64, 64, 128]))
            self.sa2_module = SAModule(0.25, 0.4, nn.MLP([128 + 3, 128, 128, 256]))
            self.sa3_module = GlobalSAModule(nn.MLP([256 + 3, 256, 512, 1024]))
            self.mlp = nn.MLP([1024, 512, 256, 10], dropout=0.5, norm=None)

        def forward(self, data):
            out = self.sa1_module(data.x, data.pos, data.batch)
            x, _, _ = self.sa3_module(*self.sa2_module(*out))
            return self.mlp(x).log_softmax(dim=-1)

    class Segmentation(torch.nn.Module):
        def __init__(self, num_classes):
            super().__init__()
            self.sa1_module = SAModule(0.2, 0.2, nn.MLP([3 + 3, 64, 64, 128]))
            self.sa2_module = SAModule(0.25, 0.4, nn.MLP([128 + 3, 128, 128, 256]))
            self.sa3_module = GlobalSAModule(nn.MLP([256 + 3, 256, 512, 1024]))
            self.fp3_module = FPModule(1, nn.MLP([1024 + 256, 256, 256]))
            self.fp2_module = FPModule(3, nn.MLP([256 + 128, 256, 128]))
            self.fp1_module = FPModule(3, nn.MLP([128 + 3, 128, 128, 128]))
            self.mlp = nn.MLP([128, 128, 128, num_classes], dropout=0.5, norm=None)

        def forward(self, data):
            sa0_out = (data.x, data.pos, data.batch)
            sa1_out = self.sa1_module(*sa0_out)
            sa2_out = self.sa2_module(*sa1_out)
            fp2_out = self.fp2_module(*self.fp3_module(*self.sa3_module(*sa2_out), *sa2_out), *sa1_out)
            x, _, _ = self.fp1_module(*fp2_out, *sa0_out)
            return self.mlp(x).log_softmax(dim=-1)

    return Classification, Segmentation


def slow_fps(pos, batch, ratio):
    """The drop-in's own random starts, then one point after another."""
    chosen = []
    sizes = batch.bincount().tolist()
    draws = (torch.rand(len(sizes), dtype=torch.float64) * torch.tensor(sizes)).long().tolist()
    first = 0
    for size, start in zip(sizes, draws):
        own, rows = pos[first : first + size], [start]
        distances = (own - own[start]).square().sum(1)
        while len(rows) < np.ceil(np.float32(size) * np.float32(ratio)):
            rows.append(int(distances.argmax()))
            distances = torch.minimum(distances, (own - own[rows[-1]]).square().sum(1))
        chosen += [first + row for row in rows]
        first += size
    return torch.tensor(chosen)


def slow_radius(x, y, r, batch_x, batch_y, max_num_neighbors):
    rows = []
    for query, at in enumerate(y):
        inside = ((x - at).square().sum(1) < r * r) & (batch_x == batch_y[query])
        rows += [(query, int(j)) for j in inside.nonzero()[:max_num_neighbors, 0]]
    return torch.tensor(rows).t()


def slow_interpolate(x, pos_x, pos_y, batch_x, batch_y, k):
    distances = (pos_y[:, None] - pos_x[None]).square().sum(-1)
    distances = distances.masked_fill(batch_y[:, None] != batch_x[None], torch.inf)
    near = distances.sort(dim=1, stable=True)
    weights = 1 / near.values[:, :k].clamp(min=1e-16)
    return (x[near.indices[:, :k]] * weights[..., None]).sum(1) / weights.sum(1, keepdim=True)


@pytest.mark.parametrize("which", [0, 1])
def test_networks_of_the_examples(which):
    """Outputs and gradients are those of slow functions; weights are the same in both."""
    geometric, results = original(), []
    data = Data(3, 200)
    if which == 1:
        data.x = torch.from_numpy(cloud(600, seed=4))
    for functions in (
        (mine.fps, mine.radius, mine.knn_interpolate), (slow_fps, slow_radius, slow_interpolate),
    ):
        torch.manual_seed(1)
        net = networks(geometric, *functions)[which](*([] if which == 0 else [4]))
        out = net(data)
        assert out.shape == ((3, 10) if which == 0 else (600, 4))
        torch.nn.functional.nll_loss(out, torch.arange(len(out)) % 4).backward()
        results.append([out, *(p.grad for p in net.parameters())])
    assert all(part is not None for part in results[0])
    for actual, expected in zip(*results, strict=True):
        torch.testing.assert_close(actual, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning", "ignore:.*torch.jit:FutureWarning")
def test_scripted():
    def both(x: torch.Tensor, batch: torch.Tensor) -> list[torch.Tensor]:
        return [mine.fps(x, batch, 0.2, False), mine.knn_graph(x, 3, batch), mine.radius_graph(x, 0.3, batch)]

    scripted, file = torch.jit.script(both), io.BytesIO()
    torch.jit.save(scripted, file)
    for actual, expected in zip(scripted(POS_X, OF_X), both(POS_X, OF_X), strict=True):
        assert torch.equal(actual, expected)
