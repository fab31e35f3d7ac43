"""Recipes of the datasets: classes, voxels, crops, radii, channels, and training parameters.

Source: the configurations of OpenPoints (Qian et al., "PointNeXt", NeurIPS 2022), PointMetaBase (Lin et al.,
CVPR 2023) and FastPoint (ICCV 2025).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

__all__ = [
    "DATA", "NETWORKS", "ClassOrder", "Data", "Network", "Recipe", "Schedule", "Training", "known",
    "recipe", "training",
]

Data = Literal["s3dis", "scannet", "semantickitti"]
Network = Literal["pointmetabase-l", "pointmetabase-xl", "pointvector-l", "pointvector-xl"]
Schedule = Literal["cosine", "steps"]
ClassOrder = Literal["chair-first", "table-first"]

DATA: tuple[Data, ...] = get_args(Data)
NETWORKS: tuple[Network, ...] = get_args(Network)

#: Label of points of no class, in every dataset.
IGNORED = -1


@dataclass(frozen=True)
class Recipe:
    """Parameters of a dataset shared by readers, networks and evaluation. Lengths are in meters."""

    data: Data
    #: Name as written in publications.
    title: str
    #: Names of the classes, in the order of their numbers.
    classes: tuple[str, ...]
    #: Edge length of a voxel.
    voxel: float
    #: Points of a cloud in training.
    crop: int
    #: Radius of the first downsampling of a network.
    radius: float
    #: Factor by which radii grow from stage to stage.
    growth: float
    #: Input channels of a network.
    channels: int
    #: Mean and standard deviation of colors from 0 to 1; None without colors.
    color: tuple[tuple[float, float, float], tuple[float, float, float]] | None
    #: Range of the random scale factor in training, and whether all axes have the same.
    scale: tuple[float, float]
    isotropic: bool
    #: Standard deviation and limit of the coordinate jitter in training; None for no jitter.
    jitter: tuple[float, float] | None
    #: Mean IoU used in the dataset's publications: ``kind`` of ``metrics.iou``.
    metric: Literal["openpoints", "semantic-kitti"]

    @property
    def has_color(self) -> bool:
        return self.color is not None


@dataclass(frozen=True)
class Training:
    """Training parameters: AdamW, a schedule of the learning rate, gradients clipped by norm."""

    rate: float
    schedule: Schedule
    #: Final learning rate of "cosine".
    floor: float
    #: Epochs, counted from 1, with which "steps" divides the learning rate by 10.
    milestones: tuple[int, ...]
    epochs: int
    #: Number of passes over all scenes per epoch.
    repeats: int
    batch: int
    #: Label smoothing.
    smoothing: float
    #: Weight decay, from which biases and other parameters of one dimension are exempt.
    weight_decay: float = 1e-4
    clip: float = 10.0
    #: Total number of steps, in place of epochs.
    steps: int | None = None


_S3DIS = (
    "ceiling", "floor", "wall", "beam", "column", "window", "door", "chair", "table", "bookcase", "sofa",
    "board", "clutter",
)
_SCANNET = (
    "wall", "floor", "cabinet", "bed", "chair", "sofa", "table", "door", "window", "bookshelf", "picture",
    "counter", "desk", "curtain", "refrigerator", "shower curtain", "toilet", "sink", "bathtub",
    "other furniture",
)
_SEMANTICKITTI = (
    "car", "bicycle", "motorcycle", "truck", "other-vehicle", "person", "bicyclist", "motorcyclist", "road",
    "parking", "sidewalk", "other-ground", "building", "fence", "vegetation", "trunk", "terrain", "pole",
    "traffic-sign",
)

_RECIPES: dict[str, Recipe] = {
    "s3dis": Recipe(
        data="s3dis", title="S3DIS", classes=_S3DIS, voxel=0.04, crop=24_000, radius=0.1, growth=2.0,
        channels=4,
        color=((0.5136457, 0.49523646, 0.44921124), (0.18308958, 0.18415008, 0.19252081)),
        scale=(0.9, 1.1), isotropic=False, jitter=(0.005, 0.02), metric="openpoints",
    ),
    "scannet": Recipe(
        data="scannet", title="ScanNet", classes=_SCANNET, voxel=0.02, crop=64_000, radius=0.05,
        growth=2.0, channels=7,
        color=((0.46259782, 0.46253258, 0.46253258), (0.693565, 0.6852543, 0.68061745)),
        scale=(0.8, 1.2), isotropic=True, jitter=None, metric="openpoints",
    ),
    "semantickitti": Recipe(
        data="semantickitti", title="SemanticKITTI", classes=_SEMANTICKITTI, voxel=0.06, crop=88_000,
        radius=0.3, growth=2.5, channels=4, color=None, scale=(0.9, 1.1), isotropic=True, jitter=(0.008, 0.03),
        metric="semantic-kitti",
    ),
}

_TRAINING: dict[str, Training] = {
    "s3dis": Training(
        rate=0.01, schedule="cosine", floor=1e-5, milestones=(), epochs=100, repeats=30, batch=8,
        smoothing=0.2,
    ),
    "scannet": Training(
        rate=1e-3, schedule="steps", floor=0.0, milestones=(70, 90), epochs=100, repeats=6, batch=2,
        smoothing=0.0,
    ),
    # FastPoint's configuration: milestones that are never reached, so that the rate is constant.
    "semantickitti": Training(
        rate=1e-3, schedule="steps", floor=0.0, milestones=(70, 90), epochs=50, repeats=1, batch=6,
        smoothing=0.0,
    ),
}

#: Batch sizes that differ from those of the dataset.
_BATCHES = {
    ("semantickitti", "pointvector-l"): 4,
    ("semantickitti", "pointmetabase-xl"): 4,
    ("semantickitti", "pointvector-xl"): 2,
}

#: Batch sizes with about as many points in all datasets.
_SMALL_BATCHES = {"s3dis": 8, "scannet": 3, "semantickitti": 2}


def known(name: str, names: tuple[str, ...], what: str) -> str:
    """Return the name after checking that it is one of these.

    Raises
    ------
    ValueError
        Unknown name; the message lists the known ones.
    """
    if name not in names:
        raise ValueError(f"{what} is {name!r}; it must be one of {', '.join(names)}")
    return name


def recipe(data: str, class_order: ClassOrder = "chair-first") -> Recipe:
    """Return the recipe of a dataset.

    Parameters
    ----------
    data : {"s3dis", "scannet", "semantickitti"}
        Name of the dataset.
    class_order : {"chair-first", "table-first"}, optional
        Indices of four classes of S3DIS: chair 7, table 8, bookcase 9 and sofa 10 as in OpenPoints,
        or table 7, chair 8, sofa 9 and bookcase 10 as in other projects.

    Raises
    ------
    ValueError
        Unknown name.
    """
    result = _RECIPES[known(data, DATA, "data")]
    known(class_order, get_args(ClassOrder), "class_order")
    if data != "s3dis" or class_order == "chair-first":
        return result
    classes = (*_S3DIS[:7], "table", "chair", "sofa", "bookcase", *_S3DIS[11:])
    return replace(result, classes=classes)


def training(data: str, network: str, *, small: bool = False) -> Training:
    """Return the authors' training parameters of a network on a dataset.

    Parameters
    ----------
    data : {"s3dis", "scannet", "semantickitti"}
        Name of the dataset.
    network : {"pointmetabase-l", "pointmetabase-xl", "pointvector-l", "pointvector-xl"}
        The network.
    small : bool, optional
        Use 3,000 steps on generated scenes instead.

    Raises
    ------
    ValueError
        Unknown name.
    """
    result = _TRAINING[known(data, DATA, "data")]
    known(network, NETWORKS, "network")
    if not small:
        return replace(result, batch=_BATCHES.get((data, network), result.batch))
    return replace(
        result, schedule="cosine", floor=1e-5, milestones=(), batch=_SMALL_BATCHES[data], steps=3000
    )
