//! Misuse by callers other than bad data: no threads at all, and coordinates that change while they
//! are read.

use farpoint::approximate::{Keep, Method};
use farpoint::{
    Algorithm, ApproximateSampler, Cpu, DeviceKind, Error, NonFinite, Points, Sampler, chamfer,
};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn zero_threads_are_rejected_everywhere() {
    let clouds = [vec![[0.0f32; 3]; 4], vec![[1.0; 3]; 4]];
    let data: Vec<f32> = clouds.iter().flatten().flatten().copied().collect();
    let (cpu, job) = (Cpu::new().threads(0), Sampler::count(1));
    let sampler = || job.on(&cpu);
    let grid = ApproximateSampler::count(Method::Grid { keep: Keep::First }, 1);
    let refused = |error: Error| assert!(matches!(error, Error::BadThreads(0, _)), "{error}");
    refused(sampler().sample(&clouds[0]).unwrap_err());
    refused(sampler().sample_batch(&clouds).unwrap_err());
    refused(sampler().sample_padded(&data, [2, 4, 3], None).unwrap_err());
    refused(sampler().sample_ragged(&data, 3, &[0, 4, 8]).unwrap_err());
    refused(grid.on(&cpu).sample(&clouds[0]).unwrap_err());
}

/// A cloud that another thread writes to, as far as a caller can see: the first `non_finite` reads return
/// NaN, later ones of the same numbers do not; or the other way round.
struct Changing {
    reads: AtomicUsize,
    non_finite: std::ops::Range<usize>,
}

impl Points<f32> for Changing {
    fn len(&self) -> usize {
        300
    }
    fn dim(&self) -> usize {
        3
    }
    fn coordinate(&self, index: usize, axis: usize) -> f32 {
        let read = self.reads.fetch_add(1, Ordering::Relaxed);
        if self.non_finite.contains(&read) { f32::NAN } else { (index * 3 + axis) as f32 }
    }
}

#[test]
fn coordinates_that_change_while_they_are_read_are_an_error_or_a_result() {
    for non_finite in [0..1, 0..900, 10..20, 500..2_000, 900..1_800, 890..910] {
        for rows in [NonFinite::Error, NonFinite::Skip] {
            for algorithm in Algorithm::of(DeviceKind::Cpu) {
                let cloud = Changing { reads: AtomicUsize::new(0), non_finite: non_finite.clone() };
                let sampler = Sampler::count(5).non_finite(rows).algorithm(algorithm);
                match sampler.sample(&cloud) {
                    Ok(sample) => assert_eq!(sample.len(), 5),
                    Err(Error::NonFinite { first, count, points: 300 }) => {
                        assert!(first < 300 && (1..=300).contains(&count));
                    }
                    // Too few rows are good, or none.
                    Err(Error::TooManySamples { samples: 5, .. } | Error::EmptyCloud) => {
                        assert_eq!(rows, NonFinite::Skip);
                    }
                    Err(Error::StartIsBad { index: 0 }) => assert_eq!(rows, NonFinite::Skip),
                    Err(other) => panic!("{non_finite:?}: {other}"),
                }
            }
        }
        let cloud = Changing { reads: AtomicUsize::new(0), non_finite };
        let _ = chamfer::<f32, _, _>(&cloud, &cloud).map(|chamfer| chamfer.sum());
    }
}
