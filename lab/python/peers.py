#!/usr/bin/env python3
"""Benchmark of farpoint and other Python packages, from array to indices, in one run on one core.

    pip install '.[peers]' && python lab/python/peers.py [--out lab/records/python] [cloud files]

Every method receives the same float32 NumPy array (GUDHI as float64 and SciPy as lists, as they require)
and starts at point 0 if it has such an option. Methods alternate; the figure is the median. The timed call is that
of a typical user. Results are checked: farpoint's against the direct loop, a peer's by
the covering radius, which farpoint's may not exceed. SciPy has no
sampling: its row is the usual loop with a cKDTree that updates the points near the new sample.
"""

import argparse
import csv
import datetime
import importlib.metadata
import math
import os
import pathlib
import platform
import statistics
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402  (after the thread counts are set)

import farpoint  # noqa: E402

#: Time limit of a run in seconds, as estimated from a smaller cloud.
PATIENCE = 60


def fpsample_kdline(points, count):
    import fpsample

    return fpsample.bucket_fps_kdline_sampling(points, count, h=7)


def fpsample_kdtree(points, count):
    import fpsample

    return fpsample.bucket_fps_kdtree_sampling(points, count)


def fpsample_plain(points, count):
    import fpsample

    return fpsample.fps_sampling(points, count, start_idx=0)


def open3d_legacy(points, count):
    import open3d

    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points.astype(np.float64)))
    return rows_of(points, np.asarray(cloud.farthest_point_down_sample(count).points, np.float32))


def gudhi(points, count):
    from gudhi.subsampling import choose_n_farthest_points

    chosen = choose_n_farthest_points(
        points=points.astype(np.float64), nb_points=count, starting_point=0, fast=True)
    return rows_of(points, np.array(chosen, np.float32))


def scipy_tree(points, count):
    from scipy.spatial import cKDTree

    tree = cKDTree(points)
    nearest = np.full(len(points), np.inf)
    chosen = np.empty(count, np.int64)
    for step in range(count):
        pick = int(nearest.argmax()) if step else 0
        near = tree.query_ball_point(points[pick], math.sqrt(nearest[pick]))
        squares = ((points[near] - points[pick]) ** 2).sum(axis=1)
        nearest[near] = np.minimum(nearest[near], squares)
        nearest[pick] = -1
        chosen[step] = pick
    return chosen


def rows_of(points, chosen):
    """Returns a lookup of the indices of peers that return coordinates; not timed."""
    return lambda: lookup(points, chosen)


def lookup(points, chosen):
    row_of = {}
    for row, point in enumerate(map(bytes, np.ascontiguousarray(points))):
        row_of.setdefault(point, row)
    return np.array([row_of[bytes(point)] for point in np.ascontiguousarray(chosen)])


METHODS = {
    "farpoint": ("farpoint", lambda points, count: farpoint.sample(points, count)),
    "farpoint.compat.fpsample": (
        "farpoint", lambda points, count: __import__("farpoint.compat.fpsample", fromlist=["_"])
        .bucket_fps_kdline_sampling(points, count, 7, 0)),
    "fpsample kdline h=7": ("fpsample", fpsample_kdline),
    "fpsample kdtree": ("fpsample", fpsample_kdtree),
    "fpsample plain": ("fpsample", fpsample_plain),
    "GUDHI": ("gudhi", gudhi),
    "Open3D": ("open3d", open3d_legacy),
    "SciPy loop": ("scipy", scipy_tree),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", help="clouds that farpoint reads")
    parser.add_argument("--points", type=int, nargs="*", default=[10_000, 100_000, 1_000_000],
                        help="sizes of generated clouds")
    parser.add_argument("--ratio", type=float, default=0.25)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("lab/records/python"))
    options = parser.parse_args()
    methods = {name: result for name, result in METHODS.items() if installed(*result)}
    rows, known = [], {}
    for name, points in clouds(options):
        rows += compare(name, points, math.ceil(options.ratio * len(points)), methods, known, options.runs)
    write(rows, options.out / f"peers-{datetime.date.today()}")


