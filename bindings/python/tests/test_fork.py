"""Processes forked after a call: DataLoader workers, pools of multiprocessing. A forked process has
one thread; the threads of its parent's pool are not there, and locks that they held stay locked."""

import os

import pytest
from conftest import needs_gpu
from processes import output

import farpoint

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
]

#: What is computed before a fork and after it: all that would wait for threads that are not there.
WORK = """
import numpy, farpoint
cloud = numpy.random.default_rng(0).random((50_000, 3), numpy.float32)
batch = cloud.reshape(10, 5000, 3)

def everything():
    sample = farpoint.sample(cloud, 5000)
    found = farpoint.nearest(cloud, cloud[sample])
    return [
        sample.tolist(), found.indices.tolist(), farpoint.sample(batch, 50).tolist(),
        farpoint.sample(cloud, 20, threads=3).tolist(),
        farpoint.chamfer(cloud[:30_000], cloud[20_000:]),
        farpoint.chamfer(batch[:5], batch[5:]).tolist(),
        farpoint.sample_grid(cloud, 500).tolist(),
        farpoint.quality(cloud, sample),
    ]

before = everything()
"""


def test_a_pool_of_processes_after_a_call():
    assert output(WORK + """
import multiprocessing

def same(_):
    return everything() == before

with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map_async(same, range(6)).get(timeout=100))
print(everything() == before)
""") == f"{[True] * 6}\nTrue\n"


def test_a_process_forked_by_a_forked_process():
    assert output(WORK + """
import multiprocessing
fork = multiprocessing.get_context("fork")

def child(send):
    send.put(everything() == before)
    inner = fork.Process(target=lambda: send.put(everything() == before))
    inner.start()
    inner.join(60)

send = fork.Queue()
outer = fork.Process(target=child, args=(send,))
outer.start()
print(send.get(timeout=100), send.get(timeout=100))
outer.join(60)
""") == "True True\n"


def test_workers_of_a_data_loader_after_a_call():
    pytest.importorskip("torch", reason="torch is not installed")
    assert output(WORK + """
import torch

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, row):
        points = torch.from_numpy(cloud)
        same = torch.equal(farpoint.sample(points, 5000), torch.tensor(before[0]))
        guess = points[:20_000].clone().requires_grad_()
        farpoint.chamfer(guess, points).backward()
        return same and everything() == before and bool(guess.grad.isfinite().all())

farpoint.sample(torch.from_numpy(cloud), 5000)
loader = torch.utils.data.DataLoader(
    Data(), num_workers=2, timeout=100, multiprocessing_context="fork"
)
print([bool(same) for same in loader])
""") == f"{[True] * 6}\n"


def test_a_fork_while_other_threads_are_inside_calls():
    """Each fork falls into a call that another thread is in."""
    assert output(WORK + """
import os, signal, threading, time
done = threading.Event()

def busy(call):
    while not done.is_set():
        call()

calls = [
    lambda: farpoint.sample(cloud, 2000), lambda: farpoint.nearest(cloud, cloud),
    lambda: farpoint.sample_grid(cloud, 900),
    lambda: farpoint.sample(cloud, 900, threads=2), lambda: farpoint.quality(cloud, before[0]),
]
threads = [threading.Thread(target=busy, args=(call,), daemon=True) for call in calls]
[thread.start() for thread in threads]
codes = []
for k in range(6):
    time.sleep(0.02 * k)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        os._exit(0 if everything() == before else 1)
    codes.append(os.waitpid(child, 0)[1])
done.set()
[thread.join(60) for thread in threads]
print(codes)
""") == f"{[0] * 6}\n"


def test_a_failed_look_for_cuda_fails_alike_in_a_forked_process():
    if farpoint._native.cuda_obstacle() is None:
        pytest.skip("there is a GPU")
    assert output("""
        import os
        from farpoint import _native
        before = _native.cuda_obstacle()
        child = os.fork()
        if child == 0:
            os._exit(0 if _native.cuda_obstacle() == before else 1)
        print(os.waitpid(child, 0)[1])
    """) == "0\n"


@needs_gpu
def test_cuda_after_a_fork_is_an_error_that_says_what_to_do():
    assert output(WORK + """
import os, signal
from farpoint import _native

_native.DeviceArray(0, 0, [8], "i8", 1).download()
child = os.fork()
if child == 0:
    signal.alarm(60)
    code = 1
    try:
        _native.DeviceArray(0, 0, [8], "i8", 1)
    except farpoint.CudaUnavailable as error:
        text = "spawn" in str(error) and "fork" in str(error)
        code = 0 if text and everything() == before else 2
    os._exit(code)
print(os.waitpid(child, 0)[1])
print(_native.DeviceArray(0, 0, [2], "i8", 1).download())
""") == "0\n[72340172838076673, 72340172838076673]\n"
