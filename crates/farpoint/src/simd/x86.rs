//! AVX2 and AVX-512: the trait's operations named as intrinsics, nothing else.

use super::{Kernel, Simd};
use std::arch::x86_64::*;

macro_rules! x86 {
    (
        $name:ident, $float:ident, $vector:ident, $lanes:literal, $features:literal,
        $splat:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident,
        $min:ident, $max:ident, $compare:ident, $count:ident, $replace:ident, $largest:ident,
        $compress:ident
    ) => {
        /// One set for one precision.
        #[derive(Debug, Clone, Copy)]
        pub struct $name(());

        impl Simd<$float> for $name {
            const LANES: usize = $lanes;
            type V = $vector;

            #[inline(always)]
            unsafe fn new_unchecked() -> Self {
                Self(())
            }
            #[inline(always)]
            fn vectorize<K: Kernel<$float>>(self, kernel: K) -> K::Output {
                #[target_feature(enable = $features)]
                fn compiled<K: Kernel<$float>>(simd: $name, kernel: K) -> K::Output {
                    kernel.run(simd)
                }
                // SAFETY: the machine has the set's features, of which `self` is the proof.
                unsafe { compiled(self, kernel) }
            }
            #[inline(always)]
            fn splat(self, value: $float) -> $vector {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            unsafe fn load(self, from: *const $float) -> $vector {
                // SAFETY: the machine has the set, of which `self` is the proof; the caller ensures that
                // `LANES` numbers can be read.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $float, value: $vector) {
                // SAFETY: the machine has the set, of which `self` is the proof; the caller ensures that
                // `LANES` numbers can be written.
                unsafe { $store(to, value) }
            }
            #[inline(always)]
            fn prefetch(self, from: *const u8) {
                // SAFETY: the instruction is of every x86-64 machine, and reads nothing.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
            }
            #[inline(always)]
            fn add(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            fn sub(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { $sub(a, b) }
            }
            #[inline(always)]
            fn mul(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { $mul(a, b) }
            }
            #[inline(always)]
            fn min(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { $min(a, b) }
            }
            #[inline(always)]
            fn max(self, a: $vector, b: $vector) -> $vector {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { $max(a, b) }
            }
            #[inline(always)]
            fn lt(self, a: $vector, b: $vector) -> u32 {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { lanes::$compare::<_CMP_LT_OQ>(a, b) }
            }
            #[inline(always)]
            fn le(self, a: $vector, b: $vector) -> u32 {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { lanes::$compare::<_CMP_LE_OQ>(a, b) }
            }
            #[inline(always)]
            fn count_lt(self, counts: $vector, a: $vector, b: $vector) -> $vector {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { lanes::$count(counts, a, b) }
            }
            #[inline(always)]
            fn replace_lt(
                self,
                a: $vector,
                b: $vector,
                to_a: $vector,
                to_b: $vector,
            ) -> ($vector, $vector) {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { lanes::$replace(a, b, to_a, to_b) }
            }
            #[inline(always)]
            fn eq(self, a: $vector, b: $vector) -> u32 {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { lanes::$compare::<_CMP_EQ_OQ>(a, b) }
            }
            #[inline(always)]
            fn largest(self, a: $vector) -> $float {
                // SAFETY: the machine has the instruction, of which `self` is the proof.
                unsafe { lanes::$largest(a) }
            }
            #[inline(always)]
            unsafe fn compress(self, mask: u32, value: $vector, to: *mut $float) {
                // SAFETY: the machine has the set, of which `self` is the proof; the caller ensures that
                // `LANES` numbers can be written.
                unsafe { lanes::$compress(mask, value, to) }
            }
        }
    };
}

/// Comparisons as bit masks, the largest lane and others that the sets spell differently.
///
/// # Safety
/// (of each function) The machine must have the instruction set that the vector's type belongs to.
/// `to` must be writable for as many numbers as a vector has.
mod lanes {
    use std::arch::x86_64::*;

    #[inline(always)]
    pub(super) unsafe fn mask_f32x8<const OP: i32>(a: __m256, b: __m256) -> u32 {
        // SAFETY: the caller ensures that the machine has AVX2.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<OP>(a, b)) as u32 }
    }
    #[inline(always)]
    pub(super) unsafe fn mask_f64x4<const OP: i32>(a: __m256d, b: __m256d) -> u32 {
        // SAFETY: the caller ensures that the machine has AVX2.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<OP>(a, b)) as u32 }
    }
    #[inline(always)]
    pub(super) unsafe fn mask_f32x16<const OP: i32>(a: __m512, b: __m512) -> u32 {
        // SAFETY: the caller ensures that the machine has AVX-512.
        unsafe { u32::from(_mm512_cmp_ps_mask::<OP>(a, b)) }
    }
    #[inline(always)]
    pub(super) unsafe fn mask_f64x8<const OP: i32>(a: __m512d, b: __m512d) -> u32 {
        // SAFETY: the caller ensures that the machine has AVX-512.
        unsafe { u32::from(_mm512_cmp_pd_mask::<OP>(a, b)) }
    }
    #[inline(always)]
    pub(super) unsafe fn count_f32x8(counts: __m256, a: __m256, b: __m256) -> __m256 {
        // SAFETY: the caller ensures that the machine has AVX2.
        unsafe {
            let less = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
            _mm256_add_ps(counts, _mm256_and_ps(less, _mm256_set1_ps(1.0)))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn count_f64x4(counts: __m256d, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: the caller ensures that the machine has AVX2.
        unsafe {
            let less = _mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
            _mm256_add_pd(counts, _mm256_and_pd(less, _mm256_set1_pd(1.0)))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn count_f32x16(counts: __m512, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the caller ensures that the machine has AVX-512.
        unsafe {
            let less = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
            _mm512_mask_add_ps(counts, less, counts, _mm512_set1_ps(1.0))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn count_f64x8(counts: __m512d, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: the caller ensures that the machine has AVX-512.
        unsafe {
            let less = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
            _mm512_mask_add_pd(counts, less, counts, _mm512_set1_pd(1.0))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn replace_f32x8(
        a: __m256,
        b: __m256,
        to_a: __m256,
        to_b: __m256,
    ) -> (__m256, __m256) {
        // SAFETY: the caller ensures that the machine has AVX2.
        unsafe {
            let less = _mm256_cmp_ps::<_CMP_LT_OQ>(a, to_a);
            (_mm256_max_ps(a, to_a), _mm256_blendv_ps(b, to_b, less))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn replace_f64x4(
        a: __m256d,
        b: __m256d,
        to_a: __m256d,
        to_b: __m256d,
    ) -> (__m256d, __m256d) {
        // SAFETY: the caller ensures that the machine has AVX2.
        unsafe {
            let less = _mm256_cmp_pd::<_CMP_LT_OQ>(a, to_a);
            (_mm256_max_pd(a, to_a), _mm256_blendv_pd(b, to_b, less))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn replace_f32x16(
        a: __m512,
        b: __m512,
        to_a: __m512,
        to_b: __m512,
    ) -> (__m512, __m512) {
        // SAFETY: the caller ensures that the machine has AVX-512.
        unsafe {
            let less = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, to_a);
            (_mm512_max_ps(a, to_a), _mm512_mask_blend_ps(less, b, to_b))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn replace_f64x8(
        a: __m512d,
        b: __m512d,
        to_a: __m512d,
        to_b: __m512d,
    ) -> (__m512d, __m512d) {
        // SAFETY: the caller ensures that the machine has AVX-512.
        unsafe {
            let less = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, to_a);
            (_mm512_max_pd(a, to_a), _mm512_mask_blend_pd(less, b, to_b))
        }
    }
    /// Lanes one by one: AVX2 has no instruction for it.
    macro_rules! compress {
        ($name:ident, $float:ident, $vector:ident, $lanes:literal) => {
            #[inline(always)]
            pub(super) unsafe fn $name(mask: u32, value: $vector, to: *mut $float) {
                // SAFETY: a vector is as many numbers side by side.
                let value: [$float; $lanes] = unsafe { std::mem::transmute(value) };
                let mut count = 0;
                for (lane, value) in value.into_iter().enumerate() {
                    // SAFETY: `count` is at most `lane`, and the caller ensures room for a vector.
                    unsafe { to.add(count).write(value) };
                    count += (mask >> lane & 1) as usize;
                }
            }
        };
    }
    compress!(compress_f32x8, f32, __m256, 8);
    compress!(compress_f64x4, f64, __m256d, 4);
    // In a register and then stored: the form that stores is slow on some processors.
    #[inline(always)]
    pub(super) unsafe fn compress_f32x16(mask: u32, value: __m512, to: *mut f32) {
        // SAFETY: the caller ensures that the machine has AVX-512, and room for a vector.
        unsafe { _mm512_storeu_ps(to, _mm512_maskz_compress_ps(mask as __mmask16, value)) }
    }
    #[inline(always)]
    pub(super) unsafe fn compress_f64x8(mask: u32, value: __m512d, to: *mut f64) {
        // SAFETY: the caller ensures that the machine has AVX-512, and room for a vector.
        unsafe { _mm512_storeu_pd(to, _mm512_maskz_compress_pd(mask as __mmask8, value)) }
    }
    #[inline(always)]
    pub(super) unsafe fn largest_f32x8(a: __m256) -> f32 {
        // SAFETY: the caller ensures that the machine has AVX2.
        unsafe {
            let half = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let two = _mm_max_ps(half, _mm_movehl_ps(half, half));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn largest_f64x4(a: __m256d) -> f64 {
        // SAFETY: the caller ensures that the machine has AVX2.
        unsafe {
            let half = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_max_sd(half, _mm_unpackhi_pd(half, half)))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn largest_f32x16(a: __m512) -> f32 {
        // SAFETY: the caller ensures that the machine has AVX-512.
        unsafe {
            let upper = _mm512_extractf32x8_ps::<1>(a);
            largest_f32x8(_mm256_max_ps(_mm512_castps512_ps256(a), upper))
        }
    }
    #[inline(always)]
    pub(super) unsafe fn largest_f64x8(a: __m512d) -> f64 {
        // SAFETY: the caller ensures that the machine has AVX-512.
        unsafe {
            let upper = _mm512_extractf64x4_pd::<1>(a);
            largest_f64x4(_mm256_max_pd(_mm512_castpd512_pd256(a), upper))
        }
    }
}

x86!(
    Avx2F32,
    f32,
    __m256,
    8,
    "avx2,bmi1,bmi2,popcnt,lzcnt",
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps,
    _mm256_min_ps,
    _mm256_max_ps,
    mask_f32x8,
    count_f32x8,
    replace_f32x8,
    largest_f32x8,
    compress_f32x8
);
x86!(
    Avx2F64,
    f64,
    __m256d,
    4,
    "avx2,bmi1,bmi2,popcnt,lzcnt",
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_add_pd,
    _mm256_sub_pd,
    _mm256_mul_pd,
    _mm256_min_pd,
    _mm256_max_pd,
    mask_f64x4,
    count_f64x4,
    replace_f64x4,
    largest_f64x4,
    compress_f64x4
);
x86!(
    Avx512F32,
    f32,
    __m512,
    16,
    "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt",
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps,
    _mm512_min_ps,
    _mm512_max_ps,
    mask_f32x16,
    count_f32x16,
    replace_f32x16,
    largest_f32x16,
    compress_f32x16
);
x86!(
    Avx512F64,
    f64,
    __m512d,
    8,
    "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt",
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_add_pd,
    _mm512_sub_pd,
    _mm512_mul_pd,
    _mm512_min_pd,
    _mm512_max_pd,
    mask_f64x8,
    count_f64x8,
    replace_f64x8,
    largest_f64x8,
    compress_f64x8
);
