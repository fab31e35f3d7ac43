"""The obvious loops of the point operators and of their gradients, in NumPy: what every method, device and
binding must give bit by bit, apart from ``inverse_distance_weights_backward``, which is the formula.

Arrays are float32 or float64 and computed in their type, each operation rounded on its own; values of
float16 are computed in float32 and rounded once. Arguments, shapes and results are those of ``farpoint``.
"""

from collections import namedtuple

import numpy as np

Neighbors = namedtuple("Neighbors", "distances indices counts")
BallNeighbors = namedtuple("BallNeighbors", "distances indices offsets")


def raw_distances(x, y, norm=2):
    """(N, D) and (M, D) -> (N, M): sums over the axes, left to right, of squares or of absolute values."""
    total = None
    with np.errstate(over="ignore", invalid="ignore"):
        for axis in range(x.shape[1]):
            part = x[:, None, axis] - y[None, :, axis]
            part = part * part if norm == 2 else np.abs(part)
            total = part if total is None else total + part
    return np.zeros((len(x), len(y)), x.dtype) if total is None else total


def limit(radius, dtype, norm=2, inclusive=False):
    """The largest raw distance within a radius; -1 if there is none."""
    kind = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        raw = kind(radius) * kind(radius) if norm == 2 else kind(radius)
    return below(raw, inclusive)


def below(raw, inclusive):
    if inclusive:
        return raw
    return np.nextafter(raw, type(raw)(-1)) if raw > 0 else type(raw)(-1)


def clouds(x, y, x_lengths=None, y_lengths=None, x_offsets=None, y_offsets=None):
    """For each pair of clouds: where the rows of x that count lie in a flat x, and x and y, and the first
    row of y that indices count from."""
    if x_offsets is not None:
        for a, b, c, d in zip(x_offsets, x_offsets[1:], y_offsets, y_offsets[1:]):
            yield range(a, b), x[a:b], y[c:d], int(c)
    else:
        flat = (x[None], y[None]) if x.ndim == 2 else (x, y)
        for cloud, (own, other) in enumerate(zip(*flat)):
            n = len(own) if x_lengths is None else int(x_lengths[cloud])
            m = len(other) if y_lengths is None else int(y_lengths[cloud])
            yield range(cloud * len(own), cloud * len(own) + n), own[:n], other[:m], 0


def neighbor_rows(x, y, most, least, near, by_index, exclude_self, norm, **options):
    """For each row of a flat x: (distance, index) of all within the limits in the order they are kept;
    None for padding."""
    rows = [None] * int(np.prod(x.shape[:-1]))
    for places, own, other, first in clouds(x, y, **options):
        distances = raw_distances(own, other, norm)
        for query, place in enumerate(places):
            rows[place] = [
                (distances[query, j], j + first)
                for j in range(len(other))
                if distances[query, j] <= most
                and (distances[query, j] >= least or distances[query, j] <= near)
                and not (exclude_self and j == query)
            ]
            if not by_index:
                rows[place].sort()
    return rows


def answer(x, rows, k, squared, norm, index_dtype):
    """The k first of each row in arrays, or all of them."""
    index_dtype = np.int64 if index_dtype is None else index_dtype
    rooted = norm == 2 and not squared
    if k is None:
        kept = [row or [] for row in rows]
        pairs = [pair for row in kept for pair in row]
        distances = np.array([d for d, _ in pairs], x.dtype)
        offsets = np.cumsum([0] + [len(row) for row in kept], dtype=np.int64)
        indices = np.array([j for _, j in pairs], index_dtype)
        return BallNeighbors(np.sqrt(distances) if rooted else distances, indices, offsets)
    distances = np.full((len(rows), k), np.inf, x.dtype)
    indices = np.full((len(rows), k), -1, index_dtype)
    counts = np.zeros(len(rows), index_dtype)
    for place, row in enumerate(rows):
        if row is None:
            distances[place] = 0
            continue
        counts[place] = min(len(row), k)
        for j, (distance, index) in enumerate(row[:k]):
            distances[place, j], indices[place, j] = distance, index
    shape = x.shape[:-1]
    distances = (np.sqrt(distances) if rooted else distances).reshape(*shape, k)
    return Neighbors(distances, indices.reshape(*shape, k), counts.reshape(shape))


def knn(x, y, k, *, exclude_self=False, squared=True, norm=2, index_dtype=None, **options):
    """As ``farpoint.knn``."""
    rows = neighbor_rows(x, y, np.inf, 0, 0, False, exclude_self, norm, **options)
    return answer(x, rows, k, squared, norm, index_dtype)


