//! The two working precisions.

/// `f32` or `f64`, the precision in which distances are computed. No other type can implement it.
pub trait Scalar: number::Number {
    /// Zero.
    const ZERO: Self;
    /// Positive infinity.
    const INFINITY: Self;

    /// Returns the square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Returns whether the number is neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// Converts to `f64`, exactly.
    fn to_f64(self) -> f64;
    /// Converts from `f64`, rounded.
    fn from_f64(value: f64) -> Self;
}

/// Operations that this crate requires of its scalars. The module is private, so that no other crate can
/// implement or name it.
pub(crate) mod number {
    use crate::simd::Sets;
    use std::fmt::{Debug, Display};
    use std::ops::{Add, Div, Mul, Sub};

    /// A function of both precisions as two functions that are not generic: see `compiled_once!`.
    pub trait EitherPrecision {
        /// The arguments for numbers of type `T`.
        type Of<T: super::Scalar>;
        /// Result.
        type Output<T: super::Scalar>;
        /// Calls it for `f32`.
        fn single(work: Self::Of<f32>) -> Self::Output<f32>;
        /// Calls it for `f64`.
        fn double(work: Self::Of<f64>) -> Self::Output<f64>;
    }

    pub trait Number:
        Sets
        + crate::memory::Zero
        + Copy
        + Debug
        + Display
        + Default
        + PartialOrd
        + Send
        + Sync
        + 'static
        + Add<Output = Self>
        + Sub<Output = Self>
        + Mul<Output = Self>
        + Div<Output = Self>
    {
        /// The largest finite number.
        const MAX: Self;
        /// The gap between 1 and the next number.
        const EPSILON: Self;
        /// Bits of a number, as stored in memory.
        type Bits: Copy;
        /// Returns the number with these bits, read from memory in this machine's byte order, or in the other.
        /// NaN keeps its bits.
        fn from_memory(bits: Self::Bits, swapped: bool) -> Self;
        /// `(value bits descending, index ascending)` as one ascending key.
        type Key: Ord + Copy + Send + Sync + Debug;
        /// Calls the function of this precision.
        fn run<W: EitherPrecision>(work: W::Of<Self>) -> W::Output<Self>
        where
            Self: super::Scalar;

        /// Returns the next larger number.
        fn next_up(self) -> Self;
        /// Returns the next smaller number.
        fn next_down(self) -> Self;
        /// Returns a number whose lowest 32 bits are these: a label to be carried along, not a value.
        fn from_bits_u32(bits: u32) -> Self;
        /// Returns the lowest 32 bits.
        fn to_bits_u32(self) -> u32;
        /// Returns bits that sort like the numbers. `self` must not be negative or NaN; 0 for zero alone.
        fn sorting_bits(self) -> u64;
        /// Returns the number with these sorting bits.
        fn from_sorting_bits(bits: u64) -> Self;
        /// Rounds towards zero; 0 for negative numbers and NaN.
        fn to_index(self) -> usize;
        /// Rounds towards zero, at most `last`; `last` for NaN.
        ///
        /// # Safety
        /// `self` must be above -1 or NaN, `last` between 0 and `2^20`.
        unsafe fn to_bin(self, last: Self) -> usize;
        /// Rounds down.
        ///
        /// # Safety
        /// `self` must be at least `-2^31` and below `2^31`.
        unsafe fn floor_to_i32(self) -> i32;
        /// Returns the key that sorts selections: larger values first, among equals the lower index.
        /// `self` must not be negative or NaN.
        fn key(self, index: u32) -> Self::Key;
        /// Returns the key that sorts neighbors: smaller values first, among equals the lower index.
        /// `self` must not be negative or NaN.
        fn near_key(self, index: u32) -> Self::Key;
        /// Returns the key that sorts neighbors by index; the distance is carried along.
        fn index_key(index: u32, distance: Self) -> Self::Key;
        /// Returns distance and index of such a key.
        fn from_index_key(key: Self::Key) -> (Self, u32);
        /// Returns the value of a key by distance.
        fn near_value(key: Self::Key) -> Self;
        /// The largest key.
        const LAST_KEY: Self::Key;
        /// Returns the value of a key.
        fn key_value(key: Self::Key) -> Self;
        /// Returns the index of a key.
        fn key_index(key: Self::Key) -> u32;
    }
}

