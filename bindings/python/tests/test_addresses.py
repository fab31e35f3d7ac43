"""What is passed to a GPU, tried without one: a fake of the compiled half samples by the very
addresses, strides and counts that it is given, in the memory of the CPU."""

import itertools

import numpy as np
import pytest
from conftest import cloud, grid
from fake_native import fake_match, fake_match_backward, fake_sample

import farpoint
from farpoint import _device_records, _native

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint._arrays import torch_sampling  # noqa: E402  (they need torch)
from farpoint._torch import chamfer, fast_path, memory, neighbors, sampling  # noqa: E402  (they need torch)


@pytest.fixture(autouse=True)
def fake_gpu(monkeypatch):
    monkeypatch.setattr(_native, "cuda_sample", fake_sample)
    monkeypatch.setattr(_native, "cuda_match", fake_match, raising=False)
    monkeypatch.setattr(_native, "cuda_match_backward", fake_match_backward, raising=False)
    monkeypatch.setattr(memory, "sample_scratch_bytes", lambda *_: 64)
    monkeypatch.setattr(memory, "search_scratch_bytes", lambda *_: 64)
    monkeypatch.setattr(fast_path, "current_stream", lambda _: 0)
    # Memory that was not written to is told by what it holds.
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(before)


def batch(b=3, n=40, d=3):
    return torch.from_numpy(np.stack([cloud(n, d, seed=s) for s in range(b)]))


VIEWS = [batch(), batch().double(), batch(3, 40, 6)[..., 1:4], batch(1, 40), batch(40, 3).transpose(0, 1),
         batch(4)[::2], batch(3, 40, 6)[:, ::2, ::2], batch(3, 80)[:, 5:45], batch()[0], batch(3, 40, 6)[1, ::2, 3:]]


@pytest.mark.parametrize("points", VIEWS, ids=lambda p: f"{tuple(p.shape)}-{p.stride()}")
def test_strides(points):
    actual, distances, radius = sampling._on_cuda_distances(points, 7, None, None, None, None, "auto", None)
    expected = farpoint.sample(points, 7, return_distances=True)
    assert torch.equal(actual, expected.indices)
    torch.testing.assert_close(distances, expected.distances, rtol=1e-6, atol=0)
    assert radius.dtype == torch.float64 and (radius == 2).all() and radius.shape == points.shape[:-2]
    assert torch.equal(sampling._on_cuda(points, 7, None, None, None, None, "auto", None), actual)


def test_rows_of_one_cloud_are_not_copied():
    for points in (batch(1, 40)[:, ::3], batch(1, 40, 6)[:, :, ::2], batch(1, 3, 40).transpose(1, 2), batch()[0]):
        clouds, _ = memory.addressable(points)
        assert clouds.data_ptr() == points.data_ptr()


LENGTHS = [None, torch.tensor([40, 20, 0])]
STARTS = [None, torch.tensor([[3]]), torch.tensor([[3], [2], [1]]), torch.tensor([[3, 9]] * 3)]


@pytest.mark.parametrize("lengths, starts, seed", [
    (lengths, starts, None) for lengths, starts in itertools.product(LENGTHS, STARTS)
] + [(lengths, None, 5) for lengths in LENGTHS])
def test_lengths_and_starts(lengths, starts, seed):
    points = batch()
    arguments = (points, 7, lengths, None, starts, seed, "auto", None)
    actual = sampling._on_cuda(*arguments)
    if lengths is not None and starts is not None:
        # An empty cloud has no start; the CPU says so.
        expected = torch.ops.farpoint.sample(points[:2], 7, lengths[:2], None, starts[:2], seed, "auto", None)
        assert torch.equal(actual[:2], expected) and (actual[2] == -1).all()
    else:
        assert torch.equal(actual, torch.ops.farpoint.sample(*arguments))


def test_counts_of_each_cloud():
    lengths, counts = torch.tensor([40, 20, 5]), torch.tensor([7, 3, 5])
    arguments = (batch(), 7, lengths, counts, None, None, "auto", None)
    assert torch.equal(sampling._on_cuda(*arguments), torch.ops.farpoint.sample(*arguments))


def test_more_places_than_rows():
    for lengths in (torch.tensor([40, 20, 5]), torch.tensor([0, 40, 1])):
        for counts in (None, torch.tensor([30, 20, 1])):
            arguments = (batch(), 50, lengths, counts, None, None, "auto", None)
            expected = torch.ops.farpoint.sample_distances(*arguments)
            actual = sampling._on_cuda_distances(*arguments)
            assert torch.equal(actual[0], expected[0])
            torch.testing.assert_close(actual[1], expected[1])
    none = (torch.empty(2, 0, 3), 5, torch.tensor([0, 0]), None, None, None, "auto", None)
    for mine, theirs in zip(
        sampling._on_cuda_distances(*none), torch.ops.farpoint.sample_distances(*none)
    ):
        assert mine.dtype == theirs.dtype and torch.equal(mine, theirs)