def installed(package, _):
    try:
        __import__(package)
        return True
    except ImportError as error:
        print(f"skipped: {package} ({error})")
        return False


def clouds(options):
    """Yields approximate rooms with furniture: points on walls and boxes, float32, in meters."""
    for count in sorted(options.points):
        random = np.random.default_rng(count)
        points = random.random((count, 3)) * [8, 6, 3]
        side = random.integers(0, 6, count)
        points[np.arange(count), side % 3] = np.where(side < 3, 0, np.array([8, 6, 3])[side % 3])
        box = random.random(count) < 0.4
        points[box] = points[box] * 0.2 + random.integers(0, 6, (box.sum(), 3)) * [1.3, 1.0, 0.2]
        yield f"room {count:,}", points.astype(np.float32)
    for file in options.files:
        points = farpoint.read(file).points
        yield pathlib.Path(file).name, np.ascontiguousarray((points - points.min(axis=0)).astype(np.float32))


def compare(name, points, count, methods, known, runs):
    print(f"\n{name}: {len(points):,} points, {count:,} samples", flush=True)
    seconds = {method: [] for method in methods if expected(known, method, len(points)) < PATIENCE}
    outcome = {}
    for _ in range(runs):
        for method in list(seconds):
            begin = time.perf_counter()
            result = methods[method][1](points, count)
            seconds[method].append(time.perf_counter() - begin)
            outcome.setdefault(method, result)
            known[method, len(points)] = seconds[method][-1]
    yardstick = statistics.median(seconds["farpoint"])
    rows = []
    for method, times in seconds.items():
        middle = statistics.median(times)
        check = checked(points, count, outcome[method], outcome["farpoint"], method)
        rows.append({
            "date": datetime.date.today().isoformat(), "machine": machine(), "cloud": name,
            "points": len(points), "samples": count, "method": method,
            "version": importlib.metadata.version(methods[method][0]), "threads": 1, "runs": len(times),
            "seconds": f"{middle:.6g}", "times_farpoint": f"{middle / yardstick:.3g}", "check": check,
        })
        print(f"  {method:<26} {middle:10.4f} s {middle / yardstick:8.2f} x  {check}", flush=True)
    return rows


def expected(known, method, points):
    """Returns the estimated seconds for ``points`` points, assuming quadratic time."""
    sizes = [size for name, size in known if name == method and size <= points]
    return known[method, max(sizes)] * (points / max(sizes)) ** 2 if sizes else 0


def checked(points, count, actual, mine, method):
    """Returns the outcome of checking the indices, as far as possible in reasonable time."""
    indices = np.asarray(actual() if callable(actual) else actual).astype(np.int64)
    if len(np.unique(indices)) != count:
        return f"{len(np.unique(indices))} different indices"
    if method.startswith("farpoint"):
        steps = min(count, 300)
        expected = farpoint.sample(points, steps, algorithm="reference")
        return "equal" if (indices[:steps] == expected).all() else "differs"
    radius, least = radius_of(points, indices), radius_of(points, mine)
    return f"covering radius {radius / least:.4f} of farpoint's"


def radius_of(points, indices):
    from scipy.spatial import cKDTree

    return cKDTree(points[indices]).query(points)[0].max()


def machine():
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")] \
        if cpuinfo.exists() else []
    model = names[0].split(":")[1].strip() if names else platform.machine()
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def write(rows, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    plot(rows, path.with_suffix(".png"))
    print(f"\nwritten: {path}.csv, {path}.png")


def plot(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    names, methods = (list(dict.fromkeys(row[key] for row in rows)) for key in ("cloud", "method"))
    figure, axes = pyplot.subplots(figsize=(3 + 2 * len(names), 4.2))
    width = 0.85 / len(methods)
    for at, method in enumerate(methods):
        times = {row["cloud"]: float(row["seconds"]) for row in rows if row["method"] == method}
        axes.bar([place + at * width for place in range(len(names))],
                 [times.get(name, math.nan) for name in names], width, label=method)
    axes.set_xticks([place + 0.42 for place in range(len(names))], names)
    axes.set(yscale="log", ylabel="seconds, one core", title="A quarter of the points, exact methods")
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
