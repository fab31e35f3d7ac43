"""On a GPU: streams, waiting, CUDA graphs, memory, threads and devices."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import cloud, needs_gpu, same

import farpoint

pytestmark = needs_gpu


def test_the_current_stream_is_used(cuda):
    """Work queued before on the stream is seen, though nothing waits on the host."""
    points = cuda.from_numpy(cloud(5000)).cuda()
    expected = farpoint.sample(points, 500)
    empty = cuda.zeros_like(points)
    stream = cuda.cuda.Stream()
    stream.wait_stream(cuda.cuda.current_stream())
    with cuda.cuda.stream(stream):
        farpoint.sample(empty, 500)  # memory for this stream is allocated before
        cuda.cuda._sleep(100_000_000)
        empty.copy_(points)
        actual = farpoint.sample(empty, 500)
        ended = cuda.cuda.Event()
        ended.record()
    assert not ended.query(), "the call has waited for the GPU"
    stream.synchronize()
    assert cuda.equal(actual, expected)


def test_nothing_synchronizes(cuda):
    points = cuda.from_numpy(np.stack([cloud(2000), cloud(2000)])).cuda()
    lengths = cuda.tensor([2000, 1000], device="cuda")
    starts = cuda.tensor([1, 2], device="cuda")
    grown = points.clone().requires_grad_()

    def calls():
        farpoint.sample(points, 100, return_distances=True)
        farpoint.sample(points, ratio=0.1, lengths=lengths, start=starts)
        farpoint.sample(points, 100, start=5)
        farpoint.sample(points, 2500, lengths=lengths, seed=5)
        farpoint.order(points)
        farpoint.nearest(points, points, x_lengths=lengths)
        farpoint.chamfer(grown, points, y_lengths=lengths).sum().backward()

    calls()
    cuda.cuda.set_sync_debug_mode("error")
    try:
        calls()
    finally:
        cuda.cuda.set_sync_debug_mode("default")


def captured(cuda, run):
    """What a run gives when captured into a graph, and the graph."""
    run()  # kernels are loaded before
    cuda.cuda.synchronize()
    graph = cuda.cuda.CUDAGraph()
    with cuda.cuda.graph(graph):
        result = run()
    return graph, result


@pytest.mark.parametrize("algorithm", ["auto", "naive", "radius", "persistent", "peak"])
def test_captured_into_a_graph(cuda, algorithm):
    clouds = [np.stack([cloud(4000, seed=2 * s), cloud(4000, seed=2 * s + 1)]) for s in range(3)]
    points = cuda.from_numpy(clouds[0]).cuda()

    def run():
        actual = farpoint.sample(points, 300, algorithm=algorithm, return_distances=True)
        return actual.indices, actual.distances

    graph, (indices, distances) = captured(cuda, run)
    for data in clouds:
        points.copy_(cuda.from_numpy(data))
        graph.replay()
        cuda.cuda.synchronize()
        expected = farpoint.sample(data, 300, return_distances=True)
        same(indices, expected.indices)
        same(distances, expected.distances)


def test_options_captured_into_a_graph(cuda, filled):
    points = cuda.from_numpy(np.stack([cloud(900), cloud(900, seed=2)])).cuda()
    lengths, starts = (cuda.tensor(v, device="cuda") for v in ([900, 400], [[3], [5]]))
    calls = [
        dict(ratio=0.5, lengths=lengths), dict(count=1000, lengths=lengths, start=starts),
        dict(count=50, seed=4), dict(count=50, lengths=lengths, seed=4), dict(count=50, start=7),
    ]
    graph, result = captured(cuda, lambda: [farpoint.sample(points, **call) for call in calls])
    for wide in ([900, 400], [30, 900]):
        lengths.copy_(cuda.tensor(wide))
        graph.replay()
        for indices, call in zip(result, calls):
            assert cuda.equal(indices, farpoint.sample(points, **call)), call


def test_chamfer_captured_into_a_graph(cuda):
    x, y = cuda.rand(2, 500, 3, device="cuda"), cuda.rand(2, 400, 3, device="cuda")
    graph, result = captured(cuda, lambda: farpoint.chamfer(x, y))
    for seed in range(3):
        x.copy_(cuda.from_numpy(np.stack([cloud(500, seed=seed)] * 2)))
        graph.replay()
        assert cuda.equal(result, farpoint.chamfer(x, y))


def test_gradients_captured_into_a_graph(cuda):
    x, y = (cuda.rand(3, n, 3, device="cuda", requires_grad=True) for n in (5000, 400))
    lengths = cuda.tensor([5000, 4000, 7], device="cuda")

    def run():
        loss = farpoint.chamfer(x, y, x_lengths=lengths)
        return (loss, *cuda.autograd.grad(loss.sum(), (x, y)))

    graph, actual = captured(cuda, run)
    for seed in range(3):
        with cuda.no_grad():
            x.copy_(cuda.from_numpy(np.stack([cloud(5000, seed=seed + k) for k in range(3)])))
        lengths.copy_(cuda.tensor([5000 - seed, 4, 900]))
        graph.replay()
        for mine, expected in zip(actual, run()):
            assert cuda.equal(mine, expected)


def test_chamfer_on_two_streams(cuda):
    """At once, each with memory of its own."""
    pairs = [(cloud(n, seed=n), cloud(n // 3, seed=n + 1)) for n in (30_000, 20_000, 900, 30_000)]

    def run(x, y):
        x, y = (cuda.from_numpy(part).cuda().requires_grad_() for part in (x, y))
        loss = farpoint.chamfer(x, y)
        return (loss.detach(), *cuda.autograd.grad(loss, (x, y)))

    expected = [run(*pair) for pair in pairs]
    streams, actual = [cuda.cuda.Stream() for _ in range(2)], []
    cuda.cuda.synchronize()
    for repeat in range(5):
        for k, pair in enumerate(pairs):
            with cuda.cuda.stream(streams[k % 2]):
                actual.append((k, run(*pair)))
    cuda.cuda.synchronize()
    for k, parts in actual:
        for mine, right in zip(parts, expected[k]):
            assert cuda.equal(mine, right)


def test_memory_of_others_is_left_alone(cuda):
    """Input, starts and scratch that are given back at once are used in the stream's order."""
    data = [cloud(2000 + 100 * s, seed=s) for s in range(12)]
    expected = [farpoint.sample(points, 400, start=3) for points in data]
    streams = [cuda.cuda.Stream() for _ in range(3)]
    actual = []
    for k, points in enumerate(data):
        with cuda.cuda.stream(streams[k % 3]):
            actual.append(farpoint.sample(cuda.from_numpy(points).cuda(), 400, start=3))
            # What the allocator gives now is what the call above has given back.
            for _ in range(20):
                cuda.full((points.size,), cuda.nan, device="cuda")
                cuda.full((1 << 16,), -7, dtype=cuda.int64, device="cuda")
    cuda.cuda.synchronize()
    for indices, right in zip(actual, expected):
        same(indices, right)


