#!/usr/bin/env python3
"""Compare farpoint with other implementations of exact farthest point sampling.

Run it as `cargo xtask peers [options]`, which builds farpoint and installs the peers of
requirements.txt into .venv. All methods run in one go, each in a process of its own on one
core, taking turns; the figure of a method is the median of its runs. Timed is the call
alone: no reading, no writing. Writes a CSV record and a plot, prints a table.

Clouds are files that farpoint reads, or generated ones such as `room:1000000`. Double
coordinates are moved to their minimum corner and rounded to float32, which is all that
fpsample takes; farpoint gets the very same float32 array.

Every result is checked by brute force in NumPy, step by step up to --check samples (all of
them on small clouds): farpoint's indices must equal those of the obvious loop; a peer, which
may start anywhere and break ties its own way, must choose a farthest point at every step.
"""

import argparse
import csv
import datetime
import importlib.metadata
import json
import math
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

# One thread each, here and in all processes started from here.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402  (after the thread counts are set)

COLUMNS = [
    "date", "machine", "cores", "system", "cloud", "points", "samples", "method", "version",
    "parameter", "threads", "runs", "seconds", "seconds_min", "seconds_max", "processor_seconds",
    "times_farpoint", "checked_samples", "check",
]


def main():
    if sys.argv[1:2] == ["--worker"]:
        return work(*sys.argv[2:])
    options = parse_options()
    if options.core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.cloud:
            rows += compare(name, options, pathlib.Path(folder))
    options.out.mkdir(parents=True, exist_ok=True)
    record = options.out / f"peers-{datetime.date.today()}{options.tag}"
    write_csv(rows, record.with_suffix(".csv"))
    plot(rows, record.with_suffix(".png"))
    print(f"\nwritten: {record}.csv, {record}.png")
    return 1 if any(row["method"] == "farpoint" and row["check"] != "equal" for row in rows) else 0


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--farpoint", required=True, help="the farpoint program")
    parser.add_argument("--cloud", action="append", default=[],
                        help="a file, or kind:points[:seed]; may be repeated (room:100000)")
    parser.add_argument("--ratio", type=float, default=0.25, help="share of the points to choose")
    parser.add_argument("--runs", type=int, default=5, help="runs of each method")
    parser.add_argument("--algorithm", action="append", default=[],
                        help="farpoint's algorithms, the first is the yardstick (auto)")
    parser.add_argument("--heights", default="3-11", help="heights h tried for kdline")
    parser.add_argument("--peers", default="kdline,kdtree,gudhi", help="peers to run")
    parser.add_argument("--check", type=int, default=300, help="steps checked on large clouds")
    parser.add_argument("--timeout", type=float, default=900, help="seconds a run may take")
    parser.add_argument("--core", type=int, default=0, help="pin everything to this core")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("lab/records"))
    parser.add_argument("--tag", default="", help="added to the record's name")
    options = parser.parse_args()
    options.cloud = options.cloud or ["room:100000"]
    options.algorithm = options.algorithm or ["auto"]
    return options


# ---------------------------------------------------------------------------- one cloud

def compare(name, options, folder):
    cloud = folder / "cloud.npy"
    points = load(name, options.farpoint, folder)
    np.save(cloud, points)
    n, m = len(points), math.ceil(options.ratio * len(points))
    print(f"\n{name}: {n:,} points, {m:,} samples", flush=True)

    methods = [("farpoint", algorithm) for algorithm in options.algorithm]
    for peer in options.peers.split(","):
        methods.append((peer, best_height(cloud, m, options) if peer == "kdline" else ""))

    runs = {method: [] for method in methods}
    for _ in range(options.runs):  # taking turns, so that a busy moment hits all alike
        for method in methods:
            if not any("failed" in run for run in runs[method]):
                runs[method].append(run_once(*method, cloud, m, options))

    yardstick = median(runs[methods[0]], "seconds")
    rows = []
    for method in methods:
        row = summary(method, runs[method], yardstick)
        row.update(cloud=pathlib.Path(name).name, points=n, samples=m, **machine())
        row.update(check_run(points, runs[method][0], options.check, method[0]))
        rows.append(row)
        print_row(row)
    return rows


