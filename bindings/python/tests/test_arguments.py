"""Arguments out of range or of the wrong kind, arrays that change or are masked: what is said."""

import threading
import time

import numpy as np
import pytest
from conftest import cloud, reference

import farpoint

POINTS = cloud(50)


def approximate(points=POINTS, count=5, **options):
    return getattr(farpoint, "sample_" + options.pop("method", "random"))(points, count, **options)


def batch_of(points=POINTS, count=5, **options):
    return farpoint.sample(np.stack([points, points]), count, **options)


def pair(function):
    def call(points=POINTS, **options):
        return function(points, POINTS, **options)

    return pytest.param(call, id=function.__name__)


def judged(points=POINTS, **options):
    return farpoint.quality(points, [1, 2], **options)


def sampled(points=POINTS, count=5, **options):
    return farpoint.sample(points, count, **options)


def tensors(points=POINTS, count=5, **options):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return farpoint.sample(torch.from_numpy(points), count, **options)


COUNTING = [sampled, batch_of, approximate, tensors, lambda **o: farpoint.centroids(POINTS, **o)]
SEEDED = [sampled, batch_of, approximate, lambda **o: farpoint.order(POINTS, **o)]
THREADED = [
    sampled, batch_of, approximate, judged, tensors, lambda **o: farpoint.order(POINTS, **o),
    lambda **o: farpoint.centroids(POINTS, 5, **o),
    lambda **o: farpoint.quality(POINTS[None], [[1]], **o), pair(farpoint.nearest), pair(farpoint.chamfer),
]


@pytest.mark.parametrize("call", THREADED)
@pytest.mark.parametrize("threads", [0, -1, -2**70])
def test_threads_out_of_range(call, threads):
    with pytest.raises(ValueError, match=f"threads is {threads}; it must be 1 or more"):
        call(threads=threads)


@pytest.mark.parametrize("call", THREADED)
def test_threads_of_another_kind(call):
    for threads in (1.5, "two", [2]):
        with pytest.raises(TypeError, match="threads must be an integer, not "):
            call(threads=threads)
    with pytest.raises(ValueError, match=r"threads 36893488147419103232 is outside 1\.\."):
        call(threads=2**65)
    call(threads=np.int32(2))


@pytest.mark.parametrize("call", COUNTING)
def test_counts_out_of_range(call):
    with pytest.raises(ValueError, match="count is -1; it must be 0 or more"):
        call(count=-1)
    with pytest.raises(ValueError, match=r"count 18446744073709551616 is outside 0\.\."):
        call(count=2**64)
    with pytest.raises(TypeError, match="count must be an integer, not 2.5"):
        call(count=2.5)


def test_counts_that_no_memory_holds():
    """Padded clouds give what they have, in as many places as are asked for."""
    batch = np.stack([POINTS, POINTS])
    for count in (2**62, 2**58, 2**45):
        with pytest.raises(MemoryError, match="2 x [0-9]+ indices; request fewer samples"):
            farpoint.sample(batch, count, lengths=[50, 20])


@pytest.mark.parametrize("call", SEEDED)
def test_seeds_out_of_range(call):
    with pytest.raises(ValueError, match="seed is -1; it must be 0 or more"):
        call(seed=-1)
    with pytest.raises(ValueError, match=r"seed 18446744073709551616 is outside 0\.\."):
        call(seed=2**64)
    with pytest.raises(TypeError, match="seed must be an integer, not 0.5"):
        call(seed=0.5)
    call(seed=2**64 - 1)


def test_rows_beyond_64_bits():
    for start in (2**63, 2**64, 2**200, [1, 2**63], [1, 2**64]):
        with pytest.raises(ValueError, match="start has .*(beyond 64 bits|above)"):
            farpoint.sample(POINTS, 5, start=start)
        with pytest.raises(ValueError, match="indices has .*(beyond 64 bits|above)"):
            farpoint.quality(POINTS, [start] if isinstance(start, int) else start)
    with pytest.raises(ValueError, match="lengths has .*above"):
        farpoint.sample(POINTS[None], 5, lengths=[2**63])
    with pytest.raises(ValueError, match="columns is -1; it must be 1 or more"):
        farpoint.read("none.bin", columns=-1)


@pytest.mark.parametrize("algorithm", [None, 3, b"peak"])
def test_algorithms_that_are_no_names(algorithm):
    for call in (sampled, batch_of, lambda **o: farpoint.order(POINTS, **o)):
        with pytest.raises(TypeError, match="algorithm .*None|algorithm .*3|algorithm .*b'peak'"):
            call(algorithm=algorithm)


