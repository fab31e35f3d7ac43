//! The arithmetic decoder of LASzip, and the models of symbols and bits that adapt to what was decoded.
//!
//! Interval arithmetic on 32 bits after Amir Said, "Introduction to Arithmetic Coding: Theory and
//! Practice", HP Laboratories HPL-2004-76, 2004.

/// Bits of a probability of a symbol.
const SYMBOL_BITS: u32 = 15;
/// Bits of a probability of a bit.
const BIT_BITS: u32 = 13;
/// Raw bits that are decoded at once.
const RAW_BITS: u32 = 19;

/// Decodes symbols and bits from bytes.
pub(super) struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    value: u32,
    length: u32,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { bytes, at: 0, value: 0, length: u32::MAX };
        decoder.value = decoder.ahead();
        decoder.at = 4;
        decoder
    }

    /// Whether more bytes were taken than there are; they count as zeros.
    pub(super) fn overran(&self) -> bool {
        self.at > self.bytes.len()
    }

    /// The next four bytes.
    #[inline(always)]
    fn ahead(&self) -> u32 {
        match self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(&bytes) => u32::from_be_bytes(bytes),
            None => self.last_bytes(),
        }
    }

    #[cold]
    fn last_bytes(&self) -> u32 {
        let mut bytes = [0; 4];
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        bytes[..rest.len()].copy_from_slice(rest);
        u32::from_be_bytes(bytes)
    }

    /// Takes in as many bytes as the interval has become shorter, without a branch: how many is hard to
    /// predict.
    #[inline(always)]
    fn renormalize(&mut self) {
        let bits = self.length.leading_zeros() & 24;
        let wide = (u64::from(self.value) << 32 | u64::from(self.ahead())) << bits;
        self.value = (wide >> 32) as u32;
        self.length <<= bits;
        self.at += (bits / 8) as usize;
    }

    #[inline(always)]
    pub(super) fn symbol(&mut self, model: &mut Model) -> u32 {
        let unit = self.length >> SYMBOL_BITS;
        let share = (self.value / unit).min((1 << SYMBOL_BITS) - 1);
        let symbol = model.find(share);
        let start = u32::from(model.starts[symbol]) * unit;
        let end = match model.starts[symbol + 1] {
            LAST => self.length,
            end => u32::from(end) * unit,
        };
        self.value = self.value.wrapping_sub(start);
        self.length = end - start;
        self.renormalize();
        model.count(symbol);
        symbol as u32
    }

    #[inline(always)]
    pub(super) fn bit(&mut self, model: &mut BitModel) -> u32 {
        let middle = model.share * (self.length >> BIT_BITS);
        let bit = self.value >= middle;
        if bit {
            self.value -= middle;
            self.length -= middle;
        } else {
            self.length = middle;
            model.zeros += 1;
        }
        self.renormalize();
        model.left -= 1;
        if model.left == 0 {
            model.update();
        }
        u32::from(bit)
    }

    /// Bits that no model foretells, 32 at most.
    #[inline(always)]
    pub(super) fn raw(&mut self, bits: u32) -> u32 {
        if bits <= RAW_BITS {
            return self.raw_part(bits);
        }
        let low = self.raw_part(16);
        self.raw_part(bits - 16) << 16 | low
    }

    #[inline(always)]
    fn raw_part(&mut self, bits: u32) -> u32 {
        self.length >>= bits;
        let value = self.value / self.length;
        self.value = self.value.wrapping_sub(value.wrapping_mul(self.length));
        self.renormalize();
        value
    }
}

/// Stands behind the last start of a symbol.
const LAST: u16 = u16::MAX;

/// How often each of some symbols came.
pub(super) struct Model {
    /// Where the share of each symbol starts, of 2^15 in all.
    starts: Box<[u16]>,
    counts: Box<[u16]>,
    /// For each of equal parts of all shares its first symbol, and in the low byte the last place in the
    /// part that is this symbol's, so that a part with two symbols needs no branch.
    table: Box<[u16]>,
    /// Bits of a place in a part.
    shift: u32,
    /// Lower bits of a symbol that the table leaves out where there are more than 256.
    coarse: u32,
    total: u32,
    cycle: u32,
    left: u32,
}

impl Model {
    /// Of 2 to 1024 symbols, all as likely.
    pub(super) fn new(symbols: usize) -> Self {
        let bits = (usize::BITS - (symbols - 1).leading_zeros()).clamp(7, 8);
        let mut model = Self {
            starts: vec![LAST; symbols + 1].into(),
            counts: vec![1; symbols].into(),
            table: vec![0; 1 << bits].into(),
            shift: SYMBOL_BITS - bits,
            coarse: if symbols > 256 { 2 } else { 0 },
            total: 0,
            cycle: symbols as u32,
            left: 0,
        };
        model.update();
        model.cycle = (symbols as u32 + 6) / 2;
        model.left = model.cycle;
        model
    }

    /// The symbol that has this share.
    #[inline(always)]
    fn find(&self, share: u32) -> usize {
        let part = self.table[(share >> self.shift) as usize];
        let place = share & ((1 << self.shift) - 1);
        let mut symbol = usize::from(part >> 8) << self.coarse;
        symbol += usize::from(place > u32::from(part & 255));
        // Rare: several symbols in a part.
        while u32::from(self.starts[symbol + 1]) <= share {
            symbol += 1;
        }
        symbol
    }

    #[inline(always)]
    fn count(&mut self, symbol: usize) {
        self.counts[symbol] += 1;
        self.left -= 1;
        if self.left == 0 {
            self.update();
        }
    }

    #[inline(never)]
    fn update(&mut self) {
        self.total += self.cycle;
        if self.total > 1 << SYMBOL_BITS {
            self.counts.iter_mut().for_each(|count| *count = count.div_ceil(2));
            self.total = self.counts.iter().map(|&count| u32::from(count)).sum();
        }
        let scale = (1 << 31) / self.total;
        let mut sum = 0;
        for (start, &count) in self.starts.iter_mut().zip(&self.counts) {
            *start = ((scale * sum) >> (31 - SYMBOL_BITS)) as u16;
            sum += u32::from(count);
        }
        let mut symbol = 0;
        for (part, entry) in self.table.iter_mut().enumerate() {
            let first = (part as u32) << self.shift;
            while u32::from(self.starts[symbol + 1]) <= first {
                symbol += 1;
            }
            let last = (u32::from(self.starts[symbol + 1]) - first - 1).min(255);
            *entry = match self.coarse {
                0 => (symbol as u16) << 8 | last as u16,
                coarse => ((symbol >> coarse) as u16) << 8 | 255,
            };
        }
        self.cycle = (self.cycle * 5 / 4).min((self.counts.len() as u32 + 6) * 8);
        self.left = self.cycle;
    }
}

/// How often a bit was 0.
pub(super) struct BitModel {
    zeros: u32,
    total: u32,
    share: u32,
    cycle: u32,
    left: u32,
}

impl BitModel {
    pub(super) fn new() -> Self {
        Self { zeros: 1, total: 2, share: 1 << (BIT_BITS - 1), cycle: 4, left: 4 }
    }

    fn update(&mut self) {
        self.total += self.cycle;
        if self.total > 1 << BIT_BITS {
            self.total = self.total.div_ceil(2);
            self.zeros = self.zeros.div_ceil(2);
            if self.zeros == self.total {
                self.total += 1;
            }
        }
        let scale = (1 << 31) / self.total;
        self.share = (self.zeros * scale) >> (31 - BIT_BITS);
        self.cycle = (self.cycle * 5 / 4).min(64);
        self.left = self.cycle;
    }
}
