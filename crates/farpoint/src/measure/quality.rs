//! Coverage of a cloud by a sample, and all measures at once.

use super::Spacing;
use crate::memory;
use crate::scalar::compiled_once;
use crate::{Error, Nearest, Points, Scalar, Subset, threads};
use std::borrow::Cow;

/// Distances from each point of a cloud to its nearest sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Coverage {
    /// Mean over the points.
    pub mean: f64,
    /// The smallest distance within which at least 99 % of the points are: of `n` in ascending
    /// order, number `ceil(0.99 n)`.
    pub p99: f64,
    /// Largest: the covering radius.
    pub max: f64,
}

/// Quality measures of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Quality {
    /// Number of points of the cloud.
    pub points: usize,
    /// Number of samples.
    pub samples: usize,
    /// Share of the samples at distinct positions, 0 to 1: with indices, of distinct rows.
    pub unique: f64,
    /// Distances from the cloud to the sample.
    pub coverage: Coverage,
    /// Distances inside the sample; `None` for a single one.
    pub spacing: Option<Spacing>,
    /// Chamfer distance of cloud and sample, as of [`crate::Chamfer::sum`]: the sum of the mean squared distances of
    /// both directions. From samples that are points of the cloud the way back is 0.
    pub chamfer: f64,
}

/// Distances per partial sum.
const PART: usize = 1 << 14;

/// Some rows of a cloud.
pub(super) struct SampleRows<'a, T> {
    points: &'a dyn Points<T>,
    /// Their places among the points.
    places: Cow<'a, [usize]>,
}

impl<T: Scalar> Points<T> for SampleRows<'_, T> {
    fn len(&self) -> usize {
        self.places.len()
    }
    fn dim(&self) -> usize {
        self.points.dim()
    }
    #[inline(always)]
    fn coordinate(&self, index: usize, axis: usize) -> T {
        self.points.coordinate(self.places[index], axis)
    }
}

/// Checks the rows of a sample.
pub(super) fn rows<'a, T: Scalar>(
    points: &'a dyn Points<T>,
    sample: &'a [usize],
) -> Result<SampleRows<'a, T>, Error> {
    if sample.is_empty() {
        return Err(Error::TooFewSamples { samples: 0, needed: 1 });
    }
    Ok(SampleRows { points, places: places(points, sample)? })
}

/// Returns the places of rows of the caller's cloud among the points, checked.
pub(super) fn places<'a, T: Scalar>(
    points: &dyn Points<T>,
    sample: &'a [usize],
) -> Result<Cow<'a, [usize]>, Error> {
    let row_count = points.subset().map_or(points.len(), Subset::whole);
    if let Some(&index) = sample.iter().find(|&&index| index >= row_count) {
        return Err(Error::SampleOutOfRange { index, points: row_count });
    }
    let Some(subset) = points.subset() else { return Ok(Cow::Borrowed(sample)) };
    let place =
        |&index: &usize| subset.place(index).ok_or(Error::NotSelected { what: "sample", index });
    memory::try_collected(sample.iter().map(place)).map(Cow::Owned)
}

/// Counts the distinct rows of a sample.
pub(super) fn different_rows(sample: &[usize]) -> usize {
    let mut sorted = memory::collected(sample.iter().copied());
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// Counts the distinct positions of a sample.
pub(super) fn different_places<T: Scalar>(sample: &dyn Points<T>) -> usize {
    let (len, dim) = (sample.len(), sample.dim().max(1));
    let mut numbers = memory::with_capacity(len.saturating_mul(dim));
    for row in 0..len {
        // Adding 0 takes the sign from -0.
        let bits = |axis: usize| (sample.coordinate(row, axis).to_f64() + 0.0).to_bits();
        numbers.extend((0..sample.dim()).map(bits));
    }
    let mut places = memory::collected(numbers.chunks_exact(dim));
    places.sort_unstable();
    places.dedup();
    places.len()
}

compiled_once! {
    /// Computes the coverage from the nearest sample of each point, on `threads` threads.
    pub(super) fn covered<'a, T: Scalar>(nearest: &'a Nearest<T>, threads: usize) -> Coverage {
        coverage(nearest, threads)
    }
}