@pytest.mark.parametrize("call", [
    sampled, approximate, judged, lambda points: farpoint.check(points),
    lambda points: farpoint.centroids(points, 3), pair(farpoint.nearest), pair(farpoint.chamfer),
])
def test_what_is_no_array_is_named(call):
    for points, named in [
        (None, "not None"), ((row for row in POINTS), "not generator"), ("points", "not str"),
        ({1: 2}, "not dict"), ({1, 2}, "not set"), (3.5, "not float"), (object(), "not object"),
        (iter([[1.0]]), "not list_iterator"), ([[None, 1.0]], "not of objects"),
    ]:
        with pytest.raises(TypeError, match=f"must be an array of float32 or float64.*{named}"):
            call(points)
    with pytest.raises(ValueError, match="not an array of numbers"):
        call([[1.0, 2.0], [3.0]])


def test_articles():
    with pytest.raises(TypeError, match="start must be an array of integers"):
        farpoint.sample(POINTS, 5, start=1.5)
    with pytest.raises(TypeError, match="lengths must be a 1-D array of integers"):
        farpoint.sample(POINTS[None], 5, lengths=[1.5])


def test_norms():
    for norm in (0, 3, -1, 2**70, None, "2"):
        with pytest.raises(ValueError, match="norm is .*; it must be 1 or 2"):
            farpoint.nearest(POINTS, POINTS, norm=norm)


def test_a_tensor_beside_an_array():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for function in (farpoint.nearest, farpoint.chamfer):
        for x, y in [(torch.from_numpy(POINTS), POINTS), (POINTS, torch.from_numpy(POINTS))]:
            with pytest.raises(TypeError, match="of the same library.*torch.Tensor.*numpy.ndarray|"
                                                "of the same library.*numpy.ndarray.*torch.Tensor"):
                function(x, y)


def test_libraries_with_the_first_form_of_dlpack():
    """As Open3D's tensors: the device type is an enumeration, and there are no other arguments."""

    class Kind:
        value = 1

    class Tensor:
        def __init__(self, array):
            self.array, self.shape, self.dtype = array, array.shape, "Float32"

        def __dlpack_device__(self):
            return Kind(), 0

        def __dlpack__(self, stream=None):
            return self.array.__dlpack__()

    np.testing.assert_array_equal(farpoint.sample(Tensor(POINTS), 5), farpoint.sample(POINTS, 5))
    assert farpoint.quality(Tensor(POINTS), Tensor(np.array([1, 2]))) == judged()
    with pytest.raises(TypeError, match=r"Tensor of shape \(50, 3\).*can't be read by DLPack"):
        broken = Tensor(POINTS)
        broken.array = "nothing"
        broken.__class__.__dlpack__ = lambda self, **_: (_ for _ in ()).throw(BufferError("no"))
        farpoint.sample(broken, 5)


# ------------------------------------------------------------------------------ masked arrays


def masked(rows=(3, 7), dtype=np.float32):
    points = np.ma.masked_array(cloud(50, dtype=dtype), mask=np.zeros((50, 3), bool))
    points[rows, 1] = np.ma.masked
    return points


@pytest.mark.parametrize("call", [
    sampled, approximate, batch_of, judged, lambda points: farpoint.check(points),
    lambda points: farpoint.order(points), lambda points: farpoint.centroids(points, 3),
    pair(farpoint.nearest), pair(farpoint.chamfer),
])
def test_masked_values_are_refused(call):
    with pytest.raises(ValueError, match="2 of 50 rows hold NaN.*row 3"):
        call(masked() if call is not batch_of else Stackable(masked()))


def Stackable(points):
    return points.filled(np.nan)


def test_masked_rows_are_left_out():
    points = masked()
    good = np.setdiff1d(np.arange(50), [3, 7])
    expected = good[reference(points.data[good], 9)[0]]
    np.testing.assert_array_equal(farpoint.sample(points, 9, non_finite="skip"), expected)
    both = farpoint.sample(np.ma.stack([points, points]), 9, non_finite="skip")
    np.testing.assert_array_equal(both, [expected, expected])
    actual = approximate(points, 48, method="grid", non_finite="skip")
    assert sorted(actual.tolist()) == good.tolist()
    assert not np.isnan(points.data).any()  # the array itself is as before


def test_masked_arrays_without_masked_values():
    points = np.ma.masked_array(POINTS)
    np.testing.assert_array_equal(farpoint.sample(points, 9), farpoint.sample(POINTS, 9))
    whole = np.ma.masked_array(POINTS.astype(int), mask=np.ones((50, 3), bool))
    with pytest.raises(ValueError, match="NaN"):
        farpoint.sample(whole, 9)


