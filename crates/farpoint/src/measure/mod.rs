//! Quality measures of samples (the paper's figures 2 and 3).
//!
//! * [`coverage`]: distances from the cloud to the sample, the largest of which is the
//!   [`covering_radius`];
//! * [`spacing`]: distances between samples;
//! * [`quality()`]: both, the Chamfer distance and the share of different points, in one go.
//!
//! Each takes row indices of the cloud, from any sampler; [`quality_of`] takes coordinates,
//! which need not be points of the cloud. Distances are computed as in sampling, in the input's
//! precision, and are not squared: their unit is that of the coordinates. Searches
//! through trees find exactly what trying all pairs would find, on all cores or, by
//! [`Measure`], on the threads of a [`crate::Cpu`]; results do not depend on them.

mod measurer;
mod quality;

pub use measurer::Measure;
pub use quality::{Coverage, Quality};

use self::quality::places;
use crate::cloud::WorkingCopy;
use crate::memory;
use crate::spatial::Neighbors;
use crate::watch::Watch;
use crate::{Cpu, Error, NonFinite, Points, Scalar, threads};

/// Distances from each sample to its nearest other sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Spacing {
    /// Mean over the samples.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// Clouds of fewer points are measured by one thread.
const SMALL: usize = 1 << 14;

/// Points per task of a thread.
const POINTS_A_JOB: usize = 1 << 10;

/// Points between two checks of the watch: with many axes each takes milliseconds.
const CHECK_EVERY: usize = 16;

/// Returns the largest distance of any point to its nearest sample, in the unit of the coordinates.
///
/// `sample` holds row indices. Works for any sample, not only those of this crate.
///
/// # Errors
/// If the sample is empty, an index is out of range, or rows are not finite.
///
/// ```
/// let line: Vec<[f32; 1]> = (0..10).map(|i| [i as f32]).collect();
/// assert_eq!(farpoint::measure::covering_radius(&line, &[0, 5])?, 4.0);
/// # Ok::<(), farpoint::Error>(())
/// ```
pub fn covering_radius<T: Scalar, P: Points<T> + ?Sized>(
    points: &P,
    sample: &[usize],
) -> Result<T, Error> {
    Measure.on(&Cpu::new()).covering_radius(points, sample)
}

/// Returns nearest-neighbor distances among the samples; zero spacing if a point occurs twice.
///
/// # Errors
/// If there are fewer than two samples, an index is out of range, or rows are not finite.
///
/// ```
/// let line: Vec<[f32; 1]> = (0..10).map(|i| [i as f32]).collect();
/// let spacing = farpoint::measure::spacing(&line, &[0, 4, 6])?;
/// assert_eq!((spacing.min, spacing.max), (2.0, 4.0));
/// # Ok::<(), farpoint::Error>(())
/// ```
pub fn spacing<T: Scalar, P: Points<T> + ?Sized>(
    points: &P,
    sample: &[usize],
) -> Result<Spacing, Error> {
    Measure.on(&Cpu::new()).spacing(points, sample)
}

/// Returns nearest-neighbor distances among samples, as [`spacing`], for a sample of coordinates.
///
/// # Errors
/// If there are fewer than two samples, or rows are not finite.
pub fn spacing_of<T: Scalar, S: Points<T> + ?Sized>(sample: &S) -> Result<Spacing, Error> {
    Measure.on(&Cpu::new()).spacing_of(sample)
}

/// Returns all measures of a sample of row indices.
///
/// # Errors
/// If the sample is empty, an index is out of range, or rows are not finite.
pub fn quality<T: Scalar, P: Points<T> + ?Sized>(
    points: &P,
    sample: &[usize],
) -> Result<Quality, Error> {
    Measure.on(&Cpu::new()).quality(points, sample)
}

/// Returns all measures of a sample of coordinates: [`crate::approximate::Centroids`], or
/// the output of another program.
///
/// # Errors
/// If the cloud or the sample is empty, their dimensions differ, or rows are not finite.
pub fn quality_of<T: Scalar, P: Points<T> + ?Sized, S: Points<T> + ?Sized>(
    points: &P,
    sample: &S,
) -> Result<Quality, Error> {
    Measure.on(&Cpu::new()).quality_of(points, sample)
}

