"""Drop-in replacements for PyTorch's libraries: against their documented behavior."""

import numpy as np
import pytest
from conftest import cloud, obvious_nearest, reference

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import chamfer_3d, kaolin, pointnet2_ops, pytorch3d, torch_cluster  # noqa: E402


def batch(b=3, n=60, d=3, seed=0):
    return torch.from_numpy(np.stack([cloud(n, d, seed=seed + s) for s in range(b)]))


def chosen(points, count, start=(0,)):
    return reference(points.numpy(), count, start)[0]


class TestPointnet2:
    def test_furthest_point_sample(self):
        points = batch()
        for function in (
            pointnet2_ops.furthest_point_sample, pointnet2_ops.farthest_point_sample,
            pointnet2_ops.FurthestPointSampling.apply,
        ):
            result = function(points, 10)
            assert result.dtype == torch.int32 and result.shape == (3, 10)
            for one, indices in zip(points, result):
                np.testing.assert_array_equal(indices, chosen(one, 10))

    def test_points_near_the_origin_count(self):
        points = torch.tensor([[[1.0, 0, 0], [0, 0, 0], [0.9, 0, 0]]])
        assert pointnet2_ops.furthest_point_sample(points, 2).tolist() == [[0, 1]]

    def test_gather_operation(self):
        features = batch().transpose(1, 2).contiguous().requires_grad_()
        index = pointnet2_ops.furthest_point_sample(features.transpose(1, 2), 10)
        result = pointnet2_ops.gather_operation(features, index)
        assert result.shape == (3, 3, 10)
        for k in range(3):
            torch.testing.assert_close(result[k], features[k][:, index[k].long()])
        result.sum().backward()
        assert features.grad.sum() == 90

    def test_stacks(self):
        points = torch.cat([batch(1, 20)[0], batch(1, 30, seed=5)[0]])
        counts = torch.tensor([20, 30], dtype=torch.int32)
        expected = [*chosen(points[:20], 5), *(20 + chosen(points[20:], 5))]
        actual = pointnet2_ops.stack_farthest_point_sample(points, counts, 5)
        assert actual.dtype == torch.int32 and actual.tolist() == expected
        ragged = pointnet2_ops.stack_farthest_point_sample(points, counts, [2, 3])
        assert ragged.tolist() == [*expected[:2], *expected[5:8]]
        ends = torch.tensor([20, 50], dtype=torch.int32), torch.tensor([5, 10], dtype=torch.int32)
        assert pointnet2_ops.farthest_point_sampling(points, *ends).tolist() == expected
        with pytest.raises(ValueError, match="cloud 0 of the batch: .* 21 .* 20"):
            pointnet2_ops.stack_farthest_point_sample(points, counts, 21)


class TestTorchCluster:
    points = torch.cat([batch(1, 20)[0], batch(1, 31, seed=5)[0]])
    of = torch.cat([torch.zeros(20), torch.ones(31)]).long()

    def test_counts_and_order(self):
        result = torch_cluster.fps(self.points, self.of, ratio=0.5, random_start=False)
        assert result.dtype == torch.int64
        assert result.tolist() == [*chosen(self.points[:20], 10), *(20 + chosen(self.points[20:], 16))]
        assert torch_cluster.fps(self.points, self.of, random_start=False).tolist() == result.tolist()
        by_ptr = torch_cluster.fps(self.points, ptr=torch.tensor([0, 20, 51]), random_start=False)
        assert by_ptr.tolist() == result.tolist()
        assert torch_cluster.fps(self.points, ptr=[0, 20, 51], random_start=False).tolist() == result.tolist()
        each = torch_cluster.fps(self.points, self.of, torch.tensor([0.1, 1.0]), False)
        assert len(each) == 2 + 31 and sorted(each[2:].tolist()) == list(range(20, 51))

    def test_one_cloud_of_any_width(self):
        assert torch_cluster.fps(self.points, random_start=False).tolist() == chosen(self.points, 26).tolist()
        flat = torch_cluster.fps(torch.tensor([0.0, 1.0, 5.0, 2.0]), None, 0.5, False)
        assert flat.tolist() == [0, 2]

    def test_random_starts_follow_the_generator(self):
        def starts():
            torch.manual_seed(4)
            return [torch_cluster.fps(self.points, self.of, 0.01)[0].item() for _ in range(20)]

        assert starts() == starts() and len(set(starts())) > 3

    def test_far_apart(self):
        """torch_cluster starts from a distance of 5e4 on CUDA."""
        points = torch.tensor([[0.0], [1000.0], [400.0], [1700.0]])
        assert torch_cluster.fps(points, ratio=1.0, random_start=False).tolist() == [0, 3, 1, 2]

    def test_empty_clouds_and_refusals(self):
        result = torch_cluster.fps(self.points, self.of, 0.1, False, batch_size=3)
        assert len(result) == 2 + 4
        for ratio in (1.5, -0.1):
            with pytest.raises(ValueError, match="ratio"):
                torch_cluster.fps(self.points, ratio=ratio)
        assert torch_cluster.fps(self.points, ratio=0.0).shape == (0,)
        with pytest.raises(ValueError, match="ascend"):
            torch_cluster.fps(self.points, self.of.flip(0))