def test_masked_numbers():
    rows = np.ma.masked_array([1, 2], mask=[False, True])
    for call, what in [
        (lambda: farpoint.sample(POINTS, 5, start=rows), "start"),
        (lambda: farpoint.quality(POINTS, rows), "indices"),
        (lambda: farpoint.sample(np.stack([POINTS] * 2), 5, lengths=rows), "lengths"),
    ]:
        with pytest.raises(ValueError, match=f"{what} has masked values; remove them"):
            call()


# -------------------------------------------------------------- arrays that others write to


def test_arrays_that_another_thread_writes_to():
    """Whatever is read: a result or an error in words, and neither a panic nor a crash."""
    good = cloud(20_000)
    points = good.copy()
    rows = np.arange(0, 20_000, 7)
    wide = np.zeros((20_000, 4), np.float32)  # read another way, since it is not dense
    done = threading.Event()

    def write():
        while not done.is_set():
            for value in (np.nan, np.inf):
                points[::3] = wide[::5, 1] = value
                points[...] = wide[:, :3] = good

    calls = [
        lambda p: farpoint.sample(p, 50), lambda p: farpoint.sample(p, 900, non_finite="skip"),
        lambda p: farpoint.order(p[:3000], non_finite="skip"),
        lambda p: farpoint.sample(p[:16_000].reshape(4, 4000, 3), 20, non_finite="skip", threads=2),
        lambda p: farpoint.quality(p, rows), lambda p: farpoint.check(p),
        lambda p: farpoint.centroids(p, 50, non_finite="skip"),
    ]
    calls += [
        lambda p, method=method: approximate(p, 900, method=method, non_finite="skip")
        for method in ("random", "grid")
    ]
    calls += [lambda p: farpoint.nearest(p, p), lambda p: farpoint.chamfer(p, good)]
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    refused = 0
    end = time.monotonic() + 4
    try:
        while time.monotonic() < end:
            for call in calls:
                for array in (points, wide[:, :3]):
                    try:
                        call(array)
                    except ValueError as error:
                        assert "NaN" in str(error) or "samples" in str(error), error
                        refused += 1
    finally:
        done.set()
        writer.join(30)
    assert refused > 0


# ---------------------------------------------------------------------- types of numbers

#: Every function that takes points.
OF_POINTS = {
    "sample": lambda p: farpoint.sample(p, 9, return_distances=True),
    "batch": lambda p: farpoint.sample(p[None], 9),
    "order": farpoint.order,
    "mask": lambda p: farpoint.sample(p, 9, mask=np.arange(len(p)) > 3),
    "sample_padded": lambda p: farpoint.sample_padded(p[None], [3]),
    "sample_ragged": lambda p: farpoint.sample_ragged(p, [0, 20, len(p)], [3, 4]),
    "sample_levels": lambda p: farpoint.sample_levels(p, [9, 4]).indices,
    "sample_random": lambda p: farpoint.sample_random(p, 9, seed=1),
    "sample_grid": lambda p: farpoint.sample_grid(p, 9),
    "centroids": lambda p: farpoint.centroids(p, cell=9.0),
    "quality": lambda p: farpoint.quality(p, [0, 1]),
    "check": farpoint.check,
    "nearest": lambda p: farpoint.nearest(p[:9], p),
    "nearest_both": lambda p: sum(farpoint.nearest_both(p[:9], p), ()),
    "chamfer": lambda p: farpoint.chamfer(p[:9], p, squared=False),
    "knn": lambda p: farpoint.knn(p, p, 3),
    "f_score": lambda p: farpoint.f_score(p[:9], p, 9.0),
    "ball_query": lambda p: farpoint.ball_query(p, p, 9.0, 3),
    "within": lambda p: farpoint.within(p, p, 9.0),
    "Index": lambda p: farpoint.Index(p).knn(p, 3),
}


