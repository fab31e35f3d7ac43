"""On a GPU: networks give what they give on the CPU, exact samplers the same bits, and layers can be compiled, run in
bfloat16 and be captured."""

import copy

import pytest
from conftest import needs_gpu

torch = pytest.importorskip("torch", reason="torch is not installed")

import segmentation_reference as reference  # noqa: E402

from farpoint.segmentation import networks, timing  # noqa: E402
from farpoint.segmentation.networks import all_pairs  # noqa: E402

pytestmark = needs_gpu

LARGE = ("pointmetabase-l", "pointvector-l")
DATA = ("s3dis", "scannet", "semantickitti")


def case(network, data, count, dtype=torch.float32, batch=1):
    """A network in evaluation, and what it is given, on the CPU."""
    made = reference.randomize(networks.build(network, data, seed=0).to(dtype)).eval()
    points = torch.cat([reference.cloud(data, count, 1 + of) for of in range(batch)]).to(dtype)
    return made, points, reference.features(points, made.sizes.channels)


def moved(*parts, device="cuda"):
    return [part.to(device) for part in parts]


def ours(made, points, features, **options):
    with torch.inference_mode():
        return made(points, features, **options)


def far(found, wanted):
    return float((found.double().cpu() - wanted.double().cpu()).abs().max() / wanted.double().std().cpu())


@pytest.mark.parametrize("network", LARGE)
@pytest.mark.parametrize("data", DATA)
def test_equals_cpu(cuda, network, data):
    made, points, features = case(network, data, 3000, torch.float64, batch=2)
    wanted = ours(made, points, features)
    assert far(ours(*moved(made, points, features)), wanted) < 1e-9


@pytest.mark.parametrize("network", LARGE)
def test_float32_chooses_the_classes_of_float64(cuda, network):
    made, points, features = case(network, "s3dis", 3000, torch.float64)
    wanted = ours(made, points, features)
    found = ours(made.float().cuda(), points.float().cuda(), features.float().cuda()).double().cpu()
    found, wanted = [(logits - wanted.mean(1)) / wanted.std(1) for logits in (found, wanted)]
    assert (found.argmax(-1) == wanted.argmax(-1)).float().mean() >= 0.997


@pytest.mark.parametrize("network", LARGE)
def test_exact_samplers_give_the_same_bits(cuda, network):
    made, points, features = moved(*case(network, "semantickitti", 8000, batch=2))
    wanted = ours(made, points, features)
    for sampler in ("naive", "radius", "quick", "persistent", "auto", "cpu:radius", "cpu:quick", "cpu:peak"):
        assert torch.equal(ours(made, points, features, sampler=sampler), wanted), sampler
    for sampler in ("random", "grid", "morton", "npdu", "fastpoint+radius", "random@released", "npdu@first"):
        first, second = (ours(made, points, features, sampler=sampler) for _ in range(2))
        assert torch.equal(first, second) and not torch.equal(first, wanted), sampler


@pytest.mark.parametrize("network", LARGE)
def test_bfloat16(cuda, network):
    """Of the size of the CPU's rounding to bfloat16, which is another order of sums."""
    errors = {}
    for device in ("cpu", "cuda"):
        made, points, features = moved(*case(network, "s3dis", 3000), device=device)
        wanted = ours(made, points, features)
        with torch.autocast(device, torch.bfloat16):
            found = ours(made, points, features)
        assert found.dtype == torch.bfloat16
        errors[device] = float((found.float() - wanted).std() / wanted.std())
    assert errors["cuda"] < 2 * errors["cpu"] < 0.5


def test_compiled_layers(cuda):
    made, points, features = moved(*case("pointmetabase-l", "s3dis", 3000))
    compiled = copy.deepcopy(made).compile_layers()
    for count in (3000, 2500):
        own = points[:, :count], features[:, :count]
        assert far(ours(compiled, *own), ours(made, *own)) < 1e-2


@pytest.mark.parametrize("network", LARGE)
def test_captured(cuda, network):
    made, points, features = moved(*case(network, "s3dis", 3000, batch=2))
    captured = networks.Captured(made, points[:1], features[:1])
    for of in range(2):
        own = points[of : of + 1], features[of : of + 1]
        assert torch.equal(captured(*own), ours(made, *own))
    with pytest.raises(ValueError, match="the graph is for"):
        captured(points, features)


def train(network, steps, device="cuda"):
    made = networks.build(network, "s3dis", seed=3).to(device)
    optimizer = torch.optim.AdamW(made.parameters(), lr=1e-3)
    points = torch.cat([reference.cloud("s3dis", 2000, 1 + of) for of in range(2)]).to(device)
    features = reference.features(points.cpu(), 4).to(device)
    labels = (points[..., 2] * 20).long().clamp(0, 12)
    torch.manual_seed(5)
    losses = []
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(made(points, features).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses, made.state_dict()


@pytest.mark.parametrize("network", LARGE)
def test_training_twice_gives_the_same_bits(cuda, network):
    (losses, first), (_, second) = train(network, 6), train(network, 6)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert losses[-1] < losses[0]


def test_all_pairs(cuda):
    points = reference.cloud("s3dis", 3000).cuda()
    centers = points[:, ::4].contiguous()
    wanted = all_pairs.ball_query(centers.cpu(), points.cpu(), 0.1, 32)
    found = all_pairs.ball_query(centers, points, 0.1, 32).cpu()
    # Products may be fused there, which moves points at the very edge.
    assert (found == wanted).all(-1).float().mean() > 0.99


def test_timing(cuda):
    made, points, features = moved(*case("pointmetabase-l", "s3dis", 3000))
    scene = timing.Input("room", points[0], features[0])
    samplers = ("peak", "cpu:peak", "naive+all-pairs")
    for one in timing.measure(made, [scene], samplers):
        assert one.points == 3000 and 0 < one.seconds.sampling < one.seconds.all < 1
        assert one.peak_memory > 1 << 20
