"""``write`` of what ``farpoint.ray.sample`` returns: the bytes of the same in memory, whole or not at all. Without
Ray; test_ray_cloud.py has it all."""

import os
import pickle
import signal
import time

import numpy as np
import pytest
from processes import running

import farpoint
from farpoint.ray._actor import stamp
from farpoint.ray.result import CloudSample, Files

INPUTS, OUTPUTS = ["laz", "ply", "npy"], ["laz", "ply", "npy"]


def scan(n):
    """Points with attributes, steps of a millimetre, some of them twice."""
    random = np.random.default_rng(1)
    points = random.integers(0, 50_000, (n, 3)) / 1000 + (512_000, 5_403_000, 300)
    points[n // 2 :: 7] = points[: len(points[n // 2 :: 7])]
    cloud = farpoint.Cloud.from_points(points)
    for name, most, dtype in [
        ("intensity", 60_000, np.uint16), ("classification", 30, np.uint8), ("red", 65_000, np.uint16),
        ("green", 65_000, np.uint16), ("blue", 65_000, np.uint16),
    ]:
        cloud = cloud.with_column(name, random.integers(0, most, n).astype(dtype))
    cloud = cloud.with_column("gps_time", np.sort(random.random(n)) * 1e5)
    return cloud.with_column("number", np.arange(n, dtype=np.int32))


def chosen(paths, **options):
    """What ``farpoint.ray.sample`` returns of these files, without Ray."""
    paths = [str(path) for path in paths]
    points = np.concatenate([farpoint.read(path).points for path in paths])
    result = CloudSample(*farpoint.sample(points, return_distances=True, **options))
    result.files = Files(paths, [stamp(path) for path in paths], None, None, None)
    return result


def check_bytes(result, path, folder):
    """Each format is what ``sample_file`` writes, which samples in memory, and ``farpoint.write`` of the rows."""
    folder.mkdir(exist_ok=True)
    cloud = farpoint.read(path)[result.indices]
    for name in OUTPUTS:
        mine, memory, rows = (folder / f"{kind}.{name}" for kind in ("mine", "memory", "rows"))
        warnings = result.write(mine, memory="64MiB")
        farpoint.sample_file(path, memory, count=len(result.indices))
        assert warnings == farpoint.write(rows, cloud)
        assert mine.read_bytes() == memory.read_bytes() == rows.read_bytes(), (path, name)
        written = farpoint.read(mine)
        assert len(written) == len(result.indices)
        if path.suffix == f".{name}":
            assert written.records.tobytes() == cloud.records.tobytes()
    assert len(os.listdir(folder)) == 3 * len(OUTPUTS)


@pytest.mark.parametrize("kind", INPUTS)
def test_the_bytes_of_the_same_in_memory(kind, tmp_path):
    path = tmp_path / f"scan.{kind}"
    farpoint.write(path, scan(6000))
    check_bytes(chosen([path], ratio=0.3), path, tmp_path / "out")


def test_none_and_all(tmp_path):
    path = tmp_path / "scan.ply"
    farpoint.write(path, scan(300))
    check_bytes(chosen([path], count=0), path, tmp_path / "none")
    check_bytes(chosen([path], count=300), path, tmp_path / "all")


@pytest.mark.parametrize("kind", INPUTS)
def test_several_files_are_one(kind, tmp_path):
    whole = scan(2901)
    parts = {"whole": whole, "a": whole[:900], "b": whole[900:901], "c": whole[901:]}
    paths = {name: tmp_path / f"{name}.{kind}" for name in parts}
    for name, part in parts.items():
        farpoint.write(paths[name], part)
    one = chosen([paths["whole"]], ratio=0.4)
    several = chosen([paths[name] for name in "abc"], ratio=0.4)
    np.testing.assert_array_equal(one.indices, several.indices)
    for name in OUTPUTS:
        result = [tmp_path / f"{k}-thin.{name}" for k in range(2)]
        assert one.write(result[0]) == several.write(result[1])
        mine, truth = farpoint.read(result[1]), farpoint.read(result[0])
        assert len(mine) == len(one.indices) and mine.fields == truth.fields
        np.testing.assert_array_equal(mine.points, truth.points)
        assert mine.records.tobytes() == truth.records.tobytes()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_what_can_not_be_written_leaves_nothing(tmp_path):
    path, folder = tmp_path / "scan.ply", tmp_path / "out"
    folder.mkdir()
    (folder / "folder.ply").mkdir()
    (folder / "old.ply").write_bytes(b"old")
    farpoint.write(path, scan(500))
    result = chosen([path], ratio=0.5)
    before = sorted(os.listdir(folder))
    for to, options, error, words in [
        (tmp_path / "none/thin.ply", {}, OSError, "none"),
        (folder / "folder.ply", {}, OSError, r"folder\.ply"),
        (folder / "thin.docx", {}, ValueError, "docx"),
        (folder / "thin.ply", {"format": "docx"}, ValueError, "docx"),
        (folder / "thin.ply", {"memory": "much"}, ValueError, "memory is 'much'"),
        (folder / "old.ply", {"precision": "triple"}, ValueError, "triple"),
        (path, {}, ValueError, "is one of the files"),
    ]:
        with pytest.raises(error, match=words):
            result.write(to, **options)
    outside = result._replace(indices=np.append(result.indices, 500))
    with pytest.raises(ValueError, match="row 500 does not exist; it has 500 rows"):
        outside.write(folder / "old.ply")
    with pytest.raises(ValueError, match="only samples of files"):
        CloudSample(*result).write(folder / "thin.ply")
    assert sorted(os.listdir(folder)) == before and (folder / "old.ply").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["out", "scan.ply"]
    result.write(folder / "old.ply")
    assert len(farpoint.read(folder / "old.ply")) == 250


def test_a_file_that_was_changed_since_is_an_error(tmp_path):
    path = tmp_path / "scan.ply"
    farpoint.write(path, scan(500))
    result = chosen([path], ratio=0.5)
    again = pickle.loads(pickle.dumps(result))
    assert again.files == result.files and again.write(tmp_path / "a.ply") == []
    farpoint.write(path, scan(501))
    for one in (result, again):
        with pytest.raises(ValueError, match=r"scan\.ply has changed since it was sampled"):
            one.write(tmp_path / "b.ply")
    path.unlink()
    with pytest.raises(FileNotFoundError):
        result.write(tmp_path / "b.ply")
    assert sorted(os.listdir(tmp_path)) == ["a.ply"]


class Interrupted(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals of POSIX")
def test_a_signal_stops_it(tmp_path):
    path = tmp_path / "scan.npy"
    np.save(path, np.random.default_rng(1).random((2_000_000, 3)))
    result = CloudSample(np.random.default_rng(2).permutation(2_000_000), np.zeros(0), 0.0)
    result.files = Files([str(path)], [stamp(path)], None, None, None)

    def raised(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, raised)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(Interrupted):
            result.write(tmp_path / "thin.laz", memory="64MiB")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert os.listdir(tmp_path) == ["scan.npy"]


PROGRAM = """
    import numpy as np
    from farpoint.ray._actor import stamp
    from farpoint.ray.result import CloudSample, Files
    path = {path!r}
    found = CloudSample(np.random.default_rng(2).permutation({rows}), np.zeros(0), 0.0)
    found.files = Files([path], [stamp(path)], None, None, None)
    print("ready", flush=True)
    found.write({out!r}, memory="64MiB")
"""


@pytest.mark.parametrize("seen", [".farpoint-spool-", ".tmp"])
def test_a_killed_process_leaves_the_old_file(seen, tmp_path):
    path, out, rows = tmp_path / "scan.npy", tmp_path / "out", 1_000_000
    out.mkdir()
    np.save(path, np.random.default_rng(1).random((rows, 3)))
    (out / "thin.npy").write_bytes(b"old")
    with running(PROGRAM.format(path=str(path), out=str(out / "thin.npy"), rows=rows)) as child:
        assert child.stdout.readline() == "ready\n"
        until = time.monotonic() + 60
        while not any(seen in name for name in os.listdir(out)):
            assert time.monotonic() < until and child.poll() is None, os.listdir(out)
        child.kill()
        child.wait(30)
    assert (out / "thin.npy").read_bytes() == b"old"
