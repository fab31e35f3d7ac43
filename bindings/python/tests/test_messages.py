"""Arguments that people pass by mistake: errors and warnings that name the way out, in words of Python."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint

POINTS = np.random.default_rng(1).random((300, 3))
BAD = np.concatenate([POINTS[:1] * np.nan, POINTS[1:8], POINTS[:1] * np.inf, POINTS[9:]])


class Scan:
    """Coordinates as laspy holds them: no array, though it can be indexed."""

    xyz = POINTS

    def __getitem__(self, name: str) -> Any:
        return POINTS[:, "xyz".index(name)]


class Mask:
    """Booleans as pandas holds them: an array with a ``get`` that has nothing to do with a GPU."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values.astype(dtype) if dtype else self.values

    def get(self, key: Any, default: Any = None) -> Any:
        raise AssertionError("not for masks")

    cpu = get


def sampled(points: Any = POINTS, count: Any = 5, **options: Any) -> Any:
    return lambda: farpoint.sample(points, count, **options)


RECORDS = np.zeros(9, [("x", "f4"), ("y", "f4"), ("z", "f4")])
NOTHING = np.zeros(300, bool)


@pytest.mark.parametrize(("call", "error", "match"), [
    (sampled(Scan()), TypeError, r"Scan; pass its \.xyz"),
    (lambda: farpoint.knn(POINTS, Scan(), 2), TypeError, r"Scan; pass its \.xyz"),
    (lambda: farpoint.write("a.ply", Scan()), TypeError, r"Scan; pass its \.xyz"),
    (sampled(RECORDS), TypeError, r"structured_to_unstructured\(points\[\["),
    (sampled(count=True), TypeError, "count must be an integer, not True"),
    (sampled(count=None, ratio=True), TypeError, "ratio must be a number, not True"),
    (sampled(threads=True), TypeError, "threads must be an integer, not True"),
    (sampled(start=True), TypeError, "start must be"),
    (sampled(progress=print), TypeError, "progress must be True or False"),
    (lambda: farpoint.nearest(POINTS, POINTS, progress=print), TypeError, "progress must be True or False"),
    (lambda: farpoint.quality(POINTS, [0, 1], progress=print), TypeError, "progress must be True or False"),
    (lambda: farpoint.read("none.ply", progress=print), TypeError, "progress must be True or False"),
    (sampled(mask=NOTHING), ValueError, "no row is selected; pass a mask with a true value"),
    (sampled(rows=[]), ValueError, "no row is selected; pass a mask with a true value"),
    (sampled(count=None, spacing=0.5, mask=NOTHING), ValueError, "no row is selected"),
    (sampled(mask=Mask(np.ones(300))), TypeError, "mask must be an array of bool"),
])
def test_mistakes_are_told_with_the_way_out(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call()


def test_masks_of_any_library() -> None:
    mask = POINTS[:, 0] > 0.5
    expected = farpoint.sample(POINTS, 9, mask=mask)
    np.testing.assert_array_equal(farpoint.sample(POINTS, 9, mask=Mask(mask)), expected)
    np.testing.assert_array_equal(farpoint.sample(POINTS, 9, mask=mask.tolist()), expected)
    rows = np.flatnonzero(mask)
    np.testing.assert_array_equal(farpoint.sample(POINTS, 9, rows=Mask(rows)), expected)
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame(POINTS, columns=list("xyz"))
    np.testing.assert_array_equal(farpoint.sample(table, 9, mask=table.x > 0.5), expected)


def test_a_cloud_of_few_points_with_many_coordinates_is_a_warning() -> None:
    for points in (POINTS.T, POINTS.T.astype(int), POINTS.T.tolist()):
        with pytest.warns(UserWarning, match=r"\(3, 300\).* pass points\.T") as caught:
            assert len(farpoint.sample(points, 2)) == 2
        assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_usual_shapes_are_no_warning() -> None:
    for shape in ((3, 3), (3, 16), (4, 300), (2, 3, 300)):
        farpoint.sample(np.ones(shape), 2)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("row", [0, 8])
def test_a_start_that_is_left_out_is_an_error_wherever_it_is(kind: str, row: int) -> None:
    points: Any = BAD if kind == "numpy" else pytest.importorskip("torch").from_numpy(BAD)
    match = f"start index {row} names a row with NaN or infinity"
    for start in (row, [row], [3, row]):
        with pytest.raises(ValueError, match=match):
            farpoint.sample(points, 5, non_finite="skip", start=start)
    with pytest.raises(ValueError, match="cloud 0 of the batch: " + match):
        farpoint.sample(points[None], 5, non_finite="skip", start=row)
    assert int(farpoint.sample(points, 5, non_finite="skip")[0]) == 1
    assert int(farpoint.sample(points, 5, non_finite="skip", start=3)[0]) == 3
    with pytest.raises(ValueError, match="not both"):
        farpoint.sample(points, 5, seed=1, start=0)


def test_tensors_that_are_not_dense() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(TypeError, match=r"pass points\.to_dense\(\)"):
        farpoint.sample(torch.eye(5).to_sparse(), 2)
    clouds = [torch.rand(5, 3), torch.rand(7, 3)]
    for layout in (torch.strided, torch.jagged):
        nested = torch.nested.nested_tensor(clouds, layout=layout)
        with pytest.raises(TypeError, match="offsets=, or torch.nested.to_padded_tensor"):
            farpoint.sample(nested, 2)


def test_without_ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    import farpoint.ray

    monkeypatch.setitem(sys.modules, "ray", None)
    for call in (lambda: farpoint.ray.sample(POINTS, 5), lambda: farpoint.ray.sample_files([], tmp_path, count=5)):
        with pytest.raises(ImportError, match=r"pip install 'farpoint\[ray\]'"):
            call()


def test_options_are_spelled_as_arguments(tmp_path: Any) -> None:
    """Messages of the library, which the command spells in its own way."""
    points = POINTS * 1e5
    files = {
        "names.csv": b"1,20,10,30,CP\n2,50,40,60,EP\n3,80,70,90,EP\n", "short.bin": b"\0" * 40, "odd.doc": b"nonsense",
        "noise.bin": np.full(60, 1e20, "f4").tobytes(),
    }
    said = []
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError) as caught:
            farpoint.read(tmp_path / name)
        said.append(str(caught.value))
    for name, options in (("a.pcd", {}), ("b.las", {}), ("c.bin", {}), ("d.ply", {"precision": "single"})):
        with pytest.warns(UserWarning):
            said += farpoint.write(tmp_path / name, points + [5e5, 5e6, 0], **options)
    with pytest.raises(ValueError) as caught:
        farpoint.sample_file(tmp_path / "short.bin", tmp_path / "out.ply", count=5)
    said.append(str(caught.value))
    assert not [text for text in said if "--" in text or "`" in text]
    for word in ("xyz=", "columns=", "format=", 'precision="single"', 'precision="double"', "scale="):
        assert any(word in text for text in said), (word, said)


