"""On a GPU: the point operators give the bits of the CPU, wait for nothing, and can be captured, compiled and
differentiated."""

import numpy as np
import pytest
from conftest import in_ball, needs_gpu

import farpoint
from farpoint import neighbors

pytestmark = needs_gpu


def ties(shape, dtype=np.float32, seed=1):
    return (np.random.default_rng(seed).integers(0, 6, shape) / 4).astype(dtype)


def spread(shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).random(shape).astype(dtype)


def flat(result):
    parts = result if isinstance(result, (tuple, list)) else (result,)
    return [part.detach().cpu().numpy() if hasattr(part, "detach") else part for part in parts]


def same(actual, expected):
    """Types, shapes and bits."""
    actual, expected = flat(actual), flat(expected)
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        a, b = np.atleast_1d(a, b)  # a number has no view of another type
        assert np.array_equal(a.view(np.uint8), b.view(np.uint8)) or np.array_equal(a, b, equal_nan=True)


def moved(cuda, value):
    """Arrays as tensors on the GPU; other arguments as they are."""
    if isinstance(value, dict):
        return {name: moved(cuda, part) for name, part in value.items()}
    return cuda.from_numpy(value).cuda() if isinstance(value, np.ndarray) else value


@pytest.fixture(autouse=True)
def fresh(cuda, filled):
    """What is not written to is told."""


def on_gpu(cuda, function, *arrays, **options):
    result = function(*[moved(cuda, array) for array in arrays], **moved(cuda, options))
    same(result, function(*arrays, **options))
    return result


CLOUDS = [
    (ties((3, 40, 3)), ties((3, 50, 3), seed=2)), (ties((2, 40, 2), np.float64), ties((2, 9, 2), np.float64, 2)),
    (spread((3000, 3)), spread((5000, 3), seed=2)), (spread((2, 2500, 3)), spread((2, 12000, 3), seed=2)),
    (spread((70, 16)), spread((300, 16), seed=2)), (spread((900, 1), np.float64), spread((4000, 1), np.float64, 2)),
]
IDS = [f"{x.shape}-{y.shape}-{x.dtype}" for x, y in CLOUDS]


@pytest.mark.parametrize("x, y", CLOUDS, ids=IDS)
@pytest.mark.parametrize("k", [1, 3, 16, 40])
def test_knn(cuda, x, y, k):
    on_gpu(cuda, farpoint.knn, x, y, k=k)
    on_gpu(cuda, farpoint.knn, x, y, k=k, norm=1, index_dtype="int32")
    on_gpu(cuda, farpoint.knn, x, x, k=k, exclude_self=True, squared=False)


@pytest.mark.parametrize("x, y", CLOUDS, ids=IDS)
@pytest.mark.parametrize("k", [1, 8, 33, None])
def test_ball_query(cuda, x, y, k):
    for radius in (0.05, 0.6):
        for options in ({}, {"order": "nearest"}, {"inclusive": True, "min_radius": 0.25}):
            on_gpu(cuda, in_ball, x, y, radius=radius, k=k, **options)
    on_gpu(cuda, neighbors.ball_query_raw, x, y, k=k, maximum=0.25, minimum=0.1, near=1e-5, index_dtype="int32")


def test_a_cloud_in_itself_is_one_memory(cuda):
    x = ties((700, 3))
    tensor = moved(cuda, x)
    for exclude_self in (False, True):
        result = farpoint.knn(tensor, tensor, 9, exclude_self=exclude_self)
        same(result, farpoint.knn(x, x, 9, exclude_self=exclude_self))


