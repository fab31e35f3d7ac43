"""PointVector: sums over neighbors of three-dimensional vectors, one per channel.

Source: Deng, Zhang, Ding, Zhao, Liu, "PointVector: a vector representation in point cloud analysis", CVPR 2023.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

import farpoint

from .geometry import Ball, Geometry
from .layers import Layer, Pointwise, is_inference, rectified
from .network import Encoder, Network, Sizes

__all__ = ["PointVector"]


class _Down(nn.Module):
    """Block that downsamples to the next coarser level."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.convs = nn.Sequential(Layer(3 + before, after, 2))

    def forward(self, values: Tensor, ball: Ball) -> Tensor:
        """Maps (B, N, before) to (B, M, after)."""
        layer: Any = self.convs[0]
        matrix, offset = layer.affine()
        # The product with the values is computed once per point, not once per ball that contains it.
        projected = functional.linear(values, matrix[:, 3:])
        placed = functional.linear(ball.offsets.to(matrix.dtype), matrix[:, :3], offset)
        if offset is None:  # batch normalization needs all sums
            every: Tensor = layer.finish(farpoint.gather(projected, ball.indices) + placed)
            return every.max(dim=2).values
        result: Tensor = layer.finish(farpoint.gather_max(projected, ball.indices, placed))
        return result


class _VectorAggregation(nn.Module):
    """Sums one vector per channel over all neighbors, each by a length and two angles, and projects the sum."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.pos_x = Layer(3, width, 2, relu=False)
        self.theta_x_alpha = Layer(width, width, 2)
        self.theta_x_beta = Layer(width, width, 2)
        self.z_x = Pointwise(width, width, 2, bias=False)
        self.tf_zx = Layer(3 * width, width, 1, relu=False, groups=width)
        self.result = Layer(width, width, 1, relu=False)
        self.residual = Layer(width, width, 1, relu=False)
        self._joined: Any = None

    def forward(self, values: Tensor, ball: Ball) -> Tensor:
        """Maps (B, M, C) to (B, M, C)."""
        near = farpoint.gather(values, ball.indices)
        sent = rectified(near - values.unsqueeze(2) + self.pos_x(ball.offsets))
        matrix, offset = self.tf_zx.affine()
        directions, lengths = self._polar(sent)
        projected = _projected_sum(directions, lengths, matrix)
        if offset is not None:
            projected = projected + offset
        return rectified(self.result(self.tf_zx.finish(projected)) + self.residual(values))

    def _polar(self, sent: Tensor) -> tuple[_Directions, Tensor]:
        """Returns the direction and the length (B, M, k, C) of each vector."""
        first, second = self.theta_x_alpha.affine(), self.theta_x_beta.affine()
        if first[1] is None or second[1] is None or not is_inference():
            alpha, beta = self.theta_x_alpha(sent), self.theta_x_beta(sent)
            return _Directions(alpha.sin(), alpha.cos(), beta.sin(), beta.cos()), self.z_x(sent)
        # One matrix product for both angles.
        if self._joined is None or self._joined[0] is not first or self._joined[1] is not second:
            self._joined = first, second, torch.cat([first[0], second[0]]), torch.cat([first[1], second[1]])
        angles = rectified(functional.linear(sent, *self._joined[2:]))
        sines, cosines = angles.sin().chunk(2, dim=-1), angles.cos().chunk(2, dim=-1)
        lengths = functional.linear(sent, self.z_x.weight.flatten(1).to(sent.dtype))
        return _Directions(sines[0], cosines[0], sines[1], cosines[1]), lengths


class _Directions(NamedTuple):
    """Sines and cosines of the angles of vectors, (B, M, k, C) each: along the ground, and from the vertical."""

    sine: Tensor
    cosine: Tensor
    sine_up: Tensor
    cosine_up: Tensor


def _projected_sum(directions: _Directions, lengths: Tensor, matrix: Tensor) -> Tensor:
    """Returns the sum (B, M, C) over all neighbors of vectors of these directions and lengths (B, M, k, C), times a
    row of three per channel."""
    across, along, up = matrix.t().to(lengths.dtype)
    # Projected before summing, which needs one sum instead of three.
    flat = torch.addcmul(directions.cosine * across, directions.sine, along) * directions.sine_up
    return (torch.addcmul(flat, directions.cosine_up, up) * lengths).sum(dim=2)


class _Block(nn.Module):
    """Block within a level."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.convs = nn.ModuleDict({"vpsa": _VectorAggregation(width)})

    def forward(self, values: Tensor, ball: Ball) -> Tensor:
        """Maps (B, M, C) to (B, M, C)."""
        result: Tensor = self.convs["vpsa"](values, ball)
        return result


class _Encoder(Encoder):
    within = 8
    stem = "convs"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes, _Down, _Block)

    def forward(self, features: Tensor, geometry: Geometry) -> list[Tensor]:
        """Returns values of all levels, from fine to coarse, for features (B, N, channels)."""
        stages: Any = self.encoder
        values = [stages[0][0]["convs"](features)]
        for place, stage in enumerate(stages[1:]):
            level = geometry.level(place)
            inside = stage[0](values[-1], level.down)
            for block in stage[1:]:
                inside = block(inside, level.within)
            values.append(inside)
        return values


class PointVector(Network):
    """PointVector for segmentation.

    Parameters
    ----------
    sizes : Sizes
        Sizes of the network.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes, _Encoder(sizes), joins_largest=False)