def load(name, farpoint, folder):
    """The cloud's float32 coordinates in their own order."""
    path = pathlib.Path(name)
    if not path.exists():
        kind, count, seed = (name.split(":") + ["1"])[:3]
        path = folder / "generated.npy"
        call(farpoint, "generate", kind, "-n", count, "--seed", seed, "-o", path)
    if path.suffix != ".npy":
        # A sample of all points, put back into the order of the file.
        sampled, indices = folder / "all.npy", folder / "order.npy"
        call(farpoint, "sample", path, "--ratio", "1", "-o", sampled, "--indices", indices)
        points = np.load(sampled)[np.argsort(np.load(indices))]
        sampled.unlink()
    else:
        points = np.load(path)
    if points.dtype.names:  # a structured array: the file has more columns than coordinates
        points = np.stack([points[name] for name in ("x", "y", "z")], axis=1)
    points = points[:, :3]
    if points.dtype != np.float32:
        points = (points - points.min(axis=0)).astype(np.float32)
    return np.ascontiguousarray(points)


def call(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


def best_height(cloud, m, options):
    first, last = (int(part) for part in options.heights.split("-"))
    seconds = {}
    for height in range(first, last + 1):
        run = run_once("kdline", height, cloud, m, options)
        seconds[height] = run.get("seconds", math.inf)
        print(f"  kdline h = {height:<2} {seconds[height]:10.4f} s", flush=True)
        if seconds[height] > 20 * min(seconds.values()):
            break
    for height in sorted(seconds, key=seconds.get)[:3]:  # one run may have been unlucky
        again = run_once("kdline", height, cloud, m, options)
        seconds[height] = min(seconds[height], again.get("seconds", math.inf))
    return min(seconds, key=seconds.get)


# ----------------------------------------------------------------------------- one run

def run_once(method, parameter, cloud, m, options):
    """Seconds of wall and processor time of one call, and the file of its indices."""
    indices = cloud.with_name(f"indices-{method}-{parameter}.npy")
    if method == "farpoint":
        command = [options.farpoint, "sample", cloud, "-n", m, "--algorithm", parameter,
                   "--threads", 1, "--indices", indices, "--json"]
    else:
        command = [sys.executable, __file__, "--worker", method, parameter, cloud, m, indices]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run([str(word) for word in command], check=True, text=True,
                              stdout=subprocess.PIPE, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {options.timeout:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"failed": f"exit status {error.returncode}"}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(done.stdout)
    if method == "farpoint":
        # Processor time of the whole process, reading and writing included.
        processor = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
        report = {"seconds": report["sample_seconds"], "processor_seconds": processor,
                  "algorithm": report["algorithm"]}
    return {**report, "indices": indices}


def work(method, parameter, cloud, m, indices):
    """One call of a peer, in a process of its own (`--worker`)."""
    points, m = np.load(cloud), int(m)
    if method == "gudhi":
        result, seconds, processor = gudhi(points, m)
    else:
        import fpsample
        if method == "kdline":
            function = lambda: fpsample.bucket_fps_kdline_sampling(points, m, h=int(parameter))
        elif method == "kdtree":
            function = lambda: fpsample.bucket_fps_kdtree_sampling(points, m)
        elif method == "plain":
            function = lambda: fpsample.fps_sampling(points, m, start_idx=0)
        else:
            raise SystemExit(f"'{method}' is no peer: kdline, kdtree, plain, gudhi")
        result, seconds, processor = timed(function)
    np.save(indices, np.asarray(result, dtype=np.int64))
    print(json.dumps({"seconds": seconds, "processor_seconds": processor}))


def timed(function):
    wall, processor = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - processor


def gudhi(points, m):
    """`choose_n_farthest_points`, whose fast form is the C++ `choose_n_farthest_points_metric`.

    It takes and gives lists of coordinates. What a call for one sample takes is taken off
    (nearly all of it is that conversion), and rows are looked up afterwards.
    """
    from gudhi.subsampling import choose_n_farthest_points
    cloud = points.astype(np.float64)
    call = lambda count: choose_n_farthest_points(
        points=cloud, nb_points=count, starting_point=0, fast=True)
    call(1)
    _, seconds_of_one, processor_of_one = timed(lambda: call(1))
    result, seconds, processor = timed(lambda: call(m))
    row_of = {}
    for row, point in enumerate(map(tuple, cloud.tolist())):
        row_of.setdefault(point, row)
    indices = [row_of[tuple(point)] for point in result]
    return indices, seconds - seconds_of_one, processor - processor_of_one


# --------------------------------------------------------------------------- exactness

def check_run(points, run, steps, method):
    if "failed" in run:
        return {"checked_samples": 0, "check": run["failed"]}
    indices = np.load(run["indices"])
    if len(points) * len(indices) <= 200_000_000:
        steps = len(indices)
    steps = min(steps, len(indices))
    return {"checked_samples": steps, "check": check(points, indices[:steps], method == "farpoint")}


def check(points, indices, lowest_index):
    """Follows the choices by brute force in float32, each operation rounded on its own."""
    x, y, z = np.ascontiguousarray(points.T)
    distance = np.full(len(points), np.inf, dtype=np.float32)
    worst = 0.0
    for step, chosen in enumerate(indices):
        if step > 0:
            farthest = distance.argmax()  # the lowest index among equals
            if lowest_index and farthest != chosen:
                return f"differs at sample {step}: {chosen}, not {farthest}"
            short = 1 - math.sqrt(max(distance[chosen], 0) / max(distance[farthest], 1e-45))
            worst = max(worst, short)
        dx, dy, dz = x - x[chosen], y - y[chosen], z - z[chosen]
        np.minimum(distance, (dx * dx + dy * dy) + dz * dz, out=distance)
        distance[chosen] = -1  # never again
    if lowest_index:
        return "equal"
    return "farthest at every step" if worst <= 1e-6 else f"up to {worst:.1e} short of farthest"


# -------------------------------------------------------------------------- the record

def median(runs, key):
    return statistics.median(run.get(key, math.nan) for run in runs)


def summary(method, runs, yardstick):
    seconds = [run["seconds"] for run in runs if "seconds" in run] or [math.nan]
    name, parameter = method
    if name == "farpoint" and parameter == "auto" and "algorithm" in runs[0]:
        parameter = f"auto ({runs[0]['algorithm']})"
    if name == "kdline":
        parameter = f"h = {parameter}"
    return {
        "method": name, "parameter": parameter, "version": version(name), "threads": 1,
        "runs": len(seconds), "seconds": statistics.median(seconds), "seconds_min": min(seconds),
        "seconds_max": max(seconds), "processor_seconds": median(runs, "processor_seconds"),
        "times_farpoint": statistics.median(seconds) / yardstick,
    }


def version(method):
    package = {"kdline": "fpsample", "kdtree": "fpsample", "plain": "fpsample"}.get(method, method)
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        manifest = pathlib.Path(__file__).parents[2] / "Cargo.toml"
        return f"{package} " + manifest.read_text().split('version = "')[1].split('"')[0]


def machine():
    model = platform.processor() or platform.machine()
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":")[1].strip() if names else model
    return {"date": datetime.date.today().isoformat(), "machine": model, "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"}


def print_row(row):
    print(f"  {row['method']:<9} {row['parameter']:<13} {row['seconds']:10.4f} s "
          f"({row['seconds_min']:.4f} to {row['seconds_max']:.4f}), "
          f"processor {row['processor_seconds']:.4f} s, {row['times_farpoint']:8.2f} x; "
          f"first {row['checked_samples']}: {row['check']}", flush=True)


def write_csv(rows, path):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value
                             for key, value in row.items()})


