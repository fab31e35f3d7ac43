"""One value a pair of clouds: the same bits for arrays and tensors, with the gradients that PyTorch's own
operations would give; and what is passed to a GPU, tried without one."""

import itertools

import numpy as np
import pytest
from conftest import cloud, grid
from fake_native import FakeChamfer

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint import _native  # noqa: E402
from farpoint._torch import chamfer, fast_path, search  # noqa: E402  (they need torch)
from farpoint._records import Reduction  # noqa: E402

OPTIONS = [
    {}, dict(norm=1), dict(squared=False), dict(reduction="sum"), dict(one_sided=True),
    dict(reduction="max"), dict(reduction="max", squared=False), dict(norm=1, reduction="max", one_sided=True),
    dict(squared=False, reduction="sum", one_sided=True),
]


def pair(kind=np.float64, b=3, n=50, m=40, d=3):
    def side(rows, seed):
        return torch.from_numpy(np.stack([cloud(rows, d, kind, seed=seed + k) for k in range(b)]))

    return side(n, 1).requires_grad_(), side(m, 100).requires_grad_()


def reduction_of(norm=2, squared=True, reduction="mean", one_sided=False):
    return Reduction(norm, norm == 2 and not squared, reduction, not one_sided, None)


def by_torch(x, y, x_lengths=None, y_lengths=None, **options):
    """The search and PyTorch's own operations."""
    lengths = [None if given is None else torch.as_tensor(given) for given in (x_lengths, y_lengths)]
    return search.reduced(x, y, *lengths, reduction_of(**options))


def derived(value, clouds):
    weights = torch.arange(value.numel(), dtype=value.dtype).reshape(value.shape) + 0.7
    result = torch.autograd.grad((value * weights).sum(), clouds, allow_unused=True)
    return [torch.zeros_like(c) if g is None else g for g, c in zip(result, clouds)]


# ------------------------------------------------------------------------------------ values


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_and_gradients_are_those_of_pytorch(options, kind):
    close = dict(rtol=1e-6, atol=1e-7) if kind is np.float32 else dict(rtol=1e-14, atol=1e-15)
    for sizes in (dict(), dict(n=5000, m=300, b=2), dict(d=5), dict(b=1, n=1, m=9)):
        x, y = pair(kind, **sizes)
        some = dict(x_lengths=[1, 50, 7], y_lengths=[40, 2, 30])
        for lengths in ({}, some if not sizes else {}):
            mine, theirs = farpoint.chamfer(x, y, **lengths, **options), by_torch(x, y, **lengths, **options)
            torch.testing.assert_close(mine, theirs, **close)
            for a, b in zip(derived(mine, (x, y)), derived(theirs, (x, y))):
                # Sums of many that cancel out.
                size = float(b.abs().max())
                torch.testing.assert_close(a, b, rtol=close["rtol"], atol=close["rtol"] * size)
                # PyTorch's vector code may round a root and a quotient otherwise.
                assert not options.get("squared", True) or "max" in options.values() or torch.equal(a, b)
        one = farpoint.chamfer(x[0], y[0], **options)
        assert one.shape == () and torch.equal(one, farpoint.chamfer(x, y, **options)[0])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_arrays_and_tensors_have_the_same_bits(options):
    for sizes in (dict(), dict(n=9000, m=4097, b=2)):
        for kind in (np.float32, np.float64):
            x, y = pair(kind, **sizes)
            actual = farpoint.chamfer(x, y, **options).detach().numpy()
            expected = farpoint.chamfer(x.detach().numpy(), y.detach().numpy(), **options)
            assert expected.dtype == np.float64 and actual.dtype == kind
            np.testing.assert_array_equal(actual, expected.astype(kind))


def in_order(numbers):
    """The sum in the order that docs/chamfer.md tells."""
    if len(numbers) == 1:
        return numbers[0]
    sums = []
    for first in range(0, len(numbers), 4096):
        leaf = np.zeros(4096)
        leaf[: len(numbers[first : first + 4096])] = numbers[first : first + 4096]
        columns = np.zeros(256)
        for row in leaf.reshape(16, 256):
            columns = columns + row
        while len(columns) > 1:
            half = len(columns) // 2
            columns = columns[:half] + columns[half:]
        sums.append(columns[0])
    return in_order(sums)


@pytest.mark.parametrize("n", [1, 255, 300, 4096, 4097, 20_000])
def test_sums_have_the_order_that_is_told(n):
    x, y = cloud(n), cloud(500, seed=2)
    for squared in (True, False):
        forward, backward = (farpoint.nearest(*pair, squared=squared).distances for pair in ((x, y), (y, x)))
        sums = [in_order(side.astype(np.float64)) for side in (forward, backward)]
        assert farpoint.chamfer(x, y, reduction="sum", squared=squared) == sums[0] + sums[1]
        mean = sums[0] / n + sums[1] / 500
        assert farpoint.chamfer(x, y, squared=squared) == mean
        assert farpoint.chamfer(torch.from_numpy(x), torch.from_numpy(y), squared=squared) == np.float32(mean)


