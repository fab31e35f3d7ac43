"""Drop-in replacements for libraries on PyPI: against the libraries themselves."""

import inspect

import numpy as np
import pytest
from conftest import cloud, reference

import farpoint
from farpoint.compat import fpsample as mine
from farpoint.compat import open3d as mine3d


def library(name, version=None):
    return pytest.importorskip(name, version, reason=f"{name} is not installed or does not load",
                               exc_type=ImportError)


POINTS = cloud(2000)


class TestFpsample:
    def test_signatures(self):
        theirs = library("fpsample", "1.0.2")
        for name in mine.__all__:
            a, b = (inspect.signature(getattr(m, name)).parameters for m in (mine, theirs))
            assert [(p.name, p.default) for p in a.values()] == [(p.name, p.default) for p in b.values()]

    def test_indices_are_the_same(self):
        theirs = library("fpsample", "1.0.2")
        for start in (0, 7, [3, 1, 4]):
            expected = theirs.fps_sampling(POINTS, 200, start_idx=start)
            actual = mine.fps_sampling(POINTS, 200, start_idx=start)
            assert actual.dtype == expected.dtype == np.uint64
            np.testing.assert_array_equal(actual, expected)

    def test_bucket_functions_choose_what_they_should(self):
        """fpsample's start somewhere else than told; from there on they choose the same."""
        theirs = library("fpsample", "1.0.2")
        for expected in (
            theirs.bucket_fps_kdtree_sampling(POINTS, 200, start_idx=5),
            theirs.bucket_fps_kdline_sampling(POINTS, 200, 5, start_idx=5),
        ):
            first = int(expected[0])
            actual = mine.bucket_fps_kdline_sampling(POINTS, 200, 5, start_idx=first)
            np.testing.assert_array_equal(actual, expected)
        assert mine.bucket_fps_kdline_sampling(POINTS, 200, 5, start_idx=5)[0] == 5
        assert mine.bucket_fps_kdtree_sampling(POINTS, 200, start_idx=5)[0] == 5

    def test_npdu_is_exact_here(self):
        expected = reference(POINTS, 50)[0]
        np.testing.assert_array_equal(mine.fps_npdu_sampling(POINTS, 50, 64, 0), expected)
        np.testing.assert_array_equal(mine.fps_npdu_kdtree_sampling(POINTS, 50, 64, 0), expected)

    def test_random_starts_follow_numpy(self):
        def starts():
            np.random.seed(3)
            return [int(mine.fps_sampling(POINTS, 1)[0]) for _ in range(10)]

        assert starts() == starts() and len(set(starts())) > 5

    def test_whole_numbers_and_float64(self):
        grid = np.arange(30).reshape(10, 3)
        assert mine.fps_sampling(grid, 2, 0).tolist() == [0, 9]
        # Rounded to float32 the second would be as far as the first.
        fine = np.array([[0.0], [1e8], [1e8 + 1]])
        assert mine.fps_sampling(fine, 2, 0).tolist() == [0, 2]

    def test_refused(self):
        for call in (
            lambda: mine.fps_sampling(POINTS, 0), lambda: mine.fps_sampling(POINTS, 2001),
            lambda: mine.fps_sampling(POINTS[0], 1), lambda: mine.fps_sampling(POINTS, 1, 2000),
            lambda: mine.fps_sampling(POINTS, 1, "0"), lambda: mine.fps_sampling(POINTS[:0], 1),
        ):
            with pytest.raises(ValueError):
                call()


class TestOpen3d:
    def test_legacy(self):
        o3d = library("open3d")
        cloud3d = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(POINTS.astype(np.float64)))
        cloud3d.colors = cloud3d.points
        expected = cloud3d.farthest_point_down_sample(100, 3)
        actual = mine3d.farthest_point_down_sample(cloud3d, 100, 3)
        assert type(actual) is type(expected)
        np.testing.assert_array_equal(np.asarray(actual.points), np.asarray(expected.points))
        np.testing.assert_array_equal(np.asarray(actual.colors), np.asarray(expected.points))

    def test_tensor(self):
        o3d = library("open3d")
        cloud3d = o3d.t.geometry.PointCloud(o3d.core.Tensor(POINTS))
        expected = cloud3d.farthest_point_down_sample(100, 3)
        actual = mine3d.farthest_point_down_sample(cloud3d, 100, 3)
        np.testing.assert_array_equal(actual.point.positions.numpy(), expected.point.positions.numpy())

    def test_distances(self):
        o3d = library("open3d")
        a, b = (o3d.geometry.PointCloud(o3d.utility.Vector3dVector(p))
                for p in (cloud(500, dtype=np.float64), cloud(400, dtype=np.float64, seed=2)))
        expected = np.asarray(a.compute_point_cloud_distance(b))
        np.testing.assert_allclose(mine3d.compute_point_cloud_distance(a, b), expected, rtol=1e-12)

    def test_installed(self):
        o3d = library("open3d")
        kinds = o3d.geometry.PointCloud, o3d.t.geometry.PointCloud
        before = [kind.farthest_point_down_sample for kind in kinds]
        distance = kinds[0].compute_point_cloud_distance
        try:
            mine3d.install()
            cloud3d = kinds[0](o3d.utility.Vector3dVector(POINTS.astype(np.float64)))
            assert len(cloud3d.farthest_point_down_sample(num_samples=7).points) == 7
            zero = cloud3d.compute_point_cloud_distance(cloud3d)
            assert isinstance(zero, o3d.utility.DoubleVector) and max(zero) == 0
        finally:
            for kind, method in zip(kinds, before):
                kind.farthest_point_down_sample = method
            kinds[0].compute_point_cloud_distance = distance

    def test_arrays(self):
        result = mine3d.farthest_point_down_sample(POINTS, 50)
        np.testing.assert_array_equal(result, POINTS[np.sort(reference(POINTS, 50)[0])])


def test_point_cloud_utils():
    theirs = library("point_cloud_utils")
    x, y = cloud(500, dtype=np.float64), cloud(400, dtype=np.float64, seed=2)
    assert farpoint.chamfer(x, y, squared=False) == pytest.approx(theirs.chamfer_distance(x, y), rel=1e-12)
    hausdorff = farpoint.chamfer(x, y, squared=False, reduction="max")
    assert hausdorff == pytest.approx(theirs.hausdorff_distance(x, y), rel=1e-12)


def test_every_docstring_says_what_differs():
    assert "differ on purpose" in mine.__doc__
    assert "Differs on purpose" in mine3d.farthest_point_down_sample.__doc__
