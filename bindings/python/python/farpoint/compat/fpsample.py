"""In place of ``fpsample`` 1.0: the same functions, of which all are exact here and none needs a
window or a height.

All take ``pc`` (N, D) of any number type, give ``n_samples`` indices (uint64) in order of choice and
start from ``start_idx``: an index, a list of several, or None for a random one
(``numpy.random.seed`` decides). They differ on purpose: float64 is not rounded to float32, ties go
to the lowest index, NaN is a ValueError, and bad arguments are ValueError where fpsample asserts.
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
    """(N, D) points -> (n_samples,) indices, uint64. As ``fpsample.fps_sampling``."""
    return _choose(pc, n_samples, start_idx)


def fps_npdu_sampling(
    pc: np.ndarray, n_samples: int, w: int | None = None, start_idx: Any = None
) -> np.ndarray:
    """(N, D) points -> (n_samples,) indices, uint64. As ``fpsample.fps_npdu_sampling``, which is
    approximate: this is exact, faster, and ignores the window ``w``."""
    return _choose(pc, n_samples, start_idx)


def fps_npdu_kdtree_sampling(
    pc: np.ndarray, n_samples: int, w: int | None = None, start_idx: Any = None
) -> np.ndarray:
    """(N, D) points -> (n_samples,) indices, uint64. As ``fpsample.fps_npdu_kdtree_sampling``,
    which is approximate: this is exact, faster, and ignores the window ``w``."""
    return _choose(pc, n_samples, start_idx)


def bucket_fps_kdtree_sampling(
    pc: np.ndarray, n_samples: int, start_idx: Any = None
) -> np.ndarray:
    """(N, D) points -> (n_samples,) indices, uint64. As ``fpsample.bucket_fps_kdtree_sampling``,
    which ignores ``start_idx``: this honors it."""
    return _choose(pc, n_samples, start_idx)


def bucket_fps_kdline_sampling(
    pc: np.ndarray, n_samples: int, h: int, start_idx: Any = None
) -> np.ndarray:
    """(N, D) points -> (n_samples,) indices, uint64. As ``fpsample.bucket_fps_kdline_sampling``,
    which ignores ``start_idx``: this honors it, and ignores the height ``h``."""
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