/// Defines a function that is generic over the precision alone and compiled with the crate that
/// defines it, once for each precision. A generic function is compiled again in every crate that
/// calls it. Lifetimes are written out.
#[doc(hidden)]
#[macro_export]
macro_rules! compiled_once {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident<$($a:lifetime $(: $shorter:lifetime)?,)+ $T:ident: $bound:ident>(
            $($argument:ident: $type:ty),* $(,)?
        ) -> $output:ty $body:block
    ) => {
        $(#[$attribute])*
        $visibility fn $name<$($a $(: $shorter)?,)+ $T: $bound>($($argument: $type),*) -> $output {
            struct Work<$($a),+>(std::marker::PhantomData<($(&$a (),)+)>);
            impl<$($a $(: $shorter)?),+> $crate::EitherPrecision for Work<$($a),+> {
                type Of<$T: $crate::Scalar> = ($($type,)*);
                type Output<$T: $crate::Scalar> = $output;
                #[inline(never)]
                fn single(work: Self::Of<f32>) -> Self::Output<f32> {
                    of_either(work)
                }
                #[inline(never)]
                fn double(work: Self::Of<f64>) -> Self::Output<f64> {
                    of_either(work)
                }
            }
            fn of_either<$($a $(: $shorter)?,)+ $T: $bound>(($($argument,)*): ($($type,)*)) -> $output $body
            $T::run::<Work<$($a),+>>(($($argument,)*))
        }
    };
}
pub(crate) use compiled_once;

macro_rules! scalar {
    ($float:ident, $bits:ident, $key:ident, $run:ident) => {
        impl Scalar for $float {
            const ZERO: Self = 0.0;
            const INFINITY: Self = $float::INFINITY;

            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $float
            }
        }

        impl number::Number for $float {
            const MAX: Self = $float::MAX;
            const EPSILON: Self = $float::EPSILON;
            type Bits = $bits;
            type Key = $key;

            #[inline(always)]
            fn from_memory(bits: $bits, swapped: bool) -> Self {
                $float::from_bits(if swapped { bits.swap_bytes() } else { bits })
            }

            fn run<W: number::EitherPrecision>(work: W::Of<Self>) -> W::Output<Self> {
                W::$run(work)
            }

            #[inline(always)]
            fn next_up(self) -> Self {
                self.next_up()
            }
            #[inline(always)]
            fn next_down(self) -> Self {
                self.next_down()
            }
            #[inline(always)]
            fn from_bits_u32(bits: u32) -> Self {
                $float::from_bits($bits::from(bits))
            }
            #[inline(always)]
            fn to_bits_u32(self) -> u32 {
                self.to_bits() as u32
            }
            #[inline(always)]
            fn sorting_bits(self) -> u64 {
                // The sign of -0.0 goes.
                u64::from((self + 0.0).to_bits())
            }
            #[inline(always)]
            fn from_sorting_bits(bits: u64) -> Self {
                $float::from_bits(bits as $bits)
            }
            #[inline(always)]
            fn to_index(self) -> usize {
                // Through i32, for which there is an instruction.
                (self as i32).max(0) as usize
            }
            #[inline(always)]
            unsafe fn to_bin(self, last: Self) -> usize {
                debug_assert!(self > -1.0 || self.is_nan());
                debug_assert!((0.0..=1_048_576.0).contains(&last));
                // The comparison fails for NaN too.
                let kept = if self < last { self } else { last };
                // SAFETY: above -1, as the caller ensures, and not above `last`, which fits in an
                // i32.
                unsafe { kept.to_int_unchecked::<i32>() as usize }
            }
            #[inline(always)]
            unsafe fn floor_to_i32(self) -> i32 {
                debug_assert!((-2_147_483_648.0..2_147_483_648.0).contains(&self));
                // SAFETY: the caller ensures that it fits.
                let towards_zero: i32 = unsafe { self.to_int_unchecked() };
                towards_zero - i32::from(towards_zero as $float > self)
            }
            #[inline(always)]
            fn key(self, index: u32) -> $key {
                // Bits of non-negative floats sort like the floats. The sign of -0.0 goes.
                let bits = $bits::MAX - (self + 0.0).to_bits();
                ((bits as $key) << 32) | index as $key
            }
            const LAST_KEY: $key = $key::MAX;

            #[inline(always)]
            fn near_key(self, index: u32) -> $key {
                (((self + 0.0).to_bits() as $key) << 32) | index as $key
            }
            #[inline(always)]
            fn index_key(index: u32, distance: $float) -> $key {
                ((index as $key) << $bits::BITS) | (distance + 0.0).to_bits() as $key
            }
            #[inline(always)]
            fn from_index_key(key: $key) -> ($float, u32) {
                ($float::from_bits(key as $bits), (key >> $bits::BITS) as u32)
            }
            #[inline(always)]
            fn near_value(key: $key) -> $float {
                $float::from_bits((key >> 32) as $bits)
            }
            #[inline(always)]
            fn key_value(key: $key) -> $float {
                $float::from_bits($bits::MAX - (key >> 32) as $bits)
            }
            #[inline(always)]
            fn key_index(key: $key) -> u32 {
                key as u32
            }
        }
    };
}

