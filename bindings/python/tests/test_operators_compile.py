"""The point operators under torch.compile, torch.export and opcheck, on the CPU."""

import numpy as np
import pytest

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")

import farpoint.compat.torch_cluster  # noqa: E402  # which has operators, too


def normal(shape, seed=1, dtype=torch.float32):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape), dtype=dtype)


def indices_of(shape, rows, seed=4):
    return torch.tensor(np.random.default_rng(seed).integers(-1, rows, shape))


def layer(x, y, values, add):
    """A set abstraction: a ball, a maximum; three neighbors, interpolation."""
    ball = farpoint.ball_query(x, y, 1.0, 4, index_dtype=torch.int32)
    near = farpoint.knn(x, y, 3, squared=False)
    weights = farpoint.inverse_distance_weights(near)
    largest = farpoint.gather_max(values, ball.indices, add)
    return largest + farpoint.interpolate(values, near.indices, weights) + farpoint.gather(
        values, near.indices
    ).sum(-2)


def inputs(b=2, n=20, m=30, c=8):
    return normal((b, n, 3)), normal((b, m, 3), 2), normal((b, m, c), 3), normal((b, n, 4, c), 4)


@pytest.mark.parametrize("dynamic", [None, True])
def test_compiled_as_one_graph(dynamic):
    torch._dynamo.reset()
    compiled = torch.compile(layer, fullgraph=True, dynamic=dynamic)
    for sizes in ({}, {"n": 25, "m": 31}):
        parts = [part.requires_grad_() for part in inputs(**sizes)]
        actual, expected = compiled(*parts), layer(*parts)
        torch.testing.assert_close(actual, expected)
        grad = normal(actual.shape, 9)
        for a, b in zip(torch.autograd.grad(actual, parts, grad),
                        torch.autograd.grad(expected, parts, grad)):
            torch.testing.assert_close(a, b)


def test_compiled_with_lengths_and_offsets():
    torch._dynamo.reset()
    x, y, *_ = inputs()
    lengths = torch.tensor([20, 7])

    def padded(x, y, lengths):
        return farpoint.knn(x, y, 3, x_lengths=lengths, exclude_self=True, norm=1)

    def ragged(x, y, ends):
        return farpoint.ball_query(x, y, 1.0, 3, x_offsets=ends, y_offsets=ends, order="nearest")

    result = torch.compile(padded, fullgraph=True)(x, y, lengths)
    assert all(torch.equal(a, b) for a, b in zip(result, padded(x, y, lengths)))
    ends = torch.tensor([0, 5, 20])
    result = torch.compile(ragged, fullgraph=True)(x[0], y[0, :20], ends)
    assert all(torch.equal(a, b) for a, b in zip(result, ragged(x[0], y[0, :20], ends)))


def test_compiled_all_in_a_ball():
    torch._dynamo.reset()

    def distances(x, y):
        result = farpoint.within(x, y, 1.0)
        return result.distances * 2, result.indices, result.offsets

    x, y, *_ = inputs()
    result = torch.compile(distances, fullgraph=True)(x, y)
    assert all(torch.equal(a, b) for a, b in zip(result, distances(x, y)))


def test_exported():
    class Layer(torch.nn.Module):
        def forward(self, x, y, values, add):
            return layer(x, y, values, add)

    parts = inputs()
    program = torch.export.export(Layer(), parts)
    names = {str(node.target) for node in program.graph.nodes}
    assert {"farpoint.search.default", "farpoint.gather_max.default"} <= names
    torch.testing.assert_close(program.module()(*parts), layer(*parts))


REQUEST = ("ball", [0.9, 0.1, 0.0], False, True, False, 2, True, None)


