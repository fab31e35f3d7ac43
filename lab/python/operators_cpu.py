"""Benchmark of the operators on one CPU core, with KD-trees of other packages."""

import importlib
import importlib.util
import statistics
import time

import numpy as np

import farpoint

RADIUS = 0.3


def nearest_by_numpy(x, y, k, radius):
    """Yields distances and indices of some queries by brute force."""
    differences = x[:, None] - y[None]
    squares = differences * differences
    distances = (squares[..., 0] + squares[..., 1]) + squares[..., 2]
    limit = np.float32(radius) * np.float32(radius) if radius else np.float32(np.inf)
    for row in distances:
        inside = np.flatnonzero(row < limit)
        order = inside if radius else inside[np.argsort(row[inside], kind="stable")]
        yield row[order[:k]], order[:k]


def on_cpu(turn):
    """Yields rows of the record for one core."""
    quarter = turn[farpoint.sample(turn, len(turn) // 4)]
    works = [("16 nearest, the turn in itself", turn, turn, 16, None, 0.06),
             ("32 nearest, the turn in itself", turn, turn, 32, None, 0.10),
             ("three nearest of the turn in its quarter", turn, quarter, 3, None, 0.015),
             (f"ball of {RADIUS}, k 32, its quarter in the turn", quarter, turn, 32, RADIUS, 0.03)]
    peers = {"pykdtree": "pykdtree.kdtree", "scipy": "scipy.spatial"}
    for name in [name for name in peers if importlib.util.find_spec(name) is None]:
        print(f"skipped: {name} (not installed)")
        del peers[name]
    for name, x, y, k, radius, goal in works:
        def call(x=x, y=y, k=k, radius=radius):
            return farpoint.knn(x, y, k, threads=1) if radius is None else \
                farpoint.ball_query(x, y, radius, k, threads=1)

        some = np.random.default_rng(1).choice(len(x), 200, replace=False)
        result = call()
        for row, (distances, indices) in zip(some, nearest_by_numpy(x[some], y, k, radius), strict=True):
            count = result.counts[row]
            same = (result.indices[row, :count] == indices).all() and count == len(indices)
            if not same or (result.distances[row, :count] != distances).any():
                raise SystemExit(f"{name}: row {row} differs from the obvious loop")
        # Calls alternate, so that changes of the machine affect all.
        calls = {"farpoint": call} | {peer: kd_tree(peers[peer], peer, x, y, k, radius) for peer in peers}
        seconds: dict[str, list[float]] = {way: [] for way in calls}
        for _ in range(5):
            for way, once in calls.items():
                begin = time.perf_counter()
                once()
                seconds[way].append(time.perf_counter() - begin)
        middle = {way: statistics.median(times) for way, times in seconds.items()}
        print(name, {way: round(value, 4) for way, value in middle.items()}, flush=True)
        yield {"work": name, "goal": goal, "seconds": middle}


def kd_tree(module, name, x, y, k, radius):
    """Returns a function that builds and queries a tree, on one thread."""
    tree = importlib.import_module(module)
    within = {} if radius is None else {"distance_upper_bound": radius}
    if name == "scipy":
        return lambda: tree.cKDTree(y).query(x, k, workers=1, **within)
    return lambda: tree.KDTree(y).query(x, k=k, **within)
