"""Bags as rosbags and mcap write them: every layout of PointCloud2, every way to write a file."""

from dataclasses import dataclass, replace

import numpy as np
from mcap.writer import CompressionType, IndexType, Writer
from rosbags.typesys import Stores, get_typestore

STORES = {
    "cdr": get_typestore(Stores.ROS2_JAZZY),
    "ros1": get_typestore(Stores.ROS1_NOETIC),
}
CLOUD, IMU = "sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/Imu"
DATATYPES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 8}


@dataclass(frozen=True)
class Layout:
    """Fields with their places, bytes of a point, and what a driver may get wrong."""

    fields: tuple = (("x", "f4", 0), ("y", "f4", 4), ("z", "f4", 8), ("intensity", "f4", 16), ("ring", "u2", 24))
    step: int = 48
    big: bool = False
    height: int = 1
    row_step: int | None = None
    padding: int = 0
    big_message: bool = False

    @property
    def dtype(self):
        names, kinds, offsets = zip(*self.fields)
        order = ">" if self.big else "<"
        formats = [order + kind for kind in kinds]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.step})


OUSTER = Layout()
LIVOX = Layout(
    (("x", "f4", 0), ("y", "f4", 4), ("z", "f4", 8), ("intensity", "f4", 12), ("tag", "u1", 16),
     ("line", "u1", 17), ("timestamp", "f8", 18)),
    step=26,
)
DOUBLE = Layout((("ring", "u1", 0), ("z", "f8", 1), ("x", "f8", 9), ("y", "f8", 17)), step=30)
LAYOUTS = {
    "ouster": OUSTER,
    "livox": LIVOX,
    "double": DOUBLE,
    "big-data": replace(LIVOX, big=True),
    "double-big-data": replace(DOUBLE, big=True),
    "organized": replace(OUSTER, height=4),
    "row-padding": replace(LIVOX, height=4, padding=5),
    "row-step-0": replace(OUSTER, row_step=0),
    "row-step-old": replace(OUSTER, row_step=10_000_000),
}
# ROS 1 has one byte order.
BIG_MESSAGE = {"big-message": replace(OUSTER, big_message=True), "all-big": replace(LIVOX, big=True, big_message=True)}


def records(layout, count, seed):
    """Points with NaN and zeros among them; every byte that belongs to no field is noise."""
    random = np.random.default_rng(seed)
    raw = random.integers(0, 256, (count, layout.step), dtype=np.uint8)
    rows = raw.reshape(-1).view(layout.dtype)
    for axis in "xyz":
        rows[axis] = np.round(random.normal(0, 20, count) * 4) / 4
    for axis in "xyz":
        rows[axis][5::9] = 0
    rows["y"][3::11] = np.nan
    return rows


def cloud(encoding, layout, rows, stamp):
    """The message, encoded."""
    store = STORES[encoding]
    types = store.types
    header = types["std_msgs/msg/Header"]
    time = types["builtin_interfaces/msg/Time"](sec=stamp // 10, nanosec=stamp % 10 * 100_000_000)
    field = types["sensor_msgs/msg/PointField"]
    fields = [field(name=name, offset=at, datatype=DATATYPES[kind], count=1) for name, kind, at in layout.fields]
    height, width = layout.height, len(rows) // layout.height
    row = width * layout.step + layout.padding
    data = np.full((height, row), 0xEE, np.uint8)
    data[:, : width * layout.step] = rows.view(np.uint8).reshape(height, -1)
    given = {"seq": stamp} if encoding == "ros1" else {}
    message = types[CLOUD](
        header=header(stamp=time, frame_id="lidar", **given),
        height=height,
        width=width,
        fields=fields,
        is_bigendian=layout.big,
        point_step=layout.step,
        row_step=row if layout.row_step is None else layout.row_step,
        data=data.reshape(-1),
        is_dense=False,
    )
    if encoding == "ros1":
        return bytes(store.serialize_ros1(message, CLOUD))
    return bytes(store.serialize_cdr(message, CLOUD, little_endian=not layout.big_message))


FILES = {
    "zstd": {"compression": CompressionType.ZSTD, "chunk_size": 30_000},
    "lz4": {"compression": CompressionType.LZ4, "chunk_size": 30_000},
    "none": {"compression": CompressionType.NONE, "chunk_size": 30_000},
    "no-chunks": {"use_chunking": False},
    "no-index": {
        "chunk_size": 30_000,
        "index_types": IndexType.NONE,
        "repeat_channels": False,
        "repeat_schemas": False,
        "use_statistics": False,
        "use_summary_offsets": False,
    },
}


def drive(path, encoding, clouds, file="zstd"):
    """A lidar, another topic on two channels, text without a schema, an attachment, metadata."""
    ros = 1 if encoding == "ros1" else 2
    store = STORES[encoding]
    with open(path, "wb") as stream:
        writer = Writer(stream, **FILES[file])
        writer.start(profile=f"ros{ros}", library="a recorder")
        names = {name: name.replace("/msg/", "/") if ros == 1 else name for name in (CLOUD, IMU)}
        schemas = {
            name: writer.register_schema(
                names[name], f"ros{ros}msg", store.generate_msgdef(name, ros_version=ros)[0].encode()
            )
            for name in (IMU, CLOUD)
        }
        qos = {"offered_qos_profiles": "- history: 3"}
        text = writer.register_channel("/log", "json", 0)
        imu = [writer.register_channel("/imu", encoding, schemas[IMU], meta) for meta in ({}, qos)]
        lidar = writer.register_channel("/lidar", encoding, schemas[CLOUD], qos)
        writer.add_metadata("car", {"plate": "R2"})
        writer.add_attachment(3, 2, "map.bin", "application/octet-stream", bytes(range(256)) * 50)
        for k, message in enumerate(clouds):
            time = 10**18 + k * 10**8
            for at, channel in enumerate([text, *imu]):
                writer.add_message(channel, time + at, b"%d-%d" % (k, at), time, k)
            writer.add_message(lidar, time + 7, message, time + 1, 1000 + k)
        writer.finish()
    return str(path)
