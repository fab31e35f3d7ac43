"""On a GPU: a call with arguments of shapes in the cache gives what the first gave, and whoever would see the
operator still does."""

import numpy as np
import pytest
from conftest import needs_gpu
from test_gpu_operators import flat, same

import farpoint

pytestmark = needs_gpu


def inputs(cuda):
    random = np.random.default_rng(1)
    x, y = (random.random((2, n, 3), dtype=np.float32) for n in (30, 40))
    values, weights = random.random((2, 40, 8), dtype=np.float32), random.random((2, 30, 4), dtype=np.float32)
    indices = random.integers(-1, 40, (2, 30, 4))
    add = random.random((2, 30, 4, 8), dtype=np.float32)
    return [cuda.from_numpy(part).cuda() for part in (x, y, values, indices, weights, add)]


def flat_pair(forward, backward):
    return (*forward, *backward)


CALLS = {
    "knn": lambda x, y, values, indices, weights, add: farpoint.knn(x, y, 4),
    "plain": lambda x, y, values, indices, weights, add: farpoint.knn(x, y, 4, squared=False, index_dtype="int32"),
    "ball": lambda x, y, values, indices, weights, add: farpoint.ball_query(x, y, 0.4, 4),
    "gather": lambda x, y, values, indices, weights, add: farpoint.gather(values, indices),
    "gather_max": lambda x, y, values, indices, weights, add: farpoint.gather_max(values, indices),
    "add": lambda x, y, values, indices, weights, add: farpoint.gather_max(values, indices, add),
    "weights": lambda x, y, values, indices, weights, add: farpoint.inverse_distance_weights(weights, squared=True),
    "interpolate": lambda x, y, values, indices, weights, add: farpoint.interpolate(values, indices, weights),
    "nearest": lambda x, y, values, indices, weights, add: farpoint.nearest(x, y),
    "nearest, plain": lambda x, y, values, indices, weights, add: farpoint.nearest(x, y, squared=False),
    "both": lambda x, y, values, indices, weights, add: flat_pair(*farpoint.nearest_both(x, y)),
    "chamfer": lambda x, y, values, indices, weights, add: farpoint.chamfer(x, y, reduction="max"),
}


