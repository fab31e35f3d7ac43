"""Evaluation: both protocols, results that are there, and a user's path from a folder to a table."""

import dataclasses
import json
import pathlib

import numpy as np
import pytest

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")

from segmentation_scenes import (  # noqa: E402
    room, turn, write_s3dis, write_s3dis_npy, write_semantickitti,
)
from segmentation_reference import one_thread  # noqa: E402, F401
from segmentation_tiny import Tiny  # noqa: E402

from farpoint_segmentation import data, records  # noqa: E402
from farpoint_segmentation.commands import main  # noqa: E402
from farpoint_segmentation.evaluate import Evaluation, clouds, evaluate  # noqa: E402
from farpoint_segmentation.metrics import confusion  # noqa: E402
from farpoint_segmentation.networks import build, save_checkpoint  # noqa: E402
from farpoint_segmentation.recipes import recipe  # noqa: E402
from farpoint_segmentation.samplers import parse  # noqa: E402
from farpoint_segmentation.table import table  # noqa: E402
from farpoint_segmentation.voxels import choose, voxels  # noqa: E402

LABELLED = pathlib.Path(__file__).parents[4] / "shared" / "data" / "labelled"
NUMBERS = dataclasses.replace(recipe("s3dis"), voxel=0.3)


@pytest.fixture
def rooms(tmp_path):
    folder = tmp_path / "rooms"
    folder.mkdir()
    for number in range(3):
        write_s3dis_npy(folder, f"Area_5/office_{number}", room(600 + 50 * number, seed=number))
    return folder


def a_task(rooms, output, **changes):
    source = data.open_data(rooms, "val", NUMBERS)
    return Evaluation(
        recipe=NUMBERS, source=source, network="pointvector-l", module=Tiny(4, 13), output=output, **changes
    )


def seen(task):
    return task.module.seen


