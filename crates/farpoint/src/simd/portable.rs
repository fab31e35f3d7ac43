//! The portable set: arrays of four numbers, which compilers turn into the vectors of the target's
//! baseline (SSE2 on x86-64, NEON on ARM). Longer arrays do not fit its registers.

use super::{Kernel, Simd};

macro_rules! portable {
    ($name:ident, $float:ident, $lanes:literal) => {
        /// The portable set for one precision.
        #[derive(Debug, Clone, Copy)]
        pub struct $name(());

        impl $name {
            #[inline(always)]
            fn zip(
                a: [$float; $lanes],
                b: [$float; $lanes],
                f: impl Fn($float, $float) -> $float,
            ) -> [$float; $lanes] {
                std::array::from_fn(|lane| f(a[lane], b[lane]))
            }

            #[inline(always)]
            fn mask(
                a: [$float; $lanes],
                b: [$float; $lanes],
                f: impl Fn(&$float, &$float) -> bool,
            ) -> u32 {
                (0..$lanes).fold(0, |mask, lane| mask | (u32::from(f(&a[lane], &b[lane])) << lane))
            }
        }

        impl Simd<$float> for $name {
            const LANES: usize = $lanes;
            type V = [$float; $lanes];

            #[inline(always)]
            unsafe fn new_unchecked() -> Self {
                Self(())
            }
            // As with the other sets, a kernel is one function for all callers.
            #[inline(never)]
            fn vectorize<K: Kernel<$float>>(self, kernel: K) -> K::Output {
                kernel.run(self)
            }
            #[inline(always)]
            fn splat(self, value: $float) -> Self::V {
                [value; $lanes]
            }
            #[inline(always)]
            unsafe fn load(self, from: *const $float) -> Self::V {
                // SAFETY: the caller ensures that `LANES` numbers can be read.
                unsafe { from.cast::<Self::V>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $float, value: Self::V) {
                // SAFETY: the caller ensures that `LANES` numbers can be written.
                unsafe { to.cast::<Self::V>().write_unaligned(value) }
            }
            #[inline(always)]
            fn add(self, a: Self::V, b: Self::V) -> Self::V {
                Self::zip(a, b, |a, b| a + b)
            }
            #[inline(always)]
            fn sub(self, a: Self::V, b: Self::V) -> Self::V {
                Self::zip(a, b, |a, b| a - b)
            }
            #[inline(always)]
            fn mul(self, a: Self::V, b: Self::V) -> Self::V {
                Self::zip(a, b, |a, b| a * b)
            }
            #[inline(always)]
            fn min(self, a: Self::V, b: Self::V) -> Self::V {
                Self::zip(a, b, |a, b| if a < b { a } else { b })
            }
            #[inline(always)]
            fn max(self, a: Self::V, b: Self::V) -> Self::V {
                Self::zip(a, b, |a, b| if a > b { a } else { b })
            }
            #[inline(always)]
            fn lt(self, a: Self::V, b: Self::V) -> u32 {
                Self::mask(a, b, $float::lt)
            }
            #[inline(always)]
            fn le(self, a: Self::V, b: Self::V) -> u32 {
                Self::mask(a, b, $float::le)
            }
            #[inline(always)]
            fn count_lt(self, counts: Self::V, a: Self::V, b: Self::V) -> Self::V {
                let one = Self::zip(a, b, |a, b| if a < b { 1.0 } else { 0.0 });
                Self::zip(counts, one, |count, one| count + one)
            }
            #[inline(always)]
            fn replace_lt(
                self,
                a: Self::V,
                b: Self::V,
                to_a: Self::V,
                to_b: Self::V,
            ) -> (Self::V, Self::V) {
                let b = std::array::from_fn(|k| if a[k] < to_a[k] { to_b[k] } else { b[k] });
                (Self::zip(a, to_a, |a, to| if a < to { to } else { a }), b)
            }
            #[inline(always)]
            fn eq(self, a: Self::V, b: Self::V) -> u32 {
                Self::mask(a, b, $float::eq)
            }
            #[inline(always)]
            fn largest(self, a: Self::V) -> $float {
                a.into_iter().fold($float::NEG_INFINITY, |a, b| if a > b { a } else { b })
            }
            #[inline(always)]
            unsafe fn compress(self, mask: u32, value: Self::V, to: *mut $float) {
                let mut count = 0;
                for (lane, value) in value.into_iter().enumerate() {
                    // SAFETY: `count` is at most `lane`, and the caller ensures that `LANES` numbers
                    // can be written.
                    unsafe { to.add(count).write(value) };
                    count += (mask >> lane & 1) as usize;
                }
            }
        }
    };
}

portable!(PortableF32, f32, 4);
portable!(PortableF64, f64, 4);