@pytest.mark.parametrize("n, m", [(60, 80), (700, 3000)])
def test_lengths_and_offsets(cuda, n, m):
    x, y = spread((3, n, 3)), spread((3, m, 3), seed=2)
    lengths = {"x_lengths": np.array([n, 1, 7]), "y_lengths": np.array([m, 5, 1])}
    ends = {"x_offsets": np.array([0, n // 3, n // 3, n]), "y_offsets": np.array([0, m // 2, m - 3, m])}
    for function, options in (
        (farpoint.knn, {"k": 6}), (farpoint.ball_query, {"k": 6, "radius": 0.2}),
        (farpoint.within, {"radius": 0.1}), (farpoint.within, {"radius": 0.1, "order": "nearest"}),
    ):
        on_gpu(cuda, function, x, y, **options, **lengths)
        on_gpu(cuda, function, x[0], y[0], **options, **ends)
    listed = {name: part.tolist() for name, part in ends.items()}
    on_gpu(cuda, farpoint.knn, x[0], y[0], k=3, **listed)


def test_strides(cuda):
    x, y = spread((3, 200, 6)), spread((3, 300, 6), seed=2)
    a, b = moved(cuda, x), moved(cuda, y)
    expected = farpoint.knn(x[..., 2:5], y[..., 2:5], 4)
    same(farpoint.knn(a[..., 2:5], b[..., 2:5], 4), expected)
    same(farpoint.knn(a[:, ::2, :3], b[:, :100, :3], 4), farpoint.knn(x[:, ::2, :3], y[:, :100, :3], 4))
    turned = a.transpose(0, 1).contiguous().transpose(0, 1)
    same(farpoint.knn(turned, b, 4), farpoint.knn(x, y, 4))


@pytest.mark.parametrize("shape", [(5000, 3), (2, 9000, 3), (300, 3)])
def test_index(cuda, shape):
    y, x = spread(shape), spread((*shape[:-2], 800, 3), seed=2)
    index, host = farpoint.Index(moved(cuda, y)), farpoint.Index(y)
    tensor = moved(cuda, x)
    same(index.knn(tensor, 8), host.knn(x, 8))
    same(index.knn(index.y, 8, exclude_self=True), host.knn(y, 8, exclude_self=True))
    for k in (8, None):
        same(in_ball(tensor, index, 0.1, k), in_ball(x, host, 0.1, k))
    same(index.nearest(tensor), farpoint.nearest(x, y))
    lengths = np.array([shape[-2] - 3, 40])[: shape[0]] if len(shape) == 3 else None
    if lengths is not None:
        index = farpoint.Index(moved(cuda, y), y_lengths=moved(cuda, lengths))
        same(index.knn(tensor, 5), farpoint.knn(x, y, 5, y_lengths=lengths))
    else:
        ends = {"x_offsets": [0, 300, 800], "y_offsets": [0, 100, shape[0]]}
        index = farpoint.Index(moved(cuda, y), y_offsets=ends["y_offsets"])
        same(index.knn(tensor, 5, x_offsets=ends["x_offsets"]), farpoint.knn(x, y, 5, **ends))


# --------------------------------------------------------------------------------------- values


def rows_of(shape, rows, dtype=np.int64, seed=4):
    return np.random.default_rng(seed).integers(-1, rows, shape).astype(dtype)


KINDS = [np.float32, np.float64, np.float16]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index_type", [np.int64, np.int32])
@pytest.mark.parametrize("channels", [1, 3, 64, 130])
def test_values(cuda, kind, index_type, channels):
    values, indices = ties((2, 300, channels), kind), rows_of((2, 500, 9), 300, index_type)
    add = ties((2, 500, 9, channels), kind, 5)
    weights = spread((2, 500, 9), np.float32 if kind == np.float16 else kind)
    for v, i, a, w in ((values, indices, add, weights), (values[1], indices[1], add[1], weights[1])):
        on_gpu(cuda, farpoint.gather, v, i)
        on_gpu(cuda, farpoint.gather, v, np.ascontiguousarray(i[..., 0]))
        on_gpu(cuda, farpoint.gather_max, v, i)
        on_gpu(cuda, farpoint.gather_max, v, i, a)
        on_gpu(cuda, farpoint.interpolate, v, i, w)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("power", [1, 2])
def test_weights(cuda, kind, power):
    distances = spread((2, 500, 3), kind)
    distances[0, 3, 1] = distances[1, 4] = np.inf
    distances[0, 5, 0] = 0
    on_gpu(cuda, lambda d: farpoint.inverse_distance_weights(d, power, squared=False), distances)


def test_bfloat16(cuda):
    values = cuda.randn(300, 64).bfloat16()
    indices, weights = cuda.from_numpy(rows_of((500, 9), 300)), cuda.rand(500, 9)
    add = cuda.randn(500, 9, 64).bfloat16()
    for call in (
        lambda v, i, w, a: farpoint.gather(v, i), lambda v, i, w, a: farpoint.gather_max(v, i, a),
        lambda v, i, w, a: farpoint.interpolate(v, i, w),
    ):
        result = call(*[part.cuda() for part in (values, indices, weights, add)])
        assert cuda.equal(result.cpu(), call(values, indices, weights, add))


@pytest.mark.parametrize("index", [300, -2, 2**40, -(2**40), 2**31])
def test_indices_out_of_range_give_zeros(cuda, index):
    values, indices = spread((300, 8)), rows_of((50, 4), 300)
    good = indices.copy()
    indices[7, 2], good[7, 2] = index, -1
    v, i = moved(cuda, values), moved(cuda, indices)
    weights = spread((50, 4))
    same(farpoint.gather(v, i), farpoint.gather(values, good))
    same(farpoint.gather_max(v, i), farpoint.gather_max(values, good))
    same(farpoint.interpolate(v, i, moved(cuda, weights)), farpoint.interpolate(values, good, weights))
    v.requires_grad_()
    (sent,) = cuda.autograd.grad(farpoint.gather(v, i).sum(), v)
    expected = cuda.from_numpy(values).requires_grad_()
    same(sent, cuda.autograd.grad(farpoint.gather(expected, cuda.from_numpy(good)).sum(), expected))
    with pytest.raises(IndexError, match=f"1 of the indices .* 300 rows, the first is {index} at place 30"):
        farpoint.operators.check_indices(i, 300)
    farpoint.operators.check_indices(moved(cuda, good), 300)


# ------------------------------------------------------------------------------------- gradients

FUNCTIONS = {
    "knn": (lambda x, y: farpoint.knn(x, y, 7).distances, ((2, 400, 3), (2, 500, 3))),
    "knn_norm_1": (lambda x, y: farpoint.knn(x, y, 7, norm=1).distances, ((2, 400, 3), (2, 500, 3))),
    "knn_plain": (lambda x, y: farpoint.knn(x, y, 3, squared=False).distances, ((400, 3), (3000, 3))),
    "narrow": (
        lambda x, y: farpoint.knn(x, y, 7, index_dtype="int32").distances, ((2, 400, 3), (2, 500, 3)),
    ),
    "ball": (lambda x, y: farpoint.ball_query(x, y, 0.3, 20).distances, ((400, 3), (3000, 3))),
    "all": (lambda x, y: farpoint.within(x, y, 0.2).distances, ((2, 400, 3), (2, 500, 3))),
    "offsets": (
        lambda x, y: farpoint.knn(x, y, 5, x_offsets=[0, 9, 400], y_offsets=[0, 50, 3000]).distances,
        ((400, 3), (3000, 3)),
    ),
    "gather": (lambda v: farpoint.gather(v, like(v, (2, 500, 9))), ((2, 300, 64),)),
    "gather_1": (lambda v: farpoint.gather(v, like(v, (500,))), ((300, 5),)),
    "gather_max": (
        lambda v, a: farpoint.gather_max(v, like(v, (2, 500, 9)), a), ((2, 300, 24), (2, 500, 9, 24)),
    ),
    "gather_max_alone": (lambda v: farpoint.gather_max(v, like(v, (2, 500, 9))), ((2, 300, 24),)),
    "interpolate": (
        lambda v, w: farpoint.interpolate(v, like(v, (2, 500, 3)), w), ((2, 300, 70), (2, 500, 3)),
    ),
    "weights": (lambda d: farpoint.inverse_distance_weights(d, 2, squared=False), ((2, 500, 3),)),
}


def like(values, shape):
    """Indices of rows beside the values, without a copy that graphs could not capture."""
    import torch

    key = values.device, shape, values.shape[-2]
    if key not in _indices:
        _indices[key] = torch.from_numpy(rows_of(shape, values.shape[-2])).to(values.device)
    return _indices[key]


_indices = {}


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_have_the_bits_of_the_cpu(cuda, name, kind):
    function, shapes = FUNCTIONS[name]
    inputs = [cuda.from_numpy(ties(shape, kind, k + 1) + spread(shape, kind, k)) for k, shape in enumerate(shapes)]
    runs = []
    for device in ("cpu", "cuda", "cuda"):
        own = [part.to(device).requires_grad_() for part in inputs]
        result = function(*own)
        grad = cuda.linspace(-1, 1, result.numel(), dtype=result.dtype).view(result.shape).to(device)
        runs.append((result, *cuda.autograd.grad(result, own, grad)))
    same(runs[1], runs[0])
    same(runs[2], runs[1])


@pytest.mark.parametrize("name", ["knn", "gather", "gather_max", "interpolate", "weights", "all"])
def test_second_order(cuda, name):
    function, shapes = FUNCTIONS[name]
    small = [tuple(min(size, 12) if axis < len(shape) - 1 else size for axis, size in enumerate(shape))
             for shape in shapes]
    if name in ("gather", "gather_max", "interpolate"):
        calls = {
            "gather": lambda v: farpoint.gather(v, like(v, (2, 6, 3))),
            "gather_max": lambda v, a: farpoint.gather_max(v, like(v, (2, 6, 3)), a),
            "interpolate": lambda v, w: farpoint.interpolate(v, like(v, (2, 6, 3)), w),
        }
        function = calls[name]
        small = [(2, 7, 4), (2, 6, 3, 4) if name == "gather_max" else (2, 6, 3)][: len(shapes)]
    inputs = [cuda.from_numpy(spread(shape, np.float64, k) * 3).cuda().requires_grad_()
              for k, shape in enumerate(small)]
    assert cuda.autograd.gradcheck(function, inputs, nondet_tol=0.0)
    assert cuda.autograd.gradgradcheck(function, inputs, nondet_tol=0.0)


# ----------------------------------------------------------------------------- streams and graphs


def network(x, y, values, add):
    """What a network does with a cloud: nothing here may wait."""
    ball = farpoint.ball_query(x, y, 0.2, 16, index_dtype="int32")
    near = farpoint.knn(x, y, 3)
    weights = farpoint.inverse_distance_weights(near)
    largest = farpoint.gather_max(values, ball.indices, add)
    mixed = farpoint.interpolate(values, near.indices, weights)
    return largest + mixed + farpoint.gather(values, near.indices).sum(-2)


def parts(cuda, n=500, m=2500, c=16):
    arrays = spread((2, n, 3)), spread((2, m, 3), seed=2), ties((2, m, c), seed=3), ties((2, n, 16, c), seed=4)
    return [moved(cuda, array) for array in arrays]


def test_nothing_waits(cuda):
    inputs = parts(cuda)
    network(*inputs)  # loads kernels
    inputs = [part.requires_grad_() for part in inputs]
    cuda.cuda.synchronize()
    cuda.cuda.set_sync_debug_mode("error")
    try:
        network(*inputs).sum().backward()
    finally:
        cuda.cuda.set_sync_debug_mode("default")


def test_current_stream(cuda):
    inputs = parts(cuda)
    expected = network(*inputs)
    stream = cuda.cuda.Stream()
    for _ in range(5):
        with cuda.cuda.stream(stream):
            late = [part.clone() for part in inputs]
            cuda.cuda._sleep(20_000_000)
            late = [part * 1 for part in late]
            actual = network(*late)
        cuda.cuda.current_stream().wait_stream(stream)
        same(actual, expected)


def test_graphs(cuda):
    inputs = [part.requires_grad_() for part in parts(cuda)]
    more = [part.detach().flip(-2).contiguous() for part in inputs]

    def step():
        result = network(*inputs)
        return (result, *cuda.autograd.grad(result.square().sum(), inputs))

    stream = cuda.cuda.Stream()
    stream.wait_stream(cuda.cuda.current_stream())
    with cuda.cuda.stream(stream):
        for _ in range(3):
            step()
    cuda.cuda.current_stream().wait_stream(stream)
    graph = cuda.cuda.CUDAGraph()
    with cuda.cuda.graph(graph):
        captured = step()
    for data in (more, [part.detach().clone() for part in inputs]):
        with cuda.no_grad():
            for part, new in zip(inputs, data):
                part.copy_(new)
        graph.replay()
        same(captured, step())


@pytest.mark.parametrize("how", ["aot_eager", "default"])
def test_compiled(cuda, how):
    cuda.compiler.reset()
    if how == "default":
        pytest.importorskip("triton", reason="triton is not installed")
    options = {"backend": how} if how == "aot_eager" else {}
    run = cuda.compile(network, fullgraph=True, **options)
    for n in (500, 520):
        inputs = [part.requires_grad_() for part in parts(cuda, n)]
        actual, expected = run(*inputs), network(*inputs)
        cuda.testing.assert_close(actual, expected)
        grad = cuda.ones_like(actual)
        for a, b in zip(cuda.autograd.grad(actual, inputs, grad), cuda.autograd.grad(expected, inputs, grad)):
            cuda.testing.assert_close(a, b)


def test_autocast(cuda):
    x, y, values, _ = parts(cuda)
    with cuda.autocast("cuda", dtype=cuda.float16):
        result = farpoint.knn(x.half(), y.half(), 3)
        half = farpoint.gather_max(values.half(), result.indices)
    assert result.distances.dtype == cuda.float32 and half.dtype == cuda.float16
    same(result, farpoint.knn(x.half(), y.half(), 3))


def test_vmap(cuda):
    x, y, values, add = parts(cuda)
    result = cuda.vmap(lambda x, y: farpoint.knn(x, y, 4).distances)(x, y)
    assert cuda.equal(result, farpoint.knn(x, y, 4).distances)


def test_memory_is_of_the_answer(cuda):
    """Nothing of size M * k * C is made by a maximum, nor of size N * M by a search."""
    x, y = (moved(cuda, spread((20_000, 3), seed=seed)) for seed in (1, 2))
    values, indices = cuda.rand(20_000, 128, device="cuda"), farpoint.knn(x, y, 32).indices
    for call, most in (
        (lambda: farpoint.gather_max(values, indices), 3 * values.nbytes),
        (lambda: farpoint.knn(x, y, 32), 4 * indices.nbytes),
    ):
        cuda.cuda.synchronize()
        cuda.cuda.reset_peak_memory_stats()
        before = cuda.cuda.memory_allocated()
        call()
        assert cuda.cuda.max_memory_allocated() - before < most


def test_nan_rows_are_no_neighbors(cuda):
    x, y = spread((50, 3)), spread((400, 3), seed=2)
    y[3], x[7] = np.nan, np.inf
    result = farpoint.knn(moved(cuda, x), moved(cuda, y), 400)
    assert result.counts.tolist() == [0 if row == 7 else 399 for row in range(50)]
    assert not (result.indices == 3).any() and result.indices[0, -1] == -1


def test_what_is_refused(cuda):
    x, y = moved(cuda, spread((5, 3))), moved(cuda, spread((6, 3)))
    with pytest.raises(TypeError, match="same device"):
        farpoint.knn(x, y.cpu(), 3)
    with pytest.raises(TypeError, match="one CUDA device"):
        farpoint.gather(y, cuda.zeros(3, dtype=cuda.int64))
    with pytest.raises(ValueError, match="no usable point"):
        farpoint.knn(x, y[:0], 3)
    with pytest.raises(ValueError, match="must ascend from 0 to 5"):
        farpoint.knn(x, y, 3, x_offsets=[0, 4], y_offsets=[0, 6])
    assert farpoint.knn(x[:0], y, 3).indices.shape == (0, 3)
    assert farpoint.within(x[:0], y, 1.0).offsets.tolist() == [0]
