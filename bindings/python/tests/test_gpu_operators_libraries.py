"""On a GPU: the point operators on arrays of CuPy, JAX and of libraries that know DLPack or the CUDA array interface
only."""

import numpy as np
import pytest
from conftest import needs_gpu

import farpoint
from farpoint import _native

pytestmark = needs_gpu


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy", reason="CuPy is not installed")


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax", reason="JAX is not installed")


def spread(shape, seed=1, dtype=np.float32):
    return np.random.default_rng(seed).random(shape).astype(dtype)


def same(actual, expected, kind=None):
    """Library, types and bits."""
    pairs = zip(actual, expected, strict=True) if isinstance(expected, tuple) else [(actual, expected)]
    for a, b in pairs:
        assert kind is None or isinstance(a, kind)
        a = a.get() if hasattr(a, "get") else np.asarray(a)
        assert a.dtype.kind == b.dtype.kind and a.shape == b.shape
        np.testing.assert_array_equal(a, b)


SEARCHES = [
    (farpoint.knn, {"k": 5}), (farpoint.knn, {"k": 5, "squared": False, "index_dtype": "int32"}),
    (farpoint.ball_query, {"radius": 0.2, "k": 7}), (farpoint.within, {"radius": 0.2}),
    (farpoint.within, {"radius": 0.2, "order": "nearest"}),
]


@pytest.mark.parametrize("function, options", SEARCHES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_searches_of_cupy(cupy, function, options, dtype):
    x, y = spread((2, 300, 3), 1, dtype), spread((2, 2000, 3), 2, dtype)
    a, b = cupy.asarray(x), cupy.asarray(y)
    lengths = {"x_lengths": [300, 4], "y_lengths": [2000, 30]}
    ends = {"x_offsets": [0, 100, 300], "y_offsets": [0, 900, 2000]}
    same(function(a, b, **options), function(x, y, **options), cupy.ndarray)
    same(function(a, b, **options, **lengths), function(x, y, **options, **lengths))
    same(function(a[0], b[0], **options, **ends), function(x[0], y[0], **options, **ends))
    assert function(a, b, **options).indices.dtype == options.get("index_dtype", "int64")


def test_index_of_cupy(cupy):
    x, y = spread((300, 3)), spread((6000, 3), 2)
    index = farpoint.Index(cupy.asarray(y))
    same(index.knn(cupy.asarray(x), 4), farpoint.knn(x, y, 4), cupy.ndarray)
    same(index.knn(index.y, 4, exclude_self=True), farpoint.knn(y, y, 4, exclude_self=True))
    same(index.nearest(cupy.asarray(x)), farpoint.nearest(x, y))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_values_of_cupy(cupy, kind):
    values, add = spread((2, 90, 12), 1, kind), spread((2, 40, 6, 12), 2, kind)
    indices = np.random.default_rng(3).integers(-1, 90, (2, 40, 6))
    weights = spread((2, 40, 6), 4, np.float32 if kind == np.float16 else kind)
    v, a, i, w = (cupy.asarray(part) for part in (values, add, indices, weights))
    same(farpoint.gather(v, i), farpoint.gather(values, indices), cupy.ndarray)
    same(farpoint.gather(v[0], i[0].astype(np.int32)), farpoint.gather(values[0], indices[0]))
    same(farpoint.gather_max(v, i), farpoint.gather_max(values, indices))
    same(farpoint.gather_max(v, i, a), farpoint.gather_max(values, indices, add))
    same(farpoint.interpolate(v, i, w), farpoint.interpolate(values, indices, weights))
    same(farpoint.inverse_distance_weights(w, squared=True), farpoint.inverse_distance_weights(weights, squared=True))
    farpoint.operators.check_indices(i, 90)
    with pytest.raises(IndexError, match="of the indices are neither"):
        farpoint.operators.check_indices(i, 50)
    with pytest.raises(ValueError, match="contiguous copy"):
        farpoint.gather(v[:, ::2], i)
    with pytest.raises(TypeError, match="same library"):
        farpoint.gather(v, indices)


def test_jax(jax):
    x, y, values = spread((300, 3)), spread((2000, 3), 2), spread((2000, 8), 3)
    a, b, v = (jax.numpy.asarray(part) for part in (x, y, values))
    actual, expected = farpoint.knn(a, b, 3), farpoint.knn(x, y, 3)
    same(actual, expected, jax.Array)
    weights = farpoint.inverse_distance_weights(actual)
    same(weights, farpoint.inverse_distance_weights(expected))
    result = farpoint.interpolate(v, actual.indices, weights)
    same(result, farpoint.interpolate(values, expected.indices, np.asarray(weights)), jax.Array)
    same(farpoint.gather_max(v, actual.indices), farpoint.gather_max(values, expected.indices))
    same(farpoint.within(a, b, 0.1), farpoint.within(x, y, 0.1))
    same(farpoint.Index(b).knn(a, 3), expected)


class Interface:
    """An array of a library that is not known by name."""

    def __init__(self, array, stream=1):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": stream}


def test_libraries_that_are_not_known(cupy):
    x, y = spread((300, 3)), spread((2000, 3), 2)
    a, b = cupy.asarray(x), cupy.asarray(y)
    cupy.cuda.Device().synchronize()
    result = farpoint.knn(Interface(a), Interface(b), 3, index_dtype="int32")
    assert isinstance(result.indices, _native.DeviceArray) and result.indices.dtype == "int32"
    same([cupy.asarray(part) for part in result], farpoint.knn(x, y, 3, index_dtype="int32"))
    values, indices = a.astype(np.float16), cupy.asarray(np.arange(12).reshape(4, 3))
    cupy.cuda.Device().synchronize()
    taken = farpoint.gather(Interface(values), Interface(indices))
    same(cupy.asarray(taken), farpoint.gather(values.get(), indices.get()))
