//! Instruction sets: one small vector trait, one file for each set, chosen here at run time.
//!
//! An algorithm is written once, as a [`Kernel`] over [`Simd`]. [`dispatch`] is the only place
//! that picks a set; each set's `vectorize` is the only place that compiles for it.

#![allow(unreachable_pub, reason = "`Sets` is a supertrait of the public `Scalar`")]

#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::{Error, Level};

#[cfg(target_arch = "aarch64")]
use neon::{NeonF32, NeonF64};
use portable::{PortableF32, PortableF64};
#[cfg(target_arch = "x86_64")]
use x86::{Avx2F32, Avx2F64, Avx512F32, Avx512F64};

/// A vector instruction set for numbers of type `T`. A value of the type is proof that this
/// machine has the set.
///
/// Every operation rounds once, as IEEE 754 says; none fuses. Operands are never NaN.
pub trait Simd<T>: Copy + Send + Sync + 'static {
    /// Number of lanes of a vector.
    const LANES: usize;
    /// Vector type.
    type V: Copy;

    /// Creates the proof.
    ///
    /// # Safety
    /// The machine must have the instruction set.
    unsafe fn new_unchecked() -> Self;

    /// Runs a kernel compiled for this set.
    fn vectorize<K: Kernel<T>>(self, kernel: K) -> K::Output;

    /// Returns a vector with the same number in every lane.
    fn splat(self, value: T) -> Self::V;
    /// Loads `LANES` numbers.
    ///
    /// # Safety
    /// `from` must be readable for `LANES` numbers.
    unsafe fn load(self, from: *const T) -> Self::V;
    /// Stores `LANES` numbers.
    ///
    /// # Safety
    /// `to` must be writable for `LANES` numbers.
    unsafe fn store(self, to: *mut T, value: Self::V);
    /// Prefetches the cache line at `from`, which need not be readable.
    #[inline(always)]
    fn prefetch(self, from: *const u8) {
        let _ = from;
    }
    /// Returns `a + b`.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a - b`.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a * b`.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the smaller, lane by lane.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the larger, lane by lane.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the mask of lanes where `a < b`, lane 0 in bit 0.
    fn lt(self, a: Self::V, b: Self::V) -> u32;
    /// Returns the mask of lanes where `a <= b`.
    fn le(self, a: Self::V, b: Self::V) -> u32;
    /// Returns `counts` with 1 added in lanes where `a < b`.
    fn count_lt(self, counts: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `a` and `b`, with `to_a` and `to_b` in lanes where `a < to_a`.
    fn replace_lt(self, a: Self::V, b: Self::V, to_a: Self::V, to_b: Self::V)
    -> (Self::V, Self::V);
    /// Returns the mask of lanes where `a == b`.
    fn eq(self, a: Self::V, b: Self::V) -> u32;
    /// Returns the largest lane.
    fn largest(self, a: Self::V) -> T;
    /// Writes the lanes of `mask` one after another; the rest of the vector is overwritten.
    ///
    /// # Safety
    /// `to` must be writable for `LANES` numbers.
    unsafe fn compress(self, mask: u32, value: Self::V, to: *mut T);
}

/// Code to be compiled for each instruction set. Mark `run` `#[inline(always)]`, and everything it
/// calls with a `Simd`, or the set's instructions become function calls.
pub trait Kernel<T> {
    /// Result of the kernel.
    type Output;
    /// Runs the kernel.
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output;
}

/// A whole run, generic over the instruction set its kernels use.
pub(crate) trait Program<T> {
    type Output;
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output;
}

/// Implementations of each instruction set for numbers of one precision.
pub trait Sets: Copy + Send + Sync + 'static {
    /// Arrays that the compiler vectorizes.
    type Portable: Simd<Self>;
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    type Neon: Simd<Self>;
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Simd<Self>;
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Simd<Self>;
}

impl Sets for f32 {
    type Portable = PortableF32;
    #[cfg(target_arch = "aarch64")]
    type Neon = NeonF32;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = Avx2F32;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = Avx512F32;
}

impl Sets for f64 {
    type Portable = PortableF64;
    #[cfg(target_arch = "aarch64")]
    type Neon = NeonF64;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = Avx2F64;
    #[cfg(target_arch = "x86_64")]
    type Avx512 = Avx512F64;
}

/// Returns the level that is set, or the best one.
pub(crate) fn choose(requested: Option<Level>) -> Result<Level, Error> {
    match requested {
        Some(level) if !level.is_available() => Err(Error::LevelUnavailable(level)),
        Some(level) => Ok(level),
        None => Ok(Level::detect()),
    }
}

/// Runs `program` with the kernels of `level`.
pub(crate) fn dispatch<T: Sets, P: Program<T>>(level: Level, program: P) -> P::Output {
    assert!(level.is_available(), "{level} was not checked");
    // SAFETY: the assertion above; the portable set needs nothing.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => program.run(T::Avx512::new_unchecked()),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => program.run(T::Avx2::new_unchecked()),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => program.run(T::Neon::new_unchecked()),
            _ => program.run(T::Portable::new_unchecked()),
        }
    }
}