/// Returns the coverage of a cloud by a sample of row indices.
///
/// # Errors
/// If the sample is empty, an index is out of range, or rows are not finite.
///
/// ```
/// let line: Vec<[f32; 1]> = (0..10).map(|i| [i as f32]).collect();
/// let coverage = farpoint::measure::coverage(&line, &[0, 5])?;
/// assert_eq!((coverage.mean, coverage.p99, coverage.max), (1.6, 4.0, 4.0));
/// # Ok::<(), farpoint::Error>(())
/// ```
pub fn coverage<T: Scalar, P: Points<T> + ?Sized>(
    points: &P,
    sample: &[usize],
) -> Result<Coverage, Error> {
    Measure.on(&Cpu::new()).coverage(points, sample)
}

/// Returns the coverage of a cloud by a sample of coordinates.
///
/// # Errors
/// If the cloud or the sample is empty, their dimensions differ, or rows are not finite.
pub fn coverage_of<T: Scalar, P: Points<T> + ?Sized, S: Points<T> + ?Sized>(
    points: &P,
    sample: &S,
) -> Result<Coverage, Error> {
    Measure.on(&Cpu::new()).coverage_of(points, sample)
}

/// Measures the spacing on `threads` threads, unless the watch stops it.
fn spaced<T: Scalar>(
    cloud: &WorkingCopy<T>,
    sample: &[u32],
    threads: usize,
    watch: &Watch<'_>,
) -> Result<Spacing, Error> {
    let tree = Neighbors::new(cloud, sample);
    let nearest =
        |&(position, point): &(u32, u32)| tree.nearest(point, Some(position)).sqrt().to_f64();
    // In the tree's order, for the cache; the sum is in that order too, whatever the threads.
    let samples = memory::collected(tree.points());
    let jobs = memory::collected(samples.chunks(POINTS_A_JOB));
    let threads = if samples.len() < SMALL { 1 } else { threads };
    let distances: Vec<Vec<f64>> = threads::each(jobs.len(), threads, |job| {
        let mut found = memory::with_capacity(jobs[job].len());
        for some in jobs[job].chunks(CHECK_EVERY) {
            if !watch.step(some.len()) {
                break;
            }
            found.extend(some.iter().map(nearest));
        }
        found
    });
    watch.end(Error::SearchCancelled)?;
    let distances = || distances.iter().flatten().copied();
    Ok(Spacing {
        mean: distances().sum::<f64>() / samples.len() as f64,
        min: distances().fold(f64::INFINITY, f64::min),
        max: distances().fold(0.0, f64::max),
    })
}

