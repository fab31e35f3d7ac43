"""Numbers of the RadiusFPS paper shown in a report for comparison, with their tables.

Source: Yu, Li, Chang, Miyazaki, "RadiusFPS: Efficient Farthest Point Sampling on CPUs and GPUs via Spherical Voxel
Pruning", arXiv:2606.06255v1 (2026), tables 2, 3 and 5, figures 1 and 11.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import samplers

__all__ = [
    "BASELINE",
    "DATA",
    "FAMILIES",
    "FIGURE_1_SHARE",
    "FIGURE_11_MOST",
    "MACHINE",
    "SCENES",
    "SOURCE",
    "TABLES",
    "TABLE_5",
    "Figures",
    "name_of",
]

SOURCE = (
    "Yu, Li, Chang, Miyazaki: RadiusFPS: Efficient Farthest Point Sampling on CPUs and GPUs via Spherical Voxel "
    "Pruning, arXiv:2606.06255v1"
)
#: Hardware, from its table 1.
MACHINE = "Intel Core i7-12700KF, NVIDIA RTX 6000 Ada Generation"

DATA = ("s3dis", "scannet", "semantickitti")
#: Networks of tables 2 and 3.
FAMILIES = {2: "pointmetabase", 3: "pointvector"}
#: Number of scenes of the validation sets, over which the paper sums times.
SCENES = {"s3dis": 68, "scannet": 312, "semantickitti": 4071}
#: Baseline of speed-ups.
BASELINE = "FPS (GPU)"


class Figures(NamedTuple):
    """Overall accuracy and mean IoU in percent, and seconds for all scenes."""

    oa: float
    miou: float
    seconds: float


def _rows(*rows: tuple[str, list[float]]) -> dict[str, dict[str, Figures]]:
    return {
        name: {data: Figures(*values[3 * k : 3 * k + 3]) for k, data in enumerate(DATA)}
        for name, values in rows
    }


#: Tables 2 and 3, by sampler and dataset.
TABLES: dict[int, dict[str, dict[str, Figures]]] = {
    2: _rows(
        ("FPS (CPU)", [89.59, 67.90, 351.846, 89.68, 70.93, 2861.794, 89.53, 49.72, 14697.007]),
        ("FPS + NPDU", [86.15, 61.43, 89.125, 82.98, 55.72, 719.155, 80.67, 33.97, 3947.027]),
        ("FPS (GPU)", [89.60, 67.90, 40.176, 89.63, 70.80, 296.860, 89.59, 49.71, 1734.057]),
        ("QuickFPS", [89.60, 67.90, 18.363, 89.60, 70.96, 106.466, 89.54, 49.54, 859.166]),
        ("RadiusFPS", [89.60, 67.90, 15.948, 89.63, 70.80, 86.307, 89.59, 49.71, 1065.902]),
        ("RadiusFPS-G", [89.75, 68.28, 15.335, 89.75, 71.21, 92.346, 89.58, 49.26, 691.230]),
        ("FastPoint + FPS", [89.53, 68.21, 14.297, 89.69, 70.87, 89.009, 89.44, 49.26, 622.247]),
        ("FastPoint + QuickFPS", [89.60, 68.28, 13.083, 89.67, 70.96, 69.475, 89.44, 49.26, 572.870]),
        ("FastPoint + RadiusFPS", [89.56, 68.19, 12.308, 89.11, 69.38, 69.947, 88.75, 47.48, 563.614]),
        ("FastPoint + RadiusFPS-G", [89.25, 67.58, 11.248, 89.08, 69.43, 68.860, 88.75, 47.55, 531.202]),
    ),
    3: _rows(
        ("FPS (CPU)", [90.08, 69.80, 714.228, 89.54, 70.21, 2780.102, 89.08, 48.38, 17348.921]),
        ("FPS + NPDU", [72.23, 36.32, 191.907, 73.98, 35.11, 739.691, 74.18, 26.64, 4130.392]),
        ("FPS (GPU)", [89.96, 70.03, 41.792, 89.54, 70.11, 319.552, 89.08, 48.38, 1955.910]),
        ("QuickFPS", [89.89, 69.55, 22.465, 89.41, 69.92, 139.196, 89.07, 48.25, 1074.936]),
        ("RadiusFPS", [89.96, 70.03, 19.711, 89.54, 70.11, 114.465, 89.08, 48.38, 1528.442]),
        ("RadiusFPS-G", [89.77, 69.22, 19.243, 89.52, 69.92, 123.651, 89.11, 48.28, 901.779]),
        ("FastPoint + FPS", [89.82, 69.54, 19.207, 89.54, 70.04, 121.400, 88.63, 47.78, 791.042]),
        ("FastPoint + QuickFPS", [89.92, 69.76, 18.337, 89.50, 70.04, 113.505, 88.60, 47.54, 738.996]),
        ("FastPoint + RadiusFPS", [89.40, 68.59, 17.589, 89.18, 69.47, 109.487, 87.13, 45.27, 755.050]),
        ("FastPoint + RadiusFPS-G", [89.46, 68.31, 17.278, 89.18, 69.34, 104.636, 87.15, 45.28, 699.001]),
    ),
}

_TABLE_5_SAMPLERS = (
    "FPS (GPU)",
    "Random",
    "Grid",
    "EdgePC",
    "FPS + NPDU",
    "FastPoint",
    "RadiusFPS",
    "RadiusFPS-G",
)
_TABLE_5_ROWS = {
    ("pointmetabase", "s3dis"): (67.90, 65.28, 66.81, 67.16, 61.43, 68.21, 67.90, 68.28),
    ("pointmetabase", "scannet"): (70.80, 64.45, 69.95, 70.31, 50.22, 70.87, 70.80, 71.21),
    ("pointmetabase", "semantickitti"): (49.72, 40.90, 49.26, 47.45, 33.97, 49.26, 49.71, 49.26),
    ("pointvector", "s3dis"): (70.03, 59.76, 67.89, 68.21, 36.32, 69.54, 70.03, 69.54),
    ("pointvector", "scannet"): (70.21, 54.65, 68.90, 69.02, 35.11, 70.04, 70.11, 70.04),
    ("pointvector", "semantickitti"): (48.38, 33.35, 47.30, 45.42, 26.64, 47.78, 48.38, 48.28),
}
#: Table 5: mean IoU in percent by network and dataset, and by sampler.
TABLE_5: dict[tuple[str, str], dict[str, float]] = {
    key: dict(zip(_TABLE_5_SAMPLERS, row, strict=True)) for key, row in _TABLE_5_ROWS.items()
}

#: Figure 1: the share of "FPS (GPU)" in PointMetaBase's forward pass, in percent.
FIGURE_1_SHARE = {"s3dis": 77.6, "scannet": 89.0}
#: Figure 11: the largest speed-up of sampling: "FastPoint + RadiusFPS-G" in PointMetaBase on S3DIS.
FIGURE_11_MOST = 11.72

_ON_GPU = {key.partition("@")[0]: name for key, name in {**samplers.TABLE_2, **samplers.TABLE_5}.items()}
#: A network on the CPU uses CPU samplers.
_ON_CPU = {**_ON_GPU, "naive": "FPS (CPU)", "radius": "RadiusFPS", "fastpoint+radius": "FastPoint + RadiusFPS"}


def name_of(sampler: str, device: str) -> str | None:
    """Return the paper's name of a sampler of a network on this device, without options; None if it is not in the
    paper, as an approximate sampler of all levels.

    An exact sampler has its name however the other levels are sampled, since all of them choose the same points. So
    has random sampling, of which the paper does not say where it is used.
    """
    plain, _, variant = sampler.partition("@")
    body = ":".join(part for part in plain.split(":") if "=" not in part)
    names = _ON_CPU if device.lower().startswith("cpu") else _ON_GPU
    method = body.removeprefix("cpu:").partition("+")[0]
    on_all_levels = method in ("npdu", "grid", "morton", "fastpoint") and not variant
    return None if on_all_levels or variant == "every" else names.get(body)