fn coverage<T: Scalar>(nearest: &Nearest<T>, threads: usize) -> Coverage {
    // Squares and their roots come in one order.
    let mut squared = memory::collected(nearest.raw_distances.iter().copied());
    let place = (99 * squared.len()).div_ceil(100).max(1) - 1;
    let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
    let p99 = squared.select_nth_unstable_by(place, order).1.sqrt().to_f64();
    let max = nearest.max_distance().to_f64();
    // Sums of parts of fixed size, so that the mean is the same on any number of threads.
    let parts = memory::collected(nearest.raw_distances.chunks(PART));
    let part = |part: usize| parts[part].iter().map(|d| d.sqrt().to_f64()).sum::<f64>();
    let parts = threads::each(parts.len(), threads, part);
    let mean = parts.iter().sum::<f64>() / nearest.raw_distances.len() as f64;
    Coverage { mean, p99, max }
}

#[cfg(test)]
mod tests {
    use crate::Error;
    use crate::measure::{Measure, coverage, covering_radius, quality, quality_of};
    use crate::random::SplitMix64;
    use crate::{Cpu, Progress, Sampler};
    use std::ops::ControlFlow;

    #[test]
    fn measures_match_all_pairs() {
        let mut random = SplitMix64::new(1);
        for kind in farpoint_generate::Kind::ALL {
            for n in [1, 3, 100, 101, 2000] {
                let cloud = farpoint_generate::generate(kind, n, 1);
                let any: Vec<usize> =
                    (0..n.div_ceil(3)).map(|_| random.below(n as u64) as usize).collect();
                let square = |a: [f32; 3], b: [f32; 3]| {
                    let d: [f32; 3] = std::array::from_fn(|x| a[x] - b[x]);
                    (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]
                };
                let far = |p: &[f32; 3]| {
                    any.iter().map(|&k| square(*p, cloud[k])).fold(f32::INFINITY, f32::min).sqrt()
                };
                let mut all: Vec<f32> = cloud.iter().map(far).collect();
                all.sort_by(f32::total_cmp);
                let found = quality(&cloud, &any).unwrap();
                assert_eq!(found.coverage.max, f64::from(all[n - 1]), "{kind} {n}");
                let within = |d: f64| all.iter().filter(|&&x| f64::from(x) <= d).count() * 100;
                assert!(within(found.coverage.p99) >= 99 * n, "{kind} {n}");
                assert!(within(found.coverage.p99.next_down()) < 99 * n, "{kind} {n}");
                let mean = all.iter().map(|&d| f64::from(d)).sum::<f64>() / n as f64;
                assert!((found.coverage.mean - mean).abs() <= 1e-12 * mean, "{kind} {n}");
                let squares = cloud.iter().map(|p| {
                    f64::from(
                        any.iter().map(|&k| square(*p, cloud[k])).fold(f32::INFINITY, f32::min),
                    )
                });
                let squared = squares.sum::<f64>() / n as f64;
                assert!((found.chamfer - squared).abs() <= 1e-12 * squared, "{kind} {n}");
                assert_eq!(coverage(&cloud, &any).unwrap(), found.coverage);
                assert_eq!(covering_radius(&cloud, &any).unwrap(), all[n - 1]);
                let different: std::collections::HashSet<_> = any.iter().collect();
                assert_eq!(found.unique, different.len() as f64 / any.len() as f64);
                // The same by coordinates, where the cloud has no duplicates.
                let at: Vec<_> = any.iter().map(|&k| cloud[k]).collect();
                let same = quality_of(&cloud, &at).unwrap();
                assert_eq!((same.coverage, same.spacing), (found.coverage, found.spacing));
                assert_eq!(same.chamfer, found.chamfer);
            }
        }
    }

