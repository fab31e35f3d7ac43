"""Sampling NumPy arrays: what is chosen, from what, and what is refused."""

import re
import threading
import time

import numpy as np
import pytest
from conftest import cloud, grid, reference

import farpoint
from farpoint import _native

CLOUDS = [
    cloud(), cloud(dtype=np.float64), cloud(d=1), cloud(d=2), cloud(d=7), grid(), grid(4, np.float64),
    np.zeros((50, 3), np.float32), cloud(1),
]


@pytest.mark.parametrize("points", CLOUDS, ids=lambda p: f"{p.shape}-{p.dtype}")
def test_indices_are_those_of_the_obvious_loop(points):
    count = min(len(points), 80)
    expected, distances = reference(points, count)
    actual = farpoint.sample(points, count, return_distances=True)
    assert actual.indices.dtype == np.int64
    np.testing.assert_array_equal(actual.indices, expected)
    np.testing.assert_array_equal(actual.distances, distances)
    assert actual.distances.dtype == points.dtype
    for algorithm in ("reference", "naive", "radius", "tree", "peak"):
        np.testing.assert_array_equal(farpoint.sample(points, count, algorithm=algorithm), expected)
    np.testing.assert_array_equal(farpoint.sample(points, count, threads=2), expected)


def test_amounts():
    points = cloud(100)
    assert farpoint.sample(points, np.int64(3)).shape == (3,)
    assert farpoint.sample(points, 0).shape == (0,)
    assert farpoint.sample(points, ratio=0.241).shape == (25,)
    result = farpoint.sample(points, spacing=0.3, return_distances=True)
    assert result.covering_radius <= 0.3
    assert (result.distances[1:] > 0.3).all()
    np.testing.assert_array_equal(result.indices, reference(points, len(result.indices))[0])


def test_starts():
    points = cloud(100)
    np.testing.assert_array_equal(farpoint.sample(points, 9, start=5), reference(points, 9, (5,))[0])
    several = farpoint.sample(points, 9, start=[7, 3])
    np.testing.assert_array_equal(several, reference(points, 9, (7, 3))[0])
    seeded = farpoint.sample(points, 9, seed=11)
    first = _native.random_start(11, 100)
    np.testing.assert_array_equal(seeded, farpoint.sample(points, 9, start=first))
    assert len({int(farpoint.sample(points, 1, seed=s)[0]) for s in range(20)}) > 5


def test_each_cloud_of_a_batch_draws_its_own_start():
    batch = np.stack([cloud(200)] * 12)
    for seed in (0, 11, 2**64 - 1):
        for options in ({}, dict(lengths=[200, 9] * 6), dict(non_finite="skip"), dict(mask=np.ones((12, 200), bool))):
            result = farpoint.sample(batch, 9, seed=seed, **options)
            np.testing.assert_array_equal(result[0], farpoint.sample(batch[0], 9, seed=seed))
            rows = options.get("lengths", [200] * 12)
            starts = [_native.random_start(_native.cloud_seed(seed, k), n) for k, n in enumerate(rows)]
            assert result[:, 0].tolist() == starts and len(set(starts)) > 6
            for one, first, n in zip(result, starts, rows):
                np.testing.assert_array_equal(one, farpoint.sample(batch[0][:n], 9, start=first))
        np.testing.assert_array_equal(
            farpoint.order(batch, seed=seed).indices[:, :9], farpoint.sample(batch, 9, seed=seed))


def test_batches_are_clouds_one_by_one():
    batch = np.stack([cloud(200, seed=s) for s in range(4)])
    result = farpoint.sample(batch, 30, return_distances=True)
    assert result.indices.shape == result.distances.shape == (4, 30)
    for one, indices, distances, radius in zip(batch, *result):
        alone = farpoint.sample(one, 30, return_distances=True)
        np.testing.assert_array_equal(indices, alone.indices)
        np.testing.assert_array_equal(distances, alone.distances)
        assert radius == alone.covering_radius
    each = farpoint.sample(batch, 5, start=[1, 2, 3, 4])
    np.testing.assert_array_equal(each[:, 0], [1, 2, 3, 4])
    many = farpoint.sample(batch, 5, start=[[1, 2], [3, 4], [5, 6], [7, 8]])
    np.testing.assert_array_equal(many[:, :2], [[1, 2], [3, 4], [5, 6], [7, 8]])
    assert farpoint.sample(np.empty((0, 5, 3)), 2).shape == (0, 2)


