"""Input files, written by software that is not ours or by hand, each with what it holds."""

from dataclasses import dataclass

import laspy
import numpy as np
from plyfile import PlyData, PlyElement
from pypcd4 import PointCloud

import e57_file
import truth
from truth import Truth

INPUTS = {}


@dataclass
class Input:
    name: str
    # The row of the matrix.
    row: str
    file: str
    truth: Truth
    # What is said of the file whatever the output is.
    says: tuple = ()


def an_input(row, extension, says=()):
    """Registers a function that writes a file and gives what is in it."""

    def register(write):
        name = write.__name__

        def make(folder):
            path = str(folder / f"{name}{extension}")
            return Input(name, row, path, write(path), says)

        INPUTS[name] = make
        return write

    return register


def record(columns):
    """A structured array of named columns."""
    array = np.empty(truth.POINTS, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        array[name] = column
    return array


def axes(xyz, kind):
    return {axis: xyz[:, i].astype(kind) for i, axis in enumerate("xyz")}


def three(names, array):
    return {name: array[:, i] for i, name in enumerate(names)}


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


# LAS and LAZ, by laspy.


def las(path, t, version, point_format, crs=None):
    header = laspy.LasHeader(version=version, point_format=point_format)
    header.scales, header.offsets = [t.step] * 3, np.floor(t.xyz.min(axis=0))
    if crs == "wkt":
        header.vlrs.append(laspy.VLR("LASF_Projection", 2112, "", t.crs.encode() + b"\0"))
        header.global_encoding.wkt = True
    if crs == "geotiff":
        # One key: ProjectedCRSGeoKey (3072) is EPSG:32632.
        keys = np.array([1, 1, 0, 1, 3072, 0, 1, 32632], "<u2")
        header.vlrs.append(laspy.VLR("LASF_Projection", 34735, "", keys.tobytes()))
    if t.normals is not None:
        names = ["NormalX", "NormalY", "NormalZ"]
        header.add_extra_dims([laspy.ExtraBytesParams(name, "f4") for name in names])
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = t.xyz.T
    if t.colors is not None:
        cloud.red, cloud.green, cloud.blue = t.colors.T
    if t.time is not None:
        cloud.gps_time = t.time
    if t.normals is not None:
        cloud.NormalX, cloud.NormalY, cloud.NormalZ = t.normals.T
    cloud.intensity, cloud.classification = t.intensity, t.classification
    cloud.return_number, cloud.number_of_returns = t.others["return_number"], [3] * truth.POINTS
    cloud.point_source_id = t.others["point_source_id"]
    cloud.write(path)
    # Stored integers times the scale plus the offset, as every reader computes it.
    return t.with_(xyz=np.array(laspy.read(path).xyz))


def measured(**more):
    t = Truth(
        truth.surveyed(),
        step=0.001,
        intensity=truth.random().integers(0, 65536, truth.POINTS).astype(np.uint16),
        classification=truth.classes(),
        others={
            "return_number": 1 + np.arange(truth.POINTS) % 3,
            "point_source_id": 100 + np.arange(truth.POINTS) % 7,
        },
    )
    return t.with_(**more)


@an_input("LAS, LAZ", ".las")
def las_1_2(path):
    return las(path, measured(), "1.2", 0)


@an_input("LAS, LAZ", ".laz")
def laz_1_2_colored(path):
    t = measured(colors=truth.words_of_color(), time=truth.times(), crs="EPSG:32632")
    return las(path, t, "1.2", 3, "geotiff")


@an_input("LAS, LAZ", ".las")
def las_with_small_colors(path):
    """Colors of 8 bits in fields of 16, against the specification and often seen."""
    colors = truth.bytes_of_color().astype(np.uint16)
    return las(path, measured(colors=colors, time=truth.times()), "1.2", 3)


@an_input("LAS, LAZ", ".laz")
def laz_1_4(path):
    return las(path, measured(time=truth.times(), crs=truth.WKT), "1.4", 6, "wkt")


@an_input("LAS, LAZ", ".las")
def las_1_4_colored(path):
    t = measured(
        colors=truth.words_of_color(),
        time=truth.times(),
        normals=truth.directions(),
        crs=truth.WKT,
    )
    return las(path, t, "1.4", 7, "wkt")


@an_input("LAS, LAZ", ".las", says=("degrees",))
def las_in_degrees(path):
    """Steps that differ: a ten-millionth of a degree, a centimeter."""
    degrees = truth.random().integers(0, 100_000, (truth.POINTS, 3)) * 1e-7 + [8.5, 47.25, 0]
    degrees[:, 2] = truth.random().integers(40_000, 50_000, truth.POINTS) / 100
    t = measured(xyz=degrees)
    header = laspy.LasHeader(version="1.2", point_format=1)
    header.scales, header.offsets = [1e-7, 1e-7, 0.01], [0, 0, 0]
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = t.xyz.T
    cloud.intensity, cloud.classification = t.intensity, t.classification
    cloud.return_number, cloud.point_source_id = t.others.values()
    cloud.gps_time = truth.times()
    cloud.write(path)
    xyz = np.array(laspy.read(path).xyz)
    return t.with_(xyz=xyz, step=np.array([1e-7, 1e-7, 0.01]), time=truth.times())


# E57, by libe57.


def colors_of_e57(colors):
    names = ["colorRed", "colorGreen", "colorBlue"]
    return {name: (colors[:, i], e57_file.whole(0, 255)) for i, name in enumerate(names)}


def axes_of_e57(xyz, node):
    return {f"cartesian{axis}": (xyz[:, i], node) for i, axis in enumerate("XYZ")}


@an_input("E57, PTX", ".e57")
def e57_scaled(path):
    """One scan of integers times a tenth of a millimeter, with a coordinate system."""
    t = Truth(
        truth.local(np.float64).round(4),
        step=0.0001,
        colors=truth.bytes_of_color(),
        intensity=truth.random().uniform(0, 1, truth.POINTS).astype(np.float32),
        crs=truth.WKT,
    )
    columns = axes_of_e57(t.xyz, e57_file.scaled(0.0001, -60_000, 60_000))
    columns |= {"intensity": (t.intensity, e57_file.single)} | colors_of_e57(t.colors)
    rows = np.arange(truth.POINTS, dtype=np.uint8)
    columns |= {
        "rowIndex": (rows // 8, e57_file.whole(0, 7)),
        "columnIndex": (rows % 8, e57_file.whole(0, 7)),
        "timeStamp": (rows / 8, e57_file.double),
    }
    t.normals = truth.directions()
    for i, axis in enumerate("XYZ"):
        columns[f"nor:normal{axis}"] = t.normals[:, i], e57_file.single
    e57_file.write(path, [(None, columns)], t.crs)
    others = {"row": rows // 8, "column": rows % 8, "time_stamp": rows / 8}
    return t.with_(others=others)


@an_input("E57, PTX", ".e57", says=("2 scans become one cloud",))
def e57_of_two_scans(path):
    """Each scan has a pose that turns it by 90 degrees and moves it, and its own number of points."""
    own = truth.local(np.float64)
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], float)
    half = np.sqrt(0.5)
    moves = np.array([[682_345.25, 5_250_123.5, 401.0], [682_395.5, 5_250_163.25, 402.5]])
    colors = truth.bytes_of_color()
    intensity = truth.random().uniform(0, 300, truth.POINTS).astype(np.float32)
    cut = truth.POINTS // 3
    scans, xyz, turned = [], [], []
    for part, move in zip([slice(0, cut), slice(cut, None)], moves):
        columns = axes_of_e57(own[part], e57_file.double)
        columns |= {"intensity": (intensity[part], e57_file.single)} | colors_of_e57(colors[part])
        scans.append((((half, 0, 0, half), move), columns))
        xyz.append(own[part] @ turn.T + move)
    e57_file.write(path, scans)
    number = (np.arange(truth.POINTS) >= cut).astype(np.uint8)
    t = Truth(np.concatenate(xyz), colors=colors, intensity=intensity)
    return t.with_(others={"scan": number})


@an_input("E57, PTX", ".ptx")
def ptx_of_two_scans(path):
    """By hand: each scan with its size, its position and a matrix that turns and moves it."""
    own = truth.local(np.float64).round(3)
    turn = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    moves = np.array([[682_345.25, 5_250_123.5, 401.0], [682_395.5, 5_250_163.25, 402.5]])
    colors = truth.bytes_of_color()
    intensity = truth.random().uniform(0, 1, truth.POINTS).round(6).astype(np.float32)
    half = truth.POINTS // 2
    xyz = []
    with open(path, "w") as file:
        for part, move in zip([slice(0, half), slice(half, None)], moves):
            place = " ".join(map(str, move))
            file.write(f"{half // 4}\n4\n{place}\n1 0 0\n0 1 0\n0 0 1\n")
            file.writelines(f"{' '.join(map(str, row))} 0\n" for row in turn)
            file.write(f"{place} 1\n")
            columns = words_of(own[part], 3) + [words(intensity[part], 6)]
            columns += [words(colors[part, i], 0) for i in range(3)]
            file.writelines(" ".join(row) + "\n" for row in zip(*columns))
            # A row of PTX stands before the matrix.
            xyz.append(own[part] @ turn + move)
    number = (np.arange(truth.POINTS) >= half).astype(np.uint8)
    t = Truth(np.concatenate(xyz), colors=colors, intensity=intensity)
    return t.with_(others={"scan": number})


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
    t = Truth(
        truth.local(np.float32), intensity=truth.random().uniform(0, 1, truth.POINTS).astype("f4")
    )
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


# Text and meshes, by hand.


def lines(path, rows, separator, head=""):
    with open(path, "w") as file:
        file.write(head)
        for row in rows:
            file.write(separator.join(row) + "\n")


def words(array, decimals):
    return [f"{value:.{decimals}f}" for value in array]


def words_of(xyz, decimals):
    return [words(xyz[:, i], decimals) for i in range(3)]


@an_input("text", ".xyz")
def text_bare(path):
    t = Truth(truth.surveyed(), step=0.001)
    lines(path, zip(*words_of(t.xyz, 3)), " ")
    return t


@an_input("text", ".csv")
def text_named(path):
    t = Truth(
        truth.surveyed(),
        step=0.001,
        colors=truth.bytes_of_color(),
        intensity=truth.random().integers(0, 4096, truth.POINTS).astype(np.int32),
        classification=truth.classes(),
        normals=truth.directions().astype(np.float64).round(6),
        time=truth.times(),
        others={"label": truth.random().integers(0, 100_000, truth.POINTS).astype(np.int32)},
    )
    columns = words_of(t.xyz, 3) + [words(t.colors[:, i], 0) for i in range(3)]
    columns += [words(t.intensity, 0), words(t.classification, 0)]
    columns += words_of(t.normals, 6) + [words(t.time, 12)]
    columns.append(words(t.others["label"], 0))
    head = "x,y,z,red,green,blue,intensity,classification,nx,ny,nz,gps_time,label\n"
    lines(path, zip(*columns), ",", head)
    return t


@an_input("PTS", ".pts")
def pts(path):
    t = Truth(
        truth.surveyed(),
        step=0.001,
        colors=truth.bytes_of_color(),
        intensity=truth.random().integers(-2048, 2048, truth.POINTS).astype(np.int32),
    )
    columns = words_of(t.xyz, 3) + [words(t.intensity, 0)]
    columns += [words(t.colors[:, i], 0) for i in range(3)]
    lines(path, zip(*columns), " ", f"{truth.POINTS}\n")
    return t


@an_input("OBJ, OFF", ".obj", says=("face",))
def obj(path):
    """Colors after the coordinates, from 0 to 1, as MeshLab writes them."""
    t = Truth(truth.local(np.float64).round(4), step=0.0001, colors=truth.bytes_of_color() / 255)
    t.colors = t.colors.round(6).astype(np.float32)
    columns = words_of(t.xyz, 4) + words_of(t.colors, 6)
    lines(path, [("v", *row) for row in zip(*columns)] + [("f", "1", "2", "3")], " ")
    return t


@an_input("OBJ, OFF", ".off", says=("face",))
def off(path):
    t = Truth(truth.local(np.float64).round(4), step=0.0001)
    lines(path, [*zip(*words_of(t.xyz, 4)), ("3", "0", "1", "2")], " ", f"OFF\n{truth.POINTS} 1 0\n")
    return t


@an_input("OBJ, OFF", ".off")
def off_colored(path):
    """Colors and opacity after the coordinates."""
    t = Truth(truth.local(np.float64).round(4), step=0.0001, colors=truth.bytes_of_color())
    columns = words_of(t.xyz, 4) + [words(t.colors[:, i], 0) for i in range(3)]
    columns.append(["255"] * truth.POINTS)
    t.others = {"alpha": np.full(truth.POINTS, 255)}
    lines(path, zip(*columns), " ", f"COFF\n{truth.POINTS} 0 0\n")
    return t


@an_input("OBJ, OFF", ".off")
def off_with_normals(path):
    t = Truth(truth.local(np.float64).round(4), step=0.0001, normals=truth.directions())
    t.normals = t.normals.round(6)
    columns = words_of(t.xyz, 4) + words_of(t.normals, 6)
    lines(path, zip(*columns), " ", f"NOFF\n{truth.POINTS} 0 0\n")
    return t
