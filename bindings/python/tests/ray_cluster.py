"""What the tests of ``farpoint.ray`` share: Ray on this machine, clouds, and a limit of time."""

import contextlib
import faulthandler
import os

import numpy as np
import pytest

import farpoint

ray = pytest.importorskip("ray", reason="Ray is not installed")

#: Workers find the package where this process has it.
PACKAGE = os.path.dirname(os.path.dirname(farpoint.__file__))
#: How Ray is started, whatever else runs on this machine; workers are told no more than they need.
OPTIONS = {"address": "local", "object_store_memory": 100 << 20, "include_dashboard": False, "log_to_driver": False}
ENVIRONMENT = {"env_vars": {"PYTHONPATH": PACKAGE}}
#: Whether those tests run, too, that take minutes together.
ALL = os.environ.get("FARPOINT_RAY") == "all"
#: Seconds that a test may take, and Ray to start or to end: on a busy machine a process takes 20 to start.
LIMIT = 300

#: Processes are started for each test: all of them take minutes.
takes_minutes = pytest.mark.skipif(not ALL, reason="takes minutes (FARPOINT_RAY=all runs it)")


@contextlib.contextmanager
def limited():
    """Ends this process, showing where each of its threads is, if what is inside hangs: by a thread of its own that needs
    nothing of Python. What Ray has started ends with it."""
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def cluster():
    """Started once; each module that imports this has a fixture of its own."""
    if not ray.is_initialized():
        with limited():
            ray.init(num_cpus=2, runtime_env=ENVIRONMENT, **OPTIONS)
    yield
    with limited():
        ray.shutdown()


@pytest.fixture(autouse=True)
def limit():
    with limited():
        yield


def room(n, dtype=np.float32):
    """Walls, a floor, and a ball in the middle."""
    random = np.random.default_rng(n)
    points = random.random((n, 3)) * (8, 6, 3)
    wall = random.integers(0, 6, n)
    for k, axis, value in [(0, 0, 0), (1, 0, 8), (2, 1, 0), (3, 1, 6), (4, 2, 0)]:
        points[wall == k, axis] = value
    ball = points[wall == 5] - (4, 3, 1.5)
    points[wall == 5] = (4, 3, 1.5) + ball / np.linalg.norm(ball, axis=1, keepdims=True)
    return points.astype(dtype)


def equal(result, truth):
    assert np.array_equal(result.indices, truth.indices)
    assert np.array_equal(result.distances, truth.distances)
    assert result.distances.dtype == truth.distances.dtype
    assert result.covering_radius == truth.covering_radius


def compare(points, log=None, tiles=3, count=None, **options):
    result = farpoint.ray.sample(points, count, tiles=tiles, num_cpus=0.1, log=log, time_limit=100, **options)
    equal(result, farpoint.sample(points, count, return_distances=True, **options))