def test_the_library_has_no_words_of_the_command() -> None:
    """Its messages name options as `name` or `name=value`, which each program spells."""
    crates = Path(__file__).parents[3] / "crates"
    if not crates.is_dir():
        pytest.skip("the sources are not here")
    # Options of other programs.
    others = ("--dst-storage", "{unpacker} --keep")
    found = []
    for name in ("farpoint", "farpoint-io", "farpoint-pipeline", "farpoint-tiles", "farpoint-cuda"):
        for path in (crates / name / "src").rglob("*.rs"):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                code = "" if line.lstrip().startswith("//") else line
                if re.search(r"(?<![-\w])--[a-z]", code) and not any(other in code for other in others):
                    found.append(f"{path}:{number}: {line}")
    assert not found, "\n".join(found)


def test_warnings_of_files_sampled_elsewhere(tmp_path: Any) -> None:
    farpoint.write(tmp_path / "a.ply", POINTS * 1e6)
    for memory in (None, "64MiB"):
        with pytest.warns(UserWarning, match=r'float64.*precision="single"') as caught:
            farpoint.sample_file(tmp_path / "a.ply", tmp_path / "out.pcd", count=9, memory=memory)
        assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="float64"):
        [row] = farpoint.sample_files(tmp_path / "a.ply", tmp_path / "out", count=9, to="pcd")
    assert row.error is None
