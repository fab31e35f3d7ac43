"""Training: the same bits with one seed, interrupted or not."""

import dataclasses
import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from segmentation_scenes import room, write_s3dis_npy  # noqa: E402
from segmentation_reference import one_thread  # noqa: E402, F401
from segmentation_tiny import Tiny  # noqa: E402

from farpoint_segmentation import data, records  # noqa: E402
from farpoint_segmentation.commands import main  # noqa: E402
from farpoint_segmentation.recipes import recipe, training  # noqa: E402
from farpoint_segmentation.samplers import parse  # noqa: E402
from farpoint_segmentation.train import Run, best_path, checkpoint_path, rate_at, train  # noqa: E402

NUMBERS = dataclasses.replace(recipe("s3dis"), voxel=0.1)
PLAN = dataclasses.replace(training("s3dis", "pointvector-l", small=True), steps=12, batch=2)


@pytest.fixture
def rooms(tmp_path):
    folder = tmp_path / "rooms"
    folder.mkdir()
    for number in range(5):
        write_s3dis_npy(folder, f"Area_1/office_{number}", room(400, seed=number))
    return folder


def a_run(rooms, output, **changes):
    settings = {
        "recipe": NUMBERS, "source": data.open_data(rooms, "train", NUMBERS), "network": "pointvector-l",
        "module": Tiny(4, 13), "sampler": parse("peak"), "training": PLAN, "output": output, "crop": 128,
        "every": 4, "name": "small",
    }
    return Run(**{**settings, **changes})


def weights(run):
    return torch.cat([one.flatten().double() for one in run.module.state_dict().values()])


