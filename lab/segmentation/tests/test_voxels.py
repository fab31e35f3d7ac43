"""Voxels, crops, augmentation and channels."""

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from segmentation_scenes import room, turn  # noqa: E402

from farpoint_segmentation.recipes import recipe  # noqa: E402
from farpoint_segmentation.transforms import (  # noqa: E402
    Cloud, channels, crop, height_axis, prepare_scene, prepare_training, prepare_validation,
)
from farpoint_segmentation.voxels import (  # noqa: E402
    choose, draw, hashes, sub_cloud, voxels,
)


def a_cloud(points=1500, seed=1):
    made = room(points, seed)
    return Cloud(*(torch.from_numpy(np.asarray(part)) for part in made))


def obvious_hash(cell):
    """In whole numbers without a limit."""
    result = 14695981039346656037
    for value in cell:
        result = (result * 1099511628211) % 2**64 ^ int(value)
    return result


def obvious_voxels(points, size):
    """Lists of indices, in the order of the hash."""
    cells = np.floor((points - points.min(axis=0)) / np.float32(size)).astype(int)
    groups = {}
    for row, cell in enumerate(cells):
        groups.setdefault(tuple(cell), []).append(row)
    return [groups[cell] for cell in sorted(groups, key=obvious_hash)]


@pytest.mark.parametrize("size", [0.04, 0.3, 100.0])
def test_voxels_come_in_the_order_of_the_hash(size):
    points = room(700)[0] - np.float32(2)
    expected = obvious_voxels(points, size)
    actual = voxels(torch.from_numpy(points), size)
    assert int(actual.total) == len(expected)
    for part in (actual, actual.compact()):
        assert part.counts[: len(expected)].tolist() == [len(group) for group in expected]
        assert actual.order.tolist() == [row for group in expected for row in group]
    assert (actual.counts[len(expected):] == 0).all() and (actual.starts[len(expected):] == 700).all()


def test_hashes_have_all_bits():
    cells = np.random.default_rng(1).integers(0, 2000, (50, 3))
    result = hashes(torch.from_numpy(cells)).numpy().view(np.uint64)
    assert result.tolist() == [obvious_hash(cell) for cell in cells]


def test_points_are_drawn_as_openpoints_draws_them():
    points = torch.from_numpy(room(900)[0])
    result = voxels(points, 0.3).compact()
    groups = obvious_voxels(points.numpy(), 0.3)
    counts = np.array([len(group) for group in groups])
    state, theirs = np.random.RandomState(0), np.random.RandomState(0)
    for _ in range(2):  # the second scene of a set
        chosen = choose(result, state)
        places = np.cumsum(np.insert(counts, 0, 0)[:-1]) + theirs.randint(0, counts.max(), counts.size) % counts
        assert chosen.tolist() == np.concatenate(groups)[places].tolist()
    skipping = np.random.RandomState(0)
    draw(skipping, int(counts.max()), len(counts))
    assert choose(result, skipping).tolist() == chosen.tolist()


def test_sub_clouds_have_all_points():
    points = torch.from_numpy(room(900)[0])
    result = voxels(points, 0.3).compact()
    fullest = int(result.counts.max())
    parts = [sub_cloud(result, number) for number in range(fullest)]
    assert fullest > 3 and all(len(part) == len(result.counts) for part in parts)
    assert torch.cat(parts).unique().tolist() == list(range(900))
    groups = obvious_voxels(points.numpy(), 0.3)
    assert parts[3].tolist() == [group[3 % len(group)] for group in groups]


