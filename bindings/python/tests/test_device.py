"""Arrays in GPU memory that are not PyTorch's, tried without a GPU: memory of the CPU stands in for
that of a device, and the impostor of ``test_addresses`` for the compiled half."""

import numpy as np
import pytest
from conftest import cloud
from impostor import at, impostor

import farpoint
from farpoint import _device, _farpoint


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
            def from_dlpack(found):
                return Answer(found.array)

            @staticmethod
            def sqrt(found):
                return Answer(np.sqrt(found))

        return Namespace


class Answer(np.ndarray):
    """What the library above makes of an answer."""

    def __new__(cls, array):
        return np.asarray(array).view(cls)

    def __array_namespace__(self):
        return Array.__array_namespace__(self)


@pytest.fixture(autouse=True)
def fake_gpu(monkeypatch):
    monkeypatch.setattr(_farpoint, "cuda_sample", impostor)
    monkeypatch.setattr(_farpoint, "DeviceArray", Memory)


BATCH = np.stack([cloud(40, seed=s) for s in range(3)])


@pytest.mark.parametrize("options", [
    dict(count=7), dict(ratio=0.3), dict(spacing=0.4), dict(count=7, start=5), dict(count=7, seed=3),
    dict(count=7, start=[1, 2, 3]), dict(count=30, lengths=[40, 20, 0]), dict(count=0),
    dict(count=50, lengths=[40, 20, 0]), dict(count=50, lengths=[40, 20, 9], start=2),
    dict(ratio=0.5, lengths=[40, 20, 1]), dict(count=7, seed=3, lengths=[40, 20, 1]),
    dict(count=4, start=[[1, 2], [3, 4], [5, 6]]),
], ids=str)
def test_batches_and_options(options):
    found = farpoint.sample(Array(BATCH), **options)
    assert type(found) is Answer
    np.testing.assert_array_equal(found, farpoint.sample(BATCH, **options))


@pytest.mark.parametrize("points", [
    cloud(50), cloud(50, dtype=np.float64), cloud(50, 6)[::2, 1:4], np.asfortranarray(cloud(50)),
], ids=lambda p: f"{p.dtype}-{p.strides}")
def test_single_clouds(points):
    found = farpoint.sample(Array(points), 9, return_distances=True)
    wanted = farpoint.sample(points, 9, return_distances=True)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_allclose(found.distances, wanted.distances, rtol=1e-6)
    assert found.covering_radius == 2.0
    even = farpoint.sample(Array(points), spacing=0.3)
    np.testing.assert_array_equal(even, farpoint.sample(points, spacing=0.3))


def test_dlpack_alone(monkeypatch):
    class Capsule:
        def __init__(self, array):
            self.array, self.shape, self.dtype = array, array.shape, array.dtype

        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self, stream):
            assert stream == 1
            return self.array.__dlpack__()

    found = farpoint.sample(Capsule(cloud(50, 6)[:, ::2]), 9)
    assert type(found) is Memory  # nothing is known of this library
    np.testing.assert_array_equal(found.array, farpoint.sample(cloud(50, 6)[:, ::2], 9))


@pytest.mark.parametrize("points, options, kind, text", [
    (cloud(50), dict(count=51), ValueError, r"51 .* 50 .*\(50, 3\)"),
    (cloud(50), dict(count=5, start=50), ValueError, "start index 50"),
    (cloud(50), dict(count=5, start=[1, 1]), ValueError, "twice"),
    (cloud(50), dict(count=5, lengths=[1]), ValueError, "lengths"),
    (BATCH, dict(count=5, lengths=[1, 2, 41]), ValueError, r"\[1, 2, 41\]"),
    (BATCH.transpose(1, 0, 2), dict(count=2), ValueError, "contiguous"),
    (cloud(50).astype(int), dict(count=5), TypeError, "int64"),
    (cloud(50)[0], dict(count=1), ValueError, r"\(3,\)"),
    (cloud(50), dict(count=5, on_bad="skip"), ValueError, "skip"),
    (cloud(50), dict(ratio=2.0), ValueError, "2"),
])
def test_refused(points, options, kind, text):
    with pytest.raises(kind, match=text):
        farpoint.sample(Array(points), **options)


def test_bad_rows(monkeypatch):
    def look(source, counts, firsts):
        clouds, rows, dims = source.shape
        at(counts, (clouds,))[:] = [0, 2, 0]
        at(firsts, (clouds,))[:] = [-1, 7, -1]

    monkeypatch.setattr(_farpoint, "cuda_check", look)
    with pytest.raises(ValueError, match="cloud 1 of the batch: 2 of 40 rows .* row 7"):
        farpoint.check(Array(BATCH))
    assert _device.bad_rows(Array(BATCH))[0] == [0, 2, 0]
