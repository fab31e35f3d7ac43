"""PyTorch: what goes to a GPU, seen without one, in tensors that are fake: no call copies from pageable
memory, which would wait, and no default call copies at all, so that it can be captured into a CUDA
graph. Nothing depends on the default device."""

import numpy as np
import pytest
from conftest import cloud

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint._torch import transfer  # noqa: E402  (they need torch)
from farpoint.compat import chamfer_3d, kaolin, pointnet2_ops, pytorch3d, torch_cluster  # noqa: E402
from torch._subclasses.fake_tensor import (  # noqa: E402
    DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode,
)
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402


class Listening(TorchDispatchMode):
    """Lists what is copied to a GPU, and what is read from one."""

    def __init__(self, pinned):
        super().__init__()
        self.sent, self.waited, self.pinned = [], [], pinned

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        given = [part for part in args if isinstance(part, torch.Tensor)]
        of_gpu = any(part.is_cuda for part in given)
        if of_gpu and function.name() in ("aten::_local_scalar_dense", "aten::item", "aten::nonzero"):
            self.waited.append(str(function))
        result = function(*args, **(kwargs or {}))
        there = isinstance(result, torch.Tensor) and result.is_cuda
        if there and any(part.is_cpu for part in given):
            self.sent.append(str(function))
            if id(given[0]) not in self.pinned or not (kwargs or {}).get("non_blocking"):
                self.waited.append(f"{function} of {given[0]}")
        if of_gpu and not there and function.name() in ("aten::_to_copy", "aten::copy_"):
            self.waited.append(str(function))
        return result


@pytest.fixture
def listen(monkeypatch):
    """Runs a call with a batch on a GPU that is none; what it copied, and why it waited."""
    pinned, held = set(), []

    def pin(values):
        result = values.to(torch.int64).clone()
        pinned.add(id(result))
        held.append(result)  # so that no other gets its id
        return result

    monkeypatch.setattr(transfer, "_pinned", pin)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)

    def run(call, grad=False):
        with FakeTensorMode(allow_non_fake_inputs=True), Listening(pinned) as mode:
            points = torch.empty(3, 60, 3, device="cuda", requires_grad=grad)
            assert points.is_cuda
            try:
                call(points)
            except (DataDependentOutputException, DynamicOutputShapeException):
                assert mode.waited
        return mode.sent, mode.waited

    return run


def test_the_listener_hears(listen):
    calls = [lambda p: p + torch.tensor([1.0, 2, 3]).to("cuda")]
    if not torch.cuda.is_available():  # where it is, no copy is seen of numbers that go there at once
        calls.append(lambda p: torch.tensor([1, 2], device="cuda"))
    for call in calls:
        sent, waited = listen(call)
        assert sent and waited
    for call in (lambda p: bool((p > 0).any()), lambda p: p.cpu(), lambda p: p.nonzero(), lambda p: p.sum().item()):
        assert listen(call)[1]


DEFAULT = {
    "sample": lambda p: farpoint.sample(p, 5), "one start": lambda p: farpoint.sample(p, 5, start=7),
    "distances": lambda p: farpoint.sample(p, ratio=0.5, return_distances=True), "order": farpoint.order,
    "seed": lambda p: farpoint.sample(p, 5, seed=7),
    "lengths of one size": lambda p: farpoint.sample(p, 5, lengths=[60, 60, 60]),
    "starts in even steps": lambda p: farpoint.sample(p, 5, start=[1, 2, 3]),
    "pytorch3d": lambda p: pytorch3d.sample_farthest_points(p),
    "pytorch3d, random": lambda p: pytorch3d.sample_farthest_points(p, K=5, random_start_point=True),
    "pytorch3d, K": lambda p: pytorch3d.sample_farthest_points(p, K=[5, 5, 5]),
    "fps": lambda p: torch_cluster.fps(p[0]), "fps, ratio": lambda p: torch_cluster.fps(p[0], ratio=0.25),
    "pointnet2": lambda p: pointnet2_ops.furthest_point_sample(p, 5),
}
DEFAULT_OF_MATCH = {
    "nearest": lambda p: farpoint.nearest(p, p, squared=False), "chamfer": lambda p: farpoint.chamfer(p, p),
    "plain chamfer": lambda p: farpoint.chamfer(p, p, squared=False, reduction="max"),
    "chamfer of pytorch3d": lambda p: pytorch3d.chamfer_distance(p, p),
    "normals of pytorch3d": lambda p: pytorch3d.chamfer_distance(p, p, x_normals=p, y_normals=p),
    "kaolin": lambda p: kaolin.chamfer_distance(p, p, squared=False), "chamfer_3d": chamfer_3d.chamfer_3DDist(),
}