def parts(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.fixture(params=CALLS)
def call(cuda, request):
    """A call whose arguments are in the cache, and its result."""
    function, given = CALLS[request.param], inputs(cuda)
    expected = function(*[part.cpu() for part in given])
    for _ in range(3):
        same(function(*given), expected)
    return function, given, expected


def test_other_values_of_the_same_shape(call):
    function, given, _ = call
    others = [part.flip(0).contiguous() for part in given]
    same(function(*others), function(*[part.cpu() for part in others]))
    first, second = (parts(function(*others))[0] for _ in range(2))
    assert first.data_ptr() != second.data_ptr()


def test_layouts(cuda, call):
    function, given, expected = call
    strided = [part.transpose(0, 1).contiguous().transpose(0, 1) for part in given]
    for _ in range(2):
        actual = function(*strided)
        same(actual, expected)
        assert all(part.is_contiguous() for part in parts(actual))


def test_types_are_told_apart(cuda, call):
    function, given, _ = call
    halves = () if function is CALLS["weights"] else (cuda.float16,)  # distances are never halves
    for kind in (cuda.float64, *halves):
        others = [part.to(kind) if part.is_floating_point() else part.int() for part in given]
        for _ in range(2):
            same(function(*others), function(*[part.cpu() for part in others]))


def test_gradients(cuda, call):
    function, given, expected = call
    leaves = [part.clone().requires_grad_(part.is_floating_point()) for part in given]
    actual = parts(function(*leaves))
    same(actual, expected)
    assert actual[0].requires_grad
    actual[0].sum().backward()
    on_host = [part.cpu().requires_grad_(part.is_floating_point()) for part in given]
    parts(function(*on_host))[0].sum().backward()
    for mine, theirs in zip(leaves, on_host):
        assert (mine.grad is None) == (theirs.grad is None)
        if mine.grad is not None:
            same(mine.grad, theirs.grad)
    with cuda.no_grad():
        assert not parts(function(*leaves))[0].requires_grad


def test_whoever_would_see_the_operator_does(cuda, call):
    from torch.utils._python_dispatch import TorchDispatchMode

    function, given, expected = call

    class Listing(TorchDispatchMode):
        dispatched = []

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.dispatched.append(str(function))
            return function(*args, **(kwargs or {}))

    with Listing() as mode:
        same(function(*given), expected)
    assert any("farpoint" in name for name in mode.dispatched)
    same(cuda.vmap(lambda *given: function(*given))(*given), expected)
    same(cuda.compile(function, fullgraph=True, backend="aot_eager")(*given), expected)

    class Mine(cuda.Tensor):
        pass

    assert type(parts(function(*[part.as_subclass(Mine) for part in given]))[0]) is Mine
    turned = [cuda.complex(part, -part).conj().imag if part.is_floating_point() else part for part in given]
    assert turned[0].is_neg()
    for _ in range(2):
        same(function(*turned), expected)


def test_errors(cuda, call):
    function, given, expected = call
    if function is CALLS["weights"]:  # of one array
        with pytest.raises(TypeError):
            farpoint.inverse_distance_weights(given[3], squared=True)
        same(function(*given), expected)
        return
    for device in ("cpu", "meta"):
        mixed = [part.to(device) if place % 2 else part for place, part in enumerate(given)]
        with pytest.raises((TypeError, ValueError)):
            function(*mixed)
    with pytest.raises((TypeError, ValueError)):
        function(*[part[:1] if place % 2 else part for place, part in enumerate(given)])
    with pytest.raises((TypeError, ValueError)):
        function(*[part.numpy(force=True) if place % 2 else part for place, part in enumerate(given)])
    same(function(*given), expected)


@pytest.mark.parametrize("sides", ["x", "y", "xy", "same"])
def test_lengths(cuda, sides):
    x, y, *_ = inputs(cuda)
    x = x.requires_grad_()
    of_x, of_y = (cuda.tensor(of, device="cuda") for of in ([30, 7], [12, 45]))
    given = {"x": dict(x_lengths=of_x), "y": dict(y_lengths=of_y), "xy": dict(x_lengths=of_x, y_lengths=of_y),
             "same": dict(x_lengths=of_x, y_lengths=of_x)}[sides]
    on_host = {name: of.cpu().clamp(max=30 if name[0] == "x" else 40) for name, of in given.items()}
    for call in (lambda x, y, **of: farpoint.knn(x, y, 4, **of), lambda x, y, **of: farpoint.ball_query(x, y, 0.4, 4, **of),
                 lambda x, y, **of: farpoint.nearest(x, y, **of),
                 lambda x, y, **of: sum(farpoint.nearest_both(x, y, squared=False, **of), ()),
                 lambda x, y, **of: farpoint.chamfer(x, y, **of)):
        leaf = x.detach().cpu().requires_grad_()
        expected = call(leaf, y.cpu(), **on_host)
        parts(expected)[0].nan_to_num(posinf=0).sum().backward()
        for _ in range(2):
            x.grad = None
            actual = call(x, y, **given)
            same(actual, expected)
            parts(actual)[0].nan_to_num(posinf=0).sum().backward()
            same(x.grad, leaf.grad)
    with cuda.no_grad():
        same(farpoint.sample(x, 6, lengths=of_x), farpoint.sample(x.cpu(), 6, lengths=[30, 7]))


@pytest.mark.parametrize("options", [dict(count=7), dict(ratio=0.3), dict(count=30, algorithm="naive")], ids=str)
@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
def test_samples(cuda, options, kind):
    batch = inputs(cuda)[0].to(getattr(cuda, kind))
    for points in (batch, batch[1], batch[:, ::2], batch.transpose(0, 1), batch[:1], batch.requires_grad_()):
        if points.shape[-2] < 30 and "count" in options:
            options = dict(count=2)
        expected = farpoint.sample(points.detach().cpu(), **{**options, "algorithm": "auto"}, return_distances=True)
        for _ in range(2):
            same(farpoint.sample(points, **options), expected.indices)
            actual = farpoint.sample(points, **options, return_distances=True)
            same(actual, expected)
            assert not any(part.requires_grad for part in actual)


def test_samples_as_a_graph_and_on_streams(cuda):
    points = cuda.from_numpy(np.random.default_rng(3).random((4, 500, 3), dtype=np.float32)).cuda()
    expected = farpoint.sample(points.cpu(), 60, return_distances=True)
    for _ in range(2):
        same(farpoint.sample(points, 60, return_distances=True), expected)
    graph = cuda.cuda.CUDAGraph()
    with cuda.cuda.graph(graph):
        actual = farpoint.sample(points, 60, return_distances=True)
    for turn in (points.clone(), points.flip(1)):
        points.copy_(turn)
        graph.replay()
        same(actual, farpoint.sample(turn.cpu(), 60, return_distances=True))
    points.copy_(points.flip(1))
    stream = cuda.cuda.Stream()
    stream.wait_stream(cuda.cuda.current_stream())
    with cuda.cuda.stream(stream):
        cuda.cuda._sleep(10**7)
        later = points * 1
        there = farpoint.sample(later, 60, return_distances=True)
    stream.synchronize()
    same(there, expected)


def test_other_devices_than_the_current(cuda):
    """Answers lie on the device of the arguments. (With one GPU: the way that is taken then.)"""
    from farpoint._torch import fast_path

    last = cuda.cuda.device_count() - 1
    points = cuda.from_numpy(np.random.default_rng(3).random((50, 3), dtype=np.float32)).to(f"cuda:{last}")
    for _ in range(2):
        result = farpoint.sample(points, 9, return_distances=True)
        assert all(part.device == points.device for part in result)
        same(result, farpoint.sample(points.cpu(), 9, return_distances=True))
    with pytest.MonkeyPatch.context() as there:
        there.setattr(fast_path, "_current_device", lambda: last + 1)
        again = farpoint.sample(points, 9, return_distances=True)
    assert all(part.device == points.device for part in again)
    same(again, result)


def test_without_gradients_and_in_inference_mode(cuda):
    x, y, *_ = inputs(cuda)
    for mode in (cuda.no_grad, cuda.inference_mode):
        with mode():
            result = farpoint.nearest(x, y).distances
            assert result.is_inference() == (mode is cuda.inference_mode)
    with cuda.autocast("cuda"):
        same(farpoint.nearest(x, y), farpoint.nearest(x.cpu(), y.cpu()))


def test_an_index(cuda):
    x, y, *_ = inputs(cuda)
    index = farpoint.Index(y)
    expected = flat(farpoint.knn(x.cpu(), y.cpu(), 4))
    for _ in range(3):
        same(farpoint.knn(x, y, 4), expected)
        same(index.knn(x, 4), expected)
    own = flat(farpoint.knn(y.cpu(), y.cpu(), 4, exclude_self=True))
    for _ in range(3):
        same(index.knn(y, 4, exclude_self=True), own)


def test_current_streams(cuda):
    x, y, *_ = inputs(cuda)
    expected = flat(farpoint.knn(x.cpu(), y.cpu(), 4))
    farpoint.knn(x, y, 4)
    stream = cuda.cuda.Stream()
    stream.wait_stream(cuda.cuda.current_stream())
    with cuda.cuda.stream(stream):
        cuda.cuda._sleep(10**7)
        later = x * 1
        actual = farpoint.knn(later, y, 4)
    stream.synchronize()
    same(actual, expected)


def test_many_shapes(cuda, monkeypatch):
    from farpoint._torch import shape_cache

    monkeypatch.setattr(shape_cache, "_cache", shape_cache.table(max_entries=3))
    for rows in [*range(1, 8), *range(1, 8)]:
        x = cuda.rand(rows, 3, device="cuda")
        same(farpoint.knn(x, x, 1), farpoint.knn(x.cpu(), x.cpu(), 1))
        assert 0 < len(shape_cache._cache) <= 3
