"""Voxel downsampling of PyTorch tensors on a GPU against the CPU, bit by bit: every way to choose a point, padded and
concatenated clouds, strides, features and labels, gradients, streams."""

import itertools

import farpoint
import numpy as np
import pytest

REDUCTIONS = ("mean", "first", "center", "random")


def ties(shape, dtype=np.float32, seed=1):
    return (np.random.default_rng(seed).integers(0, 6, shape) / 4).astype(dtype)


def spread(shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).random(shape).astype(dtype)


@pytest.fixture(autouse=True)
def fresh(cuda, filled):
    """What is not written to is told."""


def bits(array):
    array = np.array(array.detach().cpu() if hasattr(array, "detach") else array)
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan  # of many, devices make different ones
    return array.shape, array.dtype, array.tobytes()


def same(found, expected):
    """Types, shapes and bits."""
    for name, a, b in zip(farpoint.Voxels._fields, found, expected):
        assert (a is None) == (b is None), name
        assert a is None or bits(a) == bits(b), name


def on_gpu(cuda, points, *arguments, **options):
    """Compares a call on a GPU with the CPU's."""
    expected = farpoint.voxel_downsample(points, *arguments, **options)
    moved = {
        name: cuda.from_numpy(value).cuda() if name in ("features", "labels") else value
        for name, value in options.items()
    }
    found = farpoint.voxel_downsample(cuda.from_numpy(points).cuda(), *arguments, **moved)
    assert all(part is None or part.is_cuda for part in found)
    same(found, expected)
    return found


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (33, 2), (1_025, 3), (20_000, 3), (900, 1), (700, 5), (300, 16)])
def test_single_clouds(cuda, kind, reduce, shape):
    for points in (spread(shape, kind), ties(shape, kind)):
        for sort, origin, least in itertools.product((False, True), (None, "min", [0.3] * shape[1]), (1, 3)):
            on_gpu(cuda, points, 0.25, reduce=reduce, sort=sort, origin=origin, min_points=least, seed=2**64 - 5)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_sizes(cuda, reduce):
    points = spread((4_000, 3))
    for size in (1e-6, [0.1, 0.5, 0.02], np.array([3.0, 3.0, 3.0]), 100):
        for sort in (False, True):
            on_gpu(cuda, points, size, reduce=reduce, sort=sort)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_lengths_and_offsets(cuda, reduce):
    batch = spread((5, 600, 3))
    for origin in (None, "min"):
        for sort in (False, True):
            options = {"reduce": reduce, "sort": sort, "origin": origin}
            on_gpu(cuda, batch, 0.2, **options)
            on_gpu(cuda, batch, 0.2, lengths=[600, 0, 1, 77, 599], **options)
            on_gpu(cuda, batch, 0.2, lengths=[0] * 5, **options)
            on_gpu(cuda, batch.reshape(-1, 3), 0.2, offsets=[0, 600, 600, 601, 2_999, 3_000], **options)
            # Equal cells of different clouds are kept apart.
            on_gpu(cuda, np.stack([batch[0]] * 40), 0.5, **options)
    on_gpu(cuda, batch[:, :0], 0.2, reduce=reduce)
    on_gpu(cuda, batch[0, :0], 0.2, reduce=reduce, offsets=[0])


def test_strides(cuda):
    points = spread((3, 500, 6))
    moved = cuda.from_numpy(points).cuda()
    expected = farpoint.voxel_downsample(points[..., 2:5], 0.2)
    same(farpoint.voxel_downsample(moved[..., 2:5], 0.2), expected)
    turned = moved.transpose(0, 1).contiguous().transpose(0, 1)
    same(farpoint.voxel_downsample(turned[..., 2:5], 0.2), expected)
    axes = moved[0].T.contiguous().T
    same(farpoint.voxel_downsample(axes, 0.3), farpoint.voxel_downsample(points[0], 0.3))
    same(farpoint.voxel_downsample(moved[:, ::2, :3], 0.2), farpoint.voxel_downsample(points[:, ::2, :3], 0.2))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("how", [None, "mean", "max"])
@pytest.mark.parametrize("reduce", ["mean", "center"])
def test_features_and_labels(cuda, kind, how, reduce):
    points, labels = spread((2, 900, 3)), np.random.default_rng(5).integers(-2, 4, (2, 900))
    features = np.concatenate([spread((2, 900, 5), kind, 2), ties((2, 900, 3), kind, 3) - kind(0.5)], axis=-1)
    features[0, 40, 1] = features[1, 70:80, 6] = np.nan
    features[1, 90, 2], features[1, 91, 7] = np.inf, -0.0
    options = {"reduce": reduce, "feature_reduce": how, "min_points": 2}
    on_gpu(cuda, points, 0.4, features=features, labels=labels, lengths=[900, 500], **options)
    on_gpu(cuda, points[0], 0.4, features=features[0], labels=labels[0], offsets=[0, 400, 900], **options)
    on_gpu(cuda, points[0], 0.4, features=np.ascontiguousarray(features[0, :, 0]), sort=True, **options)
    on_gpu(cuda, points[0, :0], 0.4, features=features[0, :0], labels=labels[0, :0], **options)


def test_picked_features_of_any_type(cuda):
    points, colors = spread((900, 3)), np.random.default_rng(2).integers(0, 256, (900, 3)).astype(np.uint8)
    on_gpu(cuda, points, 0.3, features=colors, reduce="first")


