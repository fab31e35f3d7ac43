//! Clouds of a batch spread over several devices.

use super::{Sample, Sampler, run};
use crate::{CudaScalar, Error, Gpu};
use farpoint::fps::Prepared;
use std::time::Instant;

/// One thread a device, each with a run of neighboring clouds.
pub(super) fn run<T: CudaScalar>(
    sampler: &Sampler,
    devices: &[Gpu],
    clouds: &[Prepared<T>],
    begin: Instant,
) -> Result<Vec<Sample<T>>, Error> {
    let work: Vec<_> = clouds.iter().map(|cloud| cloud.points() + cloud.wanted()).collect();
    let ends = split(&work, devices.len());
    let samples = std::thread::scope(|scope| {
        let mut from = 0;
        let threads: Vec<_> = std::iter::zip(devices, ends)
            .map(|(device, to)| {
                let share = &clouds[from..to];
                from = to;
                scope.spawn(move || run::on_device(sampler, device, share, begin))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Result<Vec<_>, _>>()
    })?;
    Ok(samples.into_iter().flatten().collect())
}

/// Ends of `parts` runs of about equal work.
fn split(work: &[usize], parts: usize) -> Vec<usize> {
    let all: usize = work.iter().sum();
    let mut done = 0;
    let mut end = 0;
    (1..=parts)
        .map(|part| {
            let goal = all as u128 * part as u128 / parts as u128;
            // A cloud belongs to the part that its middle lies in.
            while end < work.len() && (2 * done + work[end]) as u128 <= 2 * goal {
                done += work[end];
                end += 1;
            }
            if part == parts { work.len() } else { end }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn work_is_shared_evenly() {
        assert_eq!(split(&[1; 8], 2), [4, 8]);
        assert_eq!(split(&[100, 1, 1, 98], 2), [1, 4]);
        assert_eq!(split(&[5], 3).last(), Some(&1));
        assert_eq!(split(&[], 2), [0, 0]);
        assert_eq!(split(&[0, 0, 0], 2).last(), Some(&3));
        let ends = split(&[3, 1, 4, 1, 5, 9, 2, 6], 3);
        assert!(ends.windows(2).all(|pair| pair[0] <= pair[1]) && ends[2] == 8, "{ends:?}");
    }
}
