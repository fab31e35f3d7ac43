"""Common parts of the networks: their sizes, the decoder, the head, and the forward pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

import farpoint

from ..samplers import Sampler
from .geometry import BallQuery, Geometry, Level, Radii, geometry
from .layers import Layer, Pointwise

__all__ = ["Decoder", "Encoder", "Head", "Network", "Sizes"]

#: Points per ball into the finer level.
DOWN = 32


@dataclass(frozen=True)
class Sizes:
    """Sizes of a network."""

    #: Input channels, and classes.
    channels: int
    classes: int
    #: Channels at the finest level; each level has twice as many as the finer one.
    width: int
    #: Blocks of each stage, the first of which downsamples.
    blocks: tuple[int, ...]
    #: Radius of the first downsampling, in meters, and the factor by which radii grow from stage to stage.
    radius: float
    growth: float

    @property
    def widths(self) -> tuple[int, ...]:
        """Return the channels of each level."""
        return tuple(self.width * 2**stage for stage in range(len(self.blocks)))

    @property
    def radii(self) -> tuple[Radii, ...]:
        """Return the radii of each level except the first."""
        grown = [self.radius * self.growth**stage for stage in range(len(self.blocks))]
        return tuple(Radii(down, within) for down, within in zip(grown, grown[1:]))


class Encoder(nn.Module):
    """Encoder from the points to the coarsest level, specific to a network."""

    #: Points per ball within a level.
    within: int
    #: Name of the stem's layer in checkpoints.
    stem: str

    def __init__(
        self, sizes: Sizes, down: Callable[[int, int], nn.Module], block: Callable[[int], nn.Module]
    ) -> None:
        super().__init__()
        widths = sizes.widths
        linear = Pointwise(sizes.channels, widths[0], 1, bias=True)
        stages = [nn.ModuleList([nn.ModuleDict({self.stem: nn.Sequential(nn.Sequential(linear))})])]
        for before, after, blocks in zip(widths, widths[1:], sizes.blocks[1:]):
            # The order determines the random parameters.
            rest = [block(after) for _ in range(blocks - 1)]
            stages.append(nn.ModuleList([down(before, after), *rest]))
        self.encoder = nn.ModuleList(stages)

    def forward(self, features: Tensor, geometry: Geometry) -> list[Tensor]:
        """Return values of all levels, from fine to coarse, for features (B, N, channels)."""
        raise NotImplementedError


class _Step(nn.Module):
    """Step from a coarse level to the finer one: interpolation from the three nearest, and two layers."""

    def __init__(self, skip: int, coarse: int) -> None:
        super().__init__()
        self.skip = skip
        self.convs = nn.Sequential(Layer(skip + coarse, skip, 1), Layer(skip, skip, 1))

    def forward(self, skip: Tensor, coarse: Tensor, level: Level) -> Tensor:
        """Returns (B, N, skip) from (B, N, skip) and (B, M, coarse)."""
        first: Any = self.convs[0]
        matrix, offset = first.affine()
        # Interpolation is linear: multiplying before it needs a quarter of the rows, and no concatenation.
        sent = nn.functional.linear(coarse, matrix[:, self.skip:])
        skipped = nn.functional.linear(skip, matrix[:, : self.skip], offset)
        weights = level.weights if sent.dtype != torch.float64 else level.weights.double()
        sums = skipped + farpoint.interpolate(sent, level.nearest, weights)
        result: Tensor = self.convs[1](first.finish(sums))
        return result


class Decoder(nn.Module):
    """Decoder from the coarsest level back to the points."""

    def __init__(self, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.decoder = nn.ModuleList(
            nn.ModuleList([_Step(skip, coarse)]) for skip, coarse in zip(widths, widths[1:])
        )

    def forward(self, values: list[Tensor], geometry: Geometry) -> Tensor:
        """Return (B, N, width) from the values of all levels."""
        steps: Any = self.decoder
        coarse = values[-1]
        for place in reversed(range(len(steps))):
            coarse = steps[place][0](values[place], coarse, geometry.levels[place])
        return coarse


class Head(nn.Module):
    """Head from the values of points to logits.

    Parameters
    ----------
    width, classes : int
        Channels and classes.
    joins_largest : bool
        Append the maximum over the scene of each channel to the values of each point.
    """

    def __init__(self, width: int, classes: int, joins_largest: bool) -> None:
        super().__init__()
        self.width, self.joins_largest = width, joins_largest
        inner = 2 * width if joins_largest else width
        last = nn.Sequential(Pointwise(inner, classes, 1, bias=True))
        self.head = nn.Sequential(Layer(inner, inner, 1), nn.Dropout(0.5), last)

    def forward(self, values: Tensor) -> Tensor:
        """Map (B, N, width) to (B, N, classes)."""
        if not self.joins_largest:
            result: Tensor = self.head(values)
            return result
        first: Any = self.head[0]
        matrix, offset = first.affine()
        largest = values.amax(dim=1, keepdim=True)
        local = nn.functional.linear(values, matrix[:, : self.width], offset)
        sums = local + nn.functional.linear(largest, matrix[:, self.width:])
        result = self.head[2](self.head[1](first.finish(sums)))
        return result


class Network(nn.Module):
    """Network that computes a logit per class for each point of a cloud.

    Called with points (B, N, 3) in meters and features (B, N, channels), it returns logits (B, N, classes).

    Parameters
    ----------
    sizes : Sizes
        Sizes of the network.
    encoder : Encoder
        Encoder of the network.
    joins_largest : bool
        As for ``Head``.
    """

    encoder: Encoder

    def __init__(self, sizes: Sizes, encoder: Encoder, joins_largest: bool) -> None:
        super().__init__()
        self.sizes = sizes
        self.encoder = encoder
        self.decoder = Decoder(sizes.widths)
        self.head = Head(sizes.width, sizes.classes, joins_largest)
        #: Alternative to farpoint's ball query, for comparisons.
        self.ball_query: BallQuery | None = None
        #: In a CUDA graph, sample coarse levels while layers of fine ones run; see ``geometry``.
        self.ahead = True
        self._layers: Callable[[Tensor, Geometry], Tensor] = self.layers

    def forward(
        self, points: Tensor, features: Tensor, *, sampler: str | Sampler = "peak",
        geometry: Geometry | None = None,
    ) -> Tensor:
        """Compute logits.

        Parameters
        ----------
        points : tensor, (B, N, 3)
            Points in meters.
        features : tensor, (B, N, channels)
            Features of each point.
        sampler : str or Sampler, optional
            Sampler of the levels; see ``farpoint_segmentation.samplers``.
        geometry : Geometry, optional
            Precomputed levels, from ``find_geometry``.

        Returns
        -------
        tensor, (B, N, classes)
            Logits, in the dtype of the parameters; under autocast in its dtype.

        Raises
        ------
        ValueError
            Incompatible shapes, or fewer than 256 points.
        """
        expected = (*points.shape[:2], self.sizes.channels)
        if points.dim() != 3 or tuple(features.shape) != expected:
            raise ValueError(
                f"points must be (B, N, 3) and features (B, N, {self.sizes.channels}), not "
                f"{tuple(points.shape)} and {tuple(features.shape)}"
            )
        if geometry is None:
            geometry = self.find_geometry(points, sampler, ahead=self.ahead)
        return self._layers(features, geometry)

    def find_geometry(
        self, points: Tensor, sampler: str | Sampler = "peak", *, ahead: bool = False
    ) -> Geometry:
        """Sample the levels and find all neighbors, which depend on positions only.

        Parameters
        ----------
        points, sampler, ahead
            As for ``geometry``.
        """
        with torch.no_grad():
            return geometry(
                points, self.sizes.radii, sampler, down=DOWN, within=self.encoder.within,
                ball_query=self.ball_query, ahead=ahead,
            )

    def layers(self, features: Tensor, geometry: Geometry) -> Tensor:
        """Compute logits in precomputed levels: everything with parameters."""
        logits: Tensor = self.head(self.decoder(self.encoder(features, geometry), geometry))
        return logits

    def compile_layers(self, **options: Any) -> Network:
        """Compile the layers between samplers and searches with ``torch.compile``.

        Parameters
        ----------
        **options
            Options of ``torch.compile``; ``dynamic=True`` unless set, since scenes differ in size.

        Returns
        -------
        Network
            This network.
        """
        self._layers = torch.compile(self.layers, **{"dynamic": True, **options})
        return self

    def __getstate__(self) -> dict[str, Any]:
        # A copy compiles its own layers.
        return {name: value for name, value in self.__dict__.items() if name != "_layers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._layers = self.layers
