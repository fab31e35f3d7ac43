#!/usr/bin/env python3
"""Time that farpoint's fast paths on a GPU save in a training step of PointNet++.

    python lab/python/training.py [--clouds 8] [--points 4096] [--out FILE.md]

The step is that of PointNet++ (semantic segmentation, single scale: Qi et al., NeurIPS 2017) with farpoint's
operators: sampling, balls, grouping, interpolation, forward and backward and AdamW, on random points in the unit
cube, float32. Variants alternate in a new order each round; figures are medians over rounds, in milliseconds, and of
the ratios to the first variant of the same round, with their quartiles. "queued": synchronized once per round;
"waited": after each step.
"""

import argparse
import contextlib
import pathlib
import platform
import random
import statistics
import time
from unittest import mock

import torch
from torch import nn

import farpoint
from farpoint._torch import fast_path

try:
    from farpoint._torch import shape_cache
except ImportError:
    shape_cache = None

ROUNDS, STEPS = 60, 10


class Down(nn.Module):
    """Level of set abstraction: sampling, grouping and max pooling."""

    def __init__(self, count, radius, k, widths):
        super().__init__()
        self.count, self.radius, self.k = count, radius, k
        layers = []
        for inside, outside in zip(widths, widths[1:]):
            layers += [nn.Conv2d(inside, outside, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU()]
        self.mlp = nn.Sequential(*layers)

    def forward(self, points, values):
        chosen = farpoint.gather(points, farpoint.sample(points, self.count))
        indices = farpoint.ball_query(chosen, points, self.radius, self.k).indices
        offsets = farpoint.gather(points, indices) - chosen.unsqueeze(2)
        groups = torch.cat([offsets, farpoint.gather(values, indices)], 3).permute(0, 3, 1, 2)
        return chosen, self.mlp(groups).amax(3).transpose(1, 2)


class Up(nn.Module):
    """Feature propagation: interpolation from the coarser level."""

    def __init__(self, widths):
        super().__init__()
        layers = []
        for inside, outside in zip(widths, widths[1:]):
            layers += [nn.Conv1d(inside, outside, 1, bias=False), nn.BatchNorm1d(outside), nn.ReLU()]
        self.mlp = nn.Sequential(*layers)

    def forward(self, fine, coarse, values, below):
        near = farpoint.knn(fine, coarse, 3)
        weights = farpoint.inverse_distance_weights(near)
        spread = farpoint.interpolate(below, near.indices, weights)
        return self.mlp(torch.cat([values, spread], 2).transpose(1, 2)).transpose(1, 2)


class PointNet2(nn.Module):
    """Published single-scale network for segmentation: four levels down and up."""

    def __init__(self, classes=13):
        super().__init__()
        self.down = nn.ModuleList([
            Down(1024, 0.1, 32, [6, 32, 32, 64]), Down(256, 0.2, 32, [67, 64, 64, 128]),
            Down(64, 0.4, 32, [131, 128, 128, 256]), Down(16, 0.8, 32, [259, 256, 256, 512]),
        ])
        self.up = nn.ModuleList([
            Up([131, 128, 128, 128]), Up([320, 256, 128]), Up([384, 256, 256]), Up([768, 256, 256]),
        ])
        self.head = nn.Linear(128, classes)

    def forward(self, points):
        places, values = [points], [points]
        for level in self.down:
            place, value = level(places[-1], values[-1])
            places.append(place)
            values.append(value)
        for level in (3, 2, 1, 0):
            values[level] = self.up[level](places[level], places[level + 1], values[level], values[level + 1])
        return self.head(values[0])


def by_public_names():
    """Disables the use of PyTorch's private API for dispatch."""
    changes = contextlib.ExitStack()
    changes.enter_context(mock.patch.object(fast_path, "only_kernels_see", lambda *_: False))
    changes.enter_context(without_shapes())
    return changes


def without_shapes():
    """Disables the cache of plans for repeated calls."""
    return mock.patch.object(shape_cache, "lookup", lambda *_: None) if shape_cache else contextlib.nullcontext()


def ways():
    yield "farpoint", contextlib.nullcontext
    if shape_cache:
        yield "without the cache of shapes", without_shapes
    yield "public names of PyTorch only", by_public_names


def stepper(clouds, points):
    torch.manual_seed(1)
    network = PointNet2().cuda()
    optimizer = torch.optim.AdamW(network.parameters(), fused=True)
    x = torch.rand(clouds, points, 3, device="cuda")
    labels = torch.randint(13, (clouds, points), device="cuda")

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x).flatten(0, 1), labels.flatten()).backward()
        optimizer.step()

    return step


def milliseconds(step, waited):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(STEPS):
        step()
        if waited:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / STEPS * 1e3


def measured(step):
    result = {(name, waited): [] for name, _ in ways() for waited in (False, True)}
    turns = [(name, change, waited) for name, change in ways() for waited in (False, True)]
    for number in range(ROUNDS + 1):
        random.Random(number).shuffle(turns)
        for name, change, waited in turns:
            with change():
                step()
                taken = milliseconds(step, waited)
            if number:
                result[name, waited].append(taken)
    return result


def report(clouds, points):
    result = measured(stepper(clouds, points))
    lines = [
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Python {platform.python_version()}, farpoint "
        f"{farpoint.__version__}. `python lab/python/training.py --clouds {clouds} --points {points}`: milliseconds.\n",
        "| step of PointNet++ | queued | | waited | |", "|---|---:|---:|---:|---:|",
    ]
    first = next(name for name, _ in ways())
    for name, _ in ways():
        cells = []
        for waited in (False, True):
            taken = result[name, waited]
            low, middle, high = statistics.quantiles([a / b for a, b in zip(taken, result[first, waited])], n=4)
            cells.append(f"{statistics.median(taken):.3f} | {middle:.3f} ({low:.3f} to {high:.3f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--clouds", type=int, default=8)
    parser.add_argument("--points", type=int, default=4096)
    parser.add_argument("--out", type=pathlib.Path, help="write the table to this file")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("skipped: PyTorch sees no GPU here")
    text = report(options.clouds, options.points)
    print(text)
    if options.out:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