def test_memory_does_not_grow(cuda):
    points = cuda.rand(4, 3000, 3, device="cuda")
    lengths = cuda.tensor([3000, 2, 1, 0], device="cuda")
    grown = cuda.rand(1, 20_000, 3, device="cuda", requires_grad=True)

    def calls(count):
        for _ in range(count):
            farpoint.sample(points, 500, return_distances=True, seed=1)
            farpoint.sample(points, ratio=0.3, lengths=lengths)
            farpoint.check(points)
            farpoint.chamfer(grown, points[:1]).sum().backward()
            grown.grad = None
        gc.collect()
        cuda.cuda.synchronize()

    calls(5)
    before, (free, _) = cuda.cuda.memory_allocated(), cuda.cuda.mem_get_info()
    calls(200)
    assert cuda.cuda.memory_allocated() == before
    # Others may use this GPU too; 1,000 answers lost would be 16 MB of PyTorch's, seen above.
    assert free - cuda.cuda.mem_get_info()[0] < 256 << 20


def test_threads_at_once(cuda):
    clouds = [cloud(3000, seed=s) for s in range(8)]

    def work(points):
        with cuda.cuda.stream(cuda.cuda.Stream()):
            return farpoint.sample(cuda.from_numpy(points).cuda(), 200).cpu()

    with ThreadPoolExecutor(4) as pool:
        result = list(pool.map(work, clouds))
    for points, indices in zip(clouds, result):
        same(indices, farpoint.sample(points, 200))


