"""Drop-in replacement for methods of Open3D's point clouds: as functions of a cloud, or patched into Open3D by
``install()``.

    from farpoint.compat import open3d as fast
    small = fast.farthest_point_down_sample(cloud, 1000)     # cloud.farthest_point_down_sample(1000)
    fast.install()                                           # from here on Open3D's own methods

``open3d.geometry.KDTreeFlann`` and ``open3d.core.nns`` are not included: ``farpoint.Index`` answers many
queries at once. All functions differ on purpose: ties go to the lowest index, NaN, infinity and other
bad arguments raise ValueError where Open3D raises RuntimeError or continues.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..matching import nearest
from ..sampling import sample

__all__ = ["compute_point_cloud_distance", "farthest_point_down_sample", "install"]


def farthest_point_down_sample(cloud: Any, num_samples: int, start_index: int = 0) -> Any:
    """Downsample a point cloud to ``num_samples`` points that cover it evenly.

    As ``PointCloud.farthest_point_down_sample`` of ``open3d.geometry`` and ``open3d.t.geometry``,
    for clouds of either; colors, normals and other attributes are kept. As in the original, the result is
    in the order of the input, not of choice (use ``farpoint.sample`` for that). For an (N, 3) array:
    the chosen rows in the same order.

    Differs on purpose as all functions here; returns exactly num_samples points also if points repeat
    (``t.geometry`` drops duplicates), integers are supported, clouds in GPU memory are copied to the
    CPU, and 0 samples of an empty cloud are an empty cloud.
    """
    points = _points(cloud)
    if num_samples == 0:
        start_index = 0  # An empty cloud has no row to start from.
    rows = np.sort(sample(points, num_samples, start=start_index) if len(points) or num_samples else [])
    if isinstance(cloud, np.ndarray):
        return cloud[rows.astype(np.int64)]
    if _is_tensor(cloud):
        import open3d

        if not len(points):
            return cloud.clone()
        return cloud.select_by_index(open3d.core.Tensor(rows, device=cloud.device))
    return cloud.select_by_index(rows.astype(np.int64).tolist())


def compute_point_cloud_distance(source: Any, target: Any) -> np.ndarray:
    """Compute the distance (N,) of each point of source to the nearest of target: float64, not squared, in the
    unit of the coordinates.

    As ``open3d.geometry.PointCloud.compute_point_cloud_distance``, but returns a NumPy array instead of a
    ``DoubleVector``. Also for ``t.geometry`` and (N, 3) arrays. An empty source has no distances;
    distances to an empty target are 0, as in the original. Differs on purpose as all functions here.
    """
    x, y = _points(source), _points(target)
    if not (len(x) and len(y)):
        return np.zeros(len(x))
    kind = np.result_type(x, y)
    neighbors = nearest(x.astype(kind, copy=False), y.astype(kind, copy=False), squared=False)
    return np.asarray(neighbors.distances, np.float64)


def install() -> None:
    """Replace the methods of Open3D's point clouds in this process by the functions here."""
    import open3d

    for kind in (open3d.geometry.PointCloud, open3d.t.geometry.PointCloud):
        kind.farthest_point_down_sample = farthest_point_down_sample

    def distance(self: Any, target: Any) -> Any:
        return open3d.utility.DoubleVector(compute_point_cloud_distance(self, target))

    open3d.geometry.PointCloud.compute_point_cloud_distance = distance


def _is_tensor(cloud: Any) -> bool:
    """Returns whether this is a cloud of ``open3d.t``."""
    return hasattr(cloud, "point")


def _points(cloud: Any) -> np.ndarray:
    """Returns coordinates (N, 3), in place if they are floating point."""
    points: np.ndarray
    if _is_tensor(cloud):
        if "positions" not in cloud.point:
            return np.zeros((0, 3))
        points = cloud.point.positions.cpu().numpy()
    elif hasattr(cloud, "points"):
        points = np.asarray(cloud.points)
    elif isinstance(cloud, (np.ndarray, list, tuple)):
        points = np.asarray(cloud)
    else:
        raise TypeError(
            f"a {type(cloud).__module__}.{type(cloud).__qualname__} is no point cloud; pass one of "
            "open3d.geometry or open3d.t.geometry, or an array (N, 3)"
        )
    if points.ndim != 2:
        raise ValueError(f"the points have shape {points.shape}; it must be (N, 3)")
    return points if points.dtype in (np.float32, np.float64) else points.astype(np.float64)
