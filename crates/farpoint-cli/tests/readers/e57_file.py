"""Writes E57 with libe57, the reference implementation, which pye57 brings along. pye57 itself writes
only a few kinds of columns."""

import numpy as np
from pye57 import libe57

NORMALS = ("nor", "http://www.libe57.org/E57_NOR_surface_normals.txt")


def write(path, scans, crs=""):
    """`scans`: for each a pose, (rotation wxyz, translation) or `None`, and columns by name: pairs of
    values and of what makes their node."""
    image = libe57.ImageFile(str(path), "w")
    image.extensionsAdd("", libe57.E57_V1_0_URI)
    image.extensionsAdd(*NORMALS)
    root = image.root()
    root.set("formatName", libe57.StringNode(image, "ASTM E57 3D Imaging Data File"))
    root.set("guid", libe57.StringNode(image, "{file}"))
    root.set("versionMajor", libe57.IntegerNode(image, libe57.E57_FORMAT_MAJOR))
    root.set("versionMinor", libe57.IntegerNode(image, libe57.E57_FORMAT_MINOR))
    root.set("e57LibraryVersion", libe57.StringNode(image, libe57.E57_LIBRARY_ID))
    root.set("coordinateMetadata", libe57.StringNode(image, crs))
    data = libe57.VectorNode(image, True)
    root.set("data3D", data)
    root.set("images2D", libe57.VectorNode(image, True))
    for number, (pose, columns) in enumerate(scans):
        append(image, data, number, pose, columns)
    image.close()


def append(image, data, number, pose, columns):
    scan = libe57.StructureNode(image)
    scan.set("guid", libe57.StringNode(image, f"{{scan-{number}}}"))
    scan.set("name", libe57.StringNode(image, f"Scan {number}"))
    if pose is not None:
        place = libe57.StructureNode(image)
        for name, keys, values in zip(["rotation", "translation"], ["wxyz", "xyz"], pose):
            part = libe57.StructureNode(image)
            for key, value in zip(keys, values):
                part.set(key, libe57.FloatNode(image, float(value)))
            place.set(name, part)
        scan.set("pose", place)
    if "colorRed" in columns:
        limits = libe57.StructureNode(image)
        for name in ["Red", "Green", "Blue"]:
            limits.set(f"color{name}Minimum", libe57.IntegerNode(image, 0))
            limits.set(f"color{name}Maximum", libe57.IntegerNode(image, 255))
        scan.set("colorLimits", limits)
    prototype = libe57.StructureNode(image)
    buffers = libe57.VectorSourceDestBuffer()
    arrays = []
    for name, (values, node) in columns.items():
        prototype.set(name, node(image))
        # libe57 keeps an address alone: the array has to stay.
        arrays.append(np.ascontiguousarray(values))
        count = len(values)
        buffers.append(libe57.SourceDestBuffer(image, name, arrays[-1], count, True, True))
    points = libe57.CompressedVectorNode(image, prototype, libe57.VectorNode(image, True))
    scan.set("points", points)
    data.append(scan)
    writer = points.writer(buffers)
    writer.write(len(arrays[0]))
    writer.close()


def double(image):
    return libe57.FloatNode(image, 0.0, libe57.E57_DOUBLE)


def single(image):
    return libe57.FloatNode(image, 0.0, libe57.E57_SINGLE, -3.4e38, 3.4e38)


def whole(low, high):
    return lambda image: libe57.IntegerNode(image, low, low, high)


def scaled(scale, low, high, offset=0.0):
    """Integers from `low` to `high` times `scale` plus `offset`."""
    return lambda image: libe57.ScaledIntegerNode(image, int(low), int(low), int(high), scale, offset)
