"""LAS, LAZ and E57."""

import laspy
import numpy as np

import e57_file
import truth
from sources import an_input
from truth import Truth

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


@an_input("E57", ".e57")
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


@an_input("E57", ".e57", says=("2 scans become one cloud",))
def e57_of_two_scans(path):
    """Each scan has a pose that turns it by 90 degrees and moves it, and its own number of points."""
    own = truth.local(np.float64)
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], float)
    half = np.sqrt(0.5)
    moves = np.array([[682_345.25, 5_250_123.5, 401.0], [682_395.5, 5_250_163.25, 402.5]])
    colors = truth.bytes_of_color()
    intensity = truth.random().uniform(0, 300, truth.POINTS).astype(np.float32)
    cut = truth.POINTS // 3
    scans, xyz = [], []
    for part, move in zip([slice(0, cut), slice(cut, None)], moves):
        columns = axes_of_e57(own[part], e57_file.double)
        columns |= {"intensity": (intensity[part], e57_file.single)} | colors_of_e57(colors[part])
        scans.append((((half, 0, 0, half), move), columns))
        xyz.append(own[part] @ turn.T + move)
    e57_file.write(path, scans)
    number = (np.arange(truth.POINTS) >= cut).astype(np.uint8)
    t = Truth(np.concatenate(xyz), colors=colors, intensity=intensity)
    return t.with_(others={"scan": number})
