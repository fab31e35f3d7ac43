"""Some rows of clouds on a GPU: what the CPU gives."""

import numpy as np
import pytest
from conftest import cloud, grid, needs_gpu, same

import farpoint

pytestmark = needs_gpu

CASES = [
    dict(count=300), dict(ratio=0.5), dict(spacing=0.1), dict(count=50, seed=3), dict(count=50, start=True),
    dict(count=50, non_finite="skip"),
]


def some(n, seed=0):
    return np.random.default_rng(seed).permutation(n)[: n // 3]


@pytest.mark.parametrize("options", CASES, ids=str)
@pytest.mark.parametrize("points", [cloud(3000), grid().astype(np.float64)], ids=["cloud", "ties"])
def test_tensors(cuda, points, options):
    rows = some(len(points))
    mask = np.zeros(len(points), bool)
    mask[rows] = True
    if options.get("non_finite"):
        points = points.copy()
        points[rows[[4, 8]]] = np.nan
    there = cuda.from_numpy(points).cuda()
    for given in (dict(rows=rows), dict(mask=mask)):
        options = dict(options)
        if "start" in options:
            options["start"] = int(rows[7])
        expected = farpoint.sample(points, **options, **given, return_distances=True)
        beside = {name: cuda.from_numpy(value).cuda() for name, value in given.items()}
        for how in (given, beside):
            actual = farpoint.sample(there, **options, **how, return_distances=True)
            assert actual.indices.is_cuda
            same(actual.indices, expected.indices)
            same(actual.distances, expected.distances)


def test_batches_of_tensors(cuda):
    batch = np.stack([cloud(2000, seed=s) for s in range(3)])
    mask = batch[..., 0] < np.array([0.5, 0.01, 0.3])[:, None]
    there, on_gpu = cuda.from_numpy(batch).cuda(), cuda.from_numpy(mask).cuda()
    starts = [int(np.flatnonzero(own)[-1]) for own in mask]
    for options in (
        dict(count=100), dict(ratio=0.5), dict(count=9, start=starts), dict(count=100, lengths=[700, 2000, 2000]),
        dict(spacing=0.2), dict(count=9, non_finite="skip"),
    ):
        same(farpoint.sample(there, **options, mask=on_gpu), farpoint.sample(batch, **options, mask=mask))


def test_refused_as_on_the_cpu(cuda):
    points = cuda.from_numpy(cloud()).cuda()
    for options, text in (
        (dict(rows=[0, 300]), "row 300 at place 1"), (dict(rows=[4, 4]), "row 4 is selected twice"),
        (dict(rows=[3, 4], start=5), "start index 5 is not one"), (dict(mask=[True] * 9), "the mask is of shape"),
    ):
        with pytest.raises(ValueError, match=text):
            farpoint.sample(points, 1, **options)


@pytest.mark.parametrize("library", ["cupy", "jax.numpy"])
def test_other_libraries(library):
    arrays = pytest.importorskip(library, reason=f"{library} is not installed")
    points, rows = cloud(3000), some(3000)
    there = arrays.asarray(points)
    if library != "cupy" and there.device.platform != "gpu":
        pytest.skip("JAX has no GPU here")
    host = (lambda array: array.get()) if library == "cupy" else np.asarray
    for given in (dict(rows=rows), dict(mask=points[:, 0] < 0.4)):
        for options in (dict(count=99), dict(ratio=0.1, seed=1), dict(count=9, start=int(rows[3]))):
            if "start" in options and "mask" in given:
                continue
            expected = farpoint.sample(points, **options, **given)
            np.testing.assert_array_equal(host(farpoint.sample(there, **options, **given)), expected)
    batch = np.stack([points, cloud(3000, seed=4)])
    mask = batch[..., 0] < 0.02
    actual = farpoint.sample(arrays.asarray(batch), 100, mask=mask)
    np.testing.assert_array_equal(host(actual), farpoint.sample(batch, 100, mask=mask))