def test_lengths_leave_padding_out():
    batch = np.stack([cloud(50, seed=s) for s in range(3)])
    batch[1, 20:] = np.nan  # padding is not looked at
    result = farpoint.sample(batch, 30, lengths=[50, 20, 0], return_distances=True)
    np.testing.assert_array_equal(result.indices[0], reference(batch[0], 30)[0])
    np.testing.assert_array_equal(result.indices[1, :20], reference(batch[1, :20], 20)[0])
    assert (result.indices[1, 20:] == -1).all() and (result.indices[2] == -1).all()
    assert (result.distances[2] == 0).all()
    half = farpoint.sample(batch, ratio=0.5, lengths=[50, 20, 1])
    assert half.shape == (3, 25)
    np.testing.assert_array_equal((half >= 0).sum(axis=1), [25, 10, 1])


def test_order_is_the_whole_cloud():
    points = cloud(100)
    order = farpoint.order(points)
    expected, distances = reference(points, 100)
    np.testing.assert_array_equal(order.indices, expected)
    np.testing.assert_array_equal(order.spacings, distances)
    assert farpoint.order(np.stack([points, points])).indices.shape == (2, 100)


@pytest.mark.parametrize("cut", [
    lambda a: a[::2], lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: np.asfortranarray(a),
    lambda a: a[5:200, 1:4], lambda a: np.broadcast_to(a[:1], (50, 6)),
], ids=["every second", "reversed", "mirrored", "by column", "a window", "no stride"])
def test_any_strides_are_read_in_place(cut):
    whole = cloud(400, 6)
    view = cut(whole)
    assert _native.address(view) == view.__array_interface__["data"][0]
    result = farpoint.sample(view, 20)
    np.testing.assert_array_equal(result, reference(np.ascontiguousarray(view), 20)[0])


def test_records_are_read_in_place():
    records = np.zeros(100, [("flag", "u1"), ("xyz", "f4", 3)])  # 13 bytes a row: not aligned
    records["xyz"] = cloud(100)
    assert _native.address(records["xyz"]) == records.__array_interface__["data"][0] + 1
    result = farpoint.sample(records["xyz"], 20)
    np.testing.assert_array_equal(result, farpoint.sample(cloud(100), 20))


def test_batches_with_gaps():
    whole = cloud(6 * 40, 6).reshape(6, 40, 6)
    for view in (whole[::2, 3:30, :3], whole.transpose(0, 2, 1)[:, :, :5]):
        result = farpoint.sample(view, 4)
        np.testing.assert_array_equal(result, farpoint.sample(np.ascontiguousarray(view), 4))


def test_out_is_written_to():
    points, out = cloud(100), np.empty(9, np.int64)
    assert farpoint.sample(points, 9, out=out) is out
    np.testing.assert_array_equal(out, farpoint.sample(points, 9))
    wide = np.zeros((2, 18), np.int64)
    farpoint.sample(np.stack([points, points]), 9, out=wide[:, ::2])
    np.testing.assert_array_equal(wide[0, ::2], out)
    assert (wide[:, 1::2] == 0).all()
    for bad, kind in [(np.empty(8, np.int64), ValueError), (np.empty(9, np.int32), TypeError),
                      ([0] * 9, TypeError)]:
        with pytest.raises(kind, match=r"\(9,\)"):
            farpoint.sample(points, 9, out=bad)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="written"):
        farpoint.sample(points, 9, out=out)


def test_non_finite_rows():
    points = cloud(100)
    points[[0, 40]] = [[np.nan], [np.inf]]
    with pytest.raises(ValueError, match=r"2 of 100 rows .* row 0.*\(100, 3\), float32"):
        farpoint.sample(points, 9)
    with pytest.raises(ValueError, match="2 of 100 rows .* row 0"):
        farpoint.check(points)
    with pytest.raises(ValueError, match="cloud 1 of the batch: 2 of 100"):
        farpoint.check(np.stack([cloud(100), points]))
    assert farpoint.check(cloud(100)) is None
    good = np.setdiff1d(np.arange(100), [0, 40])
    result = farpoint.sample(points, 9, non_finite="skip")
    np.testing.assert_array_equal(result, good[reference(points[good], 9)[0]])
    assert len(farpoint.order(points, non_finite="skip").indices) == 98


