#!/usr/bin/env python3
"""Benchmark of the point operators (k nearest, balls, gather, maximum, interpolation) on a GPU, with other libraries.

    python lab/python/operators.py [--turn SCAN] [--out FILE.md] [--json FILE.json]
    python lab/python/operators.py --cpu [--turn SCAN] [--out FILE.md] [--json FILE.json]

Every result is first compared bit for bit with that of farpoint on the CPU, including gradients. Figures are
medians, in milliseconds: "kernels" from CUDA events around replays of a captured graph; "call" from CUDA events
around consecutive calls, which is the host time where that is longer. Libraries that can be
imported are measured by their calls: mmcv, pytorch3d, torch_cluster, pointops. "Elsewhere" are figures of
public kernels that were measured once on another H100 (docs/development/measurements.md), not in this run.
Host times of calls are measured by calls.py. With --cpu: one thread, from arrays to results, including trees,
with pykdtree and SciPy.
"""

import argparse
import os
import pathlib
import sys
from typing import Any

if "--cpu" in sys.argv:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[variable] = "1"

import operators_clouds  # noqa: E402  (after the thread counts are set)
import operators_cpu  # noqa: E402
import record_files  # noqa: E402
from record_files import table  # noqa: E402


def reached(value, goal):
    return "" if goal is None or value is None else "yes" if value <= goal else f"no, {value / goal:.2f} x"


def gpu_text(record):
    here = [name for name in ("mmcv", "pytorch3d", "torch_cluster", "pointops")
            if any(name in row["peers"] for row in record["rows"])]
    columns = ["work", "kernels, ms", "call, ms", "goal, ms", "reached", *(f"{name}, ms" for name in here),
               "elsewhere, ms"]
    lines = [[row["work"], row["kernels"], row["call"], row["goal"], reached(row["kernels"], row["goal"]),
              *(row["peers"].get(name) for name in here), row["elsewhere"]] for row in record["rows"]]
    return "\n".join([
        table(columns, lines),
        "Results and gradients were compared with the CPU's bit for bit. \"Elsewhere\": public kernels, measured "
        "once on another H100 (docs/development/measurements.md), not in this run.\n",
    ])


def cpu_text(record):
    ways = list(record["rows"][0]["seconds"])
    lines = [[row["work"], *(row["seconds"][way] for way in ways), row["goal"],
              reached(row["seconds"]["farpoint"], row["goal"])] for row in record["rows"]]
    return table(["work", *(f"{way}, s" for way in ways), "goal, s", "reached"], lines) + \
        "\nOne thread, from arrays to results, trees included; medians of 5 runs that took turns. 200 rows of each " \
        "were compared with the obvious loop, bit for bit.\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--cpu", action="store_true", help="measure one core of the CPU")
    parser.add_argument("--turn", type=pathlib.Path, help="a LiDAR turn that farpoint reads; a generated one unless given")
    parser.add_argument("--only", default="", help="only works whose name has this text")
    record_files.arguments(parser)
    options = parser.parse_args()
    turn, name = operators_clouds.scan(options.turn)
    record: dict[str, Any] = {**record_files.begun(), "turn": name}
    if options.cpu:
        record["rows"] = list(operators_cpu.on_cpu(turn))
        text = cpu_text(record)
    else:
        text = gpu_text(gpu_record(record, turn, options.only))
    about = ", ".join(f"{key} {record[key]}" if key in ("python", "torch", "farpoint") else record[key]
                      for key in record if isinstance(record[key], str))
    text = f"# Point operators\n\n{about}. `{' '.join(['python', *sys.argv])}`\n\n{text}"
    record_files.written(options, text, record)


def gpu_record(record, turn, only):
    try:
        import torch
    except ImportError:
        raise SystemExit("skipped: torch is not installed; --cpu measures the CPU") from None
    if not torch.cuda.is_available():
        raise SystemExit("skipped: PyTorch sees no GPU here; --cpu measures the CPU")
    import operators_gpu

    record |= {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    record["rows"] = list(operators_gpu.on_gpu(turn, only))
    return record


if __name__ == "__main__":
    main()
