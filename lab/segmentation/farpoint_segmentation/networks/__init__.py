"""Networks for segmentation: PointMetaBase and PointVector, with the names and shapes of the authors' checkpoints.

From the bottom up: ``layers``; ``geometry``, everything that depends on positions only; ``network``, shared by both;
``pointmetabase`` and ``pointvector``; ``checkpoint``; ``graphs``, a forward pass as one CUDA graph.
"""

from __future__ import annotations

import torch

from ..recipes import NETWORKS, known, recipe
from .checkpoint import load_checkpoint, save_checkpoint
from .geometry import Ball, Geometry, Level, Radii, geometry
from .graphs import Captured, can_capture
from .network import Network, Sizes
from .pointmetabase import PointMetaBase
from .pointvector import PointVector

__all__ = [
    "Ball", "Captured", "Geometry", "Level", "Network", "PointMetaBase", "PointVector", "Radii", "Sizes",
    "build", "can_capture", "geometry", "load_checkpoint", "save_checkpoint",
]

#: Channels at the finest level, and blocks of each stage.
_LARGE = 32, (1, 3, 5, 3, 3)
_EXTRA_LARGE = 64, (1, 4, 7, 4, 4)


def build(network: str, data: str, *, seed: int | None = None) -> Network:
    """Build a network for a dataset, with random parameters.

    Parameters
    ----------
    network : {"pointmetabase-l", "pointmetabase-xl", "pointvector-l", "pointvector-xl"}
        The network.
    data : {"s3dis", "scannet", "semantickitti"}
        The dataset, which determines channels, classes and radii.
    seed : int, optional
        Seed of the parameters; unless set, PyTorch's random state is used, which is otherwise unchanged.

    Returns
    -------
    Network
        Network in training mode, on the CPU.

    Raises
    ------
    ValueError
        Unknown name.

    Examples
    --------
    >>> import torch
    >>> from farpoint_segmentation.networks import build
    >>> network = build("pointmetabase-l", "s3dis", seed=0).eval()
    >>> points = torch.rand(1, 1000, 3, generator=torch.Generator().manual_seed(1))
    >>> with torch.inference_mode():
    ...     network(points, torch.zeros(1, 1000, 4)).shape
    torch.Size([1, 1000, 13])
    """
    known(network, NETWORKS, "network")
    numbers = recipe(data)
    width, blocks = _LARGE if network.endswith("-l") else _EXTRA_LARGE
    sizes = Sizes(
        numbers.channels, len(numbers.classes), width, blocks, numbers.radius, numbers.growth
    )
    with torch.random.fork_rng(devices=[], enabled=seed is not None):
        if seed is not None:
            torch.manual_seed(seed)
        if network.startswith("pointvector"):
            return PointVector(sizes)
        return PointMetaBase(sizes, joins_largest=data == "scannet")
