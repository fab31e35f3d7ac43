"""Calls on a GPU with arguments of shapes in the cache, tried without one: tensors of the CPU are sent that
way, to a fake of the compiled half that works by the very addresses it is given."""

import numpy as np
import pytest
from conftest import cloud
from fake_native import FakeChamfer, FakeNearest, FakeSample

import farpoint
from farpoint import _native

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint._torch import chamfer, fast_path, search, shape_cache  # noqa: E402  (they need torch)


#: The type of device that DLPack gives tensors of the CPU.
CPU = 1


def usually(monkeypatch):
    """From then on no call goes this way."""
    monkeypatch.setattr(shape_cache, "lookup", lambda *_: None)


def exactly_rooted(result):
    """As on a GPU: PyTorch's own roots on the CPU may be an ulp off."""
    for squares in result[::2]:
        np.sqrt(squares.numpy(), out=squares.numpy())
    return result


def filled(shape, strides, kind):
    """New memory, with what no answer has in it."""
    return torch.empty_strided(shape, strides, dtype=kind).fill_(77)


@pytest.fixture(params=["exchange", "methods"])
def made(request, monkeypatch):
    """What plans were made, with tensors taken for a GPU's from then on, read either way."""
    plans, handed_out = [], getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if request.param == "exchange" and handed_out is None:
        pytest.skip("this release of PyTorch does not hand out how tensors are read")
    _native.read_tensors_by(handed_out if request.param == "exchange" else None, fast_path.current_stream)
    for name, kind in (("CudaSample", FakeSample), ("CudaNearest", FakeNearest),
                       ("CudaChamfer", FakeChamfer)):
        def make(*arguments, kind=kind):
            plans.append(kind)
            return kind(*arguments)

        monkeypatch.setattr(_native, name, make)
    monkeypatch.setattr(shape_cache, "_cache", shape_cache.table(CPU))
    monkeypatch.setattr(chamfer, "_plans", {})
    monkeypatch.setattr(fast_path, "current_stream", lambda _: 0)
    monkeypatch.setattr(fast_path, "maker", lambda _: filled)
    monkeypatch.setattr(search, "rooted", exactly_rooted)
    yield plans
    _native.read_tensors_by(handed_out, fast_path.current_stream)


def batch(b=3, n=40, d=3, kind=np.float32, seed=0):
    return torch.from_numpy(np.stack([cloud(n, d, kind, seed + s) for s in range(b)]))


WHOLE = batch(4, 60, 6)
SAMPLES = [batch(), batch().double(), batch()[0], WHOLE[..., 1:4], WHOLE[0, ::2, 3:], batch(1, 40), WHOLE[:, ::2, ::2]]
SAMPLED = [dict(count=7), dict(ratio=0.2), dict(count=7, threads=2), dict(count=1)]


def of_arrays(function, *tensors, **options):
    return function(*[tensor.detach().numpy() for tensor in tensors], **options)


@pytest.mark.parametrize("options", SAMPLED, ids=str)
@pytest.mark.parametrize("points", SAMPLES, ids=lambda p: f"{tuple(p.shape)}-{p.stride()}")
def test_samples(made, points, options):
    expected = of_arrays(farpoint.sample, points, **options, return_distances=True)
    for _ in range(3):
        actual = farpoint.sample(points, **options)
        assert actual.dtype == torch.int64 and actual.is_contiguous()
        np.testing.assert_array_equal(actual, expected.indices)
        whole = farpoint.sample(points, **options, return_distances=True)
        np.testing.assert_array_equal(whole.indices, expected.indices)
        np.testing.assert_allclose(whole.distances, expected.distances, rtol=1e-6)
        assert whole.distances.dtype == points.dtype and whole.distances.is_contiguous()
        assert whole.covering_radius.dtype == torch.float64
        assert whole.covering_radius.shape == points.shape[:-2] and (whole.covering_radius == 2).all()
    assert made == [FakeSample] * 2


def test_clouds_with_gaps_are_copied(made):
    for points in (WHOLE[::2], WHOLE.transpose(0, 1), WHOLE[:, 3:]):
        for _ in range(2):
            np.testing.assert_array_equal(farpoint.sample(points, 3), of_arrays(farpoint.sample, points, count=3))
            result = farpoint.nearest(points, points)
            np.testing.assert_array_equal(result.indices, of_arrays(farpoint.nearest, points, points).indices)
    assert not made


