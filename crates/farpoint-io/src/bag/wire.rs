//! The two encodings of ROS messages: CDR (ROS 2) and that of ROS 1.
//!
//! Both are the fields one after another. CDR has four bytes in front that name the byte order, aligns
//! each number to its size, counted from behind these four, and ends a string with NUL, which its length
//! counts. ROS 1 is little-endian, without alignment or NUL.

use std::fmt;

/// Encoding of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// ROS 2: plain CDR, version 1, either byte order.
    Cdr,
    /// ROS 1.
    Ros1,
}

impl Encoding {
    /// The encoding by the name that a channel states.
    pub fn of(name: &str) -> Option<Encoding> {
        match name {
            "cdr" => Some(Encoding::Cdr),
            "ros1" => Some(Encoding::Ros1),
            _ => None,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Encoding::Cdr => "cdr",
            Encoding::Ros1 => "ros1",
        })
    }
}

/// A message that is read from its start to its end.
pub(super) struct Wire<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Byte offset from which alignment counts.
    base: usize,
    encoding: Encoding,
    big_endian: bool,
}

impl<'a> Wire<'a> {
    /// The start of a message.
    pub(super) fn new(encoding: Encoding, bytes: &'a [u8]) -> Result<Wire<'a>, String> {
        let start =
            |at: usize, big_endian: bool| Wire { bytes, at, base: at, encoding, big_endian };
        if encoding == Encoding::Ros1 {
            return Ok(start(0, false));
        }
        match bytes {
            [0, order @ 0..=1, _, _, ..] => Ok(start(4, *order == 0)),
            [0, 2..=3, ..] => Err("encoded as a CDR parameter list, which is not read".into()),
            [_, _, _, _, ..] => Err(format!(
                "encoded as XCDR2 (header {:02x} {:02x}), which is not read; record it with CDR version 1",
                bytes[0], bytes[1]
            )),
            _ => Err(format!("{} bytes are not a CDR message", bytes.len())),
        }
    }

    /// Returns the byte offset of the next field, before alignment.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Returns whether numbers are big-endian.
    pub(super) fn big_endian(&self) -> bool {
        self.big_endian
    }

    /// Takes the next `count` bytes; `what` names them.
    pub(super) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end =
            end.ok_or_else(|| format!("truncated: {what} ends after byte {}", self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// The next number of 32 bits.
    pub(super) fn u32(&mut self, what: &str) -> Result<u32, String> {
        self.align(4, what)?;
        let bytes = self.take(4, what)?.first_chunk().copied().unwrap_or_default();
        Ok(match self.big_endian {
            true => u32::from_be_bytes(bytes),
            false => u32::from_le_bytes(bytes),
        })
    }

    /// The next byte.
    pub(super) fn u8(&mut self, what: &str) -> Result<u8, String> {
        Ok(self.take(1, what)?[0])
    }

    /// The next string, without its NUL.
    pub(super) fn string(&mut self, what: &str) -> Result<&'a [u8], String> {
        let length = self.u32(what)? as usize;
        let text = self.take(length, what)?;
        Ok(match (self.encoding, text) {
            (Encoding::Cdr, [text @ .., 0]) => text,
            _ => text,
        })
    }

    fn align(&mut self, size: usize, what: &str) -> Result<(), String> {
        if self.encoding == Encoding::Cdr {
            let over = (self.at - self.base) % size;
            self.take(if over == 0 { 0 } else { size - over }, what)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cdr_aligns_from_behind_its_header() {
        let bytes = [0, 1, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0];
        let mut wire = Wire::new(Encoding::Cdr, &bytes).unwrap();
        assert_eq!((wire.u8("a"), wire.u32("b"), wire.at()), (Ok(7), Ok(5), 12));
        assert!(wire.u8("c").unwrap_err().contains("truncated: c"));
    }

    #[test]
    fn both_byte_orders_and_strings() {
        let big = [0, 0, 0, 0, 0, 0, 0, 3, b'a', b'b', 0];
        assert_eq!(Wire::new(Encoding::Cdr, &big).unwrap().string("name"), Ok(&b"ab"[..]));
        let ros1 = [3, 0, 0, 0, b'a', b'b', 0];
        assert_eq!(Wire::new(Encoding::Ros1, &ros1).unwrap().string("name"), Ok(&b"ab\0"[..]));
        let mut unaligned = Wire::new(Encoding::Ros1, &[9, 5, 0, 0, 0]).unwrap();
        assert_eq!((unaligned.u8("a"), unaligned.u32("b")), (Ok(9), Ok(5)));
    }

    #[test]
    fn other_encodings_are_named() {
        for (header, text) in [([0, 7, 0, 0], "XCDR2"), ([0, 3, 0, 0], "parameter list")] {
            let error = Wire::new(Encoding::Cdr, &header).err().unwrap();
            assert!(error.contains(text), "{error}");
        }
        assert!(Wire::new(Encoding::Cdr, &[0, 1]).is_err());
    }
}
