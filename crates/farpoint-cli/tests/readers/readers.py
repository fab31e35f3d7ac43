"""Reads files that the command wrote, with software that is not ours, into columns by name."""

import csv
import re
from dataclasses import dataclass

import laspy
import numpy as np
from plyfile import PlyData
from pye57 import libe57
from pypcd4 import PointCloud

import truth


@dataclass
class Output:
    columns: dict[str, np.ndarray]
    # What was subtracted from the coordinates, by a comment of the file.
    offset: np.ndarray | None = None
    # The step of stored integers.
    scale: np.ndarray | None = None
    # The records that state a coordinate system: text or keys.
    crs: bytes | None = None

    @property
    def xyz(self):
        return np.column_stack([self.columns[axis] for axis in "xyz"]).astype(np.float64)

    @property
    def names(self):
        return list(self.columns)

    def three(self, names):
        return np.column_stack([self.columns[name] for name in names])


def read(path):
    extension = path.rsplit(".", 1)[1]
    return READERS[extension](path)


def read_ply(path):
    data = PlyData.read(path)
    vertices = data["vertex"].data
    offset = [line for line in data.comments if line.startswith("offset")]
    return Output({name: vertices[name] for name in vertices.dtype.names}, offset_of(offset))


def offset_of(comments):
    if not comments:
        return None
    assert len(comments) == 1, comments
    numbers = comments[0].split()[-3:]
    return np.array([float(number) for number in numbers])


def read_pcd(path):
    cloud = PointCloud.from_path(path)
    assert cloud.metadata.height == 1 and cloud.metadata.width == cloud.metadata.points
    assert set(cloud.counts) == {1} and len(cloud.fields) == len(cloud.metadata.size)
    columns = {name: cloud.pc_data[name] for name in cloud.fields}
    for packed in {"rgb", "rgba"} & set(columns):
        columns.update(zip(["red", "green", "blue"], PointCloud.decode_rgb(columns[packed]).T))
    if "rgba" in columns:
        columns["alpha"] = columns["rgba"].view(np.uint32) >> 24
    with open(path, "rb") as file:
        head = file.read(4096).split(b"DATA ")[0].decode("ascii")
    comments = [line for line in head.splitlines() if re.match("# *offset", line)]
    return Output(columns, offset_of(comments))


def read_las(path):
    cloud = laspy.read(path)
    columns = {name: np.array(cloud[name]) for name in cloud.point_format.dimension_names}
    assert len(columns) == len(list(cloud.point_format.dimension_names)), "a name occurs twice"
    columns["x"], columns["y"], columns["z"] = (np.array(cloud[axis]) for axis in "xyz")
    crs = [v.record_data_bytes() for v in cloud.header.vlrs.get_by_id("LASF_Projection")]
    check_header(cloud)
    return Output(columns, scale=np.array(cloud.header.scales), crs=b"".join(crs) or None)


def check_header(cloud):
    """What a reader that looks at the header alone would be told."""
    header = cloud.header
    assert header.point_count == len(cloud)
    if len(cloud):
        assert np.allclose(header.mins, cloud.xyz.min(axis=0), atol=1e-9, rtol=0)
        assert np.allclose(header.maxs, cloud.xyz.max(axis=0), atol=1e-9, rtol=0)
    assert header.number_of_points_by_return.sum() == len(cloud)


def read_npy(path):
    return of_array(np.load(path))


def of_array(array):
    if array.dtype.names:
        return Output({name: array[name] for name in array.dtype.names})
    names = ["x", "y", "z"] + [f"column_{i}" for i in range(4, array.shape[1] + 1)]
    return Output(dict(zip(names, array.T)))


def read_npz(path):
    with np.load(path) as archive:
        assert archive.files == ["points"]
        return of_array(archive["points"])


def read_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    names = rows[0].keys() if rows else []
    return Output({name: numbers([row[name] for row in rows]) for name in names})


def read_xyz(path):
    with open(path) as file:
        first = file.readline()
    names = first.lstrip("# ").split() if first.startswith("#") else ["x", "y", "z"]
    array = np.loadtxt(path, comments="#", ndmin=2)
    assert array.shape[1] == len(names), first
    return Output(dict(zip(names, array.T)))


def read_pts(path):
    """As the readers of PTS do: a count, then x y z, intensity, r g b by their number."""
    with open(path) as file:
        count = int(file.readline())
        rows = [line.split() for line in file]
    assert len(rows) == count
    names = ["x", "y", "z", "intensity", "red", "green", "blue"]
    assert {len(row) for row in rows} <= {3, 4, 7}, f"{len(rows[0])} columns"
    array = np.array(rows, dtype=float)
    return Output(dict(zip(names, array.T)))


# What the columns of E57 are called elsewhere.
OF_E57 = {f"cartesian{axis}": axis.lower() for axis in "XYZ"}
OF_E57 |= {f"color{name}": name.lower() for name in ["Red", "Green", "Blue"]}
OF_E57 |= {f"nor:normal{axis}": f"n{axis.lower()}" for axis in "XYZ"}
OF_E57 |= {"timeStamp": "time_stamp", "returnIndex": "return_index", "returnCount": "number_of_returns"}
OF_E57 |= {"rowIndex": "row", "columnIndex": "column"}


def columns_of_e57(path):
    """All columns of the one scan under their own names, and the coordinate system, by libe57."""
    image = libe57.ImageFile(str(path), "r")
    root = image.root()
    crs = root["coordinateMetadata"].value() if root.isDefined("coordinateMetadata") else ""
    scans = root["data3D"]
    assert scans.childCount() == 1
    points = scans[0]["points"]
    prototype = libe57.StructureNode(points.prototype())
    columns, buffers = {}, libe57.VectorSourceDestBuffer()
    for place in range(prototype.childCount()):
        name = prototype.get(place).elementName()
        columns[name] = np.zeros(points.childCount())
        buffers.append(libe57.SourceDestBuffer(image, name, columns[name], points.childCount(), True, True))
    reader = points.reader(buffers)
    assert reader.read() == points.childCount()
    reader.close()
    image.close()
    return columns, crs


def read_e57(path):
    own, crs = columns_of_e57(path)
    assert not own.pop("cartesianInvalidState").any()
    columns = {OF_E57.get(name, name.removeprefix("farpoint:")): values for name, values in own.items()}
    if "return_index" in columns:
        # E57 counts returns from 0.
        columns["return_number"] = columns["return_index"] + 1
    return Output(columns, crs=crs.encode() or None)


def read_bin(path):
    """Rows of float32, as KITTI and nuScenes have them."""
    rows = np.fromfile(path, "<f4").reshape(truth.POINTS, -1)
    names = ["x", "y", "z", "intensity", "ring"]
    return Output(dict(zip(names, rows.T, strict=False)))


def numbers(words):
    return np.array([float(word) for word in words])


READERS = {
    "ply": read_ply,
    "pcd": read_pcd,
    "e57": read_e57,
    "bin": read_bin,
    "las": read_las,
    "laz": read_las,
    "npy": read_npy,
    "npz": read_npz,
    "csv": read_csv,
    "xyz": read_xyz,
    "pts": read_pts,
}
