"""The point operators on tensors on the CPU: values, gradients, transforms, types."""

import numpy as np
import operators_reference as reference
import pytest
from conftest import in_ball

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")


def ties(shape, seed=1, dtype=torch.float64):
    return torch.tensor(np.random.default_rng(seed).integers(0, 5, shape) / 4, dtype=dtype)


def normal(shape, seed=1, dtype=torch.float64):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape), dtype=dtype)


def same(actual, expected):
    """Types, shapes and bits."""
    actual, expected = (part if isinstance(part, tuple) else (part,) for part in (actual, expected))
    for a, b in zip(actual, expected):
        a = np.asarray(a.detach() if hasattr(a, "detach") else a)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()


SIDES = [
    {}, {"x_lengths": torch.tensor([12, 3]), "y_lengths": [15, 4]}, {"x_lengths": [5, 12]},
]


@pytest.mark.parametrize("sides", SIDES)
def test_searches(sides):
    x, y = ties((2, 12, 3)), ties((2, 15, 3), 2)
    plain = {name: np.asarray(value) for name, value in sides.items()}
    same(farpoint.knn(x, y, 3, **sides), reference.knn(x.numpy(), y.numpy(), 3, **plain))
    for k in (3, None):
        result = in_ball(x, y, 0.6, k, **sides)
        same(result, reference.ball_query(x.numpy(), y.numpy(), 0.6, k, **plain))


def test_clouds_one_after_another():
    x, y = ties((12, 3)), ties((15, 3), 2)
    for kind in (list, torch.tensor):
        sides = {"x_offsets": kind([0, 5, 12]), "y_offsets": kind([0, 8, 15])}
        plain = {name: list(map(int, value)) for name, value in sides.items()}
        result = farpoint.knn(x, y, 3, index_dtype=torch.int32, **sides)
        same(result, reference.knn(x.numpy(), y.numpy(), 3, index_dtype=np.int32, **plain))
        result = farpoint.within(x, y, 0.6, **sides)
        same(result, reference.ball_query(x.numpy(), y.numpy(), 0.6, None, **plain))


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_halves(half):
    x, y = ties((12, 3), dtype=half), ties((15, 3), 2, half)
    actual, expected = farpoint.knn(x, y, 3), farpoint.knn(x.float(), y.float(), 3)
    assert all(torch.equal(a, b) for a, b in zip(actual, expected))
    values = normal((15, 6), 3, half)
    assert torch.equal(farpoint.gather(values, actual.indices), values[actual.indices])
    largest = farpoint.gather_max(values, actual.indices)
    assert torch.equal(largest, values[actual.indices].amax(-2))
    add = normal((12, 3, 6), 4, half)
    sums = (values[actual.indices].float() + add.float()).amax(-2).to(half)
    assert torch.equal(farpoint.gather_max(values, actual.indices, add), sums)
    weights = farpoint.inverse_distance_weights(actual)
    result = farpoint.interpolate(values, actual.indices, weights)
    assert result.dtype == half
    expected = farpoint.interpolate(values.float(), actual.indices, weights).to(half)
    assert torch.equal(result, expected)


# ------------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("squared, norm", [(True, 2), (False, 2), (True, 1)])
@pytest.mark.parametrize("sides", SIDES)
def test_gradients_of_distances(sides, squared, norm):
    x, y = normal((2, 12, 3)).requires_grad_(), normal((2, 15, 3), 2).requires_grad_()
    actual = farpoint.knn(x, y, 3, squared=squared, norm=norm, **sides)
    grad = normal(actual.distances.shape, 3)
    actual.distances.backward(grad)
    arrays = x.detach().numpy(), y.detach().numpy()
    plain = type(actual)(*[part.detach().numpy() for part in actual])
    expected = reference.knn_backward(*arrays, plain, grad.numpy(), squared=squared, norm=norm)
    if squared or norm == 1:
        same((x.grad, y.grad), expected)
    else:
        for a, b in zip((x.grad, y.grad), expected):
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-12, atol=1e-15)


