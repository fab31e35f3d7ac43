//! Shapes and numbers for the tests of operators on values.

use farpoint::Scalar;
use farpoint::values::ValueShape;

const fn shape(clouds: usize, rows: usize, places: usize, k: usize, channels: usize) -> ValueShape {
    ValueShape { clouds, rows, places, k, channels }
}

/// Odd sizes, single things, nothing at all.
pub(crate) const SHAPES: [ValueShape; 16] = [
    shape(1, 1, 1, 1, 1),
    shape(1, 10, 7, 3, 5),
    shape(4, 100, 30, 1, 3),
    shape(3, 64, 100, 64, 31),
    shape(2, 1_000, 333, 2, 33),
    shape(1, 5, 2_000, 9, 64),
    shape(1, 3_000, 100, 4, 130),
    shape(70, 13, 11, 3, 2),
    shape(1, 300, 20, 5, 513),
    shape(5, 1, 50, 6, 17),
    shape(0, 10, 10, 3, 4),
    shape(2, 0, 10, 3, 4),
    shape(2, 10, 0, 3, 4),
    shape(2, 10, 10, 0, 4),
    shape(2, 10, 10, 3, 0),
    shape(0, 0, 0, 0, 0),
];

/// Numbers from a seed.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns `count` numbers of -8 to 8 of different sizes, some of them equal.
    pub(crate) fn many<T: Scalar>(&mut self, count: usize) -> Vec<T> {
        let number = |bits: u64| match bits % 8 {
            0 => (bits >> 60) as f64 - 8.0,
            _ => ((bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * 8.0,
        };
        (0..count).map(|_| T::from_f64(number(self.next()))).collect()
    }
}

/// Returns indices of all rows, one in eight of them -1.
pub(crate) fn indices(shape: &ValueShape, numbers: &mut Numbers) -> Vec<i64> {
    let index = |bits: u64| match bits % 8 {
        0 => -1,
        _ if shape.rows == 0 => -1,
        _ => ((bits >> 8) % shape.rows as u64) as i64,
    };
    (0..shape.indices().unwrap()).map(|_| index(numbers.next())).collect()
}

/// Returns the bits of numbers.
pub(crate) fn bits<T: Scalar>(numbers: &[T]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_f64().to_bits()).collect()
}
