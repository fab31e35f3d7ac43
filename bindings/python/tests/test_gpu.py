"""On a GPU: PyTorch's tensors are sampled as the CPU samples arrays, index by index.

Without a GPU everything here is skipped, as in the other files `test_gpu_*.py`. Run them alone with
`pytest -rs -k gpu`.
"""

import numpy as np
import pytest
from conftest import cloud, grid, needs_gpu, same

import farpoint
from farpoint import _native

pytestmark = needs_gpu

CLOUDS = {
    "random": cloud(3000), "double": cloud(3000, dtype=np.float64), "ties": grid(),
    "plane": cloud(2000, 2), "features": cloud(1000, 16), "wide": cloud(3000) * 1e6,
    "large": cloud(200_000), "same": np.zeros((500, 3), np.float32), "one": cloud(1),
}


@pytest.mark.parametrize("name", CLOUDS)
def test_indices_are_those_of_the_cpu(cuda, name):
    points = CLOUDS[name]
    on_gpu = cuda.from_numpy(points).cuda()
    expected = farpoint.sample(points, ratio=0.25, return_distances=True)
    actual = farpoint.sample(on_gpu, ratio=0.25, return_distances=True)
    assert actual.indices.device == on_gpu.device and actual.indices.dtype == cuda.int64
    same(actual.indices, expected.indices)
    same(actual.distances, expected.distances)
    assert actual.covering_radius.dtype == cuda.float64
    assert float(actual.covering_radius) == expected.covering_radius
    same(farpoint.sample(on_gpu, ratio=0.25), expected.indices)


@pytest.mark.parametrize("name", CLOUDS)
def test_points_in_host_memory_are_sampled_by_a_gpu(name):
    points = CLOUDS[name]
    expected = farpoint.sample(points, ratio=0.25, return_distances=True)
    for device in ("cuda", "cuda:0", 0):
        actual = farpoint.sample(points, ratio=0.25, device=device, return_distances=True)
        for part, right in zip(actual, expected, strict=True):
            np.testing.assert_array_equal(part, right)
    batch, options = np.stack([points, points[::-1]]), dict(lengths=[len(points), 1], start=[0, 0])
    np.testing.assert_array_equal(
        farpoint.sample(batch, 1, device="cuda", **options), farpoint.sample(batch, 1, **options))
    np.testing.assert_array_equal(farpoint.order(points, device=0).indices, farpoint.order(points).indices)
    mask = np.arange(len(points)) % 3 == 0
    np.testing.assert_array_equal(
        farpoint.sample(points, 1, mask=mask, device=0), farpoint.sample(points, 1, mask=mask))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("algorithm", ["naive", "radius", "persistent", "peak"])
def test_every_algorithm(cuda, algorithm, kind):
    points = cloud(5000, dtype=kind)
    result = farpoint.sample(cuda.from_numpy(points).cuda(), 700, algorithm=algorithm)
    same(result, farpoint.sample(points, 700))


OPTIONS = [
    dict(count=9), dict(ratio=0.3), dict(spacing=0.2), dict(count=9, start=5), dict(count=9, seed=3),
    dict(count=9, start=[1, 2, 3]), dict(count=30, lengths=[400, 20, 0]), dict(count=0),
    dict(ratio=0.5, lengths=[400, 20, 1]), dict(count=9, seed=3, lengths=[400, 20, 1]),
    dict(count=4, start=[[1, 2], [3, 4], [5, 6]]), dict(count=9, non_finite="skip"),
    dict(count=500, lengths=[400, 20, 0]), dict(spacing=0.2, lengths=[400, 20, 5]),
    dict(ratio=0.5, lengths=[400, 20, 0], algorithm="naive"), dict(ratio=1.0, seed=8),
]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_batches_and_options(cuda, filled, options, kind):
    points = np.stack([cloud(400, seed=s, dtype=kind) for s in range(3)])
    on_gpu = cuda.from_numpy(points).cuda()
    expected = farpoint.sample(points, return_distances=True, **{**options, "algorithm": "auto"})
    actual = farpoint.sample(on_gpu, return_distances=True, **options)
    same(actual.indices, expected.indices)
    same(actual.distances, expected.distances)
    same(actual.covering_radius, expected.covering_radius)
    for name in ("lengths", "start"):
        if isinstance(options.get(name), list):
            options = {**options, name: cuda.tensor(options[name], device="cuda")}
    same(farpoint.sample(on_gpu, **options), expected.indices)


@pytest.mark.parametrize("algorithm", ["naive", "radius", "persistent", "peak"])
def test_places_left_over_are_filled(cuda, filled, algorithm):
    points = np.stack([cloud(2000, seed=s) for s in range(4)])
    on_gpu, lengths = cuda.from_numpy(points).cuda(), [2000, 700, 1, 30]
    for options in (dict(count=900), dict(ratio=0.4), dict(count=2100), dict(spacing=0.1)):
        actual = farpoint.sample(
            on_gpu, lengths=lengths, algorithm=algorithm, return_distances=True, **options
        )
        expected = farpoint.sample(points, lengths=lengths, return_distances=True, **options)
        same(actual.indices, expected.indices)
        same(actual.distances, expected.distances)
        same(actual.covering_radius, expected.covering_radius)


