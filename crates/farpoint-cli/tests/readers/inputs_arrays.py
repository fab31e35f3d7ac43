"""PLY, PCD, NPY and raw float32."""

import numpy as np
from plyfile import PlyData, PlyElement
from pypcd4 import PointCloud

import truth
from sources import an_input, axes, record, three
from truth import Truth

# PLY, by plyfile.


def ply(path, columns, text=False, order="="):
    element = PlyElement.describe(record(columns), "vertex")
    PlyData([element], text=text, byte_order=order).write(path)


@an_input("PLY", ".ply")
def ply_float(path):
    """As a scanner's software exports it."""
    t = Truth(
        truth.local(np.float32),
        colors=truth.bytes_of_color(),
        intensity=truth.random().uniform(0, 1, truth.POINTS).astype(np.float32),
        classification=truth.classes(),
        normals=truth.directions(),
        time=truth.times(),
        others={"confidence": truth.random().uniform(0, 1, truth.POINTS).astype("f4")},
    )
    ply(
        path,
        axes(t.xyz, "f4")
        | three(["nx", "ny", "nz"], t.normals)
        | three(["red", "green", "blue"], t.colors)
        | {"intensity": t.intensity, "classification": t.classification, "gps_time": t.time}
        | t.others,
    )
    return t


@an_input("PLY", ".ply")
def ply_double(path):
    """As a surveyor's software exports it, with names of CloudCompare."""
    t = Truth(
        truth.surveyed(),
        # Doubles do not say with how many decimals they were measured.
        step=None,
        colors=truth.bytes_of_color(),
        intensity=truth.random().integers(0, 4096, truth.POINTS).astype(np.float32),
        classification=truth.classes().astype(np.float32),
        time=truth.times(),
    )
    ply(
        path,
        axes(t.xyz, "f8")
        | three(["red", "green", "blue"], t.colors)
        | {"intensity": t.intensity, "scalar_Classification": t.classification}
        | {"scalar_GpsTime": t.time},
    )
    return t


@an_input("PLY", ".ply")
def ply_ascii(path):
    t = Truth(truth.local(np.float32), intensity=truth.random().normal(0, 40, truth.POINTS).astype("f4"))
    ply(path, axes(t.xyz, "f4") | {"intensity": t.intensity}, text=True)
    return t


@an_input("PLY", ".ply")
def ply_big_endian(path):
    t = Truth(truth.local(np.float64), colors=truth.words_of_color())
    ply(path, axes(t.xyz, "f8") | three(["red", "green", "blue"], t.colors), order=">")
    return t


# PCD, by pypcd4.


def pcd(path, columns):
    names, values = list(columns), list(columns.values())
    PointCloud.from_points(values, names, [v.dtype for v in values]).save(path)


@an_input("PCD", ".pcd")
def pcd_colored(path):
    t = Truth(
        truth.local(np.float32),
        colors=truth.bytes_of_color(),
        intensity=truth.random().integers(0, 256, truth.POINTS).astype(np.float32),
        classification=truth.classes(),
        normals=truth.directions(),
        time=truth.times(),
        others={"ring": (np.arange(truth.POINTS) % 16).astype(np.uint16)},
    )
    # Bits of a float, as PCL has always stored colors.
    packed = t.colors.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    pcd(
        path,
        axes(t.xyz, "f4")
        | {"rgb": packed.view(np.float32), "intensity": t.intensity}
        | three(["normal_x", "normal_y", "normal_z"], t.normals)
        | {"classification": t.classification, "gps_time": t.time}
        | t.others,
    )
    return t


@an_input("PCD", ".pcd")
def pcd_double(path):
    t = Truth(truth.surveyed(), intensity=truth.random().uniform(0, 1, truth.POINTS).astype("f4"))
    pcd(path, axes(t.xyz, "f8") | {"intensity": t.intensity})
    return t


# NPY and NPZ, by NumPy.


@an_input("NPY, NPZ", ".npy")
def npy_float(path):
    t = Truth(truth.local(np.float32))
    np.save(path, t.xyz)
    return t


@an_input("NPY, NPZ", ".npy")
def npy_double(path):
    t = Truth(truth.surveyed())
    np.save(path, t.xyz)
    return t


@an_input("NPY, NPZ", ".npy")
def npy_float_projected(path):
    """What is left of a survey in float32: northings to half a meter, heights to a fraction of a millimeter."""
    t = Truth(truth.surveyed().astype(np.float32))
    np.save(path, t.xyz)
    return t


@an_input("NPY, NPZ", ".npy")
def npy_structured(path):
    t = Truth(
        truth.local(np.float64),
        colors=truth.random().uniform(0, 1, (truth.POINTS, 3)).astype(np.float32),
        intensity=truth.random().integers(0, 65536, truth.POINTS).astype(np.uint16),
        classification=truth.classes(),
        normals=truth.directions(),
        time=truth.times(),
        others={"label": truth.random().integers(0, 100_000, truth.POINTS).astype(np.int32)},
    )
    columns = (
        axes(t.xyz, "f8")
        | three(["red", "green", "blue"], t.colors)
        | {"intensity": t.intensity, "classification": t.classification}
        | three(["nx", "ny", "nz"], t.normals)
        | {"gps_time": t.time}
        | t.others
    )
    np.save(path, record(columns))
    return t


@an_input("NPY, NPZ", ".npz")
def npz(path):
    t = Truth(truth.local(np.float32), colors=truth.bytes_of_color())
    np.savez(path, points=record(axes(t.xyz, "f4") | three(["red", "green", "blue"], t.colors)))
    return t


# Raw float32, by NumPy.


@an_input("raw", ".bin")
def kitti(path):
    t = Truth(truth.local(np.float32), intensity=truth.random().uniform(0, 1, truth.POINTS).astype("f4"))
    np.column_stack([t.xyz, t.intensity]).tofile(path)
    return t


@an_input("raw", ".pcd.bin")
def nuscenes(path):
    t = Truth(
        truth.local(np.float32),
        intensity=truth.random().integers(0, 256, truth.POINTS).astype("f4"),
        others={"ring": (np.arange(truth.POINTS) % 32).astype("f4")},
    )
    np.column_stack([t.xyz, t.intensity, t.others["ring"]]).tofile(path)
    return t
