"""Arrays of other libraries on the CPU: the same library comes back."""

import numpy as np
import pytest
from conftest import cloud

import farpoint
from farpoint import _native
from farpoint._arrays import conversion


def test_jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with jax.default_device(jax.devices("cpu")[0]):
        points = jax.numpy.asarray(cloud())
        actual = farpoint.sample(points, 20, return_distances=True)
        expected = farpoint.sample(cloud(), 20, return_distances=True)
        assert isinstance(actual.indices, jax.Array) and isinstance(actual.distances, jax.Array)
        assert actual.indices.device == points.device
        np.testing.assert_array_equal(actual.indices, expected.indices)
        np.testing.assert_array_equal(actual.distances, expected.distances)
        np.testing.assert_array_equal(points[actual.indices], cloud()[expected.indices])
        lattice = jax.numpy.arange(15).reshape(5, 3)  # integers are converted without loss
        np.testing.assert_array_equal(farpoint.sample(lattice, 3), farpoint.sample(np.asarray(lattice), 3))


def test_jax_chamfer():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with jax.default_device(jax.devices("cpu")[0]):
        x, y = (jax.numpy.asarray(cloud(seed=s)) for s in (1, 2))
        assert farpoint.chamfer(x, y) == farpoint.chamfer(cloud(), cloud(seed=2))
        assert isinstance(farpoint.nearest(x, y).indices, jax.Array)


def test_jax_is_read_in_place():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with jax.default_device(jax.devices("cpu")[0]):
        points = jax.numpy.asarray(cloud())
        points.block_until_ready()
        assert _native.address(conversion.to_numpy(points)) == points.unsafe_buffer_pointer()


def test_array_api():
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    points = strict.asarray(cloud())
    result = farpoint.sample(points, 20)
    assert type(result) is type(points)
    np.testing.assert_array_equal(np.asarray(result), farpoint.sample(cloud(), 20))


def test_dlpack_capsules_are_understood():
    points = cloud(50, 6)[:, ::2]
    taken = _native.Imported(points.__dlpack__())
    assert taken.device == (1, 0) and taken.kind == (2, 32, 1)
    assert taken.shape == [50, 3] and taken.strides == [6, 2]
    assert taken.address == points.__array_interface__["data"][0]
    capsule = points.__dlpack__()
    _native.Imported(capsule)
    with pytest.raises(TypeError, match="unused"):
        _native.Imported(capsule)


def test_devices_that_nobody_reads():
    class Elsewhere:
        shape, dtype = (5, 3), "float32"

        def __dlpack_device__(self):
            return 10, 0  # ROCm

        def __dlpack__(self, **options):
            raise AssertionError("not asked for")

    with pytest.raises(TypeError, match=r"type 10.*NVIDIA"):
        farpoint.sample(Elsewhere(), 1)


def test_gpu_arrays_without_a_gpu():
    if _native.cuda_obstacle() is None:
        pytest.skip("there is a GPU")

    class Elsewhere:
        __cuda_array_interface__ = {
            "shape": (5, 3), "typestr": "<f4", "data": (1 << 20, False), "version": 3,
        }

    with pytest.raises(farpoint.CudaUnavailable):
        farpoint.sample(Elsewhere(), 1)
    with pytest.raises(farpoint.CudaUnavailable):
        farpoint.check(Elsewhere())
