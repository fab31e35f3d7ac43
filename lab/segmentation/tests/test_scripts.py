"""The script that makes the records of segmentation: what it says of exact samplers, spreads and times."""

import importlib.util
import json
import pathlib
import sys

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from farpoint_segmentation.records import SceneRecord, Seconds, TrainingRecord, append  # noqa: E402

SCRIPT = pathlib.Path(__file__).parents[1] / "scripts" / "records.py"


def run(monkeypatch, *arguments):
    spec = importlib.util.spec_from_file_location("scripts_records", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(sys, "argv", ["records.py", *map(str, arguments)])
    script.main()


def scene(sampler, seed, name, right, **more):
    matrix = [[0] * 13 for _ in range(13)]
    matrix[0][0], matrix[0][1] = right, 100 - right
    return SceneRecord(
        task="evaluate", data="s3dis", network="pointvector-l", sampler=sampler, scene=name, points=100, device="cpu",
        options={"checkpoint": f"a{seed}", "trained_seed": seed}, confusion=tuple(map(tuple, matrix)), **more,
    )


def evaluated(folder, last=80):
    """Three samplers, two trainings, two scenes; `last` points right with radius on the last scene."""
    for seed in (0, 1):
        append(folder, TrainingRecord(
            "s3dis", "pointvector-l", "peak", "small", "cpu", seed, 100, 100, 1.5, 0.1, 60.0, 800, {"oa": 0.5}
        ))
        for sampler, right in (("peak", 80), ("radius", 80), ("random", 60 - 10 * seed)):
            for name in ("a", "b"):
                changed = sampler == "radius" and name == "b" and seed == 1
                append(folder, scene(sampler, seed, name, last if changed else right))


def test_trainings(tmp_path, monkeypatch):
    evaluated(tmp_path / "in")
    run(monkeypatch, "training", tmp_path / "in", "-o", tmp_path / "out", "--note", "On a desk.")
    text = (tmp_path / "out/small-training.md").read_text()
    assert "small generated scenes" in text and "all equal to the last count" in text and "On a desk." in text
    assert "peak, radius; 4 matrices beside those of `peak`" in text
    # Of 13 classes 11 are absent and count 100 %; class 0 has right/100.
    means = [100 * (11 + right / 100) / 13 for right in (80, 60, 50)]
    assert f"| peak, radius | yes | 2 | {means[0]:.2f} ({means[0]:.2f} to {means[0]:.2f}) | 0 |" in text
    apart = f"{(means[1] + means[2]) / 2 - means[0]:+.2f} ({means[2] - means[0]:+.2f} to {means[1] - means[0]:+.2f})"
    assert f"| random | no | 2 | {(means[1] + means[2]) / 2:.2f} " in text and apart in text
    assert "2.0 minutes of one GPU" in text
    lines = [json.loads(line) for line in (tmp_path / "out/small-training.jsonl").read_text().splitlines()]
    assert [one["kind"] for one in lines] == ["training"] * 2 + ["evaluation"] * 6
    assert all(one["confusion"][0][0] == 160 for one in lines if one.get("sampler") == "radius")


def test_exact_samplers_that_differ(tmp_path, monkeypatch):
    """In one count of one scene."""
    evaluated(tmp_path / "in", last=79)
    run(monkeypatch, "training", tmp_path / "in", "-o", tmp_path / "out")
    text = (tmp_path / "out/small-training.md").read_text()
    assert "NOT equal: s3dis pointvector-l seed 1: radius" in text and "all equal" not in text


def test_times(tmp_path, monkeypatch):
    for name, points in (("a", 1000), ("b", 3000)):
        for sampler, seconds, options in (
            ("naive@first+all-pairs", 0.5, {}), ("peak", 0.01, {}), ("peak", 0.005, {"graph": True})
        ):
            append(tmp_path / "in", SceneRecord(
                task="time", data="semantickitti", network="pointmetabase-l", sampler=sampler, scene=name,
                points=points, device="GPU", protocol="time", options={"folder": "generated", **options},
                seconds=Seconds(seconds, seconds / 2), peak_memory=1 << 20,
            ))
    run(monkeypatch, "times", tmp_path / "in", "-o", tmp_path / "out")
    text = (tmp_path / "out/times.md").read_text()
    assert "2 scenes of 1,000 to 3,000 voxels" in text
    assert "| peak, as a graph | 2 | 5.0 | 2.5 | 50 % | 100.0 | 1 |" in text
    assert "| peak | 2 | 10.0 | 5.0 | 50 % | 50.0 | 1 |" in text
    # What it writes is what it reads.
    (tmp_path / "again").mkdir()
    (tmp_path / "out/times.jsonl").rename(tmp_path / "again/scenes.jsonl")
    run(monkeypatch, "times", tmp_path / "again", "-o", tmp_path / "out")
    assert (tmp_path / "out/times.md").read_text() == text
