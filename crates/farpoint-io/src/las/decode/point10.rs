//! The fields that point formats 0 to 5 begin with, version 2.

use super::arithmetic::{Decoder, Model};
use super::integer::Integer;
use super::median::Median;

/// Bytes of a record's part.
pub(super) const SIZE: usize = 20;

/// The number of a predictor of coordinates, by the number of returns and the return.
const PREDICTORS: [[u8; 8]; 8] = [
    [15, 14, 13, 12, 11, 10, 9, 8],
    [14, 0, 1, 3, 6, 10, 10, 9],
    [13, 1, 2, 4, 7, 11, 11, 10],
    [12, 3, 4, 5, 8, 12, 12, 11],
    [11, 6, 7, 8, 9, 13, 13, 12],
    [10, 10, 11, 12, 13, 14, 14, 13],
    [9, 10, 11, 12, 13, 14, 15, 14],
    [8, 9, 10, 11, 12, 13, 14, 15],
];

/// Models for each value of a byte, made when they are needed.
struct ByByte(Box<[Option<Model>]>);

impl ByByte {
    fn new() -> Self {
        Self((0..256).map(|_| None).collect())
    }

    fn decode(&mut self, decoder: &mut Decoder, byte: u8) -> u8 {
        let model = self.0[usize::from(byte)].get_or_insert_with(|| Model::new(256));
        decoder.symbol(model) as u8
    }
}

pub(super) struct Point10 {
    last: [u8; SIZE],
    position: [i32; 3],
    intensities: [u16; 16],
    heights: [i32; 8],
    steps: [[Median; 16]; 2],
    changed: Model,
    flags: ByByte,
    classification: ByByte,
    user_data: ByByte,
    angle: [Model; 2],
    intensity: Integer,
    source: Integer,
    x: Integer,
    y: Integer,
    z: Integer,
}

impl Point10 {
    /// After the first record, which is stored as it is.
    pub(super) fn new(first: &[u8; SIZE]) -> Self {
        let axis = |at: usize| i32::from_le_bytes([0, 1, 2, 3].map(|k| first[at + k]));
        let mut last = *first;
        (last[12], last[13]) = (0, 0);
        Self {
            last,
            position: [axis(0), axis(4), axis(8)],
            intensities: [0; 16],
            heights: [0; 8],
            steps: [[Median::new(); 16]; 2],
            changed: Model::new(64),
            flags: ByByte::new(),
            classification: ByByte::new(),
            user_data: ByByte::new(),
            angle: [Model::new(256), Model::new(256)],
            intensity: Integer::new(16, 4),
            source: Integer::new(16, 1),
            x: Integer::new(32, 2),
            y: Integer::new(32, 22),
            z: Integer::new(32, 20),
        }
    }

    /// The next record.
    #[inline]
    pub(super) fn next(&mut self, decoder: &mut Decoder, out: &mut [u8; SIZE]) {
        let changed = decoder.symbol(&mut self.changed);
        if changed & 32 != 0 {
            self.last[14] = self.flags.decode(decoder, self.last[14]);
        }
        let (return_number, returns) = (self.last[14] & 7, self.last[14] >> 3 & 7);
        let predictor = PREDICTORS[usize::from(returns)][usize::from(return_number)].into();
        if changed & 31 != 0 {
            self.attributes(decoder, changed, predictor);
        } else if changed != 0 {
            self.set_intensity(self.intensities[predictor]);
        }
        let level = usize::from(returns.abs_diff(return_number));
        self.place(decoder, predictor, level, usize::from(returns == 1));
        for (bytes, value) in self.last.chunks_exact_mut(4).zip(self.position) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        *out = self.last;
    }

    #[inline(always)]
    fn place(&mut self, decoder: &mut Decoder, predictor: usize, level: usize, single: usize) {
        let [x, y] = &mut self.steps;
        let step = self.x.decode(decoder, x[predictor].get(), single);
        self.position[0] = self.position[0].wrapping_add(step);
        x[predictor].add(step);
        let size = self.x.size();
        let step = self.y.decode(decoder, y[predictor].get(), single + even(size, 20));
        self.position[1] = self.position[1].wrapping_add(step);
        y[predictor].add(step);
        let size = (size + self.y.size()) / 2;
        self.position[2] = self.z.decode(decoder, self.heights[level], single + even(size, 18));
        self.heights[level] = self.position[2];
    }

    fn set_intensity(&mut self, value: u16) {
        self.last[12..14].copy_from_slice(&value.to_le_bytes());
    }

    fn attributes(&mut self, decoder: &mut Decoder, changed: u32, predictor: usize) {
        if changed & 16 != 0 {
            let before = i32::from(self.intensities[predictor]);
            let value = self.intensity.decode(decoder, before, predictor.min(3));
            self.intensities[predictor] = value as u16;
        }
        self.set_intensity(self.intensities[predictor]);
        if changed & 8 != 0 {
            self.last[15] = self.classification.decode(decoder, self.last[15]);
        }
        if changed & 4 != 0 {
            let direction = usize::from(self.last[14] >> 6 & 1);
            let turned = decoder.symbol(&mut self.angle[direction]) as u8;
            self.last[16] = self.last[16].wrapping_add(turned);
        }
        if changed & 2 != 0 {
            self.last[17] = self.user_data.decode(decoder, self.last[17]);
        }
        if changed & 1 != 0 {
            let before = i32::from(u16::from_le_bytes([self.last[18], self.last[19]]));
            let value = self.source.decode(decoder, before, 0) as u16;
            self.last[18..].copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// The even number at or below a size, up to a limit.
#[inline(always)]
pub(super) fn even(size: u32, most: u32) -> usize {
    (size & !1).min(most) as usize
}
