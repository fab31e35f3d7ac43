"""Replacements of torch_fps and torch_quickfps, beside the obvious loop."""

import numpy as np
import pytest
from conftest import cloud, reference

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint.compat import torch_fps, torch_quickfps  # noqa: E402  (they need torch)


def batch(b=4, n=40, dtype=np.float32, seed=1):
    """Clouds with ties and repeated points, and which of their points are valid."""
    points = np.round(np.stack([cloud(n, 3, dtype, seed + k) for k in range(b)]) * 4) / 4
    valid = np.random.default_rng(seed).random((b, n)) < 0.7
    return torch.from_numpy(points), torch.from_numpy(valid)


def by_loop(points, valid, k, start):
    """Rows of the obvious loop among the valid ones."""
    result = []
    for cloud_of, rows, first in zip(points.numpy(), valid.numpy(), start.tolist()):
        among = np.flatnonzero(rows)
        chosen, _ = reference(cloud_of[among], min(k, len(among)), [int(np.searchsorted(among, first))])
        result.append(np.pad(among[chosen], (0, max(0, k - len(among))), mode="edge"))
    return torch.from_numpy(np.stack(result))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_torch_fps(dtype):
    points, valid = batch(dtype=dtype)
    first = valid.int().argmax(1)
    precision = torch.from_numpy(np.zeros(0, dtype)).dtype
    rows = torch_fps.farthest_point_sampling(points, valid, 12, random_start=False, precision=precision)
    assert rows.dtype == torch.int64 and torch.equal(rows, by_loop(points, valid, 12, first))
    start = torch.stack([row.nonzero()[2, 0] for row in valid])
    rows = torch_fps.farthest_point_sampling(points, valid, 12, start_idx=start, precision=precision)
    assert torch.equal(rows, by_loop(points, valid, 12, start))
    outside = torch.stack([(~row).nonzero()[0, 0] for row in valid])
    rows = torch_fps.farthest_point_sampling(points, valid, 12, start_idx=outside, precision=precision)
    assert torch.equal(rows, by_loop(points, valid, 12, first)), "an invalid start is replaced"
    with pytest.raises(ValueError, match="fewer valid points"):
        torch_fps.farthest_point_sampling(points, valid, 39)
    assert torch_fps.farthest_point_sampling(points, valid, 0).shape == (4, 0)


def test_torch_fps_draws_its_start():
    points, valid = batch()
    rows = [torch_fps.farthest_point_sampling(points, valid, 5, generator=torch.Generator().manual_seed(seed))
            for seed in (1, 1, 2)]
    assert torch.equal(rows[0], rows[1]) and not torch.equal(rows[0], rows[2])
    assert valid.gather(1, rows[0]).all()
    assert torch.equal(rows[0], by_loop(points, valid, 5, rows[0][:, 0]))


def test_torch_fps_without_validation():
    """Few, no and only bad valid points: the last choice repeats."""
    points, valid = batch()
    valid[1, 3:], valid[2] = False, False
    valid[3], points[3] = True, torch.nan
    options = dict(random_start=False, validate=False)
    rows = torch_fps.farthest_point_sampling(points, valid, 6, **options)
    start = valid.int().argmax(1)
    few = int(valid[1].sum())
    assert few < 6 and torch.equal(rows[:2], by_loop(points[:2], valid[:2], 6, start[:2]))
    assert (rows[2:] == 0).all()
    rows, near = torch_fps.farthest_point_sampling_with_knn(points, valid, 6, 4, **options)
    assert torch.equal(near[2:], rows[2:, :, None].expand(-1, -1, 4))
    assert (near[1, :, few:] == rows[1, :, None]).all()


def test_torch_fps_neighbors_and_cells():
    points, valid = batch(dtype=np.float64)
    options = dict(random_start=False, precision=torch.float64)
    rows, near = torch_fps.farthest_point_sampling_with_knn(points, valid, 6, 5, **options)
    same, cells = torch_fps.farthest_point_sampling_with_assign(points, valid, 6, **options)
    assert torch.equal(rows, same) and torch.equal(rows, torch_fps.farthest_point_sampling(points, valid, 6, **options))
    centers = points.gather(1, rows.unsqueeze(-1).expand(-1, -1, 3))
    squares = (centers.unsqueeze(2) - points.unsqueeze(1)).square().sum(-1)
    expected = squares.masked_fill(~valid.unsqueeze(1), torch.inf).sort(stable=True).indices[..., :5]
    assert torch.equal(near, expected)
    assert torch.equal(cells[valid], squares.argmin(1)[valid])
    starts, counts = torch.tensor([0, 40, 80, 120]), torch.full((4,), 40)
    flat = torch_fps.nearest_assign(points.reshape(-1, 3), centers.reshape(-1, 3), starts, counts, 40, 6)
    assert torch.equal(flat.view(4, 40), squares.argmin(1))


@pytest.mark.parametrize("masked", [False, True])
def test_torch_quickfps(masked):
    points, valid = batch()
    mask = valid.view(2, 2, 40) if masked else None
    valid = valid if masked else torch.ones_like(valid)
    x = points.view(2, 2, 40, 3).clone().requires_grad_()
    common = int(valid.all(0).nonzero()[0, 0])
    chosen, rows = torch_quickfps.sample(x, 9, start_idx=common, mask=mask, h=3, low_d=2)
    expected = by_loop(points, valid, 9, torch.full((4,), common))
    assert torch.equal(rows.view(4, 9), expected) and rows.shape == (2, 2, 9)
    assert torch.equal(chosen, x.gather(2, rows.unsqueeze(-1).expand(-1, -1, -1, 3)))
    chosen.sum().backward()
    assert torch.equal(x.grad.sum(-1).nonzero().shape[0] * torch.ones(()), torch.tensor(36.0))
    alone = torch_quickfps.sample_idx_baseline(x[0, 0], 9, start_idx=common, mask=None if mask is None else mask[0, 0])
    assert torch.equal(alone, expected[0])
    assert torch.equal(torch_quickfps.sample(x, 9, start_idx=common, mask=mask, return_points=False), rows)
    if masked:
        rows = torch_quickfps.sample_idx(points, 9, mask=valid)
        assert torch.equal(rows, by_loop(points, valid, 9, valid.int().argmax(1)))


def test_torch_quickfps_draws_and_refuses():
    points, valid = batch()
    torch.manual_seed(3)
    rows = torch_quickfps.sample_idx(points, 5)
    torch.manual_seed(3)
    assert torch.equal(rows, torch_quickfps.sample_idx(points, 5))
    assert torch.equal(rows, by_loop(points, torch.ones_like(valid), 5, rows[:, 0]))
    for arguments, text in (((0,), "k is 0"), ((41,), "k is 41"), ((5, None, 40), "start_idx is 40"),
                            ((39, None, None, valid), "fewer than k = 39"), ((5, None, None, valid[0]), "mask must")):
        with pytest.raises(ValueError, match=text):
            torch_quickfps.sample_idx(points, *arguments)
    with pytest.raises(ValueError, match="excludes start_idx"):
        torch_quickfps.sample_idx(points, 2, start_idx=int((~valid[0]).nonzero()[0, 0]), mask=valid)
