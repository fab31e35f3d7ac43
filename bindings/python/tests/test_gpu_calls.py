"""On a GPU: calls of PyTorch's that wait for nothing and can be captured, half precision, derivatives of
second order and in forward mode, vmap, and graphs that break."""

import numpy as np
import pytest
from conftest import cloud, needs_gpu

import farpoint

pytestmark = needs_gpu


@pytest.fixture
def batch(cuda):
    def make(b=3, n=600, kind=np.float32, seed=0):
        return cuda.from_numpy(np.stack([cloud(n, 3, kind, seed + s) for s in range(b)])).cuda()

    return make


def flat(result):
    return [part for one in result for part in flat(one)] if isinstance(result, (tuple, list)) else [result]


def same(mine, theirs, of=lambda part: part):
    for one, other in zip(flat(mine), flat(theirs), strict=True):
        if hasattr(one, "is_cuda"):
            assert one.is_cuda and one.dtype == other.dtype
            np.testing.assert_array_equal(one.detach().double().cpu(), other.detach().double().cpu())
        else:
            np.testing.assert_array_equal(one, other)


def calls():
    """By name: default calls, all of which can be captured."""
    from farpoint.compat import pointnet2_ops, pytorch3d, torch_cluster

    return {
        "sample": lambda p: farpoint.sample(p, 50), "one start": lambda p: farpoint.sample(p, 50, start=7),
        "distances": lambda p: tuple(farpoint.sample(p, ratio=0.2, return_distances=True)),
        "seed": lambda p: farpoint.sample(p, 50, seed=2**63 + 7), "order": lambda p: farpoint.order(p).indices,
        "lengths of one size": lambda p: farpoint.sample(p, 50, lengths=[400] * 3),
        "starts in even steps": lambda p: farpoint.sample(p, 50, start=[1, 2, 3]),
        "pytorch3d": lambda p: pytorch3d.sample_farthest_points(p, K=50),
        "pytorch3d, K of each": lambda p: pytorch3d.sample_farthest_points(p, K=[50, 40, 30]),
        "fps": lambda p: torch_cluster.fps(p[0], random_start=False),
        "pointnet2": lambda p: pointnet2_ops.furthest_point_sample(p, 50),
        "half": lambda p: farpoint.sample(p.half(), 50),
    }


def calls_of_match():
    from farpoint.compat import chamfer_3d, kaolin, pytorch3d

    return {
        "nearest": lambda p: tuple(farpoint.nearest(p, p.flip(0), squared=False)),
        "chamfer": lambda p: farpoint.chamfer(p, p.flip(0)),
        "plain chamfer": lambda p: farpoint.chamfer(p, p.flip(0), squared=False, reduction="max"),
        "pytorch3d's chamfer": lambda p: pytorch3d.chamfer_distance(p, p.flip(0))[0],
        "kaolin": lambda p: kaolin.chamfer_distance(p, p.flip(0), squared=False),
        "chamfer_3d": lambda p: chamfer_3d.chamfer_3DDist()(p, p.flip(0)),
        "halves": lambda p: farpoint.chamfer(p.bfloat16(), p.flip(0)),
    }


NAMES = ["sample", "one start", "distances", "seed", "order", "lengths of one size", "starts in even steps",
         "pytorch3d", "pytorch3d, K of each", "fps", "pointnet2", "half"]
OF_MATCH = ["nearest", "chamfer", "plain chamfer", "pytorch3d's chamfer", "kaolin", "chamfer_3d", "halves"]
EVERY = NAMES + OF_MATCH


def test_the_lists_are_whole():
    assert list(calls()) == NAMES and list(calls_of_match()) == OF_MATCH


@pytest.fixture
def no_waiting(cuda):
    """A function to be called once all is warm: from then on, to wait is an error."""
    yield lambda: cuda.cuda.set_sync_debug_mode("error")
    cuda.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("name", EVERY)
def test_default_calls_do_not_wait(cuda, batch, no_waiting, name):
    call, points = {**calls(), **calls_of_match()}[name], batch()
    expected = call(points)
    no_waiting()
    actual = call(points)
    cuda.cuda.set_sync_debug_mode("default")
    same(actual, expected)


@pytest.mark.parametrize("name", OF_MATCH)
def test_gradients_do_not_wait(cuda, batch, no_waiting, name):
    call, points = calls_of_match()[name], batch().requires_grad_()
    sum(part.sum() for part in flat(call(points)) if part.is_floating_point()).backward()
    no_waiting()
    sum(part.sum() for part in flat(call(points)) if part.is_floating_point()).backward()


