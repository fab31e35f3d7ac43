"""What a COPC file holds, as copclib, laspy with LASzip, and copc with laz-perf read it, and what must hold
of it: the points are the input's, the nodes are sound, every level covers the cloud as it declares."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import copclib
import laspy
import lazrs
import numpy as np
from scipy.spatial import cKDTree

# A distance of the tree is off by less than this part of it.
ROUNDING = 1e-9


@dataclass
class Copc:
    """The nodes by copclib, each with its points as stored."""

    path: str
    header: object
    info: object
    # Level, x, y, z, offset, bytes, points of each node.
    nodes: np.ndarray
    # The records of each node, a row a point.
    records: list[np.ndarray]

    @property
    def all_records(self):
        return np.concatenate(self.records)

    @property
    def levels(self):
        return range(self.nodes[:, 0].max() + 1)

    def stored(self, level):
        """Coordinates of the nodes of one level, as stored."""
        chosen = [r for r, node in zip(self.records, self.nodes) if node[0] == level]
        bytes_ = np.concatenate(chosen)[:, :12] if chosen else np.empty((0, 12), np.uint8)
        return np.ascontiguousarray(bytes_).view("<i4")

    def spacing(self, level):
        return self.info.spacing / 2**level


def read(path):
    path = str(path)
    reader = copclib.FileReader(path)
    header = reader.copc_config.las_header
    nodes = [node for node in reader.GetAllNodes() if node.IsValid()]
    rows = [[n.key.d, n.key.x, n.key.y, n.key.z, n.offset, n.byte_size, n.point_count] for n in nodes]
    stride = header.point_record_length
    records = [records_of(reader, node, stride) for node in nodes]
    return Copc(path, header, reader.copc_config.copc_info, np.array(rows, np.int64), records)


def records_of(reader, node, stride):
    if node.point_count == 0:
        return np.empty((0, stride), np.uint8)
    data = np.array(reader.GetPointData(node), dtype=np.int8).view(np.uint8)
    assert data.size == node.point_count * stride, f"{node.key} holds {data.size} bytes"
    return data.reshape(-1, stride)


def check(copc, smallest=0, largest=None):
    """What the format promises of any file; `smallest` and `largest` are points of a node."""
    counts, info = copc.nodes[:, 6], copc.info
    reader = copclib.FileReader(copc.path)
    assert reader.ValidateSpatialBounds(), "copclib finds points outside of their node or of the header's box"
    assert len({tuple(key) for key in copc.nodes[:, :4]}) == len(copc.nodes), "a node occurs twice"
    assert counts.sum() == copc.header.point_count, "hierarchy and header differ"
    check_chunks(copc)
    check_tree(copc)
    if largest is not None:
        assert counts.max() <= largest, f"a node of {counts.max()} points"
        children = counts[copc.nodes[:, 0] > 0]
        assert (children >= smallest).all(), f"a node of {children.min()} points"
    low, high = (np.array([v.x, v.y, v.z]) for v in (copc.header.min, copc.header.max))
    center = np.array([info.center_x, info.center_y, info.center_z])
    assert (center - info.halfsize <= low).all() and (high <= center + info.halfsize).all()


def check_chunks(copc):
    """The table of chunks is the hierarchy in the order of the file, without a gap."""
    with open(copc.path, "rb") as file:
        header = laspy.LasHeader.read_from(file)
        [vlr] = header.vlrs.get("LasZipVlr")
        file.seek(header.offset_to_point_data)
        table = lazrs.read_chunk_table(file, lazrs.LazVlr(vlr.record_data))
    order = np.argsort(copc.nodes[:, 4])
    nodes = copc.nodes[order][:, [6, 5, 4]]
    nodes = nodes[nodes[:, 0] > 0]
    assert [tuple(entry) for entry in table] == [tuple(node[:2]) for node in nodes.tolist()]
    starts = header.offset_to_point_data + 8 + np.cumsum([0] + [size for _, size in table])
    assert (nodes[:, 2] == starts[:-1]).all(), "a node is not where its chunk is"


def check_tree(copc):
    """Every node has its parent, and none with others below it is empty (laspy stops at such)."""
    counts = {tuple(node[:4]): node[6] for node in copc.nodes.tolist()}
    for level, x, y, z in counts:
        if level > 0:
            parent = (level - 1, x // 2, y // 2, z // 2)
            assert counts.get(parent, 0) > 0, f"{parent} is absent or empty, {(level, x, y, z)} is there"


def check_levels(copc):
    """Levels 0 to l cover all points within the spacing of level l; the radii over it."""
    scale = copc.header.scale
    scale = np.array([scale.x, scale.y, scale.z])
    places = [(copc.stored(level).astype(np.int64)) for level in copc.levels]
    low = np.concatenate(places).min(axis=0)
    places = [(place - low) * scale for place in places]
    ratios = []
    for level in copc.levels:
        # The last level holds what is left: all points are there.
        far = 0.0
        if below := places[level + 1 :]:
            tree = cKDTree(np.concatenate(places[: level + 1]))
            far = tree.query(np.concatenate(below), workers=2)[0].max()
        ratios.append(far / copc.spacing(level))
    broken = [f"level {l}: {ratio:.3f}" for l, ratio in enumerate(ratios) if ratio > 1 + ROUNDING]
    assert not broken, f"levels reach further than declared: {', '.join(broken)}"
    return ratios


def check_points(copc, source):
    """The points are those of the LAS or LAZ file `source`, with every value, read by LASzip."""
    found = laspy.read(copc.path, laz_backend=laspy.LazBackend.Laszip)
    before = laspy.read(source, laz_backend=laspy.LazBackend.Laszip)
    assert (found.header.scales == before.header.scales).all()
    expected = wanted_of(before)
    moved = (before.header.offsets - found.header.offsets) / found.header.scales
    assert (abs(moved - np.rint(moved)) < 1e-3).all(), f"coordinates moved by {moved} steps"
    for axis, steps in zip("XYZ", np.rint(moved).astype(np.int32)):
        expected[axis] = expected[axis] + steps
    same_rows(expected, {n: np.array(found[n]) for n in found.point_format.dimension_names})
    same_records(copc.all_records, found.points.array.view(np.uint8).reshape(len(found), -1), "LASzip")


def wanted_of(cloud):
    """The values of a point of any format under the names of formats 6 to 8."""
    names = list(cloud.point_format.dimension_names)
    values = {name: np.array(cloud[name]) for name in names}
    nothing = np.zeros(len(cloud), np.uint8)
    if "scan_angle_rank" in values:
        rank = values.pop("scan_angle_rank").astype(np.float64)
        values["scan_angle"] = np.rint(rank / 0.006).astype(np.int16)
    for name in ("overlap", "scanner_channel"):
        values.setdefault(name, nothing)
    values.setdefault("gps_time", nothing.astype(np.float64))
    waves = {"wavepacket_index", "wavepacket_offset", "wavepacket_size", "return_point_wave_location"}
    return {n: v for n, v in values.items() if n not in waves | {"x_t", "y_t", "z_t"}}


def same_rows(expected, found):
    """The rows are equal in some order."""
    assert set(expected) == set(found), f"fields: {set(expected) ^ set(found)}"
    names = sorted(expected)
    kinds = [(name, expected[name].dtype.newbyteorder("<"), expected[name].shape[1:]) for name in names]
    rows = []
    for values in (expected, found):
        array = np.zeros(len(values[names[0]]), kinds)
        for name in names:
            array[name] = values[name]
            assert (array[name] == values[name]).all(), f"{name} does not fit"
        rows.append(array.view(np.uint8).reshape(len(array), -1))
    same_records(rows[0], rows[1], "the input")


def same_records(one, other, what):
    """Equal as multisets of rows of bytes."""
    assert one.shape == other.shape, f"{what}: {one.shape}, not {other.shape}"
    one, other = (np.sort(np.ascontiguousarray(a).view(f"V{a.shape[1]}").ravel()) for a in (one, other))
    assert (one == other).all(), f"{what}: {(one != other).sum()} rows differ"


def node_modules():
    """The folder of copc and laz-perf; `None` without npm."""
    folder = os.environ.get("FARPOINT_NODE")
    return Path(folder) if folder and shutil.which("node") else None


def check_by_javascript(copc, folder):
    """copc walks the pages and laz-perf decodes every node: the same nodes, the same points; the pages."""
    script, target = node_modules() / "read_copc.mjs", Path(folder) / "records"
    shutil.copy(Path(__file__).with_name("read_copc.mjs"), script)
    command = ["node", str(script), copc.path, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["points"] == copc.header.point_count
    nodes = sorted(tuple(node) for node in report["nodes"])
    assert nodes == sorted(tuple(node) for node in copc.nodes.tolist())
    records = np.fromfile(target, np.uint8).reshape(-1, copc.header.point_record_length)
    same_records(copc.all_records, records, "laz-perf")
    return report
