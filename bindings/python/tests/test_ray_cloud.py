"""``farpoint.ray.sample``: one cloud over actors of Ray on this machine."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import farpoint

ray = pytest.importorskip("ray", reason="Ray is not installed")
import farpoint.ray  # noqa: E402
from farpoint.ray import _log, _storage, _workers, cloud  # noqa: E402
from ray_cluster import PACKAGE, cluster, compare, equal, limit, room, takes_minutes  # noqa: E402, F401

pytestmark = pytest.mark.usefixtures("cluster")

#: Requests by the byte that says their kind.
KINDS = {1: "begin", 2: "prepare", 3: "count", 4: "solve", 5: "finish", 6: "largest", 7: "chosen", 8: "fill"}


def lidar(n):
    """One scanner position: the density falls by the square of the distance."""
    random = np.random.default_rng(n)
    angle, height = random.random(n) * 2 * np.pi, random.random(n)
    far = 2 / (0.02 + height)
    points = np.stack([far * np.cos(angle), far * np.sin(angle), np.where(height < 0.6, 0, height)], axis=1)
    return points.astype(np.float32)


def lattice(side):
    steps = np.arange(side, dtype=np.float32)
    points = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    return np.random.default_rng(side).permutation(points)


def duplicates(n):
    return np.random.default_rng(n).integers(0, 7, (n, 3)).astype(np.float64)


#: Points, tiles, options: the first few in every run.
CLOUDS = [
    (room(4000), 1, {"count": 1000}),
    (room(3000, np.float64), 3, {"spacing": 0.4}),
    (lidar(4000), 4, {"ratio": 0.3, "seed": 7}),
    (lidar(2000)[:, :2], 2, {"count": 300, "start": [5, 1900, 17]}),
    (lattice(12), 7, {"count": 900}),
    (duplicates(1500), 3, {"count": 1400, "start": 11}),
    (np.repeat(room(1), 40, axis=0), 4, {"count": 30}),
    (room(3), 3, {"ratio": 1.0}),
    (room(9), 2, {"count": 0}),
    (np.zeros((0, 3)), 2, {"ratio": 0.5}),
    (room(4000), 8, {"ratio": 0.25}),
]


@pytest.mark.parametrize(
    "points, tiles, options", [*CLOUDS[:2], *(pytest.param(*cloud, marks=takes_minutes) for cloud in CLOUDS[2:])]
)
def test_equal_to_sample(points, tiles, options):
    compare(points, tiles=tiles, **options)


def test_rows_with_nan():
    points = room(2000)
    points[[0, 3, 1500], [0, 1, 2]] = np.nan
    with pytest.raises(ValueError, match="row 0 and 2 others of 2000 have NaN"):
        farpoint.ray.sample(points, 10, tiles=1, num_cpus=0.1)
    compare(points, tiles=2, ratio=0.2, non_finite="skip")
    compare(points, tiles=1, count=100, seed=3, non_finite="skip")
    with pytest.raises(ValueError, match="start index 3 names a row with NaN"):
        farpoint.ray.sample(points, 10, tiles=1, num_cpus=0.1, start=3, non_finite="skip")


@takes_minutes
def test_files_are_one_cloud(tmp_path):
    parts = [room(900), lidar(700), room(1), room(1100) + np.float32(3)]
    paths = [tmp_path / f"{k}.ply" for k in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        farpoint.write(path, part)
    points = np.concatenate(parts)
    for tiles, options in [(3, {"ratio": 0.3}), (9, {"count": 200, "start": [1600, 2]}), (1, {"count": 5, "seed": 1})]:
        result = farpoint.ray.sample(paths, tiles=tiles, num_cpus=0.1, **options)
        equal(result, farpoint.sample(points, return_distances=True, **options))
    assert result.write(tmp_path / "thin.ply", memory="64MiB") == []
    np.testing.assert_array_equal(farpoint.read(tmp_path / "thin.ply").points, points[result.indices])
    parts[1] = parts[1].astype(np.float64)
    parts[1][0] = np.inf
    farpoint.write(paths[1], parts[1])
    points = np.concatenate(parts)
    with pytest.raises(ValueError, match=r"row 900 and 0 others of 2701 .*1\.ply"):
        farpoint.ray.sample(paths, 5, tiles=2, num_cpus=0.1)
    result = farpoint.ray.sample(paths, 500, tiles=2, num_cpus=0.1, non_finite="skip")
    equal(result, farpoint.sample(points, 500, return_distances=True, non_finite="skip"))


@takes_minutes
def test_a_file_that_is_changed_is_an_error(monkeypatch, tmp_path):
    path = tmp_path / "a.ply"
    farpoint.write(path, room(900))
    call, made = _workers.Actors.transport, []

    def transport(actors, calls):
        made.append(1)
        if len(made) == 9:
            farpoint.write(path, room(901))
            ray.kill(actors.actors[0], no_restart=False)
        return call(actors, calls)

    monkeypatch.setattr(_workers.Actors, "transport", transport)
    with pytest.raises(RuntimeError, match=r"a\.ply has changed since the run began"):
        farpoint.ray.sample(path, 300, num_cpus=0.1)


class Murderer:
    """Kills the process of an actor where a request of some kind is made for the n-th time."""

    def __init__(self, monkeypatch, kind, before):
        self.kind, self.before, self.seen, self.killed = kind, before, 0, 0
        call = _workers.Actors.transport

        def transport(actors, calls):
            hit = False
            if KINDS[calls[0][1][4]] == self.kind:
                self.seen += 1
                # The first requests tell about nothing yet.
                hit = self.killed == 0 and self.seen >= (3 if self.kind in ("prepare", "solve", "finish") else 1)
            if not hit:
                return call(actors, calls)
            self.killed += 1
            tile = calls[-1][0]
            process = ray.get(actors.actors[tile].ready.remote(), timeout=60)
            if self.before:
                os.kill(process, signal.SIGKILL)
                return call(actors, calls)
            answers = call(actors, calls)
            os.kill(process, signal.SIGKILL)
            until = time.monotonic() + 60
            while time.monotonic() < until:  # and it is another one
                try:
                    if ray.get(actors.actors[tile].ready.remote(), timeout=60) != process:
                        break
                except ray.exceptions.RayActorError:
                    time.sleep(0.1)
            return answers

        monkeypatch.setattr(_workers.Actors, "transport", transport)


PHASES = [(kind, before) for kind in KINDS.values() for before in (True, False)]


@pytest.mark.parametrize(
    "kind, before",
    [("solve", True), *(pytest.param(*phase, marks=takes_minutes) for phase in PHASES if phase != ("solve", True))],
)
def test_an_actor_killed_in_each_phase(kind, before, monkeypatch, tmp_path):
    murderer = Murderer(monkeypatch, kind, before)
    points, options = room(2000), {"count": 500}
    if kind in ("count", "fill"):
        points, options = duplicates(900), {"count": 880}
    if kind == "largest":
        options = {"spacing": 0.5}
    compare(points, log=tmp_path / "log" if before else None, **options)
    assert murderer.killed == 1


DRIVER = """
import os, sys, numpy as np, ray, farpoint, farpoint.ray
from farpoint.ray import cloud
ray.init(num_cpus=2, address="local", object_store_memory=100 << 20, include_dashboard=False, log_to_driver=False)
save, left = cloud._Run._save, [int(sys.argv[3])]
def stop(run, manifest):
    save(run, manifest)
    left[0] -= 1
    if left[0] == 0:
        os._exit(9)
