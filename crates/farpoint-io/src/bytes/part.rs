//! Parts of a file that stay in the memory it was read into.

use std::borrow::Cow;
use std::ops::{Deref, Range};

/// Alignment of the largest numbers.
const ALIGNED: usize = 8;

/// A part of a file, in the file's own memory if that may be taken over.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    bytes: Vec<u8>,
    start: usize,
}

impl Part {
    /// Bytes of `range`, which is within `bytes`.
    pub(crate) fn new(bytes: Cow<'_, [u8]>, range: Range<usize>) -> Part {
        match bytes {
            // Otherwise not worth the memory of the rest.
            Cow::Owned(mut bytes) if range.len() >= bytes.len() / 2 => {
                bytes.truncate(range.end);
                // Unaligned rows are slower to read numbers from than to move once.
                let start = if range.start.is_multiple_of(ALIGNED) { range.start } else { 0 };
                bytes.drain(..range.start - start);
                Part { bytes, start }
            }
            bytes => bytes[range].to_vec().into(),
        }
    }
}

impl From<Vec<u8>> for Part {
    fn from(bytes: Vec<u8>) -> Part {
        Part { bytes, start: 0 }
    }
}

impl Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_part_stays_where_it_is() {
        let bytes: Vec<u8> = (0..100).collect();
        let part = Part::new(Cow::Owned(bytes.clone()), 16..90);
        assert_eq!((&part[..], part.len()), (&bytes[16..90], 74));
        let copy = bytes.clone();
        let place = copy.as_ptr();
        let owned = Part::new(Cow::Owned(copy), 16..90);
        assert_eq!(owned.as_ptr(), place.wrapping_add(16));
        let moved = Part::new(Cow::Owned(bytes.clone()), 3..99);
        assert_eq!((&moved[..], moved.start), (&bytes[3..99], 0));
    }

    #[test]
    fn a_small_part_is_copied() {
        let bytes: Vec<u8> = (0..100).collect();
        for part in
            [Part::new(Cow::Borrowed(&bytes), 3..99), Part::new(Cow::Owned(bytes.clone()), 3..9)]
        {
            assert_eq!(part[..], bytes[3..3 + part.len()]);
            assert_eq!(part.start, 0);
        }
    }
}