@pytest.mark.parametrize("name", DEFAULT)
def test_default_calls_copy_nothing(listen, name):
    assert listen(DEFAULT[name]) == ([], [])


@pytest.mark.parametrize("name", DEFAULT_OF_MATCH)
def test_default_calls_of_pairs_copy_nothing(listen, name):
    def call(points):
        function = DEFAULT_OF_MATCH[name]
        return function(points, points) if name == "chamfer_3d" else function(points)

    for grad in (False, True):
        assert listen(call, grad) == ([], [])


@pytest.mark.parametrize("call", [
    lambda p: farpoint.sample(p, 5, lengths=[60, 20, 3]),
    lambda p: farpoint.sample(p, ratio=0.5, lengths=torch.tensor([60, 20, 3], dtype=torch.int32)),
    lambda p: farpoint.sample(p, 5, start=[1, 2, 9]), lambda p: farpoint.sample(p, 5, start=torch.tensor([1, 2, 9])),
    lambda p: pytorch3d.sample_farthest_points(p, torch.tensor([60, 20, 3]), K=[1, 2, 4]),
    lambda p: pointnet2_ops.stack_farthest_point_sample(p[0], [10, 20, 30], [1, 2, 4]),
    lambda p: pointnet2_ops.farthest_point_sampling(p[0], [10, 30, 60], [1, 2, 9]),
    lambda p: farpoint.chamfer(p, p, x_lengths=[60, 20, 3]),
])
def test_what_is_copied_does_not_wait(listen, call):
    sent, waited = listen(call)
    assert sent and not waited