cloud._Run._save = stop
farpoint.ray.sample(np.load(sys.argv[1]), 700, tiles=3, num_cpus=0.1, log=sys.argv[2])
"""


@takes_minutes
@pytest.mark.parametrize("url", ["", "file://"])
def test_a_new_driver_goes_on(url, tmp_path, monkeypatch):
    if url:
        pytest.importorskip("fsspec")
    points, log = room(3000), f"{url}{tmp_path}/log"
    np.save(tmp_path / "points.npy", points)
    for bands in (2, 9):
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(DRIVER), tmp_path / "points.npy", log, str(bands)],
            env={**os.environ, "PYTHONPATH": PACKAGE}, timeout=150,
        )
        assert ended.returncode == 9
    with pytest.raises(ValueError, match="has the log of another run"):
        compare(points, log=log, count=701)
    resumed, conductor = [], farpoint._native.Conductor
    monkeypatch.setattr(cloud._native, "Conductor", lambda *a: resumed.append(a[-1]) or conductor(*a))
    compare(points, log=log, count=700)
    # What is done is told again.
    compare(points, log=log, count=700)
    assert all(resumed)
    # A part of a log that is lost is an error, no wrong result.
    folder = tmp_path / "log/tile-00001"
    (folder / max(os.listdir(folder))).unlink()
    with pytest.raises(RuntimeError, match="the log of tile 1 has .* finished bands"):
        compare(points, log=log, count=700)


@takes_minutes
def test_a_second_driver_takes_over(tmp_path, monkeypatch):
    save, saved = cloud._Run._save, []

    def taken(run, manifest):
        saved.append(1)
        if len(saved) == 3:
            run._storage.put(_log.DRIVER, b"another")
        save(run, manifest)

    monkeypatch.setattr(cloud._Run, "_save", taken)
    with pytest.raises(RuntimeError, match="another driver has taken over"):
        compare(room(1000), log=tmp_path / "log", count=300)
    monkeypatch.undo()
    compare(room(1000), log=tmp_path / "log", count=300)


def test_an_actor_that_never_answers_is_an_error_with_its_name(monkeypatch):
    call, stopped, calls_made = _workers.Actors.transport, [], []

    def transport(actors, calls):
        calls_made.append(1)
        if len(calls_made) == 6:
            stopped.append(ray.get(actors.actors[1].ready.remote(), timeout=60))
            os.kill(stopped[0], signal.SIGSTOP)
            # Not before: actors must start on a busy machine, too.
            actors._limit = 5
        return call(actors, calls)

    monkeypatch.setattr(_workers.Actors, "transport", transport)
    began = time.monotonic()
    try:
        with pytest.raises(TimeoutError, match=r"farpoint-\w+-tile-1 was given up after 5 s"):
            farpoint.ray.sample(room(3000), 900, tiles=2, num_cpus=0.1, time_limit=80)
    finally:
        for process in stopped:
            os.kill(process, signal.SIGKILL)
    assert time.monotonic() - began < 80


def test_what_is_chosen_of_files_is_written(tmp_path):
    points = room(3000)
    whole = farpoint.Cloud.from_points(points).with_column("number", np.arange(3000, dtype=np.int32))
    whole = whole.with_column("intensity", (points[:, 0] * 1000).astype(np.uint16))
    for name, part in [("whole", whole), ("a", whole[:1400]), ("b", whole[1400:])]:
        farpoint.write(tmp_path / f"{name}.ply", part)
    result = farpoint.ray.sample([tmp_path / "a.ply", tmp_path / "b.ply"], ratio=0.25, num_cpus=0.1, tiles=2)
    assert isinstance(result, farpoint.Sample) and result._replace(covering_radius=1).files == result.files
    for kind in ("ply", "npy", "laz"):
        farpoint.sample_file(tmp_path / "whole.ply", tmp_path / f"memory.{kind}", ratio=0.25)
        result.write(tmp_path / f"thin.{kind}", memory="64MiB")
        assert (tmp_path / f"thin.{kind}").read_bytes() == (tmp_path / f"memory.{kind}").read_bytes()
    np.testing.assert_array_equal(farpoint.read(tmp_path / "thin.ply")["number"], result.indices)


def test_arguments():
    with pytest.raises(ValueError, match="pass one of count, ratio and spacing"):
        farpoint.ray.sample(room(10))
    with pytest.raises(ValueError, match="start 10 is outside the cloud, which has 10 points"):
        farpoint.ray.sample(room(10), 2, start=10, tiles=1, num_cpus=0.1)
    with pytest.raises(ValueError, match="pass start or seed"):
        farpoint.ray.sample(room(10), 2, start=1, seed=1)
    with pytest.raises(ValueError, match="11"):
        farpoint.ray.sample(room(10), 11, tiles=1, num_cpus=0.1)
    with pytest.raises(TypeError, match="float32 or float64"):
        farpoint.ray.sample(np.zeros((4, 3), int), 2, tiles=1)
    with pytest.raises(FileNotFoundError):
        farpoint.ray.sample(["no such file.ply"], 2, tiles=1)


class Memory(dict):
    """A storage in memory."""

    def put(self, name, content):
        self[name] = content

    def names(self, folder):
        return sorted(name.split("/")[1] for name in self if name.startswith(f"{folder}/"))

    def delete(self, name):
        self.pop(name, None)


def test_the_log_keeps_what_was_synced():
    storage = Memory(driver=b"me")
    log = _log.Log(storage, "t", b"me")
    records = [bytes([k]) * k for k in range(9)]
    for ends in ((0, 2), (2, 3), (3, 7)):
        for record in records[slice(*ends)]:
            log.append(record)
        log.sync()
    log.append(b"lost")
    for opened, there in ((log, 8), (_log.Log(storage, "t", b"me"), 7)):
        assert opened.records() == there
        assert [opened.record(k) for k in (6, 0, 2, 1, 5, 4, 3)] == [records[k] for k in (6, 0, 2, 1, 5, 4, 3)]
    log.truncate(5)  # within an object
    assert (log.records(), log.record(4)) == (5, records[4])
    assert _log.Log(storage, "t", b"me").records() == 3
    log.sync()
    assert _log.Log(storage, "t", b"me").record(4) == records[4]
    storage["driver"] = b"other"
    log.append(b"x")
    with pytest.raises(RuntimeError, match="another driver"):
        log.sync()
    with pytest.raises(RuntimeError, match="another driver"):
        log.truncate(0)


@pytest.mark.parametrize("url", ["", "file://", "memory://farpoint"])
def test_what_was_written_by_halves_is_not_there(url, tmp_path):
    if url:
        pytest.importorskip("fsspec")
    storage = _storage.open_storage(url if "memory" in url else f"{url}{tmp_path}/log", 10)
    assert storage.names("t") == [] and storage.get("t/0") is None
    storage.delete("t/0")
    storage.put("t/1", b"one")
    storage.put("t/0", b"")
    storage.put("t/0", b"zero" * 1000)
    assert storage.names("t") == ["0", "1"] and storage.get("t/0") == b"zero" * 1000
    if "memory" not in url:
        path = tmp_path / "log/t/0"
        path.write_bytes(path.read_bytes()[:-1])
        assert storage.get("t/0") is None and storage.get("t/1") == b"one"
    storage.delete("t/1")
    assert storage.names("t") == ["0"]