def test_the_call_is_short(cuda):
    """Not a benchmark (lab/python/overhead.py is): only that nothing waits for the result."""
    points = cuda.from_numpy(cloud(200_000)).cuda()
    for _ in range(3):
        farpoint.sample(points, 50_000)
    cuda.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(20):
        farpoint.sample(points, 50_000)
    queued = time.perf_counter() - begin
    cuda.cuda.synchronize()
    assert queued < time.perf_counter() - begin


def test_the_device_of_others_stays_current(cuda):
    import ctypes

    driver, context = ctypes.CDLL("libcuda.so.1"), [ctypes.c_void_p(), ctypes.c_void_p()]
    points = cuda.rand(2, 500, 3, device="cuda")
    driver.cuCtxGetCurrent(ctypes.byref(context[0]))
    farpoint.check(points)
    farpoint.sample(points, spacing=0.2)
    farpoint.sample(points, 9)
    driver.cuCtxGetCurrent(ctypes.byref(context[1]))
    assert context[0].value is not None and context[0].value == context[1].value
    assert cuda.cuda.current_device() == 0


@pytest.fixture
def other(cuda):
    if cuda.cuda.device_count() < 2:
        pytest.skip("there is one GPU only")
    return cuda.device("cuda:1")


def test_other_devices(cuda, other):
    """While cuda:0 is current."""
    points, lengths = np.stack([cloud(3000), cloud(3000, seed=2)]), [3000, 20]
    on_other = cuda.from_numpy(points).to(other)
    for options in (dict(), dict(lengths=lengths), dict(seed=3), dict(start=[4, 5])):
        result = farpoint.sample(on_other, 300, return_distances=True, **options)
        assert result.indices.device == other and result.distances.device == other
        same(result.indices, farpoint.sample(points, 300, **options))
    assert cuda.cuda.current_device() == 0 and cuda.zeros(1, device="cuda").device.index == 0
    farpoint.check(on_other)
    same(farpoint.sample(on_other, spacing=0.1), farpoint.sample(points, spacing=0.1))


def test_streams_and_graphs_of_other_devices(cuda, other):
    points = cuda.from_numpy(cloud(3000)).to(other)
    expected = farpoint.sample(cloud(3000), 300)
    with cuda.cuda.stream(cuda.cuda.Stream(other)):
        actual = farpoint.sample(points * 1, 300)
    cuda.cuda.synchronize(other)
    same(actual, expected)
    with cuda.cuda.device(other):
        graph, actual = captured(cuda, lambda: farpoint.sample(points, 300))
        graph.replay()
        cuda.cuda.synchronize()
    same(actual, expected)


def test_chamfer_on_other_devices(cuda, other):
    x, y = cloud(300), cloud(200, seed=2)
    a, b = cuda.from_numpy(x).to(other).requires_grad_(), cuda.from_numpy(y).to(other)
    same(farpoint.nearest(a, b).indices, farpoint.nearest(x, y).indices)
    same(farpoint.nearest(a, b).distances, farpoint.nearest(x, y).distances)
    farpoint.chamfer(a, b).backward()
    on_cpu = cuda.from_numpy(x).requires_grad_()
    farpoint.chamfer(on_cpu, cuda.from_numpy(y)).backward()
    assert a.grad.device == other
    cuda.testing.assert_close(a.grad.cpu(), on_cpu.grad)
    with pytest.raises(TypeError, match="cuda:1.*cuda:0"):
        farpoint.nearest(a, b.to("cuda:0"))
