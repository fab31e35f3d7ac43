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
before = len(os.listdir("/proc/self/task"))
farpoint.set_num_threads(1)
farpoint.sample(cloud, 1000), farpoint.knn(cloud, cloud, 3), farpoint.sample(cloud[None], 1000)
assert len(os.listdir("/proc/self/task")) == before
farpoint.set_num_threads(2)
farpoint.sample(cloud, 1000)
assert len(os.listdir("/proc/self/task")) > before
"""
    with running(code) as process:
        assert process.wait(60) == 0


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
