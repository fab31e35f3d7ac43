//! Instruction sets: one small vector trait, one file for each set, chosen here at run time.
//!
//! An algorithm is written once, as a [`Kernel`] over [`Simd`]. [`dispatch`] is the only place
//! that picks a set; each set's `vectorize` is the only place that compiles for it.

#![allow(unreachable_pub, reason = "the sets are associated types of the public `Scalar`")]

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::parse::{ParseError, by_name};
use crate::{Error, Scalar};
use std::fmt;
use std::str::FromStr;

pub use portable::{PortableF32, PortableF64};
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2F32, Avx2F64, Avx512F32, Avx512F64};

/// A vector instruction set for numbers of type `T`. A value of the type is proof that this
/// machine has the set.
///
/// Every operation rounds once, as IEEE 754 says; none fuses. Operands are never NaN.
pub trait Simd<T>: Copy + Send + Sync + 'static {
    /// Numbers in a vector.
    const LANES: usize;
    /// A vector.
    type V: Copy;

    /// Makes the proof.
    ///
    /// # Safety
    /// The machine must have the instruction set.
    unsafe fn new_unchecked() -> Self;

    /// Runs a kernel compiled for this set.
    fn vectorize<K: Kernel<T>>(self, kernel: K) -> K::Output;

    /// The same number in every lane.
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
    /// Asks for the cache line at `from`, which need not be readable.
    #[inline(always)]
    fn prefetch(self, from: *const u8) {
        let _ = from;
    }
    /// `a + b`
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b`
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b`
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// The smaller.
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    /// The larger.
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    /// Lanes where `a < b`, lane 0 in bit 0.
    fn lt(self, a: Self::V, b: Self::V) -> u32;
    /// Lanes where `a <= b`.
    fn le(self, a: Self::V, b: Self::V) -> u32;
    /// Lanes where `a == b`.
    fn eq(self, a: Self::V, b: Self::V) -> u32;
    /// The largest lane.
    fn largest(self, a: Self::V) -> T;
    /// Writes the lanes of `mask` one after another; what follows them is overwritten.
    ///
    /// # Safety
    /// `to` must be writable for `LANES` numbers.
    unsafe fn compress(self, mask: u32, value: Self::V, to: *mut T);
}

/// A piece of code to be compiled for each instruction set. Mark `run` `#[inline(always)]`,
/// and everything it calls with a `Simd`, or the set's instructions become function calls.
pub trait Kernel<T> {
    /// What it returns.
    type Output;
    /// The code.
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output;
}

/// A whole run, generic over the instruction set its kernels use.
pub(crate) trait Program<T> {
    type Output;
    fn run<S: Simd<T>>(self, simd: S) -> Self::Output;
}

/// An instruction set by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Fixed-width arrays that the compiler vectorizes for the target's baseline (SSE2, NEON).
    Portable,
    /// AVX2, 256 bits.
    Avx2,
    /// AVX-512 (F, BW, DQ, VL), 512 bits.
    Avx512,
}

impl Level {
    /// The best of this machine.
    pub fn detect() -> Self {
        Self::available().last().copied().unwrap_or(Self::Portable)
    }

    /// All that this machine has, the best last.
    pub fn available() -> Vec<Self> {
        let all = [Self::Portable, Self::Avx2, Self::Avx512];
        all.into_iter().filter(|level| level.is_available()).collect()
    }

    fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Portable => true,
            Self::Avx2 => x86::has_avx2(),
            Self::Avx512 => x86::has_avx512(),
        }
        #[cfg(not(target_arch = "x86_64"))]
        matches!(self, Self::Portable)
    }

    /// Its name on the command line and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = ParseError;

    fn from_str(name: &str) -> Result<Self, ParseError> {
        let all = [Self::Portable, Self::Avx2, Self::Avx512];
        by_name("instruction set", &all, Self::name, name)
    }
}

/// The level that is set, or the best one.
pub(crate) fn choose(wanted: Option<Level>) -> Result<Level, Error> {
    match wanted {
        Some(level) if !level.is_available() => Err(Error::LevelUnavailable(level)),
        Some(level) => Ok(level),
        None => Ok(Level::detect()),
    }
}

/// Runs `program` with the kernels of `level`.
pub(crate) fn dispatch<T: Scalar, P: Program<T>>(level: Level, program: P) -> P::Output {
    assert!(level.is_available(), "{level} was not checked");
    // SAFETY: the assertion above; the portable set needs nothing.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => program.run(T::Avx512::new_unchecked()),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => program.run(T::Avx2::new_unchecked()),
            _ => program.run(T::Portable::new_unchecked()),
        }
    }
}
