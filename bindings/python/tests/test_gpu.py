"""On a GPU: PyTorch, CuPy and JAX give what the CPU gives, index by index.

Without a GPU everything here is skipped. Run it alone with `pytest tests/test_gpu.py -rs`.
"""

import time

import numpy as np
import pytest
from conftest import cloud, grid

import farpoint
from farpoint import _farpoint

pytestmark = pytest.mark.skipif(
    _farpoint.cuda_obstacle() is not None, reason=f"no GPU: {_farpoint.cuda_obstacle()}"
)


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch", reason="torch is not installed")
    if not module.cuda.is_available():
        pytest.skip("torch has no CUDA here")
    return module


CLOUDS = {
    "random": cloud(3000), "double": cloud(3000, dtype=np.float64), "ties": grid(),
    "plane": cloud(2000, 2), "features": cloud(1000, 16), "wide": cloud(3000) * 1e6,
    "large": cloud(200_000), "same": np.zeros((500, 3), np.float32), "one": cloud(1),
}


def same(found, wanted):
    np.testing.assert_array_equal(found.cpu().numpy(), wanted)


@pytest.mark.parametrize("name", CLOUDS)
def test_indices_are_those_of_the_cpu(torch, name):
    points = CLOUDS[name]
    on_gpu = torch.from_numpy(points).cuda()
    wanted = farpoint.sample(points, ratio=0.25, return_distances=True)
    found = farpoint.sample(on_gpu, ratio=0.25, return_distances=True)
    assert found.indices.device == on_gpu.device and found.indices.dtype == torch.int64
    same(found.indices, wanted.indices)
    same(found.distances, wanted.distances)
    assert float(found.covering_radius) == wanted.covering_radius
    same(farpoint.sample(on_gpu, ratio=0.25), wanted.indices)


@pytest.mark.parametrize("algorithm", ["naive", "radius", "persistent", "peak"])
def test_every_algorithm(torch, algorithm):
    points = cloud(5000)
    found = farpoint.sample(torch.from_numpy(points).cuda(), 700, algorithm=algorithm)
    same(found, farpoint.sample(points, 700))


@pytest.mark.parametrize("options", [
    dict(count=9), dict(ratio=0.3), dict(spacing=0.2), dict(count=9, start=5), dict(count=9, seed=3),
    dict(count=9, start=[1, 2, 3]), dict(count=30, lengths=[400, 20, 0]), dict(count=0),
    dict(ratio=0.5, lengths=[400, 20, 1]), dict(count=9, seed=3, lengths=[400, 20, 1]),
    dict(count=4, start=[[1, 2], [3, 4], [5, 6]]), dict(count=9, on_bad="skip"),
], ids=str)
def test_batches_and_options(torch, options):
    points = np.stack([cloud(400, seed=s) for s in range(3)])
    found = farpoint.sample(torch.from_numpy(points).cuda(), **options)
    same(found, farpoint.sample(points, **options))
    for name in ("lengths", "start"):
        if isinstance(options.get(name), list):
            options = {**options, name: torch.tensor(options[name], device="cuda")}
    again = farpoint.sample(torch.from_numpy(points).cuda(), **options)
    same(again, found.cpu().numpy())


def test_strides_are_followed(torch):
    whole = torch.from_numpy(cloud(6 * 400, 6).reshape(6, 400, 6)).cuda()
    views = [
        whole[0, ::2, :3], whole[0].t()[:3].t(), whole[0, :, 1:4], whole[..., :3],
        whole[::2, 3:300, :3], whole.transpose(1, 2)[:, :, :5], whole[:1].expand(4, -1, -1),
    ]
    for view in views:
        same(farpoint.sample(view, 5), farpoint.sample(view.cpu().numpy(), 5))


def test_order(torch):
    points = cloud(2000)
    found, wanted = farpoint.order(torch.from_numpy(points).cuda()), farpoint.order(points)
    same(found.indices, wanted.indices)
    same(found.spacings, wanted.spacings)


def test_bad_rows(torch):
    points = cloud(1000)
    points[[7, 500]] = [[np.nan], [np.inf]]
    on_gpu = torch.from_numpy(points).cuda()
    with pytest.raises(ValueError, match="2 of 1000 rows .* row 7"):
        farpoint.check(on_gpu)
    farpoint.check(on_gpu[8:400])
    for options in (dict(count=50), dict(ratio=0.5), dict(spacing=0.3), dict(count=5, start=[8, 9])):
        found = farpoint.sample(on_gpu, on_bad="skip", **options)
        same(found, farpoint.sample(points, on_bad="skip", **options))
    with pytest.raises(ValueError, match="start index"):
        farpoint.sample(on_gpu, 5, start=7, on_bad="skip")


