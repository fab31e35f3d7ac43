"""PyTorch: derivatives of the point operators in forward mode, and of second order, beside finite differences and
reverse mode; on a GPU beside the CPU."""

import functools

import pytest

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")
from test_operators_compile import indices_of, normal  # noqa: E402  (they need torch)
from torch import func  # noqa: E402
from torch.autograd import forward_ad, gradcheck, gradgradcheck  # noqa: E402


def wide(shape, seed):
    return normal(shape, seed, torch.float64)


X, Y, VALUES, ADD = wide((2, 6, 3), 1), wide((2, 7, 3), 2), wide((2, 7, 4), 3), wide((2, 6, 3, 4), 4)
INDICES, WEIGHTS = indices_of((2, 6, 3), 7), wide((2, 6, 3), 5)
FAR = torch.tensor([[0.5, 1.5, torch.inf], [2.0, 0.25, 1.0], [torch.inf] * 3], dtype=torch.float64)


def at(tensor, place):
    """A tensor on the device of another."""
    return tensor.to(place.device)


def distances(search, *arguments, **options):
    """Distances as a function of both clouds; lengths and offsets are tensors on their device."""
    def call(x, y):
        moved = {name: at(value, x) if isinstance(value, torch.Tensor) else value for name, value in options.items()}
        return search(x, y, *arguments, **moved).distances

    return call


@functools.cache
def index_on(device):
    return farpoint.Index(Y.to(device))


LENGTHS = dict(x_lengths=torch.tensor([6, 4]), y_lengths=torch.tensor([2, 5]))
OFFSETS = dict(x_offsets=torch.tensor([0, 2, 6]), y_offsets=torch.tensor([0, 4, 7]))
CASES = {
    "gather": (lambda v: farpoint.gather(v, at(INDICES, v)), VALUES),
    "gather of one cloud": (lambda v: farpoint.gather(v, at(INDICES[0, :, 0].int(), v)), VALUES[0]),
    "gather of numbers": (lambda v: farpoint.gather(v, at(INDICES[0], v)), VALUES[0, :, 0]),
    "gather_max": (lambda v: farpoint.gather_max(v, at(INDICES, v)), VALUES),
    "gather_max, add": (lambda v, a: farpoint.gather_max(v, at(INDICES, v), a), VALUES, ADD),
    "interpolate": (lambda v, w: farpoint.interpolate(v, at(INDICES, v), w), VALUES, WEIGHTS),
    "weights": (lambda d: farpoint.inverse_distance_weights(d, squared=True), WEIGHTS.square()),
    "weights, power 2": (lambda d: farpoint.inverse_distance_weights(d, 2, 0.5, squared=False), WEIGHTS.abs()),
    "weights of none": (
        lambda d: farpoint.inverse_distance_weights(at(FAR, d) + d, 1, squared=False), torch.ones_like(FAR)
    ),
    "knn": (distances(farpoint.knn, 3), X, Y),
    "knn of one cloud": (distances(farpoint.knn, 3), X[0], Y[0]),
    "knn, plain": (distances(farpoint.knn, 3, squared=False), X, Y),
    "knn, norm 1": (distances(farpoint.knn, 3, norm=1, index_dtype=torch.int32), X, Y),
    "knn, lengths": (distances(farpoint.knn, 3, **LENGTHS), X, Y),
    "knn, offsets": (distances(farpoint.knn, 3, **OFFSETS), X[0], Y[0]),
    "knn in itself": (lambda x: farpoint.knn(x, x, 3, exclude_self=True).distances, X),
    "knn in an index": (lambda x: index_on(x.device).knn(x, 3).distances, X),
    "ball_query": (distances(farpoint.ball_query, 2.0, 3), X, Y),
    "ball_query, nearest": (distances(farpoint.ball_query, 2.0, 3, order="nearest", squared=False), X, Y),
    "within": (distances(farpoint.within, 2.0), X, Y),
    "within, norm 1": (distances(farpoint.within, 2.0, norm=1, **OFFSETS), X[0], Y[0]),
    "within, lengths": (distances(farpoint.within, 2.0, **LENGTHS), X, Y),
    "layer": (
        lambda x, y, v: farpoint.interpolate(
            v, (near := farpoint.knn(x, y, 3)).indices, farpoint.inverse_distance_weights(near)
        ), X, Y, VALUES,
    ),
}
#: Missing neighbors, whose infinite distances finite differences would make NaN.
FINITE = {name: lambda *parts, call=call: (result := call(*parts)).masked_fill(result.isinf(), 0)
          for name, (call, *_) in CASES.items()}


def inputs(name, device="cpu"):
    return [part.detach().clone().to(device).requires_grad_() for part in CASES[name][1:]]


@pytest.mark.parametrize("name", CASES)
def test_forward_mode_beside_finite_differences(name):
    parts = inputs(name)
    assert FINITE[name](*parts).numel() > 0
    batched = dict(check_batched_grad=True, check_batched_forward_grad=True)
    assert gradcheck(FINITE[name], parts, check_forward_ad=True, **batched)


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_beside_finite_differences(name):
    assert gradgradcheck(FINITE[name], inputs(name), check_fwd_over_rev=True)


@pytest.mark.parametrize("name", CASES)
def test_transforms(name):
    call, parts = FINITE[name], [part.detach() for part in inputs(name)]
    every = tuple(range(len(parts)))
    speeds = tuple(torch.rand_like(part) for part in parts)
    expected = call(*parts)
    value, speed = func.jvp(call, tuple(parts), speeds)
    assert torch.equal(value, expected), "the bits of a call without derivatives"
    jacobian = func.jacrev(call, every)(*parts)
    torch.testing.assert_close(func.jacfwd(call, every)(*parts), jacobian)
    products = [(part.reshape(value.numel(), -1) @ of.reshape(-1)) for part, of in zip(jacobian, speeds)]
    torch.testing.assert_close(speed.reshape(-1), sum(products))

    def total(*parts):
        return call(*parts).square().sum()

    torch.testing.assert_close(
        func.hessian(total, every)(*parts), torch.autograd.functional.hessian(total, tuple(parts)) if len(parts) > 1
        else ((torch.autograd.functional.hessian(total, parts[0]),),)
    )


