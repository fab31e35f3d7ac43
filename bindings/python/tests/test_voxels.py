"""``voxel_downsample`` against loops, for NumPy arrays and for tensors with their gradients."""

import math

import farpoint
import numpy as np
import pytest
from conftest import cloud


def expected(points, size, origin, min_points=1, sort=False):
    """The rows of each voxel, by one row after another."""
    origin = points.min(0) if origin == "min" else np.zeros(points.shape[1], points.dtype)
    voxels = {}
    for row, point in enumerate(points):
        cell = tuple(int(c) for c in np.floor((point - origin) / points.dtype.type(size)))
        voxels.setdefault(cell, []).append(row)
    kept = [(cell, rows) for cell, rows in voxels.items() if len(rows) >= min_points]
    return sorted(kept) if sort else kept


def mean(values, rows):
    total = [math.nan] * values.shape[1]
    for c in range(values.shape[1]):
        total[c] = 0.0
        for row in rows:
            total[c] += float(values[row, c])
    return np.array([x / len(rows) for x in total]).astype(values.dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("origin", [None, "min"])
@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("min_points", [1, 3])
def test_against_loops(dtype, origin, sort, min_points):
    points = (cloud(500, 3) - 0.4).astype(dtype)
    features, labels = cloud(500, 5, seed=2).astype(dtype), np.arange(500) * 7 % 5
    kept = expected(points, 0.3, origin, min_points, sort)
    for threads in (1, 3):
        found = farpoint.voxel_downsample(
            points, 0.3, features=features, labels=labels, origin=origin, sort=sort, min_points=min_points,
            threads=threads,
        )
        assert found.cells.tolist() == [list(cell) for cell, _ in kept]
        assert found.counts.tolist() == [len(rows) for _, rows in kept]
        assert found.indices.tolist() == [rows[0] for _, rows in kept]
        inverse = np.full(500, -1)
        for voxel, (_, rows) in enumerate(kept):
            inverse[rows] = voxel
            assert np.array_equal(found.points[voxel], mean(points, rows))
            assert np.array_equal(found.features[voxel], mean(features, rows))
            counts = np.bincount(labels[rows])
            assert found.labels[voxel] == counts.argmax()
        assert np.array_equal(found.inverse, inverse)
        assert found.points.dtype == dtype and found.inverse.dtype == np.int64 and found.cells.dtype == np.int32
        assert found.offsets is None


@pytest.mark.parametrize("reduce", ["first", "center", "random"])
def test_chosen_points(reduce):
    points, colors = cloud(300, 3), np.arange(900, dtype=np.uint8).reshape(300, 3)
    found = farpoint.voxel_downsample(points, 0.4, reduce=reduce, seed=3, features=colors)
    assert np.array_equal(found.points, points[found.indices])
    assert np.array_equal(found.features, colors[found.indices])
    assert np.array_equal(found.inverse[found.indices], np.arange(len(found.counts)))
    again = farpoint.voxel_downsample(points, 0.4, reduce=reduce, seed=4)
    assert np.array_equal(found.indices, again.indices) == (reduce != "random")
    largest = farpoint.voxel_downsample(points, 0.4, reduce=reduce, features=points, feature_reduce="max")
    for voxel in range(len(found.counts)):
        assert np.array_equal(largest.features[voxel], points[found.inverse == voxel].max(0))


def test_batches():
    points, labels = np.stack([cloud(50, 3, seed=s) for s in range(3)]), np.arange(150).reshape(3, 50) % 4
    lengths, ends = [50, 0, 20], [0, 50, 50, 70]
    padded = farpoint.voxel_downsample(points, 0.5, features=points, labels=labels, lengths=lengths)
    rows = np.concatenate([cloud[:length] for cloud, length in zip(points, lengths)])
    ragged = farpoint.voxel_downsample(rows, 0.5, features=rows, offsets=ends)
    assert ragged.offsets.tolist() == np.cumsum([0, *(padded.counts > 0).sum(1)]).tolist()
    for k, length in enumerate(lengths):
        alone = farpoint.voxel_downsample(
            points[k, :length], 0.5, features=points[k, :length], labels=labels[k, :length]
        )
        n = len(alone.counts)
        begin, end = ragged.offsets[k : k + 2]
        for field in ("points", "counts", "indices", "cells", "features", "labels"):
            part, whole = getattr(alone, field), getattr(padded, field)[k]
            assert np.array_equal(whole[:n], part)
            assert (whole[n:] == (-1 if field in ("indices", "labels") else 0)).all()
            if field != "labels":
                shift = ends[k] if field == "indices" else 0
                assert np.array_equal(getattr(ragged, field)[begin:end], part + shift)
        assert np.array_equal(padded.inverse[k, :length], alone.inverse) and (padded.inverse[k, length:] == -1).all()
        assert np.array_equal(ragged.inverse[ends[k] : ends[k + 1]], alone.inverse + begin)
    none = farpoint.voxel_downsample(rows[:0], 0.5, offsets=[0])
    assert none.points.shape == (0, 3) and none.offsets.tolist() == [0]


def test_non_finite_rows_and_arguments():
    points = cloud(20, 3).astype(np.float64)
    points[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        farpoint.voxel_downsample(points, 0.5)
    found = farpoint.voxel_downsample(points, 0.5, non_finite="skip", features=np.arange(20.0))
    assert found.inverse[7] == -1 and found.counts.sum() == 19 and found.features.ndim == 1
    good = cloud(20, 3)
    far = good.copy()
    far[3, 2] = 1e15
    for call, error, text in (
        (lambda: farpoint.voxel_downsample(far, 1e-3), ValueError, "row 3 .*axis 2"),
        (lambda: farpoint.voxel_downsample(good, 0), ValueError, "voxel size 0"),
        (lambda: farpoint.voxel_downsample(good, [1.0, 2.0]), ValueError, "2 voxel sizes for points of 3 axes"),
        (lambda: farpoint.voxel_downsample(good, "big"), TypeError, "size must be a number"),
        (lambda: farpoint.voxel_downsample(good, 1.0, origin="max"), ValueError, "origin is 'max'"),
        (lambda: farpoint.voxel_downsample(good, 1.0, origin=[1.0]), ValueError, "1 coordinates of the origin"),
        (lambda: farpoint.voxel_downsample(good, 1.0, reduce="sum"), ValueError, "reduce is 'sum'"),
        (lambda: farpoint.voxel_downsample(good, 1.0, feature_reduce="min"), ValueError, "feature_reduce"),
        (lambda: farpoint.voxel_downsample(good, 1.0, non_finite="drop"), ValueError, "non_finite"),
        (lambda: farpoint.voxel_downsample(good, 1.0, min_points=-1), ValueError, "min_points is -1"),
        (lambda: farpoint.voxel_downsample(good, 1.0, features=good[:7]), ValueError, "a row for each point"),
        (lambda: farpoint.voxel_downsample(good, 1.0, features=np.arange(20)), TypeError, "convert them"),
        (lambda: farpoint.voxel_downsample(good, 1.0, labels=np.arange(19)), ValueError, "labels must be of shape"),
        (lambda: farpoint.voxel_downsample(good, 1.0, labels=np.arange(20.0)), TypeError, "labels"),
        (lambda: farpoint.voxel_downsample(good, 1.0, offsets=[0, 19]), ValueError, "offsets must rise from 0 to 20"),
        (lambda: farpoint.voxel_downsample(good, 1.0, lengths=[3]), ValueError, "lengths are for a batch"),
        (lambda: farpoint.voxel_downsample(good[None], 1.0, offsets=[0, 20]), ValueError, "offsets are for points"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_half_precision_features_are_rounded_once():
    points, features = cloud(200, 3), cloud(200, 2, seed=5).astype(np.float16)
    found = farpoint.voxel_downsample(points, 0.5, features=features)
    for voxel in range(len(found.counts)):
        rows = np.flatnonzero(found.inverse == voxel)
        assert np.array_equal(found.features[voxel], mean(features.astype(np.float64), rows).astype(np.float16))


class TestTensors:
    torch = None

    @pytest.fixture(autouse=True)
    def _torch(self):
        self.torch = pytest.importorskip("torch", reason="torch is not installed")

    def test_same_as_numpy(self):
        points, features = cloud(100, 3), cloud(100, 4, seed=1)
        for options in ({}, {"reduce": "center"}, {"reduce": "center", "feature_reduce": "max"}):
            wanted = farpoint.voxel_downsample(points, 0.3, features=features, labels=np.arange(100) % 3, **options)
            tensors = [self.torch.from_numpy(array) for array in (points, features, np.arange(100) % 3)]
            for grad in (False, True):
                tensors[0].requires_grad_(grad)
                tensors[1].requires_grad_(grad)
                found = farpoint.voxel_downsample(tensors[0], 0.3, features=tensors[1], labels=tensors[2], **options)
                for a, b in zip(found[:7], wanted[:7]):
                    assert isinstance(a, self.torch.Tensor) and np.array_equal(a.detach().numpy(), b)
                assert found.points.requires_grad == grad == found.features.requires_grad

    @pytest.mark.parametrize("options", [{}, {"min_points": 2}, {"reduce": "first"}, {"feature_reduce": "max"}])
    def test_gradients(self, options):
        torch = self.torch
        points = torch.from_numpy(cloud(30, 2).astype(np.float64)).requires_grad_()
        features = torch.from_numpy(cloud(30, 3, seed=1).astype(np.float64)).requires_grad_()

        def call(p, f):
            # The voxels stay the same while the coordinates change by little.
            found = farpoint.voxel_downsample(p, 0.5, features=f, **options)
            return found.points, found.features

        assert torch.autograd.gradcheck(call, (points, features))
        assert torch.autograd.gradgradcheck(call, (points, features))

    def test_gradient_of_a_mean_is_a_share(self):
        torch = self.torch
        points = torch.tensor([[0.1], [5.0], [0.2], [0.3]], requires_grad=True)
        found = farpoint.voxel_downsample(points, 1.0)
        (found.points * torch.tensor([[1.0], [10.0]])).sum().backward()
        third = (torch.tensor(1.0).double() / 3).float()
        assert torch.equal(points.grad, torch.stack([third, torch.tensor(10.0), third, third]).reshape(4, 1))

    def test_padded_batch(self):
        torch = self.torch
        points = torch.from_numpy(np.stack([cloud(40, 3, seed=s) for s in range(2)])).requires_grad_()
        found = farpoint.voxel_downsample(points, 0.5, lengths=torch.tensor([40, 9]), features=points)
        assert torch.equal(found.points, found.features)
        found.points.sum().backward()
        assert (points.grad[1, 9:] == 0).all() and (points.grad[1, :9] != 0).all()
        half = farpoint.voxel_downsample(points.detach(), 0.5, features=points.detach().bfloat16())
        assert half.features.dtype == torch.bfloat16
