//! Parts of a file that stay in the memory it was read into.

use std::borrow::Cow;
use std::ops::{Deref, Range};

/// A part of a file, in the file's own memory where that may be taken.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    bytes: Vec<u8>,
    start: usize,
}

impl Part {
    /// Bytes of `range`, which is within `bytes`.
    pub(crate) fn of(bytes: Cow<'_, [u8]>, range: Range<usize>) -> Part {
        match bytes {
            // Not worth the memory of all the rest.
            Cow::Owned(mut bytes) if range.len() >= bytes.len() / 2 => {
                bytes.truncate(range.end);
                Part { bytes, start: range.start }
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
        let place = bytes.as_ptr();
        let part = Part::of(Cow::Owned(bytes.clone()), 10..90);
        assert_eq!((&part[..], part.len()), (&bytes[10..90], 80));
        let owned = Part::of(Cow::Owned(bytes), 10..90);
        assert_eq!(owned.as_ptr(), place.wrapping_add(10));
    }

    #[test]
    fn a_small_part_is_copied() {
        let bytes: Vec<u8> = (0..100).collect();
        for part in
            [Part::of(Cow::Borrowed(&bytes), 3..99), Part::of(Cow::Owned(bytes.clone()), 3..9)]
        {
            assert_eq!(part[..], bytes[3..3 + part.len()]);
            assert_eq!(part.start, 0);
        }
    }
}
