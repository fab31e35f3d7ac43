"""What a call of an operator takes on the host: the compiled half, the operator, a drop-in."""

import statistics
import sys
import time

import torch

import farpoint

ROUNDS = 180


class Recorder:
    """Stands for the compiled module, or an object of a class of it: keeps the calls that are made."""

    def __init__(self, target, calls):
        self.__dict__.update(target=target, calls=calls)

    def __getattr__(self, name):
        found = getattr(self.target, name)
        if not callable(found):
            return found

        def call(*arguments, **options):
            result = found(*arguments, **options)
            self.calls.append((found, arguments, options, result))
            plan = hasattr(farpoint._native, type(result).__name__)
            return Recorder(result, self.calls) if plan else result

        return call


def compiled_half(call):
    """Makes again the calls into the compiled half that the second of two calls made."""
    native, calls, held = farpoint._native, [], []
    users = [module for name, module in sys.modules.items()
             if name.startswith("farpoint") and getattr(module, "_native", None) is native]
    for module in users:
        module._native = Recorder(native, calls)
    try:
        held.append(call())
        calls.clear()
        held.append(call())
    finally:
        for module in users:
            module._native = native
    recorded = list(calls)
    # What the calls write to stays alive with the results.
    return lambda held=held: [found(*arguments, **options) for found, arguments, options, _ in recorded]


def on_host(call):
    """Microseconds on the host, which the GPU does not hold up: few calls at a time."""

    rounds = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(10):
            call()
        rounds.append((time.perf_counter() - begin) / 10 * 1e6)
    return statistics.median(rounds)


def overheads():
    """Rows of the table of calls: the operator, and a drop-in with the same result."""
    from farpoint.compat import pointnet2_ops
    from farpoint.compat.pytorch3d import ops as pytorch3d

    def tensors(points):
        x, values = torch.rand(2, points, 3, device="cuda"), torch.rand(2, points, 8, device="cuda")
        indices = torch.randint(points, (2, points, 4), device="cuda")
        weights = torch.rand(2, points, 4, device="cuda")
        return x, values, indices, weights, values.transpose(1, 2).contiguous(), indices.int()

    def calls(points):
        x, values, indices, weights, first, narrow = tensors(points)
        three = narrow[..., :3].contiguous(), weights[..., :3].contiguous()
        return {
            "knn": (lambda: farpoint.knn(x, x, 4), lambda: pytorch3d.knn_points(x, x, K=4)),
            "ball_query": (lambda: farpoint.ball_query(x, x, 0.2, 4), lambda: pointnet2_ops.ball_query(0.2, 4, x, x)),
            "gather": (lambda: farpoint.gather(values, indices), lambda: pointnet2_ops.grouping_operation(first, narrow)),
            "gather_max": (lambda: farpoint.gather_max(values, indices), None),
            "interpolate": (lambda: farpoint.interpolate(values, indices, weights),
                            lambda: pointnet2_ops.three_interpolate(first, *three)),
        }

    # Recorded with another size, so that no plan that is kept leads through the recorder.
    for (name, (operator, dropin)), (other, _) in zip(calls(64).items(), calls(65).values(), strict=True):
        half = on_host(compiled_half(other))
        figures = {"operator": name, "compiled_half": half, "call": on_host(operator),
                   "compat": dropin and on_host(dropin)}
        print(f"{name}: {half:.1f} us compiled, {figures['call']:.1f} a call, drop-in {figures['compat']}")
        yield figures
