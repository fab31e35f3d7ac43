"""What the replacements of the kin of PointNet++ have in common."""

import numpy as np
import pytest
from conftest import cloud

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import (  # noqa: E402
    mmcv, openpoints, pointnet2_batch, pointnet2_ops, pointnet2_stack, pointops,
)

MODULES = [mmcv, openpoints, pointnet2_batch, pointnet2_ops, pointnet2_stack, pointops]

#: Calls with a batch of three clouds of 60 points.
CALLS = {
    "ball_query": lambda p: pointnet2_ops.ball_query(0.2, 4, p, p[:, :9]),
    "three_nn": lambda p: pointnet2_ops.three_nn(p, p[:, :9]),
    "more points": lambda p: pointnet2_ops.furthest_point_sample(p, 70),
    "groups": lambda p: pointnet2_ops.QueryAndGroup(0.2, 4)(p, p[:, :9], p.transpose(1, 2)),
    "votenet": lambda p: pointnet2_ops.QueryAndGroup(0.2, 4, True, True, True, True, True)(p, p[:, :9]),
    "stack": lambda p: pointnet2_stack.ball_query(
        0.2, 4, p.flatten(0, 1), [100, 0, 80], p.flatten(0, 1), [90, 50, 40]),
    "stacked groups": lambda p: pointnet2_stack.QueryAndGroup(0.2, 4)(
        p.flatten(0, 1), [60, 60, 60], p[0], [20, 10, 30], p.flatten(0, 1)),
    "stacked three_nn": lambda p: pointnet2_stack.three_nn(
        p.flatten(0, 1), [60, 60, 60], p[0], [57, 1, 2]),
    "knn": lambda p: mmcv.knn(4, p), "boxes": lambda p: mmcv.points_in_boxes_part(p, p.repeat(1, 1, 3)[..., :7]),
    "matrix": lambda p: mmcv.furthest_point_sample_with_dist((p[:, None] - p[:, :, None]).abs().sum(-1), 5),
    "sampler": lambda p: mmcv.PointsSampler([5], ["FS"])(p, p.transpose(1, 2)),
    "openpoints": lambda p: openpoints.DilatedKNN(3, 2, True, 1.0)(p),
    "nearest groups": lambda p: openpoints.KNNGroup(4, normalize_dp=True)(p, p),
    "random_sample": lambda p: openpoints.random_sample(p, 4),
    "knn_query": lambda p: pointops.knn_query(4, p.flatten(0, 1), [60, 120, 180]),
    "balls": lambda p: pointops.ball_query(4, 0.3, 0.1, p.flatten(0, 1), [60, 60, 180]),
    "random balls": lambda p: pointops.random_ball_query(4, 0.3, 0.1, p.flatten(0, 1), [60, 120, 180]),
    "interpolation": lambda p: pointops.interpolation(p[0], p[1], p[2], [20, 60], [20, 60]),
    "dilated": lambda p: pointops.query_and_group(4, p[0], None, p[1], None, [20, 60], None, 2),
    "fusion": lambda p: pointops.attention_fusion_step(
        p[0, :9, :2], p.transpose(0, 1)[:, :2], p[1, :9, 0].long(), p[2, :9, 0].long()),
}


def batch():
    return torch.from_numpy(np.stack([cloud(60, seed=s) for s in range(3)]))


def parts(result):
    return [part for part in (result if isinstance(result, tuple) else (result,)) if part is not None]


@pytest.mark.parametrize("name", CALLS)
def test_the_default_device_is_nobodys_business(name):
    points = batch()
    torch.manual_seed(1)
    expected = parts(CALLS[name](points))
    torch.set_default_device("meta")
    try:
        torch.manual_seed(1)
        actual = parts(CALLS[name](points))
    finally:
        torch.set_default_device(None)
    assert all(part.is_cpu for part in actual)
    assert all(torch.equal(a, b) for a, b in zip(actual, expected))


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["ball_query", "three_nn", "stack", "stacked three_nn", "knn", "knn_query", "balls"])
def test_halves_are_searched_in_float32(name, kind):
    points = batch().to(kind)
    for actual, expected in zip(parts(CALLS[name](points)), parts(CALLS[name](points.float()))):
        assert torch.equal(actual, expected)


