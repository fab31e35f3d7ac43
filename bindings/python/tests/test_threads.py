"""The number of threads of calls that set none: of the process, and in workers of PyTorch's DataLoader."""

import sys

import pytest
from processes import running

import farpoint


@pytest.fixture(autouse=True)
def unset():
    yield
    farpoint.set_num_threads(None)


def test_threads_are_set_for_the_process():
    usual = farpoint.get_num_threads()
    farpoint.set_num_threads(3)
    assert farpoint.get_num_threads() == 3
    farpoint.set_num_threads(None)
    assert farpoint.get_num_threads() == usual
    for wrong, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="threads"):
            farpoint.set_num_threads(wrong)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts the threads of /proc")
def test_one_thread_starts_no_other():
    code = """
import os, numpy, farpoint
cloud = numpy.random.default_rng(1).random((100_000, 3), dtype=numpy.float32)
rows = numpy.random.default_rng(2).integers(0, 100_000, (100_000, 3))
weights = cloud[:, :3].copy()
before = len(os.listdir("/proc/self/task"))
farpoint.set_num_threads(1)
farpoint.sample(cloud, 1000), farpoint.knn(cloud, cloud, 3), farpoint.sample(cloud[None], 1000)
farpoint.gather_max(cloud, rows), farpoint.interpolate(cloud, rows, weights), farpoint.gather(cloud, rows)
assert len(os.listdir("/proc/self/task")) == before
farpoint.set_num_threads(None)
for operator, more in ((farpoint.gather, ()), (farpoint.gather_max, ()), (farpoint.interpolate, (weights,))):
    operator(cloud, rows, *more, threads=1)
assert len(os.listdir("/proc/self/task")) == before
farpoint.set_num_threads(2)
farpoint.gather(cloud, rows)
assert len(os.listdir("/proc/self/task")) > before
"""
    with running(code) as process:
        assert process.wait(60) == 0


def test_operators_take_a_number_of_threads():
    """The bits of one thread, also of gradients; and no number that is none."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    draw = torch.Generator().manual_seed(1)
    rows = torch.randint(-1, 5000, (9000, 4), generator=draw)
    weights, add = torch.rand((9000, 4), generator=draw), torch.rand((9000, 4, 16), generator=draw)
    for call in (
        lambda v, threads: farpoint.gather(v, rows, threads=threads),
        lambda v, threads: farpoint.gather_max(v, rows, threads=threads),
        lambda v, threads: farpoint.gather_max(v, rows, add, threads=threads),
        lambda v, threads: farpoint.interpolate(v, rows, weights, threads=threads),
    ):
        results = []
        for threads in (1, 2, 16, None):
            values = torch.rand((5000, 16), generator=torch.Generator().manual_seed(2)).requires_grad_()
            result = call(values, threads)
            result.square().sum().backward()
            results.append((result, values.grad))
        for other in results[1:]:
            assert all(torch.equal(a, b) for a, b in zip(results[0], other))
        for wrong, error in ((0, ValueError), (1.5, TypeError)):
            with pytest.raises(error, match="threads"):
                call(values, wrong)
    values = values.detach().numpy()
    for threads in (1, 3):
        assert (farpoint.gather(values, rows.numpy(), threads=threads) == farpoint.gather(values, rows.numpy())).all()


def test_workers_of_a_data_loader_have_pytorchs_number():
    data = pytest.importorskip("torch.utils.data", reason="PyTorch is not installed")

    class Told(data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, _):
            import torch

            torch.set_num_threads(5)
            return farpoint.get_num_threads()

    usual = farpoint.get_num_threads()
    loader = data.DataLoader(Told(), num_workers=1, batch_size=None, timeout=60)
    assert list(loader) == [5, 5]
    assert data.get_worker_info() is None and farpoint.get_num_threads() == usual
