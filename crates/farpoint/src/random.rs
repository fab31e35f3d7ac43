//! Seeded random numbers that are the same on every machine.

/// The SplitMix64 generator (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator for this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a whole number below `end`, all equally likely (Lemire's multiply-shift, with
    /// rejection). `end` must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(end);
            if wide as u64 >= end.wrapping_neg() % end {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Returns a number in `0.0..1.0`, with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn first_numbers_are_those_of_the_published_generator() {
        let mut random = SplitMix64::new(1234567);
        let first: Vec<_> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn below_stays_below() {
        let mut random = SplitMix64::new(1);
        assert!((0..1000).all(|_| random.below(3) < 3));
    }
}