    #[test]
    fn samples_need_not_be_points_of_the_cloud() {
        let cloud = [[0.0f64, 0.0], [2.0, 0.0]];
        let found = quality_of(&cloud[..], &[[1.0, 0.0], [1.0, -0.0], [5.0, 0.0]][..]).unwrap();
        assert_eq!(found.unique, 2.0 / 3.0);
        assert_eq!(found.chamfer, 1.0 + (1.0 + 1.0 + 9.0) / 3.0);
        assert_eq!(found.spacing.unwrap().max, 4.0);
    }

    #[test]
    fn threads_find_the_same() {
        let cloud = farpoint_generate::lidar(60_000, 1);
        let sample = Sampler::ratio(0.1).sample(&cloud).unwrap().indices;
        let expected = quality(&cloud, &sample).unwrap();
        let places: Vec<_> = sample.iter().map(|&row| cloud[row]).collect();
        let of_places = quality_of(&cloud, &places).unwrap();
        for threads in [1, 2, 3, 5] {
            let cpu = Cpu::new().threads(threads);
            assert_eq!(Measure.on(&cpu).quality(&cloud, &sample).unwrap(), expected);
            assert_eq!(Measure.on(&cpu).quality_of(&cloud, &places).unwrap(), of_places);
        }
    }

    #[test]
    fn observers_are_called_and_can_cancel() {
        let cloud = farpoint_generate::lidar(60_000, 1);
        let sample = Sampler::ratio(0.3).sample(&cloud).unwrap().indices;
        let expected = quality(&cloud, &sample).unwrap();
        for threads in [1, 2] {
            let cpu = Cpu::new().threads(threads);
            let (mut calls, mut last, mut total) = (0, 0, 0);
            let mut observer = |progress: Progress| {
                (calls, last, total) = (calls + 1, progress.samples, progress.total);
                ControlFlow::Continue(())
            };
            let found = Measure.on(&cpu).observe(&mut observer).quality(&cloud, &sample);
            assert_eq!(found.unwrap(), expected);
            assert_eq!(total, 60_000 + sample.len());
            assert!(calls > 100 && last > total / 2 && last <= total);
            let places: Vec<_> = sample.iter().map(|&row| cloud[row]).collect();
            let mut observer = |progress: Progress| {
                (last, total) = (progress.samples, progress.total);
                ControlFlow::Continue(())
            };
            Measure.on(&cpu).observe(&mut observer).quality_of(&cloud, &places).unwrap();
            assert_eq!(total, 60_000 + 2 * sample.len());
            assert!(last > total / 2 && last <= total);
            // In the search, and while the spacing is taken.
            for stop in [3000, 61_000] {
                let mut stops = |progress: Progress| match progress.samples < stop {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                };
                match Measure.on(&cpu).observe(&mut stops).quality(&cloud, &sample) {
                    Err(Error::SearchCancelled(done)) => assert!(done >= stop),
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    #[test]
    fn errors_name_the_problem() {
        let cloud = [[0.0f32], [1.0]];
        let none = Cpu::new().threads(0);
        assert!(Measure.on(&none).quality(&cloud[..], &[0]).is_err());
        assert!(Measure.on(&none).spacing(&cloud[..], &[0, 1]).is_err());
        let outside = Error::SampleOutOfRange { index: 2, points: 2 };
        assert_eq!(quality(&cloud[..], &[2]).unwrap_err(), outside);
        let none = Error::TooFewSamples { samples: 0, needed: 1 };
        assert_eq!(coverage(&cloud[..], &[]).unwrap_err(), none);
        let bad = Error::NonFinite { first: 1, count: 1, points: 2 };
        assert_eq!(coverage(&[[0.0f32], [f32::NAN]][..], &[0]).unwrap_err(), bad);
        assert!(quality(&cloud[..], &[1]).unwrap().spacing.is_none());
    }
}
