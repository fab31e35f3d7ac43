"""Transforms of clouds before a network: crops, augmentation in training, channels.

All run on the device of the tensors without synchronizing; random numbers come from a generator of that device,
and so from a seed. Order and parameters are those of OpenPoints and FastPoint; ``recipes`` has the parameters.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from .data.scene import Scene
from .recipes import Recipe
from .voxels import voxels

__all__ = [
    "Cloud", "channels", "cloud_of", "crop", "height_axis", "prepare_scene", "prepare_training", "prepare_validation",
]


class Cloud(NamedTuple):
    """Input points of a network.

    Attributes
    ----------
    points : tensor of float32, (N, 3)
        Coordinates in meters.
    colors : tensor of uint8 or float32, (N, 3), or None
        Colors from 0 to 255.
    labels : tensor of int64, (N,)
        Class indices; -1 for none.
    height : tensor of float32, (N, 1), or None
        Height above the lowest point, if it differs from that of ``points``.
    """

    points: Tensor
    colors: Tensor | None
    labels: Tensor
    height: Tensor | None = None

    def rows(self, indices: Tensor) -> Cloud:
        """Return these points."""
        colors = None if self.colors is None else self.colors[indices]
        height = None if self.height is None else self.height[indices]
        return Cloud(self.points[indices], colors, self.labels[indices], height)

    def to(self, device: torch.device) -> Cloud:
        """Return the cloud on a device."""
        colors = None if self.colors is None else self.colors.to(device)
        height = None if self.height is None else self.height.to(device)
        return Cloud(self.points.to(device), colors, self.labels.to(device), height)

    def copy(self) -> Cloud:
        """Return a copy."""
        return self.rows(torch.arange(len(self.points), device=self.points.device))

    def at_zero(self) -> Cloud:
        """Return the cloud with its minimum corner at the origin."""
        return self._replace(points=self.points - self.points.amin(dim=0))


def cloud_of(scene: Scene, device: torch.device) -> Cloud:
    """Return a scene's tensors on a device; colors stay uint8 until they are needed."""
    colors = None if scene.colors is None else torch.from_numpy(scene.colors)
    return Cloud(torch.from_numpy(scene.points), colors, torch.from_numpy(scene.labels)).to(device)


def height_axis(recipe: Recipe, network: str, protocol: str) -> int:
    """Return the axis of the height channel: z.

    For PointMetaBase on S3DIS it was y in training and validation; the test used z.
    """
    is_y = recipe.data == "s3dis" and network.startswith("pointmetabase") and protocol != "test"
    return 1 if is_y else 2


