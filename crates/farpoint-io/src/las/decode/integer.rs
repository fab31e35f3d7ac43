//! Integers near a prediction: how many bits the difference has, by a model for each context, then which
//! of the differences of so many bits it is.

use super::arithmetic::{BitModel, Decoder, Model};

/// Bits of a difference that a model foretells; further ones are as they come.
const MODELED: u32 = 8;

/// Decodes integers of up to 32 bits.
pub(super) struct Integer {
    bits: u32,
    sizes: Box<[Model]>,
    zero: BitModel,
    /// For 1 bit, 2 and so on, made when they are needed.
    differences: Box<[Option<Model>]>,
    size: u32,
}

impl Integer {
    /// Of `bits` bits, which are at most 32.
    pub(super) fn new(bits: u32, contexts: usize) -> Self {
        Self {
            bits,
            sizes: (0..contexts).map(|_| Model::new(bits as usize + 1)).collect(),
            zero: BitModel::new(),
            differences: (0..bits).map(|_| None).collect(),
            size: 0,
        }
    }

    /// How many bits the last difference had.
    #[inline(always)]
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    #[inline]
    pub(super) fn decode(&mut self, decoder: &mut Decoder, predicted: i32, context: usize) -> i32 {
        self.size = decoder.symbol(&mut self.sizes[context]);
        let difference = match self.size {
            0 => decoder.bit(&mut self.zero) as i32,
            32 => i32::MIN,
            size => self.difference(decoder, size),
        };
        let value = predicted.wrapping_add(difference);
        // Beyond the range numbers go on from its other end.
        if self.bits == 32 { value } else { value & ((1 << self.bits) - 1) }
    }

    /// One of `size` bits: 1 - 2^size to -2^(size-1), or 2^(size-1) + 1 to 2^size.
    #[inline(always)]
    fn difference(&mut self, decoder: &mut Decoder, size: u32) -> i32 {
        let modeled = size.min(MODELED);
        let model =
            self.differences[size as usize - 1].get_or_insert_with(|| Model::new(1 << modeled));
        let mut place = decoder.symbol(model);
        if size > MODELED {
            place = place << (size - MODELED) | decoder.raw(size - MODELED);
        }
        let place = place as i32;
        match place >= 1 << (size - 1) {
            true => place.wrapping_add(1),
            false => place.wrapping_sub(((1u32 << size) - 1) as i32),
        }
    }
}
