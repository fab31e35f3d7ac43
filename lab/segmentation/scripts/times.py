#!/usr/bin/env python3
"""Forward passes of PointMetaBase-L and PointVector-L with every sampler: lab/records/segmentation/times.md.

    python lab/segmentation/scripts/times.py -o times [--data s3dis semantickitti] [--scenes 8] [--quick]
        [--s3dis ROOM.npy ..] [--semantickitti TURN.bin ..]
    python lab/segmentation/scripts/records.py times times -o lab/records/segmentation

Scenes are generated, and read from the files that are given: rooms as (N, 7) arrays of x y z r g b class, turns as
(N, 3) arrays or as SemanticKITTI's .bin. Parameters are random: times count, scores do not. Samplers of less than
some 30 ms have three rounds in turn, as launches and as a CUDA graph; the others run once a scene, since they would
make the host slow for the fast ones. Samplers are those of the paper's tables, which it uses on the first level, peak,
and textbook sampling with all pairs; --quick leaves out those of more than 0.3 s. Lines of scenes.jsonl are as those of
`python -m farpoint_segmentation time`, which times one network on one data set; what is there is not measured again.
"""

import argparse
import pathlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from farpoint_segmentation import records, timing
from farpoint_segmentation.data import Scene, open_data, read_scan
from farpoint_segmentation.evaluate import clouds
from farpoint_segmentation.networks import build
from farpoint_segmentation.recipes import recipe
from farpoint_segmentation.samplers import TABLE_2, TABLE_5

FAST = ("peak", "random")
SLOW = ("naive@first", "naive@first+all-pairs", "fastpoint+naive@first")
SLOWEST = ("cpu:naive@first",)
MIDDLE = tuple(name for name in {**TABLE_2, **TABLE_5} if name not in (*FAST, *SLOW, *SLOWEST))
NETWORKS = ("pointmetabase-l", "pointvector-l")

#: As the record has them: about the voxels of S3DIS' rooms and of turns.
POINTS = {"s3dis": 250_000, "semantickitti": 110_000}


class Recorded:
    """Clouds of files, without classes."""

    def __init__(self, files):
        self.files = {path.stem: path for path in files}
        self.names = list(self.files)

    def read(self, name):
        path = self.files[name]
        if path.suffix == ".bin":
            return read_scan(path, None, {}, name)
        rows = np.load(path)
        colors = np.rint(rows[:, 3:6]).astype(np.uint8) if rows.shape[1] >= 6 else None
        points = np.ascontiguousarray(rows[:, :3], np.float32)
        return Scene(name, points, colors, None, np.full(len(rows), -1))


class Read:
    """A source whose scenes were read by threads."""

    def __init__(self, source):
        self.names = list(source.names)
        with ThreadPoolExecutor(8) as pool:
            self.scenes = dict(zip(self.names, pool.map(source.read, self.names)))

    def read(self, name):
        return self.scenes[name]


def sources(args, data):
    """Each with what its records say of it."""
    made = open_data("generated", "val", recipe(data), scenes=args.scenes, points=POINTS[data])
    results = [(Read(made), {"folder": "generated", "scene_points": POINTS[data]})]
    files = getattr(args, data)
    return results + [(Read(Recorded(files)), {"folder": "recorded clouds"})] if files else results


def measure(args, module, source, description, names):
    """All scenes with these samplers; fast ones thrice in turn, also as graphs."""
    network, data = description["network"], description["data"]
    fast = names is FAST
    options = {"checkpoint": "random weights", "class_order": "chair-first", "compile": False, "split": "val"}
    for number, scene in enumerate(clouds(source, source.names, recipe(data), network, module)):
        timings = timing.run(
            module, [scene], names, args.out, data=data, name=network, options={**options, **description["options"]},
            rounds=3 if fast else 1, warm_up=int(fast or number == 0), graphs=fast, bfloat16=args.bfloat16,
            existing={one.key: one for one in records.read_scenes(args.out)},
        )
        for one in timings:
            kind = "graph" if "graph" in one.options else "launches"
            print(f"{data} {network} {one.scene} {one.points} {one.sampler} {kind} {1e3 * one.seconds.all:.2f} ms, "
                  f"sampling {1e3 * (one.seconds.sampling or 0):.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    parser.add_argument("--data", nargs="+", choices=tuple(POINTS), default=tuple(POINTS))
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    parser.add_argument("--scenes", type=int, default=8)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--bfloat16", action="store_true")
    for data in POINTS:
        parser.add_argument(f"--{data}", type=pathlib.Path, nargs="+", default=[])
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    scenes = {data: sources(args, data) for data in args.data}
    modules = {
        (network, data): build(network, data, seed=0).eval().to(device)
        for network in args.networks for data in args.data
    }
    # What is fast first, so that less is missing of a run that is stopped.
    for names in (FAST, MIDDLE) if args.quick else (FAST, MIDDLE, SLOW, SLOWEST):
        for (network, data), module in modules.items():
            for source, options in scenes[data]:
                description = {"network": network, "data": data, "options": options}
                measure(args, module, source, description, names)


if __name__ == "__main__":
    main()