LENGTHS = [(torch.tensor([40, 7, 21]), None), (None, torch.tensor([30, 9, 1])), (torch.tensor([40, 7, 21]),) * 2,
           (torch.tensor([5, 7, 21]).int(), None), (torch.arange(6)[1::2], None)]


def padded(x, y, lengths):
    """The options, and how they are given for arrays of NumPy."""
    within = [None if of is None else of.clamp(max=cloud.shape[1]) for of, cloud in zip(lengths, (x, y))]
    names = "x_lengths", "y_lengths"
    return dict(zip(names, lengths)), dict(zip(names, [None if of is None else of.tolist() for of in within]))


def test_lengths_of_samples(made):
    points, lengths = batch(), torch.tensor([40, 20, 3])
    expected = of_arrays(farpoint.sample, points, count=7, lengths=[40, 20, 3], return_distances=True)
    for given in (lengths, lengths + torch.tensor([9, 0, 0]), lengths, lengths.int(), torch.stack([lengths] * 2, 1)[:, 0]):
        np.testing.assert_array_equal(farpoint.sample(points, 7, lengths=given), expected.indices)
        actual = farpoint.sample(points, 7, lengths=given, return_distances=True)
        np.testing.assert_array_equal(actual.indices, expected.indices)
        np.testing.assert_allclose(actual.distances, expected.distances, rtol=1e-6)
    assert made == [FakeSample] * 2
    for options in (dict(ratio=0.5), dict(count=50)):  # clouds that differ in samples
        for _ in range(2):
            np.testing.assert_array_equal(
                farpoint.sample(points, lengths=lengths, **options),
                of_arrays(farpoint.sample, points, lengths=[40, 20, 3], **options),
            )
    for wrong in (lengths[:2], lengths.float(), lengths.view(3, 1)):
        for _ in range(2):
            with pytest.raises((TypeError, ValueError)):
                farpoint.sample(points, 7, lengths=wrong)
    with pytest.raises(ValueError, match="lengths are for a batch"):
        farpoint.sample(points[0], 7, lengths=lengths)


@pytest.mark.parametrize("which", range(len(LENGTHS)))
def test_lengths_of_pairs(made, which):
    x, y, lengths = batch(), batch(3, 30, seed=5), LENGTHS[which]
    mine, theirs = padded(x, y, lengths)
    for _ in range(2):
        for squared in (True, False):
            for function in (farpoint.nearest, farpoint.nearest_both):
                actual = function(x, y, squared=squared, **mine)
                expected = of_arrays(function, x, y, squared=squared, **theirs)
                for one, other in zip(*[flat(part) for part in (actual, expected)], strict=True):
                    np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(
                farpoint.chamfer(x, y, squared=squared, **mine),
                of_arrays(farpoint.chamfer, x, y, squared=squared, **theirs).astype(np.float32),
            )
    short = not all(of is None or of.dtype == torch.int64 and of.is_contiguous() for of in lengths)
    assert bool(made) != short


def flat(result):
    return [part for one in result for part in flat(one)] if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", ["nearest", "both", "chamfer", "hausdorff"])
def test_gradients_with_lengths(made, monkeypatch, name):
    x, y, lengths = batch(), batch(3, 30, seed=5), torch.tensor([30, 7, 21])
    options = dict(x_lengths=lengths, y_lengths=lengths)
    call = {
        "nearest": lambda x, y: farpoint.nearest(x, y, **options).distances,
        "both": lambda x, y: torch.cat([part.distances for part in farpoint.nearest_both(x, y, **options)], -1),
        "chamfer": lambda x, y: farpoint.chamfer(x, y, **options),
        "hausdorff": lambda x, y: farpoint.chamfer(x, y, squared=False, reduction="max", **options),
    }[name]
    with monkeypatch.context() as usual:
        usually(usual)
        value, expected = gradients(x, y, call, (True, True))
    for _ in range(2):
        mine, actual = gradients(x, y, call, (True, True))
        assert torch.equal(mine, value) and all(map(torch.equal, actual, expected))
    assert len(made) == 1


