//! Types of values: representation in memory, and type of the computation.

use farpoint_cuda::{CudaScalar, Element, ValueKind};
use std::fmt::Debug;

/// A type of values.
pub(super) trait Number: Send + Sync + 'static {
    /// Type of the computation.
    type Wide: CudaScalar;
    /// Type in memory.
    type Raw: Element + PartialEq + Debug;
    const KIND: ValueKind;
    const NAME: &'static str;

    fn raw(wide: Self::Wide) -> Self::Raw;
    fn wide(raw: Self::Raw) -> Self::Wide;

    fn raws(wide: &[Self::Wide]) -> Vec<Self::Raw> {
        wide.iter().map(|&number| Self::raw(number)).collect()
    }

    fn wides(raw: &[Self::Raw]) -> Vec<Self::Wide> {
        raw.iter().map(|&number| Self::wide(number)).collect()
    }

    /// Compares bits; all NaNs are equal.
    fn same(label: &str, found: &[Self::Raw], truth: &[Self::Raw]) -> Result<(), String> {
        if found.len() != truth.len() {
            return Err(format!("{label}: {} numbers, not {}", found.len(), truth.len()));
        }
        let nan = |raw: Self::Raw| {
            let wide = Self::wide(raw);
            wide.partial_cmp(&wide).is_none()
        };
        // By bits, as 0 equals -0.
        let bits = |raw: Self::Raw| farpoint::Scalar::to_f64(Self::wide(raw)).to_bits();
        let differs =
            |(&a, &b): (&Self::Raw, &Self::Raw)| bits(a) != bits(b) && !(nan(a) && nan(b));
        match found.iter().zip(truth).position(differs) {
            None => Ok(()),
            Some(at) => {
                let (a, b) = (Self::wide(found[at]), Self::wide(truth[at]));
                Err(format!("{label}: number {at} of {} is {a}, not {b}", truth.len()))
            }
        }
    }
}

macro_rules! itself {
    ($name:ident, $number:ty, $kind:ident) => {
        pub(super) struct $name;

        impl Number for $name {
            type Wide = $number;
            type Raw = $number;
            const KIND: ValueKind = ValueKind::$kind;
            const NAME: &'static str = stringify!($number);

            fn raw(wide: $number) -> $number {
                wide
            }
            fn wide(raw: $number) -> $number {
                raw
            }
        }
    };
}
itself!(Single, f32, F32);
itself!(Double, f64, F64);

pub(super) struct Half;
pub(super) struct Bfloat;

impl Number for Half {
    type Wide = f32;
    type Raw = u16;
    const KIND: ValueKind = ValueKind::F16;
    const NAME: &'static str = "f16";

    fn raw(wide: f32) -> u16 {
        let sign = (wide.to_bits() >> 16 & 0x8000) as u16;
        let size = wide.abs();
        if wide.is_nan() {
            return 0x7fff;
        }
        if size >= 65_520.0 {
            return sign | 0x7c00;
        }
        // Below 2^-14 steps are 2^-24; above, 2^-10 of the power of two. A multiple of the step is found by adding a
        // number that makes it the last bit.
        let exponent = (size.to_bits() >> 23).max(127 - 14) as i32 - 127;
        let step = f64::from(exponent - 10).exp2();
        let steps = (f64::from(size) / step).round_ties_even() as u32;
        let above = (exponent + 14) as u32;
        sign | (above * 1024 + steps) as u16
    }

    fn wide(raw: u16) -> f32 {
        let (exponent, fraction) = (i32::from(raw >> 10 & 31), f32::from(raw & 1023));
        let size = match exponent {
            31 if fraction == 0.0 => f32::INFINITY,
            31 => f32::NAN,
            0 => fraction * (-24f32).exp2(),
            _ => (1024.0 + fraction) * (exponent as f32 - 25.0).exp2(),
        };
        if raw >> 15 == 1 { -size } else { size }
    }
}

impl Number for Bfloat {
    type Wide = f32;
    type Raw = u16;
    const KIND: ValueKind = ValueKind::Bf16;
    const NAME: &'static str = "bf16";

    fn raw(wide: f32) -> u16 {
        let bits = wide.to_bits();
        let (upper, lower) = ((bits >> 16) as u16, bits & 0xffff);
        if wide.is_nan() {
            return 0x7fc0;
        }
        upper + u16::from(lower > 0x8000 || (lower == 0x8000 && upper & 1 == 1))
    }

    fn wide(raw: u16) -> f32 {
        f32::from_bits(u32::from(raw) << 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_comes_back() {
        for raw in 0..=u16::MAX {
            let (half, bfloat) = (Half::wide(raw), Bfloat::wide(raw));
            assert!(half.is_nan() || Half::raw(half) == raw, "{raw:#x}: {half}");
            assert!(bfloat.is_nan() || Bfloat::raw(bfloat) == raw, "{raw:#x}: {bfloat}");
        }
    }

    #[test]
    fn halves_are_rounded_to_nearest_even() {
        let half = |x: f32| Half::wide(Half::raw(x));
        assert_eq!([half(2049.0), half(2051.0), half(0.1)], [2048.0, 2052.0, 0.099_975_586]);
        assert_eq!([half(65_519.0), half(65_520.0)], [65_504.0, f32::INFINITY]);
        assert_eq!([half(3e-8), half(2.9e-8), half(8.9e-8)], [5.960_464_5e-8, 0.0, 5.960_464_5e-8]);
        assert_eq!(Half::raw(-0.0), 0x8000);
        let bfloat = |x: f32| Bfloat::wide(Bfloat::raw(x));
        assert_eq!(
            [bfloat(257.0), bfloat(259.0), bfloat(1e39f64 as f32)],
            [256.0, 260.0, f32::INFINITY]
        );
    }
}
