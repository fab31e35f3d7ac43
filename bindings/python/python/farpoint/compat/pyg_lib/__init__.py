"""Drop-in replacement for ``pyg_lib``: ``pyg_lib.ops`` has its functions on points, and ``install()`` makes PyTorch
Geometric run without it.

    import pyg_lib    ->    from farpoint.compat import pyg_lib

    pyg_lib.install()    # enables the layers of torch_geometric that search among points
"""

from __future__ import annotations

import torch

from .._scripted import define, edges, rows
from . import ops

__all__ = ["install", "ops"]

#: Schemas of pyg-lib 0.6, with the function and the shape of its result.
_OPERATORS = (
    ("fps(Tensor src, Tensor ptr, float ratio=0.5, bool random_start=True)", ops.fps, rows),
    (
        "knn(Tensor x, Tensor y, Tensor? ptr_x=None, Tensor? ptr_y=None, int k=1, bool cosine=False, "
        "int num_workers=1)",
        lambda x, y, ptr_x, ptr_y, *rest: ops.knn(x, y, rest[0], ptr_x, ptr_y, *rest[1:]), edges,
    ),
    (
        "radius(Tensor x, Tensor y, Tensor? ptr_x=None, Tensor? ptr_y=None, float r=1.0, "
        "int max_num_neighbors=32, int num_workers=1, bool ignore_same_index=False)",
        lambda x, y, ptr_x, ptr_y, *rest: ops.radius(x, y, rest[0], ptr_x, ptr_y, *rest[1:]), edges,
    ),
    (
        "nearest(Tensor x, Tensor y, Tensor? ptr_x=None, Tensor? ptr_y=None)", ops.nearest,
        lambda x, *_: x.new_empty(x.shape[0], dtype=torch.int64),
    ),
    (
        "grid_cluster(Tensor pos, Tensor size, Tensor? start=None, Tensor? end=None)", ops.grid_cluster,
        lambda pos, *_: pos.new_empty(pos.shape[0], dtype=torch.int64),
    ),
)

_library = torch.library.Library("pyg", "FRAGMENT")


def install() -> None:
    """Register ``torch.ops.pyg.fps``, ``knn``, ``radius``, ``nearest`` and ``grid_cluster`` in this process, for code
    that calls them: functions of ``torch_geometric.nn`` such as ``knn_graph``, and the layers ``DynamicEdgeConv``,
    ``GravNetConv`` and ``XConv``.

    Operators that ``pyg_lib`` has registered stay as they are; it cannot be imported afterwards. PyTorch Geometric
    2.8 and later, if it is installed, is notified. Differs on purpose as the functions of ``pyg_lib.ops`` here.
    """
    for schema, function, fake in _OPERATORS:
        if not hasattr(torch.ops.pyg, schema.partition("(")[0]):
            define(f"{schema} -> Tensor", function, fake, _library)
    try:
        from torch_geometric import typing
    except ImportError:
        return
    for name in ("FPS", "GRID_CLUSTER", "KNN", "NEAREST", "RADIUS"):
        setattr(typing, f"WITH_{name}", True)
