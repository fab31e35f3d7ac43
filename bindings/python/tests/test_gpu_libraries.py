"""On a GPU: arrays of CuPy, JAX and of libraries that know DLPack or the CUDA array interface only; and
a process that has NumPy and the driver, and nothing else."""

import sys

import numpy as np
import pytest
from conftest import cloud, grid, needs_gpu, same
from processes import output

import farpoint
from farpoint import _native

pytestmark = needs_gpu


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy", reason="CuPy is not installed")


@pytest.mark.parametrize("points", [
    cloud(3000), cloud(3000, dtype=np.float64), grid(), cloud(900, 16), cloud(50_000), cloud(1),
], ids=lambda p: f"{p.shape}-{p.dtype}")
def test_cupy(cupy, points):
    count = -(-len(points) // 10)
    expected = farpoint.sample(points, count, return_distances=True)
    actual = farpoint.sample(cupy.asarray(points), count, return_distances=True)
    assert isinstance(actual.indices, cupy.ndarray) and actual.indices.dtype == np.int64
    np.testing.assert_array_equal(actual.indices.get(), expected.indices)
    np.testing.assert_array_equal(actual.distances.get(), expected.distances)
    assert float(actual.covering_radius) == expected.covering_radius


@pytest.mark.parametrize("options", [
    dict(count=9, lengths=[3000, 5]), dict(spacing=0.2), dict(count=5, start=[3, 4]),
    dict(ratio=0.01, seed=4), dict(ratio=0.5, lengths=[3000, 5]), dict(count=3100, lengths=[3000, 0]),
    dict(count=0), dict(count=9, lengths=[3000, 5], seed=4), dict(spacing=0.3, lengths=[3000, 5]),
], ids=str)
def test_batches_of_cupy(cupy, options):
    host = np.stack([cloud(3000), cloud(3000, seed=2)])
    batch = cupy.asarray(host)
    for _ in range(2):
        cupy.full(batch.size, -7, np.int64)  # what is given back may be given out again
        np.testing.assert_array_equal(
            farpoint.sample(batch, **options).get(), farpoint.sample(host, **options)
        )


def test_strides_of_cupy(cupy, monkeypatch):
    seen, real = [], _native.cuda_sample

    def spy(source, *rest):
        seen.append(source.points)
        return real(source, *rest)

    monkeypatch.setattr(_native, "cuda_sample", spy)
    whole = cupy.asarray(cloud(3000, 6))
    for view in (whole[::2, 1:4], whole[:, ::-1], whole[::-3], cupy.asfortranarray(whole)):
        result = farpoint.sample(view, 50)
        assert seen.pop() == view.data.ptr
        np.testing.assert_array_equal(result.get(), farpoint.sample(np.ascontiguousarray(view.get()), 50))


def test_streams_of_cupy(cupy):
    expected = farpoint.sample(cloud(3000), 300)
    slow = cupy.zeros(1 << 26)
    for stream in (cupy.cuda.Stream(), cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null):
        points = cupy.zeros((3000, 3), np.float32)
        cupy.cuda.Device().synchronize()
        with stream:
            for _ in range(20):
                slow += 1
            points.set(cloud(3000), stream=stream)
            actual = farpoint.sample(points, 300)
            np.testing.assert_array_equal(actual.get(), expected)


PAIRS = [
    (cloud(3000), cloud(2000, seed=2), {}), (grid(6), grid(6) + np.float32(0.5), dict(norm=1)),
    (cloud(3000, dtype=np.float64), cloud(2000, 3, np.float64, 2), dict(squared=False)),
    (np.stack([cloud(300), cloud(300, seed=3)]), np.stack([cloud(200, seed=2)] * 2), dict(y_lengths=[200, 5])),
    (np.stack([cloud(300), cloud(300, seed=3)]), np.stack([cloud(200, seed=2)] * 2), dict(x_lengths=[9, 300])),
]


@pytest.mark.parametrize("x, y, options", PAIRS)
def test_nearest_of_cupy(cupy, x, y, options):
    a, b = cupy.asarray(x), cupy.asarray(y)
    actual, expected = farpoint.nearest(a, b, **options), farpoint.nearest(x, y, **options)
    np.testing.assert_array_equal(actual.indices.get(), expected.indices)
    np.testing.assert_array_equal(actual.distances.get(), expected.distances)
    for reduction in ("mean", "sum", "max"):
        number = farpoint.chamfer(a, b, reduction=reduction, **options)
        assert isinstance(number, float if x.ndim == 2 else cupy.ndarray)
        right = farpoint.chamfer(x, y, reduction=reduction, **options)
        np.testing.assert_allclose(np.asarray(number if x.ndim == 2 else number.get()), right, rtol=1e-12)


def test_cupy_refuses(cupy):
    points = cupy.asarray(cloud(3000))
    points[5] = np.nan
    with pytest.raises(ValueError, match="1 of 3000 rows .* row 5"):
        farpoint.check(points)
    with pytest.raises(TypeError, match="same library on the same GPU"):
        farpoint.nearest(points, points.get())
    with pytest.raises(TypeError, match="float16"):
        farpoint.sample(points.astype(np.float16), 5)
    with pytest.raises(ValueError, match="3001 .* 3000"):
        farpoint.sample(points, 3001)


def test_jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("this jax has no GPU")
    points = jax.device_put(cloud(3000), device)
    expected = farpoint.sample(cloud(3000), 300, return_distances=True)
    actual = farpoint.sample(points, 300, return_distances=True)
    assert isinstance(actual.indices, jax.Array) and actual.indices.device == device
    np.testing.assert_array_equal(np.asarray(actual.indices), expected.indices)
    np.testing.assert_allclose(np.asarray(actual.distances), expected.distances, rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(points[actual.indices]), cloud(3000)[expected.indices])
    # Work that JAX has queued before is waited for.
    actual = farpoint.sample(points * 2 / 2, 300)
    np.testing.assert_array_equal(np.asarray(actual), expected.indices)
    batch = jax.numpy.stack([points, points])
    for options in (dict(count=9, lengths=[3000, 5]), dict(ratio=0.5, lengths=[3000, 5]), dict(spacing=0.2)):
        np.testing.assert_array_equal(
            np.asarray(farpoint.sample(batch, **options)), farpoint.sample(np.asarray(batch), **options)
        )
    farpoint.check(points)


@pytest.mark.parametrize("x, y, options", PAIRS)
def test_nearest_of_jax(x, y, options):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("this jax has no GPU")
    x, y = x.astype(np.float32), y.astype(np.float32)
    a, b = jax.device_put(x, device), jax.device_put(y, device)
    actual, expected = farpoint.nearest(a, b, **options), farpoint.nearest(x, y, **options)
    assert isinstance(actual.indices, jax.Array) and actual.indices.device == device
    np.testing.assert_array_equal(np.asarray(actual.indices), expected.indices)
    np.testing.assert_allclose(np.asarray(actual.distances), expected.distances, rtol=1e-6)
    number = farpoint.chamfer(a, b, **options)
    np.testing.assert_allclose(np.asarray(number), farpoint.chamfer(x, y, **options), rtol=1e-5)


class Other:
    """An array of a library that is not known: it knows DLPack only."""

    def __init__(self, tensor):
        self.tensor, self.shape, self.dtype = tensor, tuple(tensor.shape), tensor.dtype

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)