def prepare_training(
    cloud: Cloud, recipe: Recipe, count: int, axis: int, generator: Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Prepare a random crop of a scene for training.

    Parameters
    ----------
    cloud : Cloud
        Scene as read: colors from 0 to 255.
    recipe : Recipe
        Recipe of the dataset.
    count : int
        Number of points of the crop.
    axis : int
        Axis of the height: ``height_axis``.
    generator : torch.Generator
        Generator on the device of the cloud.

    Returns
    -------
    tuple of tensors, (count, 3), (count, C), (count,)
        Points, channels, labels.
    """
    if cloud.colors is not None:
        cloud = cloud._replace(colors=cloud.colors.float())
    if recipe.data != "s3dis":
        cloud = _augmented(cloud, recipe, generator)
    cloud = crop(cloud, recipe.voxel, count, generator)
    if recipe.data == "s3dis":
        cloud = _augmented(cloud._replace(height=_height(cloud.points, axis)), recipe, generator)
    return cloud.points, channels(cloud, recipe, axis), cloud.labels


def prepare_scene(cloud: Cloud, chosen: Tensor, recipe: Recipe, network: str) -> tuple[Tensor, Tensor]:
    """Prepare a scene for the protocol "val".

    On S3DIS the origin, and with it the height, is the minimum corner of all points, which OpenPoints subtracts before
    it chooses a point of each voxel. On the other datasets it subtracts that of the chosen points afterwards.

    Parameters
    ----------
    cloud : Cloud
        Scene as read.
    chosen : tensor of int64, (N,)
        Indices of a point of each voxel.
    recipe : Recipe
        Recipe of the dataset.
    network : str
        Name of the network, for ``height_axis``.

    Returns
    -------
    tuple of tensors, (N, 3) and (N, C)
        Points and channels.
    """
    origin = cloud.points.amin(dim=0) if recipe.data == "s3dis" else None
    return prepare_validation(cloud.rows(chosen), recipe, height_axis(recipe, network, "val"), origin)


def prepare_validation(
    cloud: Cloud, recipe: Recipe, axis: int, origin: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Prepare a cloud for evaluation; return points (N, 3) and channels (N, C).

    The origin, the minimum corner of the cloud unless set, is subtracted; S3DIS is then centered, with the height from
    before centering.
    """
    cloud = cloud._replace(points=cloud.points - (cloud.points.amin(dim=0) if origin is None else origin))
    if recipe.data == "s3dis":
        cloud = cloud._replace(height=cloud.points[:, axis : axis + 1], points=_centered(cloud.points))
    return cloud.points, channels(cloud, recipe, axis)


def channels(cloud: Cloud, recipe: Recipe, axis: int) -> Tensor:
    """Return the input channels of each point, (N, C): colors and height, xyz and colors and height, or xyz and
    height, by dataset. Colors are normalized here."""
    parts = [] if recipe.data == "s3dis" else [cloud.points]
    if recipe.color is not None:
        if cloud.colors is None:
            raise ValueError(f"networks for {recipe.title} need colors, and this cloud has none")
        mean, deviation = _color(recipe.color, cloud.points.device)
        parts.append((cloud.colors / 255 - mean) / deviation)
    height = _height(cloud.points, axis) if cloud.height is None else cloud.height
    return torch.cat([*parts, height], dim=1)


def crop(cloud: Cloud, size: float, count: int, generator: Generator) -> Cloud:
    """Return a random point of each of the voxels nearest to a random one: shuffled, repeated if they are fewer than
    ``count``, with the minimum corner at the origin."""
    occupied = voxels(cloud.points, size)
    device, rows = cloud.points.device, len(cloud.points)
    random = torch.rand(rows + 1, generator=generator, device=device, dtype=torch.float64)
    offsets = (random[:rows] * occupied.counts).long()
    # Padding beyond the last voxel refers to arbitrary points, at infinite distance.
    chosen = occupied.order[(occupied.starts + offsets).clamp_(max=rows - 1)]
    points = cloud.points[chosen]
    center = points.index_select(0, (random[rows:] * occupied.total).long())
    distances = (points - center).square().sum(dim=1)
    left_over = torch.arange(rows, device=device) >= occupied.total
    nearest = distances.masked_fill(left_over, math.inf).sort(stable=True).indices
    keys = torch.rand(count, generator=generator, device=device, dtype=torch.float64)
    shuffled = keys.argsort() % occupied.total.clamp(max=count)
    return cloud.rows(chosen[nearest[shuffled]]).at_zero()


@lru_cache
def _color(numbers: tuple[tuple[float, ...], ...], device: torch.device) -> tuple[Tensor, ...]:
    """Returns mean and deviation on a device; cached, since a copy synchronizes."""
    return torch.tensor(numbers, device=device).unbind(0)


def _height(points: Tensor, axis: int) -> Tensor:
    one = points[:, axis : axis + 1]
    return one - one.amin()


def _centered(points: Tensor) -> Tensor:
    """Returns points with the mean at the origin, and the lowest point at height 0."""
    points = points - points.mean(dim=0)
    return torch.cat([points[:, :2], _height(points, 2)], dim=1)


def _augmented(cloud: Cloud, recipe: Recipe, generator: Generator) -> Cloud:
    """Applies random augmentation by the dataset's recipe."""
    if recipe.data == "s3dis":
        return _augmented_s3dis(cloud, recipe, generator)
    if recipe.data == "scannet":
        return _augmented_scannet(cloud, recipe, generator)
    points = _rotated(cloud.points, generator) * _scale(cloud, recipe, generator)
    x, y, z = points.unbind(dim=1)
    over_x, over_y = (_uniform(cloud, 2, generator) < 0.5).unbind(0)
    flipped = torch.stack([torch.where(over_x, -x, x), torch.where(over_y, -y, y), z], dim=1)
    return cloud._replace(points=_jittered(flipped, recipe, generator))


def _augmented_s3dis(cloud: Cloud, recipe: Recipe, generator: Generator) -> Cloud:
    cloud = _contrasted(cloud, generator)
    points = _centered(cloud.points * _scale(cloud, recipe, generator))
    points = _jittered(_rotated(points, generator), recipe, generator)
    return _dropped(cloud._replace(points=points), generator)


def _augmented_scannet(cloud: Cloud, recipe: Recipe, generator: Generator) -> Cloud:
    points = _rotated(cloud.points, generator) * _scale(cloud, recipe, generator)
    x, y, z = points.unbind(dim=1)
    x = torch.where(_uniform(cloud, 1, generator) < 0.2, -x, x)
    points = torch.stack([x, y, z], dim=1)
    return _dropped(_contrasted(cloud._replace(points=points), generator), generator)


def _uniform(cloud: Cloud, count: int, generator: Generator) -> Tensor:
    return torch.rand(count, generator=generator, device=cloud.points.device)


def _scale(cloud: Cloud, recipe: Recipe, generator: Generator) -> Tensor:
    """Returns a random factor, or one for each axis."""
    low, high = recipe.scale
    return low + (high - low) * _uniform(cloud, 1 if recipe.isotropic else 3, generator)


def _rotated(points: Tensor, generator: Generator) -> Tensor:
    """Rotates points about z by a random angle."""
    angle = torch.rand((), generator=generator, device=points.device) * (2 * math.pi)
    cos, sin = angle.cos(), angle.sin()
    x, y, z = points.unbind(dim=1)
    return torch.stack([cos * x - sin * y, sin * x + cos * y, z], dim=1)


def _jittered(points: Tensor, recipe: Recipe, generator: Generator) -> Tensor:
    if recipe.jitter is None:
        return points
    deviation, limit = recipe.jitter
    noise = torch.randn(points.shape, generator=generator, device=points.device) * deviation
    return points + noise.clamp_(-limit, limit)


def _contrasted(cloud: Cloud, generator: Generator) -> Cloud:
    """Blends colors with contrast stretched to the range 0 to 255, in a fifth of the clouds."""
    colors = cloud.colors
    if colors is None:
        return cloud
    draws, blend = _uniform(cloud, 2, generator).unbind(0)
    low, high = colors.amin(dim=0), colors.amax(dim=0)
    # A constant channel has no contrast.
    full = torch.where(high > low, (colors - low) * (255 / (high - low).clamp(min=1e-9)), colors)
    mixed = colors + (full - colors) * blend
    return cloud._replace(colors=torch.where(draws < 0.2, mixed, colors))


def _dropped(cloud: Cloud, generator: Generator) -> Cloud:
    """Drops colors in a fifth of the clouds: all 0, before normalization."""
    colors = cloud.colors
    if colors is None:
        return cloud
    is_dropped = _uniform(cloud, 1, generator) < 0.2
    return cloud._replace(colors=torch.where(is_dropped, torch.zeros_like(colors), colors))
