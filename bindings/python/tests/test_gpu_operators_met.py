"""On a GPU: a call with arguments of shapes that were met before gives what the first gave, and whoever would see the
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


CALLS = {
    "knn": lambda x, y, values, indices, weights, add: farpoint.knn(x, y, 4),
    "plain": lambda x, y, values, indices, weights, add: farpoint.knn(x, y, 4, squared=False, index_dtype="int32"),
    "ball": lambda x, y, values, indices, weights, add: farpoint.ball_query(x, y, 0.4, 4),
    "gather": lambda x, y, values, indices, weights, add: farpoint.gather(values, indices),
    "gather_max": lambda x, y, values, indices, weights, add: farpoint.gather_max(values, indices),
    "add": lambda x, y, values, indices, weights, add: farpoint.gather_max(values, indices, add),
    "weights": lambda x, y, values, indices, weights, add: farpoint.inverse_distance_weights(weights),
    "interpolate": lambda x, y, values, indices, weights, add: farpoint.interpolate(values, indices, weights),
}


def parts(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.fixture(params=CALLS)
def call(cuda, request):
    """A call whose arguments were met, with what it gives, too."""
    function, given = CALLS[request.param], inputs(cuda)
    wanted = function(*[part.cpu() for part in given])
    for _ in range(3):
        same(function(*given), wanted)
    return function, given, wanted


def test_other_values_of_the_same_shape(call):
    function, given, _ = call
    others = [part.flip(0).contiguous() for part in given]
    same(function(*others), function(*[part.cpu() for part in others]))
    first, second = (parts(function(*others))[0] for _ in range(2))
    assert first.data_ptr() != second.data_ptr()


def test_layouts(cuda, call):
    function, given, wanted = call
    strided = [part.transpose(0, 1).contiguous().transpose(0, 1) for part in given]
    for _ in range(2):
        found = function(*strided)
        same(found, wanted)
        assert all(part.is_contiguous() for part in parts(found))


def test_types_are_told_apart(cuda, call):
    function, given, _ = call
    halves = () if function is CALLS["weights"] else (cuda.float16,)  # distances are never halves
    for kind in (cuda.float64, *halves):
        others = [part.to(kind) if part.is_floating_point() else part.int() for part in given]
        for _ in range(2):
            same(function(*others), function(*[part.cpu() for part in others]))


def test_gradients(cuda, call):
    function, given, wanted = call
    leaves = [part.clone().requires_grad_(part.is_floating_point()) for part in given]
    found = parts(function(*leaves))
    same(found, wanted)
    assert found[0].requires_grad
    found[0].sum().backward()
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

    function, given, wanted = call

    class Listing(TorchDispatchMode):
        met = []

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.met.append(str(function))
            return function(*args, **(kwargs or {}))

    with Listing() as mode:
        same(function(*given), wanted)
    assert any("farpoint" in name for name in mode.met)
    same(cuda.vmap(lambda *given: function(*given))(*given), wanted)
    same(cuda.compile(function, fullgraph=True, backend="aot_eager")(*given), wanted)

    class Mine(cuda.Tensor):
        pass

    assert type(parts(function(*[part.as_subclass(Mine) for part in given]))[0]) is Mine
    turned = [cuda.complex(part, -part).conj().imag if part.is_floating_point() else part for part in given]
    assert turned[0].is_neg()
    for _ in range(2):
        same(function(*turned), wanted)


def test_errors(cuda, call):
    function, given, wanted = call
    if function is CALLS["weights"]:  # of one array
        with pytest.raises(TypeError):
            farpoint.inverse_distance_weights(given[3])
        same(function(*given), wanted)
        return
    for device in ("cpu", "meta"):
        mixed = [part.to(device) if place % 2 else part for place, part in enumerate(given)]
        with pytest.raises((TypeError, ValueError)):
            function(*mixed)
    with pytest.raises((TypeError, ValueError)):
        function(*[part[:1] if place % 2 else part for place, part in enumerate(given)])
    with pytest.raises((TypeError, ValueError)):
        function(*[part.numpy(force=True) if place % 2 else part for place, part in enumerate(given)])
    same(function(*given), wanted)


def test_an_index(cuda):
    x, y, *_ = inputs(cuda)
    index = farpoint.Index(y)
    wanted = flat(farpoint.knn(x.cpu(), y.cpu(), 4))
    for _ in range(3):
        same(farpoint.knn(x, y, 4), wanted)
        same(index.knn(x, 4), wanted)
    own = flat(farpoint.knn(y.cpu(), y.cpu(), 4, exclude_self=True))
    for _ in range(3):
        same(index.knn(y, 4, exclude_self=True), own)


def test_current_streams(cuda):
    x, y, *_ = inputs(cuda)
    wanted = flat(farpoint.knn(x.cpu(), y.cpu(), 4))
    farpoint.knn(x, y, 4)
    stream = cuda.cuda.Stream()
    stream.wait_stream(cuda.cuda.current_stream())
    with cuda.cuda.stream(stream):
        cuda.cuda._sleep(10**7)
        later = x * 1
        found = farpoint.knn(later, y, 4)
    stream.synchronize()
    same(found, wanted)


def test_many_shapes(cuda, monkeypatch):
    from farpoint._torch import met

    monkeypatch.setattr(met, "_MOST", 3)
    met._met.clear()
    for rows in [*range(1, 8), *range(1, 8)]:
        x = cuda.rand(rows, 3, device="cuda")
        same(farpoint.knn(x, x, 1), farpoint.knn(x.cpu(), x.cpu(), 1))
        assert 0 < len(met._met) <= 3
