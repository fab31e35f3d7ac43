//! The parameter of the kernels: `struct Batch` of `kernels/common/batch.cuh`, field by field.

use crate::CudaScalar;

/// A batch of clouds in device memory, with the addresses of its results. Addresses are of device
/// memory, 0 for null; see `kernels/common/batch.cuh` for each one's meaning.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
#[allow(missing_docs, reason = "batch.cuh says what each is")]
pub struct Batch<T> {
    /// Coordinates; strides in numbers.
    pub points: u64,
    pub row_stride: i64,
    pub axis_stride: i64,
    pub dims: u32,
    pub clouds: u32,
    /// First row and number of rows of each cloud, or null.
    pub offsets: u64,
    pub lengths: u64,
    /// Rows per cloud; of the largest if they differ.
    pub rows: i64,
    /// Number of samples of each cloud and slot of its first, or null.
    pub samples: u64,
    pub slots: u64,
    /// Samples per cloud; the maximum if they differ.
    pub wanted: i64,
    /// Start rows, `start_count` per cloud, or null.
    pub starts: u64,
    pub start_count: u32,
    /// Sampling stops when no squared distance is above this.
    pub stop: T,
    /// The result.
    pub indices: u64,
    pub values: u64,
    pub covering: u64,
    pub chosen: u64,
}

/// Size of a batch, which determines launches and scratch memory; lengths and numbers of samples in
/// device memory are not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of clouds.
    pub clouds: usize,
    /// Rows of the largest cloud.
    pub rows: usize,
    /// Coordinates per row.
    pub dims: usize,
    /// Maximum number of samples of a cloud.
    pub samples: usize,
}

/// Threshold with which sampling never stops early.
pub(crate) fn never<T: CudaScalar>() -> T {
    T::ZERO - T::from_f64(1.0)
}

/// Returns the largest squared distance whose root is not above `radius`: `value <= stop` is then the
/// same as `value.sqrt().to_f64() <= radius`, the CPU's criterion.
pub(crate) fn stop_at<T: CudaScalar>(radius: f64) -> T {
    let stops = |bits| T::from_ordered_bits(bits).sqrt().to_f64() <= radius;
    // Roots increase with the bits; 0 stops, as the radius is not negative, and infinity does not.
    let (mut low, mut high) = (0, T::INFINITE_BITS);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if stops(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    T::from_ordered_bits(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;
    use std::mem::offset_of;

    #[test]
    fn laid_out_as_in_batch_cuh() {
        assert_eq!(size_of::<Batch<f32>>(), 128);
        assert_eq!(size_of::<Batch<f64>>(), 136);
        assert_eq!(offset_of!(Batch<f32>, stop), 92);
        assert_eq!(offset_of!(Batch<f64>, stop), 96);
        assert_eq!(offset_of!(Batch<f32>, indices), 96);
        assert_eq!(offset_of!(Batch<f64>, indices), 104);
    }

    #[test]
    fn fields_are_in_the_order_of_batch_cuh() {
        let batch = Batch::<f32> {
            points: 0,
            row_stride: 0,
            axis_stride: 0,
            dims: 0,
            clouds: 0,
            offsets: 0,
            lengths: 0,
            rows: 0,
            samples: 0,
            slots: 0,
            wanted: 0,
            starts: 0,
            start_count: 0,
            stop: 0.0,
            indices: 0,
            values: 0,
            covering: 0,
            chosen: 0,
        };
        let text = format!("{batch:#?}");
        let names: Vec<_> = text
            .lines()
            .filter_map(|line| line.trim().split_once(": ").map(|(name, _)| name.to_owned()))
            .collect();
        let source = include_str!("../../kernels/common/batch.cuh");
        assert_eq!(names.join(" "), fields(source, "Batch"));
    }

    fn check_stop<T: CudaScalar>(radius: f64) {
        let stop: T = stop_at(radius);
        assert!(stop.sqrt().to_f64() <= radius, "{stop} {radius}");
        let next = stop.next_up();
        assert!(next.sqrt().to_f64() > radius, "{next} {radius}");
    }

    #[test]
    fn stops_match_the_cpu_bit_by_bit() {
        let mut random = farpoint::backend::SplitMix64::new(1);
        let special = [0.0, -0.0, 1e-30, 1e-300, 0.05, 0.1, 1.0, 2.0, 1e18, 1e19, 1e300, f64::MAX];
        let random_radii = (0..1000).map(|_| random.unit() * 10.0);
        for radius in special.into_iter().chain(random_radii) {
            check_stop::<f32>(radius);
            check_stop::<f64>(radius);
        }
        assert_eq!(stop_at::<f32>(f64::MAX), f32::MAX);
        assert!(never::<f64>() < 0.0);
    }
}
