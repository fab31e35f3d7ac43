"""The samplers that the paper compares with, ``lab/baselines``, called through ctypes.

The library is ``target/release/libfarpoint_baselines.so`` of the repository (``cargo build --release -p
farpoint-baselines``), or what ``FARPOINT_BASELINES`` names. On a GPU work is queued on the current stream, and CUDA graphs
can capture it.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib

import torch
from torch import Tensor

__all__ = ["sample"]

_ROOT = pathlib.Path(__file__).resolve().parents[3]


class _Request(ctypes.Structure):
    _fields_ = [
        ("method", ctypes.c_char_p), ("double", ctypes.c_uint32), ("device", ctypes.c_int32), ("stream", ctypes.c_uint64),
        ("points", ctypes.c_uint64), ("shape", ctypes.c_size_t * 3), ("count", ctypes.c_size_t),
        ("indices", ctypes.c_uint64), ("index", ctypes.c_uint64 * 2),
    ]


@functools.cache
def _library() -> ctypes.CDLL:
    file = os.environ.get("FARPOINT_BASELINES", str(_ROOT / "target/release/libfarpoint_baselines.so"))
    try:
        library = ctypes.CDLL(file)
    except OSError as error:
        raise ImportError(
            f"{error}; run `cargo build --release -p farpoint-baselines` in the repository, or set FARPOINT_BASELINES"
        ) from None
    library.farpoint_baselines_error.restype = ctypes.c_char_p
    library.farpoint_baselines_sample.argtypes = [ctypes.POINTER(_Request)]
    return library


def sample(points: Tensor, count: int, method: str) -> Tensor:
    """Choose ``count`` rows of each cloud (B, N, D) by a baseline such as ``"npdu:order=morton,window=64"``.

    Returns
    -------
    tensor of int64, (B, count)
        Row indices, on the device of the points.

    Raises
    ------
    ValueError
        What the library says.
    """
    dense = points.detach().contiguous()
    indices = torch.empty((*dense.shape[:1], count), dtype=torch.int64, device=dense.device)
    request = _Request(
        method.encode(), dense.dtype == torch.float64, dense.device.index if dense.is_cuda else -1,
        torch.cuda.current_stream(dense.device).cuda_stream if dense.is_cuda else 0, dense.data_ptr(),
        (ctypes.c_size_t * 3)(*dense.shape), count, indices.data_ptr(),
    )
    if _library().farpoint_baselines_sample(request):
        raise ValueError(_library().farpoint_baselines_error().decode())
    return indices