def same(actual, expected):
    actual, expected = (part if isinstance(part, tuple) else (part,) for part in (actual, expected))
    for a, b in zip(actual, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", OF_POINTS)
def test_types_of_numbers_are_the_same_to_every_function(name):
    call, points = OF_POINTS[name], np.random.default_rng(4).integers(0, 50, (40, 3))
    single, double = call(points.astype(np.float32)), call(points.astype(np.float64))
    same(call(points.astype(np.float16)), single)  # whole numbers to 50 have room in it
    same(call(points.astype(">f2")), single)
    same(call(points.astype(">f4")), single)
    same(call(points.astype(">f8")), double)
    for integer in (np.int64, np.int32, np.uint8, ">i4"):
        same(call(points.astype(integer)), double)
    for other in (np.bool_, np.complex64, np.longdouble):
        if np.dtype(other) == np.float64:
            continue  # on Windows
        with pytest.raises(TypeError, match="float32, float64, float16 or integers; convert"):
            call(points.astype(other))
    with pytest.raises(ValueError, match="the points have integers that float64 does not hold exactly; subtract an origin"):
        call(points + (2**53 + 1))


ROWS = np.array([[0, -1, 7], [3, 3, 1]])

#: Every function that computes with values; weights and terms to add are of their type.
OF_VALUES = {
    "gather_max": lambda v: farpoint.gather_max(v, ROWS),
    "add": lambda v: farpoint.gather_max(v, ROWS, v[ROWS]),
    "interpolate": lambda v: farpoint.interpolate(v, ROWS, v[:2]),
    "inverse_distance_weights": lambda v: farpoint.inverse_distance_weights(v, squared=True),
}


@pytest.mark.parametrize("name", OF_VALUES)
def test_types_of_values_are_the_same_to_every_function(name):
    call, values = OF_VALUES[name], np.random.default_rng(4).integers(0, 30, (9, 3))
    single, double = call(values.astype(np.float32)), call(values.astype(np.float64))
    half = call(values.astype(np.float16))
    same(half, single if name == "inverse_distance_weights" else single.astype(np.float16))
    for kind, expected in (("f2", half), ("f4", single), ("f8", double)):
        same(call(values.astype(f">{kind}")), expected)
    for integer in (np.int64, np.int32, np.uint8, ">i4"):
        same(call(values.astype(integer)), double)
    if name in ("gather_max", "inverse_distance_weights"):
        same(call(values.tolist()), double)
    for other in (np.bool_, np.complex64):
        with pytest.raises(TypeError, match="must be float"):
            call(values.astype(other))
    with pytest.raises(ValueError, match="have integers that float64 does not hold exactly"):
        call(values + (2**53 + 1))


# ------------------------------------------------------------------- what distances are


def test_results_say_whether_distances_are_squared():
    squared, plain = farpoint.nearest(POINTS, POINTS), farpoint.nearest(POINTS, POINTS, squared=False)
    one = farpoint.nearest(POINTS, POINTS, norm=1)
    assert (squared.squared, plain.squared, one.squared) == (True, False, False)
    for result, says in ((squared, "squared=True)"), (plain, "squared=False)")):
        distances, indices = result
        assert len(result) == 2 and distances is result.distances and indices is result.indices
        assert repr(result).endswith(says) and repr(result).startswith("Nearest(")
    assert all(isinstance(result, farpoint.Nearest) for result in (squared, plain, one))
    batch = farpoint.nearest(POINTS[None], POINTS[None], squared=False)
    assert not batch.squared
    assert not farpoint.sample(POINTS, 5, return_distances=True).squared
    assert not farpoint.order(POINTS).squared
    assert not farpoint.quality(POINTS, [1]).squared


def test_integers_that_float64_does_not_hold_are_refused():
    points = np.array([[2**53 + 1], [0]])
    for wrong in (points, points.tolist(), -points, points.astype(np.uint64)):
        with pytest.raises(ValueError, match="integers that float64 does not hold exactly; subtract an origin"):
            farpoint.sample(wrong, 1)
    assert farpoint.sample(points - 1, 2).tolist() == [0, 1]


def test_weights_say_what_power_they_have():
    squared, plain = farpoint.knn(POINTS, POINTS, 3), farpoint.knn(POINTS, POINTS, 3, squared=False)
    result = farpoint.inverse_distance_weights(squared)
    np.testing.assert_array_equal(result, farpoint.inverse_distance_weights(squared.distances, squared=True))
    np.testing.assert_allclose(result, farpoint.inverse_distance_weights(plain), rtol=1e-5)
    first = farpoint.inverse_distance_weights(plain, 1)
    np.testing.assert_array_equal(first, farpoint.inverse_distance_weights(plain.distances, 1, squared=False))
    assert not np.array_equal(result, first)
    with pytest.raises(TypeError, match="pass squared=True or squared=False"):
        farpoint.inverse_distance_weights(squared.distances)
    with pytest.raises(ValueError, match="power=1 needs plain distances; search with squared=False"):
        farpoint.inverse_distance_weights(squared, 1)
    with pytest.raises(ValueError, match="squared is False, but the neighbors have squared=True"):
        farpoint.inverse_distance_weights(squared, squared=False)


def test_all_neighbors_have_a_function_of_their_own():
    for search in (farpoint.ball_query, lambda x, y, *rest: farpoint.Index(y).ball_query(x, *rest)):
        with pytest.raises(TypeError, match="for all neighbors in a ball call farpoint.within"):
            search(POINTS, POINTS, 0.3, None)


def test_results_of_several_neighbors_say_so_too():
    import pickle

    index = farpoint.Index(POINTS)
    searches = [
        lambda **options: farpoint.knn(POINTS, POINTS, 3, **options),
        lambda **options: farpoint.ball_query(POINTS, POINTS, 0.3, 4, **options),
        lambda **options: farpoint.within(POINTS, POINTS, 0.3, **options),
        lambda **options: farpoint.neighbors.ball_query_raw(POINTS, POINTS, 4, maximum=0.1, **options),
        lambda **options: index.knn(POINTS, 3, **options),
        lambda **options: index.within(POINTS, 0.3, **options),
    ]
    for search in searches:
        squared, plain, one = search(), search(squared=False), search(norm=1)
        assert (squared.squared, plain.squared, one.squared) == (True, False, False)
        np.testing.assert_array_equal(np.sqrt(squared.distances), plain.distances)
        for result in (squared, plain, one):
            assert isinstance(result, (farpoint.Neighbors, farpoint.BallNeighbors)) and len(result) == 3
            distances, indices, _ = result
            assert distances is result.distances and indices is result.indices
            text = repr(result)
            assert text.endswith(f"squared={result.squared})") and text.startswith(("Neighbors(d", "BallNeighbors(d"))
            copies = pickle.loads(pickle.dumps(result)), result._replace(indices=indices)
            assert [copy.squared for copy in copies] == [result.squared] * 2


# ------------------------------------------------------------------------- int32 of others


def test_int32_refuses_rows_that_it_does_not_reach(monkeypatch):
    """Tensors of such shapes without memory for them."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from farpoint.compat import chamfer_3d, mmcv, openpoints, pointnet2_ops

    def not_reached(*arguments, **options):
        raise AssertionError("it would have been sampled, and the indices cut")

    for name in (
        "_batch.knn", "_batch.neighbors_within", "_batch.sample", "_stack.sample_ragged",
        "pointops.sample_ragged", "chamfer_3d.nearest_both",
    ):
        monkeypatch.setattr(f"farpoint.compat.{name}", not_reached)
    small, large = torch.zeros(1, 5, 3), torch.zeros(1, 1, 1).expand(1, 2**31 + 1, 3)
    most = torch.zeros(1, 1, 1).expand(1, 2**31, 3)
    calls = [
        lambda xyz: pointnet2_ops.furthest_point_sample(xyz, 2),
        lambda xyz: pointnet2_ops.FurthestPointSampling.apply(xyz, 2),
        lambda xyz: pointnet2_ops.stack_farthest_point_sample(xyz[0], torch.tensor([5]), 2),
        lambda xyz: pointnet2_ops.farthest_point_sampling(xyz[0], torch.tensor([5]), torch.tensor([2])),
        lambda xyz: pointnet2_ops.ball_query(1.0, 2, xyz, small),
        lambda xyz: pointnet2_ops.three_nn(small, xyz),
        lambda xyz: mmcv.knn(2, xyz, small),
        lambda xyz: openpoints.KNN(2)(xyz, small),
        lambda xyz: chamfer_3d.chamfer_3DDist()(xyz, small),
        lambda xyz: chamfer_3d.chamfer_3DFunction.apply(small, xyz),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="int32, which do not reach all 2147483649 rows"):
            call(large)
        with pytest.raises(AssertionError, match="would have been sampled"):
            call(most)


def test_jax_refuses_rows_that_it_does_not_reach(monkeypatch):
    """A stand-in: JAX need not be installed, nor the memory be there."""
    import sys
    import types

    config = types.SimpleNamespace(jax_enable_x64=False)
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(config=config))

    class OnCpu:
        shape, dtype = (2**31 + 1, 3), np.dtype(np.float32)

        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **_):
            raise BufferError("it would have been read")

    class OnGpu(OnCpu):
        def __dlpack_device__(self):
            return 2, 0

    small = OnCpu()
    small.shape = (5, 3)
    for kind in (OnCpu, OnGpu):
        kind.__module__ = "jaxlib._jax"
        calls = [lambda: farpoint.sample(kind(), 5), lambda: farpoint.nearest(small, kind())]
        for call in calls:
            with pytest.raises(ValueError, match="int32.*2147483649 rows.*jax_enable_x64"):
                call()
    config.jax_enable_x64 = True
    with pytest.raises(TypeError, match="would have been read"):
        farpoint.sample(OnCpu(), 5)
