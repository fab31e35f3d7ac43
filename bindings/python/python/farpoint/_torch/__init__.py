"""PyTorch support: farpoint as operators for ``torch.compile``, ``torch.export``, autograd and CUDA graphs.
Importing this package does not import PyTorch; most of its modules do.

Modules from the bottom up, each using only earlier ones:

* ``lazy_torch``: checks for PyTorch without importing it.
* ``fast_path``: optional use of PyTorch's private API.
* ``tracing``: calls that ``torch.compile`` cannot trace.
* ``memory``, ``transfer``: addresses and shapes of tensors; integers copied to a device.
* ``registration``: registration of operators, with their rules for ``torch.vmap`` and autocast.
* ``sampling``, ``neighbors``: the operators, on the CPU and on a GPU.
* ``shape_cache``: cache of plans for repeated calls.
* ``values_kernels``, ``knn_kernels``: kernels of the point operators, on the CPU and on a GPU; ``calls``:
  dispatch between kernel and operator.
* ``formulas``: the point operators by PyTorch's own operations, for what ``torch.compile`` traces.
* ``values``, ``interpolation``, ``knn``: the point operators with their derivatives.
* ``derivatives``: higher derivatives of nearest distances, and derivatives inside ``torch.func``.
* ``search``: nearest points, dispatched to one of these.
* ``chamfer``: the Chamfer distance as one operator.
* ``operators``: imports all of them; ``import_hook`` imports it once PyTorch is imported.
"""
