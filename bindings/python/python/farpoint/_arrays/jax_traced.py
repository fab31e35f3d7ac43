"""Arrays that JAX traces (``jax.jit``, ``grad``, ``vmap``, ``jvp``) on the CPU. Results are those of ``numpy`` by
``jax.pure_callback``; derivatives are JAX's own operations on the indices. Lengths, offsets and starts must not be
traced. The functions implement ``interface.Library``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._records import Neighborhood, Sampling, Search, Sides
from . import numpy
from .conversion import name

#: What to do where a function has no rule for traced arrays.
_REMEDY = "call it outside of jax.jit, grad and vmap, where arrays have values"


def _outside(what: str, *_: Any, **__: Any) -> Any:
    raise TypeError(f"{what} can't be traced by JAX; {_REMEDY}")


def _host(
    function: Callable[..., Any], outputs: Any, arrays: tuple[Any, ...], folds: bool = True
) -> Any:
    """Calls a function of NumPy arrays when the traced code runs. ``folds``: arrays mapped by ``jax.vmap`` are one
    batch; else each is a call."""
    device = jax.config.jax_default_device or jax.devices()[0]
    platform = device if isinstance(device, str) else device.platform
    if platform != "cpu":
        raise TypeError(
            f"traced code of JAX reaches farpoint on the CPU only, and this is compiled for {platform}; {_REMEDY}, or "
            'trace under jax.default_device(jax.devices("cpu")[0])'
        )
    axes = [array.ndim for array in arrays]

    def call(*parts: Any) -> Any:
        parts = tuple([np.asarray(part) for part in parts])
        mapped = parts[0].shape[: parts[0].ndim - axes[0]]
        if not mapped:
            return _as(outputs, function(*parts), ())
        flat = [part.reshape(-1, *part.shape[len(mapped):]) for part in parts]
        if folds and axes[0] == 2:
            return _as(outputs, function(*flat), mapped)
        each = [_as(outputs, function(*row), ()) for row in zip(*flat)]
        return tuple([np.stack(part).reshape(*mapped, *part[0].shape) for part in zip(*each)])

    return jax.pure_callback(call, outputs, *arrays, vmap_method="broadcast_all")


def _as(outputs: tuple[Any, ...], results: Any, mapped: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Returns results in the shapes and dtypes that were declared."""
    return tuple([
        np.asarray(result, output.dtype).reshape((*mapped, *output.shape)) for output, result in zip(outputs, results)
    ])


def _index() -> Any:
    """Returns the widest dtype of indices."""
    return jnp.int64 if jax.config.jax_enable_x64 else jnp.int32


def _kind(array: Any) -> Any:
    """Returns the dtype of distances between points of this dtype."""
    if array.dtype not in (jnp.float16, jnp.float32, jnp.float64):
        raise TypeError(f"the points must be float32, float64 or float16 ({name(array)})")
    return jnp.float64 if array.dtype == jnp.float64 else jnp.float32


def _fixed(**arguments: Any) -> None:
    """Raises for arguments that are traced."""
    for what, value in arguments.items():
        if isinstance(value, jax.core.Tracer):
            raise TypeError(f"{what} can't be traced by JAX: give NumPy arrays, lists or numbers; or {_REMEDY}")


def _linear(call: Callable[..., Any], tangents: Callable[..., Any], *arrays: Any) -> Any:
    """Returns ``call(*arrays)``, floating-point results first. ``tangents`` returns those of the first result from the
    results, the arrays and their tangents."""

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def function(*arrays: Any) -> Any:
        return call(*arrays)

    @function.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: Any, of_primals: Any) -> Any:
        results = function(*primals)
        moved = tangents(results, primals, of_primals).astype(results[0].dtype)
        return results, (moved, *[np.zeros(part.shape, jax.dtypes.float0) for part in results[1:]])

    return function(*arrays)


# -------------------------------------------------------------------------------------- sampling


def sample(points: Any, request: Sampling) -> tuple[Any, Any, Any]:
    """Returns indices, distances or None, and covering radius, which are constants."""
    dynamic = request.count is None or request.deadline is not None
    if dynamic or request.out is not None or request.progress or request.skip_non_finite:
        _outside("sample with ratio=, spacing=, deadline=, out=, progress= or non_finite='skip'")
    selected = request.selected and tuple(request.selected)
    _fixed(start=request.start, lengths=request.lengths, rows=selected and selected[0], mask=selected and selected[1])
    kind, clouds = _kind(points), points.shape[:-2]
    indices = jax.ShapeDtypeStruct((*clouds, request.count), _index())
    outputs = indices, jax.ShapeDtypeStruct(indices.shape, kind), jax.ShapeDtypeStruct(clouds, kind)

    def call(array: Any) -> Any:
        results = numpy.sample(array, request)
        return results if request.distances else results[:1]

    usual = (request.start is None or isinstance(request.start, int)) and selected is None
    results = _host(call, outputs if request.distances else outputs[:1], (jax.lax.stop_gradient(points),), usual)
    return tuple(results) if request.distances else (results[0], None, None)


