"""PyTorch: derivatives of chamfer and nearest in forward mode, of second order and in torch.func, beside
those of the obvious formula; vmap of every operator."""

import numpy as np
import pytest
from conftest import cloud

import farpoint
from farpoint import _native

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch import func  # noqa: E402  (they need torch)
from torch.autograd import forward_ad  # noqa: E402

OPTIONS = [{}, dict(norm=1), dict(squared=False), dict(one_sided=True), dict(reduction="max"),
           dict(reduction="sum", norm=1), dict(x_lengths=[6, 4], y_lengths=[2, 5])]


def pair(b=2, n=6, m=5, d=3):
    x = torch.from_numpy(np.stack([cloud(n, d, np.float64, s) for s in range(b)]))
    return x, torch.from_numpy(np.stack([cloud(m, d, np.float64, 9 + s) for s in range(b)]))


def obvious(x, y, x_lengths=None, y_lengths=None, norm=2, squared=True, one_sided=False, reduction="mean"):
    """The Chamfer distance by all pairs."""
    if x_lengths is not None:
        pairs = zip(x, y, x_lengths, y_lengths)
        return torch.stack([obvious(a[:n], b[:m], norm=norm) for a, b, n, m in pairs])
    differences = x.unsqueeze(-2) - y.unsqueeze(-3)
    differences = (differences * differences).sum(-1) if norm == 2 else differences.abs().sum(-1)
    sides = [differences.amin(-1), differences.amin(-2)][: 1 if one_sided else 2]
    if norm == 2 and not squared:
        sides = [side.sqrt() for side in sides]
    sides = [getattr(side, "amax" if reduction == "max" else reduction)(-1) for side in sides]
    return sides[0] if one_sided else torch.maximum(*sides) if reduction == "max" else sum(sides)


def both(options):
    return (lambda x, y: farpoint.chamfer(x, y, **options).sum(),
            lambda x, y: obvious(x, y, **options).sum())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_forward_mode(options):
    mine, theirs = both(options)
    x, y = pair()
    speeds = torch.rand_like(x), torch.rand_like(y)
    value, speed = func.jvp(mine, (x, y), speeds)
    torch.testing.assert_close((value, speed), func.jvp(theirs, (x, y), speeds))
    assert speed != 0
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(*part) for part in zip((x, y), speeds)]
        torch.testing.assert_close(forward_ad.unpack_dual(mine(*duals)).tangent, speed)
    torch.testing.assert_close(func.jacfwd(mine, (0, 1))(x, y), func.jacfwd(theirs, (0, 1))(x, y))


def test_forward_mode_of_nearest():
    x, y = (part[0] for part in pair())
    for squared in (True, False):
        def distances(x, squared=squared):
            return farpoint.nearest(x, y, squared=squared).distances

        def by_all_pairs(x, squared=squared):
            least = ((x.unsqueeze(1) - y) ** 2).sum(-1).amin(-1)
            return least if squared else least.sqrt()

        torch.testing.assert_close(func.jacfwd(distances)(x), func.jacfwd(by_all_pairs)(x))
        torch.testing.assert_close(func.jacrev(distances)(x), func.jacfwd(by_all_pairs)(x))
    with forward_ad.dual_level():
        near = farpoint.nearest(forward_ad.make_dual(x, torch.ones_like(x)), y)
        assert forward_ad.unpack_dual(near.distances).tangent is not None
        assert near.indices.dtype == torch.int64


