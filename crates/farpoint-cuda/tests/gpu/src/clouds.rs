//! The clouds to sample: rows of any number of coordinates in either precision.

use farpoint::backend::SplitMix64;
use farpoint::{Points, Scalar};
use farpoint_generate::{Kind, generate};

/// Dense rows.
#[derive(Debug, Clone)]
pub(crate) struct Cloud<T> {
    pub(crate) data: Vec<T>,
    pub(crate) dims: usize,
}

impl<T: Scalar> Points<T> for Cloud<T> {
    fn len(&self) -> usize {
        self.data.len() / self.dims
    }
    fn dim(&self) -> usize {
        self.dims
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self.data[index * self.dims + axis]
    }
}

impl<T: Scalar> Cloud<T> {
    /// Rows, rounded to the precision.
    pub(crate) fn new<const D: usize>(rows: &[[f64; D]]) -> Self {
        let data = rows.as_flattened().iter().map(|&x| T::from_f64(x)).collect();
        Self { data, dims: D }
    }

    /// A generated cloud. In `f64` it has lower bits that `f32` has not.
    pub(crate) fn of(kind: Kind, n: usize, seed: u64) -> Self {
        let lower_bits = 1.0 + 2f64.powi(-40);
        let rows = generate(kind, n, seed);
        let number = |&x: &f32| T::from_f64(f64::from(x) * lower_bits);
        Self { data: rows.as_flattened().iter().map(number).collect(), dims: 3 }
    }

    /// Random numbers in `0.0..1.0`, or, `tied`, whole multiples of a tenth below `end`.
    pub(crate) fn random(n: usize, dims: usize, tied: Option<u64>, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut number = || match tied {
            Some(end) => random.below(end) as f64 * 0.1,
            None => random.unit(),
        };
        Self { data: (0..n * dims).map(|_| T::from_f64(number())).collect(), dims }
    }

    /// Multiplies all coordinates by `factor`; those out of the precision's range become 0.
    pub(crate) fn times(mut self, factor: f64) -> Self {
        for x in &mut self.data {
            let y = T::from_f64(x.to_f64() * factor);
            *x = if y.is_finite() { y } else { T::ZERO };
        }
        self
    }

    /// Adds `offset` to all coordinates, rounded to the precision.
    pub(crate) fn plus(mut self, offset: f64) -> Self {
        for x in &mut self.data {
            *x = T::from_f64(x.to_f64() + offset);
        }
        self
    }

    /// Moves two rows of five to the position of one of the first two.
    pub(crate) fn crowded(mut self) -> Self {
        let dims = self.dims;
        for row in (0..self.len()).filter(|row| row % 5 % 3 == 0) {
            let place = row % 2 * dims;
            self.data.copy_within(place..place + dims, row * dims);
        }
        self
    }

    /// The first `n` rows.
    pub(crate) fn first(&self, n: usize) -> Self {
        Self { data: self.data[..n * self.dims].to_vec(), dims: self.dims }
    }
}

/// A sign, and a number with a random exponent in `low..high`.
pub(crate) fn any_exponent<T: Scalar>(n: usize, low: i32, high: i32, seed: u64) -> Cloud<T> {
    let mut random = SplitMix64::new(seed);
    let mut number = || {
        let exponent = low + random.below((high - low) as u64) as i32;
        let sign = if random.below(2) == 0 { -1.0 } else { 1.0 };
        // Fewer than 24 bits, so that none is rounded up to infinity.
        let mantissa = 1.0 + random.below(1 << 20) as f64 / f64::from(1 << 20);
        T::from_f64(sign * mantissa * 2f64.powi(exponent))
    };
    Cloud { data: (0..n * 3).map(|_| number()).collect(), dims: 3 }
}
