"""Training: the same bits with one seed, interrupted or not."""

import dataclasses
import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from segmentation_scenes import room, write_s3dis_npy  # noqa: E402
from segmentation_reference import one_thread  # noqa: E402, F401
from segmentation_tiny import Tiny  # noqa: E402

from farpoint.segmentation import data, records  # noqa: E402
from farpoint.segmentation.commands import main  # noqa: E402
from farpoint.segmentation.recipes import recipe, training  # noqa: E402
from farpoint.segmentation.samplers import parse  # noqa: E402
from farpoint.segmentation.train import Run, checkpoint_path, rate_at, train  # noqa: E402

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
    given = {
        "recipe": NUMBERS, "source": data.open_data(rooms, "train", NUMBERS), "network": "pointvector-l",
        "module": Tiny(4, 13), "sampler": parse("peak"), "training": PLAN, "output": output, "crop": 128,
        "every": 4, "name": "small",
    }
    return Run(**{**given, **changes})


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
    train(run)
    assert [one.loss for one in records.read_training(tmp_path)] == [0, 0, 0]
    assert torch.isfinite(weights(run)).all()


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
    for epoch, rate in ((0, 1e-3), (69, 1e-3), (70, 1e-4), (89, 1e-4), (90, 1e-5)):
        assert rate_at(steps, epoch * 30, 30, 3000) == pytest.approx(rate)
    # The same shares of a training in steps.
    few = dataclasses.replace(steps, steps=1000)
    for step, rate in ((0, 1e-3), (699, 1e-3), (700, 1e-4), (899, 1e-4), (900, 1e-5)):
        assert rate_at(few, step, 30, 1000) == pytest.approx(rate)
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
    assert capsys.readouterr().out.strip() == str(path) and path.exists()
    assert main([*given, "--recipe", "small"]) == 2
    assert '"generated" for the folder' in capsys.readouterr().err
    evaluated = [
        "evaluate", str(rooms), "--data", "s3dis", "--network", "pointvector-l", "--quiet", "--device", "cpu",
        "--split", "train", "--scenes", "1", "--checkpoint", str(path), "-o", str(tmp_path / "out"),
    ]
    assert main(evaluated) == 0
    [record] = records.read_scenes(tmp_path / "out")
    assert record.options["checkpoint"].startswith("pointvector-l-s3dis-seed0.pth ")
