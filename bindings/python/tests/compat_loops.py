"""What libraries document of their point operators, as plain loops over NumPy arrays. Nothing of farpoint's."""

import numpy as np


def squared(p, q):
    """Squared distance in the type of the points, axis by axis."""
    total = None
    for a, b in zip(p, q):
        part = (a - b) * (a - b)
        total = part if total is None else total + part
    return total


def ball(center, points, radius, k, least=0.0):
    """The first k points within a radius, by index; left over places repeat the first, or are 0."""
    kind = points.dtype.type
    most, least = kind(radius) * kind(radius), kind(least) * kind(least)
    result = []
    for j, point in enumerate(points):
        d = squared(center, point)
        if d == 0 or least <= d < most:
            result.append(j)
    result = result[:k] if most > 0 else []
    return result + [result[0] if result else 0] * (k - len(result)), bool(result)


def nearest(center, points, k):
    """Plain distances and indices of the k nearest, the lowest index first among equals."""
    order = sorted((squared(center, point), j) for j, point in enumerate(points))[:k]
    return [float(np.sqrt(d)) for d, _ in order], [j for _, j in order]


def same_roots(actual, expected):
    """Plain distances. PyTorch's square root on the CPU may be off by the last bit."""
    actual = actual.numpy()
    missing = np.isinf(expected)
    np.testing.assert_array_equal(np.isinf(actual), missing)
    expected = np.where(missing, 0, expected).astype(actual.dtype)
    np.testing.assert_array_max_ulp(np.where(missing, actual.dtype.type(0), actual), expected, 1)


def balls(points, centers, radius, k, least=0.0):
    """For batches: (B, M, k)."""
    return np.array([
        [ball(center, cloud, radius, k, least)[0] for center in own]
        for cloud, own in zip(points, centers)
    ])


def threes(unknown, known):
    """For batches: distances and indices (B, n, 3); infinity and 0 where there are fewer."""
    distances = np.full((*unknown.shape[:2], 3), np.inf, unknown.dtype)
    indices = np.zeros((*unknown.shape[:2], 3), np.int64)
    for b, m in np.ndindex(*unknown.shape[:2]):
        d, j = nearest(unknown[b, m], known[b], 3)
        distances[b, m, : len(d)], indices[b, m, : len(j)] = d, j
    return distances, indices


def group(features, indices):
    """(B, C, N), (B, M, k) -> (B, C, M, k)."""
    clouds, channels = features.shape[:2]
    result = np.zeros((clouds, channels, *indices.shape[1:]), features.dtype)
    for b, m, j in np.ndindex(*indices.shape):
        result[b, :, m, j] = features[b, :, indices[b, m, j]]
    return result


def interpolated(features, indices, weights):
    """(B, C, m), (B, n, 3), (B, n, 3) -> (B, C, n)."""
    result = np.zeros((*features.shape[:2], indices.shape[1]), features.dtype)
    for b, m, j in np.ndindex(*indices.shape):
        result[b, :, m] += weights[b, m, j] * features[b, :, indices[b, m, j]]
    return result


def grouped_around(points, centers, indices, features=None):
    """Relative positions (B, 3, M, k), before the features if there are any."""
    positions = group(points.transpose(0, 2, 1), indices) - centers.transpose(0, 2, 1)[..., None]
    if features is None:
        return positions
    return np.concatenate([positions, group(features, indices)], axis=1)
