"""Drop-in replacements of torch_cluster, PyTorch Geometric, pyg_lib, pytorch3d, kaolin and ChamferDistancePytorch
on a GPU: what the CPU gives, bit for bit."""

import numpy as np
import pytest
from conftest import cloud, needs_gpu

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import _edges, chamfer_3d, kaolin, pyg_lib, pytorch3d, torch_cluster  # noqa: E402
from farpoint.compat.torch_geometric import nn as geometric  # noqa: E402

pytestmark = needs_gpu

SIZES = torch.tensor([300, 1, 900, 40])
ASKED = torch.tensor([70, 9, 200, 30])


def points(n, dtype, seed):
    """Half of them on a grid, with ties and twins."""
    free = cloud(n, seed=seed)
    free[::2] = np.round(free[::2] * 8) / 8
    return torch.from_numpy(free).to(dtype)


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.detach().to(device)
    return type(value)(moved(part, device) for part in value) if isinstance(value, (list, tuple)) else value


def flat(result):
    result = result if isinstance(result, (list, tuple)) else [result]
    return [part for one in result for part in (flat(one) if isinstance(one, (list, tuple)) else [one])
            if part is not None]


def compare(call, *arguments):
    """The call on both devices: results, and gradients of those that have one."""
    results = []
    for device in ("cpu", "cuda"):
        given = moved(arguments, device)
        floats = [one for one in given if isinstance(one, torch.Tensor) and one.is_floating_point()]
        leaves = [one.requires_grad_() for one in floats]
        result = flat(call(*given))
        assert all(part.device.type == device for part in result)
        sums = [part.double().sum() for part in result if part.requires_grad]
        if sums:
            torch.stack(sums).sum().backward()
        results.append([*[part.detach().cpu() for part in result],
                        *[one.grad.cpu() for one in leaves if one.grad is not None]])
    for one, other in zip(*results, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.double().numpy(), other.double().numpy())


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_edges(cuda, dtype):
    x, y = points(int(SIZES.sum()), dtype, 1), points(int(ASKED.sum()), dtype, 2)
    of_x, of_y = [torch.arange(4).repeat_interleave(sizes) for sizes in (SIZES, ASKED)]
    ptr_x, ptr_y = [torch.cat([sizes.new_zeros(1), sizes.cumsum(0)]) for sizes in (SIZES, ASKED)]
    for k in (1, 5, 40):
        compare(lambda x, y: torch_cluster.knn(x, y, k), x, y)
        compare(lambda *a: torch_cluster.knn(a[0], a[1], k, *a[2:]), x, y, of_x, of_y)
        compare(lambda *a: torch_cluster.knn(a[0], a[1], k, *a[2:], batch_size=4), x, y, of_x, of_y)
        compare(lambda x, of: torch_cluster.knn_graph(x, k, of), x, of_x)
        compare(lambda *a: pyg_lib.ops.knn(a[0], a[1], k, *a[2:]), x, y, ptr_x, ptr_y)
        for r in (0.05, 0.125, 0.3):
            compare(lambda *a: torch_cluster.radius(a[0], a[1], r, *a[2:], k), x, y, of_x, of_y)
            compare(lambda x, of: torch_cluster.radius_graph(x, r, of, max_num_neighbors=k), x, of_x)
            compare(lambda x, y: torch_cluster.radius(x, y, r, None, None, k, ignore_same_index=True), x, y)
    compare(lambda *a: torch_cluster.nearest(*a), x, y, of_x, of_y)
    compare(lambda *a: pyg_lib.ops.nearest(*a), x, y, ptr_x, ptr_y)
    compare(lambda x, of: torch_cluster.fps(x, of, 0.3, False), x, of_x)
    compare(lambda x, of: geometric.voxel_grid(x, 0.125, of), x, of_x)


def test_many_places(cuda, monkeypatch):
    monkeypatch.setattr(_edges, "_MANY_PLACES", 0)
    x, of = points(int(SIZES.sum()), torch.float32, 1), torch.arange(4).repeat_interleave(SIZES)
    for most in (3, None):
        compare(lambda x, of: torch_cluster.radius_graph(x, 0.2, of, max_num_neighbors=most), x, of)


