"""PyTorch: float16 and bfloat16 are computed in float32, which holds them without loss; autocast."""

import numpy as np
import pytest
from conftest import cloud

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint.compat import chamfer_3d, kaolin, pointnet2_ops, pytorch3d, torch_cluster  # noqa: E402

HALVES = [torch.float16, torch.bfloat16]


def batch(b=3, n=60, seed=0):
    return torch.from_numpy(np.stack([cloud(n, seed=seed + s) for s in range(b)]))


def same(mine, theirs):
    if isinstance(mine, tuple):
        for one, other in zip(mine, theirs, strict=True):
            same(one, other)
    else:
        assert type(mine) is type(theirs) and getattr(mine, "dtype", None) == getattr(theirs, "dtype", None)
        known = [part.double() if isinstance(part, torch.Tensor) else part for part in (mine, theirs)]
        np.testing.assert_array_equal(*known)


CALLS = {
    "sample": lambda p: farpoint.sample(p, 9, return_distances=True),
    "lengths": lambda p: farpoint.sample(p, 9, lengths=[60, 5, 2], start=1),
    "spacing": lambda p: farpoint.sample(p, spacing=0.4),
    "skip": lambda p: farpoint.sample(p, 9, non_finite="skip"), "order": farpoint.order,
    "grid": lambda p: farpoint.sample_grid(p, 9),
    "centroids": lambda p: farpoint.centroids(p, cell=0.3),
    "quality": lambda p: farpoint.quality(p, [[1, 2]] * 3), "check": lambda p: (farpoint.check(p),),
    "fps": lambda p: torch_cluster.fps(p.reshape(-1, 3), torch.arange(3).repeat_interleave(60), 0.3, False),
    "fps of each": lambda p: torch_cluster.fps(
        p[0], ratio=torch.tensor(0.3), random_start=False),
    "pointnet2": lambda p: pointnet2_ops.furthest_point_sample(p, 9),
    "stack": lambda p: pointnet2_ops.stack_farthest_point_sample(p[0], torch.tensor([20, 40]), 5),
    "pytorch3d": lambda p: pytorch3d.sample_farthest_points(p, K=9)[1],
}
PAIRS = {
    "nearest": farpoint.nearest, "chamfer": farpoint.chamfer,
    "plain": lambda x, y: farpoint.chamfer(x, y, squared=False, x_lengths=[9, 8, 7]),
    "pytorch3d": lambda x, y: pytorch3d.chamfer_distance(x, y)[0], "chamfer_3d": chamfer_3d.chamfer_3DDist(),
}


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("name", CALLS)
def test_samples_are_those_of_float32(name, half):
    points = batch().to(half)
    same(CALLS[name](points), CALLS[name](points.float()))


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs_are_those_of_float32(name, half):
    x, y = batch().to(half), batch(seed=9).to(half)
    expected = PAIRS[name](x.float(), y.float())
    same(PAIRS[name](x, y), expected)
    same(PAIRS[name](x, y.float()), expected)  # a network's answer and its target


@pytest.mark.parametrize("half", HALVES)
def test_gradients_have_the_type_of_the_tensor(half):
    x, y = batch().to(half).requires_grad_(), batch(seed=9).to(half).requires_grad_()
    value = farpoint.chamfer(x, y).sum()
    value.backward()
    a, b = x.detach().float().requires_grad_(), y.detach().float().requires_grad_()
    farpoint.chamfer(a, b).sum().backward()
    assert value.dtype == torch.float32
    same((x.grad, y.grad), (a.grad.to(half), b.grad.to(half)))


def test_distances_do_not_overflow():
    far = torch.tensor([[[0.0, 0, 0]], [[500.0, 0, 0]]], dtype=torch.float16)
    assert farpoint.chamfer(far[0], far[1]) == 2 * 500.0**2
    assert farpoint.sample(far.reshape(1, 2, 3), 2, return_distances=True).distances[0, 1] == 500


@pytest.mark.parametrize("half", HALVES)
def test_kaolin_gives_the_type_it_is_given(half):
    x, y = batch().to(half), batch(seed=9).to(half)
    distances, indices = kaolin.sided_distance(x, y)
    expected = kaolin.sided_distance(x.float(), y.float())
    same((distances, indices), (expected[0].to(half), expected[1]))
    same(kaolin.chamfer_distance(x, y), kaolin.chamfer_distance(x.float(), y.float()).to(half))


@pytest.mark.parametrize("half", HALVES)
def test_chosen_points_keep_type_and_gradient(half):
    points = batch().to(half).requires_grad_()
    chosen, indices = pytorch3d.sample_farthest_points(points, K=4)
    assert chosen.dtype == half
    chosen.sum().backward()
    assert points.grad.dtype == half and points.grad.sum() == 3 * 4 * 3


@pytest.mark.parametrize("half", HALVES)
def test_non_finite_rows_of_halves(half):
    points = batch()[0].to(half)
    points[3, 1] = torch.inf
    with pytest.raises(ValueError, match="1 of 60 rows .* row 3"):
        farpoint.check(points)
    with pytest.raises(ValueError, match="1 of 60 rows .* row 3"):
        farpoint.sample(points, 5)


def test_operators_in_autocast():
    """They take what a network gives there, and compute in float32; float64 stays."""
    ops, x, y = torch.ops.farpoint, batch(), batch(seed=9)
    weight = torch.eye(3)
    for kind in HALVES:
        with torch.autocast("cpu", dtype=kind):
            moved = x @ weight
            assert moved.dtype == kind
            result = ops.match_clouds(moved, y, None, None, 2, None, True)
            rows = ops.sample(moved, 5, None, None, None, None, "auto", None)
            apart = ops.sample_distances(moved, 5, None, None, None, None, "auto", None)[1]
            ragged = ops.sample_ragged(moved[0], *(torch.tensor(v) for v in ([0, 60], [4])), None, 4, 60, "auto")
            of_both = farpoint.chamfer(moved, y)
            wide = ops.match_clouds(x.double(), y.double(), None, None, 2, None, True)
        rounded = moved.float()
        same(tuple(result), tuple(ops.match_clouds(rounded, y, None, None, 2, None, True)))
        same((rows, apart), tuple(farpoint.sample(rounded, 5, return_distances=True))[:2])
        same(ragged, farpoint.sample(rounded[0], 4))
        same(of_both, farpoint.chamfer(rounded, y))
        assert wide[0].dtype == torch.float64
    with pytest.raises(TypeError, match="float16"):
        ops.sample(x.half(), 5, None, None, None, None, "auto", None)


def test_a_step_in_autocast():
    """Gradients come back through the conversion."""
    layer, x, y = torch.nn.Linear(3, 3), batch(), batch(seed=9)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = farpoint.chamfer(layer(x), y).mean()
    loss.backward()
    assert loss.dtype == torch.float32 and layer.weight.grad.dtype == torch.float32
    assert (layer.weight.grad != 0).any()


def test_a_step_in_autocast_compiled():
    layer, y = torch.nn.Linear(3, 3), batch(seed=9)

    def step(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            moved = layer(x)
            return farpoint.chamfer(moved, y).sum(), farpoint.sample(moved, 4)

    torch.compiler.reset()
    actual, expected = torch.compile(step, fullgraph=True, backend="aot_eager")(batch()), step(batch())
    same(tuple(part.detach() for part in actual), tuple(part.detach() for part in expected))
    slopes = [torch.autograd.grad(part[0], layer.weight)[0] for part in (actual, expected)]
    torch.testing.assert_close(*slopes)
