"""The table of docs/compat.md that says which names each module of ``farpoint.compat`` has.

    python3 bindings/python/tests/compat_names.py docs/compat.md

writes it into the document. Modules are parsed, not imported: nothing needs to be installed.
"""

import ast
import pathlib
import sys

PACKAGE = pathlib.Path(__file__).parents[1] / "python" / "farpoint" / "compat"
BEGIN, END = "<!-- names: begin -->\n", "<!-- names: end -->\n"

#: What each module stands for, in the order of the table.
ORIGINALS = {
    "pointnet2_ops": "`pointnet2_ops`",
    "pointnet2_ops.pointnet2_utils": "`pointnet2_ops.pointnet2_utils`",
    "pointnet2_ops.pointnet2_modules": "`pointnet2_ops.pointnet2_modules`",
    "pointnet2_batch": "`pcdet.ops.pointnet2.pointnet2_batch`",
    "pointnet2_batch.pointnet2_utils": "`pcdet.ops.pointnet2.pointnet2_batch.pointnet2_utils`",
    "pointnet2_batch.pointnet2_modules": "`pcdet.ops.pointnet2.pointnet2_batch.pointnet2_modules`",
    "pointnet2_stack": "`pcdet.ops.pointnet2.pointnet2_stack`",
    "pointnet2_stack.pointnet2_utils": "`pcdet.ops.pointnet2.pointnet2_stack.pointnet2_utils`",
    "pointnet2_stack.pointnet2_modules": "`pcdet.ops.pointnet2.pointnet2_stack.pointnet2_modules`",
    "openpoints": "`openpoints.models.layers`",
    "openpoints.data_util": "`openpoints.dataset.data_util`",
    "openpoints.group": "`openpoints.models.layers.group`",
    "openpoints.knn": "`openpoints.models.layers.knn`",
    "openpoints.subsample": "`openpoints.models.layers.subsample`",
    "openpoints.upsampling": "`openpoints.models.layers.upsampling`",
    "pointops": "`pointops` of Pointcept",
    "pointcept": "`GridSample` of `pointcept.datasets.transform`",
    "mmcv": "`mmcv.ops`",
    "pytorch3d": "`pytorch3d.ops` and `pytorch3d.loss`",
    "pytorch3d.ops": "`pytorch3d.ops`",
    "pytorch3d.loss": "`pytorch3d.loss`",
    "torch_cluster": "`torch_cluster`",
    "torch_geometric": "`torch_geometric.nn`",
    "torch_geometric.nn": "`torch_geometric.nn`",
    "pyg_lib": "`pyg_lib`",
    "pyg_lib.ops": "`pyg_lib.ops`",
    "kaolin": "`kaolin.ops.pointcloud` and `kaolin.metrics.pointcloud`",
    "open3d": "methods of `open3d.geometry.PointCloud` and `open3d.t.geometry.PointCloud`",
    "chamfer_3d": "all modules of ChamferDistancePytorch",
    "chamfer2D.dist_chamfer_2D": "`chamfer2D.dist_chamfer_2D` of ChamferDistancePytorch",
    "chamfer3D.dist_chamfer_3D": "`chamfer3D.dist_chamfer_3D` of ChamferDistancePytorch",
    "chamfer5D.dist_chamfer_5D": "`chamfer5D.dist_chamfer_5D` of ChamferDistancePytorch",
    "chamfer6D.dist_chamfer_6D": "`chamfer6D.dist_chamfer_6D` of ChamferDistancePytorch",
    "fscore": "`fscore` of ChamferDistancePytorch",
    "fpsample": "`fpsample`",
    "torch_fps": "`torch_fps`",
    "torch_quickfps": "`torch_quickfps`",
}


def path_of(module):
    """The file of a module, by its name below ``farpoint.compat``; None where there is none."""
    base = PACKAGE.joinpath(*module.split(".")) if module else PACKAGE
    result = [path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()]
    return result[0] if result else None


def public(module):
    """``__all__`` of a module."""
    for node in ast.parse(path_of(module).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__":
            return ast.literal_eval(node.value)
    raise SystemExit(f"farpoint.compat.{module} has no __all__")


def modules(parent=""):
    """Every public module with its names, those of modules in it left out."""
    for name in public(parent):
        module = f"{parent}.{name}".lstrip(".")
        if path_of(module):
            names = [name for name in public(module) if not path_of(f"{module}.{name}")]
            yield module, names
            yield from modules(module)


def table():
    """A row a module; what its own modules have is not said again."""
    result = {module: names for module, names in modules() if names}
    unknown = result.keys() - ORIGINALS.keys()
    if unknown:
        raise SystemExit(f"what do these stand for? add them to ORIGINALS: {sorted(unknown)}")
    lines = ["", "| `farpoint.compat.` | instead of | names |", "|---|---|---|"]
    for module in (module for module in ORIGINALS if module in result):
        names, parts = set(result[module]), []
        for inner in (inner for inner in result if inner.startswith(f"{module}.")):
            if set(result[inner]) <= set(result[module]):
                parts.append(f"all of `{inner.removeprefix(f'{module}.')}`")
                names -= set(result[inner])
        parts += [f"`{name}`" for name in sorted(names, key=lambda name: (name.lower(), name))]
        lines.append(f"| `{module}` | {ORIGINALS[module]} | {', '.join(parts)} |")
    return "\n".join([*lines, "", ""])


def with_table(document):
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + table() + END + after


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")
