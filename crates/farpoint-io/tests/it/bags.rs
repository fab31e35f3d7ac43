//! MCAP files for tests: `sensor_msgs/PointCloud2` as drivers write it, in files as recorders write them.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use mcap::records::{MessageHeader, Metadata};
use mcap::write::{PrivateRecordOptions, WriteOptions};
use mcap::{Attachment, Compression};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Cursor;

/// Layout of the messages of a driver.
#[derive(Clone, Copy, Debug)]
pub struct MessageLayout {
    /// `cdr` or `ros1`.
    pub encoding: &'static str,
    /// Byte order of the message, and of the points.
    pub big: [bool; 2],
    pub point_step: usize,
    pub places: [usize; 3],
    pub double: bool,
    /// Rows of points; their number divides that of the points.
    pub height: usize,
    /// Bytes after each row of points.
    pub padding: usize,
    /// No padding after the last row.
    pub cut: bool,
    /// Stated instead of the true row_step.
    pub row_step: Option<u32>,
    pub dense: bool,
    /// Its length moves everything behind it.
    pub frame: &'static str,
    /// Fields besides x, y, z and ring, with their places and types.
    pub more: &'static [(&'static str, usize, u8)],
}

/// The layout of Ouster's driver.
pub const OUSTER: MessageLayout = MessageLayout {
    encoding: "cdr",
    big: [false, false],
    point_step: 48,
    places: [0, 4, 8],
    double: false,
    height: 1,
    padding: 0,
    cut: false,
    row_step: None,
    dense: true,
    frame: "os_lidar",
    more: &[],
};

/// Every layout that is read.
pub fn layouts() -> Vec<MessageLayout> {
    let mut all = Vec::new();
    for encoding in ["cdr", "ros1"] {
        for big in [[false, false], [false, true], [true, false], [true, true]] {
            // ROS 1 has one byte order.
            if encoding == "ros1" && big[0] {
                continue;
            }
            let one = MessageLayout { encoding, big, ..OUSTER };
            all.extend([
                one,
                MessageLayout { frame: "", dense: false, ..one },
                MessageLayout { frame: "a", point_step: 26, places: [0, 4, 8], ..one },
                MessageLayout {
                    frame: "ab",
                    point_step: 26,
                    places: [18, 2, 10],
                    double: true,
                    ..one
                },
                MessageLayout { frame: "abc", point_step: 12, height: 4, ..one },
                MessageLayout { point_step: 22, places: [10, 1, 5], height: 4, padding: 7, ..one },
                MessageLayout { height: 4, padding: 16, cut: true, ..one },
                MessageLayout { row_step: Some(0), height: 4, ..one },
                MessageLayout { row_step: Some(u32::MAX), ..one },
                MessageLayout { row_step: Some(5), ..one },
            ]);
        }
    }
    all
}

/// Returns a byte at random.
pub fn noise(seed: &mut u64) -> u8 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 56) as u8
}

/// Returns the record of a point: its coordinates, all else noise.
pub fn record(layout: &MessageLayout, point: [f64; 3], seed: &mut u64) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..layout.point_step).map(|_| noise(seed)).collect();
    for (at, value) in layout.places.into_iter().zip(point) {
        match (layout.double, layout.big[1]) {
            (true, true) => bytes[at..at + 8].copy_from_slice(&value.to_be_bytes()),
            (true, false) => bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()),
            (false, true) => bytes[at..at + 4].copy_from_slice(&(value as f32).to_be_bytes()),
            (false, false) => bytes[at..at + 4].copy_from_slice(&(value as f32).to_le_bytes()),
        }
    }
    bytes
}

/// The output of a message, field by field.
struct Out<'a> {
    layout: &'a MessageLayout,
    bytes: Vec<u8>,
}

impl Out<'_> {
    fn u32(&mut self, value: u32) {
        if self.layout.encoding == "cdr" {
            while !self.bytes.len().is_multiple_of(4) {
                self.bytes.push(0);
            }
        }
        let bytes = if self.layout.big[0] { value.to_be_bytes() } else { value.to_le_bytes() };
        self.bytes.extend(bytes);
    }

    fn string(&mut self, text: &str) {
        let nul = self.layout.encoding == "cdr";
        self.u32(text.len() as u32 + u32::from(nul));
        self.bytes.extend(text.as_bytes());
        self.bytes.extend(nul.then_some(0));
    }
}