@pytest.mark.parametrize("arguments, kind, text", [
    (dict(count=101), ValueError, r"101 .* 100 .*\(100, 3\), float32"),
    (dict(count=-1), ValueError, "-1"),
    (dict(count=2.5), TypeError, "integer"),
    (dict(), ValueError, "one of count, ratio and spacing"),
    (dict(count=1, ratio=0.1), ValueError, "one of count, ratio and spacing"),
    (dict(ratio=1.5), ValueError, r"1\.5"),
    (dict(spacing=-1.0), ValueError, "-1"),
    (dict(count=5, start=100), ValueError, "100"),
    (dict(count=5, start=-1), ValueError, "-1"),
    (dict(count=5, start=[1, 1]), ValueError, "index 1 is given twice"),
    (dict(count=5, start=1.5), TypeError, "start"),
    (dict(count=5, start=1, seed=1), ValueError, "not both"),
    (dict(count=5, lengths=[3]), ValueError, "lengths"),
    (dict(count=5, algorithm="fast"), ValueError, "fast.*peak"),
    (dict(count=5, threads=0), ValueError, "threads is 0"),
    (dict(count=5, non_finite="keep"), ValueError, "keep"),
])
def test_refused_arguments(arguments, kind, text):
    with pytest.raises(kind, match=text):
        farpoint.sample(cloud(100), **arguments)


@pytest.mark.parametrize("points, kind, text", [
    (np.zeros((5, 3), bool), TypeError, r"float32, float64, float16 or integers; convert .*\(5, 3\).* bool"),
    (np.zeros((5, 3), ">c8"), TypeError, "float32, float64.*>c8"),
    (np.zeros(5), ValueError, r"\(5,\)"),
    (np.zeros((2, 2, 2, 2)), ValueError, r"\(2, 2, 2, 2\)"),
    (np.zeros((5, 0)), ValueError, r"\(5, 0\)"),
    (np.zeros((0, 3)), ValueError, "no usable point"),
    ("points", TypeError, "float32 or float64"),
    (None, TypeError, "float32 or float64"),
])
def test_refused_points(points, kind, text):
    with pytest.raises(kind, match=text):
        farpoint.sample(points, 1)


def test_batches_name_the_cloud_at_fault():
    batch = np.stack([cloud(20), cloud(20)])
    with pytest.raises(ValueError, match=r"cloud 1 of the batch: start index 20"):
        farpoint.sample(batch, 5, start=[0, 20])
    with pytest.raises(ValueError, match="length 21 of cloud 1"):
        farpoint.sample(batch, 5, lengths=[1, 21])
    with pytest.raises(ValueError, match="3 lengths for 2 clouds"):
        farpoint.sample(batch, 5, lengths=[1, 2, 3])
    with pytest.raises(ValueError, match="below 0"):
        farpoint.sample(batch, 5, lengths=[1, -1])


def test_lists_and_array_likes():
    np.testing.assert_array_equal(farpoint.sample([[0, 0], [1, 0], [3, 0]], 2), [0, 2])

    class Likeness:
        def __array__(self, dtype=None, copy=None):
            return cloud(100)

    np.testing.assert_array_equal(farpoint.sample(Likeness(), 5), farpoint.sample(cloud(100), 5))


def test_anything_with_dlpack_is_read_in_place():
    class Other:
        """Another library's array on the CPU."""

        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

    from farpoint._arrays import conversion

    points = cloud(100)
    assert _native.address(conversion.to_numpy(Other(points))) == _native.address(points)
    np.testing.assert_array_equal(farpoint.sample(Other(points), 5), farpoint.sample(points, 5))


