"""Geometry of a network: the points of its levels and their neighbors, which depend on positions only.

The first level is sampled, and by an exact sampler all coarser ones with it: they are its prefixes. Each level is
searched once for each different ball and for the three nearest; all layers of a level share the same neighbors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

import farpoint

from ..samplers import Sampler, parse

__all__ = ["Ball", "BallQuery", "Geometry", "Level", "Radii", "geometry"]

#: Ratio of the number of points of a level to that of the next.
STRIDE = 4

#: Function of centers (B, M, 3), points (B, N, 3), radius and k that returns the k points of lowest index in each
#: ball, padded with -1, (B, M, k).
BallQuery = Callable[[Tensor, Tensor, float, int], Tensor]


class Radii(NamedTuple):
    """Radii of a level."""

    #: For grouping the finer level, and within the level; in the unit of the points.
    down: float
    within: float


class Ball(NamedTuple):
    """Neighbors of each point: the k of lowest index in its ball, padded with the first."""

    #: int32, (B, M, k).
    indices: Tensor
    #: Positions from the center, divided by the radius, (B, M, k, 3).
    offsets: Tensor


class Level(NamedTuple):
    """The M points of a level, and their neighbors among the N of the finer one."""

    #: Rows of the finer level, int64, (B, M).
    samples: Tensor
    #: (B, M, 3).
    points: Tensor
    #: Points of the finer level around each point.
    down: Ball
    #: Points of this level around each point.
    within: Ball
    #: Three nearest points of this level for each point of the finer one, int32, (B, N, 3), and their weights.
    nearest: Tensor
    weights: Tensor


class Geometry(NamedTuple):
    """All levels except the finest, from fine to coarse."""

    levels: tuple[Level, ...]
    #: Event after the last kernel of each level that was computed on another stream.
    ready: tuple[torch.cuda.Event, ...] = ()

    def level(self, place: int) -> Level:
        """Return a level, making the current stream wait for it."""
        if self.ready:
            self.ready[place].wait()
        return self.levels[place]


def geometry(
    points: Tensor, radii: Sequence[Radii], sampler: str | Sampler = "peak", *, down: int = 32, within: int = 32,
    ball_query: BallQuery | None = None, ahead: bool = False,
) -> Geometry:
    """Sample the levels of a network and find all neighbors.

    Parameters
    ----------
    points : tensor, (B, N, 3)
        Points, float32 or float64, in meters.
    radii : sequence of Radii
        Radii of each level, from fine to coarse.
    sampler : str or Sampler, optional
        Sampler of the levels, each a quarter of the finer one.
    down, within : int, optional
        Points per ball, into the finer level and within a level.
    ball_query : callable, optional
        Alternative ball query, for comparisons.
    ahead : bool, optional
        During capture of a CUDA graph: sample on one stream and search on another, so that coarse
        levels are sampled while layers of fine ones run. Levels must be read by ``Geometry.level``, and kept
        until the pass has ended. The kernels, and so the bits, are the same.

    Returns
    -------
    Geometry
        The levels. Does not synchronize, unless the sampler does.

    Raises
    ------
    ValueError
        Too few points for the number of levels, or incompatible shapes.
    """
    if points.dim() != 3 or points.shape[-1] != 3:
        raise ValueError(f"points must be a batch (B, N, 3), not {tuple(points.shape)}")
    minimum = STRIDE ** len(radii)
    if points.shape[1] < minimum:
        raise ValueError(
            f"a cloud has {points.shape[1]} points; {len(radii)} levels of a quarter each need at least {minimum}"
        )
    chooser = parse(sampler) if isinstance(sampler, str) else sampler
    points = points.contiguous()
    on_streams = ahead and points.is_cuda and chooser.exact and chooser.device == "input"
    lanes = _Lanes(points.device if on_streams else None)
    levels: list[Level] = []
    with lanes.searching():
        fine = _Searched(points, ball_query)
    for level, radius in enumerate(radii, 1):
        with lanes.sampling():
            count = fine.points.shape[1] // STRIDE
            samples = chooser.sample(fine.points, count, level)
            prefix = chooser.takes_prefix(level)
            chosen = fine.points[:, :count].contiguous() if prefix else farpoint.gather(fine.points, samples)
        with lanes.searching(behind_samples=True):
            coarse = _Searched(chosen, ball_query)
            nearest, weights = coarse.three_nearest(fine.points)
            levels.append(Level(
                samples, chosen, fine.ball(chosen, radius.down, down),
                coarse.ball(chosen, radius.within, within), nearest, weights,
            ))
            lanes.mark()
        fine = coarse
    return Geometry(tuple(levels), tuple(lanes.ready))


class _Lanes:
    """Streams for samples and neighbors: the current stream, or two others ordered after the current work,
    so that samples of a level wait only for those of the finer one."""

    def __init__(self, gpu: torch.device | None) -> None:
        self.ready: list[torch.cuda.Event] = []
        self._streams: tuple[torch.cuda.Stream, torch.cuda.Stream] | None = None
        streams = None if gpu is None else _streams(gpu)  # also before a capture, during which none can be created
        # Outside a capture, memory of one stream could be reused while another still reads it.
        if streams is not None and torch.cuda.is_current_stream_capturing():
            self._streams = streams
            for stream in streams:
                stream.wait_stream(torch.cuda.current_stream())

    def sampling(self) -> AbstractContextManager[object]:
        return nullcontext() if self._streams is None else torch.cuda.stream(self._streams[0])

    def searching(self, behind_samples: bool = False) -> AbstractContextManager[object]:
        if self._streams is None:
            return nullcontext()
        if behind_samples:
            self._streams[1].wait_stream(self._streams[0])
        return torch.cuda.stream(self._streams[1])

    def mark(self) -> None:
        """Records an event for a level after the work on the current stream."""
        if self._streams is not None:
            self.ready.append(torch.cuda.current_stream().record_event())


@lru_cache(maxsize=16)
def _streams(gpu: torch.device) -> tuple[torch.cuda.Stream, torch.cuda.Stream]:
    """Returns streams for samples, the critical path, and for neighbors."""
    return torch.cuda.Stream(gpu, priority=-1), torch.cuda.Stream(gpu)


class _Searched:
    """Points of a level with their tree, which three searches share."""

    def __init__(self, points: Tensor, ball_query: BallQuery | None) -> None:
        self.points, self._ball_query = points, ball_query
        self.index = farpoint.Index(points)

    def ball(self, centers: Tensor, radius: float, k: int) -> Ball:
        """Returns the balls around these centers."""
        if self._ball_query is not None:
            indices = self._ball_query(centers, self.points, radius, k)
        else:
            indices = self.index.ball_query(centers, radius, k, index_dtype="int32").indices
        # Indices ascend, and padding is -1: each center is a point, so that no ball is empty.
        indices = torch.maximum(indices, indices[..., :1])
        offsets = farpoint.gather(self.points, indices).sub_(centers.unsqueeze(2)).div_(radius)
        return Ball(indices, offsets)

    def three_nearest(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the three nearest of each of these points, and their weights."""
        neighbors = self.index.knn(points, 3, squared=False, index_dtype="int32")
        return neighbors.indices, farpoint.inverse_distance_weights(neighbors, 1)