# --------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("lengths", [{}, dict(x_lengths=[5, 9], y_lengths=[7, 3])], ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_gradients_once_and_twice(options, lengths):
    x, y = pair(b=2, n=9, m=7)
    call = lambda x, y: farpoint.chamfer(x, y, **options, **lengths)  # noqa: E731
    assert torch.autograd.gradcheck(call, (x, y))
    assert torch.autograd.gradgradcheck(call, (x, y))
    assert torch.autograd.gradcheck(lambda x: call(x, y.detach()), (x,))
    assert torch.autograd.gradcheck(lambda y: call(x.detach(), y), (y,))
    assert torch.autograd.gradcheck(call, (x, y), check_batched_grad=True)


def test_distances_of_zero_have_no_gradient():
    x = torch.from_numpy(grid(3)).requires_grad_()
    for options in (dict(squared=False), dict(squared=False, reduction="max"), dict(norm=1), {}):
        value = farpoint.chamfer(x, x.detach(), **options)
        (gradient,) = torch.autograd.grad(value, x)
        assert value == 0 and torch.equal(gradient, torch.zeros_like(x))


def test_equally_large_distances_share_the_gradient_of_a_maximum():
    x = torch.tensor([[0.0], [10.0], [20.0]], requires_grad=True)
    y = torch.tensor([[3.0], [13.0], [20.0]], requires_grad=True)
    gradients = torch.autograd.grad(farpoint.chamfer(x, y, squared=False, reduction="max"), (x, y))
    # Two of either side are 3 apart: a quarter for each, sent and received.
    assert torch.equal(gradients[0], torch.tensor([[-0.5], [-0.5], [0.0]]))
    assert torch.equal(gradients[1], -gradients[0])


def test_one_node_of_autograd():
    x, y = pair()
    value = farpoint.chamfer(x, y)
    functions = [function for function, _ in value.grad_fn.next_functions if function is not None]
    assert [type(f).__name__ for f in functions] == ["AccumulateGrad"] * 2
    # What is not needed is not kept.
    assert value.grad_fn.saved_tensors[3] is None
    value = farpoint.chamfer(x, y, squared=False)
    assert value.grad_fn.saved_tensors[3] is not None


def test_only_wanted_gradients():
    x, y = pair()
    for a, b in ((x, y.detach()), (x.detach(), y)):
        farpoint.chamfer(a, b).sum().backward()
    grads = [part.grad.clone() for part in (x, y)]
    assert all(torch.equal(a, b) for a, b in zip(
        grads, torch.autograd.grad(farpoint.chamfer(x, y).sum(), (x, y))))


# --------------------------------------------------------------------------------- operators


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_operator_is_registered_well(options):
    x, y = pair(b=2, n=9, m=7)
    for lengths in ((None, None), (torch.tensor([5, 9]), torch.tensor([7, 3]))):
        torch.library.opcheck(chamfer.operator, (x, y, *lengths, *reduction_of(**options)))
    single = x[0].detach().requires_grad_(), y[0].detach()
    torch.library.opcheck(chamfer.operator, (*single, None, None, *reduction_of(**options)))


def test_compiled_as_one_graph():
    def loss(x, y):
        return farpoint.chamfer(x, y, squared=False).mean()

    compiled = torch.compile(loss, fullgraph=True)
    for n in (30, 40, 50):  # the last ones with a dynamic shape
        x, y = pair(np.float32, n=n)
        for call in (compiled, loss):
            call(x, y).backward()
            grads = x.grad, y.grad
            x.grad = y.grad = None
            if call is compiled:
                expected = grads
        assert all(torch.equal(a, b) for a, b in zip(grads, expected))


def test_exported():
    class Loss(torch.nn.Module):
        def forward(self, x, y):
            return farpoint.chamfer(x, y).sum()

    x, y = (part.detach() for part in pair(np.float32))
    program = torch.export.export(Loss(), (x, y))
    assert "farpoint.chamfer.default" in str(program.graph)
    assert torch.equal(program.module()(x, y), Loss()(x, y))


def test_mapped():
    x, y = pair(np.float32)
    for a, b, dims in ((x, y, (0, 0)), (x, y[0], (0, None)), (x[0], y, (None, 0))):
        actual = torch.vmap(lambda a, b: farpoint.chamfer(a, b), dims)(a, b)
        expected = [
            farpoint.chamfer(a if dims[0] is None else a[k], b if dims[1] is None else b[k]) for k in range(3)
        ]
        assert torch.equal(actual, torch.stack(expected))
    batches = torch.vmap(lambda a, b: farpoint.chamfer(a, b))(x.expand(2, -1, -1, -1), y.expand(2, -1, -1, -1))
    assert torch.equal(batches, farpoint.chamfer(x, y).expand(2, -1))
    (mapped,) = torch.autograd.grad(batches.sum(), x)
    (alone,) = torch.autograd.grad(farpoint.chamfer(x, y).sum(), x)
    torch.testing.assert_close(mapped, 2 * alone)