def test_a_copy_into_a_graph_is_refused(listen, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    with pytest.raises(RuntimeError, match="can't be captured into a CUDA graph.*tensor on cuda"):
        listen(lambda p: farpoint.sample(p, 5, lengths=[60, 20, 3]))
    assert listen(DEFAULT["lengths of one size"]) == ([], [])


@pytest.mark.parametrize("values", [
    [7], [5, 5, 5], [0, 20, 40], [9, 6, 3, 0], [1, 2, 4], [0, 0], [3, 1], [0], [], [-1, -1, 2**40],
])
def test_numbers(values, monkeypatch):
    """Those counted on the device are those sent."""
    result = transfer.numbers(values, torch.device("cpu"))
    assert result.dtype == torch.int64 and result.tolist() == values

    class Elsewhere:  # the CPU, if it were a device to count on
        type = "cuda"

    real = {name: getattr(torch, name) for name in ("arange", "full")}
    for name, make in real.items():
        monkeypatch.setattr(torch, name, lambda *a, make=make, device, **k: make(*a, device="cpu", **k))
    monkeypatch.setattr(transfer, "sent", lambda values, device: values)
    counted = transfer.numbers(values, Elsewhere())
    assert counted.dtype == torch.int64 and counted.tolist() == values


@pytest.fixture
def meta_by_default():
    torch.set_default_device("meta")
    yield
    torch.set_default_device(None)


def test_the_default_device_is_nobodys_business(meta_by_default):
    points = torch.from_numpy(np.stack([cloud(60, seed=s) for s in range(3)]))
    lengths = torch.from_numpy(np.array([60, 20, 3]))
    assert torch.empty(1).is_meta
    calls = [
        *DEFAULT.values(), lambda p: farpoint.sample(p, spacing=0.3, return_distances=True),
        lambda p: farpoint.sample(p, 5, non_finite="skip", return_distances=True, seed=4),
        lambda p: farpoint.sample(p, 5, lengths=[60, 20, 3]), lambda p: farpoint.sample(p, 5, lengths=lengths),
        lambda p: farpoint.sample(p, 5, start=[[1, 2], [3, 4], [2, 1]], return_distances=True), farpoint.check,
        lambda p: farpoint.sample_grid(p, 5), lambda p: farpoint.centroids(p, cell=0.3),
        lambda p: farpoint.quality(p[0], [1, 2]), lambda p: farpoint.sample(p[0], 5, progress=True),
        lambda p: torch_cluster.fps(p.reshape(-1, 3), ptr=[0, 20, 170, 180], ratio=0.3),
        lambda p: pointnet2_ops.stack_farthest_point_sample(p[0], [10, 20, 30], [1, 2, 4]),
    ]
    calls += [call for name, call in DEFAULT_OF_MATCH.items() if name != "chamfer_3d"]
    calls += [lambda p: chamfer_3d.chamfer_3DDist()(p, p), lambda p: farpoint.chamfer(p, p, x_lengths=[60, 20, 3])]
    for call in calls:
        result = call(points)
        for part in result if isinstance(result, tuple) else (result,):
            assert not isinstance(part, torch.Tensor) or part.is_cpu, call
    grown = points.clone().requires_grad_()
    farpoint.chamfer(grown, points.flip(0), squared=False).sum().backward()
    assert grown.grad.is_cpu and (grown.grad != 0).any()
    torch.func.jvp(lambda p: farpoint.chamfer(p, points), (points,), (points,))


# ---------------------------------------------------------------------- the device meta

ROWS = torch.from_numpy(np.random.default_rng(1).integers(-1, 60, (3, 20, 4)))

#: Calls of every operator, with a batch.
SHAPED = {
    "sample": lambda p, i: farpoint.sample(p, 5, seed=3),
    "distances": lambda p, i: farpoint.sample(p, ratio=0.3, return_distances=True, start=2),
    "cloud": lambda p, i: farpoint.sample(p[0], 5, return_distances=True),
    "lengths": lambda p, i: farpoint.sample(p, 70, lengths=[60, 20, 3]),
    "mask": lambda p, i: farpoint.sample(p, 5, mask=p[..., 0] > 0),
    "order": lambda p, i: farpoint.order(p),
    "sample_levels": lambda p, i: sum(farpoint.sample_levels(p, [9, 4])[:2], ()),
    "sample_padded": lambda p, i: farpoint.sample_padded(p, [3, 4, 5]),
    "sample_ragged": lambda p, i: farpoint.sample_ragged(p[0], [0, 20, 60], [3, 4]),
    "nearest": lambda p, i: farpoint.nearest(p, p[:, :7], x_lengths=[60, 20, 3]),
    "nearest_both": lambda p, i: sum(farpoint.nearest_both(p, p[:, :7]), ()),
    "chamfer": lambda p, i: farpoint.chamfer(p, p[:, :7], squared=False),
    "chamfer of clouds": lambda p, i: farpoint.chamfer(p[0], p[0, :7]),
    "f_score": lambda p, i: farpoint.f_score(p, p[:, :7], 0.1),
    "knn": lambda p, i: farpoint.knn(p, p[:, :7], 3, index_dtype="int32"),
    "offsets": lambda p, i: farpoint.knn(p[0], p[1], 3, x_offsets=[0, 30, 60], y_offsets=[0, 1, 60]),
    "ball_query": lambda p, i: farpoint.ball_query(p, p, 0.3, 3),
    "gather": lambda p, i: farpoint.gather(p, i),
    "gather of integers": lambda p, i: farpoint.gather(p.long(), i),
    "gather of numbers": lambda p, i: farpoint.gather(p[0, :, 0], i[0]),
    "gather_max": lambda p, i: farpoint.gather_max(p.half(), i),
    "interpolate": lambda p, i: farpoint.interpolate(p, i, i.float()),
    "weights": lambda p, i: farpoint.inverse_distance_weights(p, squared=True),
}


@pytest.mark.parametrize("name", SHAPED)
def test_tensors_without_data_give_shapes(name):
    points = torch.from_numpy(np.stack([cloud(60, seed=s) for s in range(3)]))
    expected, actual = SHAPED[name](points, ROWS), SHAPED[name](points.to("meta"), ROWS.to("meta"))
    for a, b in zip(*[part if isinstance(part, tuple) else (part,) for part in (actual, expected)], strict=True):
        assert a.is_meta and a.shape == b.shape and a.dtype == b.dtype and a.stride() == b.stride()


def test_gradients_without_data():
    for name in ("chamfer", "knn", "gather", "gather_max", "interpolate", "weights"):
        points = torch.empty((3, 60, 3), device="meta", requires_grad=True)
        result = SHAPED[name](points, ROWS.to("meta"))
        (result[0] if isinstance(result, tuple) else result).sum().backward()
        assert points.grad.is_meta and points.grad.shape == points.shape


@pytest.mark.parametrize("call", [
    lambda p: farpoint.within(p, p, 0.1), farpoint.Index, farpoint.check, lambda p: farpoint.sample(p, spacing=0.1),
    lambda p: farpoint.sample(p, 5, non_finite="skip"), lambda p: farpoint.sample_grid(p, 5),
    lambda p: farpoint.quality(p, [[1]] * 3), lambda p: farpoint.centroids(p, cell=0.1),
    lambda p: farpoint.check_indices(p.long(), 5), lambda p: farpoint.sample(p[0], 5, mask=p[0, :, 0] > 0),
])
def test_results_whose_shape_is_in_the_data_are_refused_without(call):
    with pytest.raises(TypeError, match="the data, which tensors on the device meta do not have"):
        call(torch.empty((3, 60, 3), device="meta"))
