#!/usr/bin/env python3
"""Time of a training step with the Chamfer distance on a GPU, and its parts.

    python lab/python/step.py [--pairs 32] [--points 2048] [--out FILE.md]

A step is the Chamfer distance of (B, N, 3) and (B, N, 3) random points in the unit cube, float32, its mean
over the batch, and the gradient of the first (or of both) clouds. Figures are medians of 9 rounds of 200
steps, in microseconds:

* "queued": consecutive steps, synchronized once per round: the cost of a step in a program that
  has other work for the GPU;
* "waited": synchronized after each step;
* "GPU": from CUDA events around replays of a captured graph of the step: the kernels alone, with the gaps
  between them.
Where the CPU is busy longer than the GPU, "queued" is the CPU's time. Missing libraries are skipped and
reported. Other libraries are compared if they can be imported: pytorch3d, ChamferDistancePytorch (its
extension `chamfer_3D`), kaolin.
"""

import argparse
import datetime
import pathlib
import platform
import statistics
import time

import torch

import farpoint
from farpoint._records import Reduction
from farpoint._torch import chamfer, fast_path, search

ROUNDS, STEPS = 9, 200


def median(call, after):
    """Returns microseconds per call, with `after` called after each of them or at the end of a round."""
    rounds = []
    for _ in range(ROUNDS + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(STEPS):
            call()
            if after:
                torch.cuda.synchronize()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - begin) / STEPS * 1e6)
    return statistics.median(rounds[1:])


