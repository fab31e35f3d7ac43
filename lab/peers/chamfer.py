#!/usr/bin/env python3
"""Compare farpoint's nearest neighbors between two clouds with other libraries.

Run it as `cargo xtask peers chamfer [options]`, which builds farpoint and lab/peers-rs and
installs requirements-chamfer.txt into .venv. All methods run in one go, each call the first of a
process of its own, pinned to one core (to two where farpoint gets two threads), taking turns;
the figure of a method is the median of its runs. Timed is what a user waits for: building the
index, and finding the nearest neighbor of every point, in both directions. Reading and writing
are not in it. `farpoint-warm` is the median of five further calls in one process, whose memory and threads are
there. Writes a CSV record, prints a table.

A pair is two clouds with a comma between them: files that farpoint reads, generated clouds such
as `room:1000000:1`, and `+0.1` for the first cloud moved by that much along x.

The sum of the mean squared distances of every method must agree with SciPy's, which computes in
double precision; `off` is the relative difference.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402  (after the thread counts are set)
from peers import call, machine, version  # noqa: E402

COLUMNS = ["date", "machine", "cores", "system", "pair", "a_points", "b_points", "method",
           "version", "threads", "runs", "seconds", "seconds_min", "seconds_max",
           "times_farpoint", "chamfer", "off"]

PEERS = ["kiddo", "pykdtree", "pynanoflann", "scipy", "open3d", "point-cloud-utils"]


def main():
    if sys.argv[1:2] == ["--worker"]:
        return work(*sys.argv[2:])
    options = parse_options()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for pair in options.pair:
            rows += compare(pair, options, pathlib.Path(folder))
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"chamfer-{rows[0]['date']}{options.tag}.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value
                             for key, value in row.items()})
    print(f"\nwritten: {path}")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--farpoint", required=True, help="the farpoint program")
    parser.add_argument("--peers-rs", help="the program of lab/peers-rs, for kiddo")
    parser.add_argument("--pair", action="append", default=[], help="A,B; may be repeated")
    parser.add_argument("--runs", type=int, default=5, help="runs of each method")
    parser.add_argument("--threads", type=int, default=1, help="also farpoint with this many")
    parser.add_argument("--peers", default=",".join(PEERS), help="peers to run")
    parser.add_argument("--core", type=int, default=0, help="pin to this core")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("lab/records"))
    parser.add_argument("--tag", default="", help="added to the record's name")
    options = parser.parse_args()
    options.pair = options.pair or ["object:40000:1,object:40000:2"]
    return options


def compare(pair, options, folder):
    a, b = pair.split(",")
    first = load(a, options.farpoint, folder)
    second = load(b, options.farpoint, folder) if not b.startswith("+") else first.copy()
    if b.startswith("+"):
        second[:, 0] += np.float32(b[1:])
    paths = [folder / "a.npy", folder / "b.npy"]
    for path, points in zip(paths, (first, second)):
        np.save(path, points)
        points.tofile(path.with_suffix(".f32"))
    print(f"\n{pair}: {len(first):,} and {len(second):,} points", flush=True)

    methods = [("farpoint", 1)] + [(peer, 1) for peer in options.peers.split(",") if peer]
    # Also inside a program that has called it before, and with several threads.
    several = [1, options.threads] if options.threads > 1 else [1]
    methods[1:1] = [("farpoint", threads) for threads in several[1:]]
    methods[1:1] = [("farpoint-warm", threads) for threads in several]
    runs = {method: [] for method in methods}
    for _ in range(options.runs):  # taking turns, so that a busy moment hits all alike
        for method in methods:
            runs[method].append(run_once(*method, paths, options))
    seconds = {method: [run["seconds"] for run in runs[method]] for method in methods}
    yardstick = statistics.median(seconds[methods[0]])
    truth = runs[("scipy", 1)][0]["chamfer"] if ("scipy", 1) in runs else float("nan")
    rows = []
    for method in methods:
        name, threads = method
        median, chamfer = statistics.median(seconds[method]), runs[method][0]["chamfer"]
        rows.append({
            **machine(), "pair": ",".join(pathlib.Path(part).name for part in (a, b)),
            "a_points": len(first), "b_points": len(second), "method": name,
            "version": "kiddo 6.3.0" if name == "kiddo" else version(name.removesuffix("-warm")),
            "threads": threads,
            "runs": options.runs, "seconds": median, "seconds_min": min(seconds[method]),
            "seconds_max": max(seconds[method]), "times_farpoint": median / yardstick,
            "chamfer": chamfer, "off": abs(chamfer - truth) / truth})
        print(f"  {name:<18} {threads} {median:9.4f} s ({min(seconds[method]):.4f} to "
              f"{max(seconds[method]):.4f}), {median / yardstick:6.2f} x, off {rows[-1]['off']:.0e}",
              flush=True)
    return rows


def load(name, farpoint, folder):
    """The cloud's coordinates in float32."""
    path = pathlib.Path(name)
    if path.suffix == ".bin" and path.exists():  # KITTI
        return np.fromfile(path, np.float32).reshape(-1, 4)[:, :3].copy()
    if not path.exists():
        kind, count, seed = (name.split(":") + ["1"])[:3]
        path = folder / "generated.npy"
        call(farpoint, "generate", kind, "-n", count, "--seed", seed, "-o", path)
    points = np.load(path)
    if points.dtype.names:
        points = np.stack([points[axis] for axis in "xyz"], axis=1)
    return np.ascontiguousarray(points[:, :3], dtype=np.float32)


