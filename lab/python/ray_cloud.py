"""Scaling of `farpoint.ray` on one machine: one cloud over 1 to 8 actors, one of them killed; files by 1 to 8 tasks.

    python lab/python/ray_cloud.py room.f32 lidar.f32 --workers 8 4 2 1 --rows OUT.jsonl

Each cloud is a file of float32 x, y, z. Every result is compared with ``farpoint.sample``; a difference stops the
program. Rows are JSON, one per run.
"""

import argparse
import collections
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

import numpy as np
import ray

import farpoint
import farpoint.ray
from farpoint.ray import _workers, cloud

KINDS = {1: "begin", 2: "prepare", 3: "count", 4: "solve", 5: "finish", 6: "largest", 7: "chosen", 8: "fill"}


class Clock:
    """Seconds of a run by activity, and its statistics."""

    def __init__(self):
        self.seconds = collections.Counter()
        self.exchanges = collections.Counter()
        self.bytes = collections.Counter()
        self.counts = {}
        self.kill_after = None
        self.killed = None
        transport, ended = _workers.Actors.transport, cloud._Run._ended
        begun, sample, prepare = cloud._Run.open, cloud._Run.sample, _workers.Actors.prepare
        self.begin = time.perf_counter()

        def timed(name, work):
            def call(*arguments):
                begin = time.perf_counter()
                result = work(*arguments)
                self.seconds[name] += time.perf_counter() - begin
                return result

            return call

        def exchange(actors, calls):
            kind = KINDS[calls[0][1][4]]
            begin = time.perf_counter()
            self._kill(actors, begin)
            answers = transport(actors, calls)
            self.seconds[kind] += time.perf_counter() - begin
            self.exchanges[kind] += 1
            self.bytes["asked"] += sum(len(request) for _, request in calls)
            self.bytes["answered"] += sum(len(answer) for answer in answers if isinstance(answer, bytes))
            return answers

        def counted(run, statistics):
            self.counts.update(statistics)
            ended(run, statistics)

        _workers.Actors.transport = exchange
        cloud._Run._ended = counted
        cloud._Run.open = timed("opening", begun)
        cloud._Run.sample = timed("sampling, all", sample)
        cloud._Run._save = timed("manifest", cloud._Run._save)
        _workers.Actors.prepare = timed("handing out", prepare)

    def restart(self, kill_after=None):
        for counter in (self.seconds, self.exchanges, self.bytes, self.counts):
            counter.clear()
        self.killed, self.kill_after, self.begin = None, kill_after, time.perf_counter()

    def _kill(self, actors, now):
        """Kills an actor's process in the middle of the run."""
        if self.kill_after is None or now - self.begin < self.kill_after:
            return
        process = ray.get(actors.actors[0].ready.remote(), timeout=100)
        self.kill_after, self.killed = None, now - self.begin
        os.kill(process, signal.SIGKILL)