def ball_query(
    x, y, radius, k, *, min_radius=0.0, order="index", inclusive=False, exclude_self=False,
    squared=True, norm=2, index_dtype=None, **options,
):
    """As ``farpoint.ball_query``."""
    most = limit(radius, x.dtype, norm, inclusive)
    least = limit(min_radius, x.dtype, norm, True)
    rows = neighbor_rows(x, y, most, least, 0, order == "index", exclude_self, norm, **options)
    return answer(x, rows, k, squared, norm, index_dtype)


def ball_query_raw(
    x, y, k, *, maximum, minimum=0.0, near=0.0, inclusive=False, order="index", exclude_self=False,
    squared=True, norm=2, index_dtype=None, **options,
):
    """As ``farpoint.neighbors.ball_query_raw``: limits as distances are computed, squared for norm 2."""
    kind = x.dtype.type
    most = below(kind(maximum), inclusive)
    rows = neighbor_rows(
        x, y, most, kind(minimum), kind(near), order == "index", exclude_self, norm, **options
    )
    return answer(x, rows, k, squared, norm, index_dtype)


def knn_backward(
    x, y, result, grad, *, squared=True, norm=2, x_offsets=None, y_offsets=None, **options
):
    """Gradients of x and y from that of ``found.distances``, (.., N, k). A row adds its own part, places
    ascending, then, in y, what it is sent by ascending (query, place)."""
    k = result.indices.shape[-1]
    flat_x, flat_y = x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1])
    grad_x, grad_y = np.zeros_like(flat_x), np.zeros_like(flat_y)
    distances, grad = result.distances.reshape(-1, k), grad.reshape(-1, k)
    for query, row in enumerate(result.indices.reshape(-1, k)):
        first = 0
        if x.ndim == 3 and len(flat_x):
            first = query // x.shape[1] * y.shape[1]
        for place, index in enumerate(row):
            if index < 0:
                continue
            g = grad[query, place]
            if norm == 2 and not squared:
                d = distances[query, place]
                g = g / (d + d) if d > 0 else x.dtype.type(0)
            for axis in range(x.shape[-1]):
                difference = flat_x[query, axis] - flat_y[first + index, axis]
                part = (g + g) * difference if norm == 2 else g * np.sign(difference)
                grad_x[query, axis] += part
                grad_y[first + index, axis] -= part
    return grad_x.reshape(x.shape), grad_y.reshape(y.shape)


def flat(values, indices):
    """Clouds (B, N, C) and flat places (B, P) of a gather, and the shape of its indices."""
    if values.ndim == 2:
        return values[None], indices.reshape(1, -1)
    return values, indices.reshape(len(values), int(np.prod(indices.shape[1:])))


def working(values):
    """The type that sums of such values have."""
    return np.float32 if values.dtype == np.float16 else values.dtype.type


def checked(values, places):
    if ((places < -1) | (places >= values.shape[1])).any():
        raise ValueError(f"an index is outside the {values.shape[1]} rows")


def gather(values, indices):
    """As ``farpoint.gather``."""
    of, places = flat(values, indices)
    checked(of, places)
    result = np.zeros((*places.shape, values.shape[-1]), values.dtype)
    for b, p in np.ndindex(*places.shape):
        if places[b, p] >= 0:
            result[b, p] = of[b, places[b, p]]
    return result.reshape(*indices.shape, values.shape[-1])


def gather_backward(values, indices, grad):
    """The gradient of the values: a row adds what it is sent by ascending place."""
    of, places = flat(values, indices)
    kind = working(values)
    result = np.zeros(of.shape, kind)
    grad = grad.reshape(*places.shape, values.shape[-1]).astype(kind)
    for b, p in np.ndindex(*places.shape):
        if places[b, p] >= 0:
            result[b, places[b, p]] += grad[b, p]
    return result.astype(values.dtype).reshape(values.shape)


def gather_max(values, indices, add=None):
    """As ``farpoint.gather_max``: the largest sums (.., M, C)."""
    return gather_max_with_places(values, indices, add)[0]


def gather_max_with_places(values, indices, add=None):
    """The largest sums (.., M, C), and the lowest place 0..k that has each; -1 if there is none."""
    k, channels = indices.shape[-1], values.shape[-1]
    of, places = flat(values, indices)
    checked(of, places)
    kind = working(values)
    places = places.reshape(len(of), -1, k)
    more = None if add is None else add.reshape(*places.shape, channels).astype(kind)
    best = np.zeros((*places.shape[:2], channels), kind)
    chosen = np.full(best.shape, -1, np.int64)
    for b, m, j in np.ndindex(*places.shape):
        if places[b, m, j] < 0:
            continue
        for c in range(channels):
            total = kind(of[b, places[b, m, j], c]) if kind != of.dtype else of[b, places[b, m, j], c]
            total = total if more is None else total + more[b, m, j, c]
            first = chosen[b, m, c] < 0
            better = not np.isnan(best[b, m, c]) and (np.isnan(total) or total > best[b, m, c])
            if first or better:
                best[b, m, c], chosen[b, m, c] = total, j
    shape = (*indices.shape[:-1], channels)
    return best.astype(values.dtype).reshape(shape), chosen.reshape(shape)


