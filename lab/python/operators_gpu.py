"""Benchmark of the operators on a GPU: inputs, calls of farpoint and of other libraries, checks against the CPU."""

import contextlib
import importlib
import statistics
from typing import NamedTuple

import numpy as np
import torch
from operators_clouds import room

import farpoint

ROUNDS = 9
#: Approximate duration of a round, in milliseconds.
ROUND = 30.0
RADIUS, BATCH_RADIUS = 0.3, 0.1


class Row(NamedTuple):
    """A measurement; arguments are names of inputs, or numbers."""

    name: str
    kind: str
    arguments: tuple
    goal: float | None = None
    elsewhere: str = ""


def rows(quarter):
    few = f"{quarter:,}"
    yield Row(f"ball of {RADIUS}, k 32, {few} centers in the turn", "ball", ("quarter", "turn", RADIUS, 32), 0.15,
              "mmcv 16.0, openpoints 16.1, pytorch3d 33")
    yield Row("the same, with an index", "ball_index", ("quarter", "turn", RADIUS, 32), 0.03)
    yield Row(f"ball of {BATCH_RADIUS}, k 32, 8 x (24,000 to 6,000)", "ball",
              ("centers", "rooms", BATCH_RADIUS, 32), 0.12, "mmcv 3.0, openpoints 3.1, pytorch3d 8.0")
    for k, goal, elsewhere in ((16, 0.45, "mmcv 19.0, pointops 19.2, pytorch3d 34"),
                               (32, 0.65, "mmcv 23.7, pointops 25.0, pytorch3d 37")):
        yield Row(f"{k} nearest, the turn in itself", "knn", ("turn", "turn", k), goal, elsewhere)
    yield Row("16 nearest, with an index", "knn_index", ("turn", "turn", 16), 0.2)
    for k, goal, elsewhere in ((16, 0.6, "mmcv 7.2, torch_cluster 60"), (32, 0.9, "mmcv 14.1, torch_cluster 232")):
        yield Row(f"{k} nearest, 8 x 24,000 in themselves", "knn", ("rooms", "rooms", k), goal, elsewhere)
    yield Row("three nearest of the turn in its quarter", "knn", ("turn", "quarter", 3), 0.2,
              "mmcv 5.5, openpoints 6.3, pytorch3d 8.1")
    yield Row(f"gather, {few} x 32 x 64", "gather", ("values", "places"), 0.10)
    yield Row("its gradient", "gather_backward", ("values", "places", "grads"), 0.25)
    yield Row(f"gather_max with add, {few} x 32 x 64", "gather_max", ("values", "places", "grads"), 0.10)
    yield Row("interpolate three, 64 channels, to the turn", "interpolate", ("coarse", "three", "weights"), 0.02,
              "mmcv 0.057")
    yield Row("ball of 0.2, k 32, 32 x (1,024 to 512)", "ball", ("objects_few", "objects", 0.2, 32), 0.012)
    yield Row("16 nearest, 64 x 4,096 in themselves", "knn", ("clouds", "clouds", 16))