class TestVal:
    def test_voxels_as_one_cloud(self, rooms, tmp_path):
        task = a_task(rooms, tmp_path / "out")
        result = evaluate(task, [parse("peak"), parse("random")])
        assert [one.scene for one in result[::2]] == list(task.source.names)
        assert [one.sampler for one in result] == ["peak", "random"] * 3
        for record, (points, features, _) in zip(result, seen(task)):
            cells = torch.floor(points[0] / 0.3)
            assert points.shape == (1, record.points, 3) and features.shape == (1, record.points, 4)
            assert record.fullest > 1 and record.raw_points > record.points and len(cells) > 100
            matrix = np.array(record.confusion)
            assert matrix.sum() == record.points  # metrics on voxels
            assert record.metrics["oa"] == np.diag(matrix).sum() / matrix.sum()
            assert 0 <= record.seconds.sampling <= record.seconds.all
            assert record.peak_memory is None and record.device.startswith("cpu")
        assert torch.equal(seen(task)[0][0], seen(task)[1][0])  # the same for each sampler
        assert records.read_scenes(task.output) == result

    def test_heights_are_above_the_lowest_point_of_the_room(self, tmp_path):
        """Also where that is not the one of its voxel; in "test" they are above the lowest of each cloud."""
        points = np.random.default_rng(1).random((600, 3)).astype(np.float32)
        np.save(tmp_path / "Area_5_a.npy", np.concatenate([points, np.zeros((600, 4), np.float32)], axis=1))
        source = data.open_data(tmp_path, "val", NUMBERS)
        chosen = choose(voxels(torch.from_numpy(points), NUMBERS.voxel).compact(), np.random.RandomState(0))
        lowest = float((points[:, 2] - points[:, 2].min())[chosen].min())
        assert lowest > 0.001
        module = Tiny(4, 13)
        for protocol in ("val", "test"):
            task = Evaluation(NUMBERS, source, "pointvector-l", module, tmp_path / protocol, protocol=protocol)
            evaluate(task, [parse("peak")])
            heights = {float(features[0, :, 3].min()) for _, features, _ in seen(task)}
            assert heights == {lowest if protocol == "val" else 0.0}
            module.seen.clear()
        [timed] = clouds(source, source.names, NUMBERS, "pointvector-l", module)
        assert float(timed.features[:, 3].min()) == lowest

    def test_runs_repeat_themselves_and_go_on(self, rooms, tmp_path):
        whole = a_task(rooms, tmp_path / "whole")
        expected = evaluate(whole, [parse("peak"), parse("grid")])
        task = a_task(rooms, tmp_path / "out")
        names = list(task.source.names)
        evaluate(task, [parse("peak")], names[:2])
        assert len(seen(task)) == 2
        actual = evaluate(task, [parse("peak"), parse("grid")])
        # Of the first two scenes only the other sampler, of the third both.
        assert [name for _, _, name in seen(task)[2:]] == ["grid", "grid", "peak", "grid"]
        same = [(one.key, one.confusion, one.points) for one in expected]
        assert [(one.key, one.confusion, one.points) for one in actual] == same
        again = evaluate(task, [parse("peak"), parse("grid")])
        assert again == actual and len(seen(task)) == 6
        # Scenes that are not read leave the numbers of the later ones as they were.
        last = tmp_path / "last"
        last.mkdir()
        kept = (task.output / "scenes.jsonl").read_text().splitlines()
        first_two = [line for line in kept if json.loads(line)["scene"] != names[2]]
        (last / "scenes.jsonl").write_text("\n".join(first_two) + "\n")
        resumed = a_task(rooms, last)
        actual = evaluate(resumed, [parse("peak"), parse("grid")])
        assert len(seen(resumed)) == 2
        assert [(one.key, one.confusion, one.points) for one in actual] == same

    def test_other_runs_are_not_taken_for_this(self, rooms, tmp_path):
        evaluate(a_task(rooms, tmp_path), [parse("peak")])
        for changes in ({"seed": 1}, {"options": {"checkpoint": "b"}}, {"protocol": "test"}):
            task = a_task(rooms, tmp_path, **changes)
            evaluate(task, [parse("peak")])
            assert len(seen(task)) >= 3

    def test_a_record_that_was_cut_off(self, rooms, tmp_path):
        task = a_task(rooms, tmp_path)
        result = evaluate(task, [parse("peak")])
        path = tmp_path / "scenes.jsonl"
        path.write_bytes(path.read_bytes()[:-20])
        assert len(records.read_scenes(tmp_path)) == 2
        evaluate(task, [parse("peak")])
        assert len(seen(task)) == 4
        again = records.read_scenes(tmp_path)
        assert [one.key for one in again] == [one.key for one in result]
        path.write_text('{"task": "evaluate"}\n')
        with pytest.raises(ValueError, match=r"scenes\.jsonl:1: .*missing"):
            evaluate(task, [parse("peak")])
        path.write_text("\n{\n")
        with pytest.raises(ValueError, match=r"scenes\.jsonl:1: no JSON"):
            evaluate(task, [parse("peak")])
        for damage in ('"seconds": [1]', '"seconds": {"whole": 1}', '"confusion": 3'):
            path.write_text(f'{{"task": "evaluate", {damage}}}\n')
            with pytest.raises(ValueError, match=r"scenes\.jsonl:1: seconds or confusion"):
                evaluate(task, [parse("peak")])

    def test_exact_samplers_give_equal_scores(self, rooms, tmp_path):
        names = ("peak", "naive", "radius", "tree", "quick", "cpu:naive")
        result = evaluate(a_task(rooms, tmp_path), [parse(name) for name in names])
        for scene in {one.scene for one in result}:
            assert len({one.confusion for one in result if one.scene == scene}) == 1


