//! Conversion of records of any point format to the formats 6, 7 and 8, which COPC has.

use crate::bytes::parallel;
use crate::cloud::header::LasHeader;
use crate::formats::las::base_length;

/// Records that a thread takes at a time.
const BLOCK: usize = 1 << 13;
/// Degrees per unit of the scan angle.
const ANGLE: f64 = 0.006;

/// Returns the point format of COPC that holds the fields of one of LAS, except waveforms.
fn target(format: u8) -> u8 {
    match format {
        0 | 1 | 4 | 6 | 9 => 6,
        2 | 3 | 5 | 7 => 7,
        _ => 8,
    }
}

/// Byte offsets of time, colors with near infrared, and waveforms in the records of a format, and the length of the
/// colors.
struct Parts {
    time: Option<usize>,
    colors: (usize, usize),
}

impl Parts {
    fn new(format: u8) -> Parts {
        let (time, colors) = match format {
            0 => (None, (20, 0)),
            1 | 4 => (Some(20), (28, 0)),
            2 => (None, (20, 6)),
            3 | 5 => (Some(20), (28, 6)),
            6 | 9 => (Some(22), (30, 0)),
            7 => (Some(22), (30, 6)),
            _ => (Some(22), (30, 8)),
        };
        Parts { time, colors }
    }
}

/// Converts the records to a point format that COPC has, and the header to LAS 1.4. Waveforms are dropped.
pub(super) fn convert(
    header: &mut LasHeader,
    records: Vec<u8>,
    warnings: &mut Vec<String>,
) -> Vec<u8> {
    let (from, to) = (header.format, target(header.format));
    drop_waveforms(header, warnings);
    if let Some(offset) = header.time_offset() {
        warnings.push(format!(
            "COPC is LAS 1.4, which cannot state that {offset} million seconds were taken off GPS times: they stay as \
             they are"
        ));
        header.raw.global_encoding &= !64;
    }
    header.raw.version = las::Version::new(1, 4);
    header.raw.start_of_waveform_data_packet_record.get_or_insert(0);
    header.raw.evlr.get_or_insert_default();
    header.raw.large_file.get_or_insert_default();
    header.raw.padding.clear();
    header.padding.clear();
    if from == to {
        return records;
    }
    let stride = usize::from(header.raw.point_data_record_length);
    let (old, new) = (base_length(from), base_length(to));
    let length = stride - old + new;
    header.format = to;
    // At most the 16 bits of the old length: no format with waveforms is shorter, and 38 bytes more than
    // the longest record are refused with the other records that are too long for LAZ.
    header.raw.point_data_record_length = length as u16;
    let parts = Parts::new(from);
    let mut out = vec![0; records.len() / stride * length];
    let blocks = out.chunks_mut(BLOCK * length).zip(records.chunks(BLOCK * stride));
    parallel::each(blocks, |(out, block)| {
        for (to, record) in out.chunks_exact_mut(length).zip(block.chunks_exact(stride)) {
            convert_one(from, &parts, record, to);
            to[new..].copy_from_slice(&record[old..]);
        }
    });
    out
}

fn convert_one(from: u8, parts: &Parts, record: &[u8], to: &mut [u8]) {
    if from >= 6 {
        to[..30].copy_from_slice(&record[..30]);
    } else {
        to[..14].copy_from_slice(&record[..14]);
        let (returns, class) = (record[14], record[15]);
        to[14] = (returns & 7) | (returns >> 3 & 7) << 4;
        // Synthetic, key point and withheld; the direction of the scan and the edge of its line.
        to[15] = class >> 5 | returns & 0xC0;
        to[16] = class & 31;
        to[17] = record[17];
        let angle = (f64::from(record[16] as i8) / ANGLE).round() as i16;
        to[18..20].copy_from_slice(&angle.to_le_bytes());
        to[20..22].copy_from_slice(&record[18..20]);
        if let Some(time) = parts.time {
            to[22..30].copy_from_slice(&record[time..time + 8]);
        }
    }
    let (at, length) = parts.colors;
    to[30..30 + length].copy_from_slice(&record[at..at + length]);
}

/// Drops waveforms, which are found by their place in the file, and which COPC has no format for.
fn drop_waveforms(header: &mut LasHeader, warnings: &mut Vec<String>) {
    if matches!(header.format, 4 | 5 | 9 | 10) {
        warnings.push("waveforms are left out: COPC has no point format with them".into());
    }
    let waves = |r: &crate::cloud::header::Record| {
        r.user == b"LASF_Spec" && (r.id == 65535 || (100..355).contains(&r.id))
    };
    header.records.retain(|r| !waves(r));
    header.extended.retain(|r| !waves(r));
    header.raw.global_encoding &= !6;
    header.raw.start_of_waveform_data_packet_record = Some(0);
}
