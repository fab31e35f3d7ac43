"""On a GPU: nearest points, the Chamfer distance and gradients of PyTorch's tensors have the bits that
the CPU's have."""

import numpy as np
import pytest
from conftest import cloud, grid, needs_gpu, obvious_nearest, same

import farpoint
from farpoint import _native

pytestmark = [needs_gpu]


def batch(cuda, b=2, n=60, d=3, kind=np.float32):
    return cuda.from_numpy(np.stack([cloud(n, d, kind, seed=s) for s in range(b)])).cuda()


def results(x, y, x_lengths=None, y_lengths=None, norm=2, both=True):
    """Distances and indices of both sides, and the gradients of both clouds for some gradients of the
    distances."""
    import torch
    from farpoint import nearest_both

    x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
    search, lengths = nearest_both if both else farpoint.nearest, dict(x_lengths=x_lengths, y_lengths=y_lengths)
    result = search(x, y, norm=norm, **lengths)
    result = [*result[0], *result[1]] if both else result
    weights = [torch.arange(d.numel(), device=d.device).reshape(d.shape) % 7 - 2.75 for d in result[::2]]
    total = sum((d * w.to(d.dtype)).sum() for d, w in zip(result[::2], weights))
    return [*result, *torch.autograd.grad(total, (x, y))]


def same_as_on_the_cpu(x, y, *lengths, **options):
    on_cpu = [part.cpu() if hasattr(part, "cpu") else part for part in (x, y, *lengths)]
    for k, (mine, expected) in enumerate(zip(results(x, y, *lengths, **options), results(*on_cpu, **options))):
        assert mine.is_cuda and mine.dtype == expected.dtype and mine.is_contiguous(), k
        same(mine, expected.detach().numpy())


def pairs(kind):
    return {
        "random": (cloud(3000), cloud(2000, seed=2)), "ties": (grid(6), grid(6) + np.float32(0.5)),
        "itself": (grid(6), grid(6)), "plane": (cloud(500, 2), cloud(700, 2, seed=2)),
        "features": (cloud(500, 16), cloud(700, 16, seed=2)), "line": (cloud(900, 1), cloud(40, 1, seed=2)),
        "one": (cloud(1), cloud(900, seed=2)), "wide": (cloud(500) * 1e6, cloud(500, seed=2) * 1e6),
        "few": (cloud(30_000), cloud(8, seed=2)), "same": (np.zeros((300, 3)), np.ones((200, 3))),
        "large": (cloud(150_000), cloud(100_000, seed=2)),
    }[kind]


NAMES = ["random", "ties", "itself", "plane", "features", "line", "one", "wide", "few", "same", "large"]


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_bits_are_those_of_the_cpu(cuda, filled, name, kind, norm):
    x, y = (cuda.from_numpy(part.astype(kind)).unsqueeze(0).cuda() for part in pairs(name))
    same_as_on_the_cpu(x, y, norm=norm)
    same_as_on_the_cpu(x, y, norm=norm, both=False)


def test_nearest_is_the_obvious_one(cuda):
    for x, y in (pairs("random"), pairs("ties"), pairs("features")):
        result = farpoint.nearest(cuda.from_numpy(x).cuda(), cuda.from_numpy(y).cuda())
        distances, indices = obvious_nearest(x, y)
        same(result.indices, indices)
        same(result.distances, distances)
        assert result.indices.dtype == cuda.int64


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_batches_and_strides(cuda, filled, norm, kind):
    whole = batch(cuda, 4, 200, 6, kind)
    views = [
        (whole[..., :3], whole[:, 50:, 3:]), (whole[::2, ::3, ::2], whole[1::2, :, ::2]),
        (whole.transpose(1, 2)[:, :, :5], whole[:, 7:90, :5]), (whole[:1].expand(4, -1, -1), whole),
        (whole.transpose(0, 1)[:4], whole[:, :4]),
    ]
    for x, y in views:
        lengths = cuda.tensor([1 + k * 4 for k in range(len(x))], device="cuda").clamp(max=x.shape[1])
        others = lengths.flip(0).clamp(max=y.shape[1])
        for given in ((None, None), (lengths, None), (None, others.tolist()), (lengths, others)):
            for both in (True, False):
                same_as_on_the_cpu(x, y, *given, norm=norm, both=both)