/// Returns a message with these records, of which `height` are below each other.
pub fn message(layout: &MessageLayout, records: &[Vec<u8>]) -> Vec<u8> {
    let start = match (layout.encoding, layout.big[0]) {
        ("cdr", true) => vec![0, 0, 0, 0],
        ("cdr", false) => vec![0, 1, 0, 0],
        _ => Vec::new(),
    };
    let mut out = Out { layout, bytes: start };
    if layout.encoding == "ros1" {
        out.u32(77);
    }
    out.u32(1_700_000_000);
    out.u32(123_456_789);
    out.string(layout.frame);
    let height = if records.len().is_multiple_of(layout.height) { layout.height } else { 1 };
    let width = records.len() / height;
    out.u32(height as u32);
    out.u32(width as u32);
    let kind = if layout.double { 8 } else { 7 };
    let fields = [("x", layout.places[0]), ("y", layout.places[1]), ("z", layout.places[2])];
    out.u32(4 + layout.more.len() as u32);
    let fields = fields.into_iter().map(|(name, at)| (name, at, kind));
    let fields = fields.chain([("ring", layout.point_step - 1, 2)]);
    for (name, at, kind) in fields.chain(layout.more.iter().copied()) {
        out.string(name);
        out.u32(at as u32);
        out.bytes.push(kind);
        out.u32(1);
    }
    out.bytes.push(u8::from(layout.big[1]));
    out.u32(layout.point_step as u32);
    let row = width * layout.point_step + layout.padding;
    out.u32(layout.row_step.unwrap_or(row as u32));
    let missing = if layout.cut { layout.padding } else { 0 };
    out.u32((height * row - missing) as u32);
    for row in records.chunks(width.max(1)) {
        row.iter().for_each(|record| out.bytes.extend(record));
        out.bytes.extend(std::iter::repeat_n(0xEE, layout.padding));
    }
    out.bytes.truncate(out.bytes.len() - missing);
    out.bytes.push(u8::from(layout.dense));
    out.bytes
}

/// Points on a lattice with NaN and zeros among them, differing by message.
pub fn points(count: usize, message: usize) -> Vec<[f64; 3]> {
    let point = |k: usize| match (k + message) % 7 {
        3 => [0.0, 0.0, 0.0],
        5 => [1.0, f64::NAN, 2.0],
        _ => [(k % 16) as f64 * 0.5, (k / 16 % 16) as f64 * 0.25, (k * (message + 3) % 11) as f64],
    };
    (0..count).map(point).collect()
}

/// Returns a message of `count` points.
pub fn cloud(layout: &MessageLayout, count: usize, number: usize) -> Vec<u8> {
    let mut seed = number as u64 + 1;
    let records: Vec<_> =
        points(count, number).into_iter().map(|p| record(layout, p, &mut seed)).collect();
    message(layout, &records)
}

/// Options of a recorder.
#[derive(Clone, Copy, Debug)]
pub struct File {
    pub compression: Option<Compression>,
    pub chunks: bool,
    pub chunk_size: Option<u64>,
    pub index: bool,
}

pub const ZSTD: File = File {
    compression: Some(Compression::Zstd),
    chunks: true,
    chunk_size: Some(20_000),
    index: true,
};

/// Returns every way to write a file.
pub fn files() -> [File; 6] {
    [
        ZSTD,
        File { compression: Some(Compression::Lz4), ..ZSTD },
        File { compression: None, ..ZSTD },
        File { chunk_size: None, ..ZSTD },
        File { index: false, ..ZSTD },
        File { chunks: false, compression: None, ..ZSTD },
    ]
}

