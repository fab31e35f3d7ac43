#!/usr/bin/env python3
"""The records of lab/records/segmentation, from the lines that evaluate, time and train leave.

    python lab/segmentation/scripts/records.py training FOLDER.. -o lab/records/segmentation
    python lab/segmentation/scripts/records.py times FOLDER.. -o lab/records/segmentation

`training`: small-training.md and .jsonl of the twelve small trainings, and of every sampler on scenes that they have
not seen. What they are of, for each network N (pointmetabase-l, pointvector-l), data set D (s3dis, semantickitti)
and seed S (0, 1, 2):

    python -m farpoint_segmentation train generated --recipe small --bfloat16 --data D --network N --seeds S -o D
    python -m farpoint_segmentation evaluate generated --data D --network N --checkpoint D/N-D-seedS.pth \\
        --samplers peak,auto,radius,cpu:peak,paper,fastpoint,grid,morton,npdu,random@first,random@released,grid@released \\
        --scenes 12 -o evaluated

`times`: times.md and .jsonl, of what lab/segmentation/scripts/times.py leaves. All files below the folders that are named
*.jsonl or *.jsonl.txt are read; a line that comes twice counts once.
"""

import argparse
import hashlib
import json
import pathlib
import statistics
import tempfile
from collections import defaultdict

import numpy as np

from farpoint_segmentation import metrics
from farpoint_segmentation.recipes import recipe
from farpoint_segmentation.records import SceneRecord, TrainingRecord, read_scenes, read_training
from farpoint_segmentation.report.runs import is_exact

PLACES = {"s3dis": "rooms, classes of S3DIS", "semantickitti": "turns, classes of SemanticKITTI"}


def records(folders, kind):
    """Of all files below the folders; the last of those with one key."""
    results = {}
    paths = [path for folder in folders for path in sorted(pathlib.Path(folder).rglob("*.jsonl*"))]
    with tempfile.TemporaryDirectory() as place:
        for path in paths:
            first = path.read_text().partition("\n")[0]
            if not first or ("loss" in json.loads(first)) != (kind is TrainingRecord):
                continue
            # Named as in the folder of a command, for its reader.
            pathlib.Path(place, kind.FILE).write_bytes(path.read_bytes())
            for one in read_training(place) if kind is TrainingRecord else read_scenes(place):
                results[one.key if kind is SceneRecord else (one.data, one.network, one.seed, one.step)] = one
    return list(results.values())


def grouped(values, key):
    groups = defaultdict(list)
    for one in values:
        groups[key(one)].append(one)
    return dict(sorted(groups.items(), key=lambda item: str(item[0])))


def table(head, rows):
    text = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*text, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def spread(values, digits=2, sign=""):
    low, high = (f"{one:{sign}.{digits}f}" for one in (min(values), max(values)))
    mean = f"{statistics.fmean(values):{sign}.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ({low} to {high})"


# -- Trainings


def evaluations(scenes):
    """A line for each training and sampler: matrices over all scenes, and what tells those of the scenes apart."""
    key = lambda one: (one.data, one.network, one.options.get("trained_seed"), one.sampler)  # noqa: E731
    made = []
    for (data, network, seed, sampler), group in grouped(scenes, key).items():
        group = sorted(group, key=lambda one: one.scene)
        total = np.sum([one.confusion for one in group], axis=0)
        result = metrics.scores(total, recipe(data).metric)
        each = json.dumps([[one.scene, one.confusion] for one in group])
        made.append({
            "kind": "evaluation", "data": data, "network": network, "seed": seed, "sampler": sampler,
            "exact": is_exact(sampler), "scenes": len(group), "points": sum(one.points for one in group),
            "device": group[0].device, "protocol": group[0].protocol, "checkpoint": group[0].options["checkpoint"],
            "miou": result.miou, "macc": result.macc, "oa": result.oa, "iou": np.round(result.iou, 5).tolist(),
            "matrices": hashlib.sha256(each.encode()).hexdigest()[:16], "confusion": total.tolist(),
        })
    return made


def trainings(pieces):
    made = []
    for (data, network, seed), group in grouped(pieces, lambda one: (one.data, one.network, one.seed)).items():
        group = sorted(group, key=lambda one: one.step)
        last = group[-1]
        made.append({
            "kind": "training", "data": data, "network": network, "seed": seed, "recipe": last.recipe,
            "sampler": last.sampler, "device": last.device, "steps": last.step, "points": last.points,
            "seconds": sum(one.seconds for one in group), "loss": last.loss, "oa": last.metrics.get("oa"),
        })
    return made