def test_samples_of_other_options_go_the_other_way(made):
    points = batch()
    farpoint.sample(points, 7)
    for options in (dict(start=3), dict(seed=5), dict(lengths=[40, 30, 20]), dict(start=np.int64(0)),
                    dict(out=torch.empty(3, 7, dtype=torch.int64)), dict(start=[1, 2, 3])):
        np.testing.assert_array_equal(
            farpoint.sample(points, 7, **options),
            of_arrays(farpoint.sample, points, count=7, **{**options, "out": None}),
        )
    np.testing.assert_array_equal(farpoint.sample(points, 0), np.empty((3, 0)))
    np.testing.assert_array_equal(farpoint.sample(points.half(), 5), farpoint.sample(points.half().float(), 5))
    assert farpoint.sample(points[:0], 7).shape == (0, 7)
    assert made == [FakeSample] * 2  # of 7, and of 5 of halves made float


@pytest.mark.parametrize("wrong, kind", [
    (dict(count=41), ValueError), (dict(count=7.0), TypeError), (dict(ratio=1.5), ValueError), (dict(count=-1), ValueError),
    (dict(count=7, ratio=0.5), ValueError),
    (dict(count=7, algorithm=["auto"]), TypeError), (dict(count=7, threads=0), ValueError),
    (dict(count=7, non_finite="ignore"), ValueError), (dict(count="7"), TypeError), ({}, ValueError),
], ids=str)
def test_wrong_samples(made, wrong, kind):
    points = batch()
    for _ in range(2):
        farpoint.sample(points, 7)
        with pytest.raises(kind):
            farpoint.sample(points, **wrong)


def test_numbers_that_change_are_read_again(made):
    points, count, ratio = batch(), torch.tensor(7), torch.tensor(0.5)
    for expected in (7, 14):
        assert farpoint.sample(points, count).shape == (3, expected)
        count *= 2
    for expected in (20, 10):
        assert farpoint.sample(points, ratio=ratio).shape == (3, expected)
        ratio /= 2
    k, radius = torch.tensor(2), torch.tensor(0.5)
    assert farpoint.knn(points.numpy(), points.numpy(), k).indices.shape == (3, 40, 2)
    k += 1
    assert farpoint.knn(points.numpy(), points.numpy(), k).indices.shape == (3, 40, 3)
    many = farpoint.ball_query(points.numpy(), points.numpy(), radius, 9).counts.sum()
    radius /= 4
    assert farpoint.ball_query(points.numpy(), points.numpy(), radius, 9).counts.sum() < many


PAIRS = [(batch(), batch(3, 30, seed=5)), (batch().double(), batch(3, 30).double()), (batch()[0], batch(1, 9)[0]),
         (WHOLE[..., :3], WHOLE[:, :, 3:]), (WHOLE[::2], WHOLE[1::2])]
MATCHED = [dict(), dict(norm=1), dict(squared=False), dict(threads=1)]


@pytest.mark.parametrize("options", MATCHED, ids=str)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{tuple(pair[0].shape)}-{pair[0].stride()}")
def test_nearest(made, pair, options):
    x, y = pair
    for function, sides in ((farpoint.nearest, 1), (farpoint.nearest_both, 2)):
        expected = of_arrays(function, x, y, **options)
        for _ in range(2):
            actual = function(x, y, **options)
            assert (sides == 2 and type(actual) is tuple) or type(actual) is type(expected)
            for mine, theirs in zip((actual,) if sides == 1 else actual, (expected,) if sides == 1 else expected):
                np.testing.assert_array_equal(mine.distances, theirs.distances)
                np.testing.assert_array_equal(mine.indices, theirs.indices)
                assert mine.indices.is_contiguous() and mine.distances.dtype == x.dtype


def gradients(x, y, function, needs):
    leaves = [part.clone().requires_grad_(need) for part, need in zip((x, y), needs)]
    value = function(*leaves)
    weights = torch.linspace(0.5, 2, value.numel(), dtype=value.dtype).view(value.shape)
    (value * weights).sum().backward()
    return value, [leaf.grad for leaf in leaves]


DIFFERENTIATED = {
    "nearest": lambda x, y: farpoint.nearest(x, y).distances,
    "plain": lambda x, y: farpoint.nearest(x, y, squared=False).distances,
    "both": lambda x, y: torch.cat([part.distances for part in farpoint.nearest_both(x, y, norm=1)], -1),
    "both squared": lambda x, y: torch.cat([part.distances for part in farpoint.nearest_both(x, y)], -1),
    "second": lambda x, y: farpoint.nearest_both(x, y)[1].distances,
    "chamfer": lambda x, y: farpoint.chamfer(x, y),
    "one-sided": lambda x, y: farpoint.chamfer(x, y, one_sided=True, reduction="sum"),
    "hausdorff": lambda x, y: farpoint.chamfer(x, y, squared=False, reduction="max"),
    "absolute": lambda x, y: farpoint.chamfer(x, y, norm=1),
}