/// A drive: a lidar, another one, an IMU on two channels of one topic, an attachment, metadata, private
/// records, a channel without a schema. `clouds` are the lidar's messages.
pub fn drive(file: &File, encoding: &str, clouds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let options = WriteOptions::new()
        .profile(if encoding == "cdr" { "ros2" } else { "ros1" })
        .library("recorder 1.2")
        .compression(file.compression)
        .use_chunks(file.chunks)
        .chunk_size(file.chunk_size)
        .compression_threads(0);
    let options = match file.index {
        true => options,
        false => options
            .emit_summary_records(false)
            .emit_summary_offsets(false)
            .emit_message_indexes(false),
    };
    let mut writer = options.create(&mut bytes).unwrap();
    let name =
        if encoding == "cdr" { "sensor_msgs/msg/PointCloud2" } else { "sensor_msgs/PointCloud2" };
    writer.add_schema_with_id(9, name, "ros2msg", b"std_msgs/Header header\n").unwrap();
    writer.add_schema_with_id(4, "sensor_msgs/msg/Imu", "ros2msg", b"imu").unwrap();
    let qos = BTreeMap::from([("offered_qos_profiles".to_owned(), "- reliability: 1".to_owned())]);
    writer.add_channel_with_id(7, 9, "/lidar", encoding, &qos).unwrap();
    writer.add_channel_with_id(3, 4, "/imu", encoding, &BTreeMap::new()).unwrap();
    writer.add_channel_with_id(12, 4, "/imu", encoding, &qos).unwrap();
    writer.add_channel_with_id(0, 0, "/raw", "json", &BTreeMap::new()).unwrap();
    let map = BTreeMap::from([("robot".to_owned(), "r2".to_owned())]);
    writer.write_metadata(&Metadata { name: "who".into(), metadata: map }).unwrap();
    writer
        .attach(&Attachment {
            log_time: 5,
            create_time: 6,
            name: "calibration.yaml".into(),
            media_type: "text/yaml".into(),
            data: Cow::Borrowed(b"a: 1"),
        })
        .unwrap();
    for (k, cloud) in clouds.iter().enumerate() {
        let time = 1_000_000_000 + k as u64 * 100_000_000;
        let header = |channel_id, sequence, log_time| MessageHeader {
            channel_id,
            sequence,
            log_time,
            publish_time: log_time + 3,
        };
        for i in 0..3u64 {
            let channel = [3, 12, 0][i as usize];
            let data = [k as u8, i as u8, 7];
            writer.write_to_known_channel(&header(channel, k as u32, time + i), &data).unwrap();
        }
        writer.write_to_known_channel(&header(7, 100 + k as u32, time + 5), cloud).unwrap();
        let inside = PrivateRecordOptions::IncludeInChunks.into();
        writer.write_private_record(0x90, &[k as u8], inside).unwrap();
    }
    writer.write_private_record(0x91, b"outside", Default::default()).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes.into_inner()
}

/// Everything in a file but its index, in order: opcode and content.
pub fn records(file: &[u8]) -> Vec<(u8, Vec<u8>)> {
    use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
    let options = LinearReaderOptions::default()
        .with_validate_chunk_crcs(true)
        .with_validate_data_section_crc(true)
        .with_validate_summary_section_crc(true);
    let (mut reader, mut rest) = (LinearReader::new_with_options(options), file);
    let mut all = Vec::new();
    while let Some(event) = reader.next_event() {
        match event.unwrap() {
            LinearReadEvent::ReadRequest(requested) => {
                let count = requested.min(rest.len());
                reader.insert(count).copy_from_slice(&rest[..count]);
                reader.notify_read(count);
                rest = &rest[count..];
            }
            LinearReadEvent::Record { opcode, data } => {
                // The summary repeats what the data has.
                if opcode == mcap::records::op::DATA_END {
                    break;
                }
                if opcode != mcap::records::op::MESSAGE_INDEX {
                    all.push((opcode, data.to_vec()));
                }
            }
        }
    }
    all
}

/// A drive with a lidar in front and one behind, whose messages are these.
pub fn two_lidars(front: &[Vec<u8>], rear: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = mcap::Writer::new(&mut bytes).unwrap();
    let schema = writer.add_schema("sensor_msgs/msg/PointCloud2", "ros2msg", b"x").unwrap();
    for (topic, clouds) in [("/front", front), ("/rear", rear)] {
        let channel_id = writer.add_channel(schema, topic, "cdr", &BTreeMap::new()).unwrap();
        for (k, cloud) in clouds.iter().enumerate() {
            let time = k as u64 * 100_000_000;
            let header = MessageHeader {
                channel_id,
                sequence: k as u32,
                log_time: time,
                publish_time: time,
            };
            writer.write_to_known_channel(&header, cloud).unwrap();
        }
    }
    writer.finish().unwrap();
    drop(writer);
    bytes.into_inner()
}
