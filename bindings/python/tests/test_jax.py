"""JAX on the CPU: jit, grad, jvp and vmap, beside calls of NumPy arrays and beside JAX's own operations."""

import numpy as np
import pytest
from conftest import cloud

import farpoint

jax = pytest.importorskip("jax", reason="jax is not installed")
import jax.numpy as jnp  # noqa: E402  (they need jax)
from jax.test_util import check_grads  # noqa: E402


@pytest.fixture(autouse=True)
def wide(request):
    """64 bits, if a test sets nothing else."""
    before, wide = jax.config.jax_enable_x64, getattr(request, "param", True)
    jax.config.update("jax_enable_x64", wide)
    with jax.default_device(jax.devices("cpu")[0]):
        yield wide
    jax.config.update("jax_enable_x64", before)


def normal(shape, seed, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


INDICES = np.random.default_rng(5).integers(-1, 7, (2, 6, 3))
LENGTHS = dict(x_lengths=np.array([6, 4]), y_lengths=np.array([2, 5]))
X, Y, VALUES, ADD = normal((2, 6, 3), 1), normal((2, 7, 3), 2), normal((2, 7, 4), 3), normal((2, 6, 3, 4), 4)
WEIGHTS = np.abs(normal((2, 6, 3), 6))


def at(values):
    """The indices of a cloud or of a batch, in the library of the values."""
    indices = (INDICES if values.ndim == 3 else INDICES[0]).astype(np.int32)
    return jnp.asarray(indices) if isinstance(values, jax.Array) else indices


CASES = {
    "sample": (lambda x: farpoint.sample(x, 4, return_distances=True), X),
    "sample, seed": (lambda x: farpoint.sample(x, 4, seed=3), X[0]),
    "sample, start": (lambda x: farpoint.sample(x, 4, start=2), X),
    "sample, lengths": (lambda x: farpoint.sample(x, 4, lengths=[6, 3]), X),
    "knn": (lambda x, y: farpoint.knn(x, y, 3), X, Y),
    "knn, plain": (lambda x, y: farpoint.knn(x, y, 3, squared=False), X, Y),
    "knn, norm 1": (lambda x, y: farpoint.knn(x, y, 3, norm=1, index_dtype="int32"), X, Y),
    "knn, lengths": (lambda x, y: farpoint.knn(x, y, 3, **LENGTHS), X, Y),
    "knn, one cloud": (lambda x, y: farpoint.knn(x, y, 3, exclude_self=True), X[0], Y[0]),
    "knn, offsets": (
        lambda x, y: farpoint.knn(x, y, 3, x_offsets=[0, 2, 6], y_offsets=[0, 4, 7]), X[0], Y[0]),
    "ball_query": (lambda x, y: farpoint.ball_query(x, y, 1.5, 4), X, Y),
    "nearest": (lambda x, y: farpoint.nearest(x, y), X, Y),
    "nearest, plain": (lambda x, y: farpoint.nearest(x, y, squared=False), X[0], Y[0]),
    "nearest_both": (lambda x, y: farpoint.nearest_both(x, y)[1], X, Y),
    "chamfer": (lambda x, y: farpoint.chamfer(x, y), X, Y),
    "chamfer of one pair": (lambda x, y: farpoint.chamfer(x, y), X[0], Y[0]),
    "chamfer, plain": (lambda x, y: farpoint.chamfer(x, y, squared=False, reduction="sum"), X, Y),
    "chamfer, max": (lambda x, y: farpoint.chamfer(x, y, reduction="max", norm=1), X, Y),
    "chamfer, lengths": (lambda x, y: farpoint.chamfer(x, y, one_sided=True, **LENGTHS), X, Y),
    "gather": (lambda v: farpoint.gather(v, at(v)), VALUES),
    "gather of numbers": (lambda v: farpoint.gather(v, at(v)), VALUES[0, :, 0]),
    "gather_max": (lambda v: farpoint.gather_max(v, at(v)), VALUES),
    "gather_max, add": (lambda v, a: farpoint.gather_max(v, at(v), a, threads=1), VALUES, ADD),
    "interpolate": (lambda v, w: farpoint.interpolate(v, at(v), w), VALUES, WEIGHTS),
    "weights": (lambda d: farpoint.inverse_distance_weights(d, 1, 0.1, squared=False), WEIGHTS),
    "weights of neighbors": (lambda x, y: farpoint.inverse_distance_weights(farpoint.knn(x, y, 3)), X, Y),
}
DIFFERENTIABLE = [name for name in CASES if not name.startswith("sample")]


def parts_of(name, wide):
    return [part.astype(np.float64 if wide else np.float32) for part in CASES[name][1:]]


def same(actual, expected):
    """Bits and types, but for integers, which may be narrower, and radii."""
    for a, b in zip(jax.tree.leaves(tuple(actual) if isinstance(actual, tuple) else actual),
                    jax.tree.leaves(tuple(expected) if isinstance(expected, tuple) else expected)):
        assert np.asarray(a).dtype.kind == np.asarray(b).dtype.kind
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b, np.asarray(a).dtype))


