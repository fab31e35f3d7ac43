//! Facts about the points in the header: their number, returns, bounds and, in LAS 1.5, times.

use super::fields::base;
use super::{integers, transforms};
use crate::cloud::header::LasHeader;

/// The numbers in the header that depend on the kept points.
pub(crate) struct Counts {
    stride: usize,
    /// The bits of a record for its return number.
    mask: u8,
    count: u64,
    returns: [u64; 16],
    low: [i32; 3],
    high: [i32; 3],
    /// Byte offset of the GPS time of a record.
    time: Option<usize>,
    /// The maximum and minimum time.
    times: [f64; 2],
}

impl Counts {
    pub(crate) fn new(header: &LasHeader) -> Counts {
        Counts {
            stride: usize::from(header.raw.point_data_record_length),
            mask: if header.format < 6 { 7 } else { 15 },
            count: 0,
            returns: [0; 16],
            low: [i32::MAX; 3],
            high: [i32::MIN; 3],
            time: base(header.format)
                .iter()
                .find(|d| d.name == "gps_time" && header.raw.version.minor >= 5)
                .map(|d| d.offset),
            times: [f64::MIN, f64::MAX],
        }
    }

    pub(crate) fn add(&mut self, points: &[u8]) {
        self.count += (points.len() / self.stride) as u64;
        for record in points.chunks_exact(self.stride) {
            self.returns[usize::from(record[14] & self.mask)] += 1;
            for (axis, n) in integers(record).into_iter().enumerate() {
                self.low[axis] = self.low[axis].min(n);
                self.high[axis] = self.high[axis].max(n);
            }
            if let Some(bytes) = self.time.and_then(|at| record[at..].first_chunk()) {
                let time = f64::from_le_bytes(*bytes);
                self.times = [self.times[0].max(time), self.times[1].min(time)];
            }
        }
    }

    pub(crate) fn state(&self, header: &mut LasHeader) {
        let (raw, count) = (&mut header.raw, self.count);
        let value = |n: i32, axis: usize| {
            let (scale, offset) = transforms(raw)[axis];
            if count == 0 { 0.0 } else { f64::from(n) * scale + offset }
        };
        let low: [f64; 3] = std::array::from_fn(|a| value(self.low[a], a));
        let high: [f64; 3] = std::array::from_fn(|a| value(self.high[a], a));
        // A negative scale turns the two around.
        [raw.min_x, raw.min_y, raw.min_z] = std::array::from_fn(|a| low[a].min(high[a]));
        [raw.max_x, raw.max_y, raw.max_z] = std::array::from_fn(|a| low[a].max(high[a]));
        let by_return = |i: usize| self.returns.get(i + 1).copied().unwrap_or(0);
        // The old 32-bit counts stay 0 if LAS 1.4 requires it.
        let small = header.format < 6 && raw.version.minor < 5 && u32::try_from(count).is_ok();
        let old = raw.large_file.is_none() || small;
        raw.number_of_point_records = if old { count as u32 } else { 0 };
        raw.number_of_points_by_return =
            std::array::from_fn(|i| if old { by_return(i) as u32 } else { 0 });
        if let Some(large) = &mut raw.large_file {
            large.number_of_point_records = count;
            large.number_of_points_by_return = std::array::from_fn(by_return);
        }
        if let (5.., Some(times)) = (raw.version.minor, raw.padding.first_chunk_mut::<16>()) {
            times[..8].copy_from_slice(&self.times[0].to_le_bytes());
            times[8..].copy_from_slice(&self.times[1].to_le_bytes());
        }
    }
}