class TestTest:
    def test_every_point_gets_a_logit(self, rooms, tmp_path):
        task = a_task(rooms, tmp_path, protocol="test", predictions=True)
        [record] = evaluate(task, [parse("peak")], ["Area_5/office_1"])
        assert len(seen(task)) == record.fullest > 2
        assert all(points.shape[1] == record.points for points, _, _ in seen(task))
        assert np.array(record.confusion).sum() == record.raw_points == 650  # metrics on all points
        read = farpoint.read(tmp_path / "predictions/pointvector-l-test-peak/Area_5/office_1.ply")
        assert len(read) == 650 and read["prediction"].min() >= 0

    def test_logits_are_averaged(self, rooms, tmp_path):
        """Against sums by hand, over the clouds that the network was given."""
        task = a_task(rooms, tmp_path, protocol="test", predictions=True)
        [record] = evaluate(task, [parse("peak")], ["Area_5/office_0"])
        scene = task.source.read("Area_5/office_0")
        raw = torch.from_numpy(scene.points).double()
        sums, visits = torch.zeros(len(raw), 13), torch.zeros(len(raw))
        orders = set()
        for points, features, _ in list(seen(task)):
            with torch.inference_mode():
                logits = task.module(points, features)[0]
            # Colors tell which points they are; the heights are above the lowest of the cloud.
            shown = torch.from_numpy(scene.colors).float() / 255
            mean, deviation = torch.tensor(NUMBERS.color)
            rows = torch.cdist(features[0, :, :3].double(), ((shown - mean) / deviation).double())
            spread = torch.cdist(
                (points[0] - points[0].mean(dim=0)).double(), raw - raw.mean(dim=0)
            )
            rows = (rows * 10 + (spread - spread.amin()).clamp(max=1)).argmin(dim=1)
            assert len(rows.unique()) == len(rows)
            sums[rows] += logits
            visits[rows] += 1
            orders.add(tuple(rows[:5].tolist()))
        assert visits.min() >= 1 and len(orders) == record.fullest
        path = tmp_path / "predictions/pointvector-l-test-peak/Area_5/office_0.ply"
        predicted = torch.from_numpy(np.array(farpoint.read(path)["prediction"])).long()
        assert (predicted == (sums / visits[:, None]).argmax(dim=1)).float().mean() > 0.99
        matrix = confusion(torch.from_numpy(scene.labels), predicted, 13)
        assert matrix.tolist() == [list(row) for row in record.confusion]

    def test_the_seed_orders_points(self, rooms, tmp_path):
        first, again, other = (
            a_task(rooms, tmp_path / str(place), protocol="test", seed=seed)
            for place, seed in enumerate((0, 0, 1))
        )
        for task in (first, again, other):
            evaluate(task, [parse("peak")], ["Area_5/office_0"])
        assert all(torch.equal(a[0], b[0]) for a, b in zip(seen(first), seen(again)))
        assert not all(torch.equal(a[0], b[0]) for a, b in zip(seen(first), seen(other)))


def test_predictions_of_voxels_are_those_of_their_points(rooms, tmp_path):
    task = a_task(rooms, tmp_path, predictions=True)
    [record] = evaluate(task, [parse("peak")], ["Area_5/office_0"])
    path = tmp_path / "predictions/pointvector-l-val-peak/Area_5/office_0.ply"
    read = farpoint.read(path)
    cells = np.floor((read.points - read.points.min(axis=0)) / np.float32(0.3))
    pairs = np.unique(np.concatenate([cells, read["prediction"][:, None]], axis=1), axis=0)
    assert len(read) == record.raw_points and len(pairs) == record.points
    # A prediction that is gone is made again, and the record stays as it was.
    path.unlink()
    assert evaluate(task, [parse("peak")], ["Area_5/office_0"]) == [record]
    assert path.exists() and records.read_scenes(tmp_path) == [record]


def test_predictions_for_the_server(tmp_path):
    for name in ("08/000000", "08/000001"):
        write_semantickitti(tmp_path, name, turn(400))
    numbers = recipe("semantickitti")
    source = data.open_data(tmp_path, "val", numbers)
    task = Evaluation(
        numbers, source, "pointvector-l", Tiny(4, 19), tmp_path / "out", predictions=True
    )
    result = evaluate(task, [parse("radius:nvox=24")])
    place = tmp_path / "out/predictions/pointvector-l-val-radius-nvox=24"
    for name, record in zip(("000000", "000001"), result):
        written = place / f"sequences/08/predictions/{name}.label"
        again = data.read_scan(
            tmp_path / f"sequences/08/velodyne/{name}.bin", written, data.semantickitti.class_map()
        )
        read = farpoint.read(place / f"08/{name}.ply")
        np.testing.assert_array_equal(again.labels, read["prediction"])
        # Points without a class are in no matrix.
        assert np.array(record.confusion).sum() < record.points


