"""The replacements of the kin of PointNet++ on a GPU: as on the CPU, bit for bit where farpoint computes."""

import numpy as np
import pytest
from conftest import cloud, needs_gpu

torch = pytest.importorskip("torch", reason="torch is not installed")

from test_compat_family import CALLS, batch, parts  # noqa: E402

from farpoint.compat import mmcv, pointnet2_ops, pointnet2_stack, pointops  # noqa: E402

pytestmark = needs_gpu

#: Drawn at random, on another device by another generator; or sums of PyTorch's, in another order.
OTHERS = {"votenet", "openpoints", "random_sample", "random balls", "matrix", "nearest groups", "boxes"}


@pytest.mark.parametrize("name", sorted(CALLS.keys() - OTHERS))
def test_as_on_the_cpu(cuda, filled, name):
    for actual, expected in zip(parts(CALLS[name](batch().cuda())), parts(CALLS[name](batch()))):
        assert actual.is_cuda and actual.dtype == expected.dtype
        if name == "fusion":
            torch.testing.assert_close(actual.cpu(), expected)
        else:
            assert torch.equal(actual.cpu(), expected)


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_the_others_work(cuda, filled, name):
    for actual, expected in zip(parts(CALLS[name](batch().cuda())), parts(CALLS[name](batch()))):
        assert actual.is_cuda and actual.dtype == expected.dtype and actual.shape == expected.shape


def test_counts_on_the_gpu(cuda, filled):
    """Clouds without points, whose counts only the GPU knows; nothing is outside."""
    points, centers = cloud(90), cloud(25, seed=6)
    sizes, new_sizes = ([40, 0, 50, 0], [10, 4, 6, 5])
    features = torch.from_numpy(cloud(90, 5, seed=7))

    def call(device):
        stacks = [
            part.to(device) for part in (
                torch.from_numpy(points), torch.tensor(sizes, dtype=torch.int32),
                torch.from_numpy(centers), torch.tensor(new_sizes, dtype=torch.int32))]
        grown = features.to(device).requires_grad_()
        groups, idx = pointnet2_stack.QueryAndGroup(0.4, 5)(*stacks, grown)
        (groups * groups).sum().backward()
        distances, rows = pointnet2_stack.three_nn(stacks[2], stacks[3], stacks[0], stacks[1])
        return [part.detach().cpu() for part in (groups, idx, grown.grad, distances, rows)]

    for actual, expected in zip(call("cuda"), call("cpu")):
        assert torch.equal(actual, expected)


def test_counts_on_the_cpu(cuda):
    """They are checked, and sent without waiting."""
    points = torch.from_numpy(cloud(90))
    sizes = torch.tensor([40, 50])
    for place in ("cpu", "cuda"):
        actual = pointnet2_stack.ball_query(0.3, 4, points.cuda(), sizes.to(place), points.cuda(), sizes)
        expected = pointnet2_stack.ball_query(0.3, 4, points, sizes, points, sizes)
        assert all(torch.equal(a.cpu(), b) for a, b in zip(actual, expected))
    with pytest.raises(ValueError, match="must add up to the 90 rows"):
        pointnet2_stack.ball_query(0.3, 4, points.cuda(), torch.tensor([40, 51]), points.cuda(), sizes)


def test_gradients_as_on_the_cpu(cuda, filled):
    def call(device):
        xyz = batch().to(device).requires_grad_()
        features = torch.from_numpy(np.stack([cloud(40, 60, seed=s) for s in range(3)])).to(device)
        features.requires_grad_()
        centers = pointnet2_ops.gather_operation(
            xyz.transpose(1, 2), pointnet2_ops.furthest_point_sample(xyz.detach(), 12)).transpose(1, 2)
        groups = pointnet2_ops.QueryAndGroup(0.4, 8)(xyz, centers, features)
        sparse = groups[..., 0].contiguous()
        _, idx = pointnet2_ops.three_nn(xyz, centers)
        weight = torch.full(idx.shape, 1 / 3, device=device, requires_grad=True)
        dense = pointnet2_ops.three_interpolate(sparse, idx, weight)
        dense.backward(torch.linspace(-1, 1, dense.numel()).reshape(dense.shape).to(device))
        return [part.cpu() for part in (groups.detach(), xyz.grad, features.grad, weight.grad)]

    for actual, expected in zip(call("cuda"), call("cpu")):
        torch.testing.assert_close(actual, expected)
    first, again = call("cuda"), call("cuda")
    assert all(torch.equal(a, b) for a, b in zip(first, again))


def test_fusion_repeats_itself(cuda):
    torch.manual_seed(1)
    value, weight = torch.rand(50, 2, 16, device="cuda"), torch.rand(20000, 2, device="cuda")
    target, refer = (torch.randint(0, 50, (20000,), device="cuda") for _ in range(2))
    result = [pointops.attention_fusion_step(weight, value, target, refer) for _ in range(5)]
    assert all(torch.equal(result[0], again) for again in result)


def test_layers(cuda, monkeypatch):
    # PyTorch rounds what its convolutions are given to 10 bits unless this is off.
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    torch.manual_seed(1)
    for module in (
        pointnet2_ops.PointnetSAModuleMSG(12, [0.2, 0.4], [4, 8], [[5, 8], [5, 16]]).eval(),
        pointnet2_ops.PointnetSAModule([5, 8]).eval(),
    ):
        features = torch.rand(3, 5, 60)
        expected = module(batch(), features)[1]
        actual = module.cuda()(batch().cuda(), features.cuda())[1]
        torch.testing.assert_close(actual.cpu(), expected, rtol=1e-4, atol=1e-5)


def test_matrices(cuda):
    matrix = torch.from_numpy(np.random.default_rng(1).random((2, 300, 300)).astype(np.float32))
    result = mmcv.furthest_point_sample_with_dist(matrix.cuda(), 300)
    assert torch.equal(result.cpu(), mmcv.furthest_point_sample_with_dist(matrix, 300))
    twins = mmcv.furthest_point_sample_with_dist(torch.zeros(1, 9, 9, device="cuda"), 12)
    assert twins.tolist() == [[*range(9), 0, 0, 0]]


def test_compiled(cuda):
    module = pointnet2_ops.QueryAndGroup(0.4, 8)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    points = batch().cuda()
    assert torch.equal(compiled(points, points[:, :9]), module(points, points[:, :9]))
    stacked = torch.compile(pointnet2_stack.ball_query, fullgraph=True, backend="aot_eager")
    flat, counts = points.flatten(0, 1), torch.tensor([60, 60, 60], device="cuda")
    for actual, expected in zip(
        stacked(0.4, 8, flat, counts, flat, counts), pointnet2_stack.ball_query(0.4, 8, flat, counts, flat, counts)
    ):
        assert torch.equal(actual, expected)
