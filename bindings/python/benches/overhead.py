#!/usr/bin/env python3
"""What a call from Python takes beside the sampling itself, in microseconds.

    python benches/overhead.py [--out benches/records]

A sampling so small that it takes next to nothing (8 of 64 points) is called many times; the figure is the
median of 7 rounds, each the mean of its calls. "compiled half" is the call of the Rust function from
Python with ready arguments; the difference to it is what the Python half adds. On a GPU the work is
queued: calls are timed on the host, after a warm-up, with the queue kept short.
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
from farpoint import _farpoint


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
    yield "compiled half", lambda: _farpoint.sample(points, *ready)
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


def on_gpu():
    import torch

    points = torch.rand(64, 3, device="cuda")
    batch = points.unsqueeze(0)
    ready = (8, None, None, None, None, "auto", None)
    indices = torch.empty((1, 8), dtype=torch.int64, device="cuda")
    from farpoint import _cuda

    farpoint.sample(points, 8)
    scratch = torch.empty(max(_cuda.scratch_bytes(0, False, (1, 64, 3), 8, "auto"), 1),
                          dtype=torch.uint8, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream
    source = _cuda.Input(0, stream, False, points.data_ptr(), (3, 1), (1, 64, 3))
    target = _cuda.Output(indices.data_ptr(), scratch=(scratch.data_ptr(), scratch.numel()))
    yield "compiled half", lambda: _farpoint.cuda_sample(source, target, 8, None, "auto")
    yield "CUDA tensor", lambda: farpoint.sample(points, 8)
    yield "CUDA tensor, distances", lambda: farpoint.sample(points, 8, return_distances=True)
    yield "CUDA operator", lambda: torch.ops.farpoint.sample(batch, *ready)


def measure():
    rows = []
    for name, call in on_cpu():
        rows.append(("CPU", name, microseconds(call, 2000)))
    if _farpoint.cuda_obstacle() is not None:
        print(f"skipped: GPU ({_farpoint.cuda_obstacle()})")
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
        least.setdefault(device, time_of_call)
        rows.append({
            "date": datetime.date.today().isoformat(), "machine": machine(), "device": device,
            "python": platform.python_version(), "numpy": np.__version__,
            "farpoint": farpoint.__version__, "call": name, "microseconds": f"{time_of_call:.2f}",
            "over_compiled_half": f"{time_of_call - least[device]:.2f}",
        })
        print(f"{device:<24} {name:<24} {time_of_call:8.2f} us, {time_of_call - least[device]:6.2f} us over "
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
