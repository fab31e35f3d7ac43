"""Forward pass as one CUDA graph, for clouds of one size, without the overhead of launching single kernels."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from ..samplers import Sampler

__all__ = ["Captured", "can_capture"]

#: Warm-up passes before the capture, which create plans and load kernels.
_WARM_UP = 3


def can_capture(sampler: Sampler) -> bool:
    """Return whether a forward pass with this sampler can be a CUDA graph, that is, does not synchronize."""
    return sampler.exact and sampler.device == "input"


class Captured:
    """Forward pass of a network for clouds of one size, captured once.

    Parameters
    ----------
    network : Module
        A ``Network``, in evaluation mode, on a GPU. Its parameters must not change while this is used.
    points, features : tensor, (B, N, 3) and (B, N, channels)
        Example inputs of the size to capture.
    sampler : str or Sampler, optional
        Sampler that runs on the GPU; see ``can_capture``.
    warm_up : int, optional
        Warm-up passes before the capture, at least 1.

    Raises
    ------
    ValueError
        The network is in training mode, or an input is not on a GPU.
    """

    def __init__(
        self, network: nn.Module, points: Tensor, features: Tensor, sampler: str | Sampler = "peak", *,
        warm_up: int = _WARM_UP,
    ) -> None:
        if network.training or not (points.is_cuda and features.is_cuda):
            raise ValueError(
                f"only a network in evaluation mode with tensors on a GPU can be captured, not training={network.training}, "
                f"{points.device} and {features.device}"
            )
        self._points, self._features = points.clone(), features.clone()
        with torch.inference_mode(), _uncached():
            stream = torch.cuda.Stream(points.device)
            stream.wait_stream(torch.cuda.current_stream(points.device))
            with torch.cuda.stream(stream):
                for _ in range(max(warm_up, 1)):
                    network(self._points, self._features, sampler=sampler)
            torch.cuda.current_stream(points.device).wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._logits: Tensor = network(self._points, self._features, sampler=sampler)
        # Keeps matrices alive that the graph reads, since layers may replace them.
        self._held = [getattr(part, name, None) for part in network.modules() for name in ("_kept", "_joined")]

    def __call__(self, points: Tensor, features: Tensor) -> Tensor:
        """Compute logits, in memory overwritten by the next call.

        Raises
        ------
        ValueError
            Tensors of another size.
        """
        if points.shape != self._points.shape or features.shape != self._features.shape:
            raise ValueError(
                f"the graph is for {tuple(self._points.shape)} and {tuple(self._features.shape)}, not "
                f"{tuple(points.shape)} and {tuple(features.shape)}"
            )
        self._points.copy_(points)
        self._features.copy_(features)
        self._graph.replay()
        return self._logits


def _uncached() -> AbstractContextManager[object]:
    """Returns the current autocast context without caching of converted parameters, which the graph would read
    after they are freed."""
    kind = torch.get_autocast_dtype("cuda")
    return torch.autocast("cuda", kind, enabled=torch.is_autocast_enabled("cuda"), cache_enabled=False)
