//! Measures as a job, with threads and an observer.

use super::quality::{Coverage, Quality, covered, different_places, different_rows, rows};
use super::{SMALL, Spacing, check, spaced};
use crate::cloud::WorkingCopy;
use crate::memory;
use crate::neighbors::run::{chamfer_watched, nearest_watched};
use crate::scalar::compiled_once;
use crate::threads::{self, on_threads};
use crate::unwind::caught;
use crate::watch::Watch;
use crate::{Cpu, Error, Nearest, NonFinite, On, Points, Scalar};

/// The measures as a job: the functions of [`crate::measure`] are methods of it [`On`] a [`Cpu`].
///
/// ```
/// use farpoint::Cpu;
/// use farpoint::measure::Measure;
///
/// let line: Vec<[f32; 1]> = (0..10).map(|i| [i as f32]).collect();
/// let quality = Measure.on(&Cpu::new().threads(2)).quality(&line, &[0, 5])?;
/// assert_eq!(quality.coverage.max, 4.0);
/// # Ok::<(), farpoint::Error>(())
/// ```
///
/// Progress counts points and samples whose nearest sample was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measure;

impl Measure {
    /// Measures on the threads and with the instruction set of `cpu`, which never change a result.
    pub fn on<'a>(&'a self, cpu: &'a Cpu) -> On<'a, Self, Cpu> {
        On::new(self, cpu)
    }
}

impl On<'_, Measure, Cpu> {
    /// Like [`crate::measure::covering_radius`].
    ///
    /// # Errors
    /// Same as [`crate::measure::covering_radius`].
    pub fn covering_radius<T: Scalar, P: Points<T> + ?Sized>(
        self,
        points: &P,
        sample: &[usize],
    ) -> Result<T, Error> {
        self.run(points.len(), points.len(), |measurement| {
            let rows = rows(&points, sample)?;
            Ok(measurement.nearest(&points, &rows)?.max_distance())
        })
    }

    /// Like [`crate::measure::coverage`].
    ///
    /// # Errors
    /// Same as [`crate::measure::coverage`].
    pub fn coverage<T: Scalar, P: Points<T> + ?Sized>(
        self,
        points: &P,
        sample: &[usize],
    ) -> Result<Coverage, Error> {
        self.coverage_of(points, &caught(|| rows(&points, sample))?)
    }

    /// Like [`crate::measure::coverage_of`].
    ///
    /// # Errors
    /// Same as [`crate::measure::coverage_of`].
    pub fn coverage_of<T: Scalar, P: Points<T> + ?Sized, S: Points<T> + ?Sized>(
        self,
        points: &P,
        sample: &S,
    ) -> Result<Coverage, Error> {
        self.run(points.len(), points.len(), |measurement| {
            Ok(covered(&measurement.nearest(&points, &sample)?, measurement.threads))
        })
    }

    /// Like [`crate::measure::spacing()`].
    ///
    /// # Errors
    /// Same as [`crate::measure::spacing()`].
    pub fn spacing<T: Scalar, P: Points<T> + ?Sized>(
        self,
        points: &P,
        sample: &[usize],
    ) -> Result<Spacing, Error> {
        self.run(sample.len(), sample.len(), |measurement| measurement.spacing(&points, sample))
    }

    /// Like [`crate::measure::spacing_of`].
    ///
    /// # Errors
    /// Same as [`crate::measure::spacing_of`].
    pub fn spacing_of<T: Scalar, S: Points<T> + ?Sized>(
        self,
        sample: &S,
    ) -> Result<Spacing, Error> {
        self.run(sample.len(), sample.len(), |measurement| measurement.spacing_of(&sample))
    }

    /// Like [`crate::measure::quality()`].
    ///
    /// # Errors
    /// Same as [`crate::measure::quality()`].
    pub fn quality<T: Scalar, P: Points<T> + ?Sized>(
        self,
        points: &P,
        sample: &[usize],
    ) -> Result<Quality, Error> {
        let samples = sample.len();
        self.run(points.len(), points.len().saturating_add(samples), |measurement| {
            let rows = rows(&points, sample)?;
            let nearest = measurement.nearest(&points, &rows)?;
            let several = samples > 1;
            Ok(Quality {
                points: points.len(),
                samples,
                unique: different_rows(sample) as f64 / samples as f64,
                coverage: covered(&nearest, measurement.threads),
                spacing: several.then(|| measurement.spacing(&points, sample)).transpose()?,
                chamfer: nearest.mean(),
            })
        })
    }

    /// Like [`crate::measure::quality_of`].
    ///
    /// # Errors
    /// Same as [`crate::measure::quality_of`].
    pub fn quality_of<T: Scalar, P: Points<T> + ?Sized, S: Points<T> + ?Sized>(
        self,
        points: &P,
        sample: &S,
    ) -> Result<Quality, Error> {
        let samples = sample.len();
        let total = points.len().saturating_add(samples.saturating_mul(2));
        self.run(points.len().max(samples), total, |measurement| {
            let chamfer = chamfer_watched(&measurement.cpu, &points, &sample, &measurement.watch)?;
            let several = samples > 1;
            Ok(Quality {
                points: points.len(),
                samples,
                unique: different_places(&sample) as f64 / samples as f64,
                coverage: covered(&chamfer.a_to_b, measurement.threads),
                spacing: several.then(|| measurement.spacing_of(&sample)).transpose()?,
                chamfer: chamfer.sum(),
            })
        })
    }

    /// Does the work on the threads of the device, on one if there are few points; an observer's total is
    /// `total`.
    fn run<R: Send>(
        self,
        points: usize,
        total: usize,
        work: impl FnOnce(&Measurement<'_>) -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        let large = points >= SMALL;
        let allowed = threads::count_for(large, self.device.threads)?;
        let threads = if large { allowed } else { 1 };
        let watch = Watch::new(self.observer, total);
        let measurement = Measurement { cpu: self.device.threads(threads), threads, watch };
        caught(|| on_threads(threads, || work(&measurement)))
    }
}

