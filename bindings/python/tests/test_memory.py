"""Little memory, and few threads: an error that says so, and the next call works.

The programs run in processes of their own, under limits that only Linux has."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")

#: What is called with little address space left; larger than what the allocator has at hand.
CALLS = """
import threading
import numpy as np
import farpoint

cloud = np.random.default_rng(1).random((200_000, 3), dtype=np.float32)
few = np.ascontiguousarray(cloud[:20_000])
rows = np.arange(0, 200_000, 2)
flat = (np.arange(400_000) % 200_000).reshape(200_000, 2)
weights = np.ones((200_000, 2), np.float32)
# More than the 64 MiB that the process keeps for the next call, and gives up where memory is lacking.
large = np.random.default_rng(2).random((4_000_000, 3), dtype=np.float32)
batch = large.reshape(2, 2_000_000, 3)
all_rows = np.arange(4_000_000)
index = farpoint.Index(cloud)
CALLS = {
    "sample": lambda: farpoint.sample(large, 5_000),
    "sample on threads": lambda: farpoint.sample(large, 5_000, threads=3),
    "sample rows": lambda: farpoint.sample(large, 1000, rows=all_rows),
    "sample batch": lambda: farpoint.sample(batch, 5_000),
    "order": lambda: farpoint.order(cloud),
    "approximate": lambda: farpoint.sample_grid(large, 1000),
    "centroids": lambda: farpoint.centroids(large, cell=0.05),
    "quality": lambda: farpoint.quality(cloud, rows),
    "nearest": lambda: farpoint.nearest(cloud, few),
    "chamfer": lambda: farpoint.chamfer(large, few),
    "knn": lambda: farpoint.knn(cloud, few, 16),
    "knn of an index": lambda: index.knn(few, 16),
    "ball_query": lambda: farpoint.ball_query(cloud, few, 0.1, 16),
    "Index": lambda: farpoint.Index(large),
    "gather": lambda: farpoint.gather(cloud, flat),
    "gather_max": lambda: farpoint.gather_max(cloud, flat),
    "interpolate": lambda: farpoint.interpolate(cloud, flat, weights),
}
for call in CALLS.values():
    call()
"""

LIMITS = """
import resource


def in_use():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


unlimited = resource.getrlimit(resource.RLIMIT_AS)


def lacks_memory(call, more):
    ready, go, raised = threading.Event(), threading.Event(), []

    def run():
        ready.set()
        go.wait()
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait()
    resource.setrlimit(resource.RLIMIT_AS, (in_use() + more, unlimited[1]))
    try:
        go.set()
        thread.join()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, unlimited)
    assert all(isinstance(error, MemoryError) for error in raised), raised
    return bool(raised)


for name, call in CALLS.items():
    steps = [256, 64, 24, 12, 6, 3, 2, 1]
    failed = sum(lacks_memory(call, more << 20) for more in steps)
    call()
    print(name, failed, flush=True)
"""


#: The allocator gives back what is freed, and reserves no address space for each thread.
ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "MALLOC_ARENA_MAX": "1",
}


def run(program):
    """Runs a program to its end; fails with what it said unless its status is 0."""
    line = [sys.executable, "-c", textwrap.dedent(program)]
    environment = {**os.environ, **ENVIRONMENT}
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout}\n{done.stderr[-3000:]}"
    return done.stdout


def test_little_address_space_is_a_memory_error():
    said = dict(line.rsplit(" ", 1) for line in run(CALLS + LIMITS).splitlines())
    assert len(said) == 17
    without = [name for name, failed in said.items() if failed == "0"]
    assert not without, f"these never lacked memory: {without}"


def test_answers_that_no_memory_holds():
    run("""
    import numpy as np
    import farpoint

    wide = np.broadcast_to(np.float32(1), (2, 2**40))
    for call in [
        lambda: farpoint.gather(np.zeros((2, 10**6)), np.zeros((10**7, 1), int)),
        lambda: farpoint.sample(wide, 1),
        lambda: farpoint.knn(wide, wide, 1),
        lambda: farpoint.Index(wide),
        lambda: farpoint.chamfer(wide, wide),
    ]:
        try:
            call()
        except MemoryError as error:
            assert len(str(error).splitlines()) == 1
        else:
            raise AssertionError("no error")
    assert farpoint.sample(np.eye(3), 2).tolist() == [0, 1]
    """)


def test_threads_that_are_refused_are_fewer():
    """As a user with a limit of one process, which root is not held to."""
    program = """
    import os
    import resource
    import numpy as np
    import farpoint

    cloud = np.random.default_rng(1).random((200_000, 3), dtype=np.float32)
    before = resource.getrlimit(resource.RLIMIT_NPROC)
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(54321)
        os.setuid(54321)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, before[1]))
    few = [farpoint.sample(cloud, 1000), farpoint.sample(cloud, 1000, threads=4)]
    farpoint.knn(cloud, cloud[:1000], 4)
    farpoint.quality(cloud, few[0])
    farpoint.sample(cloud, 1000, progress=True)
    resource.setrlimit(resource.RLIMIT_NPROC, before)
    few += [farpoint.sample(cloud, 1000), farpoint.sample(cloud, 1000, threads=4)]
    assert all((few[0] == other).all() for other in few)
    """
    run(program)


def test_indices_that_another_thread_changes():
    run("""
    import threading
    import numpy as np
    import farpoint

    values = np.zeros((1000, 32), np.float32)
    indices = np.zeros((200_000, 1), np.int64)
    over = threading.Event()

    def change():
        while not over.wait(0.002):
            indices[100_000:] = 10**9
            over.wait(0.001)
            indices[100_000:] = 0

    thread = threading.Thread(target=change)
    thread.start()
    said = set()
    try:
        for _ in range(300):
            for call in (farpoint.gather, farpoint.gather_max):
                try:
                    call(values, indices)
                except (IndexError, ValueError) as error:
                    said.add(str(error).split(" (")[0])
    finally:
        over.set()
        thread.join()
    assert any("changed while" in text for text in said), said
    """)