def test_a_distance_of_zero_has_the_tangent_zero():
    x = pair()[0][0]
    value, speed = func.jvp(lambda x: farpoint.chamfer(x, x.detach(), squared=False), (x,), (x,))
    assert value == 0 and speed == 0


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_second_derivatives(options):
    mine, theirs = both(options)
    x, y = pair()
    expected = torch.autograd.functional.hessian(theirs, (x, y))
    torch.testing.assert_close(torch.autograd.functional.hessian(mine, (x, y)), expected)
    torch.testing.assert_close(torch.autograd.functional.hessian(mine, (x, y), vectorize=True), expected)
    torch.testing.assert_close(func.hessian(mine, (0, 1))(x, y), expected)
    torch.testing.assert_close(func.jacrev(func.jacrev(mine, (0, 1)), (0, 1))(x, y), expected)
    x.requires_grad_(), y.requires_grad_()
    assert torch.autograd.gradcheck(mine, (x, y), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(mine, (x, y), check_fwd_over_rev=True)


def test_a_penalty_on_the_gradient():
    """What ``create_graph`` is for."""
    x, y = pair()
    result = []
    for chamfer in both({}):
        a = x.clone().requires_grad_()
        (slope,) = torch.autograd.grad(chamfer(a, y), a, create_graph=True)
        (slope ** 2).sum().backward()
        result.append(a.grad)
    torch.testing.assert_close(*result)
    assert (result[0] != 0).any()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_gradients_in_torch_func(options):
    mine, theirs = both(options)
    x, y = pair()
    torch.testing.assert_close(func.grad(mine, (0, 1))(x, y), func.grad(theirs, (0, 1))(x, y))
    a, b = x.clone().requires_grad_(), y.clone().requires_grad_()
    mine(a, b).backward()
    assert torch.equal(func.grad(mine)(x, y), a.grad), "the bits of backward()"
    if "x_lengths" not in options:
        each = func.vmap(func.grad(mine, (0, 1)))(x, y)
        torch.testing.assert_close(each, func.grad(theirs, (0, 1))(x, y))


@pytest.mark.parametrize("name", ["grad", "jvp", "hessian"])
@pytest.mark.parametrize("fullgraph", [True, False])
def test_compiled(name, fullgraph):
    mine, theirs = both({})

    def call(chamfer, x, y):
        if name == "jvp":
            return func.jvp(chamfer, (x, y), (x, y))[1]
        return getattr(func, name)(chamfer)(x, y)

    torch.compiler.reset()
    compiled = torch.compile(lambda x, y: call(mine, x, y), fullgraph=fullgraph, backend="aot_eager")
    torch.testing.assert_close(compiled(*pair()), call(theirs, *pair()))


def counted(monkeypatch, name):
    """How often the compiled half is called, as a list that grows."""
    calls, real = [], getattr(_native, name)
    monkeypatch.setattr(_native, name, lambda *given: calls.append(name) or real(*given))
    return calls


def test_nearest_in_vmap(monkeypatch):
    x, y = pair(4)
    expected = farpoint.nearest(x, y)
    calls = counted(monkeypatch, "match_clouds")
    for single in (True, False):  # clouds, and batches of two
        a, b = (part if single else part.reshape(2, 2, *part.shape[1:]) for part in (x, y))
        for dims in ((0, 0), (1, 0), (-1, 0)):
            actual = torch.vmap(farpoint.nearest, in_dims=dims)(a.movedim(0, dims[0]), b)
            for mine, theirs in zip(actual, expected):
                assert torch.equal(mine.reshape(theirs.shape), theirs)
    assert len(calls) == 6, "one call for each vmap"
    one = torch.vmap(lambda x: farpoint.nearest(x, y[0]).indices)(x)
    assert torch.equal(one, farpoint.nearest(x, y[:1].expand(4, -1, -1)).indices)
    lengths = torch.tensor([[6, 3], [1, 2]])
    padded = torch.vmap(lambda x, y, n: farpoint.chamfer(x, y, x_lengths=n))(
        x.reshape(2, 2, 6, 3), y.reshape(2, 2, 5, 3), lengths)
    assert torch.equal(padded.reshape(4), farpoint.chamfer(x, y, x_lengths=lengths.reshape(4)))


def test_sample_in_vmap(monkeypatch):
    points = torch.from_numpy(np.stack([cloud(30, seed=s) for s in range(6)]))
    expected = farpoint.sample(points, 5, return_distances=True)
    calls = counted(monkeypatch, "sample")
    for batches in (points, points.reshape(2, 3, 30, 3)):
        actual = torch.vmap(lambda p: tuple(farpoint.sample(p, 5, return_distances=True)))(batches)
        for mine, theirs in zip(actual, expected):
            assert torch.equal(mine.reshape(theirs.shape), theirs)
    twice = torch.vmap(torch.vmap(lambda p: farpoint.sample(p, 5, seed=3)))(points.reshape(2, 3, 30, 3))
    assert len(calls) == 3, "one call for each vmap"
    assert torch.equal(twice.reshape(6, 5), farpoint.sample(points, 5, seed=3))
    starts = torch.arange(6)
    moved = torch.vmap(lambda p, s: farpoint.sample(p, 5, start=s))(points, starts)
    assert torch.equal(moved, farpoint.sample(points, 5, start=starts))
    same = torch.vmap(lambda s: farpoint.sample(points[0], 5, start=s))(starts)
    assert torch.equal(same, farpoint.sample(points[:1].expand(6, -1, -1), 5, start=starts))
    lengths = torch.tensor([30, 2, 9, 30, 1, 4])
    short = torch.vmap(lambda p, n: farpoint.sample(p, 5, lengths=n))(
        points.reshape(2, 3, 30, 3), lengths.reshape(2, 3))
    assert torch.equal(short.reshape(6, 5), farpoint.sample(points, 5, lengths=lengths))


def test_sample_has_no_derivative_and_says_so():
    points = torch.from_numpy(cloud()).requires_grad_()
    result = farpoint.sample(points, 5, return_distances=True)
    assert not any(part.requires_grad for part in result)
    assert "they have no derivative" in farpoint.sample.__doc__
    chosen = func.grad(lambda p: p[farpoint.sample(p, 5)].sum())(points.detach())
    assert torch.equal(chosen.sum(dim=1).nonzero().squeeze(1), result.indices.sort().values)
