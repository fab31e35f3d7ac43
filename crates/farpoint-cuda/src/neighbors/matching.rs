//! The parameter of the kernels: `struct Matching` of `kernels/neighbors/matching.cuh`, field by field.

/// One cloud of every pair, and the addresses of its rows' results. Addresses are of device memory, 0
/// for null; see `kernels/neighbors/matching.cuh` for each one's meaning.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Side {
    /// Coordinates; strides in numbers.
    pub(crate) points: u64,
    pub(crate) row_stride: i64,
    pub(crate) axis_stride: i64,
    /// First row and number of rows of each cloud, or null.
    pub(crate) offsets: u64,
    pub(crate) lengths: u64,
    /// Rows per cloud; of the largest if they differ.
    pub(crate) rows: i64,
    /// The result, one number per row; null if not requested.
    pub(crate) distances: u64,
    pub(crate) indices: u64,
}

/// A batch of pairs of clouds in device memory.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Matching {
    pub(crate) sides: [Side; 2],
    pub(crate) dims: u32,
    pub(crate) pairs: u32,
}

/// Size of a batch, which determines launches and scratch memory: lengths in device memory are not
/// read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Number of pairs.
    pub(crate) pairs: usize,
    /// Rows of the largest cloud of each side.
    pub(crate) rows: [usize; 2],
    /// Coordinates per row.
    pub(crate) dims: usize,
    /// Set if the nearest points of a side's rows are requested.
    pub(crate) requested: [bool; 2],
}

impl Shape {
    /// Returns whether there is nothing to find.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs == 0 || (0..2).all(|side| self.requested_rows(side) == 0)
    }

    /// Number of rows of a side whose nearest points are requested.
    pub(crate) fn requested_rows(&self, side: usize) -> usize {
        if self.requested[side] { self.rows[side] } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::fields;

    /// Names of the fields of a Rust struct without nested ones.
    fn field_names(text: String) -> String {
        let name = |line: &str| line.trim().split_once(": ").map(|(name, _)| name.to_owned());
        text.lines().filter_map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn laid_out_as_in_matching_cuh() {
        let source = include_str!("../../kernels/neighbors/matching.cuh");
        assert_eq!(field_names(format!("{:#?}", Side::default())), fields(source, "Side"));
        assert_eq!(fields(source, "Matching"), "sides dims pairs");
        assert_eq!((size_of::<Side>(), size_of::<Matching>()), (64, 136));
        assert_eq!(std::mem::offset_of!(Matching, dims), 128);
    }

    #[test]
    fn only_requested_rows_count() {
        let shape = Shape { pairs: 2, rows: [5, 0], dims: 3, requested: [true, true] };
        assert_eq!(
            (shape.requested_rows(0), shape.requested_rows(1), shape.is_empty()),
            (5, 0, false)
        );
        assert!(Shape { requested: [false, true], ..shape }.is_empty());
        assert!(Shape { pairs: 0, ..shape }.is_empty());
    }
}