def test_non_finite_rows(cuda):
    points = spread((3_000, 3))
    points[70, 1], points[2_000, 2] = np.nan, np.inf
    for reduce in REDUCTIONS:
        on_gpu(cuda, points, 0.2, reduce=reduce, non_finite="skip", origin="min")
    with pytest.raises(ValueError, match="2 of 3000 rows hold NaN or infinity, the first is row 70"):
        farpoint.voxel_downsample(cuda.from_numpy(points).cuda(), 0.2)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_cells_that_do_not_fit(cuda, kind):
    points = spread((300, 3), kind)
    points[[7, 40], 1] = 1e12
    messages = []
    for tensor in (cuda.from_numpy(points), cuda.from_numpy(points).cuda()):
        for origin in (None, "min", [0.5, 0.5, 0.5]):
            with pytest.raises(ValueError, match="row 7 is too far .* axis 1") as raised:
                farpoint.voxel_downsample(tensor, 0.1, origin=origin)
            messages.append(str(raised.value).partition(" (points")[0])
    assert messages[:3] == messages[3:]
    # The next call works.
    on_gpu(cuda, spread((300, 3), kind), 0.1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("how", [None, "max"])
def test_gradients_have_the_bits_of_the_cpu(cuda, kind, reduce, how):
    arrays = spread((2, 900, 3), kind), ties((2, 900, 4), kind)
    runs = []
    for device in ("cpu", "cuda", "cuda"):
        points, features = [cuda.from_numpy(array).to(device).requires_grad_() for array in arrays]
        voxels = farpoint.voxel_downsample(
            points, 0.3, reduce=reduce, features=features, feature_reduce=how, min_points=2, lengths=[900, 500]
        )
        outputs = [voxels.points, voxels.features]
        grads = [cuda.linspace(-1, 1, part.numel(), dtype=part.dtype).view(part.shape).to(device) for part in outputs]
        runs.append([*outputs, *cuda.autograd.grad(outputs, [points, features], grads)])
    for found in runs[1:]:
        assert [bits(part) for part in found] == [bits(part) for part in runs[0]]
    assert (runs[0][2][1, 500:] == 0).all()


def test_current_stream(cuda):
    points = cuda.from_numpy(spread((30_000, 3))).cuda()
    expected = farpoint.voxel_downsample(points, 0.1)
    stream = cuda.cuda.Stream()
    for _ in range(5):
        with cuda.cuda.stream(stream):
            late = points.clone()
            cuda.cuda._sleep(20_000_000)
            found = farpoint.voxel_downsample(late * 1, 0.1)
        cuda.cuda.current_stream().wait_stream(stream)
        same(found, expected)


def test_one_synchronization(cuda):
    """The number of voxels of a cloud is read once, and nothing else waits."""
    points = cuda.from_numpy(spread((5_000, 3))).cuda().requires_grad_()
    farpoint.voxel_downsample(points, 0.1, features=points).features.sum().backward()
    cuda.cuda.synchronize()
    cuda.cuda.set_sync_debug_mode("warn")
    try:
        with pytest.warns(UserWarning, match="synchroniz") as warnings:
            farpoint.voxel_downsample(points, 0.1, features=points).features.sum().backward()
    finally:
        cuda.cuda.set_sync_debug_mode("default")
    assert len([warning for warning in warnings if "synchroniz" in str(warning.message)]) == 1


def test_halves(cuda):
    points = cuda.from_numpy(spread((2_000, 3))).cuda().half()
    found = farpoint.voxel_downsample(points, 0.2)
    assert found.points.dtype == cuda.float32
    same(found, farpoint.voxel_downsample(points.float().cpu(), 0.2))


def test_repeated_runs_agree(cuda):
    points = cuda.rand(300_000, 3, device="cuda")
    for reduce in REDUCTIONS:
        expected = farpoint.voxel_downsample(points, 0.03, reduce=reduce, features=points, feature_reduce="max")
        for _ in range(10):
            same(farpoint.voxel_downsample(points, 0.03, reduce=reduce, features=points, feature_reduce="max"), expected)


def test_what_is_refused(cuda):
    points = cuda.from_numpy(spread((50, 3))).cuda()
    for options, message in (
        ({"size": 0.0}, "size"), ({"size": [1.0, 2.0]}, "2 voxel sizes"), ({"size": 1.0, "origin": [0.0, 1.0]}, "origin"),
        ({"size": 1.0, "offsets": [0, 40]}, "rise from 0 to 50"), ({"size": 1.0, "lengths": [3]}, "lengths do not fit"),
        ({"size": 1.0, "labels": cuda.zeros(49, dtype=cuda.int64, device="cuda")}, "labels"),
        ({"size": 1.0, "features": points[1:]}, "a row for each point"),
    ):
        with pytest.raises(ValueError, match=message):
            farpoint.voxel_downsample(points, **options)
    with pytest.raises(ValueError, match="17 axes"):
        farpoint.voxel_downsample(cuda.rand(10, 17, device="cuda"), 1.0)
    with pytest.raises(TypeError, match="float32 or float64"):
        farpoint.voxel_downsample(points.long(), 1.0)
    with pytest.raises(TypeError, match="features must be on cuda:0, not cpu"):
        farpoint.voxel_downsample(points, 1.0, features=points.cpu())
