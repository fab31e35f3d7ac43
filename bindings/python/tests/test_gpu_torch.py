"""On a GPU: what torch makes of the operators (compile, export, opcheck), Chamfer and its gradients, and
a network that trains."""

import shutil

import numpy as np
import pytest
from conftest import cloud, grid, needs_gpu, needs_match, obvious_nearest, same

import farpoint

pytestmark = needs_gpu


def batch(cuda, b=2, n=60, d=3, kind=np.float32):
    return cuda.from_numpy(np.stack([cloud(n, d, kind, seed=s) for s in range(b)])).cuda()


def gather(points, index):
    return points.gather(1, index.unsqueeze(-1).expand(-1, -1, points.shape[-1]))


def needs_inductor():
    pytest.importorskip("triton", reason="triton is not installed")
    if not any(shutil.which(name) for name in ("cc", "gcc", "clang")):
        pytest.skip("triton has no C compiler here")


def compiled(cuda, function, how):
    """Compiled as one graph, by a backend or in a mode of the default one."""
    cuda.compiler.reset()
    if how in ("eager", "aot_eager", "cudagraphs"):
        return cuda.compile(function, fullgraph=True, backend=how)
    needs_inductor()
    return cuda.compile(function, fullgraph=True, mode=how)


HOW = ["eager", "aot_eager", "cudagraphs", "default", "reduce-overhead"]


@pytest.mark.parametrize("how", HOW)
def test_compiled_as_one_graph(cuda, how):
    def forward(points):
        return gather(points, farpoint.sample(points, 64)) * 2

    run = compiled(cuda, forward, how)
    for seed in range(4):
        points = cuda.from_numpy(np.stack([cloud(1000, seed=seed), cloud(1000, seed=9)])).cuda()
        cuda.testing.assert_close(run(points).clone(), forward(points))


@pytest.mark.parametrize("how", ["aot_eager", "default"])
def test_options_compiled(cuda, how):
    def forward(points, lengths):
        found = farpoint.sample(points, ratio=0.25, return_distances=True, start=3)
        padded = farpoint.sample(points, ratio=0.5, lengths=lengths)
        seeded = farpoint.sample(points, 40, lengths=lengths, seed=5)
        return found.indices, found.distances, padded, seeded, farpoint.order(points).indices

    run, lengths = compiled(cuda, forward, how), cuda.tensor([64, 30], device="cuda")
    for n in (64, 80, 96):  # the last ones with a dynamic shape
        points = batch(cuda, 2, n)
        for got, wanted in zip(run(points, lengths), forward(points, lengths)):
            cuda.testing.assert_close(got, wanted)


def test_exported(cuda):
    class Sampler(cuda.nn.Module):
        def forward(self, points):
            return gather(points, farpoint.sample(points, 16))

    points = batch(cuda)
    program = cuda.export.export(Sampler(), (points,))
    cuda.testing.assert_close(program.module()(points), Sampler()(points))


def test_operators_are_registered_well(cuda):
    from farpoint import _torch_ops  # noqa: F401  (registers them)

    points, ops = batch(cuda, 2, 100), cuda.ops.farpoint
    lengths = cuda.tensor([100, 20], device="cuda")
    starts = cuda.tensor([[1], [2]], device="cuda")
    for arguments in [
        (points, 9, None, None, None, None, "auto", None),
        (points, 9, lengths, lengths.clamp(max=9), starts, None, "naive", None),
        (points[:, :, 1:].transpose(0, 1), 2, None, None, None, 7, "auto", None),
        (points.double(), 120, lengths, None, None, 7, "auto", None),
    ]:
        cuda.library.opcheck(ops.sample.default, arguments)
        cuda.library.opcheck(ops.sample_distances.default, arguments)
    offsets, counts = (cuda.tensor(v, device="cuda") for v in ([0, 20, 100], [3, 5]))
    ragged = (points[0], offsets, counts, None, 8, 80, "auto")
    cuda.library.opcheck(ops.sample_ragged.default, ragged)


@needs_match
def test_chamfer_operators_are_registered_well(cuda):
    from farpoint import _match_torch  # noqa: F401

    x, y = (batch(cuda, 2, n, kind=np.float64).requires_grad_() for n in (60, 40))
    lengths, ops = cuda.tensor([60, 20], device="cuda"), cuda.ops.farpoint
    across = batch(cuda, 2, 3, 50).transpose(1, 2).requires_grad_()
    for arguments in [
        (x, y, None, None, 2, None, True), (x, y, lengths, None, 1, None, False),
        (across, batch(cuda, 2, 9), None, None, 2, None, True),
    ]:
        cuda.library.opcheck(ops.match_clouds.default, arguments)


PAIRS = {
    "random": (cloud(3000), cloud(2000, seed=2)),
    "double": (cloud(3000, dtype=np.float64), cloud(2000, dtype=np.float64, seed=2)),
    "ties": (grid(6), grid(6) + np.float32(0.5)), "itself": (grid(6), grid(6)),
    "plane": (cloud(500, 2), cloud(700, 2, seed=2)), "features": (cloud(500, 16), cloud(700, 16, seed=2)),
    "one": (cloud(1), cloud(900, seed=2)), "wide": (cloud(500) * 1e6, cloud(500, seed=2) * 1e6),
}