@pytest.mark.parametrize("needs", [(True, True), (True, False), (False, True)], ids=str)
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients(made, monkeypatch, name, needs):
    x, y = batch(), batch(3, 30, seed=5)
    with monkeypatch.context() as usual:
        usually(usual)
        value, expected = gradients(x, y, DIFFERENTIATED[name], needs)
    assert not made
    for _ in range(2):
        mine, actual = gradients(x, y, DIFFERENTIATED[name], needs)
        assert torch.equal(mine, value) and mine.requires_grad
        for one, other in zip(actual, expected):
            assert (one is None) == (other is None) and (one is None or torch.equal(one, other))
    assert len(made) == 1
    with torch.no_grad():
        assert not DIFFERENTIATED[name](x.requires_grad_(), y).requires_grad


@pytest.mark.parametrize("name", ["nearest", "plain", "both squared", "second", "chamfer"])
def test_gradients_of_gradients(made, monkeypatch, name):
    x, y = batch(2, 9, kind=np.float64), batch(2, 7, kind=np.float64, seed=5)

    def penalty():
        leaf = x.clone().requires_grad_()
        (sent,) = torch.autograd.grad(DIFFERENTIATED[name](leaf, y).sum(), leaf, create_graph=True)
        return torch.autograd.grad((sent ** 2).sum(), leaf)[0]

    result = penalty()
    assert len(made) == 1
    usually(monkeypatch)
    assert torch.equal(result, penalty())


@pytest.mark.parametrize("options", [
    dict(), dict(norm=1), dict(squared=False), dict(reduction="sum"), dict(reduction="max"), dict(one_sided=True),
    dict(squared=False, reduction="max", one_sided=True),
], ids=str)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{tuple(pair[0].shape)}-{pair[0].stride()}")
def test_chamfer(made, pair, options):
    x, y = pair
    expected = of_arrays(farpoint.chamfer, x, y, **options)
    for _ in range(2):
        actual = farpoint.chamfer(x, y, **options)
        assert actual.dtype == x.dtype and actual.shape == x.shape[:-2]
        np.testing.assert_array_equal(actual, np.asarray(expected).astype(x.numpy().dtype))


def test_wrong_pairs(made):
    x, y = batch(), batch(3, 30, seed=5)
    for function in (farpoint.nearest, farpoint.nearest_both, farpoint.chamfer):
        for _ in range(2):
            function(x, y)
            for wrong in (dict(norm=3), dict(norm=[2]), dict(threads=0)):
                with pytest.raises((ValueError, TypeError)):
                    function(x, y, **wrong)
            with pytest.raises(TypeError, match="norm must be an integer, not 2.0"):
                function(x, y, norm=2.0)
            for other in (y.double(), y[:2], y[..., :2], y[0], y[:, :0], y.numpy(), y.tolist()):
                with pytest.raises((ValueError, TypeError)):
                    function(x, other)
    with pytest.raises(ValueError, match="reduction"):
        farpoint.chamfer(x, y, reduction="least")


