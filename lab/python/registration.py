"""Registration of thinned LiDAR turns: small_gicp on pairs of real turns, KISS-ICP on a generated drive.

    pip install small_gicp==1.0.1 kiss-icp==1.3.0 ./lab/segmentation
    python lab/python/registration.py DATA --counts 2048 4096 8192

``DATA`` holds the turns listed in ``TURNS`` and ``KITTI``. Both clouds of a pair are thinned to the same number of points by
farthest point sampling, by farpoint's voxels (means) and by small_gicp's. The size of a voxel is found before anything is
timed, for the first cloud of each pair; the second one then has a little more or fewer. Errors are those of the motion found
by GICP from no motion at all. Methods take turns within each repetition; times are processor seconds of one thread, errors
and times medians over the repetitions.

- ``kitti``: frames 0 and 1 of sequence 00; errors are differences from the motion that GICP finds with all points.
- ``halves``: two random halves of one turn without a common point, one of them moved by a random motion of 0.5 m and 2
  degrees. Both halves are of the same rings, so this is easier than two turns.

KISS-ICP runs on a drive through a generated town: 60 turns of 64 beams and 1,024 columns, 1 m and up to 1.5 degrees apart, with
a noise of 2 cm. Its own two voxel grids are replaced by FPS, whose first quarter is the sample for registration; by farpoint's
``centroids``, which finds the size of voxels for a number in each turn; or by voxels of sizes fixed on the first turn.
"""

import argparse
import os
import platform
import statistics
import time
from importlib.metadata import version
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import small_gicp
from kiss_icp.config import KISSConfig
from kiss_icp.kiss_icp import KissICP
from kiss_icp.voxelization import voxel_down_sample

import farpoint
from farpoint_segmentation.scenes import generate_labeled

#: Files of raw float32, and their number of columns.
TURNS = {
    "KITTI, HDL-64E": ("kitti/odometry_seq00_000000.bin", 4),
    "nuScenes, HDL-32E": ("nuscenes/n015_1532402927647951.pcd.bin", 5),
    "RELLIS-3D, OS1-64": ("labelled/rellis_000104.bin", 4),
}
KITTI = [f"kitti/odometry_seq00_00000{frame}.bin" for frame in (0, 1)]


def read(path, columns):
    """A turn in its order, without the rows of beams that did not return, and without repeated rows."""
    xyz = np.fromfile(path, np.float32).reshape(-1, columns)[:, :3]
    xyz = xyz[(xyz != 0).any(1)]
    return xyz[np.sort(np.unique(xyz, axis=0, return_index=True)[1])]


def rotation(axis, angle):
    x, y, z = axis / np.linalg.norm(axis)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew


def pose(turned, moved):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = turned, moved
    return out


def transformed(matrix, points):
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def errors(truth, found):
    """Centimeters and degrees between two motions."""
    left = np.linalg.inv(truth) @ found
    angle = np.arccos(np.clip((np.trace(left[:3, :3]) - 1) / 2, -1, 1))
    return 100 * np.linalg.norm(left[:3, 3]), np.degrees(angle)


def kitti(data):
    target, source = (read(data / name, 4) for name in KITTI)
    return target, source, register(target, source)