def plot(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    clouds = list(dict.fromkeys(row["cloud"] for row in rows))
    labels = list(dict.fromkeys(label(row) for row in rows))
    figure, axes = pyplot.subplots(figsize=(2.5 + 2.2 * len(clouds), 4))
    width = 0.8 / len(labels)
    for at, name in enumerate(labels):
        heights = [next((row["seconds"] for row in rows
                         if row["cloud"] == cloud and label(row) == name), math.nan)
                   for cloud in clouds]
        places = [cloud + (at - (len(labels) - 1) / 2) * width for cloud in range(len(clouds))]
        bars = axes.bar(places, heights, width, label=name)
        axes.bar_label(bars, fmt="%.3g", fontsize=7)
    axes.set_yscale("log")
    axes.set_ylabel("seconds, one core")
    first = [next(row for row in rows if row["cloud"] == cloud) for cloud in clouds]
    axes.set_xticks(range(len(clouds)), [
        f"{row['cloud']}\n{row['points']:,} to {row['samples']:,}" for row in first], fontsize=8)
    axes.set_title(rows[0]["machine"], fontsize=9)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def label(row):
    parameter = "" if row["method"] == "kdline" else " " + row["parameter"].split(" ")[0]
    return row["method"] + parameter.rstrip()


if __name__ == "__main__":
    sys.exit(main())