def test_capsules_of_other_libraries(cuda):
    points = cuda.from_numpy(cloud(3000, 6)).cuda()[:, ::2]
    expected = farpoint.sample(points.cpu().numpy(), 300, return_distances=False)
    same(cuda.from_dlpack(farpoint.sample(Other(points), 300)), expected)
    stream = cuda.cuda.Stream()
    with cuda.cuda.stream(stream):
        cuda.cuda._sleep(50_000_000)
        actual = farpoint.sample(Other(points * 1), 300)  # waits for this stream
        same(cuda.from_dlpack(actual), expected)


class Bare:
    """An array that knows the CUDA array interface only, which does not tell the device."""

    def __init__(self, tensor):
        self.tensor, self.shape, self.dtype = tensor, tuple(tensor.shape), tensor.dtype
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


def test_the_device_of_bare_arrays_is_found(cuda):
    for device in range(min(cuda.cuda.device_count(), 2)):
        points = cuda.from_numpy(cloud(3000)).to(f"cuda:{device}")
        assert _native.cuda_device_of(points.data_ptr()) == device
        cuda.cuda.synchronize(device)
        result = farpoint.sample(Bare(points), 300)
        assert result.__dlpack_device__() == (2, device)
        same(cuda.from_dlpack(result), farpoint.sample(cloud(3000), 300))
    with pytest.raises(RuntimeError, match="cuPointerGetAttribute"):
        _native.cuda_device_of(8)


def test_nearest_of_other_libraries(cuda):
    x, y = cloud(3000, 6), cloud(2000, seed=2)
    a, b = cuda.from_numpy(x).cuda()[:, ::2], cuda.from_numpy(y).cuda()
    expected = farpoint.nearest(np.ascontiguousarray(x[:, ::2]), y)
    for kind in (Other, Bare):
        cuda.cuda.synchronize()
        actual = farpoint.nearest(kind(a), kind(b))
        same(cuda.from_dlpack(actual.indices), expected.indices)
        same(cuda.from_dlpack(actual.distances), expected.distances)
        with pytest.raises(TypeError, match="there are no array functions for"):
            farpoint.chamfer(kind(a), kind(b))


ALONE = """
import sys
import numpy as np
import farpoint
from farpoint import _native

class Array:
    def __init__(self, points):
        words = points.astype(np.float64).view(np.int64).reshape(-1).tolist()
        self.memory = _native.DeviceArray.upload(0, 0, words)
        self.shape, self.dtype = points.shape, np.dtype(np.float64)
        self.__cuda_array_interface__ = {
            "shape": points.shape, "typestr": "<f8", "data": (self.memory.address, True),
            "version": 3, "stream": 1,
        }

points = np.random.default_rng(1).random((5000, 3))
found = farpoint.sample(Array(points), 600)
assert found.download() == farpoint.sample(points, 600).tolist()
others = {"torch", "cupy", "jax", "cuda", "nvidia"} & {name.partition(".")[0] for name in sys.modules}
assert not others, others
loaded = {line.split("/")[-1].strip() for line in open("/proc/self/maps") if ".so" in line}
assert any(name.startswith("libcuda.so") for name in loaded), loaded
wrong = [name for name in loaded if name.startswith(("libcudart", "libnvrtc", "libcublas", "libtorch"))]
assert not wrong, wrong
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_numpy_and_the_driver_are_enough():
    output(ALONE)
