//! Run of a call: device, threads, non-finite rows and progress; and its precision, which is a number in
//! C and a type in the library.

use crate::arguments::lookup;
use crate::constants::*;
use crate::progress::Listener;
#[cfg(not(feature = "cuda"))]
use crate::status::unavailable;
use crate::status::{Failure, invalid};
use farpoint::{Cpu, NonFinite, Observer};
use std::mem::MaybeUninit;
use std::ptr;

#[cfg(not(feature = "cuda"))]
pub(crate) use farpoint::Scalar as Number;
#[cfg(feature = "cuda")]
pub(crate) use farpoint_cuda::CudaScalar as Number;

/// Run of a call.
pub(crate) struct Run {
    pub(crate) place: Place,
    pub(crate) non_finite: NonFinite,
    listener: Option<Listener>,
}

/// Device of a call.
pub(crate) enum Place {
    Cpu(Cpu),
    #[cfg(feature = "cuda")]
    Gpu(farpoint_cuda::Gpu),
}

impl Default for Run {
    /// Returns a run on all threads, without progress.
    fn default() -> Self {
        Self { place: Place::Cpu(Cpu::new()), non_finite: NonFinite::Error, listener: None }
    }
}

impl Run {
    pub(crate) fn new(place: Place, non_finite: NonFinite, listener: Option<Listener>) -> Self {
        Self { place, non_finite, listener }
    }

    /// Returns the CPU, or an error for GPUs: `what` runs on the CPU only.
    #[cfg_attr(not(feature = "cuda"), expect(unused_variables, reason = "there is but the CPU"))]
    pub(crate) fn cpu(&self, what: &str) -> Result<Cpu, Failure> {
        match &self.place {
            Place::Cpu(cpu) => Ok(*cpu),
            #[cfg(feature = "cuda")]
            Place::Gpu(_) => Err(invalid(format!("{what} on the CPU only; set device to the CPU"))),
        }
    }

    /// Does the work, which reports its progress to the listener, if there is one.
    pub(crate) fn observed<R>(self, work: impl FnOnce(&Place, Option<Observer<'_>>) -> R) -> R {
        match self.listener {
            None => work(&self.place, None),
            Some(mut listener) => {
                work(&self.place, Some(&mut |progress| listener.report(progress)))
            }
        }
    }
}

/// Runs an expression on a device of either kind, mapping its error to a `Failure`.
macro_rules! on_place {
    ($place:expr, $device:ident => $work:expr) => {
        match $place {
            $crate::run::Place::Cpu($device) => $work.map_err($crate::status::Failure::from),
            #[cfg(feature = "cuda")]
            $crate::run::Place::Gpu($device) => $work.map_err($crate::status::Failure::from),
        }
    };
}
pub(crate) use on_place;

/// Returns the GPU with this number.
///
/// # Errors
/// If there is none.
#[cfg(feature = "cuda")]
pub(crate) fn gpu(number: i32) -> Result<farpoint_cuda::Gpu, Failure> {
    let ordinal = usize::try_from(number)
        .map_err(|_| invalid(format!("device_number is {number}; GPUs are numbered from 0")))?;
    Ok(farpoint_cuda::Gpu::new(ordinal)?)
}

/// Returns the error of a library without CUDA.
#[cfg(not(feature = "cuda"))]
pub(crate) fn without_cuda() -> Failure {
    unavailable(
        "this library was built without CUDA; build it with the feature cuda, or CMake's option for CUDA",
    )
}

/// Type of the coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    Single,
    Double,
}

impl Precision {
    pub(crate) fn of(scalar: MaybeUninit<farpoint_scalar>) -> Result<Self, Failure> {
        let scalars = [(FARPOINT_FLOAT32, Self::Single), (FARPOINT_FLOAT64, Self::Double)];
        lookup(scalar, "scalar", &scalars)
    }

    pub(crate) fn scalar(self) -> farpoint_scalar {
        match self {
            Self::Single => FARPOINT_FLOAT32,
            Self::Double => FARPOINT_FLOAT64,
        }
    }

    /// Returns the precision of a type.
    pub(crate) fn of_type<T: Number>() -> Self {
        if size_of::<T>() == 4 { Self::Single } else { Self::Double }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Single => "float",
            Self::Double => "double",
        }
    }

    /// Refuses another precision.
    pub(crate) fn expect(self, other: Self, what: &str) -> Result<(), Failure> {
        if self == other {
            return Ok(());
        }
        let (this, that) = (self.name(), other.name());
        Err(invalid(format!("{what}: coordinates of type {that}, expected {this}")))
    }
}

/// A result in either precision.
#[derive(Debug)]
pub(crate) enum Either<A, B> {
    Single(A),
    Double(B),
}

/// Runs an expression in either precision, `$T` being the type.
macro_rules! in_precision {
    ($precision:expr, $T:ident => $work:expr) => {
        match $precision {
            $crate::run::Precision::Single => {
                type $T = f32;
                $crate::run::Either::Single($work)
            }
            $crate::run::Precision::Double => {
                type $T = f64;
                $crate::run::Either::Double($work)
            }
        }
    };
}
pub(crate) use in_precision;

/// Runs an expression on a result in either precision.
macro_rules! of_either {
    ($result:expr, $one:ident => $work:expr) => {
        match $result {
            $crate::run::Either::Single($one) => $work,
            $crate::run::Either::Double($one) => $work,
        }
    };
}
pub(crate) use of_either;

/// Makes a result in the precision of another.
macro_rules! in_its_precision {
    ($result:expr, $one:ident => $work:expr) => {
        match $result {
            $crate::run::Either::Single($one) => $crate::run::Either::Single($work),
            $crate::run::Either::Double($one) => $crate::run::Either::Double($work),
        }
    };
}
pub(crate) use in_its_precision;

impl Either<&[f32], &[f64]> {
    /// Returns the address of the numbers; NULL for the other precision.
    pub(crate) fn addresses(self) -> (*const f32, *const f64) {
        match self {
            Self::Single(numbers) => (numbers.as_ptr(), ptr::null()),
            Self::Double(numbers) => (ptr::null(), numbers.as_ptr()),
        }
    }
}

impl<A, B> Either<Vec<A>, Vec<B>> {
    /// Maps either, one by one.
    pub(crate) fn each<R>(self, a: impl FnMut(A) -> R, b: impl FnMut(B) -> R) -> Vec<R> {
        match self {
            Self::Single(all) => all.into_iter().map(a).collect(),
            Self::Double(all) => all.into_iter().map(b).collect(),
        }
    }
}