def equal(made):
    """Of exact samplers: a sentence for each training, that all matrices are equal or which are not."""
    lines, wrong = [], []
    for (data, network), group in grouped(made, lambda one: (one["data"], one["network"])).items():
        compared, names = 0, set()
        for same_seed in grouped([one for one in group if one["exact"]], lambda one: one["seed"]).values():
            first = next((one for one in same_seed if one["sampler"] == "peak"), same_seed[0])
            names |= {one["sampler"] for one in same_seed}
            for one in same_seed:
                if (one["matrices"], one["scenes"]) != (first["matrices"], first["scenes"]):
                    wrong.append(f"{data} {network} seed {one['seed']}: {one['sampler']}")
                compared += one["scenes"] if one is not first else 0
        lines.append(
            f"- {network}, {PLACES[data]}: {', '.join(sorted(names))}; {compared} matrices beside those of `peak`"
        )
    verdict = "all equal to the last count" if not wrong else f"NOT equal: {'; '.join(wrong)}"
    return f"Confusion matrices of exact samplers, scene by scene: **{verdict}**.\n\n" + "\n".join(lines) + "\n"


def samplers_table(group):
    """mIoU of each sampler over the trainings, and its difference to the exact sample in the same training."""
    by = grouped(group, lambda one: one["sampler"])
    exact = {one["seed"]: one for one in by.get("peak", [])}
    same = {}  # exact samplers with equal matrices are one row
    for sampler, runs in by.items():
        key = tuple(one["matrices"] for one in runs) if runs[0]["exact"] else sampler
        same.setdefault(key, []).append(sampler)
    rows = []
    for names in same.values():
        sampler, runs = ", ".join(names), by[names[0]]
        miou, differences = ([100 * one["miou"] for one in runs],
                       [100 * (one["miou"] - exact[one["seed"]]["miou"]) for one in runs if one["seed"] in exact])
        rows.append((statistics.fmean(differences) if differences else 0.0, [
            sampler, "yes" if runs[0]["exact"] else "no", str(len(runs)), spread(miou),
            spread(differences, sign="+") if differences and not runs[0]["exact"] else "0" if differences else "-",
            spread([100 * one["macc"] for one in runs]), spread([100 * one["oa"] for one in runs]),
        ]))
    rows.sort(key=lambda row: (row[1][1] != "yes", -row[0], -int(row[1][2]), row[1][0]))
    head = ["sampler", "exact", "trainings", "mIoU, %", "to the exact sample", "mean accuracy, %", "accuracy, %"]
    return table(head, [row for _, row in rows])


def classes_table(group, classes):
    """IoU of each class, mean over the trainings."""
    by = grouped(group, lambda one: one["sampler"])
    chosen = [name for name in ("peak", "fastpoint", "npdu", "grid", "morton", "random") if name in by]
    means = {name: 100 * np.mean([one["iou"] for one in by[name]], axis=0) for name in chosen}
    points = np.sum(by[chosen[0]][0]["confusion"], axis=1) if chosen else []
    rows = [[name, f"{100 * points[k] / max(sum(points), 1):.2f}", *(f"{means[one][k]:.1f}" for one in chosen)]
            for k, name in enumerate(classes)]
    return table(["class", "share of the points, %", *chosen], rows)


def training_text(made, evaluated, note):
    devices = sorted({one["device"] for one in made + evaluated})
    scenes = sorted({one["scenes"] for one in evaluated})
    seeds = sorted({one["seed"] for one in made})
    parts = [f"""# Small trainings on generated scenes, and every sampler on scenes that they have not seen

{', '.join(devices)}. Made by `lab/segmentation/scripts/records.py training`, which has the commands; numbers
of each training and sampler, with the matrices over all scenes, are in [small-training.jsonl](small-training.jsonl).

**These are small generated scenes.** Rooms and turns that farpoint makes are simpler than recorded ones, networks are
trained for 3,000 steps (the authors: 76,500 and more), and tested on {' or '.join(map(str, scenes))} scenes that they
have not seen. Scores say nothing about S3DIS or SemanticKITTI, nor about what the networks reach there. Only large
differences between samplers show: one below the spread of the trainings ({len(seeds)} seeds) is none.

Networks are trained with the exact sample (`peak`), in bfloat16. Then they are tested with each sampler in turn, on all
levels unless its name ends with `@first`, with the same parameters, in float32, by the protocol `val`: what a sampler
loses here is what a network loses that was trained with another. mIoU is over all scenes together, by the metric of the
data set (S3DIS: a class that is absent counts 100 %; SemanticKITTI: it counts 0). Mean, and the lowest to the highest,
of the trainings.

## Trainings
"""]
    rows = [[one["network"], PLACES[one["data"]].partition(",")[0], str(one["seed"]), f"{one['steps']:,}",
             f"{one['points']:,}", f"{one['seconds']:.0f}", f"{1e3 * one['seconds'] / one['steps']:.1f}",
             f"{one['loss']:.3f}", f"{100 * one['oa']:.1f}"] for one in made]
    head = ["network", "scenes", "seed", "steps", "points a step", "s", "ms a step", "last loss",
            "accuracy of the last batches, %"]
    total = sum(one["seconds"] for one in made)
    parts += [table(head, rows), f"All steps together: {total / 60:.1f} minutes of one GPU. {note}".rstrip() + "\n",
              "## Exact samplers\n", equal(evaluated)]
    for (data, network), group in grouped(evaluated, lambda one: (one["data"], one["network"])).items():
        parts += [f"## {network}, {PLACES[data]}\n", samplers_table(group), "IoU of each class in %, means of the trainings:\n",
                  classes_table(group, recipe(data).classes)]
    return "\n".join(parts)


