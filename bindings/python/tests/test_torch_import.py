"""Whichever comes first, farpoint or PyTorch: operators are known once both are there."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

KNOWN = "torch.ops.farpoint.sample.default, torch.ops.farpoint.chamfer.default"


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_torch_is_not_imported_for_arrays():
    run("import sys, numpy, farpoint; farpoint.sample(numpy.zeros((3, 3)), 2); "
        "assert 'torch' not in sys.modules")


@pytest.mark.parametrize("order", ["farpoint, torch", "torch, farpoint", "farpoint, torch.utils"])
def test_operators_are_known_in_either_order(order):
    assert "farpoint.sample" in run(f"import {order}; print({KNOWN})")


@pytest.mark.parametrize("first", ["farpoint._torch.derivatives", "farpoint._torch.memory", "farpoint._arrays.torch", "farpoint.compat.torch_cluster"])
def test_modules_that_bring_torch_in(first):
    run(f"import warnings; warnings.simplefilter('error', UserWarning); import {first}, farpoint._torch.operators; "
        f"import torch; {KNOWN}")


def test_nothing_stays_behind_and_nothing_is_imported_too_early():
    run(f"""
import importlib.util, sys
before = list(sys.meta_path)
import farpoint
assert importlib.util.find_spec("torch").origin and "torch" not in sys.modules  # who asks only
import torch
{KNOWN}
assert sys.meta_path == before, sys.meta_path
assert "exec_module" not in vars(torch.__spec__.loader)
assert "torch._dynamo" not in sys.modules  # a second to load
farpoint.chamfer(torch.rand(5, 3), torch.rand(5, 3))
farpoint.check(torch.rand(5, 3))
assert "torch._dynamo" not in sys.modules
""")


def test_torch_out_of_bounds():
    """As tests of others have it that must not load it."""
    run("import sys, numpy; sys.modules['torch'] = None; import farpoint; "
        "assert farpoint.sample(numpy.eye(3), 2).tolist() == [0, 1]")


def test_an_import_that_fails_may_be_repeated(tmp_path):
    """The first try finds a torch that raises; the second the real one."""
    (tmp_path / "torch.py").write_text("raise ImportError('not this one')")
    run(f"""
import sys, farpoint
sys.path.insert(0, {str(tmp_path)!r})
try:
    import torch
    raise SystemExit("it was imported")
except ImportError as error:
    assert "not this one" in str(error)
sys.path.pop(0)
import torch
{KNOWN}
""")


def test_two_finders_that_ask_each_other():
    run(f"""
import sys, farpoint
class Other:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            for finder in sys.meta_path:
                if finder is not self and (spec := finder.find_spec(name, path, target)):
                    return spec
sys.meta_path.insert(0, Other())
import torch
{KNOWN}
""")


@pytest.mark.parametrize("order", ["farpoint, torch", "torch, farpoint"])
def test_exported_programs_are_loaded(order, tmp_path):
    import farpoint

    class Sampler(torch.nn.Module):
        def forward(self, points):
            rows = farpoint.sample(points, 4)
            chosen = points.gather(1, rows.unsqueeze(-1).expand(-1, -1, 3))
            return chosen, farpoint.chamfer(points, chosen)

    points = torch.rand(2, 20, 3)
    torch.export.save(torch.export.export(Sampler(), (points,)), tmp_path / "sampler.pt2")
    torch.save((points, Sampler()(points)), tmp_path / "wanted.pt")
    run(f"""
import {order}
points, expected = torch.load({str(tmp_path / "wanted.pt")!r})
found = torch.export.load({str(tmp_path / "sampler.pt2")!r}).module()(points)
for mine, theirs in zip(found, expected):
    torch.testing.assert_close(mine, theirs)
""")
