"""What the tests share."""

import os

import pytest

# Code that was compiled before, perhaps for operators with other arguments, is not used again.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"


@pytest.fixture(scope="session")
def cuda():
    """PyTorch, if it sees a GPU."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA here")
    return torch