@needs_match
@pytest.mark.parametrize("name", PAIRS)
def test_nearest_is_that_of_the_cpu(cuda, name):
    x, y = PAIRS[name]
    found = farpoint.nearest(cuda.from_numpy(x).cuda(), cuda.from_numpy(y).cuda())
    distances, indices = obvious_nearest(x, y)
    same(found.indices, indices)
    same(found.distances, distances)
    assert found.indices.dtype == cuda.int64


@needs_match
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_batches_and_strides(cuda, norm, kind):
    whole = batch(cuda, 4, 200, 6, kind)
    pairs = [
        (whole[..., :3], whole[:, 50:, 3:]), (whole[::2, ::3, ::2], whole[1::2, :, ::2]),
        (whole.transpose(1, 2)[:, :, :5], whole[:, 7:90, :5]), (whole[:1].expand(4, -1, -1), whole),
    ]
    for x, y in pairs:
        lengths = cuda.tensor([1 + k * 4 for k in range(len(x))], device="cuda").clamp(max=x.shape[1])
        for options in (dict(), dict(x_lengths=lengths), dict(y_lengths=lengths.tolist())):
            on_cpu = {
                key: value.cpu() if hasattr(value, "cpu") else value for key, value in options.items()
            }
            found = farpoint.nearest(x, y, norm=norm, **options)
            wanted = farpoint.nearest(x.cpu(), y.cpu(), norm=norm, **on_cpu)
            same(found.indices, wanted.indices.numpy())
            same(found.distances, wanted.distances.numpy())


@needs_match
@pytest.mark.parametrize("options", [
    {}, dict(norm=1), dict(squared=False), dict(reduction="sum"), dict(one_sided=True),
    dict(reduction="max"), dict(x_lengths=[5, 9], y_lengths=[7, 3]),
], ids=str)
def test_gradients_of_chamfer(cuda, options):
    x = batch(cuda, 2, 9, kind=np.float64).requires_grad_()
    y = (batch(cuda, 2, 7, kind=np.float64) + 0.01).requires_grad_()
    assert cuda.autograd.gradcheck(lambda x, y: farpoint.chamfer(x, y, **options), (x, y))
    assert cuda.autograd.gradcheck(lambda x: farpoint.nearest(x, y).distances, (x,))


@needs_match
def test_gradients_are_the_same_bits_on_every_run(cuda):
    """With thousands of points that share one nearest point, whose gradient is a long sum."""
    data = [(cloud(20_000), cloud(20_000, seed=2)), (cloud(20_000), cloud(8, seed=2)), (grid(10), grid(5))]
    for x, y in data:
        gradients = []
        for _ in range(5):
            a, b = (cuda.from_numpy(part).cuda().requires_grad_() for part in (x, y))
            farpoint.chamfer(a, b, reduction="sum").backward()
            gradients.append((a.grad, b.grad))
        for of_a, of_b in gradients[1:]:
            assert cuda.equal(of_a, gradients[0][0]) and cuda.equal(of_b, gradients[0][1])
        a, b = (cuda.from_numpy(part).double().requires_grad_() for part in (x, y))
        farpoint.chamfer(a, b, reduction="sum").backward()
        for mine, exact in zip(gradients[0], (a.grad, b.grad)):
            apart = (mine.cpu().double() - exact).abs().max()
            assert apart < 1e-5 * exact.abs().max()


@needs_match
@pytest.mark.parametrize("how", ["aot_eager", "default", "reduce-overhead"])
def test_chamfer_compiled(cuda, how):
    x, y = batch(cuda, 2, 300).requires_grad_(), batch(cuda, 2, 200)
    run = compiled(cuda, lambda x, y: farpoint.chamfer(x, y).mean(), how)
    farpoint.chamfer(x, y).mean().backward()
    wanted = x.grad.clone()
    for _ in range(3):
        x.grad = None
        run(x, y).backward()
        cuda.testing.assert_close(x.grad, wanted)


@needs_match
def test_chamfer_refuses(cuda):
    x, y = batch(cuda), batch(cuda, 2, 40)
    with pytest.raises(TypeError, match="float32.*float64"):
        farpoint.chamfer(x, y.double())
    with pytest.raises(TypeError, match="cuda:0.*cpu"):
        farpoint.chamfer(x, y.cpu())
    with pytest.raises(ValueError, match="of the same B and D"):
        farpoint.chamfer(x, y[:1])
    with pytest.raises(ValueError, match="empty cloud"):
        farpoint.chamfer(x, y[:, :0])


@needs_match
def test_replacements_of_chamfer(cuda):
    from farpoint.compat import chamfer_3d, kaolin, pytorch3d

    x, y = batch(cuda, 2, 300), batch(cuda, 2, 200)
    calls = [
        lambda x, y: chamfer_3d.chamfer_3DDist()(x, y), kaolin.sided_distance,
        lambda x, y: [kaolin.chamfer_distance(x, y)],
        lambda x, y: pytorch3d.chamfer_distance(x, y)[:1],
        lambda x, y: pytorch3d.chamfer_distance(x, y, x_normals=x, y_normals=y, norm=1),
    ]
    for call in calls:
        for mine, wanted in zip(call(x, y), call(x.cpu(), y.cpu())):
            assert mine.is_cuda and mine.dtype == wanted.dtype
            cuda.testing.assert_close(mine.cpu(), wanted)


@pytest.mark.parametrize("how", ["not compiled", "compiled"])
def test_pointnet_learns(cuda, how):
    from pointnet import train

    if how == "compiled":
        cuda.compiler.reset()
        needs_inductor()
    losses, right = train(25, "cuda", compiled=how == "compiled")
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5]) and right > 0.8
