"""Networks in training: statistics of batches, gradients, and the same bits for the same seed."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import segmentation_reference as reference  # noqa: E402
from segmentation_reference import one_thread  # noqa: E402, F401

from farpoint_segmentation import networks  # noqa: E402

LARGE = ("pointmetabase-l", "pointvector-l")


def case(network, count=600, batch=2, dtype=torch.float64):
    """A network in training without dropout, and what it is given."""
    model = reference.randomize(networks.build(network, "s3dis", seed=0).to(dtype)).train()
    model.head.head[1].p = 0.0
    points = torch.cat([reference.cloud("s3dis", count, 1 + of) for of in range(batch)]).to(dtype)
    return model, points, reference.features(points, 4)


@pytest.mark.parametrize("network", LARGE)
def test_statistics(network):
    """Logits by statistics of the batch, what the running ones become, and over how many rows they are."""
    model, points, features = case(network)
    how = reference.changed(reference.numbers(network, "s3dis"), training=True)
    before = {name: part.clone() for name, part in model.state_dict().items()}
    with torch.no_grad():
        expected = reference.logits(before, how, points, features)
        actual = model(points, features)
    assert (actual - expected).abs().max() < 1e-7 * expected.std()
    after = model.state_dict()
    assert len(how.after) == 2 * len(how.rows) and len(how.rows) > 30
    for name, value in how.after.items():
        assert torch.allclose(after[name], value, rtol=1e-7, atol=1e-7), name
        assert not torch.equal(before[name], value)
    counted = [name for name in after if name.endswith("num_batches_tracked")]
    assert len(counted) == len(how.rows)
    assert all(after[name] == before[name] + 1 for name in counted)
    down = "encoder.encoder.1.0.convs2.0.1" if network == "pointmetabase-l" else "encoder.encoder.1.0.convs.0.1"
    assert how.rows[down] == 2 * 150 * 32


@pytest.mark.parametrize("network", LARGE)
def test_gradients(network):
    """Those of the plain implementation, by autograd alone."""
    model, points, features = case(network)
    how = reference.changed(reference.numbers(network, "s3dis"), training=True)
    state = {
        name: part.detach().clone().requires_grad_(part.is_floating_point() and "running" not in name)
        for name, part in model.state_dict().items()
    }
    weights = torch.randn(2, 600, 13, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    (reference.logits(state, how, points, features) * weights).sum().backward()
    (model(points, features) * weights).sum().backward()
    # Many gradients are 0 but for rounding: what a normalization subtracts again.
    largest = max(float(part.grad.abs().max()) for part in state.values() if part.grad is not None)
    for name, part in model.named_parameters():
        expected = state[name].grad
        size = max(float(expected.abs().max()), 1e-3 * largest)
        assert (part.grad - expected).abs().max() < 1e-6 * size, name


@pytest.mark.parametrize("network", LARGE)
def test_evaluation_with_gradients(network):
    """With running statistics, too, parameters have gradients, and results are the same."""
    model, points, features = case(network)
    model.eval()
    actual = model(points, features)
    actual.square().mean().backward()
    assert all(part.grad is not None for part in model.parameters())
    with torch.inference_mode():
        expected = model(points, features)
    assert (actual - expected).abs().max() < 1e-10 * expected.std()


def trained(network, steps, seed):
    model = networks.build(network, "s3dis", seed=seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    points = torch.cat([reference.cloud("s3dis", 400, 1 + of) for of in range(2)])
    features = reference.features(points, 4)
    labels = (points[..., 2] * 20).long().clamp(0, 12)
    torch.manual_seed(seed)
    losses = []
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(model(points, features).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses, model.state_dict()


@pytest.mark.parametrize("network", LARGE)
def test_same_bits(network):
    (losses, first), (_, second), (_, other) = [trained(network, 3, seed) for seed in (3, 3, 4)]
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("network", LARGE)
def test_bfloat16(network):
    model, points, features = case(network, dtype=torch.float32)
    model.eval()
    with torch.inference_mode():
        expected = model(points, features)
        with torch.autocast("cpu", torch.bfloat16):
            actual = model(points, features)
        assert torch.equal(model(points, features), expected)  # what was kept for bfloat16 is not used
    assert actual.dtype == torch.bfloat16
    assert (actual.float() - expected).std() < 0.2 * expected.std()
