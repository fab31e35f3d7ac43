"""The switch of samplers, and how long they take."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import segmentation_reference as reference  # noqa: E402
from segmentation_reference import one_thread  # noqa: E402, F401

import farpoint  # noqa: E402
from farpoint_segmentation import arguments, baselines, commands, networks, samplers, timing  # noqa: E402
from farpoint_segmentation.networks import all_pairs  # noqa: E402
from farpoint_segmentation.records import read_scenes  # noqa: E402

EXACT = ["auto", "reference", "naive", "radius", "tree", "peak", "quick", "radius:nvox=16", "cpu:naive", "cpu:peak"]
APPROXIMATE = [
    "random", "grid", "morton", "npdu", "fastpoint", "fastpoint+radius", "random:seed=7", "grid:keep=first",
    "npdu:order=morton,window=40", "morton:bits=21", "fastpoint:estimator=fit",
]


@pytest.fixture
def points():
    return torch.cat([reference.cloud("s3dis", 600, 1 + of) for of in range(2)])


@pytest.mark.parametrize("name", EXACT)
def test_exact(points, name):
    sampler = samplers.parse(name)
    assert sampler.exact and sampler.name == name
    assert sampler.device == ("cpu" if name.startswith("cpu:") else "input")
    assert torch.equal(sampler.sample(points, 150, 1), farpoint.sample(points, 150))


@pytest.mark.parametrize("name", APPROXIMATE)
def test_approximate(points, name):
    sampler = samplers.parse(name)
    assert not sampler.exact
    for level in (1, 2):
        result = sampler.sample(points, 150, level)
        assert result.shape == (2, 150) and result.dtype == torch.int64
        assert all(len(cloud.unique()) == 150 for cloud in result)
        assert torch.equal(result, sampler.sample(points, 150, level))
    if not name.startswith("fastpoint"):  # which fills up such small samples exactly
        assert not torch.equal(result, farpoint.sample(points, 150))


def _lattice(dtype):
    axis = torch.arange(8, dtype=dtype)
    return torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(1, -1, 3) * 0.1


@pytest.mark.parametrize("cloud", [
    reference.cloud("s3dis", 900), _lattice(torch.float32), _lattice(torch.float64),
    torch.cat([_lattice(torch.float32)[:, :40]] * 12, 1), torch.zeros(1, 300, 3),
    torch.linspace(0, 1, 700).reshape(1, -1, 1).expand(1, 700, 3),
], ids=["scene", "lattice", "lattice in f64", "duplicates", "one place", "line"])
def test_levels_are_prefixes_of_an_exact_sample(cloud):
    made = networks.build("pointmetabase-l", "s3dis", seed=0).to(cloud.dtype)
    for name in ["peak", "naive", "cpu:radius", "fastpoint@first", "npdu@released"]:
        once = made.find_geometry(cloud, name).levels
        # The same levels, each sampled by itself.
        finer, chooser = cloud, samplers.parse(name)
        for level, found in enumerate(once, 1):
            rows = chooser._at(level)._chosen(finer, finer.shape[1] // 4, level)
            assert torch.equal(found.samples, rows), (name, level)
            finer = farpoint.gather(finer, rows)
            assert torch.equal(found.points, finer), (name, level)
        assert chooser.takes_prefix(2) == chooser.takes_prefix(3) == chooser.exact


def test_an_exact_sampler_runs_on_every_level_on_request(points):
    sampler = samplers.parse("radius@every")
    assert sampler.exact and not any(sampler.takes_prefix(level) for level in range(1, 5))
    first = points[:, samplers.parse("peak").sample(points, 150, 1)[0]]
    for name in ["radius@every", "radius"]:
        assert torch.equal(samplers.parse(name).sample(first, 40, 2)[0], torch.arange(40))


def test_approximate_samplers_run_on_every_level_anyway():
    for name in ["random@every", "fastpoint+radius@every"]:
        with pytest.raises(ValueError, match='"@every" is for exact samplers, .* runs on every level anyway'):
            samplers.parse(name)


def test_where_approximate_samplers_run():
    devices = {name: samplers.parse(name).device for name in APPROXIMATE}
    assert {name for name, device in devices.items() if device == "input"} == {
        "fastpoint", "fastpoint+radius", "fastpoint:estimator=fit",
    }
    assert samplers.parse("fastpoint+tree").device == "cpu"
    assert samplers.parse("fastpoint@first").device == "input"
    for name in ["cpu:fastpoint", "cpu:fastpoint+radius", "cpu:fastpoint+radius:estimator=fit@first"]:
        assert samplers.parse(name).device == "cpu" and not networks.can_capture(samplers.parse(name))


def test_options_are_passed_on(points):
    def of(name):
        return samplers.parse(name).sample(points, 150, 1)

    assert torch.equal(
        of("npdu:order=morton,window=40"),
        baselines.sample(points, 150, "npdu:window=40,order=morton"),
    )
    assert torch.equal(of("morton"), baselines.sample(points, 150, "morton:bits=10"))
    assert torch.equal(of("fastpoint+radius"), of("fastpoint"))
    assert torch.equal(of("cpu:fastpoint+radius"), of("fastpoint"))
    assert samplers.parse("cpu:fastpoint+radius").options == {"first": "radius"}
    assert not torch.equal(of("random"), of("random:seed=7"))


def test_first_level_only(points):
    sampler = samplers.parse("random@first")
    assert torch.equal(sampler.sample(points, 150, 2), farpoint.sample(points, 150))
    assert torch.equal(sampler.sample(points, 150, 1), samplers.parse("random").sample(points, 150, 1))


@pytest.mark.parametrize("name", ["radius@first", "cpu:radius@first", "npdu@first", "fastpoint@first", "quick@released"])
def test_the_paper_samples_the_other_levels_by_the_textbook(points, name, monkeypatch):
    """Section 5.1: each of them, also behind an exact sample, whose prefixes they are."""
    ran = []
    sample = farpoint.sample

    def watched(points, count, *, algorithm):
        ran.append(algorithm)
        return sample(points, count, algorithm=algorithm)

    monkeypatch.setattr(farpoint, "sample", watched)
    of_baselines = baselines.sample

    def also_watched(points, count, method):
        if method == "quick":
            ran.append(method)
        return of_baselines(points, count, method)

    monkeypatch.setattr(baselines, "sample", also_watched)
    sampler = samplers.parse(name)
    made = networks.build("pointmetabase-l", "s3dis", seed=0).find_geometry(points, sampler).levels
    own = [sampler.method] if sampler.exact else []
    assert ran == [*own, "naive", "naive", "naive"]
    if sampler.exact:
        assert not any(sampler.takes_prefix(level) for level in range(1, 5))
        assert all(torch.equal(one.samples[0], torch.arange(one.samples.shape[1])) for one in made[1:])


def test_as_released(points):
    twice = samplers.parse("random@released").sample(points, 300, 2)
    assert all(len(cloud.unique()) < 300 for cloud in twice)
    one = points[:1]
    grid = samplers.parse("grid@released", "s3dis")
    assert torch.equal(
        grid.sample(one, 150, 1), farpoint.sample_grid(one, cell=0.08)
    )
    assert torch.equal(grid.sample(one, 150, 2), farpoint.sample(one, 150))
    assert torch.equal(samplers.parse("grid:cell=0.08@released").sample(one, 1, 1), grid.sample(one, 1, 1))
    with pytest.raises(ValueError, match="a different number of points for each of 2 clouds"):
        grid.sample(points, 150, 1)
    npdu = samplers.parse("npdu@released")
    assert torch.equal(npdu.sample(one, 150, 1), samplers.parse("npdu").sample(one, 150, 1))
    assert torch.equal(npdu.sample(one, 150, 3), farpoint.sample(one, 150))


def test_a_network_takes_as_many_points_as_come():
    model = networks.build("pointmetabase-l", "s3dis", seed=0).eval()
    points = reference.cloud("s3dis", 900)
    result = model.find_geometry(points, samplers.parse("grid@released", "s3dis")).levels
    count = farpoint.sample_grid(points, cell=0.08).shape[1]
    assert [level.samples.shape[1] for level in result] == [count, count // 4, count // 16, count // 64]


@pytest.mark.parametrize(("name", "text"), [
    ("fps", "'fps' is unknown; there are auto, reference"),
    ("random+peak", "is unknown"),
    ("fastpoint+random", "'random' is none of"),
    ("cpu:random", "random runs on the CPU anyway"),
    ("cpu:fastpoint+tree", "runs on the CPU anyway"),
    ("cpu:fps", "'cpu:fps' is unknown"),
    ("npdu:bits=3", "npdu has no option 'bits', but order, window"),
    ("npdu:window=many", "window is 'many'; it must be a number"),
    ("peak@all", 'ends with "@all"'),
    ("grid@released", "its cells depend on the data set, which is None"),
])
def test_errors(name, text):
    with pytest.raises(ValueError, match=text.replace("(", r"\(")):
        samplers.parse(name)


def test_what_can_be_captured():
    """What is on the GPU and never waits."""
    for name, expected in (
        ("peak", True), ("naive", True), ("radius:nvox=24", True), ("quick", True), ("cpu:peak", False),
        ("random", False), ("npdu", False), ("grid@released", False), ("morton@first", False),
    ):
        assert networks.can_capture(samplers.parse(name, "s3dis")) == expected, name


def test_tables_name_samplers():
    for name in [*samplers.TABLE_2, *samplers.TABLE_5]:
        assert samplers.parse(name).name == name


def test_all_pairs(points):
    centers = points[:, ::5].contiguous()
    actual = all_pairs.ball_query(centers, points, 0.1, 32)
    expected = farpoint.ball_query(centers, points, 0.1, 32, index_dtype="int32").indices
    assert torch.equal(actual, expected)
    assert (expected[..., -1] >= 0).any() and (expected[..., -1] < 0).any()


def test_timing(points, tmp_path):
    model = networks.build("pointmetabase-l", "s3dis", seed=0).eval()
    scenes = [timing.Input(f"room-{of}", points[of], reference.features(points[:1], 4)[0]) for of in range(2)]
    chosen = ["peak", samplers.parse("random"), "naive+all-pairs"]
    result = list(timing.run(
        model, scenes, chosen, tmp_path, data="s3dis", name="pointmetabase-l", rounds=2, warm_up=0
    ))
    assert [(one.scene, one.sampler) for one in result] == [
        (f"room-{of}", name) for of in range(2) for name in ("peak", "random", "naive+all-pairs")
    ]
    for one in result:
        assert one.points == 600 and one.peak_memory is None and one.task == "time"
        assert 0 < one.seconds.sampling < one.seconds.all
    assert read_scenes(tmp_path) == result
    with pytest.raises(ValueError, match="training=True"):
        next(timing.measure(model.train(), scenes, chosen))


def test_all_pairs_give_the_same_network(points):
    model = networks.build("pointvector-l", "s3dis", seed=0).eval()
    features = reference.features(points, 4)
    with torch.inference_mode():
        expected = model(points, features)
        model.ball_query = all_pairs.ball_query
        assert torch.equal(model(points, features), expected)


def test_the_samplers_of_the_paper_by_one_word():
    given = arguments.parser(dict.fromkeys(("evaluate", "train", "time", "report", "generate"))).parse_args([
        "time", "generated", "--data", "s3dis", "--network", "pointvector-l", "--samplers", "peak,paper,npdu", "-o", "a"
    ])
    names = commands._sampler_names(given)
    assert names[0] == "peak" and sorted(names[1:]) == sorted({"npdu", *samplers.TABLE_2, *samplers.TABLE_5})
    assert {"npdu@first", "grid@first", "morton@first", "fastpoint@first", "cpu:fastpoint+radius@first"} <= set(names)
    # On the first level only, as in section 5.1; of random sampling FastPoint's code has all levels.
    assert [name for name in names[1:-1] if not name.endswith("@first")] == ["random"]