def test_a_hundred_pairs(cuda, filled):
    x, y = batch(cuda, 100, 700), batch(cuda, 100, 500) + 0.01
    lengths = cuda.arange(1, 101, device="cuda") * 5
    same_as_on_the_cpu(x, y, lengths, None)
    same_as_on_the_cpu(x, y)


def test_memory_is_read_in_place(cuda, monkeypatch):
    from farpoint._torch import shape_cache

    seen, real = [], _native.CudaNearest

    class Spy:
        def __init__(self, *arguments):
            self.plan, self.strides = real(*arguments), arguments[3]
            self.scratch, self.backward = self.plan.scratch, self.plan.backward

        def search(self, stream, x, y, *rest):
            seen.append((x.data_ptr(), self.strides[0], y.data_ptr(), self.strides[1]))
            self.plan.search(stream, x, y, *rest)

    monkeypatch.setattr(shape_cache, "_cache", shape_cache.table())
    monkeypatch.setattr(_native, "CudaNearest", Spy)
    whole = cuda.rand(200, 6, device="cuda")
    for x, y in ((whole[:, :3], whole[::2, 1:4]), (whole.t()[:3].t(), whole[:, ::2].requires_grad_())):
        farpoint.nearest(x, y)
        assert seen.pop() == (x.data_ptr(), x.stride(), y.data_ptr(), y.stride())


def test_values_alone_are_those_with_gradients(cuda, filled):
    for x, y in ((batch(cuda, 2, 300), batch(cuda, 2, 200)), (batch(cuda, 1, 4000)[0], batch(cuda, 1, 9000)[0])):
        for options in ({}, dict(squared=False), dict(norm=1), dict(one_sided=True), dict(reduction="max")):
            alone = farpoint.chamfer(x, y, **options)
            with_gradients = farpoint.chamfer(x, y.detach().requires_grad_(), **options)
            assert with_gradients.requires_grad and cuda.equal(alone, with_gradients)


def test_no_pairs(cuda):
    none = cuda.empty(0, 9, 3, device="cuda", requires_grad=True)
    assert farpoint.nearest(none, none).indices.shape == (0, 9)
    farpoint.chamfer(none, none).sum().backward()
    assert none.grad.shape == (0, 9, 3)


def test_empty_clouds(cuda, filled):
    """What the host knows is refused as on the CPU. What only the GPU knows is not looked at."""
    x, y = batch(cuda), batch(cuda, 2, 40)
    with pytest.raises(ValueError, match="no usable point"):
        farpoint.chamfer(x, y[:, :0])
    for on in (x, x.cpu()):
        with pytest.raises(ValueError, match="cloud 1 of the batch: .*no usable point"):
            farpoint.nearest(on, y.to(on.device), y_lengths=[40, 0])
        assert farpoint.nearest(on, y.to(on.device), x_lengths=[60, 0]).indices[1].eq(-1).all()
    lengths = cuda.tensor([40, 0], device="cuda")
    distances, indices = farpoint.nearest(x, y, y_lengths=lengths)
    same(indices[0], farpoint.nearest(x[0].cpu(), y[0].cpu()).indices.numpy())
    assert bool((indices[1] == -1).all()) and bool(distances[1].isinf().all())
    distances, indices = farpoint.nearest(y, x, x_lengths=lengths)
    assert bool((indices[1] == -1).all()) and bool((distances[1] == 0).all())