def test_scenes_without_labels_are_predicted(rooms, tmp_path):
    """As those of a test split are."""
    class Unlabelled:
        names = ("a",)

        def read(self, name):
            points, colors, _ = room(300)
            return data.Scene(name, points, colors, None, np.full(300, -1))

    task = dataclasses.replace(a_task(rooms, tmp_path), source=Unlabelled(), predictions=True)
    [record] = evaluate(task, [parse("peak")])
    assert record.metrics == {} and np.array(record.confusion).sum() == 0
    assert "-" in table([record], NUMBERS)


class TestUsersPath:
    """A folder of text rooms with the two known faults, one command, a table, a PLY file."""

    @pytest.fixture
    def folder(self, tmp_path):
        folder = tmp_path / "Stanford3dDataset_v1.2_Aligned_Version"
        for number, name in enumerate(("Area_5/hallway_6", "Area_5/office_19", "Area_1/office_1")):
            write_s3dis(folder, name, room(900, seed=number))
        ceiling = folder / "Area_5/hallway_6/Annotations/ceiling_1.txt"
        x, y, z, *color = ceiling.read_bytes().splitlines()[0].split()
        joined = b" ".join([x, y, z, color[0] + b"\x10" + color[1], color[2]])
        ceiling.write_bytes(joined + b"\n" + b"\n".join(ceiling.read_bytes().splitlines()[1:]))
        wall = folder / "Area_5/office_19/Annotations/wall_1.txt"
        wall.write_bytes(wall.read_bytes().replace(b".", b".\x10", 1))
        return folder

    def command(self, folder, *more):
        return main([
            "evaluate", str(folder), "--data", "s3dis", "--network", "pointmetabase-l", "--quiet",
            "--device", "cpu", *more,
        ])

    def test_table(self, folder, tmp_path, capsys):
        save_checkpoint(build("pointmetabase-l", "s3dis", seed=3), tmp_path / "best.pth")
        arguments = (
            "--checkpoint", str(tmp_path / "best.pth"), "--samplers", "peak,naive,npdu:order=morton,window=64",
            "--predictions", "--per-class", "-o", str(tmp_path / "out"),
        )
        assert self.command(folder, *arguments) == 0
        printed = capsys.readouterr().out
        lines = printed.splitlines()
        assert lines[0].startswith("S3DIS, pointmetabase-l, val, 2 scenes, cpu")
        peak, naive, npdu = (line.split() for line in lines[2:5])
        assert (peak[0], naive[0], npdu[0]) == ("peak", "naive", "npdu:order=morton,window=64")
        assert peak[1:5] == naive[1:5]  # exact samplers: the same scores
        assert any(line.startswith("bookcase") for line in lines)
        written = farpoint.read(tmp_path / "out/predictions/pointmetabase-l-val-peak/Area_5/hallway_6.ply")
        assert len(written) == 900 and {"prediction", "label", "red"} <= set(written.fields)
        # All of it is there now: the same table, at once.
        assert self.command(folder, *arguments) == 0
        assert capsys.readouterr().out == printed

    def test_mistakes(self, folder, tmp_path, capsys):
        output = ("-o", str(tmp_path / "out"))
        bad = folder / "Area_5/hallway_6/Annotations/floor_1.txt"
        bad.write_text(bad.read_text() + "1 2 3\n")
        last = len(bad.read_text().splitlines())
        for options, text in (
            ((str(folder), *output), "either --checkpoint FILE, or --random-weights"),
            ((str(folder), *output, "--random-weights"), f"floor_1.txt:{last}: b'1 2 3'"),
            ((str(folder), *output, "--random-weights", "--samplers", "fps"), "'fps'"),
            ((str(folder), *output, "--checkpoint", "none.pth"), "none.pth: No such file"),
            ((str(tmp_path / "none"), *output, "--random-weights"), "none: no such folder"),
            ((str(folder), *output, "--random-weights", "--device", "abacus"), "--device abacus: "),
        ):
            assert self.command(*options) == 2
            message = capsys.readouterr().err
            assert text in message and "Traceback" not in message
        with pytest.raises(SystemExit) as stopped:
            self.command(folder, *output, "--scenes", "0")
        assert stopped.value.code == 2


