"""Thins a survey by farpoint and by what a surveyor would take instead, each a process of its own from file to
file; prints a line of JSON each: seconds, processor seconds, peak of memory, points.

    python lab/peers/survey.py scan.laz scan.ply scan.pcd --spacing 10 --farpoint target/release/farpoint

scan.ply and scan.pcd are the same points (`farpoint convert scan.laz scan.ply --precision single`), for
CloudCompare and PCL of Debian read no LAZ. What is not installed is left out, with a word.
"""

import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

# laspy with lazrs, fpsample's fastest sampler; as many points as farpoint takes for the spacing.
FPSAMPLE = """
import sys, fpsample, laspy, numpy
cloud = laspy.read(sys.argv[1])
points = (cloud.xyz - cloud.xyz.min(axis=0)).astype(numpy.float32)
chosen = fpsample.bucket_fps_kdline_sampling(points, int(sys.argv[3]), h=9)
cloud.points = cloud.points[numpy.sort(chosen)]
cloud.write(sys.argv[2])
"""
PACKAGE = """
import farpoint, pathlib, sys
if __name__ == "__main__":
    out = pathlib.Path(sys.argv[2])
    [row] = farpoint.sample_files([sys.argv[1]], out.parent, spacing=float(sys.argv[3]), workers=1, threads=2, force=True)
    assert row.error is None, row.error
"""


def measured(command, environment=None):
    """Runs a program; its seconds and those of the processes that it started."""
    begin = time.perf_counter()
    child = os.posix_spawnp(command[0], command, {**os.environ, **(environment or {})},
                            file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"{' '.join(command)[:200]} ended with {status}")
    return {
        "seconds": round(time.perf_counter() - begin, 2),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mib": usage.ru_maxrss // 1024,
    }


def points_of(path):
    """How many points a file has."""
    if path.suffix in (".laz", ".las"):
        import laspy
        with laspy.open(path) as file:
            return file.header.point_count
    with open(path, "rb") as file:
        head = file.read(4096)
    word = b"element vertex" if path.suffix == ".ply" else b"POINTS"
    return int(head.split(word)[1].split()[0])


def of_cloudcompare(folder):
    """CloudCompare chooses the name of its output."""
    [result] = folder.glob("*_SUBSAMPLED.ply")
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("laz", type=pathlib.Path)
    parser.add_argument("ply", type=pathlib.Path)
    parser.add_argument("pcd", type=pathlib.Path)
    parser.add_argument("--spacing", type=float, required=True)
    parser.add_argument("--farpoint", help="the command; the Python package unless given")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the outputs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(args, args.keep or pathlib.Path(folder))


def run(args, folder):
    spacing = f"{args.spacing:g}"

    def farpoint(source):
        target = folder / "farpoint" / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if args.farpoint:
            command = [args.farpoint, "sample", str(source), "-o", str(target), "--spacing", spacing, "--device", "cpu"]
        else:
            command = [sys.executable, "-c", PACKAGE, str(source), str(target), spacing]
        return command, target

    def tell(name, command, target, **environment):
        if shutil.which(command[0]) is None:
            print(f"skipped: {command[0]} is not installed", file=sys.stderr)
            return None
        load = os.getloadavg()[0]
        result = measured(command, environment)
        target = target() if callable(target) else target
        outcome = {"what": name, **result, "load": round(load, 1), "points": points_of(target), "bytes": target.stat().st_size}
        print(json.dumps(outcome), flush=True)
        return outcome["points"]

    count = tell("farpoint, LAZ", *farpoint(args.laz))
    out = folder / "fpsample.laz"
    tell("laspy and fpsample, LAZ", [sys.executable, "-c", FPSAMPLE, str(args.laz), str(out), str(count)], out)
    tell("farpoint, PLY", *farpoint(args.ply))
    cloud = folder / "cloudcompare" / args.ply.name
    cloud.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(args.ply, cloud)
    options = ["-SILENT", "-AUTO_SAVE", "OFF", "-O", str(cloud), "-SS", "SPATIAL", spacing]
    command = ["CloudCompare", *options, "-C_EXPORT_FMT", "PLY", "-NO_TIMESTAMP", "-SAVE_CLOUDS"]
    tell("CloudCompare, PLY", command, lambda: of_cloudcompare(cloud.parent), QT_QPA_PLATFORM="offscreen")
    tell("farpoint, PCD", *farpoint(args.pcd))
    out = folder / "pcl.pcd"
    command = ["pcl_uniform_sampling", str(args.pcd), str(out), "-radius", spacing]
    tell("PCL's uniform sampling, PCD", command, out)


if __name__ == "__main__":
    main()
