"""The networks: as many parameters as the authors' and by their names, and the results of a second, plain
implementation."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import segmentation_reference as reference  # noqa: E402
from segmentation_reference import one_thread  # noqa: E402, F401

from farpoint_segmentation import networks  # noqa: E402
from farpoint_segmentation.recipes import DATA, NETWORKS  # noqa: E402

#: Parameters and entries of the authors' networks, as their code prints them.
COUNTS = {
    "pointmetabase-l": ((2_737_677, 2_741_780, 2_737_875), 310),
    "pointmetabase-xl": ((15_283_981, 15_298_324, 15_284_371), 400),
    "pointvector-l": ((4_215_245, 4_215_572, 4_215_443), 452),
    "pointvector-xl": ((24_097_933, 24_098_580, 24_098_323), 637),
}

#: A tensor of each kind, by its name in the authors' checkpoints of S3DIS.
KEYS = {
    "pointmetabase-l": {
        "encoder.encoder.0.0.convs1.0.0.weight": (32, 4, 1),
        "encoder.encoder.0.0.convs1.0.0.bias": (32,),
        "encoder.encoder.1.0.convs1.0.0.weight": (64, 32, 1),
        "encoder.encoder.1.0.convs2.0.0.weight": (64, 3, 1, 1),
        "encoder.encoder.1.0.convs2.0.1.running_var": (64,),
        "encoder.pe_encoder.2.0.0.weight": (128, 3, 1, 1),
        "encoder.pe_encoder.4.0.1.num_batches_tracked": (),
        "encoder.encoder.2.4.convs.convs1.0.0.weight": (128, 128, 1),
        "encoder.encoder.4.2.pwconv.1.0.weight": (512, 512, 1),
        "decoder.decoder.0.0.convs.0.0.weight": (32, 96, 1),
        "decoder.decoder.3.0.convs.1.1.bias": (256,),
        "head.head.0.0.weight": (32, 32, 1),
        "head.head.2.0.weight": (13, 32, 1),
        "head.head.2.0.bias": (13,),
    },
    "pointvector-l": {
        "encoder.encoder.0.0.convs.0.0.weight": (32, 4, 1),
        "encoder.encoder.1.0.convs.0.0.weight": (64, 35, 1, 1),
        "encoder.encoder.1.1.convs.vpsa.pos_x.0.weight": (64, 3, 1, 1),
        "encoder.encoder.2.4.convs.vpsa.theta_x_alpha.0.weight": (128, 128, 1, 1),
        "encoder.encoder.2.4.convs.vpsa.theta_x_beta.1.running_mean": (128,),
        "encoder.encoder.3.1.convs.vpsa.z_x.weight": (256, 256, 1, 1),
        "encoder.encoder.3.1.convs.vpsa.tf_zx.0.weight": (256, 3, 1),
        "encoder.encoder.4.2.convs.vpsa.result.0.weight": (512, 512, 1),
        "encoder.encoder.4.2.convs.vpsa.residual.1.weight": (512,),
        "decoder.decoder.0.0.convs.0.0.weight": (32, 96, 1),
        "head.head.2.0.bias": (13,),
    },
}

LARGE = ("pointmetabase-l", "pointvector-l")


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("data", DATA)
def test_counts(network, data):
    model = networks.build(network, data, seed=0)
    parameters, entries = COUNTS[network]
    assert sum(part.numel() for part in model.parameters()) == parameters[DATA.index(data)]
    assert len(model.state_dict()) == entries


@pytest.mark.parametrize("network", KEYS)
def test_keys(network):
    state = networks.build(network, "s3dis", seed=0).state_dict()
    assert {key: tuple(state[key].shape) for key in KEYS[network]} == KEYS[network]


def test_the_largest_is_joined_on_scannet():
    state = networks.build("pointmetabase-l", "scannet", seed=0).state_dict()
    assert state["head.head.0.0.weight"].shape == (64, 64, 1)
    assert state["head.head.2.0.weight"].shape == (20, 64, 1)


def case(network, data, count, dtype, seed=1, batch=1):
    """A network in evaluation, and what it is given."""
    model = reference.randomize(networks.build(network, data, seed=0).to(dtype), seed).eval()
    points = torch.cat([reference.cloud(data, count, seed + of) for of in range(batch)]).to(dtype)
    return model, points, reference.features(points, model.sizes.channels, seed)


def far(actual, expected):
    """The largest difference, in spreads of the logits."""
    return float((actual - expected).abs().max() / expected.std())


def same_classes(actual, expected):
    """The share of points whose class is the same, as if the head's bias made all classes as frequent."""
    actual, expected = [(logits - expected.mean(1)) / expected.std(1) for logits in (actual, expected)]
    assert len(expected.argmax(-1).unique()) > 3
    return float((actual.argmax(-1) == expected.argmax(-1)).float().mean())