@pytest.mark.parametrize("wide", [True, False], indirect=True, ids=["64 bits", "32 bits"])
@pytest.mark.parametrize("name", CASES)
def test_jit(name, wide):
    call, parts = CASES[name][0], parts_of(name, wide)
    compiled = jax.jit(lambda *parts: jax.tree.leaves(tuple_of(call(*parts))))
    for _ in range(2):  # the second time nothing is traced
        same(tuple(compiled(*parts)), tuple_of(call(*parts)))


def tuple_of(result):
    return tuple(result) if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", CASES)
def test_vmap(name, wide):
    """As calls one by one, of clouds and of batches; and twice mapped."""
    call, parts = CASES[name][0], parts_of(name, wide)
    stacked = [np.stack([part, np.flip(part, -2) if part.ndim > 1 else part[::-1], part * 2]) for part in parts]
    if "seed" in name:
        stacked = [part[:1] for part in stacked]  # clouds of a batch have starts of their own
    each = [tuple_of(call(*row)) for row in zip(*stacked)]
    expected = tuple(np.stack([np.asarray(part) for part in column]) for column in zip(*each))
    same(jax.vmap(lambda *parts: tuple_of(call(*parts)))(*stacked), expected)
    twice = jax.vmap(jax.vmap(lambda *parts: tuple_of(call(*parts))))(*[part[None] for part in stacked])
    same(tuple(part[0] for part in twice), expected)


def floats(result):
    """Floating-point parts of a result, with 0 where a neighbor is missing."""
    return [jnp.where(jnp.isinf(part), 0, part) for part in map(jnp.asarray, tuple_of(result))
            if jnp.issubdtype(part.dtype, jnp.floating)]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name, wide):
    call = jax.jit(lambda *parts: floats(CASES[name][0](*parts)))
    check_grads(call, parts_of(name, wide), order=2 if name in ("knn", "gather_max, add") else 1, modes=("fwd", "rev"))


@pytest.mark.parametrize("name", ["knn, plain", "chamfer", "interpolate"])
def test_transforms_of_transforms(name, wide):
    call, parts = CASES[name][0], parts_of(name, wide)

    def total(*parts):
        return sum((part ** 2).sum() for part in floats(call(*parts)))

    gradient = jax.grad(total)
    np.testing.assert_allclose(jax.jit(gradient)(*parts), gradient(*parts), rtol=1e-12)
    stacked = [np.stack([part, part * 2]) for part in parts]
    mapped = jax.vmap(gradient)(*stacked)
    np.testing.assert_allclose(mapped, [gradient(*row) for row in zip(*stacked)], rtol=1e-12)
    hessian = jax.jit(jax.hessian(total))(*parts)
    np.testing.assert_allclose(hessian, jax.jit(jax.jacrev(gradient))(*parts), rtol=1e-9, atol=1e-12)


def test_samples_are_constants(wide):
    x = parts_of("sample", wide)[0][0]
    slope = jax.grad(lambda x: farpoint.sample(x, 3, return_distances=True).distances[1:].sum())(x)
    assert (slope == 0).all()
    chosen = jax.grad(lambda x: x[farpoint.sample(x, 3)].sum())(x)
    assert (chosen[farpoint.sample(x, 3)] == 1).all() and chosen.sum() == 9


def test_mixed_arrays(wide):
    """One traced, the other not; and an index."""
    x, y = (jnp.asarray(part[0]) for part in parts_of("knn", wide))
    expected = farpoint.knn(x, y, 2)
    same(jax.jit(lambda x: tuple(farpoint.knn(x, y, 2)))(x), expected)
    same(jax.jit(lambda y: tuple(farpoint.knn(x, y, 2)))(y), expected)
    index = farpoint.Index(y)
    same(jax.jit(lambda x: tuple(index.knn(x, 2)))(x), expected)
    same(jax.jit(lambda i: farpoint.gather(y, i))(expected.indices), farpoint.gather(y, expected.indices))


def test_errors(wide):
    x = parts_of("sample", wide)[0]
    for call, text in (
        (lambda x: farpoint.within(x, x, 1.0), "differ in size.*outside of jax.jit"),
        (lambda x: farpoint.sample(x, ratio=0.5), "ratio=.*outside of jax.jit"),
        (lambda x: farpoint.sample(x, 3, lengths=x[:, 0, 0].astype(int)), "lengths can't be traced"),
        (lambda x: farpoint.Index(x), "Index can't be traced"),
        (lambda x: farpoint.sample_grid(x[0], 3), "can't be traced"),
        (lambda x: farpoint.knn(x.astype(int), x.astype(int), 2), "float32, float64 or float16"),
    ):
        with pytest.raises(TypeError, match=text):
            jax.jit(call)(x)
    with pytest.raises(Exception, match="cannot take 9 samples from a cloud of 6 points"):
        jax.block_until_ready(jax.jit(lambda x: farpoint.sample(x, 9))(x[0]))
    with jax.default_device("gpu"), pytest.raises(TypeError, match="is compiled for gpu; call it outside of jax.jit"):
        jax.eval_shape(lambda x: farpoint.sample(x, 3), x)


def test_a_cloud_of_many_points(wide):
    """More than one thread works while JAX waits."""
    x = cloud(20_000, dtype=np.float64 if wide else np.float32)
    found = jax.jit(lambda x: farpoint.knn(x, x, 8).indices)(x)
    same(found, farpoint.knn(x, x, 8).indices)
    same(jax.jit(lambda x: farpoint.sample(x, 500))(x), farpoint.sample(x, 500))
