"""Only public names of farpoint are used, and the modules of the package have no circle."""

import ast
import pathlib
import re

import farpoint_segmentation

ROOT = pathlib.Path(farpoint_segmentation.__file__).parent
SCRIPTS = pathlib.Path(__file__).parents[1] / "scripts"


def trees():
    """Name, package and tree of every module."""
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = parts[:-1] if is_package else parts
        yield ".".join(name), name if is_package else name[:-1], ast.parse(path.read_text(encoding="utf-8"))


def imported(tree, package=()):
    """Every module, and every name of a module, that is imported anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{source}.{alias.name}" for alias in node.names)


def attributes(tree):
    """Names such as ``farpoint.files.read``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.fullmatch(r"farpoint(\.\w+)+", name := ast.unparse(node)):
            yield name


def test_only_public_names_of_farpoint():
    sources = {name: tree for name, _, tree in trees()}
    sources |= {path.name: ast.parse(path.read_text(encoding="utf-8")) for path in SCRIPTS.glob("*.py")}
    used = {}
    for name, tree in sources.items():
        result = [*imported(tree), *attributes(tree)]
        used[name] = [one for one in result if one == "farpoint" or one.startswith("farpoint.")]
        private = [one for one in used[name] if "._" in one]
        assert not private, f"{name} uses {private}"
    assert "farpoint.Index" in used["farpoint_segmentation.networks.geometry"]


def test_nobody_imports_in_a_circle():
    known = {name for name, *_ in trees()}
    uses = {}
    for name, package, tree in trees():
        result = {one if one in known else one.rpartition(".")[0] for one in imported(tree, package)}
        uses[name] = (result & known) - {name}
    assert "farpoint_segmentation.networks.geometry" in uses["farpoint_segmentation.networks.network"]
    while leaves := [name for name, others in uses.items() if not others & uses.keys()]:
        for name in leaves:
            del uses[name]
    assert not uses, f"in a circle, or above one: {sorted(uses)}"