def obvious(model, how, points, features):
    with torch.no_grad():
        return reference.logits(model.state_dict(), how, points, features)


def ours(model, points, features, **options):
    with torch.inference_mode():
        return model(points, features, **options)


# XL is as L with other numbers; one of each kind is enough.
CASES = [(network, data) for network in LARGE for data in DATA] + [
    ("pointmetabase-xl", "s3dis"), ("pointvector-xl", "s3dis")
]


@pytest.mark.parametrize(("network", "data"), CASES)
def test_equals_plain_implementation(network, data):
    count = 800 if network in LARGE else 500
    model, points, features = case(network, data, count, torch.float64)
    expected = obvious(model, reference.numbers(network, data), points, features)
    assert expected.shape == (1, count, model.sizes.classes)
    assert expected.std() > 0.01  # not all is alike
    assert far(ours(model, points, features), expected) < 1e-9


@pytest.mark.parametrize("network", LARGE)
def test_float32_chooses_the_same_classes(network):
    model, points, features = case(network, "s3dis", 2000, torch.float32)
    expected = obvious(model, reference.numbers(network, "s3dis"), points, features)
    actual = ours(model, points, features)
    assert actual.dtype == torch.float32
    assert same_classes(actual, expected) >= 0.997


@pytest.mark.parametrize("network", LARGE)
@pytest.mark.parametrize("data", ["s3dis", "semantickitti"])
def test_wrong_numbers_are_seen(network, data):
    """The comparison would notice another radius, another number of neighbors, another growth of radii."""
    model, points, features = case(network, data, 800, torch.float64)
    how, result = reference.numbers(network, data), ours(model, points, features)
    wrong = {
        "radius": reference.changed(how, radius=1.1 * how.radius),
        "down": reference.changed(how, down=31),
        "within": reference.changed(how, within=how.within - 1),
        "growth": reference.changed(how, growth=how.growth + 0.5),
    }
    separate = {name: far(result, obvious(model, other, points, features)) for name, other in wrong.items()}
    assert min(separate.values()) > 1e-3, separate


REAL = [
    ("s3dis", "labelled/s3dis_crop_41568.npy"), ("scannet", "scannet/scene0000_00_xyz_f32.npy"),
    ("semantickitti", "labelled/semantickitti_000750_points.npy"),
]


@pytest.mark.parametrize("network", LARGE)
@pytest.mark.parametrize(("data", "name"), REAL)
def test_equals_plain_implementation_on_real_clouds(network, data, name):
    path = reference.SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not there (shared/data is not part of the repository)")
    whole = np.asarray(np.load(path)[..., :3].tolist(), np.float64).reshape(-1, 3)
    points = torch.from_numpy(reference.crop(whole.astype(np.float32), 1000))[None].double()
    model = reference.randomize(networks.build(network, data, seed=0).double()).eval()
    features = reference.features(points, model.sizes.channels)
    expected = obvious(model, reference.numbers(network, data), points, features)
    assert far(ours(model, points, features), expected) < 1e-9
    single = ours(model.float(), points.float(), features.float())
    assert same_classes(single, expected) >= 0.997


