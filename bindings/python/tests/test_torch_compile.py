"""torch.compile of what can't be traced: a graph breaks there, and fullgraph=True says why."""

import numpy as np
import pytest
from conftest import cloud

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint.compat import pointnet2_ops, pytorch3d, torch_cluster  # noqa: E402  (they need torch)


def batch(b=3, n=60):
    return torch.from_numpy(np.stack([cloud(n, seed=s) for s in range(b)]))


def spoiled(points):
    points = points.clone()
    points[0, 3, 1] = torch.nan
    return points


BREAKS = {
    "non_finite": lambda p: farpoint.sample(spoiled(p), 5, non_finite="skip"),
    "order": lambda p: farpoint.order(spoiled(p), non_finite="skip"),
    "spacing": lambda p: farpoint.sample(p, spacing=0.3, return_distances=True),
    "progress": lambda p: farpoint.sample(p[0], 5, progress=True),
    "check": farpoint.check,
    "grid": lambda p: farpoint.sample_grid(p, 5),
    "centroids": lambda p: farpoint.centroids(p, cell=0.3),
    "quality": lambda p: farpoint.quality(p[0], torch.tensor([1, 2, 3])),
    "lengths": lambda p: farpoint.sample(p, 5, lengths=[30, 20, 3]),
    "starts": lambda p: farpoint.sample(p, 5, start=[30, 20, 3]),
    "rows": lambda p: farpoint.sample(p[0], 5, rows=torch.arange(3, 40)),
    "mask of a cloud": lambda p: farpoint.sample(p[0], 5, mask=p[0, :, 0] > 0.3),
    "mask and start": lambda p: farpoint.sample(p, 5, mask=p[..., 0] > -1, start=3),
    "mask and ratio": lambda p: farpoint.sample(p, ratio=0.5, mask=p[..., 0] > 0.3),
    "Index": lambda p: farpoint.Index(p).knn(p, 3).indices,
    "torch_cluster": lambda p: torch_cluster.fps(p[0], torch.arange(3).repeat_interleave(20), random_start=False),
    "stack": lambda p: pointnet2_ops.stack_farthest_point_sample(p[0], torch.tensor([20, 40]), 5),
    "pointops": lambda p: pointnet2_ops.farthest_point_sampling(
        p[0], torch.tensor([20, 60]), torch.tensor([5, 9])),
    "K": lambda p: pytorch3d.sample_farthest_points(p, K=torch.tensor([3, 4, 5])),
}
BREAKS_OF_MATCH = {
    "nearest": lambda p: farpoint.nearest(p, p.flip(0), x_lengths=[30, 20, 3]),
    "pytorch3d": lambda p: pytorch3d.chamfer_distance(
        p, p.flip(0), torch.tensor([1, 2, 3]), weights=torch.ones(3))[0],
}
CALLS = [*BREAKS.items(), *BREAKS_OF_MATCH.items()]


def same(mine, theirs):
    assert type(mine) is type(theirs)
    if isinstance(mine, tuple):
        for one, other in zip(mine, theirs, strict=True):
            same(one, other)
    elif mine is not None:
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(theirs))


@pytest.mark.parametrize("name, call", CALLS)
def test_a_graph_breaks(name, call):
    expected = call(batch())
    graphs = []

    def listing(graph, inputs):
        graphs.append(graph)
        return graph

    torch.compiler.reset()
    before, actual, after = torch.compile(
        lambda p: (p * 2, call(p), p.sum() + 1), backend=listing)(batch())
    same(actual, expected)
    assert torch.equal(before, batch() * 2) and torch.equal(after, batch().sum() + 1)
    assert len(graphs) >= 2, "what is before and after is compiled"


@pytest.mark.parametrize("name, call", CALLS)
def test_one_graph_is_refused_clearly(name, call):
    torch.compiler.reset()
    with pytest.raises(Exception, match="farpoint can't be traced here: .*fullgraph=True"):
        torch.compile(call, fullgraph=True, backend="eager")(batch())


@pytest.mark.parametrize("options", [
    {}, dict(return_distances=True), dict(seed=7), dict(lengths=torch.tensor([60, 31, 0])), dict(threads=1)], ids=str)
def test_the_mask_of_a_batch_is_traced(options):
    points, mask = batch(), batch()[..., 0] > 0.4
    points[~mask] = torch.nan  # never read
    mask[2, 4:] = False
    for count in (0, 3, 40, 70):  # more than some clouds have, and than there are rows
        torch.compiler.reset()
        compiled = torch.compile(lambda p, m: farpoint.sample(p, count, mask=m, **options), fullgraph=True, backend="eager")
        same(compiled(points, mask), farpoint.sample(points, count, mask=mask, **options))
    for wrong, kind, text in (
        (mask.int(), TypeError, "mask must be a tensor of bool"), (mask[:2], ValueError, r"mask is of shape \(2, 60\)"),
    ):
        torch.compiler.reset()
        with pytest.raises(Exception, match=text) as error:
            torch.compile(lambda p, m: farpoint.sample(p, 3, mask=m), fullgraph=True, backend="eager")(points, wrong)
        assert isinstance(error.value, kind) or kind.__name__ in str(error.value)