def test_empty_batches_and_a_changed_cloud():
    none = torch.empty(0, 5, 3, requires_grad=True)
    for options in OPTIONS:
        value = farpoint.chamfer(none, torch.empty(0, 9, 3), **options)
        value.sum().backward()
        assert value.shape == (0,) and none.grad.shape == none.shape
    x, y = pair()
    moved = x * 1
    value = farpoint.chamfer(moved, y)
    with torch.no_grad():
        moved.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.sum().backward()


# ----------------------------------------------------------------- what is passed to a GPU


@pytest.fixture
def fake_gpu(monkeypatch):
    monkeypatch.setattr(_native, "CudaChamfer", FakeChamfer)
    monkeypatch.setattr(fast_path, "current_stream", lambda _: 0)
    monkeypatch.setattr(chamfer, "_plans", {})
    # Memory that was not written to is told by what it holds.
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(before)


def views():
    whole = torch.from_numpy(np.stack([cloud(60, 6, seed=s) for s in range(4)]))
    return [
        (whole[..., :3], whole[:, 20:, 3:]), (whole[::2, ::3, ::2], whole[1::2, :, ::2]),
        (whole.transpose(1, 2)[:, :, :5], whole[:, 7:50, :5]), (whole[:1].expand(4, -1, -1), whole),
        (whole.transpose(0, 1)[:4], whole[:, :4]), (whole[:1], whole[1:2].double().float()),
        (whole[0, :, ::2], whole[1, ::2, :3]), (whole.double(), whole.double()[:, :9]),
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("which", range(8))
def test_addresses(fake_gpu, which, options):
    x, y = views()[which]
    how = reduction_of(**options)
    some = (torch.arange(1, 1 + len(x)).clamp(max=x.shape[-2]), None)
    for lengths, keep in itertools.product(((None, None), some, some[::-1]) if x.dim() == 3 else ((None, None),),
                                           (True, False)):
        mine = chamfer._on_cpu(x, y, *lengths, how, True)
        actual = chamfer._on_cuda(x, y, *lengths, how, keep)
        assert torch.equal(mine[0], actual[0]) and torch.equal(mine[2], actual[2])
        assert not keep and actual[1] is None or torch.equal(mine[1], actual[1])
        fake = chamfer._fake(x, y, *lengths, *how)
        for a, b in zip(fake, mine):
            assert (a.shape, a.dtype, a.stride()) == (b.shape, b.dtype, b.stride())
        if not keep:
            continue
        distances = actual[2] if chamfer.keeps_distances(how) else None
        value = actual[0]
        for grad in (torch.rand(*value.shape, 2, dtype=x.dtype)[..., 0], value.new_ones(()).expand(value.shape)):
            back = (x, y, *lengths, actual[1], distances, grad, how)
            expected = chamfer._gradients(*back)
            for needs in ((True, True), (True, False), (False, True)):
                sent = chamfer._gradients_on_cuda(*back, *needs)
                for a, b, need in zip(sent, expected, needs):
                    assert (torch.equal(a, b) and a.is_contiguous()) if need else a is None


def test_plans_are_kept_and_forgotten(fake_gpu, monkeypatch):
    monkeypatch.setattr(chamfer, "_MAX_PLANS", 2)
    x, y = views()[0]
    for n in (5, 6, 5, 7, 8):
        chamfer._on_cuda(x[:, :n], y, None, None, reduction_of(), False)
    assert [plan.x[1] for plan in chamfer._plans.values()] == [7, 8]
    plan = chamfer.plan_of(x[:, :7], y, reduction_of())
    assert plan is chamfer.plan_of(x[:, :7], y, reduction_of())
    assert plan is not chamfer.plan_of(x[:, :7], y, reduction_of(norm=1))
    assert plan is not chamfer.plan_of(x[:, :7].double(), y.double(), reduction_of())


def test_the_compiled_half_takes_what_it_is_given():
    if _native.cuda_obstacle() is None:
        pytest.skip("there is a GPU, and these addresses are of the CPU")
    arguments = (0, False, (2, 5, 6, 3), ((3, 1), (3, 1)))
    with pytest.raises(farpoint.CudaUnavailable):
        _native.CudaChamfer(*arguments, 2, True, "mean", True)
    with pytest.raises(ValueError, match="norm is 3"):
        _native.CudaChamfer(*arguments, 3, True, "mean", True)
    with pytest.raises(ValueError, match="least.*mean, sum, max"):
        _native.CudaChamfer(*arguments, 2, True, "least", True)


def test_what_was_kept_must_fit():
    x, y = (part.detach().numpy() for part in pair(np.float32))
    _, indices, distances = _native.chamfer_clouds((x, y, None, None), reduction_of(), True)
    grad = np.ones(3, np.float32)
    for wrong in (
        (indices[:-1], distances, grad), (indices, distances[:3], grad), (indices, distances, grad[:2]),
        (indices + 2**32, distances, grad), (indices - 2, distances, grad),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            _native.chamfer_backward((x, y, None, None), *wrong, reduction_of(squared=False))
