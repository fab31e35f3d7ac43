"""On a GPU: FastPoint chooses what it chooses on the CPU, index by index, waits for nothing and can be captured."""

import numpy as np
import pytest
from conftest import cloud, grid, needs_gpu, same

import farpoint

pytestmark = needs_gpu



def approximate(points, count=None, *, method, **options):
    return getattr(farpoint, f"sample_{method}")(points, count, **options)

CLOUDS = {
    "random": cloud(3000), "double": cloud(3000, dtype=np.float64), "ties": grid(), "plane": cloud(4000, 2),
    "features": cloud(2000, 7), "wide": cloud(3000) * 1e6, "large": cloud(100_000), "same": np.zeros((2000, 3), np.float32),
}


@pytest.mark.parametrize("name", CLOUDS)
def test_indices_are_those_of_the_cpu(cuda, name):
    points = CLOUDS[name]
    on_gpu = cuda.from_numpy(points).cuda()
    for estimator in ("network", "fit"):
        options = dict(ratio=0.25, method="fastpoint", estimator=estimator)
        result = approximate(on_gpu, **options)
        assert result.device == on_gpu.device and result.dtype == cuda.int64
        same(result, approximate(points, **options))
        same(approximate(on_gpu, index=farpoint.Index(on_gpu), **options), approximate(points, **options))


OPTIONS = [
    dict(count=400), dict(ratio=0.4), dict(count=400, start=5), dict(count=400, seed=3), dict(count=400, start=[1, 2, 3]),
    dict(count=400, lengths=[1000, 500, 0]), dict(ratio=0.5, lengths=[1000, 700, 1]), dict(count=0),
    dict(count=400, seed=3, lengths=[1000, 800, 20]), dict(count=400, start=[[1, 2], [3, 4], [5, 6]]),
    dict(count=400, non_finite="skip"), dict(count=1200, lengths=[1000, 900, 0]), dict(count=400, first_stage="radius:nvox=16"),
    dict(count=400, non_finite="skip", lengths=[1000, 800, 500], start=[7, 8, 9]), dict(count=1000), dict(count=9),
]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_batches_and_options(cuda, filled, options, kind):
    points = np.stack([cloud(1000, seed=s, dtype=kind) for s in range(3)])
    on_gpu = cuda.from_numpy(points).cuda()
    expected = approximate(points, method="fastpoint", **options)
    same(approximate(on_gpu, method="fastpoint", **options), expected)
    out = cuda.empty(expected.shape, dtype=cuda.int64, device="cuda")
    assert approximate(on_gpu, method="fastpoint", out=out, **options) is out
    same(out, expected)
    if "non_finite" not in options:
        index = farpoint.Index(on_gpu, y_lengths=options.get("lengths"))
        same(approximate(on_gpu, method="fastpoint", index=index, **options), expected)


def test_rows_that_are_far_apart(cuda):
    points = np.ascontiguousarray(cloud(4000).T)
    on_gpu = cuda.from_numpy(points).cuda()
    same(approximate(on_gpu.T, 900, method="fastpoint"), approximate(points.T, 900, method="fastpoint"))
    half = on_gpu.T.half()
    same(approximate(half, 900, method="fastpoint"), approximate(half.cpu().float(), 900, method="fastpoint"))


def test_non_finite_rows_are_left_out(cuda):
    points = cloud(2000)
    points[[3, 700]] = np.nan
    on_gpu = cuda.from_numpy(points).cuda()
    options = dict(method="fastpoint", non_finite="skip", start=5)
    same(approximate(on_gpu, 600, **options), approximate(points, 600, **options))
    with pytest.raises(ValueError, match="start row has NaN"):
        approximate(on_gpu, 600, method="fastpoint", non_finite="skip", start=3)


def test_nothing_waits(cuda):
    points = cuda.from_numpy(cloud(20_000)).cuda()
    index = farpoint.Index(points)
    expected = approximate(points, 5000, method="fastpoint")
    before = cuda.cuda.get_sync_debug_mode()
    cuda.cuda.set_sync_debug_mode("error")
    stream = cuda.cuda.Stream()
    stream.wait_stream(cuda.cuda.current_stream())
    try:
        with cuda.cuda.stream(stream):
            approximate(points, 5000, method="fastpoint", index=index)
            cuda.cuda._sleep(100_000_000)
            actual = approximate(points, 5000, method="fastpoint", index=index, seed=None)
            ended = cuda.cuda.Event()
            ended.record()
        assert not ended.query(), "the call has waited for the GPU"
    finally:
        cuda.cuda.set_sync_debug_mode(before)
    stream.synchronize()
    assert cuda.equal(actual, expected)


def test_a_graph_samples_what_lies_in_its_memory(cuda):
    clouds = [cloud(6000, seed=seed) for seed in range(3)]
    points = cuda.from_numpy(clouds[0]).cuda()
    approximate(points, 1500, method="fastpoint")
    cuda.cuda.synchronize()
    graph = cuda.cuda.CUDAGraph()
    with cuda.cuda.graph(graph):
        result = approximate(points, 1500, method="fastpoint")
    for one in clouds:
        points.copy_(cuda.from_numpy(one))
        graph.replay()
        same(result, approximate(one, 1500, method="fastpoint"))


def test_one_index_serves_sampler_and_searches(cuda):
    points = cuda.from_numpy(np.stack([cloud(8000, seed=1), cloud(8000, seed=2)])).cuda()
    index = farpoint.Index(points)
    samples = approximate(points, 2000, method="fastpoint", index=index)
    same(samples, approximate(points.cpu(), 2000, method="fastpoint"))
    centers = farpoint.gather(points, samples)
    for actual, expected in (
        (index.ball_query(centers, 0.1, 32), farpoint.ball_query(centers, points, 0.1, 32)),
        (index.knn(centers, 3), farpoint.knn(centers, points, 3)),
    ):
        assert cuda.equal(actual.indices, expected.indices) and cuda.equal(actual.distances, expected.distances)


def test_what_does_not_fit_is_refused(cuda):
    points = cuda.from_numpy(cloud(2000)).cuda()
    with pytest.raises(ValueError, match="index is of other points"):
        approximate(points, 600, method="fastpoint", index=farpoint.Index(points.clone()))
    with pytest.raises(ValueError, match="2001 samples from a cloud of 2000"):
        approximate(points, 2001, method="fastpoint")
    with pytest.raises(ValueError, match="start index 2000 is outside"):
        approximate(points, 600, method="fastpoint", start=2000)
    with pytest.raises(ValueError, match="does not have the algorithm tree"):
        approximate(points, 600, method="fastpoint", first_stage="tree")
    with pytest.raises(TypeError, match=r"runs on the CPU.*on a GPU.*points.cpu\(\)"):
        approximate(points, 600, method="npdu")