def test_starts_outside_are_moved_inside():
    result = sampling._on_cuda(batch(), 5, None, None, torch.tensor([[99], [-4], [3]]), None, "auto", None)
    assert result[:, 0].tolist() == [39, 0, 3]


def test_spacing():
    from farpoint._records import Sampling

    points = batch()
    request = Sampling(None, None, 0.4, 0, None, "auto", None, None, None, True, False, False)
    actual = torch_sampling._sample_to_spacing(points, request)
    expected = farpoint.sample(points, spacing=0.4, return_distances=True)
    assert torch.equal(actual[0], expected.indices)


def test_clouds_one_after_another():
    points = torch.cat(list(batch()))
    offsets, counts = torch.tensor([0, 10, 10, 75, 120]), torch.tensor([4, 0, 7, 1])
    for starts in (None, torch.tensor([[3], [0], [60], [44]])):
        arguments = (points, offsets, counts, starts, 12, 65, "auto")
        result = sampling._ragged_on_cuda(*arguments)
        assert torch.equal(result, torch.ops.farpoint.sample_ragged(*arguments))


def test_good_rows():
    from farpoint._records import Sampling

    points = batch()
    points[0, [0, 7]] = torch.nan
    points[1, 20:] = torch.inf
    for options in (dict(count=5), dict(ratio=0.5), dict(spacing=0.4), dict(count=5, start=[2, 3, 4]),
                    dict(count=30, lengths=[40, 20, 10]), dict(ratio=0.5, seed=3)):
        request = Sampling(**{
            **dict(count=None, ratio=None, spacing=None, start=None, lengths=None, algorithm="auto",
                   seed=None, threads=None, out=None, distances=True, skip_non_finite=True, progress=False),
            **options,
        })
        actual = torch_sampling._sample_finite_rows(points, request)
        expected = farpoint.sample(points, non_finite="skip", return_distances=True, **options)
        assert torch.equal(actual[0], expected.indices), options
        torch.testing.assert_close(actual[1], expected.distances)
    with pytest.raises(ValueError, match="start index 0 names a row with NaN"):
        torch_sampling._sample_finite_rows(points, request._replace(start=0, seed=None))


GRIDS = torch.from_numpy(np.stack([grid(4), grid(4)]))
ACROSS = batch(2, 3, 50).transpose(1, 2)
PAIRS = {
    "dense": (batch(2, 50), batch(2, 40)), "ties": (GRIDS, GRIDS + 0.5), "double": (batch().double(),) * 2,
    "across": (ACROSS, ACROSS[:, 10:] + 1), "uneven": (batch(4)[::2], batch(3, 80)[:2, 5:35]),
    "axes": (batch(2, 40, 6)[..., ::2], batch(2, 30, 6)[..., 3:]), "none": (batch()[:0], batch()[:0]),
    "expanded": (batch(1, 40).expand(2, -1, -1), batch(2, 30)),
}


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("pair", PAIRS)
def test_nearest_points_and_gradients(pair, both, norm):
    x, y = PAIRS[pair]
    some = [torch.tensor([7, 20, 3])[: len(x)], None]
    for lengths in ([None, None], some, some[::-1]):
        arguments = (x, y, *lengths, norm, None, both)
        mine, gpu = neighbors._on_cpu(*arguments), neighbors._on_cuda(*arguments)
        for a, b, fake in zip(mine, gpu, neighbors._fake(*arguments)):
            torch.testing.assert_close(a, b, rtol=0, atol=0)
            assert (fake.shape, fake.stride(), fake.dtype) == (b.shape, b.stride(), b.dtype)
        for kernel in (neighbors._on_cpu, neighbors._on_cuda):
            alone = kernel(*arguments, indices=False)
            assert alone[1::2] == (None,) * len(mine[::2])
            assert all(torch.equal(a, b) for a, b in zip(alone[::2], mine[::2]))
        # Rows of a gradient need not lie one after another.
        grads = [torch.rand(part.shape[::-1], dtype=x.dtype).t() for part in mine[::2]]
        dense = [grad.contiguous() for grad in grads]
        ix, iy, *_ = (*mine[1::2], None)
        back = (x, y, ix, iy, dense[0], dense[1] if both else None, norm)
        back_of_gpu = (x, y, ix, iy, grads[0], grads[1] if both else None, norm)
        for a, b in zip(neighbors._backward_on_cpu(*back), neighbors._backward_on_cuda(*back_of_gpu)):
            torch.testing.assert_close(a, b, rtol=0, atol=0)
            assert b.is_contiguous()


