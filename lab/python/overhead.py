#!/usr/bin/env python3
"""Overhead of a call from Python, in microseconds.

    python lab/python/overhead.py [--out lab/records/python]

A call with negligible work (8 of 64 points; nearest points of 64 and 64, both ways) is
repeated many times; the figure is the median of 7 rounds, each the mean of its calls. "compiled half" is
the call of the Rust function from Python with prepared arguments; the difference to the row above is the cost of
the Python half. On a GPU the work is queued: calls are timed on the host, after a warm-up, with the
queue kept short. "and backward" adds PyTorch's engine, and a second call of the compiled half.
"""

import argparse
import csv
import datetime
import os
import pathlib
import platform
import statistics
import time

import numpy as np

import farpoint
from farpoint import _native


def microseconds(call, calls, after=lambda: None):
    rounds = []
    for _ in range(8):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        rounds.append((time.perf_counter() - begin) / calls * 1e6)
        after()
    return statistics.median(rounds[1:])


def on_cpu():
    points = np.random.default_rng(1).random((64, 3), dtype=np.float32)
    batch, out = points[None], np.empty(8, np.int64)
    ready = (8, None, None, None, None, None, None, "auto", None, False, False, None, None)
    yield "compiled half", lambda: _native.sample(points, *ready)
    yield "NumPy array", lambda: farpoint.sample(points, 8)
    yield "NumPy array, out=", lambda: farpoint.sample(points, 8, out=out)
    yield "NumPy array, distances", lambda: farpoint.sample(points, 8, return_distances=True)
    yield "NumPy batch of one", lambda: farpoint.sample(batch, 8)
    try:
        import torch
    except ImportError:
        print("skipped: tensors (torch is not installed)")
        return
    tensor = torch.from_numpy(points)
    yield "CPU tensor", lambda: farpoint.sample(tensor, 8)
    yield "CPU tensor, distances", lambda: farpoint.sample(tensor, 8, return_distances=True)
    yield "compiled half, nearest", lambda: _native.match_clouds(
        (batch, batch, None, None), 2, "auto", None, True
    )
    yield "Chamfer of NumPy arrays", lambda: farpoint.chamfer(points, points)
    yield from chamfer_of(tensor)


def chamfer_of(points):
    """Yields calls on tensors on the device of ``points``, with their names."""
    from farpoint._torch import neighbors

    batch, other = points.unsqueeze(0), points.clone().requires_grad_()
    yield "nearest of tensors", lambda: farpoint.nearest(points, points)
    yield "nearest, the operator", lambda: neighbors.match_clouds(batch, batch, None, None, 2, None, True)
    yield "Chamfer of tensors", lambda: farpoint.chamfer(points, points)
    yield "Chamfer, differentiable", lambda: farpoint.chamfer(points, other)
    yield "Chamfer and backward", lambda: farpoint.chamfer(points, other).backward()


def on_gpu():
    import torch

    points = torch.rand(64, 3, device="cuda")
    batch = points.unsqueeze(0)
    ready = (8, None, None, None, None, "auto", None)
    room = torch.empty((4, 64), dtype=torch.int64, device="cuda")
    stream, address, (first, second, third, fourth) = (
        torch.cuda.current_stream().cuda_stream, points.data_ptr(), [row.data_ptr() for row in room]
    )
    plan = _native.CudaSample(0, False, (1, 64, 3), (3, 1), 8, "auto")
    spare = torch.empty(plan.scratch[1], dtype=torch.uint8, device="cuda")
    scratch = spare.data_ptr()
    yield "compiled half", lambda: plan.sample(stream, address, 0, first, 0, 0, scratch)
    yield "CUDA tensor", lambda: farpoint.sample(points, 8)
    yield "compiled half, distances", lambda: plan.sample(stream, address, 0, first, second, third, scratch)
    yield "CUDA tensor, distances", lambda: farpoint.sample(points, 8, return_distances=True)
    yield "CUDA operator", lambda: torch.ops.farpoint.sample(batch, *ready)
    nearest = _native.CudaNearest(0, False, (1, 64, 64, 3), ((3, 1), (3, 1)), 2, True)
    more = torch.empty(max(nearest.scratch[0], 1), dtype=torch.uint8, device="cuda")
    yield "compiled half, nearest", lambda: nearest.search(
        stream, address, address, 0, 0, first, second, third, fourth, more.data_ptr()
    )
    yield from chamfer_of(points)


def measure():
    rows = []
    for name, call in on_cpu():
        rows.append(("CPU", name, microseconds(call, 2000)))
    if _native.cuda_obstacle() is not None:
        print(f"skipped: GPU ({_native.cuda_obstacle()})")
        return rows
    import torch

    for name, call in on_gpu():
        rows.append((torch.cuda.get_device_name(), name, microseconds(call, 200, torch.cuda.synchronize)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=pathlib.Path, help="write a record to this folder")
    options = parser.parse_args()
    rows, least = [], {}
    for device, name, time_of_call in measure():
        if name.startswith("compiled half"):
            least[device] = time_of_call
        rows.append({
            "date": datetime.date.today().isoformat(), "machine": machine(), "device": device,
            "python": platform.python_version(), "numpy": np.__version__,
            "farpoint": farpoint.__version__, "call": name, "microseconds": f"{time_of_call:.2f}",
            "over_compiled_half": f"{time_of_call - least[device]:.2f}",
        })
        print(f"{device:<24} {name:<26} {time_of_call:8.2f} us, {time_of_call - least[device]:6.2f} us over "
              "the compiled half")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        path = options.out / f"overhead-{datetime.date.today()}.csv"
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"written: {path}")


def machine():
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.split(':')[1].strip()}, {os.cpu_count()} cores"
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