@pytest.mark.parametrize("network", LARGE)
def test_exact_samplers_give_the_same_bits(network):
    model, points, features = case(network, "s3dis", 400, torch.float32, batch=2)
    expected = ours(model, points, features)
    for sampler in ("reference", "naive", "radius", "tree", "quick", "cpu:radius", "auto"):
        assert torch.equal(ours(model, points, features, sampler=sampler), expected), sampler
    other = ours(model, points, features, sampler="random")
    assert not torch.equal(other, expected)


@pytest.mark.parametrize("network", LARGE)
def test_geometry_found_before(network):
    model, points, features = case(network, "s3dis", 600, torch.float32)
    result = model.find_geometry(points)
    assert [len(level.samples[0]) for level in result.levels] == [150, 37, 9, 2]
    assert torch.equal(ours(model, points, features, geometry=result), ours(model, points, features))


@pytest.mark.parametrize("network", LARGE)
def test_batches(network):
    model, points, features = case(network, "s3dis", 500, torch.float64)
    one = ours(model, points, features)
    two = ours(model, points.expand(2, -1, -1), features.expand(2, -1, -1))
    assert max(far(two[:1], one), far(two[1:], one)) < 1e-11
    model, points, features = case(network, "scannet", 500, torch.float64, batch=2)
    separate = [ours(model, points[of : of + 1], features[of : of + 1]) for of in range(2)]
    assert far(ours(model, points, features), torch.cat(separate)) < 1e-11


@pytest.mark.parametrize("network", LARGE)
def test_permuted_rows(network):
    """Where no ball is full and nothing ties, the order of the points behind the first does not matter."""
    points = torch.rand(1, 1000, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 3
    model = reference.randomize(networks.build(network, "s3dis", seed=0).double()).eval()
    features = reference.features(points, 4)
    for level in model.find_geometry(points).levels:
        for ball in (level.down, level.within):
            repeated = ball.indices[..., 1:] == ball.indices[..., :1]
            if not bool(repeated.any(-1).all()):
                break
        else:
            continue
        pytest.fail("a ball is full")
    order = torch.cat([torch.zeros(1, dtype=torch.int64), 1 + torch.randperm(999, generator=torch.Generator().manual_seed(2))])
    result = ours(model, points[:, order], features[:, order])
    assert far(result, ours(model, points, features)[:, order]) < 1e-11


def test_errors():
    model = networks.build("pointmetabase-l", "s3dis", seed=0)
    with pytest.raises(ValueError, match="must be one of pointmetabase-l"):
        networks.build("pointnet", "s3dis")
    with pytest.raises(ValueError, match="data is 'modelnet'"):
        networks.build("pointvector-l", "modelnet")
    with pytest.raises(ValueError, match=r"features \(B, N, 4\), not \(1, 300, 3\) and \(1, 300, 7\)"):
        model(torch.zeros(1, 300, 3), torch.zeros(1, 300, 7))
    with pytest.raises(ValueError, match="255 points; 4 levels of a quarter each need at least 256"):
        model(torch.zeros(1, 255, 3), torch.zeros(1, 255, 4))


def test_seeds():
    states = [networks.build("pointvector-l", "s3dis", seed=seed).state_dict() for seed in (1, 1, 2)]
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])
    assert not torch.equal(states[0]["head.head.2.0.bias"], states[2]["head.head.2.0.bias"])
    before = torch.get_rng_state()
    networks.build("pointvector-l", "s3dis", seed=3)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("network", LARGE)
def test_compiled_layers(network):
    """All layers are one graph."""
    model, points, features = case(network, "s3dis", 300, torch.float64)
    expected = ours(model, points, features)
    compiled = copy.deepcopy(model).compile_layers(backend="eager", fullgraph=True, dynamic=False)
    assert far(ours(compiled, points, features), expected) < 1e-10
    assert torch.equal(ours(model, points, features), expected)
