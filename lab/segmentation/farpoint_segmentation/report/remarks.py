"""Remarks: inconsistencies of the paper, findings of this report, and its limits."""

from __future__ import annotations

from collections.abc import Sequence

from ..samplers import parse
from .published import BASELINE, DATA, FAMILIES, FIGURE_11_MOST, MACHINE, TABLE_5, TABLES
from .runs import RANDOM, Run, disagreeing, recipe_title

__all__ = ["findings", "limits", "misfits"]


def misfits() -> list[str]:
    """Return numbers of the paper that contradict each other or its description of samplers, with their tables."""
    two, three = TABLES[2], TABLES[3]

    def pairs(table: int, name: str, other: str = BASELINE) -> str:
        rows = TABLES[table]
        return ", ".join(
            f"{recipe_title(data)} {rows[name][data].miou:.2f} and {rows[other][data].miou:.2f}"
            for data in DATA
        )

    hybrids = [name for name in two if name.startswith("FastPoint + ")]
    spread = ", ".join(f"{two[name]['s3dis'].miou:.2f}" for name in hybrids)
    vector = TABLE_5["pointvector", "s3dis"], TABLE_5["pointvector", "scannet"]
    return [
        "RadiusFPS-G is said to be exact, so it chooses the points that FPS chooses and the network must predict the "
        f"same. Table 2 has another mean IoU for it than for FPS (GPU): {pairs(2, 'RadiusFPS-G')}. Table 3 too: "
        f"{pairs(3, 'RadiusFPS-G')}. RadiusFPS on the CPU does agree with FPS (GPU) in all six.",
        f"FPS (CPU) and FPS (GPU) are one algorithm, but differ in table 3 on S3DIS "
        f"({three['FPS (CPU)']['s3dis'].miou:.2f} and {three[BASELINE]['s3dis'].miou:.2f}), and QuickFPS, exact as "
        f"well, from FPS (GPU) in table 2 on ScanNet ({two['QuickFPS']['scannet'].miou:.2f} and "
        f"{two[BASELINE]['scannet'].miou:.2f}). Other first points, voxels in another order, or cells that are not "
        "the same for each run would explain it; the paper does not say which.",
        "FastPoint with an exact first stage gives the same points whichever algorithm finds that stage. Table 2 has "
        f"four values of mean IoU on S3DIS: {spread} (FPS, QuickFPS, RadiusFPS, RadiusFPS-G).",
        f"FPS + NPDU in PointMetaBase on ScanNet has a mean IoU of {two['FPS + NPDU']['scannet'].miou:.2f} in table 2, "
        f"and of {TABLE_5['pointmetabase', 'scannet']['FPS + NPDU']:.2f} in table 5.",
        "The column FPS (GPU) of table 5 holds values of FPS (CPU): PointMetaBase on SemanticKITTI "
        f"{TABLE_5['pointmetabase', 'semantickitti'][BASELINE]:.2f} (table 2: CPU "
        f"{two['FPS (CPU)']['semantickitti'].miou:.2f}, GPU {two[BASELINE]['semantickitti'].miou:.2f}), PointVector on "
        f"ScanNet {TABLE_5['pointvector', 'scannet'][BASELINE]:.2f} (table 3: CPU "
        f"{three['FPS (CPU)']['scannet'].miou:.2f}, GPU {three[BASELINE]['scannet'].miou:.2f}).",
        "RadiusFPS-G in PointVector has in table 5 the values of FastPoint, "
        f"{vector[0]['RadiusFPS-G']:.2f} on S3DIS and {vector[1]['RadiusFPS-G']:.2f} on ScanNet; table 3 has "
        f"{three['RadiusFPS-G']['s3dis'].miou:.2f} and {three['RadiusFPS-G']['scannet'].miou:.2f}.",
        "NPDU looks for the next point in a window of the order of points, which it takes to be spatial. Voxels come in "
        "the order of a hash, which is not: what tables 2, 3 and 5 show of it is that order as much as the method.",
    ]