/// Returns the working copy of the cloud, and the sample as points of it.
fn check<T: Scalar>(
    points: &dyn Points<T>,
    sample: &[usize],
    threads: usize,
) -> Result<(WorkingCopy<T>, Vec<u32>), Error> {
    if sample.len() < 2 {
        return Err(Error::TooFewSamples { samples: sample.len(), needed: 2 });
    }
    let cloud = WorkingCopy::new(points, NonFinite::Error, threads)?;
    let sample = memory::collected(places(points, sample)?.iter().map(|&place| place as u32));
    Ok((cloud, sample))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sampler;
    use crate::random::SplitMix64;

    /// Computes both measures by trying all pairs.
    fn brute_force<T: Scalar, const D: usize>(cloud: &[[T; D]], sample: &[usize]) -> (T, Spacing) {
        let squared = |a: usize, b: usize| {
            let square = |x: usize| (cloud[a][x] - cloud[b][x]) * (cloud[a][x] - cloud[b][x]);
            (1..D).fold(square(0), |sum, axis| sum + square(axis))
        };
        let least = |a: T, b: T| if b < a { b } else { a };
        let nearest = |i: usize| sample.iter().map(|&s| squared(i, s)).fold(T::INFINITY, least);
        let farthest =
            (0..cloud.len()).map(nearest).fold(T::ZERO, |a, b| if b > a { b } else { a });
        let other = |i: usize| {
            let others = (0..sample.len()).filter(|&k| k != i);
            others.map(|k| squared(sample[i], sample[k])).fold(T::INFINITY, least).sqrt().to_f64()
        };
        let all: Vec<f64> = (0..sample.len()).map(other).collect();
        let spacing = Spacing {
            mean: all.iter().sum::<f64>() / all.len() as f64,
            min: all.iter().copied().fold(f64::INFINITY, f64::min),
            max: all.iter().copied().fold(0.0, f64::max),
        };
        (farthest.sqrt(), spacing)
    }

    fn check_all<T: Scalar, const D: usize>(cloud: &[[T; D]], sample: &[usize]) {
        let (radius, expected) = brute_force(cloud, sample);
        assert_eq!(covering_radius(cloud, sample).unwrap(), radius);
        if sample.len() > 1 {
            let found = spacing(cloud, sample).unwrap();
            assert_eq!((found.min, found.max), (expected.min, expected.max));
            let off = (found.mean - expected.mean).abs();
            assert!(found.mean == expected.mean || off <= 1e-12 * expected.mean);
        }
    }

    #[test]
    fn agree_with_all_pairs() {
        let mut random = SplitMix64::new(1);
        for kind in farpoint_generate::Kind::ALL {
            for n in [1, 2, 9, 300, 2000] {
                let cloud = farpoint_generate::generate(kind, n, 1);
                let any: Vec<usize> =
                    (0..n.div_ceil(3)).map(|_| random.below(n as u64) as usize).collect();
                check_all(&cloud, &any);
                check_all(&cloud, &Sampler::ratio(0.25).sample(&cloud).unwrap().indices);
                let wide: Vec<_> = cloud.iter().map(|p| p.map(f64::from)).collect();
                check_all(&wide, &any);
            }
        }
    }

    #[test]
    fn any_number_of_axes() {
        let mut random = SplitMix64::new(2);
        let sample = [3, 7, 7, 100, 499];
        check_all(&(0..500).map(|_| [random.unit()]).collect::<Vec<_>>(), &sample);
        check_all(&(0..500).map(|_| [(); 2].map(|()| random.unit())).collect::<Vec<_>>(), &sample);
        check_all(&(0..500).map(|_| [(); 7].map(|()| random.unit())).collect::<Vec<_>>(), &sample);
    }

    #[test]
    fn overflow_and_underflow() {
        check_all(&[[3e38f32], [-3e38], [0.0], [1e-45], [1e19]], &[1, 2]);
        check_all(&[[0.0f32], [1e-45], [3e-45], [1e-23]], &[0, 2]);
    }

    #[test]
    fn many_threads_find_the_same() {
        let cloud = farpoint_generate::room(50_000, 1);
        let sample = Sampler::count(20_000).sample(&cloud).unwrap();
        assert_eq!(covering_radius(&cloud, &sample.indices).unwrap(), sample.covering_radius());
        let expected = spacing(&cloud, &sample.indices).unwrap();
        for threads in [1, 2, 5] {
            let cpu = Cpu::new().threads(threads);
            assert_eq!(Measure.on(&cpu).spacing(&cloud, &sample.indices).unwrap(), expected);
        }
        assert!(expected.min <= expected.mean && expected.mean <= expected.max);
    }

    #[test]
    fn errors_name_the_problem() {
        let cloud = [[0.0f32], [1.0]];
        let text = |error: Error| error.to_string();
        assert!(text(covering_radius(&cloud[..], &[]).unwrap_err()).contains("at least 1"));
        assert!(text(spacing(&cloud[..], &[1]).unwrap_err()).contains("at least 2"));
        let outside = Err(Error::SampleOutOfRange { index: 2, points: 2 });
        assert_eq!(covering_radius(&cloud[..], &[0, 2]), outside);
        let bad = Error::NonFinite { first: 1, count: 1, points: 2 };
        assert_eq!(spacing(&[[0.0f32], [f32::NAN]][..], &[0, 1]), Err(bad));
        let none: [[f32; 3]; 0] = [];
        assert!(covering_radius(&none[..], &[0]).is_err());
    }
}