def test_gradients_of_a_cloud_in_itself():
    x = normal((20, 3)).requires_grad_()
    result = farpoint.knn(x, x, 4, exclude_self=True)
    result.distances.sum().backward()
    both = reference.knn_backward(
        x.detach().numpy(), x.detach().numpy(), type(result)(*[p.detach().numpy() for p in result]),
        np.ones(result.distances.shape),
    )
    same(x.grad, both[0] + both[1])


def test_gradients_of_all_in_a_ball():
    x, y = normal((2, 6, 3)).requires_grad_(), normal((2, 7, 3), 2).requires_grad_()
    lengths = {"x_lengths": [6, 4], "y_lengths": [7, 5]}

    def distances(x, y):
        return farpoint.within(x, y, 1.5, **lengths).distances

    assert distances(x, y).numel() > 6
    assert torch.autograd.gradcheck(distances, (x, y))
    flat = x.detach()[0].requires_grad_(), y.detach()[0].requires_grad_()
    offsets = {"x_offsets": [0, 2, 6], "y_offsets": [0, 4, 7]}
    assert torch.autograd.gradcheck(
        lambda x, y: farpoint.within(x, y, 2.0, **offsets).distances, flat
    )


def indices_of(shape, rows, seed=4, dtype=torch.int64):
    return torch.tensor(np.random.default_rng(seed).integers(-1, rows, shape), dtype=dtype)


@pytest.mark.parametrize("index_type", [torch.int64, torch.int32])
def test_gradients_of_gather(index_type):
    values = normal((2, 7, 5)).requires_grad_()
    for shape in ((2, 6), (2, 6, 4)):
        indices = indices_of(shape, 7, dtype=index_type)
        actual = farpoint.gather(values, indices)
        grad = normal(actual.shape, 5)
        (sent,) = torch.autograd.grad(actual, values, grad)
        expected = reference.gather_backward(values.detach().numpy(), indices.numpy(), grad.numpy())
        same(sent, expected)


def test_gradients_of_gather_max():
    values, add = ties((2, 7, 5)).requires_grad_(), ties((2, 6, 4, 5), 2).requires_grad_()
    indices = indices_of((2, 6, 4), 7)
    result = farpoint.gather_max(values, indices, add)
    grad = normal(result.shape, 5)
    sent = torch.autograd.grad(result, (values, add), grad)
    arrays = values.detach().numpy(), indices.numpy()
    chosen = reference.gather_max_with_places(*arrays, add.detach().numpy())[1]
    same(sent, reference.gather_max_backward(*arrays, chosen, grad.numpy(), add.detach().numpy()))


def test_gradients_of_interpolate():
    values, weights = normal((2, 7, 40)).requires_grad_(), normal((2, 6, 3), 2).requires_grad_()
    indices = indices_of((2, 6, 3), 7)
    result = farpoint.interpolate(values, indices, weights)
    grad = normal(result.shape, 5)
    sent = torch.autograd.grad(result, (values, weights), grad)
    arrays = values.detach().numpy(), indices.numpy(), weights.detach().numpy()
    same(sent, reference.interpolate_backward(*arrays, grad.numpy()))


def test_gradients_of_weights():
    distances = normal((2, 6, 3)).square()
    distances[0, 1, 2] = distances[1, 3] = torch.inf
    distances.requires_grad_()
    for power in (1, 2):
        actual = farpoint.inverse_distance_weights(distances, power, squared=False)
        grad = normal(actual.shape, 5)
        (sent,) = torch.autograd.grad(actual, distances, grad)
        expected = reference.inverse_distance_weights_backward(
            distances.detach().numpy(), grad.numpy(), power
        )
        np.testing.assert_allclose(sent.numpy(), expected, rtol=1e-9, atol=1e-12)


