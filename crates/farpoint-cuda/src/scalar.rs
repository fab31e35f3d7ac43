//! Numbers of device memory, and the two precisions of the kernels.

/// `f32` or `f64`: the precisions of the kernels. Sealed.
pub trait CudaScalar: farpoint::Scalar + Element {
    /// Suffix of a kernel's name, and middle of its file's.
    #[doc(hidden)]
    const SUFFIX: &'static str;
    /// Returns the number with these bits, non-negative; the bits sort as the numbers do.
    #[doc(hidden)]
    fn from_ordered_bits(bits: u64) -> Self;
    /// Bits of infinity.
    #[doc(hidden)]
    const INFINITE_BITS: u64;
}

impl CudaScalar for f32 {
    const SUFFIX: &'static str = "f32";
    const INFINITE_BITS: u64 = 0x7f80_0000;

    fn from_ordered_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
}

impl CudaScalar for f64 {
    const SUFFIX: &'static str = "f64";
    const INFINITE_BITS: u64 = 0x7ff0_0000_0000_0000;

    fn from_ordered_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
}

/// Types with the same representation on host and device, valid for any bits.
pub trait Element: Copy + Default + Send + Sync + 'static + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! element {
    ($($number:ty),*) => { $(
        impl sealed::Sealed for $number {}
        impl Element for $number {}
    )* };
}
element!(f32, f64, u8, u16, u32, i32, u64, i64);