def test_other_threads_run_meanwhile():
    """The GIL is released: Python runs in this thread while another one samples."""
    points = cloud(40_000)
    times = {}

    def work():
        times["begin"] = time.perf_counter()
        farpoint.sample(points, 3000, algorithm="reference", threads=1)
        times["end"] = time.perf_counter()

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    ticks = []
    while worker.is_alive() and len(ticks) < 60_000:
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    worker.join(60)
    assert not worker.is_alive()
    inside = [t for t in ticks if times["begin"] < t < times["end"]]
    assert times["end"] - times["begin"] > 0.02
    assert len(inside) > 5


def test_two_samplings_overlap():
    points = cloud(40_000)
    spans = [None, None]
    ready = threading.Barrier(2)

    def work(k):
        ready.wait(60)
        begin = time.perf_counter()
        farpoint.sample(points, 3000, algorithm="reference", threads=1)
        spans[k] = begin, time.perf_counter()

    workers = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(2)]
    [worker.start() for worker in workers]
    [worker.join(60) for worker in workers]
    assert None not in spans
    (a, b), (c, d) = spans
    shared = min(b, d) - max(a, c)
    # One after the other, as with the GIL held, they would share nothing.
    assert shared > 0.25 * min(b - a, d - c)


def test_progress_is_told(capsys):
    reported = []
    _native.sample(
        cloud(40_000), 4000, None, None, None, None, None, None, "reference", 1, False, False, None,
        lambda done, of: reported.append((done, of)),
    )
    assert reported and all(done <= of == 4000 for done, of in reported)
    result = farpoint.sample(cloud(3000), 300, progress=True)
    np.testing.assert_array_equal(result, farpoint.sample(cloud(3000), 300))
    assert "sampling" in capsys.readouterr().err


def test_a_failing_callback_ends_the_run():
    def fail(done, of):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _native.sample(
            cloud(40_000), 4000, None, None, None, None, None, None, "reference", 1, False, False,
            None, fail,
        )


def test_docstrings_suffice():
    for function in (farpoint.sample, farpoint.order, farpoint.nearest, farpoint.chamfer,
                     farpoint.read, farpoint.write, farpoint.check):
        text = function.__doc__
        assert text and "(N, " in text or "cloud" in text, function
    text = farpoint.sample.__doc__
    for part in ("Parameters", "Returns", "Raises", "Source", "unit"):
        assert part in text
    import inspect
    for name in inspect.signature(farpoint.sample).parameters:
        assert re.search(rf"^ *(\w+, )*{name}(, \w+)* : ", text, re.MULTILINE), name


def test_no_gpu_is_a_reason():
    if _native.cuda_obstacle() is None:
        pytest.skip("there is a GPU")
    with pytest.raises(farpoint.CudaUnavailable, match="CUDA can't be used here: "):
        _native.cuda_devices()
    assert issubclass(farpoint.CudaUnavailable, RuntimeError)


@pytest.mark.parametrize("algorithm", [
    "radius:nvox=24", "radius:nvox=24,point_skip=false", "radius:radius_pruning=false",
])
def test_options_of_algorithms(algorithm):
    """They change the time only."""
    expected = farpoint.sample(cloud(3000), 300)
    np.testing.assert_array_equal(farpoint.sample(cloud(3000), 300, algorithm=algorithm), expected)


@pytest.mark.parametrize("algorithm, text", [
    ("fast", "unknown algorithm 'fast'; choose one of auto, reference"), ("radius:voxels=3", "it has nvox"),
    ("radius:nvox=many", "invalid value 'many' for nvox"), ("persistent", "CPU"), ("radius:fuse_update=false", "fuse_update"),
    ("peak:gamma=0.5", "gamma"),
    ("grid", "approximate.*sample_grid"), ("grid:keep=first", "approximate.*sample_grid"),
])
def test_algorithms_refused(algorithm, text):
    with pytest.raises(ValueError, match=text):
        farpoint.sample(cloud(), 5, algorithm=algorithm)


def test_types_have_the_names_of_the_library():
    import typing

    from farpoint import _typing

    names, text = typing.get_args(_typing.Algorithm)
    assert text is str and list(typing.get_args(names)) == _native.ALGORITHMS
    samplers = [name for name in farpoint.approximate.__all__ if name.startswith("sample_")]
    assert sorted(samplers) == sorted(f"sample_{method}" for method in _native.METHODS)
