"""Checkpoints in the form of the authors' code load, and nothing else does."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint_segmentation import networks  # noqa: E402

LARGE = ("pointmetabase-l", "pointvector-l")


def state_of(network, seed=1):
    return networks.build(network, "s3dis", seed=seed).state_dict()


def loaded(tmp_path, held, network="pointmetabase-l"):
    path = tmp_path / "checkpoint.pth"
    torch.save(held, path)
    model = networks.build(network, "s3dis", seed=2)
    return model.state_dict(), networks.load_checkpoint(model, path)


def same(actual, expected):
    assert actual.keys() == expected.keys()
    assert all(torch.equal(actual[name], expected[name]) for name in expected)


@pytest.mark.parametrize("network", LARGE)
@pytest.mark.parametrize("name", ["model", "net", "network", "state_dict", "base_model", None])
@pytest.mark.parametrize("prefix", ["", "module."])
def test_forms_of_the_authors(tmp_path, network, name, prefix):
    expected = state_of(network)
    parameters = {prefix + key: value for key, value in expected.items()}
    held = parameters if name is None else {
        name: parameters, "optimizer": {"state": {}, "param_groups": []}, "scheduler": {"base_values": [0.01]},
        "epoch": 100, "best_val": 70.1,
    }
    actual, rest = loaded(tmp_path, held, network)
    same(actual, expected)
    assert rest.get("epoch") == (None if name is None else 100)


@pytest.mark.parametrize("data", ["s3dis", "scannet", "semantickitti"])
def test_estimators_of_fastpoint_are_left_out(tmp_path, data):
    expected = state_of("pointmetabase-l")
    held = dict(expected)
    for layer, shape in (("fc1", (128, 32)), ("fc2", (128, 128)), ("fc3", (64, 128))):
        held[f"encoder.encoder.0.0.model_{data}.{layer}.weight"] = torch.zeros(shape)
        held[f"encoder.encoder.0.0.model_{data}.{layer}.bias"] = torch.zeros(shape[0])
    same(loaded(tmp_path, {"model": held})[0], expected)


def test_saved_ones_load(tmp_path):
    model = networks.build("pointvector-l", "s3dis", seed=1)
    optimizer = torch.optim.AdamW(model.parameters())
    path = tmp_path / "ours.pth"
    networks.save_checkpoint(model, path, optimizer=optimizer, epoch=7, best_val=0.5)
    held = torch.load(path, weights_only=True)
    assert set(held) == {"model", "optimizer", "scheduler", "epoch", "best_val"}
    again = networks.build("pointvector-l", "s3dis", seed=2)
    rest = networks.load_checkpoint(again, path)
    same(again.state_dict(), model.state_dict())
    assert (rest["epoch"], rest["best_val"]) == (7, 0.5)
    assert [one.name for one in tmp_path.iterdir()] == ["ours.pth"]


def test_loading_changes_what_is_kept(tmp_path):
    """Matrices that were folded before are not used again."""
    model = networks.build("pointmetabase-l", "s3dis", seed=1).eval()
    other = networks.build("pointmetabase-l", "s3dis", seed=2).eval()
    points = torch.rand(1, 300, 3, generator=torch.Generator().manual_seed(1))
    features = torch.zeros(1, 300, 4)
    networks.save_checkpoint(other, tmp_path / "other.pth")
    with torch.inference_mode():
        before, expected = model(points, features), other(points, features)
        networks.load_checkpoint(model, tmp_path / "other.pth")
        assert not torch.equal(before, expected)
        assert torch.equal(model(points, features), expected)
        twin = copy.deepcopy(model)
        twin.head.head[0][1].running_mean += 1
        assert not torch.equal(twin(points, features), expected)
        assert torch.equal(model(points, features), expected)


def test_training_changes_what_is_kept():
    """Even by a way that tensors do not notice, as a CUDA graph does."""
    model = networks.build("pointvector-l", "s3dis", seed=1).eval()
    points = torch.rand(1, 300, 3, generator=torch.Generator().manual_seed(1))
    features = torch.zeros(1, 300, 4)
    with torch.inference_mode():
        before = model(points, features)
    weight = model.encoder.encoder[1][1].convs["vpsa"].theta_x_alpha[0].weight
    version = weight._version
    weight.detach().numpy()[:] += 1
    assert weight._version == version
    model.train()
    model.eval()
    with torch.inference_mode():
        assert not torch.equal(model(points, features), before)


def test_errors(tmp_path):
    expected = state_of("pointmetabase-l")
    short = {name: value for name, value in expected.items() if not name.startswith("head.head.2")}
    with pytest.raises(ValueError, match=r"do not fit PointMetaBase: 2 missing: head\.head\.2\.0\.bias"):
        loaded(tmp_path, {"model": short})
    with pytest.raises(ValueError, match=r"1 of another network: extra"):
        loaded(tmp_path, {"model": {**expected, "extra": torch.zeros(1)}})
    with pytest.raises(ValueError, match=r"head\.head\.2\.0\.bias \(20,\), not \(13,\)"):
        loaded(tmp_path, {"model": {**expected, "head.head.2.0.bias": torch.zeros(20)}})
    with pytest.raises(ValueError, match="no parameters under any of model, net"):
        loaded(tmp_path, {"epoch": 3})
    with pytest.raises(ValueError, match="holds a list"):
        loaded(tmp_path, [1, 2])
    with pytest.raises(ValueError, match="without running code"):
        loaded(tmp_path, {"model": expected, "code": pytest.raises})
    garbage = tmp_path / "garbage.pth"
    garbage.write_bytes(b"no checkpoint")
    with pytest.raises(ValueError, match=r"garbage\.pth: not a checkpoint"):
        networks.load_checkpoint(networks.build("pointmetabase-l", "s3dis"), garbage)
    with pytest.raises(FileNotFoundError):
        networks.load_checkpoint(networks.build("pointmetabase-l", "s3dis"), tmp_path / "none.pth")
