"""On a GPU: a training step with the Chamfer distance. Values and gradients have the CPU's bits, nothing
waits, all of it can be captured, and it takes three launches."""

import ctypes

import numpy as np
import pytest
from conftest import cloud, needs_gpu, same
from test_gpu_chamfer import NAMES, pairs

import farpoint
from farpoint import _native

pytestmark = [needs_gpu]

OPTIONS = [
    {}, dict(norm=1), dict(squared=False), dict(reduction="sum"), dict(one_sided=True),
    dict(reduction="max"), dict(reduction="max", squared=False), dict(norm=1, reduction="max", one_sided=True),
    dict(squared=False, reduction="sum", one_sided=True),
]


def batch(cuda, b=2, n=60, d=3, kind=np.float32, seed=0):
    return cuda.from_numpy(np.stack([cloud(n, d, kind, seed=seed + s) for s in range(b)])).cuda()


def step(x, y, **options):
    """The values of a step, and the gradients of both clouds for some gradients of the values."""
    import torch

    x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
    value = farpoint.chamfer(x, y, **options)
    weights = torch.arange(value.numel(), device=x.device).reshape(value.shape) + 0.7
    return [value, *torch.autograd.grad((value * weights.to(x.dtype)).sum(), (x, y))]


def same_as_on_the_cpu(x, y, **options):
    on_cpu = {name: part.cpu() if hasattr(part, "cpu") else part for name, part in options.items()}
    for mine, expected in zip(step(x, y, **options), step(x.cpu(), y.cpu(), **on_cpu)):
        assert mine.is_cuda and mine.dtype == expected.dtype and mine.shape == expected.shape
        same(mine, expected.detach().numpy())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_bits_are_those_of_the_cpu(cuda, filled, name, kind, options):
    x, y = (cuda.from_numpy(part.astype(kind)).cuda() for part in pairs(name))
    same_as_on_the_cpu(x, y, **options)
    if name in ("random", "few"):
        same_as_on_the_cpu(x[None], y[None], **options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_batches_and_strides(cuda, filled, kind, options):
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
            same_as_on_the_cpu(x, y, x_lengths=given[0], y_lengths=given[1], **options)


@pytest.mark.parametrize("rows", [(2048, 2048), (4096, 4097), (9000, 100)])
def test_many_pairs(cuda, filled, rows):
    x, y = batch(cuda, 32, rows[0]), batch(cuda, 32, rows[1], seed=40)
    for options in OPTIONS:
        same_as_on_the_cpu(x, y, **options)


def test_arrays_and_tensors_have_the_same_bits(cuda):
    x, y = batch(cuda, 3, 5000, kind=np.float64), batch(cuda, 3, 3000, kind=np.float64, seed=9)
    for options in OPTIONS:
        result = farpoint.chamfer(x, y, **options)
        same(result, farpoint.chamfer(x.cpu().numpy(), y.cpu().numpy(), **options))


def test_gradients_of_all_strides(cuda):
    """Those of a mean are one number, those of others lie anywhere."""
    x, y = batch(cuda, 3, 300).requires_grad_(), batch(cuda, 3, 200, seed=5)
    value = farpoint.chamfer(x, y)
    grads = [value.new_tensor(0.3).expand(3), cuda.rand(3, 2, device="cuda")[:, 0], cuda.rand(3, device="cuda")]
    for grad in grads:
        mine, expected = (
            cuda.autograd.grad(value, x, g, retain_graph=True)[0] for g in (grad, grad.clone().contiguous())
        )
        assert cuda.equal(mine, expected)
    batched = cuda.autograd.grad(value, x, cuda.stack(grads), is_grads_batched=True, retain_graph=True)[0]
    for mine, grad in zip(batched, grads):
        cuda.testing.assert_close(mine, cuda.autograd.grad(value, x, grad, retain_graph=True)[0])


def test_only_wanted_gradients(cuda, filled):
    x, y = batch(cuda, 3, 300), batch(cuda, 3, 200, seed=5)
    _, of_x, of_y = step(x, y)
    weights = cuda.arange(3, device="cuda") + 0.7
    for k, expected in enumerate((of_x, of_y)):
        clouds = [x.detach().requires_grad_(k == 0), y.detach().requires_grad_(k == 1)]
        (farpoint.chamfer(*clouds) * weights).sum().backward()
        assert cuda.equal(clouds[k].grad, expected) and clouds[1 - k].grad is None


def test_clouds_are_read_in_place(cuda, monkeypatch):
    seen, real = [], _native.CudaChamfer

    class Spy:
        def __init__(self, *arguments):
            self.compiled, self.strides = real(*arguments), arguments[3]
            self.scratch, self.backward = self.compiled.scratch, self.compiled.backward

        def forward(self, *step):
            seen.append((*(cloud.data_ptr() for cloud in step[1:3]), *self.strides))
            self.compiled.forward(*step)

    monkeypatch.setattr(_native, "CudaChamfer", Spy)
    whole = cuda.rand(207, 6, device="cuda")
    for x, y in ((whole[:, :3], whole[::2, 1:4]), (whole.t()[:3].t(), whole[:, ::2])):
        farpoint.chamfer(x, y)
        assert seen.pop() == (x.data_ptr(), y.data_ptr(), x.stride(), y.stride())


def test_a_step_waits_for_nothing(cuda):
    x, y = batch(cuda, 4, 500).requires_grad_(), batch(cuda, 4, 400)
    lengths = cuda.tensor([500, 3, 200, 77], device="cuda")

    def run():
        for options in (*OPTIONS, dict(x_lengths=lengths)):
            x.grad = None
            farpoint.chamfer(x, y, **options).mean().backward()

    run()
    cuda.cuda.synchronize()
    cuda.cuda.set_sync_debug_mode("error")
    try:
        run()
    finally:
        cuda.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("rows", [300, 6000])
def test_a_step_is_captured(cuda, options, rows):
    x, y = batch(cuda, 4, rows).requires_grad_(), batch(cuda, 4, 200)

    def run():
        x.grad = None
        value = farpoint.chamfer(x, y, **options)
        value.mean().backward()
        return value, x.grad

    stream = cuda.cuda.Stream()
    stream.wait_stream(cuda.cuda.current_stream())
    with cuda.cuda.stream(stream):
        run()
    cuda.cuda.current_stream().wait_stream(stream)
    graph = cuda.cuda.CUDAGraph()
    with cuda.cuda.graph(graph):
        value, gradient = run()
    for seed in (50, 60):
        with cuda.no_grad():
            x.copy_(batch(cuda, 4, rows, seed=seed))
        graph.replay()
        actual = value.clone(), gradient.clone()
        expected = run()
        assert all(cuda.equal(a, b) for a, b in zip(actual, expected))


def nodes(cuda, run):
    """How many pieces of work a run is."""
    graph = cuda.cuda.CUDAGraph(keep_graph=True)
    with cuda.cuda.graph(graph):
        result = run()
    count = ctypes.c_size_t()
    driver = ctypes.CDLL("libcuda.so.1")
    assert driver.cuGraphGetNodes(ctypes.c_void_p(graph.raw_cuda_graph()), None, ctypes.byref(count)) == 0
    return count.value, result


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_three_launches(cuda, options):
    if not hasattr(cuda.cuda.CUDAGraph, "raw_cuda_graph"):
        pytest.skip("this PyTorch shows no captured graph")
    x, y = batch(cuda, 32, 2048).requires_grad_(), batch(cuda, 32, 2048, seed=40).requires_grad_()
    grad = cuda.rand(32, device="cuda")
    cuda.autograd.grad(farpoint.chamfer(x, y, **options), (x, y), grad)
    cuda.cuda.synchronize()
    forward, value = nodes(cuda, lambda: farpoint.chamfer(x, y, **options))
    backward, _ = nodes(cuda, lambda: cuda.autograd.grad(value, (x, y), grad))
    assert (forward, backward) == (2, 1)


def test_compiled_steps_have_the_same_bits(cuda):
    x, y = batch(cuda, 4, 500).requires_grad_(), batch(cuda, 4, 400)

    def loss(x, y):
        return farpoint.chamfer(x, y, squared=False).sum()

    for backend in ("aot_eager", "inductor"):
        compiled = cuda.compile(loss, fullgraph=True, backend=backend)
        grads = [cuda.autograd.grad(call(x, y), x)[0] for call in (compiled, loss)]
        assert cuda.equal(*grads)


def test_streams_of_their_own(cuda):
    """Plans are shared by streams and threads."""
    x, y = batch(cuda, 8, 1000), batch(cuda, 8, 900, seed=30)
    expected = step(x, y)
    streams = [cuda.cuda.Stream() for _ in range(4)]
    cuda.cuda.synchronize()
    actual = []
    for _ in range(5):
        for stream in streams:
            with cuda.cuda.stream(stream):
                actual.append(step(x, y))
    cuda.cuda.synchronize()
    assert all(cuda.equal(a, b) for one in actual for a, b in zip(one, expected))
