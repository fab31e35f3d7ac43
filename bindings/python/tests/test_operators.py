"""The point operators on NumPy arrays, bit by bit as the obvious loops give them."""

import functools

import numpy as np
import operators_reference as reference
import pytest
from conftest import in_ball

import farpoint
from farpoint import neighbors


def ties(shape, dtype, seed=1):
    """Clouds most of whose points are equally far from each other, and many in one place."""
    return (np.random.default_rng(seed).integers(0, 5, shape) / 4).astype(dtype)


def same(actual, expected):
    """Types, shapes and bits."""
    actual, expected = (part if isinstance(part, tuple) else (part,) for part in (actual, expected))
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected):
        a = np.asarray(a)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()


@pytest.fixture(params=[np.float32, np.float64], ids=["f4", "f8"])
def dtype(request):
    return request.param


LENGTHS = {"x_lengths": [40, 3, 7], "y_lengths": [1, 50, 9]}
OFFSETS = {"x_offsets": [0, 10, 10, 40], "y_offsets": [0, 20, 49, 50]}


def batch(dtype, d=3):
    return ties((3, 40, d), dtype), ties((3, 50, d), dtype, 2)


@pytest.mark.parametrize("k", [1, 5, 60])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_knn(dtype, k, d):
    x, y = batch(dtype, d)
    same(farpoint.knn(x, y, k), reference.knn(x, y, k))
    same(farpoint.knn(x, y, k, **LENGTHS), reference.knn(x, y, k, **LENGTHS))
    for norm, squared in ((1, True), (2, False)):
        options = {"norm": norm, "squared": squared}
        same(farpoint.knn(x[0], y[0], k, **options), reference.knn(x[0], y[0], k, **options))


@pytest.mark.parametrize("index_dtype", ["int32", np.int32, np.dtype("int32"), "int64", None])
def test_knn_of_clouds_one_after_another(dtype, index_dtype):
    x, y = (part[0] for part in batch(dtype))
    result = farpoint.knn(x, y, 4, index_dtype=index_dtype, **OFFSETS)
    same(result, reference.knn(x, y, 4, index_dtype=index_dtype, **OFFSETS))
    assert result.counts.dtype == result.indices.dtype


def test_a_cloud_in_itself(dtype):
    x = ties((60, 3), dtype)
    for exclude_self in (False, True):
        expected = reference.knn(x, x, 3, exclude_self=exclude_self)
        same(farpoint.knn(x, x, 3, exclude_self=exclude_self), expected)
        expected = reference.ball_query(x, x, 0.5, 4, exclude_self=exclude_self)
        same(farpoint.ball_query(x, x, 0.5, 4, exclude_self=exclude_self), expected)


BALLS = [
    {}, {"order": "nearest"}, {"inclusive": True}, {"min_radius": 0.25}, {"norm": 1},
    {"min_radius": 0.25, "order": "nearest", "inclusive": True, "squared": False},
]


@pytest.mark.parametrize("options", BALLS)
@pytest.mark.parametrize("k", [1, 4, 60, None])
def test_ball_query(dtype, options, k):
    x, y = batch(dtype)
    for radius in (0.0, 0.5, 0.7, np.inf):
        for more in ({}, LENGTHS):
            result = in_ball(x, y, radius, k, **options, **more)
            same(result, reference.ball_query(x, y, radius, k, **options, **more))
        result = in_ball(x[0], y[0], radius, k, **options, **OFFSETS)
        same(result, reference.ball_query(x[0], y[0], radius, k, **options, **OFFSETS))


@pytest.mark.parametrize("k", [3, None])
def test_ball_query_by_raw_limits(dtype, k):
    x, y = batch(dtype)
    for inclusive in (False, True):
        for least, near in ((0.0, 0.0), (0.2, 0.0), (0.2, 0.0625)):
            limits = {"maximum": 0.25, "minimum": least, "near": near, "inclusive": inclusive}
            result = neighbors.ball_query_raw(x, y, k, **limits)
            same(result, reference.ball_query_raw(x, y, k, **limits))


def test_large_clouds_are_searched_through_trees(dtype):
    rng = np.random.default_rng(3)
    x, y = rng.random((300, 3)).astype(dtype), rng.random((4000, 3)).astype(dtype)
    for threads in (1, 3):
        same(farpoint.knn(x, y, 16, threads=threads), reference.knn(x, y, 16))
        for k in (8, None):
            result = in_ball(x, y, 0.1, k, threads=threads)
            same(result, reference.ball_query(x, y, 0.1, k))


