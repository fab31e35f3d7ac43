"""PyTorch on the CPU: the operators, what torch makes of them, and gradients."""

import numpy as np
import pytest
from conftest import cloud, grid, obvious_nearest

import farpoint
from farpoint import _native

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint._torch import fast_path, sampling  # noqa: E402  (they need torch)


def tensor(*args, **options):
    return torch.from_numpy(cloud(*args, **options))


def batch(b=3, n=60, d=3, dtype=np.float32):
    return torch.from_numpy(np.stack([cloud(n, d, dtype, s) for s in range(b)]))


def gather(points, indices):
    return points.gather(1, indices.unsqueeze(-1).expand(-1, -1, points.shape[-1]))


@pytest.mark.parametrize("points", [cloud(), grid(), cloud(dtype=np.float64), cloud(d=2)])
def test_tensors_give_what_arrays_give(points):
    actual = farpoint.sample(torch.from_numpy(points), 40, return_distances=True)
    expected = farpoint.sample(points, 40, return_distances=True)
    assert actual.indices.dtype == torch.int64 and actual.distances.dtype == torch.from_numpy(points).dtype
    np.testing.assert_array_equal(actual.indices.numpy(), expected.indices)
    np.testing.assert_array_equal(actual.distances.numpy(), expected.distances)
    assert float(actual.covering_radius) == expected.covering_radius


@pytest.mark.parametrize("options", [
    dict(count=9), dict(ratio=0.3), dict(spacing=0.4), dict(count=9, start=5), dict(count=9, seed=3),
    dict(count=9, start=[1, 2, 3]), dict(count=30, lengths=[60, 20, 0]),
    dict(ratio=0.5, lengths=[60, 20, 1]), dict(count=9, algorithm="naive", threads=1),
    dict(count=9, progress=True),
])
def test_batches_and_options(options):
    points = batch()
    actual = farpoint.sample(points, **options)
    expected = farpoint.sample(points.numpy(), **options)
    assert isinstance(actual, torch.Tensor)
    np.testing.assert_array_equal(actual.numpy(), expected)
    if "lengths" in options:
        options["lengths"] = torch.tensor(options["lengths"], dtype=torch.int32)
        np.testing.assert_array_equal(farpoint.sample(points, **options).numpy(), expected)


def test_starts_as_tensors():
    points = batch()
    starts = torch.tensor([[1, 2], [3, 4], [5, 6]])
    result = farpoint.sample(points, 5, start=starts)
    np.testing.assert_array_equal(result[:, :2], starts)
    one = farpoint.sample(points[0], 5, start=torch.tensor([4, 9]))
    np.testing.assert_array_equal(one.numpy(), farpoint.sample(points[0].numpy(), 5, start=[4, 9]))


def test_memory_is_read_in_place(monkeypatch):
    seen = []
    real = _native.sample

    def spy(points, *rest):
        seen.append((_native.address(points), points.strides))
        return real(points, *rest)

    monkeypatch.setattr(_native, "sample", spy)
    whole = tensor(200, 6)
    for view in (whole[:, :3], whole[::2, 1:4], whole.t()[:3].t(), whole[:, :3].requires_grad_()):
        farpoint.sample(view, 5)
        address, strides = seen.pop()
        assert address == view.data_ptr()
        assert strides[-2:] == tuple(4 * step for step in view.stride())


def test_non_finite_rows():
    points = tensor(100)
    points[3, 1] = torch.nan
    with pytest.raises(ValueError, match="1 of 100 rows .* row 3"):
        farpoint.sample(points, 5)
    with pytest.raises(ValueError, match="1 of 100 rows .* row 3"):
        farpoint.check(points)
    result = farpoint.sample(points, ratio=0.5, non_finite="skip")
    np.testing.assert_array_equal(result, farpoint.sample(points.numpy(), ratio=0.5, non_finite="skip"))


def test_out():
    points, out = batch(), torch.empty((3, 7), dtype=torch.int64)
    assert farpoint.sample(points, 7, out=out) is out
    torch.testing.assert_close(out, farpoint.sample(points, 7))
    with pytest.raises(ValueError, match=r"\(3, 7\), not \(3, 8\)"):
        farpoint.sample(points, 7, out=torch.empty((3, 8), dtype=torch.int64))
    with pytest.raises(TypeError, match="int64"):
        farpoint.sample(points, 7, out=torch.empty((3, 7), dtype=torch.int32))