class Bench:
    def __init__(self, options):
        self.options = options
        self.begin = time.monotonic()
        self.clock = Clock()

    def over(self, expected=0.0):
        return time.monotonic() - self.begin + expected > self.options.deadline

    def row(self, **row):
        text = json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()})
        print(text, flush=True)
        if self.options.rows:
            with open(self.options.rows, "a") as file:
                file.write(text + "\n")

    def cloud(self, path, count, workers, kill):
        points = np.fromfile(path, np.float32, 3 * count if count > 0 else -1).reshape(-1, 3)
        name, ratio = pathlib.Path(path).stem, self.options.ratio
        truth = None
        for threads in self.options.threads:
            begin = time.perf_counter()
            truth = farpoint.sample(points, ratio=ratio, threads=threads, return_distances=True)
            self.row(run="in memory", cloud=name, points=len(points), threads=threads,
                     seconds=time.perf_counter() - begin)
        if self.options.warm:
            # Ray reuses the processes that it has started.
            farpoint.ray.sample(points[:2_000_000], 1000, tiles=max(workers), time_limit=200)
        seconds = {}
        for count in workers:
            # A run with half as many actors takes at most twice as long.
            expected = min((2 * taken for more, taken in seconds.items() if more == 2 * count), default=0)
            if self.over(expected):
                print(f"left out for time: {name}, {count} workers")
                continue
            seconds[count] = self.run(name, points, truth, count)["seconds"]
            if kill and count == max(workers) and not self.over(2 * seconds[count]):
                self.run(name, points, truth, count, kill_after=0.6 * seconds[count])

    def run(self, name, points, truth, workers, kill_after=None):
        clock = self.clock
        clock.restart(kill_after)
        begin = time.perf_counter()
        result = farpoint.ray.sample(points, ratio=self.options.ratio, tiles=workers, time_limit=200)
        seconds = time.perf_counter() - begin
        for mine, other in zip(result, truth, strict=True):
            if not np.array_equal(mine, other):
                sys.exit(f"{name}, {workers} workers: not what farpoint.sample has chosen")
        counts = clock.counts
        row = {
            "run": "actors" if kill_after is None else "actors, one killed", "cloud": name, "points": len(points),
            "workers": workers, "seconds": seconds, "killed_after": clock.killed, "rounds": counts["rounds"],
            "bands": counts["bands"], "deep": counts["deep_bands"], "exchanges": sum(clock.exchanges.values()),
            "told": (counts["sent_facts"] + counts["sent_undecided"]) / len(result.indices),
            "recovered": counts["recovered"],
            "MB": {key: round(value / 1e6, 1) for key, value in clock.bytes.items()},
            "parts": {key: round(value, 3) for key, value in clock.seconds.items()}, "equal": True,
        }
        self.row(**row)
        return row

    def files(self, path, folder):
        """Measures parts of a cloud, each a file, by tasks."""
        size, files = self.options.file_points, self.options.files
        for k in range(files):
            part = np.fromfile(path, np.float32, 3 * size, offset=12 * size * k).reshape(-1, 3)
            np.save(folder / f"{k:03}.npy", part)
        for workers in self.options.file_workers or self.options.workers:
            if self.over(5):
                break
            begin = time.perf_counter()
            rows = farpoint.ray.sample_files(
                folder, folder / f"out-{workers}", ratio=self.options.ratio, workers=workers
            )
            errors = [row.error for row in rows if row.error]
            if errors or len(rows) != files:
                sys.exit(f"{len(rows)} files, {errors[:3]}")
            self.row(run="files", files=files, points=size, workers=workers, seconds=time.perf_counter() - begin,
                     work=sum(row.seconds for row in rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clouds", nargs="+", help="files of float32 x, y, z")
    parser.add_argument("--points", type=float, default=-1, help="points of each, from the first on")
    parser.add_argument("--ratio", type=float, default=0.25)
    parser.add_argument("--workers", type=int, nargs="+", default=[8, 4, 2, 1])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 16], help="of runs in memory")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--file-workers", type=int, nargs="+", help="tasks at a time; as --workers unless given")
    parser.add_argument("--file-points", type=int, default=500_000)
    parser.add_argument("--kill", action="store_true", help="once more, with one actor killed")
    parser.add_argument("--warm", action="store_true", help="a small run before, that starts processes")
    parser.add_argument("--deadline", type=float, default=1e9, help="seconds; nothing is begun that would not end before")
    parser.add_argument("--rows", help="file that rows are added to")
    options = parser.parse_args()
    bench = Bench(options)
    package = str(pathlib.Path(farpoint.__file__).parent.parent)
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    ray.init(
        num_cpus=max(options.workers), include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": path}}, object_store_memory=int(16e9) if os.cpu_count() > 8 else None,
    )
    for path in options.clouds:
        bench.cloud(path, int(options.points), options.workers, options.kill)
    if options.files:
        with tempfile.TemporaryDirectory() as folder:
            bench.files(options.clouds[0], pathlib.Path(folder))


if __name__ == "__main__":
    main()
