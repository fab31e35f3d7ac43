//! Writes an MCAP file like an Ouster OS1-64 with 2,048 columns at 10 Hz: a hall whose walls, floor and pillars a
//! third of the beams reach; the others are (0, 0, 0), as in that sensor's driver.
//!
//! Usage: `cargo run --release -p farpoint-io --features mcap --example ouster_bag -- 200 drive.mcap`

use mcap::records::MessageHeader;
use mcap::write::WriteOptions;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

const COLUMNS: usize = 2048;
const BEAMS: usize = 64;
const STEP: usize = 48;
/// A tenth of a second.
const PERIOD: u64 = 100_000_000;

/// Name, offset and `sensor_msgs/PointField` type, as in that driver's messages.
const FIELDS: [(&str, u32, u8); 9] = [
    ("x", 0, 7),
    ("y", 4, 7),
    ("z", 8, 7),
    ("intensity", 16, 7),
    ("t", 20, 6),
    ("reflectivity", 24, 4),
    ("ring", 26, 2),
    ("noise", 28, 4),
    ("range", 32, 6),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let count: u64 = args.next().ok_or("how many messages?")?.parse()?;
    let path = args.next().ok_or("which file?")?;
    let options = WriteOptions::new().profile("ros2").chunk_size(Some(768 << 10));
    let mut writer = options.create(BufWriter::new(File::create(path)?))?;
    let schema = writer.add_schema("sensor_msgs/msg/PointCloud2", "ros2msg", b"")?;
    let channel = writer.add_channel(schema, "/lidar", "cdr", &BTreeMap::new())?;
    let text = writer.add_channel(0, "/status", "json", &BTreeMap::new())?;
    for k in 0..count {
        let time = 1_700_000_000_000_000_000 + k * PERIOD;
        let header = |channel_id| MessageHeader {
            channel_id,
            sequence: k as u32,
            log_time: time,
            publish_time: time,
        };
        writer.write_to_known_channel(&header(text), format!("{{\"turn\":{k}}}").as_bytes())?;
        writer.write_to_known_channel(&header(channel), &turn(k))?;
    }
    writer.finish()?;
    Ok(())
}

/// The message of one turn.
fn turn(k: u64) -> Vec<u8> {
    let mut out = vec![0, 1, 0, 0];
    number(&mut out, 1_700_000_000 + (k / 10) as u32);
    number(&mut out, (k % 10 * PERIOD) as u32);
    text(&mut out, "os_lidar");
    number(&mut out, BEAMS as u32);
    number(&mut out, COLUMNS as u32);
    number(&mut out, FIELDS.len() as u32);
    for (name, at, kind) in FIELDS {
        text(&mut out, name);
        number(&mut out, at);
        out.push(kind);
        number(&mut out, 1);
    }
    out.push(0);
    number(&mut out, STEP as u32);
    number(&mut out, (COLUMNS * STEP) as u32);
    number(&mut out, (COLUMNS * BEAMS * STEP) as u32);
    let mut seed = k.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for beam in 0..BEAMS {
        for column in 0..COLUMNS {
            out.extend(point(beam, column, k, &mut seed));
        }
    }
    out.push(1);
    out
}

/// One return: where the beam meets the hall, in a coordinate system that moves with the sensor.
fn point(beam: usize, column: usize, k: u64, seed: &mut u64) -> [u8; STEP] {
    let mut record = [0; STEP];
    let turned = column as f32 / COLUMNS as f32 * std::f32::consts::TAU;
    let up = (beam as f32 / (BEAMS - 1) as f32 - 0.5) * 0.58;
    let (x, y, z) = (turned.cos() * up.cos(), turned.sin() * up.cos(), up.sin());
    let along = k as f32 * 0.05;
    // Walls at 9 and 14 m, floor and ceiling, and pillars every 40 degrees.
    let wall = (9.0 / x.abs().max(1e-6)).min(14.0 / y.abs().max(1e-6));
    let level = if z < 0.0 { -1.8 / z } else { 2.6 / z.max(1e-6) };
    let pillar = if (turned * 9.0 + along).sin() > 0.93 { 5.0 } else { f32::INFINITY };
    let noise = |seed: &mut u64| {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 40) as f32 / (1 << 24) as f32
    };
    let range = wall.min(level).min(pillar) + 0.02 * noise(seed);
    // Glass, sky and dark surfaces send nothing back: whole sectors, and single beams.
    let lost = (turned * 3.0 - along).sin() > -0.35 || noise(seed) < 0.07;
    record[20..24].copy_from_slice(&(column as u32 * 48_828).to_le_bytes());
    record[26] = beam as u8;
    record[28..30].copy_from_slice(&((noise(seed) * 90.0) as u16).to_le_bytes());
    if lost {
        return record;
    }
    for (at, value) in [(0, x * range), (4, y * range), (8, z * range)] {
        record[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    record[16..20].copy_from_slice(&((noise(seed) * 200.0).round() + 20.0).to_le_bytes());
    record[24..26].copy_from_slice(&((noise(seed) * 60.0) as u16).to_le_bytes());
    record[32..36].copy_from_slice(&((range * 1000.0) as u32).to_le_bytes());
    record
}

/// Appends a number as CDR aligns it, from behind its four bytes, which are four themselves.
fn number(out: &mut Vec<u8>, value: u32) {
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend(value.to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u32 + 1);
    out.extend(text.as_bytes());
    out.push(0);
}
