"""``sample(deadline=)``: the beginning of the complete sample, with its covering radius."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import farpoint

POINTS = np.random.default_rng(3).random((60_000, 3), dtype=np.float32)


def _as(kind: str, points: np.ndarray) -> Any:
    return points if kind == "numpy" else pytest.importorskip("torch").from_numpy(points)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_sample_that_ends_early_begins_the_complete_one(kind: str, threads: int) -> None:
    complete = farpoint.sample(POINTS, 30_000, return_distances=True)
    lengths = []
    for deadline in (1e-9, 1e-4, 2e-3, 1e6):
        points = _as(kind, POINTS)
        early = farpoint.sample(points, 30_000, return_distances=True, threads=threads, deadline=deadline)
        length = len(early.indices)
        np.testing.assert_array_equal(np.asarray(early.indices), complete.indices[:length])
        np.testing.assert_array_equal(np.asarray(early.distances), complete.distances[:length])
        covering = complete.distances[length] if length < 30_000 else complete.covering_radius
        assert float(early.covering_radius) == covering
        lengths.append(length)
    assert 1 <= lengths[0] < 30_000 and lengths[-1] == 30_000


def test_selected_rows_and_starts_come_first() -> None:
    rows = np.arange(0, 60_000, 2)
    complete = farpoint.sample(POINTS, 9_000, rows=rows, start=[4, 70])
    early = farpoint.sample(POINTS, 9_000, rows=rows, start=[4, 70], deadline=1e-9)
    assert early.tolist()[:2] == [4, 70] and len(early) < 9_000
    np.testing.assert_array_equal(early, complete[: len(early)])


@pytest.mark.parametrize(("deadline", "error", "match"), [
    (float("nan"), ValueError, "NaN"), ("soon", TypeError, "soon"), (float("inf"), ValueError, "inf"),
    (True, TypeError, "deadline must be a number"),
])
def test_invalid_deadlines_are_refused(deadline: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        farpoint.sample(POINTS, 5, deadline=deadline)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("deadline", [0, 0.0, -1, -0.5, float("-inf")])
def test_a_deadline_that_has_passed_leaves_the_start(kind: str, deadline: Any) -> None:
    early = farpoint.sample(_as(kind, POINTS), 30_000, start=7, deadline=deadline)
    assert early.tolist() == [7]


def test_a_deadline_is_refused_beside_out_whatever_time_there_is() -> None:
    for deadline in (0, 1e-9, 1e6):
        with pytest.raises(ValueError, match="deadline= cannot be combined with out=.* remove out="):
            farpoint.sample(POINTS, 5, deadline=deadline, out=np.empty(5, np.int64))


def test_deadlines_are_for_single_clouds() -> None:
    with pytest.raises(ValueError, match="batch of 2 clouds"):
        farpoint.sample(POINTS.reshape(2, -1, 3), 5, deadline=1.0)
    with pytest.raises(ValueError, match="deadline= cannot be combined with offsets="):
        farpoint.sample(POINTS, 5, offsets=[0, 10, 60_000], deadline=1.0)
