"""``farpoint.compat.pyg_lib.install()``: operators of pyg-lib, and layers of PyTorch Geometric that call them."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint.compat import pyg_lib  # noqa: E402  (it needs torch)

NAMES = ("fps", "grid_cluster", "knn", "nearest", "radius")


@pytest.fixture(autouse=True)
def installed():
    pyg_lib.install()
    pyg_lib.install()  # a second time does nothing


def points(n=40, seed=1, d=3):
    return torch.rand((n, d), generator=torch.Generator().manual_seed(seed))


def edges_by_all_pairs(x, y, k, of_x, of_y):
    """Rows of y above their k nearest rows of x in the same cloud."""
    squares = (y.unsqueeze(1) - x.unsqueeze(0)).square().sum(-1)
    squares = squares.masked_fill(of_y.unsqueeze(1) != of_x.unsqueeze(0), torch.inf)
    near = squares.sort(stable=True).indices[:, :k]
    return torch.stack([torch.arange(len(y)).repeat_interleave(k), near.reshape(-1)])


def test_the_operators_are_functions_of_the_replacement():
    x, y, ops = points(), points(20, 2), torch.ops.pyg
    ptr_x, ptr_y = torch.tensor([0, 25, 40]), torch.tensor([0, 8, 20])
    assert torch.equal(ops.fps(x, ptr_x, 0.25, False), pyg_lib.ops.fps(x, ptr_x, 0.25, False))
    assert torch.equal(ops.knn(x, y, ptr_x, ptr_y, 3, False, 1), pyg_lib.ops.knn(x, y, 3, ptr_x, ptr_y))
    assert torch.equal(ops.knn(x, y, k=2, cosine=True), pyg_lib.ops.knn(x, y, 2, cosine=True))
    assert torch.equal(ops.radius(x, y, ptr_x, ptr_y, 0.4, 5, 1), pyg_lib.ops.radius(x, y, 0.4, ptr_x, ptr_y, 5))
    own = ops.radius(x, x, ptr_x, ptr_x, 0.4, 32, 1, True)
    assert (own[0] != own[1]).all()
    assert torch.equal(ops.nearest(y, x, ptr_y, ptr_x), pyg_lib.ops.nearest(y, x, ptr_y, ptr_x))
    size = torch.tensor([0.25, 0.5, 0.5])
    assert torch.equal(ops.grid_cluster(x, size), pyg_lib.ops.grid_cluster(x, size))


@pytest.mark.parametrize("name", NAMES)
def test_opcheck(name):
    x, y, ptr = points(), points(20, 2), torch.tensor([0, 25, 40])
    arguments = {
        "fps": (x, ptr, 0.5, False), "grid_cluster": (x, torch.full((3,), 0.3)), "nearest": (y, x),
        "knn": (x, y, None, None, 3), "radius": (x, y, None, None, 0.3),
    }[name]
    torch.library.opcheck(getattr(torch.ops.pyg, name).default, arguments)


# --------------------------------------------------------------------------- PyTorch Geometric


@pytest.fixture
def geometric():
    nn = pytest.importorskip("torch_geometric.nn", reason="PyTorch Geometric is not installed")
    from torch_geometric import typing

    if not hasattr(typing, "WITH_KNN"):
        pytest.skip("PyTorch Geometric is older than 2.8")
    return nn


BATCH = torch.arange(2).repeat_interleave(torch.tensor([25, 15]))


@pytest.mark.parametrize("batch", [None, BATCH])
def test_dynamic_edge_conv(geometric, batch):
    x, layer = points().requires_grad_(), geometric.Linear(6, 5)
    dynamic = geometric.DynamicEdgeConv(layer, k=4)
    of = torch.zeros(40, dtype=torch.int64) if batch is None else batch
    edges = edges_by_all_pairs(x.detach(), x.detach(), 4, of, of).flip([0])
    expected = geometric.EdgeConv(layer, aggr="max")(x, edges)
    actual = dynamic(x, batch)
    torch.testing.assert_close(actual, expected)
    torch.testing.assert_close(torch.autograd.grad(actual.sum(), x), torch.autograd.grad(expected.sum(), x))


@pytest.mark.parametrize("batch", [None, BATCH])
def test_gravnet_conv(geometric, batch):
    torch.manual_seed(1)
    x, layer = points(), geometric.GravNetConv(3, 6, space_dimensions=4, propagate_dimensions=5, k=3)
    actual = layer(x, batch)
    space, of = layer.lin_s(x), torch.zeros(40, dtype=torch.int64) if batch is None else batch
    _, near = edges_by_all_pairs(space.detach(), space.detach(), 3, of, of)
    weights = torch.exp(-10 * (space[near].view(40, 3, -1) - space.unsqueeze(1)).square().sum(-1))
    sent = layer.lin_h(x)[near].view(40, 3, -1) * weights.unsqueeze(-1)
    described = layer.lin_out1(x) + layer.lin_out2(torch.cat([sent.mean(1), sent.amax(1)], -1))
    torch.testing.assert_close(actual, described)
    actual.sum().backward()
    assert layer.lin_s.weight.grad.abs().sum() > 0


def test_x_conv(geometric, monkeypatch):
    torch.manual_seed(1)
    x, position = points(d=4), points(seed=2)
    layer = geometric.XConv(4, 8, dim=3, kernel_size=5, hidden_channels=6, dilation=2).eval()
    actual = layer(x, position, BATCH)
    assert actual.shape == (40, 8)

    class ByAllPairs:
        @staticmethod
        def knn(x, y, ptr_x, ptr_y, k, cosine, workers):
            return edges_by_all_pairs(x, y, k, BATCH, BATCH)

    monkeypatch.setattr(torch.ops, "pyg", ByAllPairs, raising=False)
    torch.testing.assert_close(actual, layer(x, position, BATCH))


def test_functions_of_pytorch_geometric(geometric):
    from farpoint.compat.torch_geometric import nn as ours

    x, y, of_y = points(), points(20, 2), torch.arange(2).repeat_interleave(10)
    assert torch.equal(geometric.fps(x, BATCH, 0.25, False), ours.fps(x, BATCH, 0.25, False))
    assert torch.equal(geometric.knn(x, y, 3, BATCH, of_y), ours.knn(x, y, 3, BATCH, of_y))
    assert torch.equal(geometric.knn_graph(x, 3, BATCH), ours.knn_graph(x, 3, BATCH))
    assert torch.equal(geometric.radius(x, y, 0.3, BATCH, of_y), ours.radius(x, y, 0.3, BATCH, of_y))
    assert torch.equal(geometric.radius_graph(x, 0.3, BATCH), ours.radius_graph(x, 0.3, BATCH))
    assert torch.equal(geometric.nearest(y, x, of_y, BATCH), ours.nearest(y, x, of_y, BATCH))
    assert torch.equal(geometric.voxel_grid(x, 0.3, BATCH), ours.voxel_grid(x, 0.3, BATCH))
    torch.testing.assert_close(
        geometric.knn_interpolate(x, x, y, BATCH, of_y), ours.knn_interpolate(x, x, y, BATCH, of_y))
