"""PointMetaBase: the maximum over neighbors of their values plus an embedding of their positions.

Source: Lin, Zheng, Chao, Li, Zhang, Li, Wang, Ji, "Meta architecture for point cloud analysis", CVPR 2023.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

import farpoint

from .geometry import Ball, Geometry
from .layers import Layer, rectified
from .network import Encoder, Network, Sizes

__all__ = ["PointMetaBase"]


class _Down(nn.Module):
    """Block that downsamples to the next coarser level."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.convs1 = nn.Sequential(Layer(before, after, 1))
        self.convs2 = nn.Sequential(Layer(3, after, 2))

    def forward(self, values: Tensor, ball: Ball) -> Tensor:
        """Maps (B, N, before) to (B, M, after)."""
        sent: Tensor = self.convs1(values)
        result: Tensor = farpoint.gather_max(sent, ball.indices, self.convs2(ball.offsets))
        return result


class _Block(nn.Module):
    """Block within a level."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.convs = nn.ModuleDict({"convs1": nn.Sequential(Layer(width, width, 1))})
        self.pwconv = nn.Sequential(Layer(width, width, 1), Layer(width, width, 1, relu=False))

    def forward(self, values: Tensor, ball: Ball, embedded: Tensor) -> Tensor:
        """Returns (B, M, C) from values (B, M, C) and embedded positions (B, M, k, C)."""
        largest = farpoint.gather_max(self.convs["convs1"](values), ball.indices, embedded)
        return rectified(self.pwconv(largest) + values)


class _Encoder(Encoder):
    within = 32
    stem = "convs1"

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes, _Down, _Block)
        self.pe_encoder = nn.ModuleList(
            [nn.Sequential(), *[nn.Sequential(Layer(3, width, 2)) for width in sizes.widths[1:]]]
        )

    def forward(self, features: Tensor, geometry: Geometry) -> list[Tensor]:
        """Returns values of all levels, from fine to coarse, for features (B, N, channels)."""
        stages: Any = self.encoder
        values = [stages[0][0]["convs1"](features)]
        for place, (stage, embed) in enumerate(zip(stages[1:], self.pe_encoder[1:])):
            level = geometry.level(place)
            inside = stage[0](values[-1], level.down)
            embedded = embed(level.within.offsets)
            for block in stage[1:]:
                inside = block(inside, level.within, embedded)
            values.append(inside)
        return values


class PointMetaBase(Network):
    """PointMetaBase for segmentation.

    Parameters
    ----------
    sizes : Sizes
        Sizes of the network.
    joins_largest : bool, optional
        Pass the maximum over the scene of each channel to the head, as on ScanNet.
    """

    def __init__(self, sizes: Sizes, joins_largest: bool = False) -> None:
        super().__init__(sizes, _Encoder(sizes), joins_largest)