class TestCrop:
    def test_the_nearest_voxels(self):
        cloud = a_cloud()._replace(labels=torch.arange(1500))
        alone = cloud.rows(choose(voxels(cloud.points, 0.3).compact(), np.random.RandomState(0)))
        result = crop(alone, 0.001, 100, torch.Generator().manual_seed(1))
        rows = result.labels
        assert torch.equal(result.points, cloud.points[rows] - cloud.points[rows].amin(dim=0))
        assert torch.equal(result.colors, cloud.colors[rows])
        # The same points in another order as the nearest of one of them.
        nearest = torch.cdist(alone.points, alone.points).topk(100, largest=False).indices
        sets = [set(alone.labels[one].tolist()) for one in nearest]
        assert sets.count(set(rows.tolist())) >= 1
        assert rows.tolist() not in [alone.labels[one].tolist() for one in nearest]

    def test_a_point_of_each_voxel(self):
        cloud = a_cloud()._replace(labels=torch.arange(1500))
        rows = crop(cloud, 0.3, 100, torch.Generator().manual_seed(1)).labels
        cells = torch.floor((cloud.points - cloud.points.amin(dim=0)) / 0.3)[rows]
        assert len(cells.unique(dim=0)) == 100

    def test_few_points_are_repeated(self):
        cloud = a_cloud(40)
        total = int(voxels(cloud.points, 0.3).total)
        result = crop(cloud, 0.3, 3 * total + 1, torch.Generator().manual_seed(1))
        counts = result.points.unique(dim=0, return_counts=True)[1]
        assert sorted(counts.tolist()) == [3] * (total - 1) + [4]

    def test_a_seed_decides(self):
        cloud = a_cloud()
        first, again, other = (
            crop(cloud, 0.1, 50, torch.Generator().manual_seed(seed)).points for seed in (1, 1, 2)
        )
        assert torch.equal(first, again) and not torch.equal(first, other)


def seeded(data, cloud, seed=1, count=200, axis=2):
    generator = torch.Generator().manual_seed(seed)
    return prepare_training(cloud, recipe(data), count, axis, generator)


class TestTraining:
    @pytest.mark.parametrize("data", ["s3dis", "scannet", "semantickitti"])
    def test_shapes_and_seeds(self, data):
        cloud = a_cloud()
        if data == "semantickitti":
            points, _, labels = turn()
            cloud = Cloud(torch.from_numpy(points), None, torch.from_numpy(labels))
        points, features, labels = seeded(data, cloud)
        assert points.shape == (200, 3) and features.shape == (200, recipe(data).channels)
        assert labels.shape == (200,) and torch.isfinite(features).all()
        for again, same in ((1, True), (2, False)):
            assert torch.equal(seeded(data, cloud, again)[0], points) == same

    @pytest.mark.parametrize("data", ["s3dis", "scannet", "semantickitti"])
    def test_one_factor_for_all_axes_but_in_s3dis(self, data):
        """RandomScale of OpenPoints, beside its PointCloudScaling."""
        cloud = a_cloud()._replace(labels=torch.arange(1500))
        low, high = recipe(data).scale
        spreads = []
        for seed in range(5):
            generator = torch.Generator().manual_seed(seed)
            numbers = dataclasses.replace(recipe(data), jitter=None)
            points, _, rows = prepare_training(cloud, numbers, 100, 2, generator)
            apart = torch.pdist(cloud.points[rows].double())
            factors = (torch.pdist(points.double()) / apart)[apart > 0.1]
            assert low - 1e-4 < factors.min() and factors.max() < high + 1e-4
            spreads.append(float(factors.max() - factors.min()))
        assert min(spreads) > 0.005 if data == "s3dis" else max(spreads) < 1e-4

    def test_s3dis_is_centered_and_its_height_is_older(self):
        cloud = a_cloud()
        points, features, _ = seeded("s3dis", cloud)
        assert points[:, :2].mean(dim=0).abs().max() < 0.005 and abs(points[:, 2].min()) <= 0.02
        heights = features[:, 3]
        assert heights.min() == 0
        # Scaled and shaken afterwards.
        factor = points[:, 2].max() / heights.max()
        assert 0.88 < factor < 1.12 and factor != 1
        by_y = seeded("s3dis", cloud, axis=1)[1][:, 3]
        assert not torch.equal(by_y, heights) and by_y.min() == 0

    def test_semantickitti_keeps_up_and_distances(self):
        points, _, labels = turn()
        cloud = Cloud(torch.from_numpy(points), None, torch.from_numpy(labels))
        result, features, _ = seeded("semantickitti", cloud, count=1000)
        assert result.amin(dim=0).tolist() == [0, 0, 0]
        assert torch.equal(features[:, :3], result) and torch.equal(features[:, 3], result[:, 2])
        assert abs(result[:, 2].max() - 4) < 0.5  # scaled by 0.9 to 1.1, and never turned over

    def test_colors_are_dropped_and_contrasted_in_a_fifth(self):
        cloud = a_cloud(300)
        numbers = recipe("s3dis")
        mean, deviation = torch.tensor(numbers.color)
        colors = [
            (seeded("s3dis", cloud, seed, 50)[1][:, :3] * deviation + mean) * 255 for seed in range(200)
        ]
        dropped = [one for one in colors if one.abs().max() < 1e-3]
        changed = [
            one for one in colors if one.abs().max() >= 1e-3 and (one - one.round()).abs().max() > 0.01
        ]
        # Of 200: 40 and a fifth of the rest, or so.
        assert 20 <= len(dropped) <= 60 and 15 <= len(changed) <= 55
        assert all(one.min() > -0.1 and one.max() < 255.1 for one in colors)


