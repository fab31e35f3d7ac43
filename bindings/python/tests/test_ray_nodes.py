"""``farpoint.ray.sample`` over two nodes, one of which goes away."""

import os
import subprocess
import sys

import pytest



ray = pytest.importorskip("ray", reason="Ray is not installed")
from ray_cluster import LIMIT, PACKAGE, limit, takes_minutes  # noqa: E402, F401

#: A process of its own: Ray is started in this one by other tests.
PROGRAM = """
import atexit, sys, numpy as np, ray, farpoint, farpoint.ray
sys.path.insert(0, {tests!r})
from ray.cluster_utils import Cluster
from ray_cluster import ENVIRONMENT, equal, room
from farpoint.ray import _sources, _workers

store = 100 << 20
cluster = Cluster(initialize_head=True, head_node_args={{"num_cpus": 1, "object_store_memory": store}})
other = cluster.add_node(num_cpus=1, object_store_memory=store)
ray.init(address=cluster.address, log_to_driver=False, runtime_env=ENVIRONMENT)
cluster.wait_for_nodes()
_sources._MAX_LOCAL_ROWS = {few}
transport, made, moved = _workers.Actors.transport, [], []
# Whatever happens, nothing stays.
atexit.register(lambda: (ray.shutdown(), cluster.shutdown()))

def lose(actors, calls):
    made.append(1)
    if len(made) == {after}:
        ready = ray.get([actor.ready.remote() for actor in actors.actors])
        cluster.remove_node(other, allow_graceful=False)
        # One more takes its place, as a cluster does that grows again.
        cluster.add_node(num_cpus=1, object_store_memory=store)
        moved.append(ready)
    return transport(actors, calls)

_workers.Actors.transport = lose
points = room(5000)
found = farpoint.ray.sample(points, ratio=0.25, tiles=2, num_cpus=1, time_limit=100, log={log!r})
assert len(moved) == 1 and len(made) > {after}, (moved, len(made))
equal(found, farpoint.sample(points, ratio=0.25, return_distances=True))
print("equal")
"""


@takes_minutes
@pytest.mark.parametrize("few, after", [(1 << 20, 30), (100, 12)])
def test_a_node_that_goes_away(few, after, tmp_path):
    """Its actor begins anew on another node; with a few rows a task, what it had of the points is made again, too."""
    tests = os.path.dirname(os.path.abspath(__file__))
    program = PROGRAM.format(tests=tests, few=few, after=after, log=str(tmp_path / "log"))
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT,
        env={**os.environ, "PYTHONPATH": PACKAGE},
    )
    assert ended.stdout.endswith("equal\n"), ended.stdout[-2000:] + ended.stderr[-4000:]