scalar!(f32, u32, u64, single);
scalar!(f64, u64, u128, double);

/// Returns the smallest and the largest of `values`.
pub(crate) fn extremes<T: Scalar>(values: &[T]) -> Option<(T, T)> {
    // Sixteen at a time, which compilers turn into vectors.
    let mut low = [*values.first()?; 16];
    let mut high = low;
    let blocks = values.chunks_exact(16);
    let rest = blocks.remainder();
    for block in blocks.chain((!rest.is_empty()).then_some(rest)) {
        for (k, &x) in block.iter().enumerate() {
            low[k] = if x < low[k] { x } else { low[k] };
            high[k] = if x > high[k] { x } else { high[k] };
        }
    }
    let low = low.into_iter().reduce(|a, b| if b < a { b } else { a })?;
    let high = high.into_iter().reduce(|a, b| if b > a { b } else { a })?;
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::{Scalar, extremes};

    fn bins<T: Scalar>() {
        let last = T::from_f64(9.0);
        let numbers = [-0.5, 0.0, 0.999, 1.0, 8.5, 9.0, 9.5, 1e30, f64::INFINITY, f64::NAN];
        let expected = [0, 0, 0, 1, 8, 9, 9, 9, 9, 9];
        for (number, expected) in numbers.into_iter().zip(expected) {
            // SAFETY: every number is above -1 or NaN, and the last bin below 2^20.
            let bin = unsafe { T::from_f64(number).to_bin(last) };
            assert_eq!(bin, expected, "{number}");
        }
    }

    fn floors<T: Scalar>() {
        let numbers = [-2_147_483_648.0, -1.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 16_777_216.0];
        for number in numbers {
            // SAFETY: all are in range.
            let floor = unsafe { T::from_f64(number).floor_to_i32() };
            assert_eq!(f64::from(floor), number.floor());
        }
    }

    fn keys<T: Scalar>() {
        let values = [T::INFINITY, T::MAX, T::from_f64(2.0), T::EPSILON, T::ZERO];
        for pair in values.windows(2) {
            assert!(pair[0].key(7) < pair[1].key(3), "larger values come first");
            assert!(pair[0].key(3) < pair[0].key(7), "then lower indices");
            assert_eq!(T::key_value(pair[1].key(5)), pair[1]);
            assert_eq!(T::key_index(pair[1].key(5)), 5);
        }
    }

    #[test]
    fn bins_stay_within_their_range() {
        bins::<f32>();
        bins::<f64>();
    }

    #[test]
    fn numbers_are_rounded_down() {
        floors::<f32>();
        floors::<f64>();
    }

    #[test]
    fn keys_sort_as_choices_do() {
        keys::<f32>();
        keys::<f64>();
    }

    #[test]
    fn extremes_cover_all_values() {
        assert_eq!(extremes::<f32>(&[]), None);
        let values: Vec<f32> = (0..53).map(|k| ((k * 31) % 53) as f32).collect();
        assert_eq!(extremes(&values), Some((0.0, 52.0)));
    }
}