def ranges(firsts: list[int], counts: list[int], points: Any) -> Any:
    """Returns ``counts[k]`` numbers from ``firsts[k]`` on for each k, concatenated."""
    return jnp.asarray(numpy.ranges(firsts, counts, None), _index())


# -------------------------------------------------------------------------------------- searches


def search(x: Any, y: Any, sides: Sides, request: Neighborhood, plain: bool) -> tuple[Any, ...]:
    """Returns distances, indices and counts of the neighbors of each point."""
    _fixed(**sides._replace(tree=None)._asdict())
    places, rows = (*x.shape[:-1], request.k), x.shape[:-1]
    index = jnp.int32 if request.narrow else _index()
    outputs = (
        jax.ShapeDtypeStruct(places, _kind(x)), jax.ShapeDtypeStruct(places, index), jax.ShapeDtypeStruct(rows, index)
    )

    whole = all(part is None for part in sides)

    def call(x: Any, y: Any) -> Any:
        return _host(lambda x, y: numpy.search(x, y, sides, request, False), outputs, (x, y), whole)

    def tangents(results: Any, primals: Any, of_primals: Any) -> Any:
        difference, moved = [
            a[..., None, :] - _taken(b, results[1]) for a, b in (primals, of_primals)
        ]
        return jnp.where(results[1] < 0, 0, _moved(difference, moved, request.norm))

    distances, *rest = _linear(call, tangents, x, y)
    return (_root(distances) if plain else distances, *rest)


def nearest(x: Any, y: Any, search: Search) -> tuple[Any, ...]:
    """Returns distances and indices of x, and of y in searches of both directions."""
    both = [(x, y, search.x_lengths, search.y_lengths), (y, x, search.y_lengths, search.x_lengths)]
    results: list[Any] = []
    for one, other, lengths, others in both if search.both else both[:1]:
        results += _nearest(one, other, lengths, others, search)
    return tuple(results)


def _nearest(x: Any, y: Any, x_lengths: Any, y_lengths: Any, how: Search) -> tuple[Any, Any]:
    _fixed(x_lengths=x_lengths, y_lengths=y_lengths)
    one = how._replace(x_lengths=x_lengths, y_lengths=y_lengths, both=False, plain=False, progress=False, cached=None)
    rows = x.shape[:-1]
    outputs = jax.ShapeDtypeStruct(rows, _kind(x)), jax.ShapeDtypeStruct(rows, _index())

    def call(x: Any, y: Any) -> Any:
        folds = x_lengths is y_lengths is None
        return _host(lambda x, y: numpy.nearest(x, y, one), outputs, (x, y), folds)

    def tangents(results: Any, primals: Any, of_primals: Any) -> Any:
        difference, moved = [a - _taken(b, results[1]) for a, b in (primals, of_primals)]
        return jnp.where(results[1] < 0, 0, _moved(difference, moved, how.norm))

    distances, indices = _linear(call, tangents, x, y)
    return _root(distances) if how.plain else distances, indices


def chamfer(x: Any, y: Any, search: Search) -> Any:
    """Returns one value per pair of clouds."""
    _fixed(x_lengths=search.x_lengths, y_lengths=search.y_lengths)
    how = search._replace(progress=False, cached=None)
    outputs = (jax.ShapeDtypeStruct(x.shape[:-2], _kind(x)),)

    def call(x: Any, y: Any) -> Any:
        folds = how.x_lengths is how.y_lengths is None
        return _host(lambda x, y: (numpy.chamfer(x, y, how),), outputs, (x, y), folds)

    def tangents(_: Any, primals: Any, of_primals: Any) -> Any:
        return jax.jvp(partial(_reduced, how=how), primals, of_primals)[1]

    return _linear(call, tangents, x, y)[0]


def _reduced(x: Any, y: Any, how: Search) -> Any:
    """Returns the Chamfer distance by JAX's operations on nearest points."""
    results = nearest(x, y, how)
    sides = []
    for distances, indices in zip(results[::2], results[1::2]):
        if how.reduction == "max":
            sides.append(distances.max(-1))
        else:
            count = (indices >= 0).sum(-1) if how.reduction == "mean" else 1
            sides.append(distances.sum(-1) / count)
    if len(sides) == 1:
        return sides[0]
    return jnp.maximum(*sides) if how.reduction == "max" else sides[0] + sides[1]


