"""Optional use of PyTorch's private API, to save time: where a release of PyTorch lacks a
name, the public API is used, with the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.compiler import is_compiling
from torch.nn import Parameter

from .. import _native

#: True if PyTorch exposes the level of dual numbers and the active transforms.
_TELLS_LEVELS = hasattr(forward_ad, "_current_level") and hasattr(torch._C, "_functorch") and all(
    hasattr(torch._C._functorch, name)
    for name in ("TransformType", "get_interpreter_stack", "is_batchedtensor")
)

#: True if PyTorch exposes its dispatch keys.
TELLS_KEYS = _TELLS_LEVELS and all(
    hasattr(torch._C, name) for name in
    ("DispatchKey", "DispatchKeySet", "_dispatch_keys", "_dispatch_tls_local_include_set")
)


def _current_stream(device: int) -> int:
    return torch.cuda.current_stream(device).cuda_stream


#: Returns the current stream of a device as a number. The private function, used by PyTorch's own compiled
#: code, creates no stream object.
current_stream: Callable[[int], int]
current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", _current_stream)

#: From here on plans of the compiled module accept tensors in place of addresses, and None for the current
#: stream. Tensors are read through PyTorch's DLPack exchange API (from 2.10 on), or by their methods.
_native.read_tensors_by(getattr(Tensor, "__dlpack_c_exchange_api__", None), current_stream)


#: Creates a tensor of a shape, strides and a dtype.
Maker = Callable[["tuple[int, ...]", "tuple[int, ...]", torch.dtype], Tensor]

#: ``Maker`` on the current device that bypasses the dispatcher and takes half as long; used by PyTorch's own
#: compiled code.
_empty_on_current: Maker | None
_empty_on_current = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
_empty_on_current = getattr(_empty_on_current, "_empty_strided_cuda", None)
_current_device: Callable[[], int] = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)


def maker(device: int) -> Maker:
    """Returns a function that creates tensors on this GPU, which must be initialized. Only for use when not
    ``is_watched``."""
    if _empty_on_current is not None and _current_device() == device:
        return _empty_on_current
    place = torch.device("cuda", device)

    def make(shape: tuple[int, ...], strides: tuple[int, ...], kind: torch.dtype) -> Tensor:
        return torch.empty_strided(shape, strides, dtype=kind, device=place)

    return make


def _bits(*names: str) -> int:
    """Returns dispatch keys as a bit mask."""
    bits = 0
    for name in names if TELLS_KEYS else ():
        bits |= torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, name)).raw_repr()
    return bits


#: All keys except those for which the dispatcher only selects the kernel of the device, gradients aside. A
#: lazily negated view, a mode, a transform or a tracer adds others.
_UNUSUAL_OF_TENSORS = ~_bits(
    "CPU", "CUDA", "ADInplaceOrView", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA"
)
_keys_of: Any = getattr(torch._C, "_dispatch_keys", None)
UNUSUAL_OF_THREADS = 2**64 - 1 - _bits("BackendSelect", "ADInplaceOrView")
keys_of_thread: Any = getattr(torch._C, "_dispatch_tls_local_include_set", None)


def is_watched() -> bool:
    """Returns whether a tracer, a mode or a transform of this thread would see a call. True if unknown."""
    if is_compiling() or not TELLS_KEYS or forward_ad._current_level >= 0:
        return True
    return bool(keys_of_thread().raw_repr() & UNUSUAL_OF_THREADS)


def only_kernels_see(*tensors: Tensor | None) -> bool:
    """Returns whether a call of an operator would only call its kernel, gradients aside. Then the kernel can be
    called directly, which takes half as long."""
    if is_watched():
        return False
    for tensor in tensors:
        if tensor is None:
            continue
        if type(tensor) is not Tensor and type(tensor) is not Parameter:
            return False
        if _keys_of(tensor).raw_repr() & _UNUSUAL_OF_TENSORS:
            return False
    return True


def is_dual() -> bool:
    """Returns whether tensors may be dual numbers. True if unknown."""
    return not _TELLS_LEVELS or forward_ad._current_level >= 0


def is_differentiated() -> bool:
    """Returns whether ``torch.func`` is differentiating the running code. True if unknown."""
    if not _TELLS_LEVELS:
        return True
    levels = torch._C._functorch.get_interpreter_stack() or ()
    modes = torch._C._functorch.TransformType
    return any(level.key() in (modes.Grad, modes.Jvp) for level in levels)


def is_transformed() -> bool:
    """Returns whether dual numbers or derivatives of ``torch.func`` may be active."""
    return is_dual() or is_differentiated()


def is_batched(tensor: Tensor) -> bool:
    """Returns whether the tensor is batched by ``torch.vmap``. True if unknown."""
    return not _TELLS_LEVELS or bool(torch._C._functorch.is_batchedtensor(tensor))


def apply_of(function: Any) -> Callable[..., Any]:
    """Returns ``function.apply`` of an autograd function without its check for transforms: only for use
    where ``only_kernels_see`` holds."""
    apply: Callable[..., Any] = super(torch.autograd.Function, function).apply
    return apply
