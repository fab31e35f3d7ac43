"""Scenes with classes, and clouds of arrays."""

import numpy as np
import pytest

import farpoint

POINTS = 6_000


@pytest.mark.parametrize("kind", ["indoor", "town"])
def test_scenes_with_classes(kind):
    made = farpoint.generate_labeled(kind, POINTS, seed=4)
    assert made.points.shape == (POINTS, 3) and made.points.dtype == np.float32
    assert made.labels.shape == (POINTS,) and made.labels.dtype == np.int64
    assert made.labels.min() == (0 if kind == "indoor" else -1)
    assert made.labels.max() < len(made.class_names) == (13 if kind == "indoor" else 19)
    assert (made.colors is None) == (kind == "town") == (made.intensity is not None)
    if kind == "indoor":
        assert made.colors.shape == (POINTS, 3) and made.colors.dtype == np.uint8
    else:
        assert made.intensity.shape == (POINTS,) and made.intensity.dtype == np.float32
    np.testing.assert_array_equal(farpoint.generate_labeled(kind, POINTS, seed=4).points, made.points)
    assert not np.array_equal(farpoint.generate_labeled(kind, POINTS).points, made.points)


def test_what_is_no_scene():
    with pytest.raises(ValueError, match="unknown kind of scene 'house'; choose indoor or town"):
        farpoint.generate_labeled("house", 5)
    with pytest.raises(ValueError, match="count is -1; it must be 0 or more"):
        farpoint.generate_labeled("town", -1)
    with pytest.raises(ValueError, match="seed is -1; it must be 0 or more"):
        farpoint.generate_labeled("town", 5, seed=-1)


def test_a_cloud_of_an_array(tmp_path):
    points = np.random.default_rng(1).random((50, 3))
    cloud = farpoint.Cloud.from_points(points[:, ::-1]).with_column("number", np.arange(50, dtype=np.int16))
    points_before = points.copy()
    points[:] = 0  # copied
    farpoint.write(tmp_path / "cloud.ply", cloud)
    again = farpoint.read(tmp_path / "cloud.ply")
    np.testing.assert_array_equal(again.points, points_before[:, ::-1])
    np.testing.assert_array_equal(again["number"], np.arange(50))
    with pytest.raises(ValueError, match="shape"):
        farpoint.Cloud.from_points(np.zeros((5, 2)))
    with pytest.raises(TypeError, match="float32, float64"):
        farpoint.Cloud.from_points(np.zeros((5, 3), bool))
