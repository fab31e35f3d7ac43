"""Small scenes written in the data sets' published layouts, for the tests."""

import numpy as np

import farpoint
from farpoint_segmentation.data import semantickitti
from farpoint_segmentation.data.scannet import NYU40
from farpoint_segmentation.recipes import recipe


def room(points=1500, seed=1):
    """A box with a floor, walls and two pieces of furniture: points, colors, classes of S3DIS."""
    rng = np.random.default_rng(seed)
    classes = np.sort(rng.choice([0, 1, 2, 7, 8, 12], points))
    cloud = rng.random((points, 3)) * [4, 3, 2.5]
    cloud[classes == 0, 2], cloud[classes == 1, 2], cloud[classes == 2, 0] = 2.5, 0, 0
    cloud[classes == 7] = 1 + 0.4 * rng.random(((classes == 7).sum(), 3))
    cloud[classes == 8] = [2, 1, 0.7] + [1, 0.6, 0.05] * rng.random(((classes == 8).sum(), 3))
    colors = (classes[:, None] * [17, 11, 7] + rng.integers(0, 40, (points, 3))) % 256
    return np.round(cloud, 3).astype(np.float32), colors.astype(np.uint8), classes


def write_s3dis(folder, name, cloud, order="chair-first"):
    """A room as text, a file for each class. Order of points: by class."""
    points, colors, classes = cloud
    names = recipe("s3dis", order).classes
    place = folder / name / "Annotations"
    place.mkdir(parents=True)
    for label in np.unique(classes):
        rows = classes == label
        lines = [
            "{:.3f} {:.3f} {:.3f} {} {} {}".format(*point, *color)
            for point, color in zip(points[rows], colors[rows])
        ]
        (place / f"{names[label]}_1.txt").write_text("\n".join(lines) + "\n")


def write_s3dis_npy(folder, name, cloud):
    """The same as NPY, where `name` is Area_a/room_n."""
    points, colors, classes = cloud
    rows = np.concatenate([points, colors, classes[:, None]], axis=1).astype(np.float32)
    np.save(folder / f"{name.replace('/', '_')}.npy", rows)


def write_scannet(folder, name, cloud):
    """A scene of two PLY files; classes are numbers of ScanNet's 20, -1 for none."""
    points, colors, classes = cloud
    place = folder / "scans" / name
    place.mkdir(parents=True)
    farpoint.write(place / "points.ply", points)
    mesh = farpoint.read(place / "points.ply")
    for channel, one in enumerate(("red", "green", "blue")):
        mesh = mesh.with_column(one, colors[:, channel])
    farpoint.write(place / f"{name}_vh_clean_2.ply", mesh)
    ids = np.array([*NYU40, 0])[classes].astype(np.uint16)
    farpoint.write(place / f"{name}_vh_clean_2.labels.ply", mesh.with_column("label", ids))


def turn(points=1500, seed=1):
    """A road, a wall and a car: points, intensity, classes of SemanticKITTI, a tenth of them none."""
    rng = np.random.default_rng(seed)
    classes = rng.choice([0, 8, 12, -1], points, p=[0.3, 0.4, 0.2, 0.1])
    cloud = rng.random((points, 3)) * [40, 20, 4]
    cloud[classes == 8, 2] = 0
    cloud[classes == 12, 1] = 20
    cloud[classes == 0] = [10, 5, 0] + [4, 2, 1.5] * rng.random(((classes == 0).sum(), 3))
    return cloud.astype(np.float32), rng.random(points).astype(np.float32), classes


def write_semantickitti(folder, name, cloud):
    """A turn, where `name` is 08/000000; ids are the last of each class, and have an instance above."""
    points, intensity, classes = cloud
    sequence, number = name.split("/")
    place = folder / "sequences" / sequence
    for part in ("velodyne", "labels"):
        (place / part).mkdir(parents=True, exist_ok=True)
    rows = np.concatenate([points, intensity[:, None]], axis=1).astype("<f4")
    rows.tofile(place / "velodyne" / f"{number}.bin")
    ids = np.array([*(one[-1] for one in semantickitti.IDS), 0], "<u4")[classes]
    (ids | np.uint32(5 << 16)).astype("<u4").tofile(place / "labels" / f"{number}.label")