@pytest.mark.parametrize("norm", [1, 2])
def test_a_pair_without_a_batch(norm):
    x, y = batch(1, 50), batch(1, 3, 40).transpose(1, 2)
    actual = neighbors._on_cuda(x[0], y[0], None, None, norm, None, True)
    expected = neighbors._on_cpu(x, y, None, None, norm, None, True)
    grads = actual[0] * 2, actual[2] * 3
    sent = neighbors._backward_on_cuda(x[0], y[0], actual[1], actual[3], *grads, norm)
    on_cpu = neighbors._backward_on_cpu(x[0], y[0], actual[1], actual[3], *grads, norm)
    batches = (part.unsqueeze(0) for part in (actual[1], actual[3], *grads))
    expected += neighbors._backward_on_cpu(x, y, *batches, norm)
    for mine, theirs in zip(actual + sent + actual + on_cpu, (expected[:4] + expected[4:]) * 2):
        assert mine.is_contiguous() and torch.equal(mine, theirs[0])


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.int32])
def test_kernels_refuse_what_they_would_misread(kind):
    """Who calls an operator may give any type; the functions convert it before."""
    from farpoint._records import Reduction

    x, pair = batch().to(kind), (None, None, 2, None, True)
    requested = Reduction(2, False, "mean", True, None)
    calls = [
        lambda: sampling._on_cuda(x, 7, None, None, None, None, "auto", None),
        lambda: sampling._ragged_on_cuda(x[0], *(torch.tensor(v) for v in ([0, 40], [4])), None, 4, 40, "auto"),
        lambda: neighbors._on_cuda(x, x, *pair), lambda: neighbors._on_cuda(batch(), x, *pair),
        lambda: chamfer._on_cuda(x, x, None, None, requested, False),
        lambda: chamfer._on_cuda(batch(), x, None, None, requested, False),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=f"must be .*{kind}"):
            call()


def test_clouds_are_searched_where_they_lie(monkeypatch):
    seen = []

    def spy(x, y, *_):
        seen.append((x.points, x.strides, y.points, y.strides))

    monkeypatch.setattr(_native, "cuda_match", spy)
    for x, y in (PAIRS["axes"], PAIRS["dense"], (batch(1, 40)[:, ::3], ACROSS[:1])):
        neighbors._on_cuda(x, y, None, None, 2, None, True)
        assert seen.pop() == (x.data_ptr(), x.stride()[1:], y.data_ptr(), y.stride()[1:])


def test_the_compiled_half_takes_what_it_is_given(monkeypatch):
    monkeypatch.undo()
    if _native.cuda_obstacle() is None:
        pytest.skip("there is a GPU, and these addresses are of the CPU")
    source = _device_records.Input(0, 0, False, 256, (3, 1), (1, 5, 3))
    with pytest.raises(farpoint.CudaUnavailable):
        _native.cuda_sample(source, _device_records.Output(512), 5, None, "auto")
    with pytest.raises(farpoint.CudaUnavailable):
        _native.cuda_check(source, 512, 1024)
    with pytest.raises(farpoint.CudaUnavailable):
        memory.sample_scratch_bytes(0, False, (1, 5, 3), 5, "auto")
    with pytest.raises(farpoint.CudaUnavailable):
        _native.DeviceArray(0, 0, [5], "i8")
    with pytest.raises(farpoint.CudaUnavailable):
        _native.cuda_device_of(256)
    with pytest.raises(ValueError, match="tree"):
        _native.cuda_sample(source, _device_records.Output(512), 5, None, "tree")


def test_the_compiled_half_takes_pairs(monkeypatch):
    monkeypatch.undo()
    if _native.cuda_obstacle() is None:
        pytest.skip("there is a GPU, and these addresses are of the CPU")
    source = _device_records.Input(0, 0, False, 256, (3, 1), (1, 5, 3))
    result, sent = _device_records.MatchOutput((512, 0), (1024, 0)), _device_records.Gradients((512, 0), (8, 0), (256, 512))
    with pytest.raises(farpoint.CudaUnavailable):
        _native.cuda_match(source, source, result, 2)
    with pytest.raises(farpoint.CudaUnavailable):
        _native.cuda_match_backward(source, source, sent, 2)
    with pytest.raises(farpoint.CudaUnavailable):
        memory.search_scratch_bytes(0, True, 1, (5, 5), 3, True, 2, False)
    with pytest.raises(ValueError, match="norm is 3"):
        _native.cuda_match(source, source, result, 3)
    with pytest.raises(TypeError, match="float32.*float64"):
        _native.cuda_match(source, source._replace(wide=True), result, 2)
    with pytest.raises(ValueError, match=r"\(1, 5, 3\).*\(1, 5, 2\)"):
        _native.cuda_match_backward(source, source._replace(shape=(1, 5, 2)), sent, 2)
