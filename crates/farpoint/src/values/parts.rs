//! Spreading rows over threads. The output of a thread never depends on their number.

use crate::memory::{self, Shared, Zero};
use crate::threads::{self, count_for, for_each_chunk, on_threads};
use crate::unwind::caught;
use crate::{Cpu, Error};
use std::ops::Range;

/// Count of numbers that one thread handles as fast as several would.
const SMALL: usize = 1 << 15;

/// Minimum count of numbers per part.
const LEAST: usize = 1 << 12;

/// Returns `numbers` numbers in rows of `width`, filled side by side on the threads of a CPU: `fill` takes the
/// number of a first row, and some rows of zeros from there on. `work` counts the numbers read and written.
pub(super) fn rows<A: Zero + Send>(
    cpu: &Cpu,
    work: usize,
    numbers: usize,
    width: usize,
    fill: impl Fn(usize, &mut [A]) + Send + Sync,
) -> Result<Vec<A>, Error> {
    let threads = threads_for(cpu, work)?;
    if numbers == 0 {
        return Ok(Vec::new());
    }
    let each = stretch(numbers / width, width, threads);
    caught(|| {
        let mut output = memory::zeros(numbers);
        let fill = |part, rows: &mut [A]| fill(part * each, rows);
        on_threads(threads, || {
            for_each_chunk(&mut output, each * width, threads, fill);
            Ok(())
        })?;
        Ok(output)
    })
}

/// Like [`rows`], for two arrays with a row of as many numbers each; the second one is filled with `second`.
pub(super) fn rows_of_two<A: Zero + Send, B: Copy + Send>(
    cpu: &Cpu,
    work: usize,
    (numbers, second): (usize, B),
    width: usize,
    fill: impl Fn(usize, &mut [A], &mut [B]) + Send + Sync,
) -> Result<(Vec<A>, Vec<B>), Error> {
    let mut other = caught(|| Ok(memory::filled(numbers, second)))?;
    let shared_other = Shared::new(&mut other);
    let output = rows(cpu, work, numbers, width, |row, a: &mut [A]| {
        let first = row * width;
        // SAFETY: the rows are this part's alone, and within the array, which is as long as the other.
        let b = unsafe { shared_other.part(first..first + a.len()) };
        fill(row, a, b);
    })?;
    Ok((output, other))
}

/// Returns `numbers` numbers in rows of `width` that are computed from all over a list: one part per thread,
/// since each part reads the list. `fill` takes the rows of its part by number.
pub(super) fn destinations<A: Zero + Send>(
    cpu: &Cpu,
    work: usize,
    numbers: usize,
    width: usize,
    fill: impl Fn(Range<usize>, &mut [A]) + Send + Sync,
) -> Result<Vec<A>, Error> {
    let threads = threads_for(cpu, work)?;
    if numbers == 0 {
        return Ok(Vec::new());
    }
    let each = (numbers / width).div_ceil(threads);
    caught(|| {
        let mut output = memory::zeros(numbers);
        let fill = |part, rows: &mut [A]| {
            let first = part * each;
            fill(first..first + rows.len() / width, rows);
        };
        on_threads(threads, || {
            for_each_chunk(&mut output, each * width, threads, fill);
            Ok(())
        })?;
        Ok(output)
    })
}

/// Returns the index of the first of several items that is wrong.
pub(super) fn first<A: Sync>(
    cpu: &Cpu,
    items: &[A],
    wrong: impl Fn(&A) -> bool + Send + Sync,
) -> Result<Option<usize>, Error> {
    let threads = threads_for(cpu, items.len())?;
    let each = stretch(items.len(), 1, threads);
    caught(|| {
        on_threads(threads, || {
            let found = threads::each(items.len().div_ceil(each), threads, |part| {
                let mut items = items[part * each..].iter().take(each);
                items.position(&wrong).map(|at| part * each + at)
            });
            Ok(found.into_iter().flatten().next())
        })
    })
}

fn threads_for(cpu: &Cpu, work: usize) -> Result<usize, Error> {
    let available = count_for(work >= SMALL, cpu.threads)?;
    Ok(if work >= SMALL { available } else { 1 })
}

/// Returns the number of rows per part: several parts a thread, for threads that are slower than others.
fn stretch(rows: usize, width: usize, threads: usize) -> usize {
    rows.div_ceil(4 * threads).max(LEAST.div_ceil(width)).max(1)
}