@pytest.mark.parametrize("algorithm", ["naive", "radius", "persistent", "peak"])
def test_clouds_of_length_0(cuda, filled, algorithm):
    """A cloud gives all rows that it has: none, and -1 in its places. Only a spacing wants one at
    least, and is refused as on the CPU: it waits for the GPU anyhow."""
    points = np.stack([cloud(2000, seed=s) for s in range(4)])
    on_gpu, host = cuda.from_numpy(points).cuda(), [0, 700, 1, 0]
    for lengths in (host, cuda.tensor(host, device="cuda")):
        for options in (dict(count=900), dict(ratio=0.4), dict(count=2100), dict(count=1)):
            actual = farpoint.sample(
                on_gpu, lengths=lengths, algorithm=algorithm, return_distances=True, **options
            )
            expected = farpoint.sample(points, lengths=host, return_distances=True, **options)
            same(actual.indices, expected.indices)
            same(actual.distances, expected.distances)
            same(actual.covering_radius, expected.covering_radius)
            assert bool((actual.indices[[0, 3]] == -1).all()) and bool((actual.distances[[0, 3]] == 0).all())
        for batch, given in ((points, host), (on_gpu, lengths)):
            with pytest.raises(ValueError, match="cloud 0 of the batch: .*no usable point"):
                farpoint.sample(batch, spacing=0.1, lengths=given)