@pytest.mark.parametrize("make, kind, text", [
    (lambda: farpoint.sample(torch.zeros(5, 3, dtype=torch.int64), 1), TypeError, r"\(5, 3\).*int64"),
    (lambda: farpoint.sample(torch.zeros(5, 3).to(torch.float8_e4m3fn), 1), TypeError, "float8"),
    (lambda: farpoint.sample(torch.zeros(5, 3, dtype=torch.complex64), 1), TypeError, "complex64"),
    (lambda: farpoint.sample(torch.zeros(5), 1), ValueError, r"\(5,\)"),
    (lambda: farpoint.sample(tensor(5), 6), ValueError, r"6 samples .* 5 points.*\(5, 3\)"),
    (lambda: farpoint.sample(tensor(5), 2, start=5), ValueError, "start index 5"),
    (lambda: farpoint.sample(tensor(5), 2, start=[0, 0]), ValueError, "twice"),
    (lambda: farpoint.sample(tensor(5), 2, lengths=[1]), ValueError, "lengths"),
    (lambda: farpoint.sample(batch(), 2, lengths=[1, 2]), ValueError, "lengths"),
    (lambda: farpoint.sample(batch(), 2, lengths=[1, 2, 61]), ValueError, "61"),
    (lambda: farpoint.check(tensor(5).to("meta")), TypeError, "meta"),
])
def test_refused(make, kind, text):
    with pytest.raises(kind, match=text):
        make()


def test_operators_are_registered_well():
    points, ops = batch(), torch.ops.farpoint
    lengths = torch.tensor([60, 20, 5])
    for arguments in [
        (points, 5, None, None, None, None, "auto", None),
        (batch().requires_grad_(), 5, None, None, None, None, "auto", None),
        (points[0], 5, None, None, None, 3, "auto", None),
        (points[:, :, 1:], 5, lengths, lengths.clamp(max=5), torch.tensor([[2]]), None, "auto", 1),
    ]:
        torch.library.opcheck(ops.sample.default, arguments)
        torch.library.opcheck(ops.sample_distances.default, arguments)
    ragged = (points[0], torch.tensor([0, 20, 60]), torch.tensor([3, 5]), None, 8, 40, "auto")
    torch.library.opcheck(ops.sample_ragged.default, ragged)


def test_chamfer_operators_are_registered_well():
    x, y = batch(dtype=np.float64).requires_grad_(), batch(n=40, dtype=np.float64).requires_grad_()
    ops = torch.ops.farpoint
    lengths = torch.tensor([60, 20, 5])
    for arguments in [
        (x, y, None, None, 2, None, True), (x, y, lengths, None, 1, 1, False),
        (x[0].detach().requires_grad_(), y[0].detach(), None, None, 2, None, True),
    ]:
        torch.library.opcheck(ops.match_clouds.default, arguments)
    for a, b, both, norm in ((x, y, True, 2), (x, y, False, 1), (x[0], y[0], True, 2)):
        gx, ix, gy, iy = (part.detach() for part in ops.match_clouds(a, b, None, None, norm, None, True))
        given = (gx.requires_grad_(), gy.requires_grad_() if both else None)
        torch.library.opcheck(
            ops.match_clouds_backward.default, (a, b, ix, iy if both else None, *given, norm))


def test_operators_take_what_requires_a_gradient():
    points = batch()
    arguments = (5, None, None, None, None, "auto", None)
    for result in (torch.ops.farpoint.sample(points.clone().requires_grad_(), *arguments),
                  torch.ops.farpoint.sample_distances(points.clone().requires_grad_(), *arguments)[0]):
        assert torch.equal(result, farpoint.sample(points, 5))


def test_compiled_as_one_graph():
    def forward(points):
        return gather(points, farpoint.sample(points, 16))

    compiled = torch.compile(forward, fullgraph=True)
    for n in (64, 80, 96):  # the last ones with a dynamic shape
        points = batch(2, n)
        torch.testing.assert_close(compiled(points), forward(points))


def test_compiled_with_ratio_and_distances():
    def forward(points):
        actual = farpoint.sample(points, ratio=0.25, return_distances=True, start=3)
        return actual.indices, actual.distances, farpoint.order(points).indices

    points = batch(2, 64)
    for got, expected in zip(torch.compile(forward, fullgraph=True)(points), forward(points)):
        torch.testing.assert_close(got, expected)


def test_exported():
    class Sampler(torch.nn.Module):
        def forward(self, points):
            return gather(points, farpoint.sample(points, 16))

    points = batch(2, 64)
    program = torch.export.export(Sampler(), (points,))
    torch.testing.assert_close(program.module()(points), Sampler()(points))


@pytest.mark.parametrize("options", [
    {}, dict(norm=1), dict(squared=False), dict(reduction="sum"), dict(one_sided=True),
    dict(reduction="max"), dict(x_lengths=[5, 12], y_lengths=[9, 3]),
], ids=str)
def test_gradients_of_chamfer(options):
    x = batch(2, 12, dtype=np.float64).requires_grad_()
    y = (batch(2, 9, dtype=np.float64) + 0.01).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, y: farpoint.chamfer(x, y, **options), (x, y))
    assert torch.autograd.gradcheck(lambda x: farpoint.nearest(x, y).distances, (x,))