def test_strides_and_lists():
    x, y = batch(np.float64)
    expected = reference.knn(x[0], y[0], 3)
    same(farpoint.knn(np.asfortranarray(x[0]), y[0][::-1][::-1], 3), expected)
    same(farpoint.knn(x[0].tolist(), y[0].tolist(), 3), expected)


def test_nothing_asks_for_nothing():
    result = farpoint.knn(np.zeros((0, 3)), np.zeros((4, 3)), 2)
    assert result.indices.shape == (0, 2) and result.counts.shape == (0,)
    result = farpoint.knn(np.zeros((0, 5, 3)), np.zeros((0, 4, 3)), 2)
    assert result.distances.shape == (0, 5, 2)
    offsets = {"x_offsets": [0, 0, 2], "y_offsets": [0, 0, 3]}
    result = farpoint.knn(np.zeros((2, 3)), np.zeros((3, 3)), 1, **offsets)
    assert result.indices.tolist() == [[0], [0]]
    assert farpoint.within(np.zeros((0, 3)), np.zeros((4, 3)), 1.0).offsets.tolist() == [0]


# --------------------------------------------------------------------------------------- values


def rows_of(rng, shape, rows, dtype=np.int64):
    """Indices, some of which name no row."""
    return rng.integers(-1, rows, shape).astype(dtype)


KINDS = [np.float32, np.float64, np.float16]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index_type", [np.int64, np.int32])
@pytest.mark.parametrize("channels", [1, 5, 70])
def test_gather(kind, index_type, channels):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(2, 11, channels)).astype(kind)
    for shape in ((2, 7), (2, 7, 3)):
        indices = rows_of(rng, shape, 11, index_type)
        same(farpoint.gather(values, indices), reference.gather(values, indices))
        same(farpoint.gather(values[0], indices[0]), reference.gather(values[0], indices[0]))


@pytest.mark.parametrize("kind", KINDS)
def test_gather_max(kind):
    rng = np.random.default_rng(6)
    values = ties((2, 11, 6), kind)
    values[0, 3, 2] = np.nan
    indices = rows_of(rng, (2, 7, 4), 11)
    indices[1, 2] = -1
    add = ties((2, 7, 4, 6), kind)
    for more in (None, add):
        expected = reference.gather_max(values, indices, more)
        same(farpoint.gather_max(values, indices, more), expected)
    same(farpoint.gather_max(values[1], indices[1]), reference.gather_max(values[1], indices[1]))


@pytest.mark.parametrize("kind", KINDS)
def test_interpolate(kind):
    rng = np.random.default_rng(7)
    values = rng.normal(size=(2, 11, 6)).astype(kind)
    indices = rows_of(rng, (2, 9, 3), 11)
    weights = rng.random((2, 9, 3)).astype(np.float32 if kind == np.float16 else kind)
    expected = reference.interpolate(values, indices, weights)
    same(farpoint.interpolate(values, indices, weights), expected)


@pytest.mark.parametrize("power", [1, 2])
def test_inverse_distance_weights(dtype, power):
    distances = np.random.default_rng(8).random((2, 9, 3)).astype(dtype)
    distances[0, 1, 2] = distances[1, 3] = np.inf
    distances[0, 2, 0] = 0
    expected = reference.inverse_distance_weights(distances, power)
    same(farpoint.inverse_distance_weights(distances, power, squared=False), expected)
    assert (expected[1, 3] == 0).all()


def test_features_of_a_cloud_on_another():
    """What a network does: three neighbors, weights, interpolation."""
    rng = np.random.default_rng(9)
    x, y, values = (rng.random(shape).astype(np.float32) for shape in ((50, 3), (20, 3), (20, 8)))
    outcome = farpoint.knn(x, y, 3)
    weights = farpoint.inverse_distance_weights(outcome)
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-6)
    result = farpoint.interpolate(values, outcome.indices, weights)
    plain = (values[outcome.indices] * weights[..., None]).sum(1)
    np.testing.assert_allclose(result, plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.int16, np.bool_, ">i4"], ids=str)
def test_gather_of_whole_numbers(kind):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 200, (2, 30, 4)).astype(kind)
    for shape in ((2, 9), (2, 9, 5)):
        indices = rng.integers(-1, 30, shape)
        actual = farpoint.gather(values, indices)
        expected = np.zeros((*shape, 4), np.dtype(kind).newbyteorder("="))
        for place in np.ndindex(shape):
            if indices[place] >= 0:
                expected[place] = values[place[0], indices[place]]
        same(actual, expected)
        same(farpoint.gather(values[1], indices[1].astype(np.int32)), expected[1])
    same(farpoint.gather(values[0, :0], np.array([-1, -1])), np.zeros((2, 4), expected.dtype))


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.bool_], ids=str)
def test_gather_of_a_number_for_each_row(kind):
    values = (np.arange(10) * 7 % 10).astype(kind)
    indices = np.array([[3, -1, 9], [0, 0, 5]])
    expected = np.where(indices < 0, kind(0), values[indices])
    same(farpoint.gather(values, indices), expected)
    same(farpoint.gather(values[::2], indices[1, :2]), values[::2][indices[1, :2]])