@pytest.mark.parametrize("name", CALLS)
def test_strides(name):
    """Of the transposed memory; they ask for contiguous tensors."""
    points = batch()
    strided = points.transpose(1, 2).contiguous().transpose(1, 2)
    assert not strided.is_contiguous()
    torch.manual_seed(1)
    expected = parts(CALLS[name](points))
    torch.manual_seed(1)
    assert all(torch.equal(a, b) for a, b in zip(parts(CALLS[name](strided)), expected))


def test_over_two_million_centers():
    """mmcv's pointers advance twice from 2,097,120 on."""
    points = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    which = torch.arange(2_200_000) % 4
    result = mmcv.ball_query(
        0, 0.5, 1, points, points[which], torch.tensor([4]), torch.tensor([len(which)]))
    assert torch.equal(result[:, 0].long(), which)
    assert torch.equal(mmcv.knn(1, points[None], points[which][None])[0, 0].long(), which)


@pytest.mark.parametrize("module", MODULES)
def test_every_docstring_says_what_differs(module):
    documented = [getattr(module, name).__doc__ for name in module.__all__]
    assert all(documented), module
    assert "iffers" in "".join([module.__doc__, *documented])


@pytest.mark.parametrize("module", MODULES)
def test_all_names_are_there(module):
    assert sorted(module.__all__) == sorted(set(module.__all__))
    for name in module.__all__:
        assert hasattr(module, name)


ARRAYS = {
    "furthest_point_sample": lambda p: pointnet2_ops.furthest_point_sample(p, 3),
    "stack_farthest_point_sample": lambda p: pointnet2_stack.stack_farthest_point_sample(p[0], [60], 3),
    "ball_query": lambda p: pointnet2_ops.ball_query(0.2, 4, p, p),
    "three_nn": lambda p: pointnet2_ops.three_nn(p, p),
    "gather": lambda p: pointnet2_ops.gather_operation(p, torch.zeros(3, 2)),
    "interpolate": lambda p: pointnet2_ops.three_interpolate(p, torch.zeros(3, 2, 3), torch.zeros(3, 2, 3)),
    "GroupAll": lambda p: pointnet2_ops.GroupAll()(p, None),
    "their GroupAll": lambda p: openpoints.GroupAll()(None, p),
    "stack": lambda p: pointnet2_stack.ball_query(0.2, 4, p[0], [60], p[0], [60]),
    "stacked groups": lambda p: pointnet2_stack.grouping_operation(p[0], [60], torch.zeros(1, 2), [1]),
    "random_sample": lambda p: openpoints.random_sample(p, 3), "fps": lambda p: openpoints.fps(p, 3),
    "KNN": lambda p: openpoints.KNN(3)(p, p), "mmcv.knn": lambda p: mmcv.knn(3, p),
    "sampler": lambda p: mmcv.PointsSampler([3])(p, None), "square": lambda p: mmcv.calc_square_dist(p, p),
    "boxes": lambda p: mmcv.points_in_boxes_all(p, p),
    "pointops": lambda p: pointops.knn_query(3, p[0], [60]),
    "offsets": lambda p: pointops.farthest_point_sampling(p[0], [60], [3]),
    "grouping": lambda p: pointops.grouping2(p[0], torch.zeros(3, 2)),
    "subtraction": lambda p: pointops.subtraction(p[0], torch.zeros(60, 3), torch.zeros(60, 2).int()),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_refused(name):
    with pytest.raises(TypeError, match="must be a torch.Tensor, not ndarray"):
        ARRAYS[name](batch().numpy())
