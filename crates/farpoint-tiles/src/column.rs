//! Encodings of coordinates: floating point, or the integers of a LAS file.

use farpoint::Scalar;
use farpoint::backend::memory::extend;

/// Encoding of one coordinate of a point, little endian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Column {
    /// 4 bytes, a `f32`.
    F32,
    /// 8 bytes, a `f64`.
    F64,
    /// 4 bytes, an integer `n` of a LAS file, which stands for `n * scale + offset`, each operation rounded to
    /// 64 bits as readers of LAS files do it.
    Integer {
        /// Scale of the axis.
        scale: f64,
        /// Offset of the axis.
        offset: f64,
    },
}

impl Column {
    /// Returns the size of a coordinate in bytes.
    pub fn size(self) -> usize {
        if self == Self::F64 { 8 } else { 4 }
    }

    /// Decodes the coordinates of `bytes` and appends them to `into`.
    ///
    /// # Panics
    /// If the length of `bytes` is no multiple of [`Column::size`].
    pub fn decode<T: Scalar>(self, bytes: &[u8], into: &mut Vec<T>) {
        assert_eq!(bytes.len() % self.size(), 0, "bytes of whole coordinates");
        let four = || bytes.as_chunks().0.iter().copied();
        match self {
            Self::F32 => {
                extend(into, four().map(|x| T::from_f64(f64::from(f32::from_le_bytes(x)))))
            }
            Self::F64 => {
                let eight = bytes.as_chunks().0.iter().copied();
                extend(into, eight.map(|x| T::from_f64(f64::from_le_bytes(x))));
            }
            Self::Integer { scale, offset } => {
                let value = |n: i32| f64::from(n) * scale + offset;
                extend(into, four().map(|n| T::from_f64(value(i32::from_le_bytes(n)))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Column;

    #[test]
    fn integers_are_what_readers_compute() {
        let (scale, offset) = (0.01, 447_000.0);
        let bytes: Vec<u8> = [-3i32, 0, 44_712_345].iter().flat_map(|n| n.to_le_bytes()).collect();
        let mut found: Vec<f64> = Vec::new();
        Column::Integer { scale, offset }.decode(&bytes, &mut found);
        let expected = [-3.0, 0.0, 44_712_345.0].map(|n: f64| n * scale + offset);
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_are_as_they_were() {
        let bytes: Vec<u8> = [1.5f32, -0.1].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut found: Vec<f32> = Vec::new();
        Column::F32.decode(&bytes, &mut found);
        assert_eq!(found, [1.5, -0.1]);
        let mut wide: Vec<f64> = Vec::new();
        Column::F64.decode(&7.25f64.to_le_bytes(), &mut wide);
        assert_eq!(wide, [7.25]);
    }
}