def gather_max_backward(values, indices, chosen, grad, add=None):
    """Gradients of the values and of ``add``: all of it to the chosen place."""
    k, channels = indices.shape[-1], values.shape[-1]
    of, places = flat(values, indices)
    kind = working(values)
    places = places.reshape(len(of), -1, k)
    chosen, grad = (part.reshape(*places.shape[:2], channels) for part in (chosen, grad))
    of_values = np.zeros(of.shape, kind)
    of_add = np.zeros((*places.shape, channels), kind)
    for b, m, c in np.ndindex(*chosen.shape):
        j = chosen[b, m, c]
        if j >= 0:
            of_values[b, places[b, m, j], c] += kind(grad[b, m, c])
            of_add[b, m, j, c] = grad[b, m, c]
    of_values = of_values.astype(values.dtype).reshape(values.shape)
    return of_values, None if add is None else of_add.astype(add.dtype).reshape(add.shape)


def interpolate(values, indices, weights):
    """As ``farpoint.interpolate``: products and sums rounded on their own, from 0, places ascending."""
    of, places = flat(values, indices)
    checked(of, places)
    k, kind = indices.shape[-1], working(values)
    places = places.reshape(len(of), -1, k)
    shares = weights.reshape(places.shape).astype(kind)
    result = np.zeros((*places.shape[:2], values.shape[-1]), kind)
    for b, m, j in np.ndindex(*places.shape):
        if places[b, m, j] >= 0:
            result[b, m] = result[b, m] + shares[b, m, j] * of[b, places[b, m, j]].astype(kind)
    return result.astype(values.dtype).reshape(*indices.shape[:-1], values.shape[-1])


def interpolate_backward(values, indices, weights, grad):
    """Gradients of the values, which add what they are sent by ascending place, and of the weights: 32
    partial sums over the channels c mod 32, then halves."""
    of, places = flat(values, indices)
    k, kind = indices.shape[-1], working(values)
    places = places.reshape(len(of), -1, k)
    shares = weights.reshape(places.shape).astype(kind)
    grad = grad.reshape(*places.shape[:2], values.shape[-1]).astype(kind)
    of_values, of_weights = np.zeros(of.shape, kind), np.zeros(places.shape, kind)
    for b, m, j in np.ndindex(*places.shape):
        if places[b, m, j] >= 0:
            row = of[b, places[b, m, j]].astype(kind)
            of_values[b, places[b, m, j]] += shares[b, m, j] * grad[b, m]
            of_weights[b, m, j] = halves(grad[b, m] * row)
    of_values = of_values.astype(values.dtype).reshape(values.shape)
    return of_values, of_weights.astype(weights.dtype).reshape(weights.shape)


def halves(parts):
    sums = np.zeros(32, parts.dtype)
    for c, part in enumerate(parts):
        sums[c % 32] += part
    while len(sums) > 1:
        sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
    return sums[0]


def inverse_distance_weights(distances, power=1, eps=1e-8):
    """As ``farpoint.inverse_distance_weights``."""
    inverse, total = _inverse(distances, power, eps)
    result = np.zeros_like(inverse)
    for row in np.ndindex(*total.shape):
        if total[row] > 0:
            result[row] = inverse[row] / total[row]
    return result


def _inverse(distances, power, eps):
    kind = distances.dtype.type
    inverse, total = np.zeros_like(distances), np.zeros(distances.shape[:-1], kind)
    for at in np.ndindex(*distances.shape):
        d = distances[at]
        if d != np.inf:
            inverse[at] = kind(1) / ((d * d if power == 2 else d) + kind(eps))
        total[at[:-1]] = total[at[:-1]] + inverse[at]
    return inverse, total


def inverse_distance_weights_backward(distances, grad, power=1, eps=1e-8):
    """The gradient of the distances, by the formula in float64."""
    distances, grad = distances.astype(np.float64), grad.astype(np.float64)
    inverse, total = _inverse(distances, power, eps)
    weights = inverse_distance_weights(distances, power, eps)
    result = np.zeros_like(distances)
    for row in np.ndindex(*total.shape):
        if total[row] > 0:
            of_inverse = (grad[row] - (grad[row] * weights[row]).sum()) / total[row]
            d = np.where(np.isinf(distances[row]), 0, distances[row])
            slope = np.ones_like(d) if power == 1 else 2 * d
            result[row] = -of_inverse * inverse[row] * inverse[row] * slope
    return result