def test_nothing_to_do(cuda, filled):
    none = cuda.empty(2, 0, 3, device="cuda")
    same(farpoint.sample(none, 5, lengths=[0, 0]), np.full((2, 5), -1))
    assert farpoint.sample(none, 0).shape == (2, 0)
    assert farpoint.sample(cuda.empty(0, 9, 3, device="cuda"), 5).shape == (0, 5)
    result = farpoint.sample(cuda.zeros(9, 3, device="cuda"), 0, return_distances=True)
    assert result.indices.shape == (0,) and float(result.covering_radius) == np.inf
    for empty in (cuda.empty(0, 3), cuda.empty(0, 3, device="cuda"), none, none.cpu()):
        with pytest.raises(ValueError, match="no usable point"):
            farpoint.sample(empty, spacing=0.1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_strides_are_followed(cuda, kind):
    whole = cuda.from_numpy(cloud(6 * 400, 6, kind).reshape(6, 400, 6)).cuda()
    views = [
        whole[0, ::2, :3], whole[0].t()[:3].t(), whole[0, :, 1:4], whole[..., :3],
        whole[::2, 3:300, :3], whole.transpose(1, 2)[:, :, :5], whole[:1].expand(4, -1, -1),
        whole[:, ::4], whole.transpose(0, 1)[:, :, 3:],
    ]
    for view in views:
        same(farpoint.sample(view, 5), farpoint.sample(view.cpu().numpy(), 5))


def test_memory_is_read_in_place(cuda, monkeypatch):
    from farpoint._torch import shape_cache

    seen, real = [], _native.CudaSample

    class Spy:
        def __init__(self, *arguments):
            self.plan, self.strides = real(*arguments), arguments[3]
            self.scratch = self.plan.scratch

        def sample(self, stream, points, *rest):
            seen.append((points.data_ptr(), self.strides))
            self.plan.sample(stream, points, *rest)

    monkeypatch.setattr(shape_cache, "_cache", shape_cache.table())
    monkeypatch.setattr(_native, "CudaSample", Spy)
    whole = cuda.rand(200, 6, device="cuda")
    for view in (whole[:, :3], whole[::2, 1:4], whole.t()[:3].t(), whole[:, :3].requires_grad_()):
        farpoint.sample(view, 5)
        assert seen.pop() == (view.data_ptr(), view.stride())
    batch = cuda.rand(4, 100, 3, device="cuda")
    farpoint.sample(batch, 5)
    assert seen.pop() == (batch.data_ptr(), (3, 1))


def test_a_hundred_clouds(cuda):
    points = np.stack([cloud(1500, seed=s) for s in range(100)])
    lengths = np.arange(100) * 15 + 1
    on_gpu = cuda.from_numpy(points).cuda()
    same(farpoint.sample(on_gpu, 300), farpoint.sample(points, 300))
    same(farpoint.sample(on_gpu, 300, lengths=lengths), farpoint.sample(points, 300, lengths=lengths))


def test_order(cuda):
    points = cloud(2000)
    actual, expected = farpoint.order(cuda.from_numpy(points).cuda()), farpoint.order(points)
    same(actual.indices, expected.indices)
    same(actual.spacings, expected.spacings)


def test_out(cuda):
    points = cuda.rand(3, 100, 3, device="cuda")
    out = cuda.empty((3, 7), dtype=cuda.int64, device="cuda")
    assert farpoint.sample(points, 7, out=out) is out
    assert cuda.equal(out, farpoint.sample(points, 7))
    with pytest.raises(TypeError, match="cuda:0"):
        farpoint.sample(points, 7, out=out.cpu())


def test_modes_of_torch(cuda):
    points = cuda.rand(3, 500, 3, device="cuda")
    expected = farpoint.sample(points, 50)
    with cuda.inference_mode():
        assert cuda.equal(farpoint.sample(points, 50), expected)
        assert cuda.equal(farpoint.sample(points.clone(), 50), expected)
    with cuda.autocast("cuda"):
        assert cuda.equal(farpoint.sample(points, 50), expected)
    grown = points.clone().requires_grad_()
    actual = farpoint.sample(grown * 1, 50, return_distances=True)
    assert cuda.equal(actual.indices, expected) and not actual.distances.requires_grad


def test_non_finite_rows(cuda):
    points = cloud(1000)
    points[[7, 500]] = [[np.nan], [np.inf]]
    on_gpu = cuda.from_numpy(points).cuda()
    with pytest.raises(ValueError, match="2 of 1000 rows .* row 7"):
        farpoint.check(on_gpu)
    farpoint.check(on_gpu[8:400])
    batch = on_gpu.double().reshape(2, 500, 3)
    batch[0] = 0
    with pytest.raises(ValueError, match="cloud 1 of the batch: 1 of 500 rows .* row 0"):
        farpoint.check(batch)
    for options in (dict(count=50), dict(ratio=0.5), dict(spacing=0.3), dict(count=5, start=[8, 9])):
        result = farpoint.sample(on_gpu, non_finite="skip", **options)
        same(result, farpoint.sample(points, non_finite="skip", **options))
    with pytest.raises(ValueError, match="start index 7 names a row with NaN"):
        farpoint.sample(on_gpu, 5, start=7, non_finite="skip")


@pytest.mark.parametrize("arguments, text", [
    (dict(count=101), r"101 .* 100 .*cuda:0"), (dict(count=5, start=100), "100"),
    (dict(count=5, algorithm="tree"), "tree.*persistent"), (dict(ratio=2.0), "ratio 2"),
    (dict(count=5, start=[1, 1]), "twice"), (dict(count=1, start=[1, 2]), "2 start"),
    (dict(spacing=-1.0), "spacing -1"), (dict(count=5, lengths=[5]), r"\(100, 3\)"),
])
def test_refused(cuda, arguments, text):
    points = cuda.from_numpy(cloud(100)).cuda()
    with pytest.raises(ValueError, match=text):
        farpoint.sample(points, **arguments)
    same(farpoint.sample(points, 9), farpoint.sample(cloud(100), 9))  # nothing is damaged


def test_refused_types(cuda):
    points = cuda.from_numpy(cloud(100)).cuda()
    for other, text in [(points.long(), "int64"), (points.int(), "int32")]:
        with pytest.raises(TypeError, match=text):
            farpoint.sample(other, 5)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        farpoint.sample(points[0], 1)
    batch = points.reshape(2, 50, 3)
    with pytest.raises(ValueError, match="lengths"):
        farpoint.sample(batch, 5, lengths=cuda.tensor([1, 2, 3], device="cuda"))
    with pytest.raises(TypeError, match="float32"):
        farpoint.sample(batch, 5, lengths=cuda.tensor([1.0, 2.0], device="cuda"))


def test_replacements(cuda):
    from farpoint.compat import pointnet2_ops, torch_cluster

    a, b = cloud(200), cloud(310, seed=2)
    expected = [*farpoint.sample(a, ratio=0.5), *(200 + farpoint.sample(b, ratio=0.5))]
    points = cuda.from_numpy(np.concatenate([a, b])).cuda()
    of = cuda.cat([cuda.zeros(200), cuda.ones(310)]).long().cuda()
    same(torch_cluster.fps(points, of, 0.5, random_start=False), expected)
    assert len(torch_cluster.fps(points, of, 0.5)) == len(expected)
    counts = cuda.tensor([200, 310], dtype=cuda.int32, device="cuda")
    stacked = pointnet2_ops.stack_farthest_point_sample(points, counts, [100, 155])
    assert stacked.dtype == cuda.int32
    same(stacked, expected)
    batch = cuda.from_numpy(np.stack([a, a[::-1].copy()])).cuda()
    actual = pointnet2_ops.furthest_point_sample(batch, 50)
    same(actual, farpoint.sample(batch.cpu().numpy(), 50))


def test_replacement_that_pads(cuda, filled):
    from farpoint.compat import pytorch3d

    a = cloud(200)
    batch = cuda.from_numpy(np.stack([a, a[::-1].copy()])).cuda()
    lengths = cuda.tensor([200, 7], device="cuda")
    for expected in ([20, 20], [20, 3], 250):
        selected, indices = pytorch3d.sample_farthest_points(batch, lengths, K=expected)
        other, on_cpu = pytorch3d.sample_farthest_points(batch.cpu(), lengths.cpu(), K=expected)
        same(indices, on_cpu.numpy())
        same(selected, other.numpy())
