"""Clouds for the benchmarks of the operators, the same on every machine."""

import pathlib

import numpy as np

import farpoint


def lidar(points, seed=1):
    """Returns an approximate LiDAR scan of a street: rings on the ground, walls and boxes; (N, 3) float32."""
    random = np.random.default_rng(seed)
    beams, azimuth = np.arange(points) % 64, random.random(points) * 2 * np.pi
    down = np.radians(np.linspace(2.0, -24.8, 64))[beams] + random.normal(0, 2e-4, points)
    wall = 8 + 6 * (np.sin(azimuth * 5) > 0.3) + 3 * (np.cos(azimuth * 17) > 0.8)
    reach = np.minimum(wall / np.maximum(np.abs(np.sin(azimuth)), 0.1), 80.0)
    ground = np.where(down < 0, 1.73 / np.maximum(-np.tan(down), 1e-3), np.inf)
    flat = np.minimum(reach, ground) + random.normal(0, 0.01, points)
    rows = [flat * np.cos(azimuth), flat * np.sin(azimuth), flat * np.tan(down)]
    return np.stack(rows, axis=1).astype(np.float32)


def room(points, seed):
    """Returns points on walls and boxes of a room, (N, 3) float32, in meters."""
    random = np.random.default_rng(seed)
    rows = random.random((points, 3)) * [4, 4, 3]
    side = random.integers(0, 6, points)
    rows[np.arange(points), side % 3] = np.where(side < 3, 0, np.array([4, 4, 3])[side % 3])
    box = random.random(points) < 0.4
    rows[box] = rows[box] * 0.2 + random.integers(0, 4, (box.sum(), 3)) * [0.9, 0.9, 0.2]
    return rows.astype(np.float32)


def scan(path, points=126_356):
    """Returns the scan to measure, and its name."""
    if path is None:
        return lidar(points), f"a generated turn of {points:,} points"
    rows = farpoint.read(path).points
    rows = np.ascontiguousarray(rows[np.isfinite(rows).all(axis=1)], dtype=np.float32)
    return rows, f"{pathlib.Path(path).name}, {len(rows):,} points"