def test_refused(torch):
    points = torch.from_numpy(cloud(100)).cuda()
    for arguments, text in [
        (dict(count=101), r"101 .* 100 .*cuda:0"), (dict(count=5, start=100), "100"),
        (dict(count=5, algorithm="tree"), "tree.*persistent"), (dict(ratio=2.0), "ratio 2"),
        (dict(count=5, start=[1, 1]), "twice"), (dict(count=1, start=[1, 2]), "2 start"),
    ]:
        with pytest.raises(ValueError, match=text):
            farpoint.sample(points, **arguments)
    with pytest.raises(TypeError, match="float16"):
        farpoint.sample(points.half(), 5)


def test_the_current_stream_is_used(torch):
    """Work queued before on the stream is seen, though nothing waits on the host."""
    points = torch.from_numpy(cloud(5000)).cuda()
    wanted = farpoint.sample(points, 500)
    empty = torch.zeros_like(points)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        farpoint.sample(empty, 500)  # memory for this stream is allocated before
        torch.cuda._sleep(100_000_000)
        empty.copy_(points)
        found = farpoint.sample(empty, 500)
        ended = torch.cuda.Event()
        ended.record()
    assert not ended.query(), "the call has waited for the GPU"
    stream.synchronize()
    assert torch.equal(found, wanted)


def test_nothing_synchronises(torch):
    points = torch.from_numpy(np.stack([cloud(2000), cloud(2000)])).cuda()
    lengths = torch.tensor([2000, 1000], device="cuda")
    starts = torch.tensor([1, 2], device="cuda")
    farpoint.sample(points, 100, return_distances=True)
    torch.cuda.set_sync_debug_mode("error")
    try:
        farpoint.sample(points, 100, return_distances=True)
        farpoint.sample(points, ratio=0.1, lengths=lengths, start=starts)
        farpoint.sample(points, 100, start=5)
        farpoint.sample(points, 100, lengths=lengths, seed=5)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("algorithm", ["auto", "naive", "radius", "persistent", "peak"])
def test_captured_into_a_graph(torch, algorithm):
    clouds = [np.stack([cloud(4000, seed=2 * s), cloud(4000, seed=2 * s + 1)]) for s in range(3)]
    points = torch.from_numpy(clouds[0]).cuda()

    def run():
        found = farpoint.sample(points, 300, algorithm=algorithm, return_distances=True)
        return found.indices, found.distances

    run()  # kernels are loaded before
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        indices, distances = run()
    for data in clouds:
        points.copy_(torch.from_numpy(data))
        graph.replay()
        torch.cuda.synchronize()
        wanted = farpoint.sample(data, 300, return_distances=True)
        same(indices, wanted.indices)
        same(distances, wanted.distances)


def test_compiled_as_one_graph(torch):
    pytest.importorskip("triton", reason="triton is not installed")

    def forward(points):
        index = farpoint.sample(points, 64)
        return points.gather(1, index.unsqueeze(-1).expand(-1, -1, 3)) * 2

    points = torch.from_numpy(np.stack([cloud(1000), cloud(1000, seed=2)])).cuda()
    for mode in ("default", "reduce-overhead"):
        compiled = torch.compile(forward, fullgraph=True, mode=mode)
        for _ in range(3):
            torch.testing.assert_close(compiled(points), forward(points))


def test_operators_are_registered_well(torch):
    farpoint.sample(torch.zeros(1, 3).cuda(), 1)
    points = torch.from_numpy(np.stack([cloud(100), cloud(100, seed=2)])).cuda()
    lengths = torch.tensor([100, 20], device="cuda")
    starts = torch.tensor([[1], [2]], device="cuda")
    for operator in (torch.ops.farpoint.sample, torch.ops.farpoint.sample_distances):
        for arguments in [
            (points, 9, None, None, None, None, "auto", None),
            (points, 9, lengths, lengths.clamp(max=9), starts, None, "naive", None),
        ]:
            torch.library.opcheck(operator.default, arguments)


def test_training(torch):
    pytest.importorskip("triton", reason="triton is not installed")
    from pointnet import train

    losses, right = train(25, "cuda", compiled=True)
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5]) and right > 0.8


def test_replacements(torch):
    from farpoint.compat import pointnet2_ops, pytorch3d, torch_cluster

    a, b = cloud(200), cloud(310, seed=2)
    wanted = [*farpoint.sample(a, ratio=0.5), *(200 + farpoint.sample(b, ratio=0.5))]
    points = torch.from_numpy(np.concatenate([a, b])).cuda()
    of = torch.cat([torch.zeros(200), torch.ones(310)]).long().cuda()
    same(torch_cluster.fps(points, of, 0.5, random_start=False), wanted)
    assert len(torch_cluster.fps(points, of, 0.5)) == len(wanted)
    counts = torch.tensor([200, 310], dtype=torch.int32, device="cuda")
    stacked = pointnet2_ops.stack_farthest_point_sample(points, counts, [100, 155])
    assert stacked.dtype == torch.int32
    same(stacked, wanted)
    batch = torch.from_numpy(np.stack([a, a[::-1].copy()])).cuda()
    found = pointnet2_ops.furthest_point_sample(batch, 50)
    same(found, farpoint.sample(batch.cpu().numpy(), 50))
    lengths = torch.tensor([200, 7], device="cuda")
    selected, indices = pytorch3d.sample_farthest_points(batch, lengths, K=[20, 20])
    same(indices, farpoint.sample(batch.cpu().numpy(), 20, lengths=[200, 7]))
    assert (selected[1, 7:] == 0).all()