def test_one_seed_gives_the_same_bits(rooms, tmp_path):
    runs = [
        a_run(rooms, tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    before = torch.random.get_rng_state()
    for run in runs:
        train(run)
    assert torch.equal(torch.random.get_rng_state(), before)
    first, again, other = (weights(run) for run in runs)
    assert torch.equal(first, again) and not torch.equal(first, other)
    [one, two] = (records.read_training(run.output) for run in runs[:2])
    assert [record.loss for record in one] == [record.loss for record in two]
    assert [record.step for record in one] == [4, 8, 12]


def test_an_interrupted_training_goes_on_as_if_it_had_not_been(rooms, tmp_path):
    whole = a_run(rooms, tmp_path / "whole")
    train(whole)

    class Stopped(Exception):
        pass

    def stop(*given, **named):
        if len(stopped.module.seen) == 7:
            raise Stopped
        return forward(*given, **named)

    stopped = a_run(rooms, tmp_path / "parts")
    forward = stopped.module.forward
    stopped.module.forward = stop
    with pytest.raises(Stopped):
        train(stopped)
    assert [one.step for one in records.read_training(stopped.output)] == [4]
    resumed = a_run(rooms, tmp_path / "parts", module=Tiny(4, 13, seed=9))
    train(resumed)
    assert len(resumed.module.seen) == 8  # from the checkpoint of step 4
    assert torch.equal(weights(resumed), weights(whole))
    parts = records.read_training(tmp_path / "parts")
    assert [one.loss for one in parts] == [one.loss for one in records.read_training(whole.output)]
    # Once it is done nothing is left to do.
    train(a_run(rooms, tmp_path / "parts"))
    assert records.read_training(tmp_path / "parts") == parts


def test_a_checkpoint_of_another_training_is_not_gone_on_from(rooms, tmp_path):
    train(a_run(rooms, tmp_path))
    other = a_run(rooms, tmp_path, training=dataclasses.replace(PLAN, batch=3), crop=64)
    with pytest.raises(ValueError, match=r"crop 128, not 64; batch 2, not 3"):
        train(other)


def test_a_checkpoint_of_other_steps_is_not_gone_on_from(rooms, tmp_path):
    """Of before weight decay and augmentation were those of the authors."""
    run = a_run(rooms, tmp_path)
    train(run)
    held = torch.load(checkpoint_path(run), weights_only=True)
    del held["scheduler"]["revision"]
    torch.save(held, checkpoint_path(run))
    with pytest.raises(ValueError, match="of another training: revision None, not 2"):
        train(a_run(rooms, tmp_path))


def test_other_data_is_another_training(rooms, tmp_path):
    """Another order of classes, folder, or scenes; what an older checkpoint does not say is not compared."""
    settings = {"folder": "rooms", "scene_points": None}
    train(a_run(rooms, tmp_path, **settings))
    order = dataclasses.replace(NUMBERS, classes=recipe("s3dis", "table-first").classes)
    names = data.Chosen(data.open_data(rooms, "train", NUMBERS), 5)
    write_s3dis_npy(rooms, "Area_2/office_9", room(400))
    (rooms / "Area_1_office_0.npy").unlink()
    for changes, text in (
        ({"recipe": order}, "classes .*'window', 'door', 'chair'.*, not .*'door', 'table'"),
        ({"folder": "others"}, "folder 'rooms', not 'others'"),
        ({"scene_points": 300}, "scene_points None, not 300"),
        ({"source": data.open_data(rooms, "train", NUMBERS)}, "names '"),
    ):
        with pytest.raises(ValueError, match=text):
            train(a_run(rooms, tmp_path, **{**settings, "source": names, **changes}))
    path = checkpoint_path(a_run(rooms, tmp_path))
    held = torch.load(path, weights_only=True)
    for name in ("classes", "folder", "scene_points", "names"):
        del held["scheduler"][name]
    torch.save(held, path)
    train(a_run(rooms, tmp_path, **settings, recipe=order))


def with_validation(rooms, output, **changes):
    """Scored on the last two rooms after 3, 6, 9 and 12 steps."""
    source = data.Chosen(data.open_data(rooms, "train", NUMBERS), 2)
    return a_run(rooms, output, validation=source, validate=3, **changes)


class TestValidation:
    def test_changes_no_bit(self, rooms, tmp_path):
        plain, scored, small = (
            a_run(rooms, tmp_path / "a"), with_validation(rooms, tmp_path / "b"),
            with_validation(rooms, tmp_path / "c", cache=0),
        )
        for run in (plain, scored, small):
            train(run)
        assert torch.equal(weights(plain), weights(scored)) and torch.equal(weights(plain), weights(small))
        kept, read = (records.read_training(run.output) for run in (scored, small))
        assert [one.step for one in kept] == [3, 4, 6, 8, 9, 12]
        assert [one.metrics for one in kept] == [one.metrics for one in read]  # scenes are kept, or read again

    def test_the_best_is_kept(self, rooms, tmp_path):
        """As if the training had ended there."""
        run = with_validation(rooms, tmp_path)
        train(run)
        scores = {
            one.step: one.metrics["val_miou"] for one in records.read_training(tmp_path) if "val_miou" in one.metrics
        }
        assert list(scores) == [3, 6, 9, 12] and len(set(scores.values())) == 4
        best = max(scores, key=scores.get)
        held, last = (torch.load(path(run), weights_only=True) for path in (best_path, checkpoint_path))
        assert held["scheduler"]["step"] == best and held["best_val"] == last["best_val"] == scores[best]
        assert held["optimizer"] is None and last["scheduler"]["step"] == 12
        whole = a_run(rooms, tmp_path / "again", every=best)

        class Stopped(Exception):
            pass

        def stop(*given, **named):
            if len(whole.module.seen) == best:
                raise Stopped
            return forward(*given, **named)

        forward = whole.module.forward
        whole.module.forward = stop
        if best < 12:
            with pytest.raises(Stopped):
                train(whole)
        else:
            train(whole)
        for name, value in whole.module.state_dict().items():
            assert torch.equal(value, held["model"][name]), name

    def test_going_on(self, rooms, tmp_path):
        """With the best score until then."""
        whole = with_validation(rooms, tmp_path / "whole")
        train(whole)

        class Stopped(Exception):
            pass

        def stop(*given, **named):
            if sum(points.shape[1] == 128 for points, _, _ in stopped.module.seen) == 7:
                raise Stopped
            return forward(*given, **named)

        stopped = with_validation(rooms, tmp_path / "parts")
        forward = stopped.module.forward
        stopped.module.forward = stop
        with pytest.raises(Stopped):
            train(stopped)
        train(with_validation(rooms, tmp_path / "parts", module=Tiny(4, 13, seed=9)))
        one, other = (
            [torch.load(tmp_path / name / path(whole).name, weights_only=True) for path in (best_path, checkpoint_path)]
            for name in ("whole", "parts")
        )
        for expected, actual in zip(one, other):
            assert expected["best_val"] == actual["best_val"] and expected["scheduler"] == actual["scheduler"]
            assert all(torch.equal(value, actual["model"][name]) for name, value in expected["model"].items())
        scores = [
            [record.metrics for record in records.read_training(tmp_path / name)] for name in ("whole", "parts")
        ]
        assert scores[0] == scores[1]

    def test_scenes_without_classes(self, rooms, tmp_path):
        class Unlabelled:
            names = ("a",)

            def read(self, name):
                points, colors, classes = room(300)
                return data.Scene(name, points, colors, None, classes * 0 - 1)

        train(a_run(rooms, tmp_path, validation=Unlabelled()))
        assert all("val_miou" not in one.metrics for one in records.read_training(tmp_path))


def test_it_learns(rooms, tmp_path):
    long = dataclasses.replace(PLAN, steps=60, smoothing=0.0)
    run = a_run(rooms, tmp_path, training=long, every=10)
    train(run)
    pieces = records.read_training(tmp_path)
    assert pieces[-1].loss < 0.85 * pieces[0].loss
    assert pieces[-1].metrics["oa"] > pieces[0].metrics["oa"] + 0.1
    assert pieces[-1].points == 256 and pieces[-1].rate < 1e-4 < pieces[0].rate
    held = torch.load(checkpoint_path(run), weights_only=True)
    assert set(held) == {"model", "optimizer", "scheduler", "epoch", "best_val"}


def test_all_scenes_are_seen(rooms, tmp_path):
    plan = dataclasses.replace(PLAN, steps=None, epochs=2, repeats=1, batch=1)
    run = a_run(rooms, tmp_path, training=plan)
    names = []

    class Listening:
        names = run.source.names

        def read(self, name):
            names.append(name)
            return run.source.read(name)

    train(dataclasses.replace(run, source=Listening(), cache=0, readers=1))
    assert run.steps == 10 and len(run.module.seen) == 10
    assert sorted(names[:5]) == sorted(run.source.names)
    # The last scene of an epoch may be the first of the next, and is read once then.
    assert len(names) in (9, 10) and len(set(names[5:])) >= 4


def test_batches_without_a_class(rooms, tmp_path):
    """Their loss is 0, and nothing becomes NaN."""
    class Unlabelled:
        names = ("a",)

        def read(self, name):
            points, colors, classes = room(300)
            return data.Scene(name, points, colors, None, classes * 0 - 1)

    run = a_run(rooms, tmp_path, source=Unlabelled())
    before = {name: one.detach().clone() for name, one in run.module.named_parameters()}
    train(run)
    assert [one.loss for one in records.read_training(tmp_path)] == [0, 0, 0]
    assert torch.isfinite(weights(run)).all()
    # Without gradients only weight decay changes parameters: as in the authors' code none of one dimension.
    rates = [rate_at(PLAN, step, run.epoch_steps, run.steps) for step in range(run.steps)]
    left = math.prod(1 - rate * PLAN.weight_decay for rate in rates)
    for name, one in run.module.named_parameters():
        if one.dim() == 1:
            assert torch.equal(one, before[name]), name
        else:
            assert torch.allclose(one, left * before[name], rtol=1e-6) and not torch.equal(one, before[name]), name


def test_a_loss_that_is_no_number(rooms, tmp_path):
    run = a_run(rooms, tmp_path)
    with torch.no_grad():
        run.module.last.bias[0] = math.nan
    with pytest.raises(ValueError, match="loss became nan before step 4 of 12"):
        train(run)
    assert not checkpoint_path(run).exists()


def test_damaged_scenes_are_named(rooms, tmp_path):
    (rooms / "Area_1_office_3.npy").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"Area_1_office_3\.npy"):
        train(a_run(rooms, tmp_path))


def test_rates():
    cosine = training("s3dis", "pointmetabase-l")
    assert rate_at(cosine, 0, 30, 3000) == rate_at(cosine, 29, 30, 3000) == 0.01
    assert rate_at(cosine, 50 * 30, 30, 3000) == pytest.approx((0.01 + 1e-5) / 2)
    steps = training("scannet", "pointmetabase-l")
    # The scheduler of OpenPoints, after n epochs, compares n + 1 with the milestones: the 70th epoch is slower.
    for epoch, rate in ((1, 1e-3), (69, 1e-3), (70, 1e-4), (89, 1e-4), (90, 1e-5), (100, 1e-5)):
        assert rate_at(steps, (epoch - 1) * 30, 30, 3000) == rate_at(steps, epoch * 30 - 1, 30, 3000)
        assert rate_at(steps, (epoch - 1) * 30, 30, 3000) == pytest.approx(rate)
    # The same shares of a training in steps.
    few = dataclasses.replace(steps, steps=1000)
    for step, rate in ((0, 1e-3), (689, 1e-3), (690, 1e-4), (889, 1e-4), (890, 1e-5)):
        assert rate_at(few, step, 30, 1000) == pytest.approx(rate)
    # Of 50 epochs none is the 70th.
    constant = training("semantickitti", "pointvector-xl")
    assert {rate_at(constant, step, 30, 1500) for step in range(1500)} == {1e-3}
    small = training("s3dis", "pointmetabase-l", small=True)
    assert rate_at(small, 0, 1, 3000) == 0.01 > rate_at(small, 1, 1, 3000)
    assert rate_at(small, 2999, 1, 3000) < 1.1e-5


def test_the_command(rooms, tmp_path, capsys):
    given = [
        "train", str(rooms), "--data", "s3dis", "--network", "pointvector-l", "--quiet", "--device", "cpu",
        "--steps", "1", "--batch", "1", "--crop", "512", "-o", str(tmp_path / "out"),
    ]
    assert main(given) == 0
    path = tmp_path / "out/pointvector-l-s3dis-seed0.pth"
    output = capsys.readouterr()
    assert output.out.strip() == str(path) and path.exists()
    assert "no validation: " in output.err and "Area_5" in output.err
    assert main([*given, "--recipe", "small"]) == 2
    assert '"generated" for the folder' in capsys.readouterr().err
    evaluated = [
        "evaluate", str(rooms), "--data", "s3dis", "--network", "pointvector-l", "--quiet", "--device", "cpu",
        "--split", "train", "--scenes", "1", "--checkpoint", str(path), "-o", str(tmp_path / "out"),
    ]
    assert main(evaluated) == 0
    [record] = records.read_scenes(tmp_path / "out")
    assert record.options["checkpoint"].startswith("pointvector-l-s3dis-seed0.pth ")
    for given, text in (
        (["--class-order", "table-first"], "7 chair, not table; 8 table, not chair; "),
        (["--network", "pointvector-xl"], "parameters do not fit"),
    ):
        assert main([*evaluated, *given]) == 2
        assert text in capsys.readouterr().err


def test_the_command_validates(rooms, tmp_path, capsys):
    write_s3dis_npy(rooms, "Area_5/office_1", room(400, seed=7))
    write_s3dis_npy(rooms, "Area_5/office_2", room(400, seed=8))
    given = [
        "train", str(rooms), "--data", "s3dis", "--network", "pointvector-l", "--quiet", "--device", "cpu",
        "--steps", "2", "--batch", "1", "--crop", "512", "-o", str(tmp_path / "out"),
    ]
    assert main([*given, "--validate", "1", "--val-scenes", "1"]) == 0
    result = records.read_training(tmp_path / "out")
    assert [one.step for one in result] == [1, 2] and all(0 < one.metrics["val_miou"] < 1 for one in result)
    assert (tmp_path / "out/pointvector-l-s3dis-seed0.best.pth").exists() and capsys.readouterr().err == ""
    assert main([*given, "--validate", "-1"]) == 2 and "--validate -1" in capsys.readouterr().err