def halves(path, columns, seed):
    rng = np.random.default_rng(seed)
    cloud = read(path, columns)
    in_first = np.zeros(len(cloud), bool)
    in_first[rng.permutation(len(cloud))[: len(cloud) // 2]] = True
    direction, axis = rng.normal(size=(2, 3)) * (1, 1, 0.2)
    truth = pose(rotation(axis[::-1], np.radians(2)), 0.5 * direction / np.linalg.norm(direction))
    return cloud[in_first], transformed(np.linalg.inv(truth), cloud[~in_first]).astype(np.float32), truth


def size_for(count, voxels):
    """Edge length of the voxels whose number is closest to the count."""
    low, high = 0.01, 20.0
    for _ in range(40):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if len(voxels(middle)) > count else (low, middle)
    return high


def methods(count, target, source, seed):
    """Functions that thin either cloud, by name."""
    double = {id(cloud): cloud.astype(float) for cloud in (target, source)}
    ours = lambda cloud, size: farpoint.voxel_downsample(cloud, size, threads=1).points
    theirs = lambda cloud, size: small_gicp.voxelgrid_sampling(double[id(cloud)], size).points()
    size, their_size = (size_for(count, lambda size: voxels(target, size)) for voxels in (ours, theirs))
    return {
        "farpoint FPS": lambda cloud: cloud[farpoint.sample(cloud, count, seed=seed, threads=1)],
        "farpoint voxels": lambda cloud: ours(cloud, size),
        "small_gicp voxels": lambda cloud: theirs(cloud, their_size),
        "random points": lambda cloud: cloud[np.random.default_rng(seed).choice(len(cloud), count, replace=False)],
    }


def register(target, source):
    clouds = [small_gicp.PointCloud(cloud[:, :3].astype(float)) for cloud in (target, source)]
    trees = [small_gicp.KdTree(cloud, num_threads=1) for cloud in clouds]
    for cloud, tree in zip(clouds, trees):
        small_gicp.estimate_covariances(cloud, tree, num_neighbors=10, num_threads=1)
    found = small_gicp.align(
        *clouds, trees[0], registration_type="GICP", max_correspondence_distance=2.0, num_threads=1, max_iterations=50
    )
    return found.T_target_source


def timed(call, *args):
    begin = time.process_time()
    result = call(*args)
    return result, 1e3 * (time.process_time() - begin)


def pair(name, make, counts, repetitions):
    """Prints the rows of a pair; ``make(seed)`` returns target, source and the motion."""
    for count in [*counts, None]:
        rows = {}
        for seed in range(repetitions):
            target, source, truth = make(seed)
            ways = {"all points": lambda cloud: cloud} if count is None else methods(count, target, source, seed)
            for way, thin in ways.items():
                (a, first), (b, second) = timed(thin, target), timed(thin, source)
                found, third = timed(register, a, b)
                rows.setdefault(way, []).append((len(a), len(b), *errors(truth, found), (first + second) / 2, third))
        for way, values in rows.items():
            a, b, centimeters, degrees, thinning, registering = map(statistics.median, zip(*values))
            worst = max(row[2] for row in values)
            print(
                f"| {name} | {way} | {a:,.0f}, {b:,.0f} | {centimeters:.2f} | {worst:.2f} | {degrees:.3f} | "
                f"{thinning:.1f} | {registering:.1f} |",
                flush=True,
            )


def drive(turns=60):
    """Yields a turn and the pose of the laser: the nearest point of the town in each direction."""
    town = generate_labeled("town", 6_000_000, seed=1).points.astype(float)
    rng = np.random.default_rng(2)
    at, heading = np.array([-30.0, 0.0, 0.0]), 0.0
    for k in range(turns):
        here = pose(rotation(np.array([0, 0, 1.0]), heading), at)
        local = transformed(np.linalg.inv(here), town[rng.random(len(town)) < 0.7])
        distance = np.linalg.norm(local, axis=1)
        beam = (np.degrees(np.arcsin(local[:, 2] / distance)) + 25.0) / 28.0 * 64
        column = (np.arctan2(local[:, 1], local[:, 0]) / (2 * np.pi) + 0.5) * 1024
        seen = np.flatnonzero((distance > 2) & (distance < 80) & (beam >= 0) & (beam < 64))
        seen = seen[np.argsort(distance[seen])]
        direction = beam[seen].astype(int) * 1024 + column[seen].astype(int) % 1024
        hit = seen[np.unique(direction, return_index=True)[1]]
        noise = 1 + rng.normal(0, 0.02, len(hit)) / distance[hit]
        yield local[hit] * noise[:, None], here
        heading += np.radians(1.5) * np.sin(k / 8)
        at = at + here[:3, :3] @ (1.0, 0.0, 0.0)


class Fps(KissICP):
    """Keeps a fixed number of points; every prefix of them is a sample, too."""

    count = 4096

    def voxelize(self, frame):
        chosen = frame[farpoint.sample(frame, min(self.count, len(frame)), threads=1)]
        return chosen[: self.count // 4], chosen


class Centroids(KissICP):
    """Keeps the means of at most a fixed number of voxels."""

    count = 4096

    def voxelize(self, frame):
        return tuple(farpoint.centroids(frame, count, threads=1).points for count in (self.count // 4, self.count))


class Voxels(KissICP):
    """Keeps the first point of each voxel, of sizes for the same numbers on the first turn."""

    count, sizes = 4096, None

    def thin(self, frame, size):
        return farpoint.voxel_downsample(frame, size, reduce="first", threads=1).points

    def voxelize(self, frame):
        if self.sizes is None:
            self.sizes = [size_for(count, lambda size: self.thin(frame, size)) for count in (self.count // 4, self.count)]
        return tuple(self.thin(frame, size) for size in self.sizes)


class TheirVoxels(Voxels):
    """The same by KISS-ICP's own voxels."""

    def thin(self, frame, size):
        return voxel_down_sample(frame, size)


#: Ways to thin a turn for KISS-ICP.
PIPELINES = {
    "farpoint FPS": Fps,
    "farpoint centroids": Centroids,
    "farpoint voxels": Voxels,
    "KISS-ICP's voxels": TheirVoxels,
}


def odometry(kind, count, turns):
    """Runs the pipeline; returns numbers of points, errors per meter and at the end, and times."""
    config = KISSConfig()
    config.data.deskew = False
    config.mapping.voxel_size = 1.0
    config.registration.max_num_threads = 1
    pipeline = kind(config)
    pipeline.count = count
    kept, spent, poses = [], [], []
    thin = pipeline.voxelize

    def voxelize(frame):
        (source, chosen), milliseconds = timed(thin, frame)
        kept.append((len(source), len(chosen)))
        spent.append(milliseconds)
        return source, chosen

    pipeline.voxelize = voxelize
    whole = []
    for frame, _ in turns:
        whole.append(timed(pipeline.register_frame, frame, np.zeros(len(frame)))[1])
        poses.append(pipeline.last_pose)
    first = turns[0][1]
    truth = [np.linalg.inv(first) @ here for _, here in turns]
    steps = [
        errors(np.linalg.inv(truth[k - 1]) @ truth[k], np.linalg.inv(poses[k - 1]) @ poses[k]) for k in range(1, len(poses))
    ]
    # The first turns find the sizes of voxels, and register to an empty map.
    median = lambda values: statistics.median(values[2:])
    return (
        *(statistics.median(column) for column in zip(*kept)),
        *(statistics.median(column) for column in zip(*steps)),
        errors(truth[-1], poses[-1])[0],
        median(spent),
        median([both - thinning for both, thinning in zip(whole, spent)]),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--counts", type=int, nargs="+", default=[2048, 4096, 8192])
    parser.add_argument("--repetitions", type=int, default=9)
    args = parser.parse_args()
    packages = ", ".join(f"{name} {version(name)}" for name in ("small_gicp", "kiss-icp", "numpy"))
    cpu = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    print(f"{cpu}, {os.cpu_count()} cores, Python {platform.python_version()}, {packages}, farpoint {farpoint.__version__}\n")

    print("| pair | thinned by | points | cm | worst | degrees | thinning, ms | registration, ms |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    turns_of_kitti = kitti(args.data)
    pair("KITTI 0, 1", lambda seed: turns_of_kitti, args.counts, args.repetitions)
    for name, (file, columns) in TURNS.items():
        pair(f"halves, {name}", lambda seed: halves(args.data / file, columns, seed), args.counts, args.repetitions)

    print("\n| drive | points | cm per turn | degrees per turn | cm at the end | thinning, ms | the rest, ms |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    turns = list(drive())
    for count in args.counts:
        for name, kind in PIPELINES.items():
            few, many, centimeters, degrees, end, thinning, rest = odometry(kind, count, turns)
            print(
                f"| {name} | {few:,.0f} of {many:,.0f} | {centimeters:.2f} | {degrees:.3f} | {end:.1f} | {thinning:.1f} | "
                f"{rest:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
