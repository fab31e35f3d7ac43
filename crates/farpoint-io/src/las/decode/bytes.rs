//! Extra bytes, version 2: each differs from that of the record before.

use super::arithmetic::{Decoder, Model};

pub(super) struct Bytes {
    last: Box<[u8]>,
    models: Box<[Model]>,
}

impl Bytes {
    /// After the first record, which is stored as it is.
    pub(super) fn new(first: &[u8]) -> Self {
        Self { last: first.into(), models: first.iter().map(|_| Model::new(256)).collect() }
    }

    /// The next record, of as many bytes as the first.
    #[inline]
    pub(super) fn next(&mut self, decoder: &mut Decoder, out: &mut [u8]) {
        for ((last, model), out) in self.last.iter_mut().zip(&mut self.models).zip(out) {
            *last = last.wrapping_add(decoder.symbol(model) as u8);
            *out = *last;
        }
    }
}
