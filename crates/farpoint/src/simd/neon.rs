//! NEON, 128 bits: the trait's operations named as intrinsics, nothing else. It is part of the baseline of 64-bit ARM, so
//! that no proof is needed.

use super::{Kernel, Simd};
use std::arch::aarch64::*;

macro_rules! neon {
    (
        $name:ident, $float:ident, $vector:ident, $lanes:literal,
        $splat:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident,
        $min:ident, $max:ident, $lt:ident, $le:ident, $eq:ident, $select:ident, $largest:ident,
        $and:ident, $sum:ident, $bits:ident, $compress:ident
    ) => {
        /// NEON for one precision.
        #[derive(Debug, Clone, Copy)]
        pub struct $name(());

        impl Simd<$float> for $name {
            const LANES: usize = $lanes;
            type V = $vector;

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
            fn splat(self, value: $float) -> $vector {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            unsafe fn load(self, from: *const $float) -> $vector {
                // SAFETY: every 64-bit ARM machine has the instruction; the caller ensures that `LANES` numbers can be read.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $float, value: $vector) {
                // SAFETY: every 64-bit ARM machine has the instruction; the caller ensures that `LANES` numbers can be written.
                unsafe { $store(to, value) }
            }
            #[inline(always)]
            fn add(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            fn sub(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $sub(a, b) }
            }
            #[inline(always)]
            fn mul(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $mul(a, b) }
            }
            #[inline(always)]
            fn min(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $min(a, b) }
            }
            #[inline(always)]
            fn max(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $max(a, b) }
            }
            #[inline(always)]
            fn lt(self, a: $vector, b: $vector) -> u32 {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $sum($and($lt(a, b), $bits())) as u32 }
            }
            #[inline(always)]
            fn le(self, a: $vector, b: $vector) -> u32 {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $sum($and($le(a, b), $bits())) as u32 }
            }
            #[inline(always)]
            fn count_lt(self, counts: $vector, a: $vector, b: $vector) -> $vector {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $add(counts, $select($lt(a, b), $splat(1.0), $splat(0.0))) }
            }
            #[inline(always)]
            fn replace_lt(
                self,
                a: $vector,
                b: $vector,
                to_a: $vector,
                to_b: $vector,
            ) -> ($vector, $vector) {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe {
                    let less = $lt(a, to_a);
                    ($select(less, to_a, a), $select(less, to_b, b))
                }
            }
            #[inline(always)]
            fn eq(self, a: $vector, b: $vector) -> u32 {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $sum($and($eq(a, b), $bits())) as u32 }
            }
            #[inline(always)]
            fn largest(self, a: $vector) -> $float {
                // SAFETY: every 64-bit ARM machine has the instructions.
                unsafe { $largest(a) }
            }
            #[inline(always)]
            unsafe fn compress(self, mask: u32, value: $vector, to: *mut $float) {
                // SAFETY: the caller ensures room for a vector.
                unsafe { $compress(mask, value, to) }
            }
        }
    };
}

/// A bit per lane.
#[inline(always)]
fn bits_of_four() -> uint32x4_t {
    // SAFETY: an array of four numbers is a vector of four.
    unsafe { std::mem::transmute([1_u32, 2, 4, 8]) }
}

/// A bit per lane.
#[inline(always)]
fn bits_of_two() -> uint64x2_t {
    // SAFETY: an array of two numbers is a vector of two.
    unsafe { std::mem::transmute([1_u64, 2]) }
}

/// Bytes of the lanes of each mask, in order; the rest reads as zero.
const BYTES: [[u8; 16]; 16] = {
    let (mut table, mut mask) = ([[0xff; 16]; 16], 0);
    while mask < 16 {
        let (mut lane, mut at) = (0, 0);
        while lane < 4 {
            if mask >> lane & 1 == 1 {
                let mut byte = 0;
                while byte < 4 {
                    table[mask][at] = (4 * lane + byte) as u8;
                    (byte, at) = (byte + 1, at + 1);
                }
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// # Safety
/// `to` must be writable for four numbers.
#[inline(always)]
unsafe fn compress_four(mask: u32, value: float32x4_t, to: *mut f32) {
    // SAFETY: a row of the table has 16 bytes; the caller ensures room for a vector.
    unsafe {
        let places = vld1q_u8(BYTES[(mask & 15) as usize].as_ptr());
        let packed = vqtbl1q_u8(vreinterpretq_u8_f32(value), places);
        vst1q_f32(to, vreinterpretq_f32_u8(packed));
    }
}

/// # Safety
/// `to` must be writable for two numbers.
#[inline(always)]
unsafe fn compress_two(mask: u32, value: float64x2_t, to: *mut f64) {
    // SAFETY: the second number goes to the first or second place; the caller ensures room for both.
    unsafe {
        to.write(vgetq_lane_f64::<0>(value));
        to.add((mask & 1) as usize).write(vgetq_lane_f64::<1>(value));
    }
}

neon!(
    NeonF32,
    f32,
    float32x4_t,
    4,
    vdupq_n_f32,
    vld1q_f32,
    vst1q_f32,
    vaddq_f32,
    vsubq_f32,
    vmulq_f32,
    vminnmq_f32,
    vmaxnmq_f32,
    vcltq_f32,
    vcleq_f32,
    vceqq_f32,
    vbslq_f32,
    vmaxnmvq_f32,
    vandq_u32,
    vaddvq_u32,
    bits_of_four,
    compress_four
);
neon!(
    NeonF64,
    f64,
    float64x2_t,
    2,
    vdupq_n_f64,
    vld1q_f64,
    vst1q_f64,
    vaddq_f64,
    vsubq_f64,
    vmulq_f64,
    vminnmq_f64,
    vmaxnmq_f64,
    vcltq_f64,
    vcleq_f64,
    vceqq_f64,
    vbslq_f64,
    vmaxnmvq_f64,
    vandq_u64,
    vaddvq_u64,
    bits_of_two,
    compress_two
);