def training(args):
    evaluated = evaluations([
        one for one in records(args.folders, SceneRecord)
        if one.task == "evaluate" and one.confusion is not None and one.options.get("trained_seed") is not None
    ])
    made = trainings(records(args.folders, TrainingRecord))
    if not made or not evaluated:
        raise SystemExit(f"{len(made)} trainings and {len(evaluated)} evaluations in {args.folders}: both are needed")
    write(args.output, "small-training", training_text(made, evaluated, args.note), made + evaluated)


# -- Times

#: The network as its authors released it.
RELEASED = "naive@first+all-pairs"


def times_table(group):
    """Means over the scenes that all samplers of the group have."""
    def name(one):
        return f"{one.sampler}, as a graph" if "graph" in one.options else one.sampler

    by = grouped(group, name)
    slow = {one.scene: one.seconds.all for one in by.get(RELEASED, [])}
    rows = []
    for sampler, timings in by.items():
        mean = statistics.fmean(one.seconds.all for one in timings)
        known = [one.seconds.sampling for one in timings if one.seconds.sampling is not None]
        part = statistics.fmean(known) if known else None
        common = [one for one in timings if one.scene in slow]
        faster = sum(slow[one.scene] for one in common) / sum(one.seconds.all for one in common) if common else None
        peak = max((one.peak_memory or 0 for one in timings), default=0) / (1 << 20)
        rows.append((mean, [
            sampler, str(len(timings)), f"{1e3 * mean:.1f}", "-" if part is None else f"{1e3 * part:.1f}",
            "-" if part is None else f"{100 * part / mean:.0f} %", "-" if faster is None else f"{faster:.1f}",
            f"{peak:.0f}" if peak else "-",
        ]))
    head = ["sampler", "scenes", "forward, ms", "sampling, ms", "of the forward", f"times faster than `{RELEASED}`",
            "memory, MiB"]
    return table(head, [row for _, row in sorted(rows, key=lambda row: row[0])])


def times_text(timings):
    device = ", ".join(sorted({one.device for one in timings}))
    parts = [f"""# Times of segmentation networks by sampler

{device}. Random weights, float32: times count, scores do not. Made by `lab/segmentation/scripts/times.py`
and `records.py times`; [times.jsonl](times.jsonl) has each scene, and `farpoint_segmentation report` makes
tables and figures of a folder that holds it as `scenes.jsonl`.

`{RELEASED}` is the network as its authors released it: textbook sampling, and ball queries that compare all
pairs. `@first`: as in the paper, the sampler on the first level and textbook sampling on each of the others.
"As a graph": the pass as one CUDA graph, in which coarse levels are sampled while layers of fine ones run, so that
a part of the time of sampling costs nothing; the others are kernels that the CPU launches one by one. Fast samplers are
medians of three rounds in turn, the slow ones one pass a scene. Times are means over the scenes, memory is the most of
PyTorch's in use.
"""]
    key = lambda one: (one.data, one.network, one.options.get("folder"), one.device)  # noqa: E731
    for (data, network, folder, _), group in grouped(timings, key).items():
        points = sorted({one.scene: one.points for one in group}.values())
        names = ", ".join(sorted({one.scene for one in group})) if folder != "generated" else "generated"
        sizes = f"{points[0]:,} to {points[-1]:,} voxels" if len(points) > 1 else f"{points[0]:,} voxels"
        parts += [f"## {network}, {PLACES[data].partition(',')[0]}: {names}\n", f"{len(points)} scenes of {sizes}.\n"
                  if len(points) > 1 else f"{sizes}.\n", times_table(group)]
    return "\n".join(parts)


def times(args):
    timings = [one for one in records(args.folders, SceneRecord) if one.task == "time"]
    if not timings:
        raise SystemExit(f"no times in {args.folders}")
    write(args.output, "times", times_text(timings), [as_line(one) for one in timings])


def as_line(one):
    return {**one.__dict__, "seconds": one.seconds.__dict__, "options": dict(one.options)}


def write(folder, name, text, lines):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text.rstrip() + "\n")
    made = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in lines)
    (folder / f"{name}.jsonl").write_text(made)
    print(folder / f"{name}.md")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("training", "times"))
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--note", default="", help="what else is to be said of the run of the trainings")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    args = parser.parse_args()
    (training if args.what == "training" else times)(args)


if __name__ == "__main__":
    main()
