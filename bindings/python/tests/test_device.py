"""Arrays in GPU memory that are not PyTorch's, tried without a GPU: memory of the CPU stands in for
that of a device, and the fake of ``test_addresses`` for the compiled half."""

import numpy as np
import pytest
from conftest import cloud
from fake_native import at, fake_match, fake_sample

import farpoint
from farpoint import _native
from farpoint._arrays import cuda


class Memory:
    """In place of `DeviceArray`."""

    def __init__(self, device, stream, shape, kind, byte=None):
        self.array = np.full(shape, 77, kind)
        if byte is not None:
            self.array.reshape(-1).view(np.uint8)[:] = byte
        self.shape, self.dtype = self.array.shape, str(self.array.dtype)
        self.address = self.array.__array_interface__["data"][0]

    @classmethod
    def upload(cls, device, stream, values):
        made = cls(device, stream, (len(values),), "i8")
        made.array[:] = values
        return made

    def download(self):
        return self.array.tolist()

    def wait(self):
        pass


class Array:
    """Another library's array."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.__cuda_array_interface__ = {
            "shape": array.shape, "strides": array.strides, "typestr": array.dtype.str,
            "data": (array.__array_interface__["data"][0], True), "version": 3, "stream": 1,
        }

    def __array_namespace__(self):
        class Namespace:
            @staticmethod
            def from_dlpack(result):
                return Answer(result.array)

            @staticmethod
            def asarray(result, device):
                assert device == "cpu"
                return Answer(result)

            float64 = np.float64
            maximum = staticmethod(np.maximum)
            max = staticmethod(np.max)
            sqrt = staticmethod(np.sqrt)
            sum = staticmethod(np.sum)

        return Namespace


class Answer(np.ndarray):
    """What the library above makes of an answer."""

    device = "cpu"  # as every library of the array standard says; NumPy does from 2.0 on

    def __new__(cls, array):
        return np.asarray(array).view(cls)

    def __array_namespace__(self):
        return Array.__array_namespace__(self)


@pytest.fixture(autouse=True)
def fake_gpu(monkeypatch):
    monkeypatch.setattr(_native, "cuda_sample", fake_sample)
    monkeypatch.setattr(_native, "cuda_match", fake_match, raising=False)
    monkeypatch.setattr(_native, "cuda_device_of", lambda address: 0)
    monkeypatch.setattr(_native, "DeviceArray", Memory)


BATCH = np.stack([cloud(40, seed=s) for s in range(3)])


@pytest.mark.parametrize("options", [
    dict(count=7), dict(ratio=0.3), dict(spacing=0.4), dict(count=7, start=5), dict(count=7, seed=3),
    dict(count=7, start=[1, 2, 3]), dict(count=30, lengths=[40, 20, 0]), dict(count=0),
    dict(count=50, lengths=[40, 20, 0]), dict(count=50, lengths=[40, 20, 9], start=2),
    dict(ratio=0.5, lengths=[40, 20, 1]), dict(count=7, seed=3, lengths=[40, 20, 1]),
    dict(count=4, start=[[1, 2], [3, 4], [5, 6]]),
], ids=str)
def test_batches_and_options(options):
    result = farpoint.sample(Array(BATCH), **options)
    assert type(result) is Answer
    np.testing.assert_array_equal(result, farpoint.sample(BATCH, **options))


@pytest.mark.parametrize("points", [
    cloud(50), cloud(50, dtype=np.float64), cloud(50, 6)[::2, 1:4], np.asfortranarray(cloud(50)),
], ids=lambda p: f"{p.dtype}-{p.strides}")
def test_single_clouds(points):
    actual = farpoint.sample(Array(points), 9, return_distances=True)
    expected = farpoint.sample(points, 9, return_distances=True)
    np.testing.assert_array_equal(actual.indices, expected.indices)
    np.testing.assert_allclose(actual.distances, expected.distances, rtol=1e-6)
    assert actual.covering_radius == 2.0
    even = farpoint.sample(Array(points), spacing=0.3)
    np.testing.assert_array_equal(even, farpoint.sample(points, spacing=0.3))


def test_a_spacing_needs_a_point():
    """As on the CPU."""
    for points, lengths, text in [
        (BATCH, [40, 20, 0], "cloud 2 of the batch: .* no usable point"),
        (BATCH[:, :0], None, "cloud 0 of the batch: .* no usable point"),
        (BATCH[0, :0], None, "^the cloud has no usable point"),
    ]:
        for array in (points, Array(points)):
            with pytest.raises(ValueError, match=text):
                farpoint.sample(array, spacing=0.4, lengths=lengths)


OTHERS = np.stack([cloud(30, seed=s) for s in range(3, 6)])


@pytest.mark.parametrize("options", [
    {}, dict(norm=1), dict(squared=False), dict(x_lengths=[40, 20, 1]), dict(y_lengths=[1, 30, 7]),
    dict(x_lengths=[40, 20, 1], y_lengths=[1, 30, 7], squared=False),
], ids=str)
def test_nearest_and_chamfer(options):
    actual = farpoint.nearest(Array(BATCH), Array(OTHERS), **options)
    assert type(actual.distances) is Answer and type(actual.indices) is Answer
    expected = farpoint.nearest(BATCH, OTHERS, **options)
    np.testing.assert_array_equal(actual.indices, expected.indices)
    np.testing.assert_array_equal(actual.distances, expected.distances)
    for reduction in ("mean", "sum", "max"):
        for one_sided in (False, True):
            more = dict(options, reduction=reduction, one_sided=one_sided)
            actual = farpoint.chamfer(Array(BATCH), Array(OTHERS), **more)
            assert isinstance(actual, Answer) and actual.shape == (3,)
            np.testing.assert_allclose(actual, farpoint.chamfer(BATCH, OTHERS, **more), rtol=1e-14)


def test_nearest_of_single_clouds():
    x, y = cloud(50, 6, np.float64)[::2, 1:4], cloud(40, dtype=np.float64)
    actual, expected = farpoint.nearest(Array(x), Array(y)), farpoint.nearest(x, y)
    np.testing.assert_array_equal(actual.indices, expected.indices)
    assert actual.distances.shape == (25,)
    number = farpoint.chamfer(Array(x), Array(y))
    assert isinstance(number, float) and number == pytest.approx(farpoint.chamfer(x, y), rel=1e-14)


@pytest.mark.parametrize("x, y, options, kind, text", [
    (Array(BATCH), OTHERS, {}, TypeError, r"same GPU.*\(3, 40, 3\).*\(3, 30, 3\)"),
    (BATCH, Array(OTHERS), {}, TypeError, "same GPU"),
    (Array(BATCH), Array(OTHERS.astype(np.float64)), {}, TypeError, "float32.*float64"),
    (Array(BATCH), Array(OTHERS[:2]), {}, ValueError, "same B and D"),
    (Array(BATCH), Array(OTHERS[0]), {}, ValueError, "same B and D"),
    (Array(BATCH), Array(OTHERS[..., :2]), {}, ValueError, "same B and D"),
    (Array(BATCH), Array(OTHERS[:, :0]), {}, ValueError, "no usable point"),
    (Array(BATCH), Array(OTHERS), dict(x_lengths=[1, 2, 41]), ValueError, r"\[1, 2, 41\]"),
    (Array(BATCH), Array(OTHERS), dict(y_lengths=[1, 2]), ValueError, r"\[1, 2\]"),
    (Array(BATCH), Array(OTHERS), dict(y_lengths=[1, 0, 2]), ValueError, "cloud 1 .* no usable point"),
    (Array(BATCH[0]), Array(OTHERS[0]), dict(x_lengths=[1]), ValueError, "lengths"),
])
def test_pairs_refused(x, y, options, kind, text):
    with pytest.raises(kind, match=text):
        farpoint.nearest(x, y, **options)
    with pytest.raises(kind, match=text):
        farpoint.chamfer(x, y, **options)


def test_dlpack_alone(monkeypatch):
    class Capsule:
        def __init__(self, array):
            self.array, self.shape, self.dtype = array, array.shape, array.dtype

        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self, stream):
            assert stream == 1
            return self.array.__dlpack__()

    result = farpoint.sample(Capsule(cloud(50, 6)[:, ::2]), 9)
    assert type(result) is Memory  # nothing is known of this library
    np.testing.assert_array_equal(result.array, farpoint.sample(cloud(50, 6)[:, ::2], 9))


@pytest.mark.parametrize("points, options, kind, text", [
    (cloud(50), dict(count=51), ValueError, r"51 .* 50 .*\(50, 3\)"),
    (cloud(50), dict(count=5, start=50), ValueError, "start index 50"),
    (cloud(50), dict(count=5, start=[1, 1]), ValueError, "twice"),
    (cloud(50), dict(count=5, lengths=[1]), ValueError, "lengths"),
    (BATCH, dict(count=5, lengths=[1, 2, 41]), ValueError, r"\[1, 2, 41\]"),
    (BATCH.transpose(1, 0, 2), dict(count=2), ValueError, "contiguous"),
    (cloud(50).astype(int), dict(count=5), TypeError, "int64"),
    (cloud(50)[0], dict(count=1), ValueError, r"\(3,\)"),
    (cloud(50), dict(count=5, non_finite="skip"), ValueError, "skip"),
    (cloud(50), dict(ratio=2.0), ValueError, "2"),
])
def test_refused(points, options, kind, text):
    with pytest.raises(kind, match=text):
        farpoint.sample(Array(points), **options)


def test_non_finite_rows(monkeypatch):
    def look(source, counts, firsts):
        clouds, rows, dims = source.shape
        at(counts, (clouds,))[:] = [0, 2, 0]
        at(firsts, (clouds,))[:] = [-1, 7, -1]

    monkeypatch.setattr(_native, "cuda_check", look)
    with pytest.raises(ValueError, match="cloud 1 of the batch: 2 of 40 rows .* row 7"):
        farpoint.check(Array(BATCH))
    assert cuda.non_finite(Array(BATCH))[0] == [0, 2, 0]
