"""Loading kernels ahead: which device is meant, and what is said without one."""

import numpy as np
import pytest
from conftest import cloud

import farpoint
from farpoint import _arguments, _native

GPUS = 0 if _native.cuda_obstacle() else _native.cuda_devices()


@pytest.mark.parametrize("device", [None, 0, np.int64(0).item(), "cuda", "cuda:0"])
def test_all_kernels_are_loaded_or_the_reason_is_told(device):
    if not GPUS:
        with pytest.raises(farpoint.CudaUnavailable, match="CUDA can't be used here"):
            farpoint.warm_up(device)
        return
    assert farpoint.warm_up(device) is None
    # Again, with nothing left to load.
    assert farpoint.warm_up(device) is None


def test_a_device_that_is_not_there():
    with pytest.raises(farpoint.CudaUnavailable):
        farpoint.warm_up(max(GPUS, 1))


@pytest.mark.parametrize(
    "device", [-1, 1 << 31, True, 1.0, "cpu", "cuda:", "cuda:-1", "cuda:x", "cuda:0 ", cloud(2)]
)
def test_refused(device):
    with pytest.raises(ValueError, match="device"):
        farpoint.warm_up(device)


def test_points_in_host_memory_name_a_device():
    points = cloud(50)
    np.testing.assert_array_equal(farpoint.sample(points, 5, device="cpu"), farpoint.sample(points, 5))
    for call in (lambda device: farpoint.sample(points, 5, device=device), lambda device: farpoint.order(points, device=device)):
        with pytest.raises(farpoint.CudaUnavailable):
            call(max(GPUS, 1))
        with pytest.raises(ValueError, match="device must be a number, 'cuda' or 'cuda:N', not 'gpu'"):
            call("gpu")
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="device is for points in host memory, as NumPy arrays.*remove it, or move"):
        farpoint.sample(torch.from_numpy(points), 5, device="cuda")


def test_numbers_and_names():
    assert [_arguments.gpu_number(device) for device in (None, "cuda", 3, "cuda:12")] == [0, 0, 3, 12]


def test_devices_of_pytorch(monkeypatch):
    torch = pytest.importorskip("torch")
    assert _arguments.gpu_number(torch.device("cuda", 2)) == 2
    with pytest.raises(ValueError, match="device"):
        farpoint.warm_up(torch.device("cpu"))
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 5)
    assert [_arguments.gpu_number(device) for device in (None, "cuda", "cuda:1")] == [5, 5, 1]
    assert _arguments.gpu_number(torch.device("cuda")) == 5
