//! The record `copc`/1, which is the first of the file.

use super::cube::Cube;

/// Bytes of the record.
pub(super) const LENGTH: usize = 160;
/// Byte offset of the record in the file: after the header of LAS 1.4 and its own.
pub(super) const AT: usize = 375 + 54;

/// Data that a reader needs before it reads a node.
pub(super) struct Info {
    pub(super) cube: Cube,
    /// The spacing of the root.
    pub(super) spacing: f64,
    /// Byte offset and length of the page of the root.
    pub(super) root: (u64, u64),
    /// The minimum and maximum GPS time.
    pub(super) times: [f64; 2],
}

impl Info {
    pub(super) fn bytes(&self) -> [u8; LENGTH] {
        let half = self.cube.side / 2.0;
        let [x, y, z] = self.cube.low.map(|low| low + half);
        let (offset, length) = self.root;
        let [first, last] = self.times.map(f64::to_bits);
        let place = [x, y, z, half, self.spacing].map(f64::to_bits);
        let numbers = place.into_iter().chain([offset, length, first, last]);
        let mut bytes = [0; LENGTH];
        for (number, to) in numbers.zip(bytes.as_chunks_mut().0) {
            *to = number.to_le_bytes();
        }
        bytes
    }
}
