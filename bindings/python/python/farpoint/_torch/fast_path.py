"""Everything that rests on PyTorch's private names. It only saves time: where a release of PyTorch lacks a
name, the public way is taken, which gives the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.compiler import is_compiling
from torch.nn import Parameter

from .. import _native

#: Whether PyTorch has names for the level of dual numbers and the transforms that are running.
_TELLS_LEVELS = hasattr(forward_ad, "_current_level") and hasattr(torch._C, "_functorch") and all(
    hasattr(torch._C._functorch, name)
    for name in ("TransformType", "get_interpreter_stack", "is_batchedtensor")
)

#: Whether PyTorch has names for its dispatch keys.
TELLS_KEYS = _TELLS_LEVELS and all(
    hasattr(torch._C, name) for name in
    ("DispatchKey", "DispatchKeySet", "_dispatch_keys", "_dispatch_tls_local_include_set")
)


def _current_stream(device: int) -> int:
    return torch.cuda.current_stream(device).cuda_stream


#: The current stream of a device, as a number. PyTorch's own compiled code calls the private function,
#: which makes no object of it.
current_stream: Callable[[int], int]
current_stream = getattr(torch._C, "_cuda_getCurrentRawStream", _current_stream)

#: From here on plans of the compiled module take tensors in place of addresses, and None in place of the current
#: stream. It reads them by what PyTorch hands out for DLPack (from 2.10 on), or by their methods.
_native.read_tensors_by(getattr(Tensor, "__dlpack_c_exchange_api__", None), current_stream)


#: Makes a dense tensor of a size, strides and a type.
Maker = Callable[["tuple[int, ...]", "tuple[int, ...]", torch.dtype], Tensor]

#: The same on the current device without the dispatcher, which takes half as long: PyTorch's own compiled code
#: calls it.
_empty_on_current: Maker | None
_empty_on_current = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
_empty_on_current = getattr(_empty_on_current, "_empty_strided_cuda", None)
_current_device: Callable[[], int] = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)


def maker(device: int) -> Maker:
    """What makes tensors on this GPU, on which there are some already. To be called only where nobody would see
    it, as ``is_watched`` says."""
    if _empty_on_current is not None and _current_device() == device:
        return _empty_on_current
    place = torch.device("cuda", device)

    def make(shape: tuple[int, ...], strides: tuple[int, ...], kind: torch.dtype) -> Tensor:
        return torch.empty_strided(shape, strides, dtype=kind, device=place)

    return make


def _bits(*names: str) -> int:
    """Dispatch keys as one number."""
    bits = 0
    for name in names if TELLS_KEYS else ():
        bits |= torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, name)).raw_repr()
    return bits


#: Keys for which the dispatcher only finds the kernel of the device, gradients aside. A view that is
#: negated when read, a mode, a transform, a tracer: all of them add others.
_UNUSUAL_OF_TENSORS = ~_bits(
    "CPU", "CUDA", "ADInplaceOrView", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA"
)
_keys_of: Any = getattr(torch._C, "_dispatch_keys", None)
UNUSUAL_OF_THREADS = 2**64 - 1 - _bits("BackendSelect", "ADInplaceOrView")
keys_of_thread: Any = getattr(torch._C, "_dispatch_tls_local_include_set", None)


def is_watched() -> bool:
    """Whether a tracer, a mode or a transform of this thread would see a call. True if this cannot be known."""
    if is_compiling() or not TELLS_KEYS or forward_ad._current_level >= 0:
        return True
    return bool(keys_of_thread().raw_repr() & UNUSUAL_OF_THREADS)


def only_kernels_see(*tensors: Tensor | None) -> bool:
    """Whether a call of an operator would only call its kernel, gradients aside. Then the kernel can be
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
    """Whether tensors may be dual numbers. True if this cannot be known."""
    return not _TELLS_LEVELS or forward_ad._current_level >= 0


def is_differentiated() -> bool:
    """Whether ``torch.func`` differentiates what is running. True if this cannot be known."""
    if not _TELLS_LEVELS:
        return True
    levels = torch._C._functorch.get_interpreter_stack() or ()
    modes = torch._C._functorch.TransformType
    return any(level.key() in (modes.Grad, modes.Jvp) for level in levels)


def is_transformed() -> bool:
    """Whether dual numbers or derivatives of ``torch.func`` may be what is running."""
    return is_dual() or is_differentiated()


def is_batched(tensor: Tensor) -> bool:
    """Whether ``torch.vmap`` stands behind the tensor. True if this cannot be known."""
    return not _TELLS_LEVELS or bool(torch._C._functorch.is_batchedtensor(tensor))


def apply_of(function: Any) -> Callable[..., Any]:
    """``function.apply`` of a function of autograd, without its look for transforms: to be called only
    where ``only_kernels_see``, so that there are none."""
    apply: Callable[..., Any] = super(torch.autograd.Function, function).apply
    return apply