def test_chamfer_is_that_of_arrays():
    x, y = batch(2, 50), batch(2, 40)
    for options in ({}, dict(squared=False), dict(reduction="max"), dict(norm=1)):
        actual = farpoint.chamfer(x, y, **options)
        assert actual.shape == (2,) and actual.dtype == torch.float32
        expected = farpoint.chamfer(x.numpy(), y.numpy(), **options)
        np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-5)
    actual = farpoint.nearest(x[0], y[0])
    distances, indices = obvious_nearest(x[0].numpy(), y[0].numpy())
    np.testing.assert_array_equal(actual.distances.numpy(), distances)
    np.testing.assert_array_equal(actual.indices.numpy(), indices)
    with pytest.raises(TypeError, match="float32.*float64"):
        farpoint.chamfer(x, y.double())
    with pytest.raises(ValueError, match="of the same B and D"):
        farpoint.chamfer(x, y[:1])


def listing_operators():
    """A mode that lists the operators of farpoint which the dispatcher meets."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Listing(TorchDispatchMode):
        dispatched = []

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if "farpoint" in str(function):
                self.dispatched.append(str(function))
            return function(*args, **(kwargs or {}))

    return Listing()


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("expected", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("options", [{}, dict(squared=False), dict(one_sided=True), dict(norm=1, reduction="sum")])
def test_chamfer_with_the_operator_and_without(options, expected, single):
    def run():
        x, y = (part[0] if single else part for part in (batch(2, 50), batch(2, 40)))
        x, y = (part.requires_grad_(w) for part, w in zip((x, y), expected))
        actual, near = farpoint.chamfer(x, y, **options), farpoint.nearest(x, y)
        assert actual.requires_grad and near.distances.requires_grad and not near.indices.requires_grad
        (actual.sum() + (near.distances * near.indices).sum()).backward()
        with torch.no_grad():
            alone = farpoint.chamfer(x, y, **options)
        assert not alone.requires_grad and torch.equal(alone, actual)
        return [actual, *near, x.grad, y.grad]

    with listing_operators() as mode:
        by_operators = run()
    forward, backward = "farpoint.match_clouds.default", "farpoint.match_clouds_backward.default"
    value, of_value = "farpoint.chamfer.default", "farpoint.chamfer_backward.default"
    assert mode.dispatched == [value, forward, backward, of_value, value]
    for mine, theirs in zip(run(), by_operators):
        assert (mine is None and theirs is None) or torch.equal(mine, theirs)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning", "ignore::torch.jit.TracerWarning")
def test_whoever_would_see_the_operator_does(monkeypatch):
    x, y = batch(2, 50), batch(2, 40)
    value = farpoint.chamfer(x, y)
    alone = fast_path.only_kernels_see
    assert alone(x, None, torch.nn.Parameter(y))

    class Cloud(torch.Tensor):
        pass

    mine = x.as_subclass(Cloud)
    assert not alone(x, mine) and type(farpoint.chamfer(mine, y)) is Cloud
    turned = torch.complex(x, -x).conj().imag  # is negated when it is read
    assert turned.is_neg() and not alone(turned) and torch.equal(farpoint.chamfer(turned, y), value)
    each = torch.vmap(lambda a, b: farpoint.chamfer(a, b))(x, y)
    assert torch.equal(each, torch.stack([farpoint.chamfer(*pair) for pair in zip(x, y)]))
    traced = torch.jit.trace(lambda a, b: farpoint.chamfer(a, b), (x, y))
    assert "farpoint::chamfer" in str(traced.graph)
    slope = torch.func.grad(lambda x: farpoint.chamfer(x, y).sum())(x)
    (expected,) = torch.autograd.grad(farpoint.chamfer(x.requires_grad_(), y).sum(), x)
    assert torch.equal(slope, expected)
    x.requires_grad_(False)
    with torch.inference_mode():
        assert alone(x, y.clone()) and torch.equal(farpoint.chamfer(x, y), value)
    monkeypatch.setattr(fast_path, "TELLS_KEYS", False)  # as with a PyTorch to come, perhaps
    assert not alone(x) and torch.equal(farpoint.chamfer(x, y), value)


def test_without_private_names(monkeypatch):
    """As with a PyTorch to come, perhaps: what they save is time."""
    x, y = batch(2, 50).requires_grad_(), batch(2, 40)

    def results():
        value = farpoint.chamfer(x, y)
        slope = torch.func.grad(lambda a: farpoint.chamfer(a, y, squared=False).sum())(x.detach())
        each = torch.vmap(lambda a, b: farpoint.chamfer(a, b))(x.detach(), y)
        _, moved = torch.func.jvp(lambda a: farpoint.chamfer(a, y), (x.detach(),), (y.new_ones(x.shape),))
        (grad,) = torch.autograd.grad(value.sum(), x)
        return value, slope, each, moved, grad, *farpoint.nearest(x, y), farpoint.sample(x, 5)

    expected = results()
    monkeypatch.setattr(fast_path, "TELLS_KEYS", False)
    monkeypatch.setattr(fast_path, "_TELLS_LEVELS", False)
    for mine, theirs in zip(results(), expected):
        torch.testing.assert_close(mine, theirs)


def test_square_roots_have_gradients_in_vmap():
    x = batch(2, 9).requires_grad_()
    torch.vmap(lambda a: farpoint.chamfer(a, a, squared=False))(x).sum().backward()
    assert torch.equal(x.grad, torch.zeros_like(x))


def test_chamfer_of_a_changed_cloud_has_no_gradient():
    x = batch(1, 9)[0].requires_grad_()
    moved = x * 1
    value = farpoint.chamfer(moved, batch(1, 7)[0])
    with torch.no_grad():
        moved.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.backward()


def test_chamfer_of_no_pairs():
    x = torch.empty(0, 5, 3, requires_grad=True)
    for y in (torch.empty(0, 9, 3), torch.empty(0, 0, 3)):
        for one_sided in (False, True):
            value = farpoint.chamfer(x, y, reduction="sum", one_sided=one_sided)
            value.sum().backward()
            assert value.shape == (0,) and x.grad.shape == x.shape


def test_chamfer_compiles():
    loss = torch.compile(lambda x, y: farpoint.chamfer(x, y).mean(), fullgraph=True)
    for n in (30, 40, 50):  # the last ones with a dynamic shape
        for x, y in ((batch(2, n), batch(2, 20)), (batch(2, n)[0], batch(2, 20)[1])):
            torch.testing.assert_close(loss(x, y), farpoint.chamfer(x, y).mean())
            x.requires_grad_()
            loss(x, y).backward()
            got = x.grad.clone()
            x.grad = None
            farpoint.chamfer(x, y).mean().backward()
            torch.testing.assert_close(got, x.grad)


def test_seeds_on_a_gpu_draw_what_the_cpu_draws():
    lengths = torch.tensor([1, 7, 1000, 60_000_000])
    for seed in range(50):
        drawn = sampling.random_starts(seed, batch(4, 5), lengths)
        seeds = [_native.cloud_seed(seed, k) for k in range(4)]
        assert drawn.squeeze(-1).tolist() == [_native.random_start(s, n) for s, n in zip(seeds, lengths.tolist())]


def test_seeds_of_batches():
    points = batch(64, 30)
    for seed in (0, 3, 2**63 - 1, 2**63, 2**64 - 1):
        expected = farpoint.sample(points.numpy(), 5, seed=seed)
        assert len(set(expected[:, 0])) > 15
        for options in ({}, dict(non_finite="skip"), dict(lengths=[30] * 64)):
            np.testing.assert_array_equal(farpoint.sample(points, 5, seed=seed, **options), expected)
        on_gpu = sampling.random_starts(seed, points, None)
        np.testing.assert_array_equal(on_gpu.squeeze(-1), expected[:, 0])
        mapped = torch.vmap(lambda clouds: farpoint.sample(clouds, 5, seed=seed))(points.reshape(8, 8, 30, 3))
        np.testing.assert_array_equal(mapped.reshape(64, 5), expected)


def test_generators_in_place_of_seeds():
    points, generator = batch(3, 40), torch.Generator()
    calls = [
        lambda **seed: farpoint.sample(points, 5, **seed), lambda **seed: farpoint.sample(points[0].numpy(), 5, **seed),
        lambda **seed: farpoint.order(points, **seed).indices,
        lambda **seed: farpoint.sample_random(points, 5, **seed),
    ]
    for call in calls:
        first, second = [np.asarray(call(seed=generator.manual_seed(7))) for _ in range(2)]
        np.testing.assert_array_equal(first, second)
        assert any((np.asarray(call(seed=generator)) != first).any() for _ in range(9))  # it has moved on
        state = generator.manual_seed(7).get_state()
        with pytest.raises(ValueError, match="start or seed"):
            farpoint.sample(points, 5, start=2, seed=generator)
        assert torch.equal(generator.get_state(), state)
    with pytest.raises(TypeError, match="seed must be an integer"):
        farpoint.sample(points, 5, seed=np.random.default_rng(1))
