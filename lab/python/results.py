#!/usr/bin/env python3
"""Hashes of the results of the Python package: every public function on arrays x libraries x modes.

    python lab/python/results.py                      prints a line per result of the libraries found here
    python lab/python/results.py --compare FILE       compares with such lines; lines of one side only are listed, too

Equal hashes mean equal bits, types, shapes and devices. A mode that a function refuses is recorded with the type of its
error. Run it before a change of the package's inside and after it: `lab/records/python/results-{cpu,cuda}.txt`.
Modes of PyTorch: plain, grad (first derivatives), second (derivatives of these), compile (`fullgraph=True`), vmap,
autocast, graph (a captured CUDA graph, replayed).
"""

import argparse
import hashlib
import importlib
import sys
import warnings

import numpy as np

import farpoint

BATCH, POINTS, FEW, K, CHANNELS = 3, 300, 40, 5, 4


def numbers(seed, *shape, kinds=1 << 16):
    """Values in [0, 1) of an own generator, which no library's release changes."""
    state = (np.arange(np.prod(shape), dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
    state ^= state >> np.uint64(29)
    state *= np.uint64(0xBF58476D1CE4E5B9)
    return ((state >> np.uint64(40)) % np.uint64(kinds)).reshape(shape).astype(np.float64) / kinds


def inputs(dtype):
    """The clouds: random, with ties and duplicates on a lattice, and the values at their points."""
    points = np.concatenate([numbers(1, 2, POINTS, 3), numbers(2, 1, POINTS, 3, kinds=5)]).astype(dtype)
    few = numbers(3, BATCH, FEW, 3).astype(dtype)
    indices = (numbers(4, BATCH, FEW, K) * POINTS).astype(np.int64)
    values = numbers(5, BATCH, POINTS, CHANNELS).astype(dtype)
    weights = numbers(6, BATCH, FEW, K).astype(dtype)
    return {"points": points, "few": few, "indices": indices, "values": values, "weights": weights}


#: Functions by name: what they are called with, by names of `inputs`, and the call.
CALLS = {
    "sample": (["points"], lambda p: farpoint.sample(p, FEW)),
    "sample.distances": (["points"], lambda p: farpoint.sample(p, FEW, return_distances=True)),
    "sample.seed": (["points"], lambda p: farpoint.sample(p, ratio=0.1, seed=7)),
    "sample.lengths": (["points"], lambda p: farpoint.sample(p, FEW, lengths=[300, 20, 100])),
    "sample.offsets": (["values"], lambda v: farpoint.sample(v.reshape(-1, CHANNELS), [9, 20], offsets=[0, 400, 900])),
    "sample.cloud": (["points"], lambda p: farpoint.sample(p[0], FEW, start=3)),
    "order": (["points"], farpoint.order),
    "sample_padded": (["points"], lambda p: farpoint.sample_padded(p, [5, 9, 30])),
    "sample_ragged": (["points"], lambda p: farpoint.sample_ragged(p.reshape(-1, 3), [0, 400, 900], [9, 20])),
    "sample_levels": (["points"], lambda p: farpoint.sample_levels(p, [100, 20], return_covering_radius=True)),
    "sample_random": (["points"], lambda p: farpoint.sample_random(p, FEW, seed=3)),
    "sample_grid": (["points"], lambda p: farpoint.sample_grid(p, FEW)),
    "sample_morton": (["points"], lambda p: farpoint.sample_morton(p, FEW)),
    "sample_npdu": (["points"], lambda p: farpoint.sample_npdu(p, FEW)),
    "sample_fastpoint": (["points"], lambda p: farpoint.sample_fastpoint(p, FEW)),
    "centroids": (["points"], lambda p: farpoint.centroids(p, cell=0.2)),
    "voxel_downsample": (["points", "values"], lambda p, v: farpoint.voxel_downsample(p, 0.3, features=v)),
    "voxel_downsample.sort": (["points"], lambda p: farpoint.voxel_downsample(p, 0.3, reduce="first", sort=True)),
    "assign": (["points", "few"], farpoint.assign),
    "nearest": (["points", "few"], farpoint.nearest),
    "nearest.root": (["points", "few"], lambda p, f: farpoint.nearest(p, f, squared=False)),
    "nearest_both": (["points", "few"], farpoint.nearest_both),
    "chamfer": (["points", "few"], farpoint.chamfer),
    "chamfer.norm": (["points", "few"], lambda p, f: farpoint.chamfer(p, f, norm=1)),
    "chamfer.max": (["points", "few"], lambda p, f: farpoint.chamfer(p, f, squared=False, reduction="max")),
    "f_score": (["points", "few"], lambda p, f: farpoint.f_score(p, f, 0.1)),
    "knn": (["points", "few"], lambda p, f: farpoint.knn(p, f, K)),
    "knn.self": (["points"], lambda p: farpoint.knn(p, p, K, exclude_self=True, index_dtype="int32")),
    "knn.features": (["values", "values"], lambda v, w: farpoint.knn(v, w, K)),
    "ball_query": (["few", "points"], lambda f, p: farpoint.ball_query(f, p, 0.3, K)),
    "ball_query.nearest": (["few", "points"], lambda f, p: farpoint.ball_query(f, p, 0.3, K, order="nearest")),
    "within": (["few", "points"], lambda f, p: farpoint.within(f[0], p[0], 0.3)),
    "gather": (["values", "indices"], farpoint.gather),
    "gather_max": (["values", "indices"], farpoint.gather_max),
    "interpolate": (["values", "indices", "weights"], farpoint.interpolate),
    "inverse_distance_weights": (["weights"], lambda w: farpoint.inverse_distance_weights(w, squared=True)),
    "quality": (["points"], lambda p: farpoint.quality(p, farpoint.sample(p, FEW))),
    "Index.knn": (["points", "few"], lambda p, f: farpoint.Index(p).knn(f, K)),
    "Index.nearest": (["points", "few"], lambda p, f: farpoint.Index(p).nearest(f)),
}


def arrays(result):
    """The arrays and numbers of a result, in order."""
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in arrays(part)]
    return [] if result is None else [result]


def digest(result):
    state = hashlib.sha256()
    for array in arrays(result):
        place = str(getattr(array, "device", "host")).partition(":")[0]
        if hasattr(array, "detach"):
            array = array.detach().cpu().numpy()
        elif hasattr(array, "get"):
            array = array.get()
        array = np.ascontiguousarray(array)
        state.update(f"{array.dtype}{array.shape}{place}".encode() + array.tobytes())
    return state.hexdigest()[:12]


def of_torch(device):
    """Modes of PyTorch on a device: each calls a function with arrays."""
    import torch

    def tensors(given):
        return [torch.as_tensor(array, device=device) for array in given]

    def leaves(given):
        return [tensor.requires_grad_() if tensor.is_floating_point() else tensor for tensor in tensors(given)]

    def value(results):
        """A number that depends on all differentiable results."""
        parts = [part for part in arrays(results) if hasattr(part, "requires_grad") and part.requires_grad]
        if not parts:
            raise TypeError("nothing to differentiate")
        return sum((part * part * torch.linspace(1, 2, part.numel(), device=device).to(part).reshape(part.shape)).sum()
                   for part in parts)

    def grad(call, given):
        inputs = leaves(given)
        floating = [one for one in inputs if one.requires_grad]
        return torch.autograd.grad(value(call(*inputs)), floating, allow_unused=True)

    def second(call, given):
        inputs = leaves(given)
        floating = [one for one in inputs if one.requires_grad]
        first = torch.autograd.grad(value(call(*inputs)), floating, allow_unused=True, create_graph=True)
        return torch.autograd.grad(value(first), floating, allow_unused=True)

    def compiled(call, given):
        torch.compiler.reset()
        return torch.compile(call, fullgraph=True, backend="aot_eager")(*tensors(given))

    def autocast(call, given):
        with torch.autocast(device, dtype=torch.bfloat16):
            return call(*tensors(given))

    def graph(call, given):
        inputs = tensors(given)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            call(*inputs)
        stream.synchronize()
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            result = call(*inputs)
        captured.replay()
        torch.cuda.synchronize()
        return result

    modes = {
        "plain": lambda call, given: call(*tensors(given)),
        "grad": grad,
        "second": second,
        "compile": compiled,
        "vmap": lambda call, given: torch.vmap(call)(*[one[None] for one in tensors(given)]),
        "autocast": autocast,
    }
    return modes | ({"graph": graph} if device == "cuda" else {})


def libraries():
    """Modes by library, of those that are installed."""
    found = {"numpy": {"plain": lambda call, given: call(*given)}}
    for name, maker in (("cupy", "asarray"), ("jax.numpy", "asarray")):
        try:
            make = getattr(importlib.import_module(name), maker)
            make(np.zeros(1))
        except Exception:
            continue
        found[name] = {"plain": lambda call, given, make=make: call(*map(make, given))}
    try:
        import torch
    except ImportError:
        return found
    found["torch.cpu"] = of_torch("cpu")
    if torch.cuda.is_available():
        found["torch.cuda"] = of_torch("cuda")
    return found


def lines():
    """Yields a line per function, type, library and mode."""
    for library, modes in libraries().items():
        for dtype in ("float32", "float64"):
            given = inputs(dtype)
            for mode, run in modes.items():
                for name, (names, call) in CALLS.items():
                    try:
                        result = digest(run(call, [given[one].copy() for one in names]))
                    except Exception as error:
                        result = type(error).__name__
                    yield f"{library} {mode} {dtype} {name} {result}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--compare", metavar="FILE")
    file = parser.parse_args().compare
    warnings.simplefilter("ignore")
    if file is None:
        for line in lines():
            print(line, flush=True)
        return
    here = dict(line.rsplit(" ", 1) for line in lines())
    with open(file) as stream:
        there = dict(line.rsplit(" ", 1) for line in stream.read().splitlines() if not line.startswith("#"))
    different = [key for key in here.keys() & there.keys() if here[key] != there[key]]
    for key in sorted(different):
        print(f"{key} {there[key]} -> {here[key]}")
    for key in sorted(here.keys() ^ there.keys()):
        print(f"{key} {'only here' if key in here else 'only in the file'}")
    print(f"{len(here.keys() & there.keys()) - len(different)} equal, {len(different)} differ")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
