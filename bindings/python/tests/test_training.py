"""Segmentation and detection code keeps working: a PointNet++ trains with farpoint inside."""

import pytest

pytest.importorskip("torch", reason="torch is not installed")


def test_pointnet_learns():
    from pointnet import train

    losses, right = train(25)
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5])
    assert right > 0.8


def test_training_repeats_itself():
    from pointnet import train

    assert train(3)[0] == train(3)[0]
