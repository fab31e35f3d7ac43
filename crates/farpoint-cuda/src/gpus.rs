//! Several GPUs as one device: a batch is spread over them.

use crate::{Error, Gpu};
use farpoint::backend::spawned;
use std::thread::ScopedJoinHandle;

/// Several GPUs of this machine, used as one device.
///
/// The clouds of a batch are spread over them and processed concurrently. A single cloud to sample that is large, or
/// does not fit the first GPU, is shared by up to four of them, if `peak` samples it and they can access each other's
/// memory; any other single cloud or pair runs on the first. The choice of GPUs has no effect on results.
///
/// ```
/// use farpoint::Sampler;
/// use farpoint_cuda::Gpus;
///
/// let clouds = vec![vec![[0.0f32, 0.0, 0.0], [1.0, 2.0, 3.0]]; 8];
/// match Gpus::all() {
///     Ok(gpus) => println!("{} samples", Sampler::count(1).on(&gpus).sample_batch(&clouds)?.len()),
///     Err(error) => println!("no GPU: {error}"),
/// }
/// # Ok::<(), farpoint_cuda::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gpus {
    gpus: Vec<Gpu>,
    /// Number of rows from which on a cloud is shared.
    min_shared_rows: usize,
}

/// Number of rows from which on a cloud takes less time on several GPUs.
const MIN_SHARED_ROWS: usize = 100_000_000;

impl Gpus {
    /// Combines these GPUs. One may be listed several times: it then works on several parts at once.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(gpus: Vec<Gpu>) -> Result<Self, Error> {
        match gpus.is_empty() {
            true => Err(Error::Unsupported("the list of GPUs is empty".into())),
            false => Ok(Self { gpus, min_shared_rows: MIN_SHARED_ROWS }),
        }
    }

    /// Opens all GPUs of this machine.
    ///
    /// # Errors
    /// If there is no driver or no GPU, or one can't be opened.
    pub fn all() -> Result<Self, Error> {
        Self::new(Gpu::all()?)
    }

    /// Returns the GPUs as a slice.
    pub fn as_slice(&self) -> &[Gpu] {
        &self.gpus
    }

    /// For tests and measurements: shares single clouds of this many rows and more. Changes the time that takes,
    /// never a result.
    #[doc(hidden)]
    #[must_use]
    pub fn sharing_from(self, rows: usize) -> Self {
        Self { min_shared_rows: rows, ..self }
    }

    pub(crate) fn min_shared_rows(&self) -> usize {
        self.min_shared_rows
    }
}

/// Runs `run` for consecutive jobs on each GPU, all concurrently; `work` is the cost of each job. The
/// results are in the order of the jobs.
pub(crate) fn spread<J: Sync, R: Send>(
    gpus: &[Gpu],
    jobs: &[J],
    work: impl Fn(&J) -> usize,
    run: impl Fn(&Gpu, &[J]) -> Result<Vec<R>, Error> + Sync,
) -> Result<Vec<R>, Error> {
    if let [gpu] = gpus {
        return run(gpu, jobs);
    }
    let work: Vec<_> = jobs.iter().map(work).collect();
    let ends = split(&work, gpus.len());
    let results = std::thread::scope(|scope| {
        let (mut from, run) = (0, &run);
        let threads: Vec<_> = std::iter::zip(gpus, ends)
            .map(|(gpu, to)| {
                let share = &jobs[from..to];
                from = to;
                spawned(scope, move || run(gpu, share))
            })
            .collect();
        threads.into_iter().map(join_or_run).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(results.into_iter().flatten().collect())
}

/// Returns the result of a thread's work; the work runs here if the system refused the thread.
pub(crate) fn join_or_run<R>(thread: Result<ScopedJoinHandle<'_, R>, impl FnOnce() -> R>) -> R {
    match thread {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(work) => work(),
    }
}

/// Returns the ends of `parts` runs of about equal work.
fn split(work: &[usize], parts: usize) -> Vec<usize> {
    let total: usize = work.iter().sum();
    let mut done = 0;
    let mut end = 0;
    (1..=parts)
        .map(|part| {
            let target = total as u128 * part as u128 / parts as u128;
            // A job belongs to the part that contains its middle.
            while end < work.len() && (2 * done + work[end]) as u128 <= 2 * target {
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