class TestPytorch3d:
    def test_padding(self):
        points, lengths = batch(), torch.tensor([60, 20, 5])
        selected, indices = pytorch3d.sample_farthest_points(points, lengths, K=10)
        assert selected.shape == (3, 10, 3) and indices.dtype == torch.int64
        assert indices[2].tolist() == [*chosen(points[2, :5], 5), -1, -1, -1, -1, -1]
        assert indices[1].tolist() == chosen(points[1, :20], 10).tolist()
        torch.testing.assert_close(selected[0], points[0][indices[0]])
        assert (selected[2, 5:] == 0).all()

    def test_k_for_each(self):
        points = batch().requires_grad_()
        for counts in ([3, 7, 100], torch.tensor([3, 7, 100])):
            selected, indices = pytorch3d.sample_farthest_points(points, K=counts)
            assert indices.shape == (3, 100)
            assert (indices >= 0).sum(dim=1).tolist() == [3, 7, 60]
        selected.sum().backward()
        assert points.grad.sum() == 3 * 70
        assert pytorch3d.sample_farthest_points(batch())[1].shape == (3, 50)

    def test_random_starts(self):
        torch.manual_seed(1)
        points = batch(40)
        first = pytorch3d.sample_farthest_points(points, None, 2, True)[1][:, 0]
        assert len(first.unique()) > 10
        lengths = torch.ones(40, dtype=torch.int64)
        assert (pytorch3d.sample_farthest_points(points, lengths, 2, True)[1][:, 0] == 0).all()

    def test_chamfer_is_its_definition(self):
        x, y = batch(3, 20), batch(3, 30, seed=9)
        a = torch.cdist(x.double(), y.double()) ** 2
        loss, normals = pytorch3d.chamfer_distance(x, y)
        assert normals is None and loss.shape == ()
        expected = (a.amin(2).mean(1) + a.amin(1).mean(1)).mean()
        torch.testing.assert_close(loss.double(), expected, rtol=1e-5, atol=0)
        (dx, dy), _ = pytorch3d.chamfer_distance(x, y, batch_reduction=None, point_reduction=None)
        assert dx.shape == (3, 20) and dy.shape == (3, 30)
        side, _ = pytorch3d.chamfer_distance(x, y, single_directional=True, batch_reduction="sum")
        torch.testing.assert_close(side.double(), a.amin(2).mean(1).sum(), rtol=1e-5, atol=0)
        most, _ = pytorch3d.chamfer_distance(x, y, point_reduction="max", batch_reduction=None)
        expected = torch.maximum(a.amin(2).amax(1), a.amin(1).amax(1))
        torch.testing.assert_close(most.double(), expected, rtol=1e-5, atol=0)
        one, _ = pytorch3d.chamfer_distance(x, y, norm=1, point_reduction="sum")
        b = torch.cdist(x.double(), y.double(), p=1)
        expected = (b.amin(2).sum(1) + b.amin(1).sum(1)).mean()
        torch.testing.assert_close(one.double(), expected, rtol=1e-5, atol=0)

    def test_chamfer_with_lengths_weights_and_normals(self):
        x, y = batch(2, 20).requires_grad_(), batch(2, 30, seed=9)
        lengths, weights = torch.tensor([20, 7]), torch.tensor([0.25, 0.5])
        nx, ny = batch(2, 20, seed=3) - 0.5, batch(2, 30, seed=4) - 0.5
        loss, angle = pytorch3d.chamfer_distance(
            x, y, x_lengths=lengths, x_normals=nx, y_normals=ny, weights=weights
        )
        loss_sum = angle_sum = 0
        for k, n in enumerate(lengths.tolist()):
            a = torch.cdist(x[k, :n], y[k]) ** 2
            i, j = a.argmin(1), a.argmin(0)
            cosine = torch.nn.functional.cosine_similarity
            angles = (1 - cosine(nx[k, :n], ny[k][i]).abs()).mean() + (
                1 - cosine(ny[k], nx[k][j]).abs()).mean()
            loss_sum = loss_sum + weights[k] * (a.amin(1).mean() + a.amin(0).mean())
            angle_sum = angle_sum + weights[k] * angles
        torch.testing.assert_close(loss, loss_sum / 0.75, rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(angle, angle_sum / 0.75, rtol=1e-4, atol=1e-6)
        loss.backward()
        assert (x.grad[1, 7:] == 0).all() and (x.grad[1, :7] != 0).any()

    def test_pointclouds_are_unpacked(self):
        class Pointclouds:
            def points_padded(self):
                return batch(2, 20)

            def num_points_per_cloud(self):
                return torch.tensor([20, 7])

            def normals_padded(self):
                return None

        loss, _ = pytorch3d.chamfer_distance(Pointclouds(), batch(2, 30, seed=9))
        expected, _ = pytorch3d.chamfer_distance(
            batch(2, 20), batch(2, 30, seed=9), x_lengths=torch.tensor([20, 7]))
        torch.testing.assert_close(loss, expected)

    @pytest.mark.parametrize("options", [
        dict(batch_reduction="max"), dict(point_reduction="min"), dict(point_reduction=None),
        dict(norm=3), dict(weights=torch.tensor([-1.0, 1.0])), dict(weights=torch.ones(3)),
        dict(x_lengths=torch.tensor([21, 3])),
    ])
    def test_refused(self, options):
        with pytest.raises(ValueError):
            pytorch3d.chamfer_distance(batch(2, 20), batch(2, 20), **options)


def test_chamfer_3d():
    x, y = batch(2, 20), batch(2, 30, seed=9)
    dist1, dist2, idx1, idx2 = chamfer_3d.chamfer_3DDist()(x.requires_grad_(), y)
    assert idx1.dtype == idx2.dtype == torch.int32 and dist2.shape == (2, 30)
    for k in range(2):
        distances, indices = obvious_nearest(x[k].detach().numpy(), y[k].numpy())
        np.testing.assert_array_equal(dist1[k].detach(), distances)
        np.testing.assert_array_equal(idx1[k], indices)
    (dist1.mean() + dist2.mean()).backward()
    assert (x.grad != 0).any()


def test_kaolin():
    x, y = batch(2, 20), batch(2, 30, seed=9)
    distances, indices = kaolin.sided_distance(x, y)
    assert distances.shape == indices.shape == (2, 20) and indices.dtype == torch.int64
    a = torch.cdist(x.double(), y.double())
    actual = kaolin.chamfer_distance(x, y, w1=2.0, w2=0.5)
    expected = 2 * (a**2).amin(2).mean(1) + 0.5 * (a**2).amin(1).mean(1)
    torch.testing.assert_close(actual.double(), expected, rtol=1e-5, atol=0)
    plain = kaolin.chamfer_distance(x, y, squared=False)
    torch.testing.assert_close(plain.double(), a.amin(2).mean(1) + a.amin(1).mean(1), rtol=1e-5, atol=0)


def test_every_docstring_says_what_differs():
    for module in (pointnet2_ops, torch_cluster, pytorch3d, chamfer_3d, kaolin):
        text = "".join([module.__doc__ or ""] + [getattr(module, n).__doc__ or "" for n in module.__all__])
        assert "iffers" in text, module
