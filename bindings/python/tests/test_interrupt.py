"""Ctrl-C is heard during long calls, and bars are told how far they have come."""

import signal
import time

import numpy as np
import pytest
from conftest import cloud
from processes import running

import farpoint

#: Each would take minutes: in many dimensions nothing is left out, where no point is its own nearest.
CALLS = {
    "nearest": "farpoint.nearest(points, others)",
    "nearest, one thread": "farpoint.nearest(points, others, threads=1)",
    "nearest, norm 1": "farpoint.nearest(points, others, norm=1)",
    "chamfer": "farpoint.chamfer(points, others)",
    "chamfer of a batch": "farpoint.chamfer(points.reshape(5, -1, 16), others.reshape(5, -1, 16))",
    "quality": "farpoint.quality(points, numpy.arange(len(points)))",
    "quality of a batch": "farpoint.quality("
    "points.reshape(2, -1, 16), numpy.stack([numpy.arange(len(points) // 2)] * 2))",
    "sample of a batch": "farpoint.sample("
    "points[:, :3].copy().reshape(4, -1, 3), 50_000, algorithm='reference')",
    "sample_grid of a batch": "farpoint.sample_grid(numpy.broadcast_to(points, (1000, *points.shape)), 90_000)",
    "nearest of tensors": "farpoint.nearest(torch.from_numpy(points), torch.from_numpy(others))",
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_is_heard(call):
    imports = "import numpy, farpoint"
    if "tensors" in call:
        pytest.importorskip("torch", reason="torch is not installed")
        imports += ", torch"
    program = f"""
        {imports}
        points, others = numpy.random.default_rng(0).random((2, 400_000, 16), numpy.float32)
        try:
            print("ready", flush=True)
            {CALLS[call]}
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    with running(program) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        # A call that is not interrupted prints nothing, or is killed at the limit.
        assert child.stdout.readline() == "stopped\n"


def test_a_bar_of_quality(capsys, monkeypatch):
    points = cloud(60_000)
    rows = farpoint.sample(points, 50_000)
    expected = farpoint.quality(points, rows)
    assert farpoint.quality(points, rows, progress=True) == expected
    assert "measuring" in capsys.readouterr().err
    reported = []
    actual = farpoint._native.quality(points, [rows], None, 1, lambda *now: reported.append(now))
    assert actual[0][1] == list(expected[2:])
    assert all(0 <= done <= of == 110_000 for done, of in reported)


@pytest.mark.parametrize("threads", [1, 2])
def test_results_do_not_depend_on_being_watched(threads):
    """Long enough to be watched, and short enough to wait for."""
    x, y = cloud(60_000), cloud(50_000, seed=2)
    x_to_y = farpoint.nearest(x, y, threads=threads)
    parts = [farpoint.nearest(x[k:k + 20_000], y) for k in range(0, 60_000, 20_000)]
    np.testing.assert_array_equal(x_to_y.indices, np.concatenate([part.indices for part in parts]))
    pair = np.stack([x[:50_000], y]), np.stack([y, x[:50_000]])
    both = farpoint.nearest(*pair, threads=threads)
    np.testing.assert_array_equal(both.indices[0], x_to_y.indices[:50_000])
