//! GPS times of point formats 1, 3, 4 and 5, version 2: whole numbers that go on in up to four
//! sequences, each by a multiple of its last step.

use super::arithmetic::{Decoder, Model};
use super::integer::Integer;

/// Bytes of a record's part.
pub(super) const SIZE: usize = 8;

/// The largest multiple of a step.
const MOST: i32 = 500;
/// The smallest one.
const LEAST: i32 = -10;
/// The same time as before.
const SAME: i32 = MOST - LEAST + 1;
/// A time of its own, in 64 bits. Beyond it are the other sequences.
const WHOLE: i32 = SAME + 1;
/// A step that is far off so often in a row becomes the step of its sequence.
const EXTREME: u32 = 3;

/// What the model of a sequence without a step says.
const NO_STEP_WHOLE: i32 = 2;

pub(super) struct Time {
    sequences: [Sequence; 4],
    current: usize,
    /// The sequence that was begun last.
    newest: usize,
    multiple: Model,
    no_step: Model,
    step: Integer,
}

#[derive(Clone, Copy, Default)]
struct Sequence {
    time: i64,
    step: i32,
    extremes: u32,
}

impl Sequence {
    fn extreme(&mut self, step: i32) {
        self.extremes += 1;
        if self.extremes > EXTREME {
            (self.step, self.extremes) = (step, 0);
        }
    }
}

impl Time {
    /// After the first record, which is stored as it is.
    pub(super) fn new(first: &[u8; SIZE]) -> Self {
        let mut sequences = [Sequence::default(); 4];
        sequences[0].time = i64::from_le_bytes(*first);
        Self {
            sequences,
            current: 0,
            newest: 0,
            multiple: Model::new(WHOLE as usize + 4),
            no_step: Model::new(6),
            step: Integer::new(32, 9),
        }
    }

    /// The next record.
    #[inline]
    pub(super) fn next(&mut self, decoder: &mut Decoder, out: &mut [u8; SIZE]) {
        // A damaged file may lead from sequence to sequence without an end.
        while !decoder.overran() {
            let other = match self.sequences[self.current].step {
                0 => self.without_step(decoder),
                _ => self.with_step(decoder),
            };
            match other {
                0 => break,
                other => self.current = (self.current + other as usize) & 3,
            }
        }
        *out = self.sequences[self.current].time.to_le_bytes();
    }

    /// How many sequences further the time is; 0 if it was decoded.
    fn without_step(&mut self, decoder: &mut Decoder) -> i32 {
        let symbol = decoder.symbol(&mut self.no_step) as i32;
        match symbol {
            0 => {}
            1 => {
                let step = self.step.decode(decoder, 0, 0);
                let sequence = &mut self.sequences[self.current];
                sequence.time = sequence.time.wrapping_add(step.into());
                (sequence.step, sequence.extremes) = (step, 0);
            }
            NO_STEP_WHOLE => self.whole(decoder),
            _ => return symbol - NO_STEP_WHOLE,
        }
        0
    }

    fn with_step(&mut self, decoder: &mut Decoder) -> i32 {
        let symbol = decoder.symbol(&mut self.multiple) as i32;
        let sequence = &mut self.sequences[self.current];
        let (multiple, context) = match symbol {
            0 => (0, 7),
            1 => (1, 1),
            2..=9 => (symbol, 2),
            10..MOST => (symbol, 3),
            MOST => (MOST, 4),
            SAME => return 0,
            WHOLE => {
                self.whole(decoder);
                return 0;
            }
            _ if symbol > WHOLE => return symbol - WHOLE,
            _ if MOST - symbol > LEAST => (MOST - symbol, 5),
            _ => (LEAST, 6),
        };
        let predicted = sequence.step.wrapping_mul(multiple);
        let step = self.step.decode(decoder, predicted, context);
        sequence.time = sequence.time.wrapping_add(step.into());
        match context {
            1 => sequence.extremes = 0,
            4 | 6 | 7 => sequence.extreme(step),
            _ => {}
        }
        0
    }

    fn whole(&mut self, decoder: &mut Decoder) {
        let high = (self.sequences[self.current].time >> 32) as i32;
        let high = self.step.decode(decoder, high, 8);
        let time = i64::from(high) << 32 | i64::from(decoder.raw(32));
        self.newest = (self.newest + 1) & 3;
        self.current = self.newest;
        self.sequences[self.current] = Sequence { time, ..Sequence::default() };
    }
}
