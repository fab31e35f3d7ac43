//! Random numbers that are the same on every machine.

use crate::vector::Vector;

/// The wyrand generator (Wang Yi, public domain): a Weyl sequence folded by one wide product.
pub struct Random(u64);

impl Random {
    /// Seeds a generator; `stream` separates kinds of clouds that share a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.bits();
        random
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let wide = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        (wide >> 64) as u64 ^ wide as u64
    }

    /// Returns a number in `0.0..1.0`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a number in `low..high`.
    #[inline]
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Returns a whole number below `end`, near enough equally likely.
    #[inline]
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// Returns a nearly normal number, mean 0, deviation 1, never beyond 3.5: a sum of four uniform numbers.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let bits = self.bits();
        let sum = (0..4).map(|k| ((bits >> (16 * k)) & 0xffff) as i64).sum::<i64>();
        (sum - 131_070) as f64 * (1.732_050_807_568_877_2 / 65_536.0)
    }

    /// Returns a vector of three [`Self::normal`] numbers.
    #[inline]
    pub fn normals(&mut self) -> Vector {
        Vector(self.normal(), self.normal(), self.normal())
    }

    /// Returns a direction of the plane, uniform on the circle, found without a sine.
    #[inline]
    pub fn circle(&mut self) -> (f64, f64) {
        loop {
            let (x, y) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let square = x * x + y * y;
            if square <= 1.0 && square > 1e-4 {
                let length = square.sqrt();
                return (x / length, y / length);
            }
        }
    }

    /// Returns a direction of space, uniform on the sphere.
    #[inline]
    pub fn direction(&mut self) -> Vector {
        let (x, y) = self.circle();
        let z = self.between(-1.0, 1.0);
        let level = (1.0 - z * z).sqrt();
        Vector(x * level, y * level, z)
    }

    /// Puts the items in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
