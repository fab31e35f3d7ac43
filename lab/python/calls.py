#!/usr/bin/env python3
"""Host time of a call from PyTorch, and its parts. On a machine with a GPU:

    python lab/python/calls.py [--rounds 25] [--out FILE.md] [--json FILE.json]

made lab/records/python/calls.md. Microseconds, medians of alternating rounds of a hundred calls, since the
speed of a machine changes; the GPU's queue is empty before each round and never full. "Compiled half" are the
calls into the compiled module that an operator makes, recorded and replayed with the same tensors.
"""

import argparse
import statistics
import sys

import operators_calls
import record_files
import torch
from record_files import table

import farpoint
from farpoint import _sample_arguments, _search_arguments, matching
from farpoint._arrays import library_of_pair, torch_operators, torch_sampling
from farpoint._torch import fast_path, knn_kernels, shape_cache
from farpoint._torch import sampling as of_samples


def parts():
    """Returns the parts of calls, by name, as functions."""
    points = torch.rand(64, 3, device="cuda")
    few = _sample_arguments.simple_request(8, None, "auto", None, False)
    near = _search_arguments.nearest_request(4)
    farpoint.sample(points, 8), farpoint.knn(points, points, 4)
    sampled = shape_cache.lookup(few, torch_sampling._prepare_sampling, points, points)
    searched = shape_cache.lookup(near, torch_operators._prepare_search, points, points)
    make = fast_path.maker(0)
    return {
        "record of the arguments of sample": lambda: _sample_arguments.simple_request(8, None, "auto", None, False),
        "record of the arguments of knn": lambda: _search_arguments.nearest_request(4),
        "record of the arguments of nearest": lambda: matching._search(None, None, True, 2, None, False, False),
        "library of two arrays": lambda: library_of_pair(points, points),
        "a shape that is in the cache, of a cloud": lambda: shape_cache.lookup(few, torch_sampling._prepare_sampling, points, points),
        "of it, by the compiled module": lambda: shape_cache._cache.find(torch_sampling._prepare_sampling, few, points, points),
        "of it, a look at modes and transforms": fast_path.is_watched,
        "current device": lambda: fast_path.maker(0),
        "an empty tensor": lambda: make((8,), (1,), torch.int64),
        "answer of sample, with its compiled half": lambda: of_samples.answer(sampled, points),
        "answer of knn, with its compiled half": lambda: knn_kernels.answer(
            searched, points, points, None, None, None, None, None),
        "sample": lambda: farpoint.sample(points, 8),
        "knn": lambda: farpoint.knn(points, points, 4),
    }


def between_events(call, calls, rounds):
    """Returns milliseconds per call on the GPU, from ``calls`` consecutive calls."""
    times = []
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / calls)
    return statistics.median(times)


def small_clouds(rounds):
    """Returns milliseconds of sampling 512 points of each of 32 clouds of 1,024: through PyTorch, and as a graph."""
    points = torch.rand(32, 1024, 3, device="cuda")

    def call():
        return farpoint.sample(points, 512)

    call()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return {
        "one call": between_events(call, 1, rounds), "20 calls in a row": between_events(call, 20, rounds),
        "a graph": between_events(graph.replay, 1, rounds),
        "20 graphs in a row": between_events(graph.replay, 20, rounds),
    }


def text_of(record):
    about = ", ".join(f"{key} {record[key]}" for key in ("machine", "python", "device", "torch", "farpoint"))
    apart = operators_calls.apart
    calls = [[one["operator"], one["compiled_half"], one["call"], apart(one["call"], one["compiled_half"]),
              one["compat"], apart(one["compat"], one["call"])] for one in record["calls"]]
    return "\n".join([
        "# Calls from PyTorch\n", f"{record['date']}, {about}. `{' '.join(['python', *sys.argv])}`\n",
        "Calls on the host, microseconds:\n",
        table(["operator", "compiled half", "call", "over the compiled half", "drop-in", "over the call"], calls),
        "What they are made of, microseconds:\n", table(["part", "time"], record["parts"].items()),
        "32 clouds of 1,024 points, 512 samples each, through PyTorch, milliseconds of the GPU's clock:\n",
        table(["", "time"], record["small_clouds"].items()),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=25, help="rounds of a hundred calls")
    record_files.arguments(parser)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("skipped: PyTorch sees no GPU here")
    operators_calls.ROUNDS = options.rounds
    named = parts()
    record = {
        **record_files.begun(), "device": torch.cuda.get_device_name(), "torch": torch.__version__,
        "small_clouds": small_clouds(options.rounds),
        "parts": dict(zip(named, operators_calls.on_host(*named.values()))),
        "calls": list(operators_calls.overheads()),
    }
    record_files.written(options, text_of(record), record)


if __name__ == "__main__":
    main()
