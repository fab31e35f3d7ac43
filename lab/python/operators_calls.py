"""Host times of calls of farpoint's functions: the compiled half, the operator, a drop-in."""

import statistics
import sys
import time

import torch

import farpoint

#: Calls per round, more than the warm-up and fewer than a queue holds; and number of rounds.
CALLS, ROUNDS = 100, 25


class Recorder:
    """Proxy of the compiled module, or of one of its objects, that records calls."""

    def __init__(self, target, calls):
        self.__dict__.update(target=target, calls=calls)

    def __getattr__(self, name):
        outcome = getattr(self.target, name)
        if not callable(outcome):
            return outcome

        def call(*arguments, **options):
            result = outcome(*arguments, **options)
            self.calls.append((outcome, arguments, options, result))
            plan = hasattr(farpoint._native, type(result).__name__)
            return Recorder(result, self.calls) if plan else result

        return call


def forget_plans():
    """Clears cached plans, which would bypass a recorder, or use a finished one."""
    for name, module in sys.modules.items():
        if name.startswith("farpoint._"):
            for kept in ("_plans", "_cache"):
                if hasattr(module, kept):
                    getattr(module, kept).clear()


def compiled_half(call):
    """Returns a function that replays the calls into the compiled half made by the second of two calls."""
    native, calls, held = farpoint._native, [], []
    users = [module for name, module in sys.modules.items()
             if name.startswith("farpoint") and getattr(module, "_native", None) is native]
    forget_plans()
    for module in users:
        module._native = Recorder(native, calls)
    try:
        held.append(call())
        calls.clear()
        held.append(call())
    finally:
        for module in users:
            module._native = native
        forget_plans()
    if not calls:
        raise RuntimeError("no call into the compiled half was seen")
    recorded = list(calls)
    # Outputs of the calls stay alive with the results.
    return lambda held=held: [result(*arguments, **options) for result, arguments, options, _ in recorded]


def on_host(*calls):
    """Returns host microseconds of each call, not limited by the GPU: its queue is empty before each round. Calls
    alternate, since the speed of a shared machine changes. None for None."""

    rounds = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, times in zip(calls, rounds):
            if call is None:
                continue
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(CALLS):
                call()
            times.append((time.perf_counter() - begin) / CALLS * 1e6)
    return [statistics.median(times) if times else None for times in rounds]


def apart(more, less):
    return None if more is None or less is None else more - less


def overheads():
    """Yields rows of the table of calls: the operator, and a drop-in with the same result."""
    for name, (operator, dropin) in calls(64).items():
        times = on_host(operator and compiled_half(operator), operator, dropin)
        figures = {"operator": name, **dict(zip(("compiled_half", "call", "compat"), times, strict=True))}
        print(f"{name}: {figures}", flush=True)
        yield figures


def calls(points):
    """Returns by name a call of an operator, and one of a drop-in; either may be None."""
    from farpoint.compat import chamfer_3d, pointnet2_ops, torch_cluster
    from farpoint.compat.pytorch3d import ops as pytorch3d

    x, values = torch.rand(2, points, 3, device="cuda"), torch.rand(2, points, 8, device="cuda")
    indices, weights = torch.randint(points, (2, points, 4), device="cuda"), torch.rand(2, points, 4, device="cuda")
    first, narrow, index = values.transpose(1, 2).contiguous(), indices.int(), farpoint.Index(x)
    three = narrow[..., :3].contiguous(), weights[..., :3].contiguous()
    graded, cloud = values.clone().requires_grad_(), x[0].contiguous()
    lengths = torch.full((2,), points, device="cuda")
    batch = torch.arange(2, device="cuda").repeat_interleave(points)
    theirs, moved, leaf = chamfer_3d.chamfer_3DDist(), x.flip(1), x.clone().requires_grad_()
    return {
        "sample": (lambda: farpoint.sample(x, 8), lambda: pointnet2_ops.furthest_point_sample(x, 8)),
        "sample, with distances": (lambda: farpoint.sample(x, 8, return_distances=True), None),
        "sample, with lengths": (lambda: farpoint.sample(x, 8, lengths=lengths), None),
        "sample of a cloud": (lambda: farpoint.sample(cloud, 8), None),
        "nearest": (lambda: farpoint.nearest(x, moved), None),
        "nearest, both ways": (lambda: farpoint.neighbors.nearest_both(x, moved), lambda: theirs(x, moved)),
        "chamfer": (lambda: farpoint.chamfer(x, moved), None),
        "chamfer, differentiable": (lambda: farpoint.chamfer(leaf, moved), None),
        "knn": (lambda: farpoint.knn(x, x, 4), lambda: pytorch3d.knn_points(x, x, K=4)),
        "knn, with lengths": (lambda: farpoint.knn(x, x, 4, x_lengths=lengths, y_lengths=lengths), None),
        "knn, with an index": (lambda: index.knn(x, 4), None),
        "knn of a cloud": (lambda: farpoint.knn(cloud, cloud, 4), lambda: torch_cluster.knn_graph(cloud, 4)),
        "knn_graph of clouds in a batch": (None, lambda: torch_cluster.knn_graph(x.view(-1, 3), 4, batch)),
        "ball_query": (lambda: farpoint.ball_query(x, x, 0.2, 4), lambda: pointnet2_ops.ball_query(0.2, 4, x, x)),
        "gather": (lambda: farpoint.gather(values, indices), lambda: pointnet2_ops.grouping_operation(first, narrow)),
        "gather, differentiable": (lambda: farpoint.gather(graded, indices), None),
        "gather_max": (lambda: farpoint.gather_max(values, indices), None),
        "interpolate": (lambda: farpoint.interpolate(values, indices, weights),
                        lambda: pointnet2_ops.three_interpolate(first, *three)),
        "inverse_distance_weights": (lambda: farpoint.inverse_distance_weights(weights), None),
    }
