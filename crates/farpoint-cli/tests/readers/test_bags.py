"""MCAP bags made by rosbags, sampled by the command, read back by other software."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rosbags")

import bags
import command
from mcap.reader import NonSeekingReader, make_reader
from mcap_ros1.decoder import DecoderFactory as Ros1
from mcap_ros2.decoder import DecoderFactory as Ros2

COUNT, WANTED = 120, 25


def parts(path):
    """Everything in a file but the clouds; and the clouds decoded, with what surrounds them."""
    with open(path, "rb") as stream:
        reader = make_reader(stream, decoder_factories=[Ros1(), Ros2()])
        summary = reader.get_summary()
        header = reader.get_header()
        found = {
            "profile": header.profile,
            "schemas": {k: (v.name, v.encoding, v.data) for k, v in summary.schemas.items()},
            "channels": {
                k: (v.topic, v.message_encoding, v.schema_id, dict(v.metadata)) for k, v in summary.channels.items()
            },
            "counts": dict(summary.statistics.channel_message_counts),
            "attachments": [(a.name, a.media_type, a.log_time, a.create_time, a.data) for a in reader.iter_attachments()],
            "metadata": [(m.name, dict(m.metadata)) for m in reader.iter_metadata()],
            "compression": {chunk.compression for chunk in summary.chunk_indexes},
        }
        messages, clouds = [], []
        for schema, channel, message in reader.iter_messages(log_time_order=False):
            about = (channel.topic, channel.id, message.sequence, message.log_time, message.publish_time)
            lidar = channel.topic == "/lidar"
            messages.append((about, None if lidar else message.data))
            if lidar:
                factory = Ros1() if channel.message_encoding == "ros1" else Ros2()
                clouds.append(factory.decoder_for(channel.message_encoding, schema)(message.data))
    return found, messages, clouds


def farthest(rows, expected):
    """The obvious loop over the rows that can be used, in their own precision."""
    xyz = np.stack([np.asarray(rows[axis], rows[axis].dtype.newbyteorder("=")) for axis in "xyz"], 1)
    usable = np.flatnonzero(np.isfinite(xyz).all(1) & (xyz != 0).any(1))
    points = xyz[usable]
    chosen, distance = [0], np.full(len(points), np.inf, points.dtype)
    while len(chosen) < min(expected, len(points)):
        x, y, z = (points - points[chosen[-1]]).T
        distance = np.minimum(distance, x * x + y * y + z * z)
        chosen.append(int(distance.argmax()))
    return usable[chosen], len(rows) - len(usable)


def check(source, target, layout, rows, header_of=None):
    """All but the clouds is as it was; of these the right rows are there, byte for byte."""
    before, messages, clouds = parts(source)
    after, messages_after, clouds_after = parts(target)
    assert before == after
    assert messages == messages_after
    for was, now, points in zip(clouds, clouds_after, rows, strict=True):
        chosen, dropped = farthest(points, WANTED)
        assert (now.height, now.width) == (1, len(chosen))
        assert (now.point_step, now.row_step) == (layout.step, len(chosen) * layout.step)
        assert now.is_dense == (True if dropped else was.is_dense)
        assert now.is_bigendian == was.is_bigendian == layout.big
        assert [(f.name, f.offset, f.datatype, f.count) for f in now.fields] == [
            (f.name, f.offset, f.datatype, f.count) for f in was.fields
        ]
        assert (now.header.frame_id, str(now.header.stamp)) == (was.header.frame_id, str(was.header.stamp))
        assert getattr(now.header, "seq", None) == getattr(was.header, "seq", None)
        data = np.frombuffer(bytes(now.data), np.uint8).reshape(len(chosen), layout.step)
        assert (data == points.view(np.uint8).reshape(len(points), -1)[chosen]).all()


CASES = [(encoding, layout) for encoding in bags.STORES for layout in bags.LAYOUTS]
CASES += [("cdr", layout) for layout in bags.BIG_MESSAGE]


@pytest.mark.parametrize("encoding, name", CASES)
def test_every_layout(tmp_path, encoding, name):
    layout = {**bags.LAYOUTS, **bags.BIG_MESSAGE}[name]
    rows = [bags.records(layout, COUNT, seed) for seed in range(3)]
    clouds = [bags.cloud(encoding, layout, points, k) for k, points in enumerate(rows)]
    source = bags.drive(tmp_path / "drive.mcap", encoding, clouds)
    target = str(tmp_path / "out.mcap")
    done = command.run("sample", source, "-n", WANTED, "--drop-zeros", "-o", target, "--json")
    report = json.loads(done.stdout)
    assert (report["messages"], report["unread"], report["topics"][0]["topic"]) == (3, 0, "/lidar")
    assert report["samples"] == sum(len(farthest(points, WANTED)[0]) for points in rows)
    check(source, target, layout, rows)
    # One message as a cloud gives the same rows.
    indices = str(tmp_path / "rows.npy")
    options = ["--message", 2, "-n", WANTED, "--drop-zeros", "--indices", indices]
    command.run("sample", source, *options, "-o", tmp_path / "x.ply")
    assert np.load(indices).tolist() == farthest(rows[2], WANTED)[0].tolist()


@pytest.mark.parametrize("file", bags.FILES)
@pytest.mark.parametrize("encoding", bags.STORES)
def test_every_kind_of_file(tmp_path, encoding, file):
    rows = [bags.records(bags.OUSTER, COUNT, seed) for seed in range(6)]
    clouds = [bags.cloud(encoding, bags.OUSTER, points, k) for k, points in enumerate(rows)]
    source = bags.drive(tmp_path / "drive.mcap", encoding, clouds, file)
    target = str(tmp_path / "out.mcap")
    command.run("sample", source, "-n", WANTED, "--drop-zeros", "-o", target)
    if file == "no-index":
        # Its reader needs an index to tell what is in it.
        source = bags.drive(tmp_path / "indexed.mcap", encoding, clouds)
    check(source, target, bags.OUSTER, rows)
    about = json.loads(command.run("info", target, "--json").stdout)
    assert about["compression"] == {"no-chunks": None, "none": "", "lz4": "lz4"}.get(file, "zstd")
    topics = {topic["topic"]: topic for topic in about["topics"]}
    assert [topics[name]["messages"] for name in ("/imu", "/lidar", "/log")] == [12, 6, 6]
    assert topics["/lidar"]["clouds"] and not topics["/imu"]["clouds"]


def test_a_file_that_is_cut_short(tmp_path):
    rows = [bags.records(bags.OUSTER, COUNT, seed) for seed in range(12)]
    clouds = [bags.cloud("cdr", bags.OUSTER, points, k) for k, points in enumerate(rows)]
    whole = Path(bags.drive(tmp_path / "drive.mcap", "cdr", clouds)).read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole[: len(whole) * 6 // 10])
    target = tmp_path / "out.mcap"
    done = command.run("sample", cut, "-n", WANTED, "-o", target)
    assert any("truncated" in warning for warning in done.warnings), done.stderr
    with open(target, "rb") as stream:
        kept = [m.data for _, c, m in NonSeekingReader(stream).iter_messages(log_time_order=False) if c.topic != "/lidar"]
    with open(tmp_path / "drive.mcap", "rb") as stream:
        all_ = [m.data for _, c, m in make_reader(stream).iter_messages(log_time_order=False) if c.topic != "/lidar"]
    assert 3 <= len(kept) < len(all_) and kept == all_[: len(kept)]
    assert parts(target)[0]["counts"]


def test_a_message_that_cannot_be_read(tmp_path):
    rows = [bags.records(bags.OUSTER, COUNT, seed) for seed in range(3)]
    clouds = [bags.cloud("cdr", bags.OUSTER, points, k) for k, points in enumerate(rows)]
    clouds[1] = clouds[1][:500]
    source = bags.drive(tmp_path / "drive.mcap", "cdr", clouds)
    target = str(tmp_path / "out.mcap")
    done = command.run("sample", source, "-n", WANTED, "-o", target, "--json", check=False)
    assert done.status == 3 and "1 of 3 messages could not be read" in done.stderr
    assert json.loads(done.stdout)["unread"] == 1
    with open(target, "rb") as stream:
        found = [m.data for _, c, m in make_reader(stream).iter_messages() if c.topic == "/lidar"]
    assert found[1] == clouds[1] and len(found) == 3


def test_a_folder_of_ros2(tmp_path):
    from rosbags.rosbag2 import Reader, StoragePlugin, Writer

    rows = [bags.records(bags.LIVOX, COUNT, seed) for seed in range(3)]
    clouds = [bags.cloud("cdr", bags.LIVOX, points, k) for k, points in enumerate(rows)]
    source, target = tmp_path / "drive", tmp_path / "few"
    with Writer(source, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/lidar", bags.CLOUD, typestore=bags.STORES["cdr"])
        for k, cloud in enumerate(clouds):
            writer.write(connection, 10**18 + k * 10**8, cloud)
    command.run("sample", source, "-n", WANTED, "--drop-zeros", "-o", target)
    with Reader(target) as reader:
        assert reader.message_count == 3
        for (_, _, data), points in zip(reader.messages(), rows, strict=True):
            message = bags.STORES["cdr"].deserialize_cdr(data, bags.CLOUD)
            chosen, _ = farthest(points, WANTED)
            got = np.asarray(message.data).reshape(-1, bags.LIVOX.step)
            assert (got == points.view(np.uint8).reshape(COUNT, -1)[chosen]).all()
    again = command.run("sample", source, "-n", WANTED, "-o", target, check=False)
    assert again.status == 2 and "already exists" in again.stderr


def test_read_by_mcap_for_javascript(tmp_path):
    """@mcap/core and @mcap/support, which `cargo xtask test readers` installs where there is npm."""
    modules = os.environ.get("FARPOINT_NODE")
    if not modules or not shutil.which("node"):
        pytest.skip("@mcap/core is not there (no npm)")
    rows = [bags.records(bags.OUSTER, COUNT, seed) for seed in range(4)]
    script = Path(modules) / "read_mcap.mjs"
    shutil.copy(Path(__file__).with_name("read_mcap.mjs"), script)
    for encoding in bags.STORES:
        for file in ("zstd", "lz4", "none", "no-chunks"):
            clouds = [bags.cloud(encoding, bags.OUSTER, points, k) for k, points in enumerate(rows)]
            source = bags.drive(tmp_path / "drive.mcap", encoding, clouds, file)
            target = str(tmp_path / "out.mcap")
            command.run("sample", source, "-n", WANTED, "--drop-zeros", "-o", target)
            done = subprocess.run(
                ["node", str(script), source, target], capture_output=True, text=True, timeout=60
            )
            assert done.returncode == 0, done.stderr
            before, after = (json.loads(line) for line in done.stdout.splitlines())
            lidar = [m for m in after["messages"] if m["topic"] == "/lidar"]
            with open(target, "rb") as stream:
                expected = [m.data for _, c, m in make_reader(stream).iter_messages() if c.topic == "/lidar"]
            assert [m["digest"] for m in lidar] == [hashlib.sha256(data).hexdigest() for data in expected]
            for message in before["messages"] + after["messages"]:
                if message["topic"] == "/lidar":
                    del message["digest"]
            del before["library"], after["library"]
            assert before == after