class TestValidation:
    def test_channels_by_hand(self):
        points = torch.tensor([[1.0, 5.0, 3.0], [3.0, 4.0, 7.0]])
        colors = torch.tensor([[0, 128, 255], [10, 20, 30]], dtype=torch.uint8)
        cloud = Cloud(points, colors, torch.zeros(2, dtype=torch.long))
        mean, deviation = torch.tensor(recipe("s3dis").color)
        for axis, height in ((2, [0, 4]), (1, [1, 0])):
            placed, features = prepare_validation(cloud, recipe("s3dis"), axis)
            assert placed.tolist() == [[-1, 0.5, 0], [1, -0.5, 4]]
            torch.testing.assert_close(features[:, :3], (colors / 255 - mean) / deviation)
            assert features[:, 3].tolist() == height
        placed, features = prepare_validation(cloud, recipe("scannet"), 2)
        assert placed.tolist() == [[0, 1, 0], [2, 0, 4]] and torch.equal(features[:, :3], placed)
        mean, deviation = torch.tensor(recipe("scannet").color)
        torch.testing.assert_close(features[:, 3:6], (colors / 255 - mean) / deviation)
        assert features[:, 6].tolist() == [0, 4]
        _, features = prepare_validation(cloud, recipe("semantickitti"), 2)
        assert features.tolist() == [[0, 1, 0, 0], [2, 0, 4, 4]]

    def test_the_origin_of_s3dis_is_the_lowest_of_all_points(self):
        """Also of those that stand for no voxel; of other data sets it is that of the chosen points."""
        points = torch.tensor([[1.0, 4.0, 3.0], [3.0, 5.0, 7.0], [0.75, 3.5, 2.75]])
        cloud = Cloud(points, torch.full((3, 3), 7, dtype=torch.uint8), torch.zeros(3, dtype=torch.long))
        chosen = torch.tensor([0, 1])
        for network, heights in (("pointvector-l", [0.25, 4.25]), ("pointmetabase-l", [0.5, 1.5])):
            placed, features = prepare_scene(cloud, chosen, recipe("s3dis"), network)
            assert placed.tolist() == [[-1, -0.5, 0], [1, 0.5, 4]] and features[:, 3].tolist() == heights
        for data in ("scannet", "semantickitti"):
            placed, features = prepare_scene(cloud, chosen, recipe(data), "pointmetabase-l")
            assert placed.tolist() == [[0, 0, 0], [2, 1, 4]] and features[:, -1].tolist() == [0, 4]

    def test_networks_with_colors_need_them(self):
        cloud = Cloud(torch.rand(3, 3), None, torch.zeros(3, dtype=torch.long))
        with pytest.raises(ValueError, match="S3DIS need colors"):
            channels(cloud, recipe("s3dis"), 2)

    def test_which_axis_is_the_height(self):
        assert height_axis(recipe("s3dis"), "pointmetabase-l", "val") == 1
        assert height_axis(recipe("s3dis"), "pointmetabase-xl", "train") == 1
        for data, network, protocol in (
            ("s3dis", "pointmetabase-l", "test"), ("s3dis", "pointvector-l", "val"),
            ("scannet", "pointmetabase-l", "val"),
        ):
            assert height_axis(recipe(data), network, protocol) == 2
