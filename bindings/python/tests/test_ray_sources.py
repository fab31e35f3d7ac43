"""Where the points of ``farpoint.ray.sample`` come from: cut by space, data sets of Ray."""

import numpy as np
import pytest

import farpoint

ray = pytest.importorskip("ray", reason="Ray is not installed")
from farpoint.ray import _blocks, _cut, _sources  # noqa: E402
from ray_cluster import cluster, compare, equal, limit, room  # noqa: E402, F401



def pieces_of(points, count):
    ends = [len(points) * k // count for k in range(count + 1)]
    return [(first, points[first:last]) for first, last in zip(ends, ends[1:], strict=False)]


def cut_all(points, pieces, tiles):
    """Rows by tile, as the driver and its tasks find them; each row's place by the planes must agree."""
    several = pieces_of(points, pieces)
    summaries = [_cut.summarize(piece, None, pieces, tiles) for _, piece in several]
    subset = np.concatenate([one.subset for one in summaries])
    rows = np.concatenate([one.subset_rows + first for one, (first, _) in zip(summaries, several, strict=True)])
    planes = _cut.planes_through(subset, rows, tiles)
    double = points.dtype == np.float64
    result = [[] for _ in range(tiles)]
    for first, piece in several:
        for tile, part in enumerate(_cut.cut(piece, None, first, double, planes, tiles)):
            assert part.points.dtype == points.dtype and part.rows.dtype == np.uint64
            np.testing.assert_array_equal(part.points, points[part.rows.astype(int)])
            result[tile].append(part.rows)
            for row in part.rows[:: max(1, len(part.rows) // 20)]:
                assert _cut.tile_of(planes, [float(x) for x in points[int(row)]], int(row)) == tile
    return [np.concatenate(rows) for rows in result]


@pytest.mark.parametrize("tiles", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("pieces", [1, 4])
@pytest.mark.parametrize("kind", ["room", "room64", "lattice", "one place", "line", "huge", "few"])
def test_every_usable_row_is_in_one_tile(kind, pieces, tiles):
    steps = np.arange(24, dtype=np.float32)
    points = {
        "room": room(30_000),
        "room64": room(10_000, np.float64) + 1e6,
        "lattice": np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3),
        "one place": np.ones((10_000, 3), np.float32),
        "line": np.stack([np.arange(9_000), np.zeros(9_000)], axis=1).astype(np.float32),
        "huge": (room(5_000) - 4) * np.float32(4e37),
        "few": room(5),
    }[kind].copy()
    if len(points) > 100:
        points[::97, 0] = np.nan
    usable = np.flatnonzero(np.isfinite(points).all(axis=1))
    result = cut_all(points, pieces, tiles)
    np.testing.assert_array_equal(np.sort(np.concatenate(result)), usable)
    if len(points) > 100:
        sizes = [len(rows) for rows in result]
        assert max(sizes) < 1.2 * len(usable) / tiles, sizes


def test_what_is_no_cloud_is_said():
    with pytest.raises(TypeError, match=r"shape \(3, 2\), int64"):
        _blocks.points_of(np.zeros((3, 2), np.int64), None)
    with pytest.raises(TypeError, match="columns a, b; it has x, y"):
        _blocks._chosen({"x": np.zeros(2), "y": np.zeros(2)}, ["a", "b"])
    with pytest.raises(TypeError, match="y: int64"):
        _blocks._chosen({"x": np.zeros(2), "y": np.zeros(2, int)}, None)
    with pytest.raises(TypeError, match="single one of arrays"):
        _blocks._chosen({"lon": np.zeros(2), "lat": np.zeros(2)}, None)
    table = {"x": np.ones(2, np.float32), "y": np.zeros(2, np.float32), "id": np.arange(2)}
    np.testing.assert_array_equal(_blocks._chosen(table, None), [[1, 0], [1, 0]])


@pytest.mark.usefixtures("cluster")
def test_tasks_cut_what_is_large(monkeypatch):
    monkeypatch.setattr(_sources, "_MAX_LOCAL_ROWS", 100)
    points = room(4000)
    points[[0, 2500]] = np.nan
    compare(points, ratio=0.25, non_finite="skip", seed=5)
    with pytest.raises(ValueError, match="row 0 and 1 others of 4000 have NaN"):
        farpoint.ray.sample(points, 10, tiles=1, num_cpus=0.1)


@pytest.mark.usefixtures("cluster")
def test_a_data_set():
    pytest.importorskip("pyarrow", reason="Ray's data sets need pyarrow")
    data = pytest.importorskip("ray.data", reason="Ray's data sets are not installed")
    points = room(3000)
    truth = farpoint.sample(points, ratio=0.2, return_distances=True)
    as_table = data.from_items(
        [{"x": x, "y": y, "z": z, "name": "a"} for x, y, z in points.astype(float)], override_num_blocks=3
    )
    result = farpoint.ray.sample(as_table, ratio=0.2, tiles=2, num_cpus=0.1)
    equal(result, farpoint.sample(points.astype(float), ratio=0.2, return_distances=True))
    equal(farpoint.ray.sample(data.from_numpy(points), ratio=0.2, tiles=2, num_cpus=0.1), truth)
    with pytest.raises(TypeError, match="columns u, v"):
        farpoint.ray.sample(as_table, 5, tiles=1, num_cpus=0.1, xyz=["u", "v"])
