"""Scores by hand."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint_segmentation import metrics  # noqa: E402


def matrix(labels, predictions, classes=3):
    return metrics.confusion(torch.tensor(labels), torch.tensor(predictions), classes)


def test_confusion():
    result = matrix([0, 0, 1, 2, 2, 2], [0, 1, 1, 0, 2, 2])
    assert result.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 2]]


def test_ignored_points_are_in_no_matrix():
    result = matrix([0, -1, -1, 1], [0, 0, 2, 0])
    assert result.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert matrix([-1, -1], [0, 1]).sum() == 0 and metrics.summary(matrix([-1], [1])) == {}


def test_scores():
    one = matrix([0, 0, 1, 2, 2, 2], [0, 1, 1, 0, 2, 2])
    expected = [1 / 3, 1 / 2, 2 / 3]
    for kind in ("openpoints", "semantic-kitti"):
        actual = metrics.scores(one, kind)
        np.testing.assert_allclose(actual.iou, expected, rtol=1e-9)
        assert actual.miou == pytest.approx(0.5) and actual.oa == pytest.approx(4 / 6)
        assert actual.macc == pytest.approx((1 / 2 + 1 + 2 / 3) / 3)


def test_absent_classes():
    """Class 2 neither occurs nor is predicted: 1 by OpenPoints, 0 by semantic-kitti-api."""
    one = matrix([0, 0, 1, 1], [0, 0, 1, 0])
    result = metrics.scores(one)
    np.testing.assert_allclose(result.iou, [2 / 3, 1 / 2, 1], rtol=1e-9)
    assert result.macc == pytest.approx((1 + 1 / 2 + 1) / 3)
    other = metrics.scores(one, "semantic-kitti")
    np.testing.assert_allclose(other.iou, [2 / 3, 1 / 2, 0], rtol=1e-9)
    assert other.miou == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert other.macc == pytest.approx((1 + 1 / 2) / 3)
    # Predicted but not there: 0 by both.
    for kind in ("openpoints", "semantic-kitti"):
        assert metrics.iou(matrix([0, 0], [0, 2]), kind)[2] == pytest.approx(0, abs=1e-9)
    summary = metrics.summary(one)
    assert summary["miou"] == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert summary["miou_semantic_kitti"] == other.miou and summary["oa"] == 0.75


def test_what_is_refused():
    for labels, predictions, text in (
        ([0, 3], [0, 0], "labels from 0 to 3"), ([0, 1], [0, -1], "predictions from -1 to 0"),
        ([0, 1], [0], "one shape"), ([-2, 1], [0, 1], "labels from -2"),
    ):
        with pytest.raises(ValueError, match=text):
            matrix(labels, predictions)
    with pytest.raises(ValueError, match="kind is 'both'"):
        metrics.iou(np.eye(3), "both")