def on_host(call):
    """Returns host microseconds per call, not limited by the GPU: few at a time."""
    rounds = []
    for _ in range(20 * ROUNDS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(10):
            call()
        rounds.append((time.perf_counter() - begin) / 10 * 1e6)
    return statistics.median(rounds)


def captured(step):
    """Returns a replay of the step, or None if it can't be captured."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    try:
        with torch.cuda.stream(stream):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
    except RuntimeError as error:
        print(f"skipped: a graph ({str(error).splitlines()[0]})")
        torch.cuda.synchronize()
        return None
    return graph.replay


def events(call):
    """Returns microseconds per call on the GPU."""
    rounds = []
    for _ in range(ROUNDS):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        for _ in range(STEPS):
            call()
        last.record()
        torch.cuda.synchronize()
        rounds.append(first.elapsed_time(last) / STEPS * 1e3)
    return statistics.median(rounds)


def stepper(value, x, y):
    def step():
        x.grad = y.grad = None
        value(x, y).mean().backward()

    return step


def by_search(x, y):
    """Computes the distance without the operator: by a search, and PyTorch's own reductions."""
    return search.reduced(x, y, None, None, Reduction(2, False, "mean", True, None))


def by_torch(x, y):
    """Computes the distance from all pairs, by a common expression."""
    squares = torch.cdist(x, y).square()
    return squares.amin(2).mean(1) + squares.amin(1).mean(1)


def others():
    """Returns by name the Chamfer distances of other libraries, with one value per pair."""
    result = {}
    try:
        from pytorch3d.loss import chamfer_distance

        result["pytorch3d"] = lambda x, y: chamfer_distance(x, y, batch_reduction=None)[0]
    except ImportError as error:
        print(f"skipped: pytorch3d ({error})")
    try:
        from chamfer3D.dist_chamfer_3D import chamfer_3DDist

        distance = chamfer_3DDist()
        result["ChamferDistancePytorch"] = lambda x, y: sum(side.mean(1) for side in distance(x, y)[:2])
    except ImportError as error:
        print(f"skipped: ChamferDistancePytorch ({error})")
    try:
        from kaolin.metrics.pointcloud import chamfer_distance as of_kaolin

        result["kaolin"] = of_kaolin
    except ImportError as error:
        print(f"skipped: kaolin ({error})")
    return result


def steps(x, y):
    """Yields rows of the first table."""
    ways = {"farpoint": farpoint.chamfer, "farpoint, search and PyTorch's sums": by_search}
    ways |= {"PyTorch, cdist": by_torch} | others()
    for name, value in ways.items():
        try:
            step = stepper(value, x, y)
            for _ in range(5):
                step()
            replay = captured(step)
            yield name, median(step, False), median(step, True), replay and events(replay)
            if name == "farpoint" and replay:
                yield "farpoint, CUDA graph", median(replay, False), median(replay, True), events(replay)
        except (RuntimeError, TypeError) as error:
            print(f"skipped: {name} ({str(error).splitlines()[0]})")
    yield from compiled_steps(x, y)


def compiled_steps(x, y):
    for name, options in (("torch.compile", {}), ("torch.compile, reduce-overhead", dict(mode="reduce-overhead"))):
        try:
            loss = torch.compile(lambda x, y: farpoint.chamfer(x, y).mean(), fullgraph=True, **options)

            def step(loss=loss):
                x.grad = y.grad = None
                loss(x, y).backward()

            for _ in range(5):
                step()
            yield f"farpoint, {name}", median(step, False), median(step, True), None
        except Exception as error:  # compilers fail in various ways
            print(f"skipped: {name} ({str(error).splitlines()[0]})")


def layers(x, y):
    """Yields rows of the second table: host microseconds, from the inside out."""
    reduction = Reduction(2, False, "mean", True, None)
    plan = chamfer.plan_of(x, y, reduction)
    value, distances = x.new_empty(plan.value), x.new_empty(plan.distances)
    indices = x.new_empty(plan.indices, dtype=torch.int64)
    gx, gy = torch.empty_like(x), torch.empty_like(y)
    scratch = x.new_empty(max(*plan.scratch, 1), dtype=torch.uint8)
    grad = torch.full((1,), 1 / len(x), device=x.device).expand(len(x))
    stream = fast_path.current_stream(x.get_device())
    inputs = [stream, x.data_ptr(), y.data_ptr(), 0, 0]
    forward = [*inputs, value.data_ptr(), distances.data_ptr(), indices.data_ptr(), scratch.data_ptr()]
    to_x = [gx.data_ptr(), 0 if not y.requires_grad else gy.data_ptr(), scratch.data_ptr()]
    backward = [*inputs, 0, indices.data_ptr(), grad.data_ptr(), 0, *to_x]
    yield "forward: compiled half", on_host(lambda: plan.forward(*forward))
    yield "forward: with memory and plan", on_host(lambda: chamfer._on_cuda(x, y, None, None, reduction, True))
    with torch.no_grad():
        yield "forward: chamfer without gradients", on_host(lambda: farpoint.chamfer(x, y))
    yield "forward: chamfer", on_host(lambda: farpoint.chamfer(x, y))
    yield "backward: compiled half", on_host(lambda: plan.backward(*backward))
    arguments = (x, y, None, None, indices, None, grad, reduction, True, y.requires_grad)
    yield "backward: with memory and plan", on_host(lambda: chamfer._gradients_on_cuda(*arguments))
    yield "step: chamfer, mean, backward", on_host(stepper(farpoint.chamfer, x, y))
    leaf = torch.rand(len(x), device=x.device, requires_grad=True)
    yield "step of nothing: mean, backward of a leaf", on_host(lambda: leaf.mean().backward())


def table(title, columns, rows):
    def shown(cell):
        return cell if isinstance(cell, str) else "-" if cell is None else f"{cell:.1f}"

    lines = [f"| {title} | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    lines += ["| " + " | ".join(shown(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def report(pairs, points):
    torch.manual_seed(1)
    text = [
        "# A training step with the Chamfer distance\n",
        f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, {torch.cuda.get_device_name()}, torch "
        f"{torch.__version__}, Python {platform.python_version()}, farpoint {farpoint.__version__}. `python "
        f"lab/python/step.py --pairs {pairs} --points {points}`: {pairs} pairs of {points} and "
        f"{points} points, float32, microseconds; the script says what is measured.\n",
    ]
    for both in (False, True):
        x, y = (torch.rand(pairs, points, 3, device="cuda").requires_grad_(needs_gradient) for needs_gradient in (True, both))
        whose = "both clouds" if both else "the first cloud"
        rows = [*steps(x, y)]
        text.append(table(f"step, gradient of {whose}", ["queued", "waited", "GPU"], rows) + "\n")
        text.append(table(f"host, gradient of {whose}", ["us"], [*layers(x, y)]) + "\n")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=32)
    parser.add_argument("--points", type=int, default=2048)
    parser.add_argument("--out", type=pathlib.Path, help="write the tables to this file")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("skipped: PyTorch sees no GPU here")
    text = report(options.pairs, options.points)
    print(text)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text)
        print(f"written: {options.out}")


if __name__ == "__main__":
    main()
