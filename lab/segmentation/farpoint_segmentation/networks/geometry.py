"""Where the points of a network's levels are, and who their neighbors are: all that depends on positions alone.

Each level is sampled once, and searched once for each different ball and for the three nearest; all layers of a
level read the same neighbors.
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

#: Points of a level are the points of the level before it, divided by this.
STRIDE = 4

#: Centers (B, M, 3), points (B, N, 3), radius, k -> the k points of lowest index in each ball, -1 where there are
#: fewer, (B, M, k).
BallQuery = Callable[[Tensor, Tensor, float, int], Tensor]


class Radii(NamedTuple):
    """The balls of a level."""

    #: By which the level before it is grouped, and within the level. In the unit of the points.
    down: float
    within: float


class Ball(NamedTuple):
    """The neighbors of each point, k of lowest index in its ball, the first again where there are fewer."""

    #: int32, (B, M, k).
    indices: Tensor
    #: Positions from the center, divided by the radius, (B, M, k, 3).
    offsets: Tensor


class Level(NamedTuple):
    """The M points of a level, and how they are tied to the N of the finer one."""

    #: Rows of the finer level, int64, (B, M).
    samples: Tensor
    #: (B, M, 3).
    points: Tensor
    #: Points of the finer level around each point.
    down: Ball
    #: Points of this level around each point.
    within: Ball
    #: Of each point of the finer level the three nearest of this one, int32, (B, N, 3), and their weights.
    nearest: Tensor
    weights: Tensor


class Geometry(NamedTuple):
    """All levels but that of the points themselves, from fine to coarse."""

    levels: tuple[Level, ...]
    #: Of each level found on another stream, what comes behind its last kernel.
    ready: tuple[torch.cuda.Event, ...] = ()

    def level(self, place: int) -> Level:
        """One of them; what is queued from now on waits for it."""
        if self.ready:
            self.ready[place].wait()
        return self.levels[place]


def geometry(
    points: Tensor, radii: Sequence[Radii], sampler: str | Sampler = "peak", *, down: int = 32, within: int = 32,
    ball_query: BallQuery | None = None, ahead: bool = False,
) -> Geometry:
    """Sample the levels of a network and find all neighbors that it needs.

    Parameters
    ----------
    points : tensor, (B, N, 3)
        float32 or float64, in meters.
    radii : sequence of Radii
        The balls of each level, from fine to coarse.
    sampler : str or Sampler, optional
        What chooses the points of a level: a quarter of those of the level before it.
    down, within : int, optional
        Points of a ball, into the finer level and within a level.
    ball_query : callable, optional
        Another ball query, for comparisons.
    ahead : bool, optional
        On a GPU, within the capture of a CUDA graph: sample on one stream and search on another, so that coarse
        levels are sampled while layers of fine ones run. Levels must be taken by ``Geometry.level``, and kept
        until the pass is through. The same kernels run, so that bits are the same.

    Returns
    -------
    Geometry
        The levels. Nothing waits for a GPU, unless the sampler does.

    Raises
    ------
    ValueError
        Too few points for that many levels; shapes that do not fit.
    """
    if points.dim() != 3 or points.shape[-1] != 3:
        raise ValueError(f"points must be a batch (B, N, 3), not {tuple(points.shape)}")
    least = STRIDE ** len(radii)
    if points.shape[1] < least:
        raise ValueError(
            f"a cloud has {points.shape[1]} points; {len(radii)} levels of a quarter each need at least {least}"
        )
    chooser = parse(sampler) if isinstance(sampler, str) else sampler
    points = points.contiguous()
    apart = ahead and points.is_cuda and chooser.exact and chooser.device == "input"
    lanes = _Lanes(points.device if apart else None)
    levels: list[Level] = []
    with lanes.searching():
        fine = _Searched(points, ball_query)
    for level, radius in enumerate(radii, 1):
        with lanes.sampling():
            # FastPoint looks for neighbors, too; exact samplers do not, and wait for no index.
            samples = chooser.sample(fine.points, fine.points.shape[1] // STRIDE, level, fine.index)
            chosen = farpoint.gather(fine.points, samples)
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
    """Where samples and neighbors are queued: on the current stream, or on two of their own behind what is queued
    there now, so that samples of a level wait for those of the finer one alone."""

    def __init__(self, gpu: torch.device | None) -> None:
        self.ready: list[torch.cuda.Event] = []
        self._streams: tuple[torch.cuda.Stream, torch.cuda.Stream] | None = None
        streams = None if gpu is None else _streams(gpu)  # also before a capture, in which none can be made
        # Elsewhere memory of one stream could come back to it while another still reads it.
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
        """What is queued until now on the current stream is a level."""
        if self._streams is not None:
            self.ready.append(torch.cuda.current_stream().record_event())


@lru_cache(maxsize=16)
def _streams(gpu: torch.device) -> tuple[torch.cuda.Stream, torch.cuda.Stream]:
    """For samples, for which all else waits in the end, and for neighbors."""
    return torch.cuda.Stream(gpu, priority=-1), torch.cuda.Stream(gpu)


class _Searched:
    """The points of a level with their tree, which three searches share."""

    def __init__(self, points: Tensor, ball_query: BallQuery | None) -> None:
        self.points, self._ball_query = points, ball_query
        self.index = farpoint.Index(points)

    def ball(self, centers: Tensor, radius: float, k: int) -> Ball:
        """The balls around these centers."""
        if self._ball_query is not None:
            indices = self._ball_query(centers, self.points, radius, k)
        else:
            indices = self.index.ball_query(centers, radius, k, index_dtype="int32").indices
        # They ascend, and -1 is below all: each center is a point, so that no ball is empty.
        indices = torch.maximum(indices, indices[..., :1])
        offsets = farpoint.gather(self.points, indices).sub_(centers.unsqueeze(2)).div_(radius)
        return Ball(indices, offsets)

    def three_nearest(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Of each of these points the three nearest, and their weights."""
        found = self.index.knn(points, 3, squared=False, index_dtype="int32")
        return found.indices, farpoint.inverse_distance_weights(found, 1)