def _moved(difference: Any, moved: Any, norm: int) -> Any:
    """Returns the tangents of distances."""
    return ((2 * difference if norm == 2 else jnp.sign(difference)) * moved).sum(-1)


def _root(squares: Any) -> Any:
    """Returns square roots, whose derivative at 0 is 0."""
    return jnp.where(squares == 0, 0, jnp.sqrt(jnp.where(squares == 0, 1, squares)))


# ---------------------------------------------------------------------------------------- values


def gather(values: Any, indices: Any, threads: int | None) -> Any:
    """Returns the indexed rows."""
    if values.ndim == 1:
        return gather(values[:, None], indices, threads)[..., 0]
    outputs = (jax.ShapeDtypeStruct((*indices.shape, values.shape[-1]), values.dtype),)

    def call(values: Any, indices: Any) -> Any:
        return _host(lambda v, i: (numpy.gather(v, i, threads),), outputs, (values, indices))

    if not jnp.issubdtype(values.dtype, jnp.floating):
        return call(values, indices)[0]
    return _linear(call, lambda _, parts, moved: _taken(moved[0], parts[1]), values, indices)[0]


def gather_max(values: Any, indices: Any, add: Any, threads: int | None) -> Any:
    """Returns the maximum over the indexed rows."""
    outputs = (jax.ShapeDtypeStruct((*indices.shape[:-1], values.shape[-1]), values.dtype),)

    def call(values: Any, indices: Any, *add: Any) -> Any:
        arrays = (values, indices, *add)
        return _host(lambda v, i, *a: (numpy.gather_max(v, i, a[0] if a else None, threads),), outputs, arrays)

    def tangents(_: Any, primals: Any, of_primals: Any) -> Any:
        rows, sums, moved = primals[1], _taken(primals[0], primals[1]), _taken(of_primals[0], primals[1])
        for addend, of_addend in zip(primals[2:], of_primals[2:]):
            sums, moved = sums.astype(_kind(sums)) + addend, moved + of_addend
        none = (rows < 0)[..., None]
        chosen = jnp.argmax(jnp.where(none, -jnp.inf, sums), -2, keepdims=True)
        return jnp.take_along_axis(jnp.where(none, 0, moved), chosen, -2).squeeze(-2)

    return _linear(call, tangents, values, indices, *(() if add is None else (add,)))[0]


def interpolate(values: Any, indices: Any, weights: Any, threads: int | None) -> Any:
    """Returns weighted sums of the indexed rows."""
    outputs = (jax.ShapeDtypeStruct((*indices.shape[:-1], values.shape[-1]), values.dtype),)

    def call(*arrays: Any) -> Any:
        return _host(lambda v, i, w: (numpy.interpolate(v, i, w, threads),), outputs, arrays)

    def tangents(_: Any, primals: Any, of_primals: Any) -> Any:
        (rows, shares), (of_values, _, of_shares) = primals[1:], of_primals
        sums = _taken(of_values, rows) * shares[..., None] + _taken(primals[0], rows) * of_shares[..., None]
        return sums.sum(-2)

    return _linear(call, tangents, values, indices, weights)[0]


def weights(distances: Any, power: int, eps: float) -> Any:
    """Returns the weights of neighbors at these distances."""
    outputs = (jax.ShapeDtypeStruct(distances.shape, _kind(distances)),)

    def formula(distances: Any) -> Any:
        finite = jnp.isfinite(distances)
        raised = jnp.where(finite, 1 / (jnp.where(finite, distances, 1) ** power + eps), 0)
        total = raised.sum(-1, keepdims=True)
        return raised / jnp.where(total == 0, 1, total)

    def call(distances: Any) -> Any:
        return _host(lambda d: (numpy.weights(d, power, eps),), outputs, (distances,))

    return _linear(call, lambda _, parts, moved: jax.jvp(formula, parts, moved)[1], distances)[0]


def _taken(values: Any, indices: Any) -> Any:
    """Returns the indexed rows; zeros for -1."""
    flat = jnp.maximum(indices, 0).reshape(*values.shape[:-2], -1, 1)
    rows = jnp.take_along_axis(values, flat, -2).reshape(*indices.shape, values.shape[-1])
    return jnp.where((indices < 0)[..., None], 0, rows)


within = partial(_outside, "within, whose results differ in size,")
tree_of = partial(_outside, "an Index")
check_indices = partial(_outside, "check_indices")
sample_ragged = partial(_outside, "sample_ragged")
voxels = partial(_outside, "voxel_downsample, whose results differ in size,")
non_finite = partial(_outside, "check")
on_host = partial(_outside, "this function")
like = fill = on_host
