"""Training on a GPU: the same bits with one seed, and nothing in a batch that waits for the GPU."""

import dataclasses
import pathlib

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from segmentation_scenes import room  # noqa: E402

from farpoint_segmentation.data import Scene  # noqa: E402
from farpoint_segmentation.networks import build  # noqa: E402
from farpoint_segmentation.records import read_training  # noqa: E402
from farpoint_segmentation.recipes import recipe, training  # noqa: E402
from farpoint_segmentation.samplers import parse  # noqa: E402
from farpoint_segmentation.steps import Batches, make_batch  # noqa: E402
from farpoint_segmentation.train import Run, rate_at, train  # noqa: E402
from farpoint_segmentation.transforms import cloud_of, prepare_training  # noqa: E402


class Rooms:
    names = ("a", "b", "c")

    def read(self, name):
        points, colors, classes = room(20_000, ord(name))
        return Scene(name, points, colors, None, classes)


def a_run(network, output, graphs):
    plan = dataclasses.replace(training("s3dis", network, small=True), steps=6, batch=2)
    return Run(
        recipe=recipe("s3dis"), source=Rooms(), network=network, sampler=parse("peak"), training=plan,
        module=build(network, "s3dis", seed=1).to("cuda"), output=pathlib.Path(output), crop=4096, every=3,
        graphs=graphs,
    )


@pytest.mark.parametrize("network", ["pointmetabase-l", "pointvector-l"])
@pytest.mark.parametrize("graphs", [True, False])
def test_one_seed_gives_the_same_bits(cuda, tmp_path, monkeypatch, network, graphs):
    first, again, stopped, resumed = (
        a_run(network, tmp_path / name, graphs) for name in ("a", "b", "c", "c")
    )
    train(first)
    train(dataclasses.replace(again, validation=Rooms(), validate=2))  # which changes nothing
    scores = [one.metrics.get("val_miou") for one in read_training(again.output)]
    assert [score is None for score in scores] == [False, True, False, False]
    left = [4]

    def stop(*given):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return rate_at(*given)

    with monkeypatch.context() as patch:
        patch.setattr("farpoint_segmentation.train.rate_at", stop)
        with pytest.raises(KeyboardInterrupt):
            train(stopped)
    train(resumed)
    for other in (again, resumed):
        for name, value in first.module.state_dict().items():
            assert torch.equal(value, other.module.state_dict()[name]), name


@pytest.mark.parametrize("data", ["s3dis", "scannet", "semantickitti"])
def test_batches_by_graphs(cuda, tmp_path, data):
    """Scenes of another size than the first go by themselves. All have the same bits."""
    run = dataclasses.replace(a_run("pointvector-l", tmp_path, True), recipe=recipe(data))
    made = Batches(run)
    for seed, points in enumerate((5000, 6000, 5000, 5000)):
        cloud, colors, classes = room(points, seed)
        clouds = [cloud_of(Scene("a", cloud, colors, None, classes), run.device)] * 2
        expected = make_batch(run, clouds, torch.Generator("cuda").manual_seed(seed))
        assert all(torch.equal(one, other) for one, other in zip(made(clouds, seed), expected))


def test_batches_wait_for_nothing(cuda):
    for data in ("s3dis", "scannet", "semantickitti"):
        cloud = cloud_of(Rooms().read("a"), torch.device("cuda"))
        generator = torch.Generator("cuda").manual_seed(1)
        prepare_training(cloud, recipe(data), 4096, 2, generator)
        before = torch.cuda.get_sync_debug_mode()
        torch.cuda.set_sync_debug_mode("error")
        try:
            prepare_training(cloud, recipe(data), 4096, 2, generator)
        finally:
            torch.cuda.set_sync_debug_mode(before)