FUNCTIONS = {
    "knn": (lambda x, y: farpoint.knn(x, y, 3).distances, ((2, 5, 3), (2, 6, 3))),
    "ball": (lambda x, y: farpoint.ball_query(x, y, 9.0, 4).distances, ((2, 5, 3), (2, 6, 3))),
    "gather": (lambda v: farpoint.gather(v, indices_of((2, 5, 3), 6)), ((2, 6, 4),)),
    "gather_max": (
        lambda v, a: farpoint.gather_max(v, indices_of((2, 5, 3), 6), a), ((2, 6, 4), (2, 5, 3, 4)),
    ),
    "interpolate": (
        lambda v, w: farpoint.interpolate(v, indices_of((2, 5, 3), 6), w), ((2, 6, 4), (2, 5, 3)),
    ),
    "weights": (lambda d: farpoint.inverse_distance_weights(d.square(), squared=True), ((2, 5, 3),)),
    "weights_2": (lambda d: farpoint.inverse_distance_weights(d, 2, squared=False), ((5, 3),)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradcheck(name):
    function, shapes = FUNCTIONS[name]
    inputs = [normal(shape, k + 1).requires_grad_() for k, shape in enumerate(shapes)]
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_bits_on_every_run(name):
    function, shapes = FUNCTIONS[name]
    inputs = [normal(shape, k + 1).requires_grad_() for k, shape in enumerate(shapes)]
    runs = []
    for threads in (1, 2, 1):
        torch.set_num_threads(threads)
        result = function(*inputs)
        grads = torch.autograd.grad(result, inputs, torch.ones_like(result))
        runs.append([part.detach().numpy().tobytes() for part in (result, *grads)])
    assert runs[0] == runs[1] == runs[2]


# ------------------------------------------------------------------------------------ transforms


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap(name):
    function, shapes = FUNCTIONS[name]
    inputs = [normal((3, *shape), k + 1) for k, shape in enumerate(shapes)]
    together = torch.vmap(function)(*inputs)
    alone = torch.stack([function(*(part[k] for part in inputs)) for k in range(3)])
    assert torch.equal(together, alone)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_func_grad(name):
    function, shapes = FUNCTIONS[name]
    inputs = [normal((3, *shape), k + 1) for k, shape in enumerate(shapes)]

    def total(*parts):
        return function(*parts).square().sum()

    result = torch.func.vmap(torch.func.grad(total))(*inputs)
    for k in range(3):
        own = [part[k].clone().requires_grad_() for part in inputs]
        total(*own).backward()
        torch.testing.assert_close(result[k], own[0].grad)


def test_vmap_of_what_it_cannot_do():
    x, y = normal((2, 6, 3)), normal((2, 7, 3), 2)
    with pytest.raises(NotImplementedError, match="k=None"):
        torch.vmap(lambda x, y: farpoint.within(x, y, 1.0).distances)(x, y)
    with pytest.raises(NotImplementedError, match="offsets"):
        torch.vmap(
            lambda x, y: farpoint.knn(x, y, 1, x_offsets=[0, 6], y_offsets=[0, 7]).distances
        )(x, y)


def test_autocast():
    x, y, values = (normal(shape, dtype=torch.float32) for shape in ((9, 3), (12, 3), (12, 4)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = farpoint.knn(x.bfloat16(), y.bfloat16(), 3)
        half = farpoint.gather(values.bfloat16(), result.indices)
        weights = farpoint.inverse_distance_weights(result)
        sums = farpoint.interpolate(values.bfloat16(), result.indices, weights)
    assert result.distances.dtype == weights.dtype == torch.float32
    assert torch.equal(result.distances, farpoint.knn(x.bfloat16(), y.bfloat16(), 3).distances)
    assert half.dtype == sums.dtype == torch.bfloat16


def test_index():
    x, y = normal((2, 40, 3)), normal((2, 900, 3), 2)
    index = farpoint.Index(y)
    for _ in range(2):
        same(index.knn(x, 4), reference.knn(x.numpy(), y.numpy(), 4))
        same(index.knn(y, 4), reference.knn(y.numpy(), y.numpy(), 4))
        same(index.within(x, 0.3), reference.ball_query(x.numpy(), y.numpy(), 0.3, None))
    x.requires_grad_()
    (sent,) = torch.autograd.grad(index.knn(x, 3).distances.sum(), x)
    (expected,) = torch.autograd.grad(farpoint.knn(x, y, 3).distances.sum(), x)
    assert torch.equal(sent, expected)
    half = farpoint.Index(y.half())
    assert torch.equal(half.knn(x.half(), 3).indices, farpoint.knn(x.half(), y.half(), 3).indices)


def test_trees_go_with_their_index():
    from farpoint._torch import knn_kernels

    before = len(knn_kernels._trees)
    index = farpoint.Index(normal((50, 3)))
    assert len(knn_kernels._trees) == before + 1
    del index
    assert len(knn_kernels._trees) == before


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_plain_distances_are_rounded_roots(dtype):
    x, y = normal((300, 3), 1, dtype), normal((900, 3), 2, dtype)
    expected = reference.knn(x.numpy(), y.numpy(), 4, squared=False)
    same(farpoint.knn(x, y, 4, squared=False), expected)
    same(farpoint.knn(x.requires_grad_(), y, 4, squared=False), expected)
    actual = farpoint.nearest(x.detach(), y, squared=False)
    assert torch.equal(actual.distances, farpoint.knn(x.detach(), y, 1, squared=False).distances[:, 0])


def test_second_derivatives_of_plain_distances():
    x, y = normal((5, 3)).requires_grad_(), normal((6, 3), 2).requires_grad_()
    function = lambda x, y: farpoint.knn(x, y, 3, squared=False).distances  # noqa: E731
    assert torch.autograd.gradcheck(function, (x, y))
    assert torch.autograd.gradgradcheck(function, (x, y))


@pytest.mark.parametrize("kind", [torch.int64, torch.int32, torch.uint8, torch.bool], ids=str)
def test_gather_of_whole_numbers(kind):
    generator = torch.Generator().manual_seed(5)
    values = torch.randint(0, 200, (2, 30, 4), generator=generator).to(kind)
    for shape in ((2, 9), (2, 9, 5)):
        indices = torch.randint(-1, 30, shape, generator=generator)
        expected = torch.from_numpy(farpoint.gather(values.numpy(), indices.numpy()))
        actual = farpoint.gather(values, indices)
        assert actual.dtype == kind and torch.equal(actual, expected)
        assert torch.equal(torch.compile(farpoint.gather, fullgraph=True)(values, indices), expected)
        assert torch.equal(torch.vmap(farpoint.gather)(values, indices), expected)
        assert torch.equal(farpoint.gather(values[1], indices[1].int()), expected[1])
    nothing = farpoint.gather(values[0, :0], torch.tensor([-1, -1]))
    assert torch.equal(nothing, torch.zeros(2, 4, dtype=kind))


def test_gather_of_a_number_for_each_row():
    values, indices = torch.arange(10.0).requires_grad_(), torch.tensor([[3, -1, 9], [0, 0, 5]])
    result = farpoint.gather(values, indices)
    assert result.tolist() == [[3, 0, 9], [0, 0, 5]]
    result.sum().backward()
    assert values.grad.tolist() == [2, 0, 0, 1, 0, 1, 0, 0, 0, 1]
    assert farpoint.gather(values.detach().long(), indices[0]).tolist() == [3, 0, 9]


def test_an_index_is_pickled_and_copied():
    import copy
    import pickle

    y = torch.rand(2, 40, 3, generator=torch.Generator().manual_seed(1))
    x = y[:, :10] + 0.01
    for options in ({}, {"y_lengths": torch.tensor([40, 9])}):
        index = farpoint.Index(y, **options)
        expected = index.knn(x, 3)
        for again in (pickle.loads(pickle.dumps(index)), copy.deepcopy(index), copy.copy(index)):
            actual = again.knn(x, 3)
            assert all(torch.equal(a, b) for a, b in zip(actual, expected))
    assert repr(farpoint.Index(y)) == "farpoint.Index(torch.Tensor of shape (2, 40, 3) and type torch.float32)"