def inputs(turn):
    """Returns all inputs by name, as tensors on the CPU."""
    def batch(count, points):
        return torch.from_numpy(np.stack([room(points, seed) for seed in range(count)]))

    def thinned(cloud, points):
        return farpoint.gather(cloud, farpoint.sample(cloud, points))

    random = torch.Generator().manual_seed(1)
    of = {"turn": torch.from_numpy(turn), "rooms": batch(8, 24_000), "objects": batch(32, 1024) / 4,
          "clouds": batch(64, 4096)}
    of["quarter"] = thinned(of["turn"], len(turn) // 4)
    of["centers"], of["objects_few"] = thinned(of["rooms"], 6000), thinned(of["objects"], 512)
    of["places"] = farpoint.ball_query(of["quarter"], of["turn"], RADIUS, 32).indices
    three = farpoint.knn(of["turn"], of["quarter"], 3)
    of["three"], of["weights"] = three.indices, farpoint.inverse_distance_weights(three.distances)
    of["values"] = torch.randn(len(turn), 64, generator=random)
    of["coarse"] = torch.randn(len(of["quarter"]), 64, generator=random)
    of["grads"] = torch.randn(*of["places"].shape, 64, generator=random)
    return of


def ours(kind, arguments):
    """Returns a call without arguments; None if this version of farpoint lacks it."""
    if kind == "gather_backward":
        # As an operator: autograd would run on the stream of the forward pass, which no graph can capture.
        values, places, grads = arguments
        return lambda: torch.ops.farpoint.gather_backward(places, grads, len(values), False, None)
    if kind.endswith("_index"):
        if not hasattr(farpoint, "Index"):
            return None
        x, y, *numbers = arguments
        index = farpoint.Index(y)
        return lambda: (index.knn if kind == "knn_index" else index.ball_query)(x, *numbers)
    function = {"knn": farpoint.knn, "ball": farpoint.ball_query, "gather": farpoint.gather,
                "gather_max": farpoint.gather_max, "interpolate": farpoint.interpolate}[kind]
    return lambda: function(*arguments)


def theirs(kind, arguments):
    """Returns calls of other libraries by name."""
    def batched(tensor):
        return tensor if tensor.ndim == 3 else tensor.unsqueeze(0)

    if kind == "interpolate":
        values, places, weights = arguments
        tensors = (values.T.unsqueeze(0).contiguous(), places.int().unsqueeze(0), weights.unsqueeze(0))
        return {"mmcv": lambda ops: lambda: ops.three_interpolate(*tensors)}
    if kind not in ("knn", "ball"):
        return {}
    x, y, *numbers = batched(arguments[0]), batched(arguments[1]), *arguments[2:]
    k = numbers[-1]
    if kind == "ball":
        return {
            "mmcv": lambda ops: lambda: ops.ball_query(0, numbers[0], k, y, x),
            "pytorch3d": lambda ops: lambda: ops.ball_query(x, y, K=k, radius=numbers[0], return_nn=False),
        }
    flat, clouds = [tensor.reshape(-1, 3) for tensor in (x, y)], len(x)
    of = [torch.arange(clouds, device=x.device).repeat_interleave(tensor.shape[1]) for tensor in (x, y)]
    ends = [(torch.arange(clouds, device=x.device, dtype=torch.int32) + 1) * tensor.shape[1] for tensor in (x, y)]
    return {
        "mmcv": lambda ops: lambda: ops.three_nn(x, y) if k == 3 else ops.knn(k, y, x),
        "pytorch3d": lambda ops: lambda: ops.knn_points(x, y, K=k),
        "torch_cluster": lambda ops: lambda: ops.knn(flat[1], flat[0], k, of[1], of[0]),
        "pointops": lambda ops: lambda: ops.knn_query(k, flat[1], ends[1], flat[0], ends[0]),
    }


def libraries():
    """Returns the installed modules of other libraries, by name."""
    result = {}
    for name, module in (("mmcv", "mmcv.ops"), ("pytorch3d", "pytorch3d.ops"), ("torch_cluster", "torch_cluster"),
                         ("pointops", "pointops")):
        try:
            result[name] = importlib.import_module(module)
        except (ImportError, OSError) as error:
            print(f"skipped: {name} ({str(error).splitlines()[0]})")
    return result


def bits(result):
    """Returns all tensors of a result on the CPU, with floating-point numbers as their bits."""
    parts = (result,) if isinstance(result, torch.Tensor) else tuple(result)
    integer_types = {4: torch.int32, 8: torch.int64}
    return [part.cpu().view(integer_types[part.element_size()]) if part.is_floating_point() else part.cpu() for part in parts]


def check(name, actual, truth):
    for place, (mine, expected) in enumerate(zip(bits(actual), bits(truth), strict=True)):
        if not torch.equal(mine, expected):
            wrong = (mine != expected).sum().item() if mine.shape == expected.shape else "all"
            raise SystemExit(f"{name}: part {place} differs from the CPU in {wrong} of {expected.numel()} places")


def captured(call):
    """Returns a replay of the call; None if it can't be captured."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    try:
        with torch.cuda.stream(stream):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
    except RuntimeError as error:
        print(f"skipped: a graph ({str(error).splitlines()[0]})")
        torch.cuda.synchronize()
        return None
    return graph.replay


def milliseconds(call):
    """Returns milliseconds by CUDA events: the median of rounds of about the same duration."""
    def once(calls):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        for _ in range(calls):
            call()
        last.record()
        torch.cuda.synchronize()
        return first.elapsed_time(last) / calls

    once(3)
    calls = int(min(max(ROUND / max(once(3), 1e-4), 3), 500))
    return statistics.median(once(calls) for _ in range(ROUNDS))


def measured(row, cpu_inputs, gpu_inputs, peers):
    """Returns a row of the record; None if farpoint lacks the operator."""
    def arguments(of):
        return [of[one] if isinstance(one, str) else one for one in row.arguments]

    call = ours(row.kind, arguments(gpu_inputs))
    if call is None:
        print(f"skipped: {row.name} (this farpoint has none)")
        return None
    check(row.name, call(), ours(row.kind.removesuffix("_index"), arguments(cpu_inputs))())
    replay = captured(call)
    figures = {"work": row.name, "kernels": replay and milliseconds(replay), "call": milliseconds(call),
               "goal": row.goal, "elsewhere": row.elsewhere, "peers": {}}
    for name, make in theirs(row.kind, arguments(gpu_inputs)).items():
        if name in peers:
            with skipping(f"{name}, {row.name}"):
                figures["peers"][name] = milliseconds(make(peers[name]))
    print(f"{row.name}: {figures['kernels']} ms, {figures['call']:.4f} ms a call, equal to the CPU", flush=True)
    return figures


@contextlib.contextmanager
def skipping(what):
    """Reports a library that fails, and continues."""
    try:
        yield
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        print(f"skipped: {what} ({(str(error).splitlines() or [type(error).__name__])[0]})")


def on_gpu(turn, only):
    """Yields rows of the record for measurements whose name contains this text."""
    here = inputs(turn)
    gpu_inputs = {name: tensor.cuda() for name, tensor in here.items()}
    peers = libraries()
    for row in rows(len(here["quarter"])):
        if only in row.name and (figures := measured(row, here, gpu_inputs, peers)):
            yield figures
