"""On a GPU: what torch makes of the operators (compile, export, opcheck), and a network that trains."""

import shutil

import numpy as np
import pytest
from conftest import cloud, needs_gpu

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
        actual = farpoint.sample(points, ratio=0.25, return_distances=True, start=3)
        padded = farpoint.sample(points, ratio=0.5, lengths=lengths)
        seeded = farpoint.sample(points, 40, lengths=lengths, seed=5)
        return actual.indices, actual.distances, padded, seeded, farpoint.order(points).indices

    run, lengths = compiled(cuda, forward, how), cuda.tensor([64, 30], device="cuda")
    for n in (64, 80, 96):  # the last ones with a dynamic shape
        points = batch(cuda, 2, n)
        for got, expected in zip(run(points, lengths), forward(points, lengths)):
            cuda.testing.assert_close(got, expected)


def test_generators_on_a_gpu_draw_seeds(cuda):
    points = batch(cuda, b=3)
    for place in ("cuda", "cpu"):
        generator = cuda.Generator(place)
        drawn = [farpoint.sample(points, 5, seed=generator.manual_seed(7)) for _ in range(2)]
        drawn += [farpoint.sample(points.cpu(), 5, seed=generator.manual_seed(7)).cuda()]
        drawn += [cuda.from_numpy(farpoint.sample(points.cpu().numpy(), 5, seed=generator.manual_seed(7))).cuda()]
        assert all(cuda.equal(one, drawn[0]) for one in drawn)
        assert any((farpoint.sample(points, 5, seed=generator) != drawn[0]).any() for _ in range(9))


def test_clouds_one_after_another_and_the_sample_of_each_point(cuda):
    points, offsets, counts = cuda.from_numpy(cloud(4000)), [0, 1000, 1000, 3999, 4000], [50, 0, 200, 1]
    on_gpu = points.cuda()
    for options in (dict(count=counts), dict(ratio=0.1), dict(count=counts, seed=3), dict(count=counts, start=[7, 0, 9, 0])):
        rows = farpoint.sample(points, offsets=offsets, **options)
        assert cuda.equal(farpoint.sample(on_gpu, offsets=offsets, **options).cpu(), rows)
        expected = farpoint.assign(points, rows, offsets=offsets)
        for given in (offsets, cuda.tensor(offsets, device="cuda")):
            found = farpoint.assign(on_gpu, rows.cuda(), offsets=given)
            assert all(cuda.equal(a.cpu(), b) for a, b in zip(found, expected))
    batch_of = points.reshape(4, 1000, 3)
    lengths = [1000, 7, 500, 30]
    rows = farpoint.sample(batch_of, 40, lengths=lengths)
    found = farpoint.assign(batch_of.cuda(), rows.cuda(), lengths=lengths)
    assert all(cuda.equal(a.cpu(), b) for a, b in zip(found, farpoint.assign(batch_of, rows, lengths=lengths)))


def test_the_mask_of_a_batch_is_traced(cuda):
    points, mask = batch(cuda, b=3, n=200), cuda.rand(3, 200, device="cuda") > 0.5
    mask[1, 4:] = False
    for count in (3, 150):
        run = compiled(cuda, lambda p, m: farpoint.sample(p, count, mask=m, return_distances=True), "aot_eager")
        expected = farpoint.sample(points.cpu(), count, mask=mask.cpu(), return_distances=True)
        for options in (run, lambda p, m: farpoint.sample(p, count, mask=m, return_distances=True)):
            assert all(cuda.equal(a.cpu(), b) for a, b in zip(options(points, mask), expected))


def test_exported(cuda):
    class Sampler(cuda.nn.Module):
        def forward(self, points):
            return gather(points, farpoint.sample(points, 16))

    points = batch(cuda)
    program = cuda.export.export(Sampler(), (points,))
    cuda.testing.assert_close(program.module()(points), Sampler()(points))


def test_operators_are_registered_well(cuda):
    points, ops = batch(cuda, 2, 100), cuda.ops.farpoint
    lengths = cuda.tensor([100, 20], device="cuda")
    starts = cuda.tensor([[1], [2]], device="cuda")
    for arguments in [
        (points, 9, None, None, None, None, "auto", None),
        (points[0, :, 1:], 9, None, None, None, 3, "auto", None),
        (points, 9, lengths, lengths.clamp(max=9), starts, None, "naive", None),
        (points[:, :, 1:].transpose(0, 1), 2, None, None, None, 7, "auto", None),
        (points.double(), 120, lengths, None, None, 7, "auto", None),
    ]:
        cuda.library.opcheck(ops.sample.default, arguments)
        cuda.library.opcheck(ops.sample_distances.default, arguments)
    offsets, counts = (cuda.tensor(v, device="cuda") for v in ([0, 20, 100], [3, 5]))
    ragged = (points[0], offsets, counts, None, 8, 80, "auto")
    cuda.library.opcheck(ops.sample_ragged.default, ragged)


def test_chamfer_operators_are_registered_well(cuda):
    x, y = (batch(cuda, 2, n, kind=np.float64).requires_grad_() for n in (60, 40))
    lengths, ops = cuda.tensor([60, 20], device="cuda"), cuda.ops.farpoint
    across = batch(cuda, 2, 3, 50).transpose(1, 2).requires_grad_()
    for arguments in [
        (x, y, None, None, 2, None, True), (x, y, lengths, None, 1, None, False),
        (across, batch(cuda, 2, 9), None, None, 2, None, True),
    ]:
        cuda.library.opcheck(ops.match_clouds.default, arguments)


@pytest.mark.parametrize("how", ["aot_eager", "default", "reduce-overhead"])
def test_chamfer_compiled(cuda, how):
    x, y = batch(cuda, 2, 300).requires_grad_(), batch(cuda, 2, 200)
    run = compiled(cuda, lambda x, y: farpoint.chamfer(x, y).mean(), how)
    farpoint.chamfer(x, y).mean().backward()
    expected = x.grad.clone()
    for _ in range(3):
        x.grad = None
        run(x, y).backward()
        cuda.testing.assert_close(x.grad, expected)


@pytest.mark.parametrize("how", ["not compiled", "compiled"])
def test_pointnet_learns(cuda, how):
    from pointnet import train

    if how == "compiled":
        cuda.compiler.reset()
        needs_inductor()
    losses, right = train(25, "cuda", compiled=how == "compiled")
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5]) and right > 0.8
