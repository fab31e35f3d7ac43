//! Colors of 16 bits a channel, version 2: bytes that differ from those of the record before, green
//! and blue from what the channels before them lead to expect.

use super::arithmetic::{Decoder, Model};

/// Bytes of a record's part: low and high byte of red, green and blue.
pub(super) const SIZE: usize = 6;

/// Set in what differs where the channels are not all the same.
const COLORED: u32 = 64;

pub(super) struct Color {
    last: [u8; SIZE],
    differs: Model,
    bytes: [Model; SIZE],
}

impl Color {
    /// After the first record, which is stored as it is.
    pub(super) fn new(first: &[u8; SIZE]) -> Self {
        Self {
            last: *first,
            differs: Model::new(128),
            bytes: std::array::from_fn(|_| Model::new(256)),
        }
    }

    /// The next record.
    #[inline]
    pub(super) fn next(&mut self, decoder: &mut Decoder, out: &mut [u8; SIZE]) {
        let last = self.last;
        let mut now = last;
        let differs = decoder.symbol(&mut self.differs);
        let mut byte = |at: usize, expected: u8| match differs >> at & 1 {
            0 => last[at],
            _ => (decoder.symbol(&mut self.bytes[at]) as u8).wrapping_add(expected),
        };
        let step = |now: u8, at: usize| i32::from(now) - i32::from(last[at]);
        let expected = |at: usize, step: i32| (i32::from(last[at]) + step).clamp(0, 255) as u8;
        now[0] = byte(0, last[0]);
        now[1] = byte(1, last[1]);
        if differs & COLORED == 0 {
            now = [now[0], now[1], now[0], now[1], now[0], now[1]];
        } else {
            // All low bytes come before all high ones.
            for (red, green, blue) in [(0, 2, 4), (1, 3, 5)] {
                let of_red = step(now[red], red);
                now[green] = byte(green, expected(green, of_red));
                let of_both = (of_red + step(now[green], green)) / 2;
                now[blue] = byte(blue, expected(blue, of_both));
            }
        }
        self.last = now;
        *out = now;
    }
}