class Scripted(torch.nn.Module):
    """As the guide has it."""

    def forward(self, points: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
        rows = torch.ops.farpoint.sample(points, 16)
        return torch.ops.farpoint.gather(features, rows, None)


def test_modules_are_scripted_and_saved(tmp_path):
    points, features = batch(), batch().double()
    expected = farpoint.gather(features, farpoint.sample(points, 16))
    scripted = torch.jit.script(Scripted())
    torch.jit.save(scripted, tmp_path / "sampler.pt")
    for module in (scripted, torch.jit.load(tmp_path / "sampler.pt"), torch.jit.trace(Scripted(), (points, features))):
        leaf = features.clone().requires_grad_()
        actual = module(points, leaf)
        assert torch.equal(actual, expected)
        actual.sum().backward()
        assert leaf.grad.sum() == expected.numel()


def test_operators_have_defaults():
    points, ops = batch(), torch.ops.farpoint
    assert torch.equal(ops.sample(points, 5), farpoint.sample(points, 5))
    assert torch.equal(ops.sample(points, 5, seed=3), farpoint.sample(points, 5, seed=3))
    same(tuple(ops.sample_distances(points, 5)), tuple(farpoint.sample(points, 5, return_distances=True)))


def test_an_export_to_onnx_names_the_operator(tmp_path):
    """ONNX has none of them; both exporters of PyTorch say which."""

    class Sampler(torch.nn.Module):
        def forward(self, points):
            return farpoint.gather(points, farpoint.sample(points, 5))

    with pytest.raises(Exception, match="farpoint::sample"):
        torch.onnx.export(Sampler(), (batch(),), tmp_path / "sampler.onnx", dynamo=False)
    pytest.importorskip("onnxscript", reason="onnxscript is not installed")
    with pytest.raises(Exception, match="farpoint.sample"):
        torch.onnx.export(Sampler(), (batch(),), tmp_path / "sampler.onnx", dynamo=True)


def test_an_export_is_refused_clearly():
    class Spaced(torch.nn.Module):
        def forward(self, points):
            return farpoint.sample(points, spacing=0.3)

    for strict in (True, False):
        torch.compiler.reset()
        with pytest.raises(Exception, match="farpoint can't be traced here"):
            torch.export.export(Spaced(), (batch(),), strict=strict)


def test_seeds_and_threads_are_traced():
    calls = [dict(seed=3), dict(seed=2**63 + 5), dict(seed=2**64 - 1), dict(threads=2)]
    for options in calls:
        torch.compiler.reset()
        result = torch.compile(lambda p: farpoint.sample(p, 5, **options), fullgraph=True, backend="eager")
        assert torch.equal(result(batch()), farpoint.sample(batch(), 5, **options))


def test_a_seed_for_every_step_is_traced_twice():
    """Once with the first number, and once with a symbol for all others."""
    graphs = []

    def counting(graph, inputs):
        graphs.append(graph)
        return graph

    torch.compiler.reset()
    result = torch.compile(lambda p, seed: farpoint.sample(p, 5, seed=seed), fullgraph=True, backend=counting)
    for seed in range(2, 30):
        assert torch.equal(result(batch(), seed), farpoint.sample(batch(), 5, seed=seed))
    assert len(graphs) == 2
    for seed in (2**63 - 1, 2**63, 2**64 - 1, 0, 1):
        assert torch.equal(result(batch(), seed), farpoint.sample(batch(), 5, seed=seed))


def test_a_generator_draws_for_every_call_of_a_graph():
    generator = torch.Generator()
    torch.compiler.reset()
    result = torch.compile(lambda p: farpoint.sample(p, 1, seed=generator), backend="eager")
    generator.manual_seed(3)
    drawn = [result(batch()) for _ in range(5)]
    generator.manual_seed(3)
    for one in drawn:
        assert torch.equal(one, farpoint.sample(batch(), 1, seed=generator))
    assert len({tuple(one.flatten().tolist()) for one in drawn}) > 1
    torch.compiler.reset()
    with pytest.raises(Exception, match="farpoint can't be traced here: .*torch.Generator as seed.*fullgraph=True"):
        torch.compile(lambda p: farpoint.sample(p, 1, seed=generator), fullgraph=True, backend="eager")(batch())


def test_default_calls_of_replacements_are_one_graph():
    from farpoint.compat import chamfer_3d, kaolin

    calls = [
        lambda p: torch_cluster.fps(p[0], random_start=False), lambda p: pytorch3d.sample_farthest_points(p, K=5),
        lambda p: pytorch3d.chamfer_distance(p, p.flip(0))[0], lambda p: kaolin.chamfer_distance(p, p.flip(0)),
        lambda p: chamfer_3d.chamfer_3DDist()(p, p.flip(0)), lambda p: pointnet2_ops.furthest_point_sample(p, 5),
    ]
    for call in calls:
        torch.compiler.reset()
        same(torch.compile(call, fullgraph=True, backend="eager")(batch()), call(batch()))