def findings(runs: Sequence[Run]) -> list[str]:
    """Return findings of the records on the paper's statements."""
    texts = []
    for run in runs:
        names, differ = disagreeing(run)
        if len(names) < 2:
            continue
        if differ:
            texts.append(
                f"{run.title}: exact samplers differ from {names[0]} in their predictions: {', '.join(differ)}."
            )
        else:
            texts.append(
                f"{run.title}: the exact samplers {', '.join(names)} lead to equal predictions on every scene."
            )
    for run in runs:
        speeds = {name: run.speed_up(name) for name in run.samplers}
        known = {
            name: speed for name, speed in speeds.items() if speed is not None and run.name(name) != BASELINE
        }
        if known:
            best = max(known, key=lambda name: known[name])
            number = next(k for k, family in FAMILIES.items() if run.network.startswith(family))
            rows = TABLES[number]
            base = rows[BASELINE][run.data].seconds
            fastest_published = max(rows, key=lambda name: base / rows[name][run.data].seconds)
            texts.append(
                f"{run.title}: the fastest is {run.name(best)}, {known[best]:.1f} times faster than {BASELINE}; in the "
                f"paper's table {number} it is {fastest_published}, {base / rows[fastest_published][run.data].seconds:.1f} times."
            )
    return texts or ["No two samplers ran on the same scenes yet."]


def _leaves_the_gpu(run: Run, sampler: str) -> bool:
    """Returns whether a sampler runs on the CPU without this in its name, while the network is on a GPU."""
    if run.device.startswith("cpu") or sampler.startswith("cpu:"):
        return False
    try:
        return parse(sampler, run.data).device == "cpu"
    except ValueError:  # of another release, or with all-pairs
        return False


def limits(runs: Sequence[Run]) -> list[str]:
    """Return the limits of these records."""
    texts = [
        f"The paper measured on {MACHINE}; compare ratios, not times.",
        f"Of figure 11 the paper prints one number, {FIGURE_11_MOST} times faster sampling; its other bars are not "
        "readable as numbers, and are left out here.",
        "The paper's times are those of the protocol val. It does not say whether its scores are of val or of test: "
        "compare those of both.",
        "The paper uses its samplers on the first level only (section 5.1), and textbook sampling on the others: "
        "approximate samplers of all levels have no column of it. Random sampling is on all levels in the code that it "
        "builds on; the paper does not say so.",
    ]
    slow = sorted({name for run in runs for name in run.samplers if _leaves_the_gpu(run, name)})
    if slow:
        texts.append(
            f"The samplers {', '.join(slow)} run on the CPU here, with copies from and to the GPU; the paper has them on "
            "its GPU. Their scores can be compared with the paper's, their times can't."
        )
    if any(name.startswith("cpu:fastpoint") for run in runs for name in run.samplers):
        texts.append(
            "FastPoint + RadiusFPS is on the CPU as a whole here. In the paper only its first stage can be there, as its "
            "FastPoint is a program for GPUs: its time can't be compared."
        )
    if any(run.generated for run in runs):
        texts.append(
            "Generated scenes are simpler than what sensors record: their times are those of clouds of that size, their "
            "scores say nothing about the data sets. Large effects of samplers show, small ones need not."
        )
    untrained = [run for run in runs if not any(results.scores for results in run.samplers.values())]
    if untrained:
        titles = "; ".join(run.title for run in untrained)
        texts.append(f"Times only, no scores of a trained network (a run with {RANDOM} has none): {titles}.")
    missing = [
        f"{family} on {recipe_title(data)}"
        for family in FAMILIES.values()
        for data in DATA
        if not any(run.data == data and run.network.startswith(family) and not run.generated for run in runs)
    ]
    if missing:
        texts.append(f"Not run on the data sets themselves: {', '.join(missing)}.")
    return texts