def run_once(method, threads, paths, options):
    """Seconds of one call, and the sum of the mean squared distances."""
    cores = {options.core + k for k in range(threads)}
    pin = lambda: os.sched_setaffinity(0, cores) if hasattr(os, "sched_setaffinity") else None
    if method == "farpoint":
        command = [options.farpoint, "chamfer", *paths, "--threads", threads, "--json"]
    elif method in ("kiddo", "farpoint-warm"):
        raw = [path.with_suffix(".f32") for path in paths]
        out = paths[0].with_name(f"{method}.f32")
        name, calls = ("kiddo", 1) if method == "kiddo" else ("auto", 6)
        command = [options.peers_rs, name, *raw, threads, calls, out]
    else:
        command = [sys.executable, __file__, "--worker", method, *paths]
    done = subprocess.run([str(word) for word in command], text=True, preexec_fn=pin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:  # a library that this system can't load, say
        print(f"  {method}: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return {"seconds": float("nan"), "chamfer": float("nan")}
    if method in ("kiddo", "farpoint-warm"):
        result = np.fromfile(out, np.float32).astype(np.float64)
        count = len(np.load(paths[0], mmap_mode="r"))
        seconds = [float(line) for line in done.stdout.split()]
        return {"seconds": statistics.median(seconds[1:] or seconds),
                "chamfer": result[:count].mean() + result[count:].mean()}
    return json.loads(done.stdout)


def work(method, a, b):
    """One call of a peer, in a process of its own (`--worker`)."""
    a, b = np.load(a), np.load(b)
    search = {"scipy": scipy, "pykdtree": pykdtree, "pynanoflann": pynanoflann,
              "open3d": open3d, "point-cloud-utils": point_cloud_utils}[method]
    nearest = search()
    start = time.perf_counter()
    distances = [nearest(a, b), nearest(b, a)]
    seconds = time.perf_counter() - start
    sides = [(np.asarray(side, dtype=np.float64) ** 2).mean() for side in distances]
    print(json.dumps({"seconds": seconds, "chamfer": sum(sides)}))


def scipy():
    from scipy.spatial import cKDTree
    return lambda queries, targets: cKDTree(targets).query(queries)[0]


def pykdtree():
    from pykdtree.kdtree import KDTree
    return lambda queries, targets: KDTree(targets).query(queries)[0]


def pynanoflann():
    from pynanoflann import KDTree

    def nearest(queries, targets):
        tree = KDTree(n_neighbors=1, metric="L2", leaf_size=20)
        tree.fit(targets)
        return tree.kneighbors(queries)[0][:, 0]
    return nearest


def open3d():
    import open3d.core as core

    def nearest(queries, targets):
        search = core.nns.NearestNeighborSearch(core.Tensor.from_numpy(targets))
        search.knn_index()
        _, squared = search.knn_search(core.Tensor.from_numpy(queries), 1)
        return np.sqrt(squared.numpy()[:, 0])
    return nearest


def point_cloud_utils():
    import point_cloud_utils
    return lambda queries, targets: point_cloud_utils.k_nearest_neighbors(
        queries, targets, k=1, num_threads=1)[0]


if __name__ == "__main__":
    sys.exit(main())
