"""On a GPU: networks give what they give on the CPU, exact samplers the same bits, and layers can be compiled, run in
bfloat16 and be captured."""

import copy
import dataclasses

import numpy as np
import pytest

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")

import segmentation_reference as reference  # noqa: E402
import segmentation_scenes  # noqa: E402

from farpoint_segmentation import networks, timing  # noqa: E402
from farpoint_segmentation.data import Scene  # noqa: E402
from farpoint_segmentation.evaluate import Evaluation, evaluate  # noqa: E402
from farpoint_segmentation.networks import all_pairs  # noqa: E402
from farpoint_segmentation.recipes import recipe  # noqa: E402
from farpoint_segmentation.samplers import parse  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch has no CUDA here")

LARGE = ("pointmetabase-l", "pointvector-l")
DATA = ("s3dis", "scannet", "semantickitti")


def case(network, data, count, dtype=torch.float32, batch=1):
    """A network in evaluation, and what it is given, on the CPU."""
    model = reference.randomize(networks.build(network, data, seed=0).to(dtype)).eval()
    points = torch.cat([reference.cloud(data, count, 1 + of) for of in range(batch)]).to(dtype)
    return model, points, reference.features(points, model.sizes.channels)


def moved(*parts, device="cuda"):
    return [part.to(device) for part in parts]


def ours(model, points, features, **options):
    with torch.inference_mode():
        return model(points, features, **options)


def far(actual, expected):
    return float((actual.double().cpu() - expected.double().cpu()).abs().max() / expected.double().std().cpu())


@pytest.mark.parametrize("network", LARGE)
@pytest.mark.parametrize("data", DATA)
def test_equals_cpu(cuda, network, data):
    model, points, features = case(network, data, 3000, torch.float64, batch=2)
    expected = ours(model, points, features)
    assert far(ours(*moved(model, points, features)), expected) < 1e-9


@pytest.mark.parametrize("network", LARGE)
def test_float32_chooses_the_classes_of_float64(cuda, network):
    model, points, features = case(network, "s3dis", 3000, torch.float64)
    expected = ours(model, points, features)
    actual = ours(model.float().cuda(), points.float().cuda(), features.float().cuda()).double().cpu()
    actual, expected = [(logits - expected.mean(1)) / expected.std(1) for logits in (actual, expected)]
    assert (actual.argmax(-1) == expected.argmax(-1)).float().mean() >= 0.997


@pytest.mark.parametrize("network", LARGE)
def test_exact_samplers_give_the_same_bits(cuda, network):
    model, points, features = moved(*case(network, "semantickitti", 8000, batch=2))
    expected = ours(model, points, features)
    for sampler in ("naive", "radius", "quick", "persistent", "auto", "cpu:radius", "cpu:quick", "cpu:peak"):
        assert torch.equal(ours(model, points, features, sampler=sampler), expected), sampler
    for sampler in ("random", "grid", "morton", "npdu", "fastpoint+radius", "random@released", "npdu@first"):
        first, second = (ours(model, points, features, sampler=sampler) for _ in range(2))
        assert torch.equal(first, second) and not torch.equal(first, expected), sampler


@pytest.mark.parametrize("network", LARGE)
def test_bfloat16(cuda, network):
    """Of the size of the CPU's rounding to bfloat16, which is another order of sums."""
    errors = {}
    for device in ("cpu", "cuda"):
        model, points, features = moved(*case(network, "s3dis", 3000), device=device)
        expected = ours(model, points, features)
        with torch.autocast(device, torch.bfloat16):
            actual = ours(model, points, features)
        assert actual.dtype == torch.bfloat16
        errors[device] = float((actual.float() - expected).std() / expected.std())
    assert errors["cuda"] < 2 * errors["cpu"] < 0.5


@pytest.mark.parametrize("network", LARGE)
@pytest.mark.parametrize("ahead", [False, True])
def test_captured(cuda, network, ahead):
    """The same bits, again and again, whether coarse levels are sampled beside layers of fine ones or before them."""
    model, points, features = moved(*case(network, "s3dis", 20_000, batch=2))
    model.ahead = ahead
    captured = networks.Captured(model, points[:1], features[:1])
    for of in (0, 1, 0, 1, 1, 0):
        own = points[of : of + 1], features[of : of + 1]
        assert torch.equal(captured(*own), ours(model, *own))
    with pytest.raises(ValueError, match="the graph is for"):
        captured(points, features)


@pytest.mark.parametrize("sampler", ["naive", "radius", "quick", "persistent", "auto"])
def test_captured_samplers(cuda, sampler):
    model, points, features = moved(*case("pointmetabase-l", "semantickitti", 8000))
    captured = networks.Captured(model, points, features, sampler)
    assert torch.equal(captured(points, features), ours(model, points, features))