def test_dual_numbers():
    """Results that have no derivative have no tangent; tangents stay where they belong."""
    x, y, moved = X[0], Y[0], torch.ones_like(X[0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, moved)
        near, ball = farpoint.knn(dual, y, 2), farpoint.within(dual, y, 2.0)
        sampled = farpoint.sample(dual, 3)
        for part in (near.indices, near.counts, ball.indices, ball.offsets, sampled):
            assert not part.is_floating_point() and forward_ad.unpack_dual(part).tangent is None
        picked = forward_ad.unpack_dual(farpoint.gather(dual, sampled)).tangent
        assert torch.equal(picked, moved[sampled])
        assert forward_ad.unpack_dual(farpoint.knn(x, y, 2).distances).tangent is None
    assert farpoint.knn(x, y, 2).distances.equal(near.distances)


def test_forward_over_an_ordinary_backward_pass():
    """Without create_graph, so that operators in place of formulas compute the gradient."""
    for name in ("knn", "gather_max, add", "interpolate", "weights", "within"):
        call, parts = CASES[name][0], inputs(name)

        def total(*parts, call=call):
            return call(*parts).square().sum()

        moved = [torch.rand_like(part) for part in parts]
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(part, of) for part, of in zip(parts, moved)]
            sent = torch.autograd.grad(total(*duals), parts)
            tangents = [forward_ad.unpack_dual(part).tangent for part in sent]
        expected = torch.autograd.functional.hvp(total, tuple(parts), tuple(moved))[1]
        torch.testing.assert_close(tuple(tangents), expected, msg=name)


@pytest.mark.parametrize("transform", ["jvp", "grad", "hessian"])
@pytest.mark.parametrize("name", ["gather", "gather_max, add", "interpolate", "weights", "knn, plain", "knn, offsets"])
def test_compiled(name, transform):
    call, parts = CASES[name][0], tuple(part.detach() for part in inputs(name))

    def work(*parts):
        if transform == "jvp":
            return func.jvp(call, parts, parts)
        return getattr(func, transform)(lambda *parts: call(*parts).square().sum())(*parts)

    torch.compiler.reset()
    compiled = torch.compile(work, fullgraph=True, backend="aot_eager")(*parts)
    torch.testing.assert_close(compiled, work(*parts))


def test_compiled_values_keep_their_bits():
    for name in ("gather_max, add", "interpolate", "weights", "knn"):
        call, parts = CASES[name][0], tuple(part.detach() for part in inputs(name))
        torch.compiler.reset()
        compiled = torch.compile(lambda *parts, call=call: func.jvp(call, parts, parts)[0], backend="aot_eager")
        assert torch.equal(compiled(*parts), call(*parts)), name


def channels_first(values):
    return values.transpose(1, 2).contiguous()


def replacements():
    """Functions of ``farpoint.compat`` that have derivatives, with their tensors."""
    from farpoint.compat import kaolin, mmcv, pointnet2_ops, pytorch3d
    from farpoint.compat.torch_geometric.nn import knn_interpolate

    near = farpoint.knn(X.float(), Y.float(), 3, index_dtype=torch.int32).indices
    few, weights = channels_first(VALUES), torch.softmax(WEIGHTS, -1)
    return {
        "pytorch3d.knn_points": (lambda x, y: pytorch3d.ops.knn_points(x, y, K=3).dists, X, Y),
        "pytorch3d.ball_query": (lambda x, y: pytorch3d.ops.ball_query(x, y, K=3, radius=2.0).dists, X, Y),
        "pytorch3d.chamfer_distance": (lambda x, y: pytorch3d.loss.chamfer_distance(x, y)[0], X, Y),
        "kaolin.chamfer_distance": (kaolin.chamfer_distance, X, Y),
        "pointnet2_ops.three_interpolate": (
            lambda v, w: pointnet2_ops.pointnet2_utils.three_interpolate(v, near, w), few, weights),
        "pointnet2_ops.grouping_operation": (
            lambda v: pointnet2_ops.pointnet2_utils.grouping_operation(v, near), few),
        "mmcv.three_interpolate": (lambda v, w: mmcv.three_interpolate(v, near, w), few, weights),
        "mmcv.grouping_operation": (lambda v: mmcv.grouping_operation(v, near), few),
        "torch_geometric.knn_interpolate": (lambda v: knn_interpolate(v, Y[0], X[0]), VALUES[0]),
    }


@pytest.mark.parametrize("name", replacements())
def test_replacements(name):
    call, *parts = replacements()[name]
    parts = [part.clone().requires_grad_() for part in parts]
    assert gradcheck(call, parts, check_forward_ad=True)


@pytest.mark.parametrize("name", CASES)
def test_on_a_gpu(cuda, name):
    call, (parts, there) = FINITE[name], (inputs(name), inputs(name, "cuda"))
    torch.testing.assert_close(call(*there).cpu(), call(*parts))
    every = tuple(range(len(parts)))
    torch.testing.assert_close(
        tuple(part.cpu() for part in func.jacfwd(call, every)(*there)), func.jacfwd(call, every)(*parts))
    assert gradcheck(call, there, check_forward_ad=True, nondet_tol=0)
    assert gradgradcheck(call, there, check_fwd_over_rev=True, nondet_tol=0)
