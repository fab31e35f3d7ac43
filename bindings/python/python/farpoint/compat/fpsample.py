"""Drop-in replacement for ``fpsample`` 1.0: the same functions, which are all exact here and need neither a
window nor a height.

All accept ``pc`` (N, D) of any numeric dtype, return ``n_samples`` uint64 indices in order of choice and
start from ``start_idx``: an index, a list of several, or None for a random one
(from ``numpy.random.seed``). They differ on purpose: float64 is not rounded to float32, ties go
to the lowest index, and NaN and bad arguments raise ValueError where fpsample asserts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sampling import sample

__all__ = [
    "bucket_fps_kdline_sampling", "bucket_fps_kdtree_sampling", "fps_npdu_kdtree_sampling",
    "fps_npdu_sampling", "fps_sampling",
]


def fps_sampling(pc: np.ndarray, n_samples: int, start_idx: Any = None) -> np.ndarray:
    """Choose (n_samples,) uint64 indices of (N, D) points, as ``fpsample.fps_sampling``."""
    return _choose(pc, n_samples, start_idx)


def fps_npdu_sampling(
    pc: np.ndarray, n_samples: int, w: int | None = None, start_idx: Any = None
) -> np.ndarray:
    """Choose (n_samples,) uint64 indices of (N, D) points, as ``fpsample.fps_npdu_sampling``, which is
    approximate: this is exact, faster, and ignores the window ``w``."""
    return _choose(pc, n_samples, start_idx)


def fps_npdu_kdtree_sampling(
    pc: np.ndarray, n_samples: int, w: int | None = None, start_idx: Any = None
) -> np.ndarray:
    """Choose (n_samples,) uint64 indices of (N, D) points, as ``fpsample.fps_npdu_kdtree_sampling``,
    which is approximate: this is exact, faster, and ignores the window ``w``."""
    return _choose(pc, n_samples, start_idx)


def bucket_fps_kdtree_sampling(
    pc: np.ndarray, n_samples: int, start_idx: Any = None
) -> np.ndarray:
    """Choose (n_samples,) uint64 indices of (N, D) points, as ``fpsample.bucket_fps_kdtree_sampling``,
    which ignores ``start_idx``: this uses it."""
    return _choose(pc, n_samples, start_idx)


def bucket_fps_kdline_sampling(
    pc: np.ndarray, n_samples: int, h: int, start_idx: Any = None
) -> np.ndarray:
    """Choose (n_samples,) uint64 indices of (N, D) points, as ``fpsample.bucket_fps_kdline_sampling``,
    which ignores ``start_idx``: this uses it, and ignores the height ``h``."""
    return _choose(pc, n_samples, start_idx)


def _choose(pc: Any, n_samples: int, start_idx: Any) -> np.ndarray:
    points = np.asarray(pc)
    if points.dtype not in (np.float32, np.float64):
        points = points.astype(np.float64)
    if points.ndim != 2:
        raise ValueError(f"pc must be of shape (N, D), not {points.shape}")
    if n_samples < 1:
        raise ValueError(f"n_samples is {n_samples}; it must be 1 or more")
    if start_idx is None:
        start_idx = np.random.randint(low=0, high=len(points)) if len(points) else 0
    elif not isinstance(start_idx, (int, np.integer, list)):
        raise ValueError("start_idx should be None, int or list")
    rows: np.ndarray = sample(points, n_samples, start=start_idx)
    return rows.astype(np.uint64)