/// A measurement in progress.
struct Measurement<'a> {
    cpu: Cpu,
    threads: usize,
    watch: Watch<'a>,
}

impl Measurement<'_> {
    /// Returns the nearest sample of each point; the error does not speak of two clouds.
    fn nearest<T: Scalar>(
        &self,
        points: &dyn Points<T>,
        sample: &dyn Points<T>,
    ) -> Result<Nearest<T>, Error> {
        nearest_watched(&self.cpu, points, sample, &self.watch).map_err(|error| match error {
            Error::InPair { source, .. } => *source,
            error => error,
        })
    }

    fn spacing<T: Scalar>(
        &self,
        points: &dyn Points<T>,
        sample: &[usize],
    ) -> Result<Spacing, Error> {
        spacing(points, Some(sample), self.threads, &self.watch)
    }

    fn spacing_of<T: Scalar>(&self, sample: &dyn Points<T>) -> Result<Spacing, Error> {
        spacing(sample, None, self.threads, &self.watch)
    }
}

compiled_once! {
    /// Measures the spacing of a sample of a cloud, or of the whole cloud.
    fn spacing<'a, 'b: 'a, T: Scalar>(
        points: &'a dyn Points<T>,
        sample: Option<&'a [usize]>,
        threads: usize,
        watch: &'a Watch<'b>,
    ) -> Result<Spacing, Error> {
        let (cloud, sample) = match sample {
            Some(sample) => check(points, sample, threads)?,
            None if points.len() < 2 => {
                return Err(Error::TooFewSamples { samples: points.len(), needed: 2 });
            }
            None => {
                let cloud = WorkingCopy::new(points, NonFinite::Error, threads)?;
                let all = memory::collected(0..cloud.len as u32);
                (cloud, all)
            }
        };
        spaced(&cloud, &sample, threads, watch)
    }
}