def test_clouds_without_points(cuda):
    x, y = points(60, torch.float32, 1), points(30, torch.float32, 2)
    of_x, of_y = torch.tensor([0] * 20 + [2] * 40), torch.tensor([0] * 10 + [1] * 5 + [3] * 15)
    compare(lambda *a: torch_cluster.knn(a[0], a[1], 3, *a[2:]), x, y, of_x, of_y)
    compare(lambda *a: torch_cluster.radius(a[0], a[1], 0.4, *a[2:]), x, y, of_x, of_y)
    compare(lambda *a: geometric.knn_interpolate(a[0], a[1].detach(), a[2].detach(), *a[3:]),
            points(60, torch.float32, 3), x, y, of_x, of_y)
    with pytest.raises(ValueError, match="occur in batch_x that do not occur in batch_y"):
        torch_cluster.nearest(y.cuda(), x.cuda(), of_y.cuda(), of_x.cuda())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_knn_interpolate(cuda, dtype):
    x, y = points(500, dtype, 1), points(2000, dtype, 2)
    for k in (1, 3):
        compare(lambda f, x, y: geometric.knn_interpolate(f, x.detach(), y.detach(), k=k),
                points(500, dtype, 3), x, y)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("lengths", [None, ([300, 0, 7], [90, 200, 0])])
def test_pytorch3d(cuda, dtype, lengths):
    x, y = points(900, dtype, 1).reshape(3, 300, 3), points(600, dtype, 2).reshape(3, 200, 3)
    own, other = (None, None) if lengths is None else map(torch.tensor, lengths)
    for norm in (1, 2):
        for k in (1, 8, 250):
            compare(lambda *a: pytorch3d.knn_points(*a, norm, k, return_nn=True), x, y, own, other)
    for k, r in ((4, 0.125), (500, 0.3)):
        compare(lambda *a: pytorch3d.ball_query(*a, k, r), x, y, own, other)
    compare(lambda x, own: pytorch3d.sample_farthest_points(x, own, 9), x, own)
    compare(lambda *a: pytorch3d.chamfer_distance(*a, point_reduction=None, batch_reduction=None), x, y, own, other)


def test_chamfer_distance_of_empty_clouds(cuda):
    x, y = points(900, torch.float32, 1).reshape(3, 300, 3), points(600, torch.float32, 2).reshape(3, 200, 3)
    lengths = torch.tensor([300, 0, 7]), torch.tensor([90, 200, 0])
    for options in (dict(), dict(norm=1), dict(point_reduction="max"), dict(weights=torch.tensor([1, 2, 3]))):
        result = []
        for device in ("cpu", "cuda"):
            given = {name: moved(value, device) for name, value in options.items()}
            loss, _ = pytorch3d.chamfer_distance(x.to(device), y.to(device), *moved(lengths, device), **given)
            result.append(loss.cpu())
        torch.testing.assert_close(*result, rtol=1e-6, atol=0)
        assert result[1].isfinite()


def test_nothing_waits(cuda):
    """Searches of padded batches, and of one cloud with as many neighbors as asked for."""
    x, y = points(900, torch.float32, 1).reshape(3, 300, 3).cuda(), points(600, torch.float32, 2).cuda()
    pair = y.reshape(3, 200, 3)
    lengths = torch.tensor([300, 20, 7], device="cuda")

    def all_of_them():
        pytorch3d.knn_points(x, pair, K=4, return_nn=True)
        pytorch3d.knn_points(x, pair, lengths, K=4)
        pytorch3d.ball_query(x, pair, K=4)
        pytorch3d.chamfer_distance(x, pair)
        torch_cluster.knn(x[0], y, 4)
        torch_cluster.knn_graph(y, 4)
        chamfer_3d.chamfer_3DDist()(x, pair)

    all_of_them()
    cuda.cuda.set_sync_debug_mode("error")
    try:
        all_of_them()
    finally:
        cuda.cuda.set_sync_debug_mode("default")


def test_kaolin_and_chamfer(cuda):
    x, y = points(900, torch.float32, 1).reshape(3, 300, 3), points(600, torch.float32, 2).reshape(3, 200, 3)
    compare(lambda x, y: kaolin.sided_distance(x, y), x, y)
    compare(lambda x, y: chamfer_3d.chamfer_5DDist()(x, y), x, y)
    compare(lambda x, y: kaolin.f_score(x, y, 0.05), x, y)
    compare(lambda x: kaolin.farthest_point_sampling(x, 40), x)
    bad = x.clone()
    bad[0, 7], bad[2, 1] = torch.nan, torch.inf
    compare(lambda x: kaolin.farthest_point_sampling(x, 300), bad)
