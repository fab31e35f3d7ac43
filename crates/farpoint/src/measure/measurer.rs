//! The interface: on which threads measures are taken, and who observes the progress.

use super::quality::{Coverage, Quality, covered, different_places, different_rows, rows};
use super::{SMALL, Spacing, check, spaced};
use crate::cloud::Cloud;
use crate::memory;
use crate::neighbors::run::{chamfer, nearest_watched};
use crate::scalar::compiled_once;
use crate::threads::{self, on_threads};
use crate::unwind::caught;
use crate::watch::Watch;
use crate::{BadRows, Cpu, Error, Matcher, Nearest, Observer, Points, Scalar};

/// How measures are taken. The functions of [`crate::measure`] are its methods on all threads.
///
/// ```
/// use farpoint::Cpu;
/// use farpoint::measure::Measure;
///
/// let line: Vec<[f32; 1]> = (0..10).map(|i| [i as f32]).collect();
/// let quality = Measure::on(Cpu::new().threads(2)).quality(&line, &[0, 5])?;
/// assert_eq!(quality.coverage.max, 4.0);
/// # Ok::<(), farpoint::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measure {
    cpu: Cpu,
}

impl Measure {
    /// On all threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// On the threads and with the instruction set of `cpu`, which never change a result.
    pub fn on(cpu: Cpu) -> Self {
        Self { cpu }
    }

    /// As [`crate::measure::covering_radius`].
    ///
    /// # Errors
    /// As there.
    pub fn covering_radius<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
        sample: &[usize],
    ) -> Result<T, Error> {
        self.run(points.len(), Watch::off(), |taking| {
            let rows = rows(&points, sample)?;
            Ok(taking.nearest(&points, &rows)?.max_distance())
        })
    }

    /// As [`crate::measure::coverage`].
    ///
    /// # Errors
    /// As there.
    pub fn coverage<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
        sample: &[usize],
    ) -> Result<Coverage, Error> {
        self.coverage_of(points, &caught(|| rows(&points, sample))?)
    }

    /// As [`crate::measure::coverage_of`].
    ///
    /// # Errors
    /// As there.
    pub fn coverage_of<T: Scalar, P: Points<T> + ?Sized, S: Points<T> + ?Sized>(
        &self,
        points: &P,
        sample: &S,
    ) -> Result<Coverage, Error> {
        self.run(points.len(), Watch::off(), |taking| {
            Ok(covered(&taking.nearest(&points, &sample)?, taking.threads))
        })
    }

    /// As [`crate::measure::spacing()`].
    ///
    /// # Errors
    /// As there.
    pub fn spacing<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
        sample: &[usize],
    ) -> Result<Spacing, Error> {
        self.run(sample.len(), Watch::off(), |taking| taking.spacing(&points, sample))
    }

    /// As [`crate::measure::spacing_of`].
    ///
    /// # Errors
    /// As there.
    pub fn spacing_of<T: Scalar, S: Points<T> + ?Sized>(
        &self,
        sample: &S,
    ) -> Result<Spacing, Error> {
        self.run(sample.len(), Watch::off(), |taking| taking.spacing_of(&sample))
    }

    /// As [`crate::measure::quality()`].
    ///
    /// # Errors
    /// As there.
    pub fn quality<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
        sample: &[usize],
    ) -> Result<Quality, Error> {
        self.quality_watched(points, sample, Watch::off())
    }

    /// [`Measure::quality`] that reports progress to `observer`, which can cancel the run: `samples` are points and samples whose nearest sample was found, and `wanted` is
    /// their number in the end; there is no covering radius, which is infinite.
    ///
    /// # Errors
    /// As [`Measure::quality`], and [`Error::SearchCancelled`].
    pub fn quality_with<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
        sample: &[usize],
        observer: Observer<'_>,
    ) -> Result<Quality, Error> {
        let wanted = points.len().saturating_add(sample.len());
        self.quality_watched(points, sample, Watch::new(Some(observer), wanted))
    }

    fn quality_watched<T: Scalar, P: Points<T> + ?Sized>(
        &self,
        points: &P,
        sample: &[usize],
        watch: Watch<'_>,
    ) -> Result<Quality, Error> {
        let samples = sample.len();
        self.run(points.len(), watch, |taking| {
            let rows = rows(&points, sample)?;
            let nearest = taking.nearest(&points, &rows)?;
            let several = samples > 1;
            Ok(Quality {
                points: points.len(),
                samples,
                unique: different_rows(sample) as f64 / samples as f64,
                coverage: covered(&nearest, taking.threads),
                spacing: several.then(|| taking.spacing(&points, sample)).transpose()?,
                chamfer: nearest.mean(),
            })
        })
    }

    /// As [`crate::measure::quality_of`].
    ///
    /// # Errors
    /// As there.
    pub fn quality_of<T: Scalar, P: Points<T> + ?Sized, S: Points<T> + ?Sized>(
        &self,
        points: &P,
        sample: &S,
    ) -> Result<Quality, Error> {
        let samples = sample.len();
        self.run(points.len().max(samples), Watch::off(), |taking| {
            let chamfer = chamfer(&taking.cpu, &Matcher::new(), &points, &sample, None)?;
            let several = samples > 1;
            Ok(Quality {
                points: points.len(),
                samples,
                unique: different_places(&sample) as f64 / samples as f64,
                coverage: covered(&chamfer.a_to_b, taking.threads),
                spacing: several.then(|| taking.spacing_of(&sample)).transpose()?,
                chamfer: chamfer.sum(),
            })
        })
    }

    /// Does the work on the threads of the device, on one if there are few points.
    fn run<R: Send>(
        &self,
        points: usize,
        watch: Watch<'_>,
        work: impl FnOnce(&Taking<'_>) -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        let large = points >= SMALL;
        let wanted = threads::count_for(large, self.cpu.threads)?;
        let threads = if large { wanted } else { 1 };
        let taking = Taking { cpu: self.cpu.threads(threads), threads, watch };
        caught(|| on_threads(threads, || work(&taking)))
    }
}

/// Measures being taken.
struct Taking<'a> {
    cpu: Cpu,
    threads: usize,
    watch: Watch<'a>,
}

impl Taking<'_> {
    /// The nearest sample of each point; the error does not speak of two clouds.
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
                return Err(Error::TooFewSamples { given: points.len(), needed: 2 });
            }
            None => {
                let cloud = Cloud::new(points, BadRows::Error, threads)?;
                let all = memory::collected(0..cloud.len as u32);
                (cloud, all)
            }
        };
        spaced(&cloud, &sample, threads, watch)
    }
}
