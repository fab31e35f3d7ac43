"""Who imports whom inside the package, read from the sources: nobody in a circle, and everybody downwards."""

import ast
import pathlib
import subprocess
import sys

import farpoint

ROOT = pathlib.Path(farpoint.__file__).parent

#: From the top down. A module uses those below its own floor, and those of its floor without a circle.
FLOORS = [
    ["farpoint.ray", "farpoint.__main__"],
    ["farpoint"],
    ["farpoint.compat"],
    ["farpoint.sampling", "farpoint.approximate", "farpoint.matching", "farpoint.neighbors", "farpoint.measures", "farpoint.files",
     "farpoint.devices", "farpoint.operators", "farpoint.index",
     "farpoint.many_files", "farpoint.one_file", "farpoint.levels", "farpoint.assignment",
     "farpoint.voxels"],
    ["farpoint._sample_arguments", "farpoint._search_arguments"],
    ["farpoint._arrays"],
    ["farpoint._torch"],
    ["farpoint._arguments", "farpoint._progress", "farpoint._typing", "farpoint._native",
     "farpoint._file_workers", "farpoint._admission"],
    ["farpoint._records", "farpoint._device_records"],
]

#: What replacements of other libraries may use below the public functions.
COMPAT_MAY_USE = {"farpoint._torch.lazy_torch", "farpoint._torch.transfer"}


def modules():
    """Name and tree of every module, that of the stub for the compiled one."""
    paths = [*ROOT.rglob("*.py"), ROOT / "_native.pyi"]
    for path in paths:
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, path.name == "__init__.py", ast.parse(path.read_text(encoding="utf-8"))


def imported(name, is_package, tree, known):
    """The modules of the package that a module imports anywhere: in functions and for types, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = name.split(".") if is_package or not node.level else name.split(".")[:-1]
            base = base[: len(base) - max(node.level - 1, 0)] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                if inner in known:
                    yield inner
                elif source in known:
                    yield source


def graph():
    result = list(modules())
    known = {name for name, *_ in result}
    return {name: set(imported(name, *rest, known)) - {name} for name, *rest in result}


def circle(uses):
    """A path that comes back to where it began, or None."""
    done = set()

    def walk(name, path):
        if name in path:
            return [*path[path.index(name):], name]
        if name in done:
            return None
        for other in sorted(uses[name]):
            result = walk(other, [*path, name])
            if result:
                return result
        done.add(name)
        return None

    return next((result for name in sorted(uses) if (result := walk(name, []))), None)


def floor(name):
    """The floor of the longest name that the module lies in."""
    places = [(len(one), k) for k, names in enumerate(FLOORS) for one in names
              if name == one or (name.startswith(f"{one}.") and one != "farpoint")]
    return max(places)[1]


def test_nobody_imports_in_a_circle():
    uses = graph()
    assert len(uses) > 35 and "farpoint._torch.chamfer" in uses["farpoint._arrays.torch"]
    assert "farpoint._torch.tracing" in uses["farpoint._torch.lazy_torch"]  # inside a function
    assert "farpoint.files" in uses["farpoint.sampling"]  # for types
    assert circle(uses) is None


def test_everybody_imports_downwards():
    for name, others in graph().items():
        up = [other for other in others if floor(other) < floor(name)]
        assert not up, f"{name} imports {up}"


def test_replacements_rest_on_public_functions():
    for name, others in graph().items():
        if name.startswith("farpoint.compat."):
            private = {other for other in others if "._" in other.removeprefix("farpoint.compat.")}
            private = {other for other in private if not other.startswith("farpoint.compat.")}
            assert private <= COMPAT_MAY_USE, name


def test_circles_are_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    tree = ast.parse("def f():\n    from . import d\nfrom ..e import g\nfrom .b import x\n")
    known = {"p.q.d", "p.e", "p.e.g", "p.q.b"}
    assert set(imported("p.q.c", False, tree, known)) == {"p.q.d", "p.e.g", "p.q.b"}


def test_nothing_of_others_is_imported_for_arrays():
    code = "import sys, numpy; before = set(sys.modules); import farpoint; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    loaded = {name for name in done.stdout.split() if not name.startswith("farpoint")}
    assert not {name.partition(".")[0] for name in loaded} & {"torch", "jax", "cupy", "numba", "tqdm", "open3d"}
    # Each of these takes as long as a tenth of the package, and most of what it brings in.
    slow = {"importlib.abc", "importlib.resources", "subprocess", "json", "queue", "threading", "numpy.typing"}
    assert not loaded & slow
    assert not done.stdout.count("farpoint._file_workers") + done.stdout.count("farpoint._device_records")