@pytest.mark.parametrize("name", EVERY)
def test_default_calls_are_captured(cuda, batch, name):
    call, points = {**calls(), **calls_of_match()}[name], batch()
    call(points)
    cuda.cuda.synchronize()
    graph = cuda.cuda.CUDAGraph()
    with cuda.cuda.graph(graph):
        result = call(points)
    for seed in (10, 20):
        points.copy_(batch(seed=seed))
        graph.replay()
        same(result, call(points))


def test_random_starts_of_replacements_are_captured(cuda, batch):
    from farpoint.compat import pytorch3d, torch_cluster

    points = batch()
    for call in (lambda: torch_cluster.fps(points[0], ratio=0.1),
                 lambda: pytorch3d.sample_farthest_points(points, K=5, random_start_point=True)[1][0]):
        call()
        cuda.cuda.synchronize()
        graph = cuda.cuda.CUDAGraph()
        with cuda.cuda.graph(graph):
            result = call()
        first = set()
        for _ in range(20):
            graph.replay()
            assert len(result.unique()) == len(result)
            first.add(int(result[0]))
        assert len(first) > 3


def test_numbers_of_the_host_do_not_wait(cuda, batch, no_waiting):
    """Lists and tensors on the CPU; what is changed after the call is not seen by it."""
    from farpoint.compat import pointnet2_ops, pytorch3d

    points, lengths, starts = batch(), cuda.tensor([600, 50, 7]), cuda.tensor([5, 1, 2])
    pinned = cuda.tensor([600, 50, 7]).pin_memory()

    def run():
        return (
            farpoint.sample(points, 40, lengths=lengths), farpoint.sample(points, 40, start=starts),
            farpoint.sample(points, 40, lengths=pinned), farpoint.sample(points, 40, lengths=[600, 50, 7]),
            pytorch3d.sample_farthest_points(points, lengths, K=[4, 9, 2])[1],
            pointnet2_ops.stack_farthest_point_sample(points[0], [100, 200, 300], [5, 2, 9]),
        )

    expected = [part.clone() for part in run()]
    cuda.cuda.synchronize()
    cuda.cuda._sleep(200_000_000)
    no_waiting()
    actual = run()
    for given in (lengths, starts, pinned):
        given.fill_(1)
    cuda.cuda.set_sync_debug_mode("default")
    same(actual, expected)


def test_lengths_of_pairs_do_not_wait(cuda, batch, no_waiting):
    points = batch()
    expected = farpoint.chamfer(points, points.flip(0), x_lengths=[600, 50, 7], y_lengths=cuda.tensor([9, 8, 1]))
    no_waiting()
    actual = farpoint.chamfer(points, points.flip(0), x_lengths=[600, 50, 7], y_lengths=cuda.tensor([9, 8, 1]))
    cuda.cuda.set_sync_debug_mode("default")
    same(actual, expected)


def test_numbers_of_the_host_are_not_captured(cuda, batch):
    points = batch()
    farpoint.sample(points, 40, lengths=[600, 50, 7])
    cuda.cuda.synchronize()
    with pytest.raises(RuntimeError, match="can't be captured into a CUDA graph"):
        with cuda.cuda.graph(cuda.cuda.CUDAGraph()):
            farpoint.sample(points, 40, lengths=[600, 50, 7])
    same(farpoint.sample(points, 40), farpoint.sample(points.cpu(), 40).cuda())  # nothing is damaged


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_give_what_they_give_on_the_cpu(cuda, batch, half):
    points = batch().to(getattr(cuda, half))
    for options in (dict(count=50), dict(spacing=0.2), dict(count=50, non_finite="skip"), dict(count=50, lengths=[600, 9, 1])):
        actual = farpoint.sample(points, return_distances=True, **options)
        expected = farpoint.sample(points.cpu(), return_distances=True, **options)
        same(tuple(actual)[:2], [part.cuda() for part in expected[:2]])
    farpoint.check(points)
    with pytest.raises(TypeError, match="must be float32 or float64, not torch.*float16"):
        cuda.ops.farpoint.sample(batch().to(getattr(cuda, half)), 5, None, None, None, None, "auto", None)


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_pairs_of_halves(cuda, batch, half):
    kind = getattr(cuda, half)
    x, y = batch(), batch(seed=9)
    with cuda.autocast("cuda", dtype=kind):
        moved = x @ cuda.eye(3, device="cuda")
        assert moved.dtype == kind
        by_operator = cuda.ops.farpoint.match_clouds(moved, y, None, None, 2, None, True)
        value = farpoint.chamfer(moved, y)
    same(by_operator, cuda.ops.farpoint.match_clouds(moved.float(), y, None, None, 2, None, True))
    same(value, farpoint.chamfer(moved.float(), y))
    grown = moved.detach().requires_grad_()
    farpoint.chamfer(grown, y).sum().backward()
    wide = moved.detach().float().requires_grad_()
    farpoint.chamfer(wide, y).sum().backward()
    same(grown.grad, wide.grad.to(kind))


