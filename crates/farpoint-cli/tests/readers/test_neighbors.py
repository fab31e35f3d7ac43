"""What `farpoint neighbors` writes, read by NumPy and compared with an obvious loop of NumPy."""

import numpy as np
import pytest

import command

RADIUS = 0.35


@pytest.fixture(scope="module")
def clouds(tmp_path_factory):
    """Two clouds of small steps, so that many distances are equal, in both types."""
    folder = tmp_path_factory.mktemp("neighbors")
    random = np.random.default_rng(5)
    made = {}
    for kind in ("float32", "float64"):
        x, y = (random.integers(0, 12, (rows, 3)).astype(kind) / 10 for rows in (150, 210))
        for name, rows in (("x", x), ("y", y)):
            np.save(folder / f"{name}-{kind}.npy", rows)
        made[kind] = x, y
    return folder, made


def distances_of(x, y, norm):
    """(N, M), each operation rounded on its own, in the type of the points."""
    apart = [x[:, None, axis] - y[None, :, axis] for axis in range(3)]
    terms = [np.abs(a) if norm == 1 else a * a for a in apart]
    return (terms[0] + terms[1]) + terms[2]


def places_of(distances, allowed, k, by_index):
    """Indices (N, k), -1 where there is none."""
    found = np.full((len(distances), k), -1, np.int64)
    for row, counts in enumerate(allowed):
        candidates = np.flatnonzero(counts)
        if not by_index:
            candidates = candidates[np.argsort(distances[row, candidates], kind="stable")]
        found[row, : len(candidates)] = candidates[:k]
    return found


def limits_of(raw, radius, norm, inclusive):
    limit = radius if norm == 1 else radius * radius
    return raw <= limit if inclusive else raw < limit


CASES = [
    ("-k 16", {}),
    ("-k 300", {}),
    ("-k 7 --norm 1", {"norm": 1}),
    (f"-k 8 --radius {RADIUS}", {"radius": RADIUS, "by_index": True}),
    (f"-k 8 --radius {RADIUS} --order nearest", {"radius": RADIUS}),
    ("-k 8 --radius 0.3 --inclusive", {"radius": 0.3, "by_index": True, "inclusive": True}),
    ("-k 200 --radius 30cm --norm 1 --order nearest", {"radius": 0.3, "norm": 1}),
]


# With norm 1 nothing is squared.
SQUARED = [(f"{options} --squared", rule) for options, rule in CASES if "norm" not in rule]


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize(("options", "rule"), CASES + SQUARED)
def test_places(clouds, kind, options, rule):
    folder, made = clouds
    x, y = made[kind]
    norm = rule.get("norm", 2)
    files = folder / f"x-{kind}.npy", folder / f"y-{kind}.npy"
    out = folder / "places.npz"
    command.run("neighbors", *files, *options.split(), "-o", out)
    raw = distances_of(x, y, norm)
    radius = np.array(rule.get("radius", np.inf), kind)
    allowed = limits_of(raw, radius, norm, rule.get("inclusive", False))
    k = int(options.split()[1])
    expected = places_of(raw, allowed, k, rule.get("by_index", False))
    with np.load(out) as arrays:
        assert sorted(arrays.files) == ["counts", "distances", "indices"]
        distances, indices, counts = (arrays[name] for name in ("distances", "indices", "counts"))
    assert (distances.dtype, indices.dtype, counts.dtype) == (kind, np.int64, np.int64)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(counts, np.minimum(allowed.sum(axis=1), k))
    found = np.take_along_axis(raw, np.maximum(expected, 0), axis=1)
    found = found if "--squared" in options or norm == 1 else np.sqrt(found)
    np.testing.assert_array_equal(distances, np.where(expected < 0, np.array(np.inf, kind), found))


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("order", ["index", "nearest"])
def test_all_in_the_ball(clouds, kind, order):
    folder, made = clouds
    x, _ = made[kind]
    out, source = folder / "all.npz", folder / f"x-{kind}.npy"
    command.run("neighbors", source, "--radius", RADIUS, "--order", order, "--exclude-self", "-o", out)
    raw = distances_of(x, x, 2)
    allowed = limits_of(raw, np.array(RADIUS, kind), 2, False) & ~np.eye(len(x), dtype=bool)
    expected = places_of(raw, allowed, len(x), order == "index")
    with np.load(out) as arrays:
        offsets, indices, distances = (arrays[name] for name in ("offsets", "indices", "distances"))
    np.testing.assert_array_equal(offsets, np.concatenate([[0], np.cumsum(allowed.sum(axis=1))]))
    rows, places = np.nonzero(expected >= 0)
    np.testing.assert_array_equal(indices, expected[rows, places])
    np.testing.assert_array_equal(distances, np.sqrt(raw[rows, indices]))
    assert (distances.dtype, indices.dtype, offsets.dtype) == (kind, np.int64, np.int64)


def test_a_stream_is_read_as_well(clouds):
    import io
    import subprocess

    folder, _ = clouds
    line = [command.PROGRAM, "neighbors", str(folder / "x-float32.npy"), "-k", "4", "-o"]
    done = subprocess.run([*line, "-"], capture_output=True, timeout=command.SECONDS)
    assert (done.returncode, done.stderr) == (0, b"")
    subprocess.run([*line, str(folder / "file.npz")], check=True, capture_output=True)
    with np.load(io.BytesIO(done.stdout)) as stream, np.load(folder / "file.npz") as file:
        for name in file.files:
            np.testing.assert_array_equal(stream[name], file[name])