def samples():
    """Calls of every operator: name, and arguments."""
    x, y, values, add = inputs()
    indices, weights = indices_of((2, 20, 4), 30), normal((2, 20, 4), 6).abs()
    sides = (torch.tensor([20, 4]), None, None, None, None)
    ends = (None, None, torch.tensor([0, 20]), torch.tensor([0, 4, 30])[[0, 2]], None)
    grad, long = normal((2, 20, 4), 7), normal((2, 20, 4, 8), 8)
    values, add, weights, x, y = (part.requires_grad_() for part in (values, add, weights, x, y))
    ops = torch.ops.farpoint
    chosen = ops.gather_max.default(values, indices, add, None)[1]
    lengths, ragged = torch.tensor([20, 4]), (torch.tensor([0, 15, 20]), torch.tensor([3, 5]), None, 8, 15, "auto")
    result, both = [part.detach() for part in ops.match_clouds(x, y, None, None, 2, None, True)], (2, True, "max", True, None)
    of_x, near_x, to_x, near_y = result
    kept = [part.detach() for part in ops.chamfer(x, y, None, None, *both)]
    of, of_y = torch.arange(2).repeat_interleave(10), torch.arange(2).repeat_interleave(15)
    return [
        ("cluster_fps", (x[0], of, torch.tensor(0.5), False, None, None)),
        ("cluster_knn", (x[0], y[0], 3, of, of_y, False, 1, None)),
        ("cluster_knn_graph", (x[0], 3, of, False, "source_to_target", False, 1, None)),
        ("cluster_radius", (x[0], y[0], 0.5, of, of_y, 4, 1, None, False)),
        ("cluster_radius_graph", (x[0], 0.5, of, False, 4, "source_to_target", 1, None)),
        ("cluster_nearest", (x[0], y[0], of, of_y)),
        ("sample", (x, 5, None, None, None, None, "auto", None)),
        ("sample", (x[0].detach(), 5, None, None, None, 3, "auto", None)),
        ("sample_distances", (x, 5, None, None, None, None, "auto", None)),
        ("sample_distances", (x.detach(), 5, lengths, lengths.clamp(max=5), torch.tensor([[2]]), None, "auto", 1)),
        ("sample_ragged", (x.detach()[0], *ragged)),
        ("sample_ragged", (x.detach()[0].clone().requires_grad_(), *ragged)),
        ("match_clouds", (x, y, None, None, 2, None, True)),
        ("match_clouds", (x.detach(), y.detach(), lengths, None, 1, 1, False)),
        ("match_clouds_backward", (x, y, near_x, near_y, of_x.requires_grad_(), to_x.requires_grad_(), 2)),
        ("chamfer", (x, y, None, None, *both)),
        ("chamfer_backward", (x.detach(), y.detach(), None, None, *kept[1:], kept[0], *both)),
        ("search", (x, y, *sides, 4, *REQUEST)),
        ("search", (x[0].detach(), y[0].detach(), *ends, 4, *REQUEST)),
        ("within", (x, y, *sides, None, *REQUEST)),
        ("search_backward", (x.detach(), y.detach(), indices, grad, 2, True, True)),
        ("gather", (values, indices, None)),
        ("gather", (values[0].detach(), indices[0, :, 0].int(), 1)),
        ("gather_backward", (indices, long.requires_grad_(), 30, True, None)),
        ("gather_max", (values, indices, add, 2)),
        ("gather_max", (values, indices, None, None)),
        ("gather_max_backward", (indices, chosen, normal((2, 20, 8)).requires_grad_(), 30, True, True, None)),
        ("gather_max_backward", (indices, chosen, normal((2, 20, 8)), 30, False, True, 1)),
        ("interpolate", (values, indices, weights, None)),
        ("interpolate_backward", (values, indices, weights, normal((2, 20, 8)), True, True, None)),
        ("inverse_distance_weights", (weights, 2, 1e-8)),
        ("inverse_distance_weights_backward", (weights, grad, 1, 1e-8)),
    ]


#: All that are registered: a new operator needs a call above.
NAMES = sorted(name.removeprefix("farpoint::") for name in torch._C._dispatch_get_all_op_names()
               if name.startswith("farpoint::"))


@pytest.mark.parametrize("name", NAMES)
def test_opcheck(name):
    calls = [arguments for called, arguments in samples() if called == name]
    assert calls
    for arguments in calls:
        torch.library.opcheck(getattr(torch.ops.farpoint, name).default, arguments)


def test_samples_are_constants():
    """Nothing of them has a derivative, whatever the points have."""
    x, ops = inputs()[0].requires_grad_(), torch.ops.farpoint
    ragged = ops.sample_ragged(x[0], torch.tensor([0, 20]), torch.tensor([4]), None, 4, 20, "auto")
    plain = (5, None, None, None, None, "auto", None)
    for part in (ops.sample(x, *plain), *ops.sample_distances(x, *plain), ragged):
        assert not part.requires_grad


def test_compiled_with_an_index():
    torch._dynamo.reset()
    x, y, *_ = inputs()
    index = farpoint.Index(y)

    def near(x):
        return index.knn(x, 4), index.ball_query(x, 0.5, 3, order="nearest")

    actual, expected = torch.compile(near, fullgraph=True)(x), near(x)
    for a, b in zip(actual, expected):
        assert all(torch.equal(one, other) for one, other in zip(a, b))
