//! Pairs of clouds, one or many.

use crate::arguments::list;
use crate::points::{InputPoints, farpoint_points, precision_of, read_all};
use crate::run::{Number, Precision};
use crate::status::Failure;
use farpoint::Observer;

/// The clouds of pairs.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'a> {
    a: &'a [farpoint_points],
    b: &'a [farpoint_points],
    /// Set for a single pair that is no batch.
    single: bool,
}

/// Returns pairs of counted clouds.
///
/// # Safety
/// There are as many clouds on either side as counted, which nobody writes for as long as `'a`.
///
/// # Errors
/// If an address is NULL.
pub(crate) unsafe fn pairs<'a>(
    a: *const farpoint_points,
    b: *const farpoint_points,
    count: usize,
) -> Result<Pairs<'a>, Failure> {
    // SAFETY: by this function's contract.
    let (a, b) =
        unsafe { (list(a, count, "the first clouds")?, list(b, count, "the second clouds")?) };
    Ok(Pairs { a, b, single: false })
}

impl<'a> Pairs<'a> {
    /// Returns a single pair.
    pub(crate) fn single(a: &'a farpoint_points, b: &'a farpoint_points) -> Self {
        Self { a: std::slice::from_ref(a), b: std::slice::from_ref(b), single: true }
    }

    /// Returns the common precision of all clouds.
    pub(crate) fn precision(&self) -> Result<Precision, Failure> {
        let precision = precision_of(self.a)?;
        precision_of(self.b)?;
        if let Some(b) = self.b.first() {
            precision.expect(b.precision()?, "the second cloud")?;
        }
        Ok(precision)
    }

    /// Reads the clouds of both sides.
    ///
    /// # Safety
    /// As for `farpoint_points::read`.
    ///
    /// # Errors
    /// Same as `farpoint_points::read`; the message names the cloud.
    pub(crate) unsafe fn read<T: Number>(&self) -> Result<[Vec<InputPoints<'a, T>>; 2], Failure> {
        let read_side = |clouds: &'a [farpoint_points], which: &str| {
            let read = match (clouds, self.single) {
                // SAFETY: by this function's contract.
                ([cloud], true) => unsafe { cloud.read() }.map(|cloud| vec![cloud]),
                // SAFETY: by this function's contract.
                (clouds, _) => unsafe { read_all(clouds) },
            };
            read.map_err(|failure| failure.in_pair(which))
        };
        Ok([read_side(self.a, "first")?, read_side(self.b, "second")?])
    }

    /// Runs `one` for a single pair and `many` for a batch: only errors of a batch name the pair.
    pub(crate) fn run<T, R, E>(
        &self,
        [a, b]: &[Vec<InputPoints<'a, T>>; 2],
        observer: Option<Observer<'_>>,
        single: impl FnOnce([&InputPoints<'a, T>; 2], Option<Observer<'_>>) -> Result<R, E>,
        many: impl FnOnce([&[InputPoints<'a, T>]; 2], Option<Observer<'_>>) -> Result<Vec<R>, E>,
    ) -> Result<Vec<R>, E> {
        match (&a[..], &b[..]) {
            ([a], [b]) if self.single => single([a, b], observer).map(|result| vec![result]),
            (a, b) => many([a, b], observer),
        }
    }
}

/// Returns the result of the only pair.
pub(crate) fn only<R>(results: Result<Vec<R>, Failure>) -> Result<R, Failure> {
    results.map(|mut results| results.swap_remove(0))
}