def test_captures_of_several_types(cuda):
    """What was converted for a graph is there as long as it, whatever the network does afterwards."""
    model, points, features = moved(*case("pointvector-l", "s3dis", 3000))
    captured, expected = {}, {}
    for bfloat16 in (False, True):
        with torch.autocast("cuda", torch.bfloat16, enabled=bfloat16):
            expected[bfloat16] = ours(model, points, features)
            captured[bfloat16] = networks.Captured(model, points, features)
    model.train()
    sizes = {part.numel() for part in model.parameters()}
    rubbish = [torch.full((size,), torch.nan, device="cuda") for size in sizes for _ in range(20)]
    for bfloat16, one in captured.items():
        assert torch.equal(one(points, features), expected[bfloat16]), bfloat16
    assert len(rubbish) == 20 * len(sizes)


def train(network, steps, device="cuda"):
    model = networks.build(network, "s3dis", seed=3).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    points = torch.cat([reference.cloud("s3dis", 2000, 1 + of) for of in range(2)]).to(device)
    features = reference.features(points.cpu(), 4).to(device)
    labels = (points[..., 2] * 20).long().clamp(0, 12)
    torch.manual_seed(5)
    losses = []
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(model(points, features).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses, model.state_dict()


@pytest.mark.parametrize("network", LARGE)
def test_training_twice_gives_the_same_bits(cuda, network):
    (losses, first), (_, second) = train(network, 6), train(network, 6)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert losses[-1] < losses[0]


def test_all_pairs(cuda):
    points = reference.cloud("s3dis", 3000).cuda()
    centers = points[:, ::4].contiguous()
    expected = all_pairs.ball_query(centers.cpu(), points.cpu(), 0.1, 32)
    actual = all_pairs.ball_query(centers, points, 0.1, 32).cpu()
    # Products may be fused there, which moves points at the very edge.
    assert (actual == expected).all(-1).float().mean() > 0.99


def test_timing(cuda):
    model, points, features = moved(*case("pointmetabase-l", "s3dis", 3000))
    scene = timing.Input("room", points[0], features[0])
    result = list(timing.measure(model, [scene], ("peak", "cpu:peak", "naive+all-pairs"), graphs=True))
    names = [("peak", False), ("cpu:peak", False), ("naive+all-pairs", False), ("peak", True)]
    assert [(one.sampler, one.graph) for one in result] == names
    for one in result:
        assert one.points == 3000 and 0 < one.seconds.all < 1
        assert 0 < one.seconds.sampling < one.seconds.all and one.peak_memory > 1 << 20


class Rooms:
    """Of three points a voxel."""

    names = ("a", "b")

    def read(self, name):
        points, colors, classes = segmentation_scenes.room(4000, ord(name))
        shifts = np.random.default_rng(1).random((3, 1, 3)).astype(np.float32) * np.float32(0.01)
        return Scene(
            name, (points + shifts).reshape(-1, 3), np.tile(colors, (3, 1)), None, np.tile(classes, 3)
        )


@pytest.mark.parametrize("bfloat16", [False, True])
def test_the_protocol_test(cuda, tmp_path, bfloat16):
    """Every point has a prediction, the same by graphs as by launches, and with all exact samplers."""
    module = reference.randomize(networks.build("pointmetabase-l", "s3dis", seed=1)).eval().cuda()
    result = {}
    for graphs in (True, False):
        task = Evaluation(
            recipe=recipe("s3dis"), source=Rooms(), network="pointmetabase-l", module=module,
            output=tmp_path / str(graphs), protocol="test", predictions=True, graphs=graphs, bfloat16=bfloat16,
        )
        chosen = [parse(name) for name in ("peak", "radius", "cpu:peak", "random")]
        result[graphs] = evaluate(task, chosen)
        assert all(np.sum(one.confusion) == one.raw_points == 12_000 and one.fullest > 3 for one in result[graphs])
    for one, other in zip(result[True], result[False]):
        assert one.confusion == other.confusion and one.seconds.sampling > 0
        assert ("graph" in one.options) == (one.sampler in ("peak", "radius")) and "graph" not in other.options
        path = f"predictions/pointmetabase-l-test-{one.sampler.replace(':', '-')}/{one.scene}.ply"
        written = [farpoint.read(tmp_path / folder / path)["prediction"] for folder in ("True", "False")]
        np.testing.assert_array_equal(*written)
    for exact, radius, cpu, random in (result[True][:4], result[True][4:]):
        assert exact.confusion == radius.confusion == cpu.confusion != random.confusion


def test_compiled_layers(cuda):
    """Of one level with two blocks: compiling all takes minutes."""
    sizes = dataclasses.replace(networks.build("pointmetabase-l", "s3dis").sizes, width=8, blocks=(1, 2))
    model = reference.randomize(networks.PointMetaBase(sizes)).eval().cuda()
    points = reference.cloud("s3dis", 2000, 1).cuda()
    features = reference.features(points.cpu(), sizes.channels).cuda()
    compiled = copy.deepcopy(model).compile_layers()
    for count in (2000, 1500):
        own = points[:, :count], features[:, :count]
        assert far(ours(compiled, *own), ours(model, *own)) < 1e-2
