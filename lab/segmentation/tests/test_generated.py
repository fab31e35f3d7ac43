"""Generated scenes in place of the data sets': their classes, training and evaluation on them by command."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from segmentation_scenes import write_s3dis, write_scannet, write_semantickitti  # noqa: E402

from farpoint_segmentation import data, records  # noqa: E402
from farpoint_segmentation.commands import main  # noqa: E402
from farpoint_segmentation.recipes import recipe  # noqa: E402
from farpoint_segmentation.scenes import generate_labeled  # noqa: E402


def test_classes_are_those_of_the_data_sets():
    assert generate_labeled("indoor", 5).class_names == recipe("s3dis").classes
    assert generate_labeled("town", 5).class_names == recipe("semantickitti").classes


@pytest.mark.parametrize("kind", ["indoor", "town"])
def test_scenes_are_arrays(kind):
    made = generate_labeled(kind, 6_000, seed=4)
    assert made.points.shape == (6_000, 3) and made.points.dtype == np.float32
    assert made.labels.shape == (6_000,) and made.labels.dtype == np.int64
    assert made.labels.min() == (0 if kind == "indoor" else -1) and made.labels.max() < len(made.class_names)
    colors, intensity = made.colors, made.intensity
    if kind == "indoor":
        assert colors.shape == (6_000, 3) and colors.dtype == np.uint8 and intensity is None
    else:
        assert intensity.shape == (6_000,) and intensity.dtype == np.float32 and colors is None
        assert 0 <= intensity.min() < intensity.max() < 1
    np.testing.assert_array_equal(generate_labeled(kind, 6_000, seed=4).points, made.points)
    assert not np.array_equal(generate_labeled(kind, 6_000).points, made.points)


@pytest.mark.parametrize("kind, count, seed, text", [
    ("house", 5, 0, "unknown kind of scene 'house'; choose indoor or town"),
    ("town", -1, 0, "count is -1"), ("town", 5, -1, "seed is -1"), ("indoor", 5, 2**64, "seed is 18446744073709551616"),
])
def test_what_is_no_scene(kind, count, seed, text):
    with pytest.raises(ValueError, match=text):
        generate_labeled(kind, count, seed=seed)


@pytest.mark.parametrize("name", ["s3dis", "scannet", "semantickitti"])
def test_scenes(name):
    source = data.open_data("generated", "val", recipe(name), scenes=3, points=5000)
    scenes = [source.read(one) for one in source.names]
    assert len(scenes) == 3 and len({scene.name for scene in scenes}) == 3
    for scene in scenes:
        assert scene.points.shape == (5000, 3) and scene.labels.min() >= -1
        assert (scene.colors is None) == (name == "semantickitti") == (scene.intensity is not None)
        assert len(np.unique(scene.labels)) >= 5
    again = data.open_data("generated", "val", recipe(name), scenes=1, points=5000)
    np.testing.assert_array_equal(again.read(again.names[0]).points, scenes[0].points)
    other = data.open_data("generated", "train", recipe(name), scenes=3, points=5000)
    assert not set(other.names) & set(source.names)
    assert not np.array_equal(other.read(other.names[0]).points, scenes[0].points)


def test_scannet_has_the_classes_that_it_has():
    """By name: of the others only clutter, which is other furniture."""
    rooms, scans = (
        data.open_data("generated", "val", recipe(one), scenes=1, points=20_000) for one in ("s3dis", "scannet")
    )
    room, scan = rooms.read(rooms.names[0]), scans.read(scans.names[0])
    names = [*recipe("scannet").classes, None]
    pairs = {
        (recipe("s3dis").classes[one], names[other])
        for one, other in zip(room.labels, scan.labels) if one >= 0
    }
    expected = {one: one for one in ("floor", "wall", "window", "door", "chair", "table", "sofa")}
    expected |= {"bookcase": "bookshelf", "clutter": "other furniture"}
    assert all(other == expected.get(one) for one, other in pairs) and len(pairs) >= 6


@pytest.mark.parametrize("name", ["s3dis", "scannet", "semantickitti"])
def test_in_the_published_layouts(tmp_path, name):
    """Written and read again: what was generated, rounded as the layout rounds."""
    source = data.open_data("generated", "val", recipe(name), scenes=1, points=3000)
    scene = source.read(source.names[0])
    cloud = (scene.points, scene.intensity if name == "semantickitti" else scene.colors, scene.labels)
    if name == "s3dis":
        cloud = tuple(part[scene.labels >= 0] for part in cloud)  # each point has a class there
        write_s3dis(tmp_path, "Area_5/office_1", cloud)
    elif name == "scannet":
        write_scannet(tmp_path, "scene0000_00", cloud)
        (tmp_path / "scannetv2_val.txt").write_text("scene0000_00\n")
    else:
        write_semantickitti(tmp_path, "08/000000", cloud)
    result = data.open_data(tmp_path, "val", recipe(name))
    again = result.read(result.names[0])
    order = np.arange(len(cloud[0]))
    if name == "s3dis":
        files = np.array(recipe("s3dis").classes)[cloud[2]]
        order = np.argsort(files, kind="stable")
    np.testing.assert_allclose(again.points, cloud[0][order], atol=0.00051 if name == "s3dis" else 0)
    np.testing.assert_array_equal(again.labels, cloud[2][order])


def test_training_and_evaluation_by_command(tmp_path, capsys):
    options = ["--data", "semantickitti", "--network", "pointvector-l", "--quiet", "--device", "cpu"]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    trained = main([
        "train", "generated", *options, "--recipe", "small", "--steps", "2", "--batch", "1", "--crop", "512",
        "--points", "3000", "--scenes", "2", "--seeds", "0,1", "-o", str(tmp_path),
    ])
    paths = capsys.readouterr().out.split()
    assert trained == 0 and [one.seed for one in records.read_training(tmp_path)] == [0, 1]
    evaluated = main([
        "evaluate", "generated", *options, "--points", "2000", "--scenes", "2", "--checkpoint", paths[1],
        "--samplers", "peak,radius", "-o", str(tmp_path),
    ])
    torch.set_num_threads(threads)
    printed = capsys.readouterr().out
    assert evaluated == 0 and "say nothing about SemanticKITTI" in printed
    peak, radius = (line.split() for line in printed.splitlines()[2:4])
    assert peak[1:5] == radius[1:5]
    first, second = (one for one in records.read_scenes(tmp_path) if one.scene == "town-1000000")
    assert first.confusion == second.confusion and first.options["folder"] == "generated"
    # Scenes of another size are other scenes.
    assert main([
        "evaluate", "generated", *options, "--points", "2500", "--scenes", "1", "--checkpoint", paths[1],
        "-o", str(tmp_path),
    ]) == 0
    assert [one.raw_points for one in records.read_scenes(tmp_path)] == [2000] * 4 + [2500]
