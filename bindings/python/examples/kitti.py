#!/usr/bin/env python3
"""A turn of a KITTI laser scanner: read, sampled, drawn.

    python kitti.py turn.bin                       # writes kitti.png
    python kitti.py turn.bin -o out.png --ratio 0.1 --thin thin.ply

The file holds x, y, z and intensity as float32, in meters. Needs matplotlib.
"""

# %% What to do

import argparse
import time

import numpy as np

import farpoint

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("turn", help="a .bin file of KITTI, or any point cloud")
parser.add_argument("-o", "--output", default="kitti.png", help="the picture")
parser.add_argument("--ratio", type=float, default=0.1, help="share of the points to keep")
parser.add_argument("--thin", help="write the points kept to this file, with their attributes")
options = parser.parse_args()

# %% Read it

turn = farpoint.read(options.turn)
print(f"{options.turn}: {len(turn):,} points, {turn.description}, with {', '.join(turn.fields)}")

# %% Sample it

begin = time.perf_counter()
sample = farpoint.sample(turn, ratio=options.ratio, return_distances=True, non_finite="skip")
seconds = time.perf_counter() - begin
kept = turn[sample.indices]
print(f"{len(kept):,} points kept in {1e3 * seconds:.1f} ms")
print(f"no point of the turn is farther than {sample.covering_radius:.2f} m from one that was kept")

random = np.random.default_rng(1).choice(len(turn), len(kept), replace=False)
distance = farpoint.chamfer(turn.points, turn[random].points, squared=False, reduction="max", one_sided=True)
print(f"(as many chosen at random: {distance:.2f} m)")

if options.thin:
    for warning in farpoint.write(options.thin, kept):
        print(f"warning: {warning}")

# %% Draw it

import matplotlib  # noqa: E402  (reading and sampling need no matplotlib)

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402

figure, axes = pyplot.subplots(1, 3, figsize=(15, 5.4), sharex=True, sharey=True)
pictures = [
    (turn.points, f"all {len(turn):,} points"),
    (turn[random].points, f"{len(random):,} at random"),
    (kept.points, f"{len(kept):,} by farpoint"),
]
for place, (points, title) in zip(axes, pictures):
    place.scatter(points[:, 0], points[:, 1], c=points[:, 2], s=0.6, lw=0, cmap="viridis", vmin=-2, vmax=3)
    place.set(title=title, xlabel="x in m", aspect="equal", xlim=(-45, 45), ylim=(-45, 45))
axes[0].set_ylabel("y in m")
figure.tight_layout()
figure.savefig(options.output, dpi=110)
print(f"written: {options.output}")