@pytest.mark.parametrize("options", [{}, dict(norm=1), dict(squared=False), dict(one_sided=True),
                                     dict(x_lengths=[9, 5], y_lengths=[7, 3])], ids=str)
def test_derivatives_are_those_of_the_cpu(cuda, batch, options):
    func = cuda.func
    x, y = batch(2, 9, np.float64), batch(2, 7, np.float64, seed=9)

    def chamfer(x, y):
        return farpoint.chamfer(x, y, **options).sum()

    calls = [
        func.grad(chamfer, (0, 1)), func.hessian(chamfer), func.jacrev(func.jacrev(chamfer)),
        lambda x, y: func.jvp(chamfer, (x, y), (x, y)),
        lambda x, y: cuda.autograd.functional.hessian(chamfer, (x, y)),
    ]
    for call in calls:
        for mine, theirs in zip(flat(call(x, y)), flat(call(x.cpu(), y.cpu())), strict=True):
            assert mine.is_cuda
            cuda.testing.assert_close(mine.cpu(), theirs)
    a, b = x.requires_grad_(), y.requires_grad_()
    assert cuda.autograd.gradcheck(chamfer, (a, b), check_forward_ad=True)
    assert cuda.autograd.gradgradcheck(chamfer, (a, b), check_fwd_over_rev=True)


def test_second_derivatives_have_the_same_bits_on_every_run(cuda, batch):
    x, y = batch(1, 3000), batch(1, 8, seed=9)  # long sums

    def run(x):
        x = x.detach().requires_grad_()
        z = y.detach().requires_grad_()
        slopes = cuda.autograd.grad(farpoint.chamfer(x, z, reduction="sum").sum(), (x, z), create_graph=True)
        return cuda.autograd.grad(sum((slope ** 3).sum() for slope in slopes), (x, z))

    first = run(x)
    in_func = cuda.func.grad(lambda z: farpoint.chamfer(x, z, reduction="sum").sum())(y)
    for _ in range(10):
        same(run(x), first)
        same(cuda.func.grad(lambda z: farpoint.chamfer(x, z, reduction="sum").sum())(y), in_func)


def test_vmap(cuda, batch):
    points = batch(4)
    result = cuda.vmap(lambda p: farpoint.sample(p, 20))(points)
    same(result, farpoint.sample(points, 20))
    same(cuda.vmap(lambda p: farpoint.sample(p, 20, seed=3))(points.reshape(2, 2, 600, 3)).reshape(4, 20),
         farpoint.sample(points, 20, seed=3))


def test_vmap_of_pairs(cuda, batch):
    x, y = batch(4), batch(4, 500, seed=9)
    same(tuple(cuda.vmap(farpoint.nearest)(x, y)), tuple(farpoint.nearest(x, y)))
    slopes = cuda.vmap(cuda.func.grad(lambda x, y: farpoint.chamfer(x, y)))(x, y)
    grown = x.detach().requires_grad_()
    farpoint.chamfer(grown, y).sum().backward()
    same(slopes, grown.grad)


@pytest.mark.parametrize("options", [dict(spacing=0.3), dict(count=9, non_finite="skip"), dict(count=9, lengths=[600, 9, 2])], ids=str)
def test_a_graph_breaks(cuda, batch, options):
    cuda.compiler.reset()
    call = cuda.compile(lambda p: (p * 2, farpoint.sample(p, **options), p + 1), backend="aot_eager")
    points = batch()
    same(call(points), (points * 2, farpoint.sample(points, **options), points + 1))


def test_the_default_device_is_nobodys_business(cuda, batch):
    points = batch().cpu()
    every = {**calls(), **calls_of_match()}
    expected = {name: flat(call(points)) for name, call in every.items()}
    cuda.set_default_device("cuda")
    try:
        for name, call in every.items():
            for mine, theirs in zip(flat(call(points)), expected[name], strict=True):
                assert mine.is_cpu and cuda.equal(mine, theirs), name
    finally:
        cuda.set_default_device(None)