def test_chamfer(torch):
    from conftest import obvious_nearest

    x, y = cloud(3000), cloud(2000, seed=2)
    a, b = torch.from_numpy(x).cuda().requires_grad_(), torch.from_numpy(y).cuda()
    found = farpoint.nearest(a, b)
    distances, indices = obvious_nearest(x, y)
    same(found.distances.detach(), distances)
    same(found.indices, indices)
    gradients = []
    for _ in range(3):
        a.grad = None
        farpoint.chamfer(a, b).backward()
        gradients.append(a.grad.clone())
    assert all(torch.equal(gradient, gradients[0]) for gradient in gradients)
    p, q = (torch.rand(2, n, 3, dtype=torch.float64, device="cuda").requires_grad_() for n in (9, 7))
    assert torch.autograd.gradcheck(lambda p, q: farpoint.chamfer(p, q), (p, q))


def test_other_devices(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU only")
    points = cloud(3000)
    other = torch.from_numpy(points).to("cuda:1")  # while cuda:0 is current
    found = farpoint.sample(other, 300)
    assert found.device == other.device
    same(found, farpoint.sample(points, 300))


def test_cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    points = cupy.asarray(cloud(3000))
    wanted = farpoint.sample(cloud(3000), 300, return_distances=True)
    found = farpoint.sample(points, 300, return_distances=True)
    assert isinstance(found.indices, cupy.ndarray) and found.indices.dtype == np.int64
    np.testing.assert_array_equal(found.indices.get(), wanted.indices)
    np.testing.assert_array_equal(found.distances.get(), wanted.distances)
    strided = cupy.asarray(cloud(3000, 6))[::2, 1:4]
    np.testing.assert_array_equal(
        farpoint.sample(strided, 50).get(), farpoint.sample(strided.get(), 50))
    batch = cupy.stack([points, points])
    host = batch.get()
    for options in (dict(count=9, lengths=[3000, 5]), dict(spacing=0.2), dict(count=5, start=[3, 4]),
                    dict(ratio=0.01, seed=4)):
        np.testing.assert_array_equal(
            farpoint.sample(batch, **options).get(), farpoint.sample(host, **options))
    with cupy.cuda.Stream():
        np.testing.assert_array_equal(farpoint.sample(points * 1, 300).get(), wanted.indices)
    points[5] = np.nan
    with pytest.raises(ValueError, match="1 of 3000 rows .* row 5"):
        farpoint.check(points)


def test_jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("this jax has no GPU")
    points = jax.device_put(cloud(3000), device)
    wanted = farpoint.sample(cloud(3000), 300, return_distances=True)
    found = farpoint.sample(points, 300, return_distances=True)
    assert isinstance(found.indices, jax.Array) and found.indices.device == device
    np.testing.assert_array_equal(np.asarray(found.indices), wanted.indices)
    np.testing.assert_allclose(np.asarray(found.distances), wanted.distances, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(points[found.indices]), cloud(3000)[wanted.indices])
    batch = jax.numpy.stack([points, points])
    index = farpoint.sample(batch, 9, lengths=[3000, 5])
    np.testing.assert_array_equal(np.asarray(index), farpoint.sample(np.asarray(batch), 9, lengths=[3000, 5]))


def test_capsules_of_other_libraries(torch):
    """An array of a library that is not known: it knows DLPack only."""

    class Other:
        def __init__(self, tensor):
            self.tensor, self.shape, self.dtype = tensor, tuple(tensor.shape), tensor.dtype

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.tensor.__dlpack__(**options)

    points = torch.from_numpy(cloud(3000, 6)).cuda()[:, ::2]
    found = farpoint.sample(Other(points), 300)
    wanted = farpoint.sample(points.cpu().numpy(), 300)
    same(torch.from_dlpack(found), wanted)


def test_threads_at_once(torch):
    from concurrent.futures import ThreadPoolExecutor

    clouds = [cloud(3000, seed=s) for s in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda p: farpoint.sample(torch.from_numpy(p).cuda(), 200).cpu(), clouds)
    for points, indices in zip(clouds, found):
        same(indices, farpoint.sample(points, 200))


def test_the_call_is_short(torch):
    """Not a benchmark (benches/overhead.py is): only that nothing waits for the result."""
    points = torch.from_numpy(cloud(200_000)).cuda()
    for _ in range(3):
        farpoint.sample(points, 50_000)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(20):
        farpoint.sample(points, 50_000)
    queued = time.perf_counter() - begin
    torch.cuda.synchronize()
    assert queued < time.perf_counter() - begin
