//! Running the search: check of memory for the result, choice of the device, and writing.

use super::result::{SearchResult, Stored};
use super::{Outcome, Search};
use crate::input;
use crate::progress::Progress;
use anyhow::{Result, anyhow};
use farpoint::{Device, Index, Points, Scalar, Searcher};
use farpoint_cuda::CudaScalar;
use farpoint_io::memory;
use farpoint_pipeline::RanOn;
use std::time::Instant;

/// Maximum number of rows whose neighbors are counted to estimate the total, and of pairs of points
/// among them.
const MAX_COUNTED: usize = 1024;
const MAX_PAIRS: usize = 1 << 24;

impl Search<'_> {
    /// Searches `y` for the neighbors of `x` and writes them.
    pub(super) fn run<T: CudaScalar + Stored>(
        &self,
        x: &[[T; 3]],
        y: &[[T; 3]],
    ) -> Result<Outcome> {
        let Self { args, searcher } = self;
        let names = match &args.b {
            None => input::name(&args.a),
            Some(b) => format!("{} and {}", input::name(&args.a), input::name(b)),
        };
        self.fits(&names, x, y)?;
        let pays = || farpoint_cuda::neighbors::is_worthwhile(x.len(), y.len());
        let place = args.place.place().choose(&|kind| searcher.method.check(kind), pays)?;
        let threads = args.place.place().thread_count();
        let progress = Progress::start("searching", &names);
        let all = args.k.is_none();
        let start = Instant::now();
        let found = place.run(
            |cpu| {
                let found = match args.b {
                    Some(_) => search(searcher, all, x, y, cpu, &progress)?,
                    // One tree serves both sides.
                    None => {
                        let index = Index::build(cpu, x, searcher.non_finite)?;
                        search(searcher, all, &index, &index, cpu, &progress)?
                    }
                };
                Ok((found, RanOn::Cpu { threads, level: None }))
            },
            |gpu| {
                let found = search(searcher, all, x, y, gpu, &progress)?;
                Ok((found, RanOn::Gpu { name: gpu.properties().name.clone() }))
            },
        );
        let search_seconds = start.elapsed().as_secs_f64();
        drop(progress);
        let (mut found, ran_on) = found.map_err(|error| anyhow!("{names}: {error}"))?;
        if !args.squared {
            found.plain();
        }
        let output = &args.output;
        let (progress, start) = (Progress::start("writing", &input::name(output)), Instant::now());
        found.write(output)?;
        drop(progress);
        let is_finite_row = |row: &usize| x[*row].iter().all(|value| Scalar::is_finite(*value));
        Ok(Outcome {
            points: [x.len(), y.len()],
            dropped: [found.dropped(), dropped(y)],
            spread: found.spread((0..x.len()).filter(is_finite_row)),
            ran_on,
            search_seconds,
            write_seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Refuses results that do not fit in memory.
    fn fits<T: Scalar>(&self, names: &str, x: &[[T; 3]], y: &[[T; 3]]) -> Result<()> {
        let size = |rows: usize, bytes: usize| (rows as u64).saturating_mul(bytes as u64);
        // A copy of both clouds, and another in the order of a tree.
        let copies = size(x.len() + y.len(), 2 * (size_of::<[T; 3]>() + size_of::<u32>()));
        let entry = size_of::<T>() + size_of::<u32>();
        let needs = |places: u64, row: usize| {
            let places = places.saturating_mul(entry as u64);
            copies.saturating_add(places).saturating_add(size(x.len(), row))
        };
        let Some(k) = self.args.k else {
            let row = size_of::<usize>();
            if memory::require(names, needs(size(x.len(), y.len()), row)).is_ok() {
                return Ok(());
            }
            let expected = expected(&self.searcher, x, y, &self.args.place.place().as_cpu());
            return Ok(memory::require(names, needs(expected, row))?);
        };
        Ok(memory::require(names, needs(size(x.len(), k.0), size_of::<u32>()))?)
    }
}

/// Estimates the number of neighbors from evenly spaced rows; 0 if the search itself
/// will return an error.
fn expected<T: Scalar>(
    searcher: &Searcher,
    x: &[[T; 3]],
    y: &[[T; 3]],
    cpu: &farpoint::Cpu,
) -> u64 {
    let rows = (MAX_PAIRS / y.len().max(1)).clamp(1, MAX_COUNTED).min(x.len());
    let query: Vec<_> = x.iter().copied().step_by((x.len() / rows.max(1)).max(1)).collect();
    let result = searcher.clone().exclude_self(false).on(cpu).within(&query, y);
    let result = result.map_or(0, |result| result.indices.len());
    (result as f64 / query.len().max(1) as f64 * x.len() as f64) as u64
}

/// Counts the non-finite points.
fn dropped<T: Scalar>(points: &[[T; 3]]) -> usize {
    points.iter().filter(|row| !row.iter().all(|value| Scalar::is_finite(*value))).count()
}

fn search<T: Scalar, D: Device<T>, X: Points<T> + ?Sized>(
    searcher: &Searcher,
    all: bool,
    x: &X,
    y: &X,
    device: &D,
    progress: &Progress,
) -> Result<SearchResult<T>, D::Error> {
    let mut observer = |step| progress.step(step);
    let job = searcher.on(device).observe(&mut observer);
    Ok(match all {
        true => SearchResult::Ragged(job.within(x, y)?),
        false => SearchResult::Places(job.search(x, y)?),
    })
}