def test_order_of_bytes_of_values():
    values, indices = ties((30, 4), np.float64), np.array([[1, -1, 7]])
    weights, swapped = ties((1, 3), np.float64, 2), values.astype(">f8")
    same(farpoint.gather(swapped, indices.astype(">i8")), farpoint.gather(values, indices))
    added = ties((1, 3, 4), np.float64, 3)
    same(farpoint.gather_max(swapped, indices, added.astype(">f8")), farpoint.gather_max(values, indices, added))
    same(farpoint.interpolate(swapped, indices, weights.astype(">f8")), farpoint.interpolate(values, indices, weights))
    weigh = functools.partial(farpoint.inverse_distance_weights, squared=True)
    same(weigh(weights.astype(">f8")), weigh(weights))


# ---------------------------------------------------------------------------------------- Index


def test_index(dtype):
    rng = np.random.default_rng(10)
    x, y = rng.random((2, 40, 3)).astype(dtype), rng.random((2, 900, 3)).astype(dtype)
    index = farpoint.Index(y)
    for _ in range(2):
        same(index.knn(x, 4), reference.knn(x, y, 4))
        same(index.knn(y, 4, exclude_self=True), reference.knn(y, y, 4, exclude_self=True))
        options = {"order": "nearest", "min_radius": 0.05, "index_dtype": "int32"}
        for k in (5, None):
            actual = in_ball(x, index, 0.2, k, **options)
            same(actual, reference.ball_query(x, y, 0.2, k, **options))
    for squared, norm in ((True, 2), (False, 2), (True, 1)):
        actual = index.nearest(x, squared=squared, norm=norm)
        expected = farpoint.nearest(x, y, squared=squared, norm=norm)
        assert type(actual) is type(expected)
        same(actual, expected)


def test_index_of_lengths_and_offsets(dtype):
    x, y = batch(dtype)
    index = farpoint.Index(y, y_lengths=[50, 2, 7], threads=2)
    lengths = {"x_lengths": [40, 1, 2], "y_lengths": [50, 2, 7]}
    same(index.knn(x, 4, x_lengths=[40, 1, 2]), reference.knn(x, y, 4, **lengths))
    own = {"x_lengths": [50, 2, 7], "y_lengths": [50, 2, 7]}
    same(index.knn(index.y, 4), reference.knn(y, y, 4, **own))
    index = farpoint.Index(y[0], y_offsets=OFFSETS["y_offsets"])
    result = index.knn(x[0], 4, x_offsets=OFFSETS["x_offsets"])
    same(result, reference.knn(x[0], y[0], 4, **OFFSETS))


def test_an_index_is_pickled_and_copied(dtype):
    import copy
    import pickle

    y, x = ties((3, 50, 3), dtype, 2), ties((3, 40, 3), dtype)
    ends = {"y_offsets": OFFSETS["y_offsets"]}
    for cloud, other, kept, requested in (
        (y[0], x[0], {}, {}), (y, x, {"y_lengths": [50, 2, 7]}, {}),
        (y[0], x[0], ends, {"x_offsets": OFFSETS["x_offsets"]}),
    ):
        index = farpoint.Index(cloud, threads=2, **kept)
        expected = index.knn(other, 4, **requested)
        shared = copy.copy(index)
        assert shared.y is index.y and shared._tree is index._tree
        for again in (pickle.loads(pickle.dumps(index)), copy.deepcopy(index), shared):
            assert type(again) is farpoint.Index
            same(again.knn(other, 4, **requested), expected)
            same(again.knn(again.y, 4), index.knn(index.y, 4))
        apart = copy.deepcopy(index)
        apart.y[:] = 0  # memory of its own
        same(index.knn(other, 4, **requested), expected)


def test_an_index_says_what_it_is_of():
    y = np.zeros((2, 50, 3), np.float32)
    about = "numpy.ndarray of shape (2, 50, 3) and type float32"
    assert repr(farpoint.Index(y)) == f"farpoint.Index({about})"
    assert repr(farpoint.Index(y, y_lengths=[50, 7])) == f"farpoint.Index({about}, with lengths)"
    ragged = farpoint.Index(y[0], y_offsets=[0, 50])
    assert repr(ragged) == "farpoint.Index(numpy.ndarray of shape (50, 3) and type float32, with offsets)"