def test_who_would_see_the_operator_does(made):
    from torch.utils._python_dispatch import TorchDispatchMode

    x, y, seen = batch(), batch(3, 30, seed=5), []

    class Listing(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    class Mine(torch.Tensor):
        pass

    calls = {"sample": lambda x, y: farpoint.sample(x, 7), "match_clouds": lambda x, y: farpoint.nearest(x, y).indices,
             "chamfer": lambda x, y: farpoint.chamfer(x, y)}
    for name, call in calls.items():
        expected = call(x, y)
        plans = len(made)
        with Listing():
            assert torch.equal(call(x, y), expected)
        assert any(name in one for one in seen)
        assert torch.equal(torch.vmap(call)(x, y), expected)
        assert torch.equal(torch.compile(call, fullgraph=True, backend="aot_eager")(x, y), expected)
        assert type(call(x.as_subclass(Mine), y.as_subclass(Mine))) is Mine
        turned = torch.complex(x, -x).conj().imag
        assert turned.is_neg() and torch.equal(call(turned, y), expected)
        assert len(made) == plans


def test_plans_are_forgotten_in_the_end(made, monkeypatch):
    monkeypatch.setattr(shape_cache, "_cache", shape_cache.table(CPU, 3))
    points = batch()
    for count in (5, 6, 5, 7, 8):
        assert farpoint.sample(points, count).shape == (3, count)
    assert len(made) == 4 and len(shape_cache._cache) == 1


def ask(table, request, *tensors, make=print):
    """What is kept, made of what was asked if nothing is."""
    result = table.find(make, request, *tensors)
    if result is None:
        table.keep(("made", request, make), make, request, *tensors)
        result = table.find(make, request, *tensors)
        assert result is not None
        return True
    return False if result is not False else None


def test_what_is_told_apart(made):
    table, x = shape_cache.table(CPU), torch.zeros(4, 6, 3)
    other = torch.ones(4, 6, 3)
    assert ask(table, (7, "auto"), x, x) and not ask(table, (7, "auto"), other, other)
    assert ask(table, (7, "auto"), x, other) and not ask(table, (7, "auto"), other, x)
    assert not ask(table, tuple([7, "auto"]), x, other)  # equal, and another object
    assert ask(table, (8, "auto"), x, other) and ask(table, (7, "auto"), x, other, make=repr)
    different = [
        x.double(), x.int(), x[:3], x[..., :2], x[:, :5], x.transpose(1, 2), x[::2], x[0], x.flatten(), x.bfloat16(),
        x.bool(), x.view(4, 6, 3, 1), torch.zeros(()),
    ]
    for tensor in different:
        assert ask(table, (7, "auto"), x, tensor), tensor.shape
        assert ask(table, (7, "auto"), tensor, x), tensor.shape
    for tensor in different:
        assert ask(table, (7, "auto"), x, tensor) is False
    assert ask(table, (7, "auto"), x, x, other) and ask(table, (7, "auto"), x, x, None, other)
    assert ask(table, (7, "auto"), x, x, x) and ask(table, (7, "auto"), x, other, x) and ask(table, (7, "auto"), x, other, other)
    assert len(table) == 4 + 2 * len(different) + 5


def test_what_is_not_plain_memory_is_left_alone(made):
    table, x = shape_cache.table(CPU), torch.zeros(4, 6, 3)

    class Mine(torch.Tensor):
        pass

    for tensor in (
        x.as_subclass(Mine), torch.complex(x, x).conj().imag, x.to_sparse(), x.to("meta"), x.numpy(), [1.0], None, 3,
        torch.zeros((1,) * 30),
    ):
        if tensor is not None:
            assert ask(table, 1, tensor, x) is None
            assert ask(table, 1, x, tensor) is None
        assert ask(table, 1, x, x, 3 if tensor is None else tensor) is None
    assert ask(shape_cache.table(), 1, x, x) is None  # on the CPU
    assert len(table) == 0
    assert ask(table, 1, x.requires_grad_(), torch.nn.Parameter(torch.zeros(4, 6, 3)))
    with pytest.raises(TypeError, match="unhashable"):
        ask(table, [1], x, x)


def test_what_is_kept_is_given_back(made):
    import gc
    import weakref

    class Answer:
        pass

    table, x = shape_cache.table(CPU, 4), torch.zeros(4, 3)
    answer, request = Answer(), ("request", 1)
    table.keep(answer, print, request, x, x)
    assert table.find(print, request, x, x) is answer
    seen = weakref.ref(answer)
    answer.table = table
    del answer
    for k in range(4):
        assert ask(table, k, x, x)
    assert len(table) <= 4 and seen() is None
    table.keep(Answer(), print, request, x, x)
    seen = weakref.ref(table.find(print, request, x, x))
    seen().table = table
    del table
    gc.collect()
    assert seen() is None


def test_many_threads_ask_at_once(made):
    from concurrent.futures import ThreadPoolExecutor

    table = shape_cache.table(CPU, 50)
    clouds = [torch.zeros(rows, 3) for rows in range(1, 80)]

    def work(seed):
        for k in range(2000):
            x = clouds[(seed * 31 + k * 7) % len(clouds)]
            result = table.find(print, "rows", x, x)
            assert result is None or result == x.shape[0]
            if result is None:
                table.keep(x.shape[0], print, "rows", x, x)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert 0 < len(table) <= 58