@pytest.mark.parametrize("options", [
    {}, dict(norm=1), dict(squared=False), dict(reduction="sum"), dict(one_sided=True),
    dict(reduction="max"), dict(x_lengths=[5, 9], y_lengths=[7, 3]),
], ids=str)
def test_gradients_of_chamfer(cuda, options):
    x = batch(cuda, 2, 9, kind=np.float64).requires_grad_()
    y = (batch(cuda, 2, 7, kind=np.float64) + 0.01).requires_grad_()
    assert cuda.autograd.gradcheck(lambda x, y: farpoint.chamfer(x, y, **options), (x, y))
    assert cuda.autograd.gradcheck(lambda x: farpoint.nearest(x, y).distances, (x,))
    cuda.testing.assert_close(
        farpoint.chamfer(x, y, **options).cpu(), farpoint.chamfer(x.cpu(), y.cpu(), **options)
    )


def test_the_same_bits_on_every_run(cuda):
    """With thousands of points that share one nearest point, whose gradient is a long sum."""
    for name in ("random", "few", "ties", "itself", "large"):
        x, y = (cuda.from_numpy(part).cuda().unsqueeze(0) for part in pairs(name))
        first = results(x, y)
        for _ in range(19):
            for mine, expected in zip(results(x, y), first):
                assert cuda.equal(mine, expected)


def test_gradients_of_long_sums_are_right(cuda):
    x, y = (cuda.from_numpy(part) for part in pairs("few"))
    for a, b in ((x, y), (y, x)):
        a, b = a.cuda().requires_grad_(), b.cuda().requires_grad_()
        farpoint.chamfer(a, b, reduction="sum").backward()
        c, d = (part.detach().cpu().double().requires_grad_() for part in (a, b))
        farpoint.chamfer(c, d, reduction="sum").backward()
        for mine, exact in ((a.grad, c.grad), (b.grad, d.grad)):
            apart = (mine.cpu().double() - exact).abs().max()
            assert apart < 1e-5 * exact.abs().max()


def test_refused(cuda):
    x, y = batch(cuda), batch(cuda, 2, 40)
    with pytest.raises(TypeError, match="float32.*float64"):
        farpoint.chamfer(x, y.double())
    with pytest.raises(TypeError, match="cuda:0.*cpu"):
        farpoint.chamfer(x, y.cpu())
    with pytest.raises(ValueError, match="of the same B and D"):
        farpoint.chamfer(x, y[:1])
    with pytest.raises(ValueError, match="norm is 3"):
        farpoint.chamfer(x, y, norm=3)
    same_as_on_the_cpu(x, y)  # nothing is damaged


def test_replacements(cuda):
    from farpoint.compat import chamfer_3d, kaolin, pytorch3d

    x, y = batch(cuda, 2, 300), batch(cuda, 2, 200) + 0.003
    lengths = cuda.tensor([300, 7], device="cuda")
    of_points = [
        lambda x, y: chamfer_3d.chamfer_3DDist()(x, y), chamfer_3d.chamfer_3DFunction.apply,
        kaolin.sided_distance,
        lambda x, y: pytorch3d.chamfer_distance(x, y, batch_reduction=None, point_reduction=None)[0],
    ]
    for call in of_points:  # no sums: the same bits
        for mine, expected in zip(call(x, y), call(x.cpu(), y.cpu())):
            assert mine.is_cuda and mine.dtype == expected.dtype
            same(mine, expected.numpy())
    sums = [
        kaolin.chamfer_distance, lambda x, y: kaolin.chamfer_distance(x, y, 0.5, 2.0, False),
        lambda x, y: pytorch3d.chamfer_distance(x, y)[0],
        lambda x, y: pytorch3d.chamfer_distance(x, y, lengths.to(x.device), norm=1)[0],
        lambda x, y: pytorch3d.chamfer_distance(x, y, single_directional=True)[0],
        lambda x, y: sum(pytorch3d.chamfer_distance(x, y, x_normals=x, y_normals=y)),
        lambda x, y: sum(part.sum() for part in chamfer_3d.chamfer_3DDist()(x, y)[:2]),
    ]
    for call in sums:
        both = []
        for device in ("cuda", "cpu"):
            a, b = (part.detach().to(device).requires_grad_() for part in (x, y))
            value = call(a, b)
            value.sum().backward()
            both.append((value.detach().cpu(), a.grad.cpu(), b.grad.cpu()))
        for mine, expected in zip(*both):
            cuda.testing.assert_close(mine, expected)
