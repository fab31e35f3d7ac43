"""PyTorch's side: farpoint as operators that ``torch.compile``, ``torch.export``, autograd and CUDA graphs
know. Importing this package does not import PyTorch; most of its modules do.

From the bottom up, each using only those before it:

* ``presence``: whether PyTorch has been imported.
* ``fast_path``: everything that rests on PyTorch's private names; optional.
* ``tracing``: what ``torch.compile`` cannot trace.
* ``memory``, ``transfer``: addresses and shapes of tensors; whole numbers on their way to a device.
* ``registration``: how an operator is registered, with its rules for ``torch.vmap`` and autocast.
* ``sampling``, ``neighbors``: the operators, on the CPU and on a GPU.
* ``met``: calls whose arguments were met before.
* ``values_kernels``, ``several_kernels``: kernels of the point operators, on the CPU and on a GPU; ``calls``: by
  which of kernel and operator a call goes.
* ``values``, ``interpolation``, ``several``: the point operators with their gradients.
* ``derivatives``: derivatives of nearest distances beyond the first, and inside ``torch.func``.
* ``search``: nearest points by whichever of these a call needs.
* ``chamfer``: the Chamfer distance as one operator.
* ``operators``: all of them; ``arrival`` imports it once PyTorch is imported.
"""
