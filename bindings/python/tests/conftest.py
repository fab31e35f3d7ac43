"""What the tests share: the obvious loop, clouds with ties, and what is skipped without what."""

import os

import numpy as np
import pytest

import farpoint
from farpoint import _native

# JAX would take most of a GPU's memory, which others test on too.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# Code that was compiled before, perhaps for operators with other arguments, is not used again.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"

needs_gpu = pytest.mark.skipif(
    _native.cuda_obstacle() is not None, reason=f"no GPU: {_native.cuda_obstacle()}"
)


@pytest.fixture(scope="session")
def cuda():
    """PyTorch, if it sees a GPU."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA here")
    return torch


@pytest.fixture
def filled(cuda, monkeypatch):
    """New memory of PyTorch's holds NaN and large numbers, so that what is not written to is told."""
    from farpoint._torch import fast_path

    monkeypatch.setattr(fast_path, "_empty_on_current", None)  # what is made so is never filled
    before = cuda.are_deterministic_algorithms_enabled()
    cuda.use_deterministic_algorithms(True, warn_only=True)
    yield
    cuda.use_deterministic_algorithms(before)


def in_ball(x, y, radius, k, **options):
    """k neighbors in a ball, or all for None; y may be an index."""
    of, clouds = (y, (x,)) if isinstance(y, farpoint.Index) else (farpoint, (x, y))
    return of.within(*clouds, radius, **options) if k is None else of.ball_query(*clouds, radius, k, **options)


def same(actual, expected):
    """A tensor on a GPU, bit for bit."""
    np.testing.assert_array_equal(actual.detach().cpu().numpy(), expected)


def reference(points, count, start=(0,)):
    """The obvious loop: every operation rounded on its own, the lowest index among equals."""
    points = np.asarray(points)
    nearest = np.full(len(points), np.inf, points.dtype)
    remaining = np.ones(len(points), bool)
    chosen, distances = [], []
    while len(chosen) < count:
        if len(chosen) < len(start):
            pick, distance = start[len(chosen)], np.inf
        else:
            open_ones = np.flatnonzero(remaining)
            pick = open_ones[nearest[open_ones].argmax()]
            distance = nearest[pick]
        chosen.append(int(pick))
        distances.append(distance)
        remaining[pick] = False
        total = None
        for axis in range(points.shape[1]):
            part = (points[:, axis] - points[pick, axis]) ** 2
            total = part if total is None else total + part
        nearest = np.minimum(nearest, total)
    return np.array(chosen), np.sqrt(np.array(distances, points.dtype))


def cloud(n=300, d=3, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).random((n, d)).astype(dtype)


def grid(n=8, dtype=np.float32):
    """Mostly ties, and every point twice."""
    axis = np.arange(n, dtype=dtype)
    points = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    return np.concatenate([points, points])


def obvious_nearest(x, y):
    """Squared distances and indices by all pairs, each operation rounded on its own."""
    total = None
    for axis in range(x.shape[1]):
        part = (x[:, None, axis] - y[None, :, axis]) ** 2
        total = part if total is None else total + part
    return total.min(axis=1), total.argmin(axis=1)