def test_tables_say_what_scores_are_worth(rooms, tmp_path):
    options = {"checkpoint": "random weights", "folder": "generated"}
    result = evaluate(a_task(rooms, tmp_path, options=options), [parse("peak")])
    text = table(result, NUMBERS)
    assert "random weights: times count" in text and "say nothing about S3DIS" in text
    assert table([], NUMBERS) == "no scenes"
    matrix = np.zeros((13, 13), int)
    matrix[9, 9], matrix[10, 10] = 14, 1  # bookcase and sofa
    for order, is_unusual in (("chair-first", False), ("table-first", True)):
        swapped = dataclasses.replace(result[0], confusion=tuple(map(tuple, matrix)), options={})
        assert ("--class-order" in table([swapped], recipe("s3dis", order))) == is_unusual


def test_times(rooms, tmp_path, capsys):
    arguments = [
        "time", str(rooms), "--data", "s3dis", "--network", "pointvector-l", "--quiet", "--device", "cpu",
        "--random-weights", "--scenes", "1", "--samplers", "peak,naive+all-pairs", "--repeats", "1",
        "-o", str(tmp_path / "out"),
    ]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()[2:4]] == ["peak", "naive+all-pairs"]
    result = records.read_scenes(tmp_path / "out")
    assert [one.task for one in result] == ["time", "time"] and all(one.seconds.all > 0 for one in result)
    assert main(arguments) == 0  # all of it is there
    assert capsys.readouterr().out == printed and records.read_scenes(tmp_path / "out") == result


@pytest.mark.skipif(not LABELLED.is_dir(), reason="shared/data is not part of the repository")
class TestRealScenes:
    """Read, segmented, written back."""

    def test_a_room(self, tmp_path):
        (tmp_path / "Area_5_a.npy").write_bytes((LABELLED / "s3dis_crop_41568.npy").read_bytes())
        source = data.open_data(tmp_path, "val", recipe("s3dis"))
        task = Evaluation(
            recipe("s3dis"), source, "pointmetabase-l", Tiny(4, 13), tmp_path / "out", predictions=True
        )
        [record] = evaluate(task, [parse("peak")])
        assert record.raw_points == 41_568 > record.points > 20_000
        read = farpoint.read(tmp_path / "out/predictions/pointmetabase-l-val-peak/Area_5/a.ply")
        np.testing.assert_array_equal(read["label"], source.read("Area_5/a").labels)

    def test_a_turn(self, tmp_path):
        points = np.load(LABELLED / "semantickitti_000750_points.npy")
        classes = np.load(LABELLED / "semantickitti_000750_labels.npy")[:, 0].astype(int) - 1
        write_semantickitti(tmp_path, "08/000750", (points, np.zeros(len(points)), classes))
        self.segment(data.open_data(tmp_path, "val", recipe("semantickitti")), tmp_path, classes)

    def test_rellis(self, tmp_path):
        """Its own classes, taken for the first of SemanticKITTI."""
        own = {number: place for place, number in enumerate((3, 4, 17, 18, 19, 23, 31, 33))}
        scene = data.read_scan(LABELLED / "rellis_000104.bin", LABELLED / "rellis_000104.label", own)

        class Source:
            names = ("08/000104",)

            def read(self, name):
                return scene._replace(name=name)

        self.segment(Source(), tmp_path, scene.labels)

    def segment(self, source, folder, classes):
        [name] = source.names
        task = Evaluation(
            recipe("semantickitti"), source, "pointvector-l", Tiny(4, 19), folder / "out", predictions=True
        )
        [record] = evaluate(task, [parse("random")])
        written = folder / "out/predictions/pointvector-l-val-random"
        ids = np.fromfile(written / f"sequences/{name[:2]}/predictions/{name[3:]}.label", "<u4")
        assert len(ids) == record.raw_points == len(classes)
        again = farpoint.read(written / f"{name}.ply")
        np.testing.assert_array_equal(again["label"], classes)
        table = data.semantickitti.class_map()
        np.testing.assert_array_equal([table[one] for one in ids], again["prediction"])
